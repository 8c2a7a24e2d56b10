"""Linear layers: matrix multiplication and einsum."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tripybuild.tensorrt.layers import kinds
from tripybuild.tensorrt.layers.checks import SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE, Checks
from tripybuild.tensorrt.layers.declaration import SingleResultLayer
from tripybuild.tensorrt.layers.operation import (
    UNKNOWN_SIZE,
    LayerOperation,
    OpProblem,
    attribute,
    operand,
    operands,
    output,
    sizes,
)
from tripybuild.tensorrt.shape_rules import (
    MaybeSize,
    Shape,
    ShapeError,
    Sizes,
    broadcast,
    differ,
)

if TYPE_CHECKING:
    from tripybuild.tensorrt.translation.emission import Emission

CONTRACTION = "operand shapes do not have consistent sizes for the contraction dimension"
_TRANSPOSED = {"kNONE": "kTRANSPOSE", "kTRANSPOSE": "kNONE", "kVECTOR": "kVECTOR"}
_OPERATION = kinds.enumeration("matrix_operation")


def _collection(shape: Shape, operation: str) -> Sizes:
    """The sizes before those of the matrix, or of the vector: how many of them there are."""
    inner = 1 if operation == "kVECTOR" else 2
    if len(shape) < inner:
        raise ShapeError(f"expected a rank of at least {inner} for {operation}")
    return tuple(shape[:-inner])


def _matrix(shape: Shape, operation: str) -> tuple[Sizes, MaybeSize]:
    """The size that an operand brings, if any, and the one that is summed over."""
    if operation == "kVECTOR":
        return (), shape[-1]
    rows, columns = shape[-2:]
    return ((columns,), rows) if operation == "kTRANSPOSE" else ((rows,), columns)


class MatrixMultiplyOp(LayerOperation):
    """The product of collections of matrices or vectors."""

    name = "tensorrt.matrix_multiply"
    input0 = operand(*kinds.FLOATS, parameter="lhs")
    input1 = operand(*kinds.FLOATS, parameter="rhs")
    op0 = attribute(_OPERATION, call_default="kNONE")
    op1 = attribute(_OPERATION, call_default="kNONE")
    result = output(kinds.RANKED, dtype="lhs")
    CHECKS: ClassVar[Checks] = (SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE,)

    @staticmethod
    def result_shape(lhs: Shape, rhs: Shape, op0: str, op1: str) -> Sizes:
        """Collections broadcast; each matrix brings a dimension, and a vector none."""
        batches = _collection(lhs, op0), _collection(rhs, op1)
        if len(batches[0]) != len(batches[1]):
            raise ShapeError('"input0" and "input1" number of collection dims doesn\'t match')
        try:
            batch = broadcast(*batches)
        except ShapeError:
            message = 'collection (batch) dimensions of "input0" and "input1" are not broadcastable'
            raise ShapeError(message) from None
        rows, inner = _matrix(lhs, op0)
        columns, inner_right = _matrix(rhs, _TRANSPOSED[op1])
        if differ(inner, inner_right):
            raise ShapeError(CONTRACTION)
        return (*batch, *rows, *columns)

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Operands of one dimension are vectors; collections and inner sizes go together."""
        operations = self.value("op0"), self.value("op1")
        shapes = sizes(self.input0), sizes(self.input1)
        for index, (shape, kind) in enumerate(zip(shapes, operations, strict=True)):
            if len(shape) == 1 and kind != "kVECTOR":
                yield f"Input {index} has rank one. Expected TRT MatOp kVCETOR "
            elif not shape:
                yield f"Input {index} is a scalar. Expected a matrix or a vector"
        parts = [_collection(s, kind) for s, kind in zip(shapes, operations, strict=True)]
        if len(parts[0]) != len(parts[1]):
            yield _uneven(parts, operations)
        try:
            self.components()
        except ShapeError as error:
            yield str(error)

    def translate(self, at: "Emission") -> Any:
        """Add a matrix multiplication."""
        first, second = (at.member("MatrixOperation", self.value(n)) for n in ("op0", "op1"))
        left, right = at.tensor(self.input0), at.tensor(self.input1)
        return at.add("matrix_multiply", left, first, right, second)


