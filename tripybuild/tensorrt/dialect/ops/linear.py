"""Linear algebra operations: matrix multiplication and einsum."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.irdl import (
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from tripybuild.tensorrt.dialect import attribute_kinds as attributes, types
from tripybuild.tensorrt.dialect.base import (
    Component,
    OpProblem,
    TensorrtOperation,
    element,
    operation,
    sizes,
)
from tripybuild.tensorrt.dialect.checks import SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE, Checks
from tripybuild.tensorrt.shape_rules import (
    ShapeError,
    Sizes,
    einsum as einsum_rules,
    linear as rules,
)

_MATRIX_OPERATIONS = ("kNONE", "kTRANSPOSE", "kVECTOR")


@operation
class MatrixMultiplyOp(TensorrtOperation):
    """The product of collections of matrices or vectors."""

    name = "tensorrt.matrix_multiply"
    input0 = operand_def(types.FLOAT_TENSOR)
    input1 = operand_def(types.FLOAT_TENSOR)
    op0 = prop_def(attributes.enumeration("matrix_operation"))
    op1 = prop_def(attributes.enumeration("matrix_operation"))
    result = result_def(types.RANKED)
    assembly_format = "attr-dict `ins` `(` operands `:` type(operands) `)` `->` type(results)"
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE,)
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The collections, and what is left of each matrix."""
        left, right = sizes(self.input0), sizes(self.input1)
        shape = rules.matrix_multiply(left, right, self.value("op0"), self.value("op1"))
        return [Component(shape, element(self.input0))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Operands of one dimension are vectors; collections and inner sizes go together."""
        operations = self.value("op0"), self.value("op1")
        shapes = sizes(self.input0), sizes(self.input1)
        for index, (shape, kind) in enumerate(zip(shapes, operations, strict=True)):
            if len(shape) == 1 and kind != "kVECTOR":
                yield f"Input {index} has rank one. Expected TRT MatOp kVCETOR "
            elif not shape:
                yield f"Input {index} is a scalar. Expected a matrix or a vector"
        parts = [rules.collection(s, kind) for s, kind in zip(shapes, operations, strict=True)]
        if len(parts[0]) != len(parts[1]):
            yield _uneven(parts, operations)
        try:
            rules.matrix_multiply(*shapes, *operations)
        except ShapeError as error:
            yield str(error)


def _uneven(parts: Sequence[Sizes], operations: Sequence[str]) -> str:
    said = []
    for index, (part, kind) in enumerate(zip(parts, operations, strict=True)):
        dims = ", ".join(str(DYNAMIC_INDEX if size is None else size) for size in part)
        number = _MATRIX_OPERATIONS.index(kind)
        said.append(f"Input{index}, MatrixOp: {number}, Collection dims: {dims}")
    return "Input0 and Input1 number of collection dims doesn't match. " + " ; ".join(said)


@operation
class EinsumOp(TensorrtOperation):
    """The sum of products that an equation names."""

    name = "tensorrt.einsum"
    inputs = var_operand_def(types.FLOAT_TENSOR)
    equation = prop_def(attributes.STRING)
    result = result_def(types.FLOAT_TENSOR)
    assembly_format = "attr-dict `ins` `(` operands `:` type(operands) `)` `->` type($result)"
    traits = traits_def(Pure())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The sizes of the labels of the result."""
        shape = einsum_rules.einsum(self.value("equation"), *map(sizes, self.inputs))
        return [Component(shape, element(self.inputs[0]))]
