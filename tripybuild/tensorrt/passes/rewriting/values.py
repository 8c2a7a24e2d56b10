"""Value queries: defining op, constant, splat value.

A constant is a `tensorrt.constant` or an `arith.constant`. Only constants whose elements stand in
the module are read; resources are weights, which are not folded. A splat is one number repeated.
`splat` asks a constant itself; `uniform` looks through the ops that keep a splat one (reshapes,
broadcasts, casts), and rounds the number as those casts do.
"""

from typing import Any, TypeVar

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tripybuild.tensorrt.dialect import (
    BroadcastOp,
    CastOp,
    CollapseRankOp,
    ConstantOp,
    ElementWiseOp,
    ExpandRankOp,
    IdentityOp,
    ReshapeOp,
    SliceOp,
    UnaryOp,
)
from tripybuild.tensorrt.dialect.base import element, sizes
from tripybuild.tensorrt.mlir import elements
from tripybuild.tensorrt.mlir.reading.reader import MOST_DIMENSIONS

Found = TypeVar("Found", bound=Operation)

ELIDED = "__elided__"
_KEEPS_SPLAT = (ExpandRankOp, CollapseRankOp, ReshapeOp, BroadcastOp, SliceOp)
_CASTS = (CastOp, IdentityOp)


def defining_op(value: SSAValue, op_class: type[Found]) -> Found | None:
    """The op that makes a value, if it is one of this class."""
    owner = value.owner
    return owner if type(owner) is op_class else None  # an abstract class is slow to ask


def constant_of(value: SSAValue) -> Attribute | None:
    """The attribute that a constant gives."""
    owner = value.owner
    if isinstance(owner, ConstantOp):
        return owner.weights
    if isinstance(owner, arith.ConstantOp):
        return owner.value
    return None


def dense_of(value: SSAValue) -> DenseIntOrFPElementsAttr[Any] | None:
    """The elements of a constant, if they stand in the module."""
    found = constant_of(value)
    return found if isinstance(found, DenseIntOrFPElementsAttr) else None


def numbers_of(value: SSAValue | None) -> list[int] | None:
    """The numbers of a constant that may be a shape, so there are not many."""
    found = None if value is None else dense_of(value)
    if found is None or elements.count_of(found.get_shape()) > MOST_DIMENSIONS:
        return None
    numbers: list[int] = elements.to_numpy(found).tolist()
    return numbers


def has_elided_data(attribute: Attribute | None) -> bool:
    """Whether an attribute only says that elements were left out of a text."""
    return isinstance(attribute, DenseResourceAttr) and attribute.resource_handle.data == ELIDED


def retype(constant: Attribute | None, type: Attribute) -> Attribute | None:
    """The elements of a constant in their order as another type, if they stand in the module."""
    assert isinstance(type, TensorType)
    if isinstance(constant, DenseIntOrFPElementsAttr):
        return DenseIntOrFPElementsAttr(type, constant.data)
    if isinstance(constant, DenseResourceAttr) and has_elided_data(constant):
        return DenseResourceAttr(constant.resource_handle, type)
    return None


def float_splat(value: SSAValue) -> float | None:
    """The float that a constant repeats."""
    found = dense_of(value)
    if found is None or not isinstance(found.type.element_type, AnyFloat):
        return None
    number = splat_of(found)
    return None if number is None else float(number)


def element_wise(value: SSAValue, operation: str) -> ElementWiseOp | None:
    """The op that computes a value, if it is this element-wise operation."""
    op = defining_op(value, ElementWiseOp)
    return op if op is not None and op.value("elementwise_operation") == operation else None


def unary(value: SSAValue, operation: str) -> UnaryOp | None:
    """The op that computes a value, if it is this unary operation."""
    op = defining_op(value, UnaryOp)
    return op if op is not None and op.value("unary_operation") == operation else None


def stretches(value: SSAValue, other: SSAValue) -> bool:
    """Whether a value may make another one larger that it is combined with."""
    pairs = zip(sizes(value), sizes(other), strict=True)
    return any(size not in {1, beside} or size is None for size, beside in pairs)


def is_static(type: Attribute) -> bool:
    """Whether all sizes of a tensor are known."""
    return None not in sizes(type)


def with_element(type: Attribute, kind: Attribute) -> TensorType[Attribute]:
    """A tensor of the same shape and of another element type."""
    assert isinstance(type, TensorType)
    return TensorType(kind, type.shape)


def only_user(value: SSAValue) -> Operation | None:
    """The op that uses a value, if it is the only use."""
    use = value.get_unique_use()
    return use.operation if use is not None else None


def splat(value: SSAValue) -> float | int | None:
    """The number that a constant repeats; None for other values, and for no elements at all."""
    found = dense_of(value)
    return None if found is None else splat_of(found)


def splat_of(attribute: DenseIntOrFPElementsAttr) -> float | int | None:
    """The number that an elements attribute repeats."""
    data = attribute.data.data
    size = elements.size_of(attribute.get_element_type())
    if not elements.is_splat(data, size):
        return None
    dtype = elements.dtype_of(attribute.get_element_type())
    number: float | int = np.frombuffer(data, dtype, 1)[0].item()
    return number


def uniform(value: SSAValue) -> float | int | None:
    """The number that a value repeats, through the ops that keep it one."""
    owner = value.owner
    if isinstance(owner, ConstantOp):
        return splat(value)
    if isinstance(owner, _CASTS):
        found = uniform(owner.input)
        if found is None:
            return None
        kept: float | int = np.asarray(found).astype(elements.dtype_of(element(value))).item()
        return kept
    if isinstance(owner, _KEEPS_SPLAT):
        filled = isinstance(owner, SliceOp) and owner.value("mode") == "kFILL"
        return None if filled else uniform(owner.input)
    return None