matrix_multiply = SingleResultLayer(MatrixMultiplyOp)


def _uneven(parts: Sequence[Sizes], operations: Sequence[str]) -> str:
    said = []
    for index, (part, kind) in enumerate(zip(parts, operations, strict=True)):
        dims = ", ".join(str(UNKNOWN_SIZE if size is None else size) for size in part)
        number = ("kNONE", "kTRANSPOSE", "kVECTOR").index(kind)
        said.append(f"Input{index}, MatrixOp: {number}, Collection dims: {dims}")
    return "Input0 and Input1 number of collection dims doesn't match. " + " ; ".join(said)


# Labels of an equation are lower-case letters, each for one size, and sizes of one are repeated.
# Without an arrow the result has the labels that occur once, in order.
_EQUATION = re.compile("[ a-z]*(?:,[ a-z]*)*(?:- *>[ a-z]*)?")
_ARROW = re.compile("- *>")


class EinsumOp(LayerOperation):
    """The sum of products that an equation names."""

    name = "tensorrt.einsum"
    inputs = operands(*kinds.FLOATS)
    equation = attribute(kinds.STRING_ATTR)
    result = output(*kinds.FLOATS, dtype="inputs")

    @staticmethod
    def result_shape(equation: str, inputs: Sequence[Shape]) -> Sizes:
        """The sizes that the result's labels stand for."""
        subscripts, output_labels = _parts(equation)
        known = _sizes_of_labels(subscripts, inputs)
        for index, label in enumerate(output_labels):
            if label not in known:
                message = f"output label `{label}` does not appear in the input subscript string"
                raise ShapeError(message)
            if label in output_labels[:index]:
                raise ShapeError(f"label `{label}` is repeated in the output substring")
        return tuple(known[label] for label in output_labels)

    def translate(self, at: "Emission") -> Any:
        """Add an einsum."""
        return at.add("einsum", [at.tensor(each) for each in self.inputs], self.value("equation"))


einsum = SingleResultLayer(EinsumOp)


def _parts(equation: str) -> tuple[list[str], str]:
    if not equation:
        raise ShapeError("einsum equation string is empty")
    if _EQUATION.fullmatch(equation) is None:
        message = (
            "einsum equation syntax is invalid. TensorRT only supports ASCII lower-case letters "
            "with no ellipses."
        )
        raise ShapeError(message)
    left, *right = _ARROW.split(equation.replace(" ", ""))
    inputs = left.split(",")
    if right:
        return inputs, right[0]
    counts = Counter("".join(inputs))
    return inputs, "".join(sorted(label for label, count in counts.items() if count == 1))


def _sizes_of_labels(inputs: Sequence[str], shapes: Sequence[Shape]) -> dict[str, MaybeSize]:
    if len(shapes) not in (1, 2):
        raise ShapeError("einsum op may only have 1 or 2 inputs")
    if len(inputs) != len(shapes):
        message = (
            f"each tensor input should have a subscript. Received {len(shapes)} tensor operands "
            f"and {len(inputs)} input subscripts"
        )
        raise ShapeError(message)
    sizes: dict[str, MaybeSize] = {}
    for index, (subscript, shape) in enumerate(zip(inputs, shapes, strict=True)):
        if len(subscript) != len(shape):
            message = (
                f"each tensor dimension must have a label. Tensor input {index} has rank of "
                f"{len(shape)} but subscript size is {len(subscript)}"
            )
            raise ShapeError(message)
        for label, size in zip(subscript, shape, strict=True):
            sizes[label] = _merge_label(label, sizes.get(label, 1), size)
    return sizes


def _merge_label(label: str, before: MaybeSize, size: MaybeSize) -> MaybeSize:
    try:
        return broadcast([before], [size])[0]
    except ShapeError:
        message = f"label `{label}` is repeated between inputs but dimensions are not same"
        raise ShapeError(message) from None
