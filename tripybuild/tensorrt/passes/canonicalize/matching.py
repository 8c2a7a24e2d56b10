"""Value queries of the patterns: constant, splat value, defining op.

A constant is a `tensorrt.constant` or an `arith.constant`. Only constants whose elements stand in
the module are read; resources are weights, which nobody folds.
"""

from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue

from tripybuild.tensorrt.dialect import ConstantOp, ElementWiseOp, ReduceOp, UnaryOp
from tripybuild.tensorrt.dialect.base import sizes
from tripybuild.tensorrt.mlir import elements
from tripybuild.tensorrt.mlir.reading.reader import MOST_DIMENSIONS
from tripybuild.tensorrt.passes.rewriting.values import defining_op, splat_of

ELIDED = "__elided__"


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


def float_splat(value: SSAValue) -> float | None:
    """The float that a constant repeats."""
    found = dense_of(value)
    if found is None or not isinstance(found.type.element_type, AnyFloat):
        return None
    number = splat_of(found)
    return None if number is None else float(number)


def integer_splat(value: SSAValue) -> int | None:
    """The integer that a constant repeats."""
    found = dense_of(value)
    if found is None or not isinstance(found.type.element_type, IntegerType):
        return None
    number = splat_of(found)
    return None if number is None else int(number)


def element_wise(value: SSAValue, operation: str) -> ElementWiseOp | None:
    """The op that computes a value, if it is this element-wise operation."""
    op = defining_op(value, ElementWiseOp)
    return op if op is not None and op.value("elementwise_operation") == operation else None


def unary(value: SSAValue, operation: str) -> UnaryOp | None:
    """The op that computes a value, if it is this unary operation."""
    op = defining_op(value, UnaryOp)
    return op if op is not None and op.value("unary_operation") == operation else None


def reduction(value: SSAValue, operation: str) -> ReduceOp | None:
    """The op that computes a value, if it is this reduction."""
    op = defining_op(value, ReduceOp)
    return op if op is not None and op.value("reduce_operation") == operation else None


def stretches(value: SSAValue, other: SSAValue) -> bool:
    """Whether a value may make another one larger that it is combined with."""
    pairs = zip(sizes(value), sizes(other), strict=True)
    return any(size not in {1, beside} or size is None for size, beside in pairs)


def is_static(type: Attribute) -> bool:
    """Whether all sizes of a tensor are known."""
    return None not in sizes(type)


def with_element(type: Attribute, element: Attribute) -> TensorType[Attribute]:
    """A tensor of the same shape and of another element type."""
    assert isinstance(type, TensorType)
    return TensorType(element, type.shape)
