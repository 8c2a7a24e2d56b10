"""Constant folding, and removal of casts without effect.

Little is folded: what shapes are computed with (in `arith`, too, by xDSL's patterns), signs, and
floats cast to floats. A constant that repeats one number is folded at any size, others up to a
bound, since TensorRT folds the rest.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tripybuild.tensorrt.dialect import (
    CastOp,
    ConcatenationOp,
    ElementWiseOp,
    IdentityOp,
    ShapeOp,
    UnaryOp,
)
from tripybuild.tensorrt.dialect.base import element, sizes
from tripybuild.tensorrt.mlir import elements
from tripybuild.tensorrt.passes.rewriting.driver import Folded, Folder, Pattern, PatternRewriter
from tripybuild.tensorrt.passes.rewriting.values import (
    constant_of,
    dense_of,
    has_elided_data,
    retype,
    splat_of,
)

LARGEST = 1 << 17

Array = np.ndarray[Any, Any]
Dense = DenseIntOrFPElementsAttr[Any]


def is_large(constant: Dense) -> bool:
    """Whether a constant has too many different elements to be computed with here."""
    return len(constant) > LARGEST and splat_of(constant) is None


def fold_negation(op: UnaryOp) -> Sequence[Folded] | None:
    """The other sign of each element; -128 and the like stay, as in two's complement."""
    found = dense_of(op.input)
    if op.value("unary_operation") != "kNEG" or found is None or is_large(found):
        return None
    if op.input.type != op.result.type:
        return None
    with np.errstate(over="ignore"):
        return (elements.map_elements(np.negative, elements.to_numpy(found)),)


_SUMS: dict[str, Callable[[Array, Array], Array]] = {"kSUM": np.add, "kSUB": np.subtract}


def fold_sum(op: ElementWiseOp) -> Sequence[Folded] | None:
    """Sums and differences of shapes: tensors of i32 of one dimension, all of one type."""
    compute = _SUMS.get(op.value("elementwise_operation"))
    type = op.result.type
    if compute is None or len(sizes(type)) != 1 or element(type) != i32:
        return None
    if op.input1.type != type or op.input2.type != type:
        return None
    left, right = dense_of(op.input1), dense_of(op.input2)
    if left is None or right is None or (is_large(left) and is_large(right)):
        return None
    with np.errstate(over="ignore"):
        return (elements.map_elements(compute, elements.to_numpy(left), elements.to_numpy(right)),)


def fold_concatenation(op: ConcatenationOp) -> Sequence[Folded] | None:
    """One input is the result; inputs without elements go; shapes are put together.

    At least one input stays, which mlir-tensorrt does not see to.
    """
    inputs = tuple(op.inputs)
    if len(inputs) == 1:
        return inputs if inputs[0].type == op.result.type else None
    axis = op.value("axis")
    filled = [value for value in inputs if sizes(value)[axis] != 0] or inputs[:1]
    if len(filled) < len(inputs):
        op.operands = filled
        return ()
    if len(sizes(op.result)) != 1 or element(op.result) != i32:
        return None
    parts = [dense_of(value) for value in inputs]
    arrays = [elements.to_numpy(part) for part in parts if part is not None]
    if len(arrays) != len(parts) or sum(array.size for array in arrays) > LARGEST:
        return None
    whole = np.concatenate(arrays)
    return (whole,) if whole.shape == sizes(op.result) else None


def fold_shape(op: ShapeOp) -> Sequence[Folded] | None:
    """The sizes of a tensor, if all are known."""
    shape = sizes(op.input)
    known = [size for size in shape if size is not None and size <= np.iinfo(np.int32).max]
    if len(known) < len(shape) or sizes(op.result) != (len(shape),):
        return None
    return (np.array(known, np.int32),)


def keeps_values(narrow: Attribute, wide: Attribute) -> bool:
    """Whether another element type has all values of one, so that going there and back is nothing.

    mlir-tensorrt asks only for more bits, and so loses fractions on the way through integers.
    """
    if isinstance(wide, AnyFloat):
        numeric = isinstance(narrow, AnyFloat | IntegerType)
        return numeric and elements.size_of(narrow) < elements.size_of(wide)
    if isinstance(wide, IntegerType) and isinstance(narrow, IntegerType):
        unsigned = narrow.bitwidth == 1 or narrow.signedness.data is Signedness.UNSIGNED
        same_sign = unsigned or narrow.signedness == wide.signedness
        return same_sign and wide.bitwidth > narrow.bitwidth
    return False


def fold_cast(op: CastOp | IdentityOp) -> Sequence[Folded] | None:
    """A cast to the type that is there, there and back again, or of a constant of floats."""
    if op.input.type == op.result.type:
        return (op.input,)
    there = op.input.owner
    if (
        isinstance(there, CastOp | IdentityOp)
        and there.input.type == op.result.type
        and keeps_values(element(there.input), element(there.result))
    ):
        return (there.input,)
    if not isinstance(element(op.input), AnyFloat) or not isinstance(element(op.result), AnyFloat):
        return None
    return _fold_float_cast(op.input, op.result.type)


def fold_identity_cast(op: CastOp) -> Sequence[Folded] | None:
    """A cast to the type that is there."""
    return (op.input,) if op.input.type == op.result.type else None


def _fold_float_cast(value: SSAValue, type: Attribute) -> Sequence[Folded] | None:
    """A constant as another float keeps it: to the nearest, ties to even, too large to infinity."""
    found = constant_of(value)
    if sizes(value) != sizes(type):
        return None
    if has_elided_data(found) and (elided := retype(found, type)) is not None:
        return (elided,)
    if not isinstance(found, DenseIntOrFPElementsAttr) or is_large(found):
        return None
    dtype = elements.dtype_of(element(type))
    with np.errstate(over="ignore", invalid="ignore"):
        return (elements.map_elements(lambda array: array.astype(dtype), elements.to_numpy(found)),)


FOLDERS: dict[type[Operation], Folder] = {
    UnaryOp: fold_negation,
    ElementWiseOp: fold_sum,
    ConcatenationOp: fold_concatenation,
    ShapeOp: fold_shape,
    IdentityOp: fold_cast,
    CastOp: fold_identity_cast,
}
CASTS: dict[type[Operation], Folder] = {CastOp: fold_cast}


_INTEGERS: tuple[type[Operation], ...] = tuple(
    op_class
    for op_class in arith.Arith.operations
    if issubclass(op_class, arith.SignlessIntegerBinaryOperation)
)


def integers(op: arith.SignlessIntegerBinaryOperation, rewriter: PatternRewriter) -> bool:
    """Two numbers are one, and adding 0 (and the like) is nothing."""
    folded: tuple[SSAValue | IntegerAttr] | None = op.fold()  # type: ignore[no-untyped-call]
    if folded is None:
        return False
    (found,) = folded
    if isinstance(found, IntegerAttr):
        constant = arith.ConstantOp(found)
        constant.location = op.location
        found = rewriter.insert(constant).result
    return rewriter.replace(op, found)


PATTERNS = (Pattern("integers", _INTEGERS, integers, "shapes that are known become numbers"),)
