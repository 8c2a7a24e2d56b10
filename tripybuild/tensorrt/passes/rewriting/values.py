"""Value queries: defining op, constant, splat value.

A splat is one number repeated. `splat` asks a constant itself; `uniform` looks through the ops that
keep a splat one (reshapes, broadcasts, casts), and rounds the number as those casts do.
"""

from typing import Any, TypeVar

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from tripybuild.tensorrt.dialect import (
    BroadcastOp,
    CastOp,
    CollapseRankOp,
    ConstantOp,
    ExpandRankOp,
    IdentityOp,
    ReshapeOp,
    SliceOp,
)
from tripybuild.tensorrt.mlir import elements

Array = np.ndarray[Any, Any]
Found = TypeVar("Found", bound=Operation)

_KEEPS_SPLAT = (ExpandRankOp, CollapseRankOp, ReshapeOp, BroadcastOp, SliceOp)
_CASTS = (CastOp, IdentityOp)


def defining_op(value: SSAValue, op_class: type[Found]) -> Found | None:
    """The op that makes a value, if it is one of this class."""
    owner = value.owner
    return owner if type(owner) is op_class else None  # an abstract class is slow to ask


def element_type(value: SSAValue) -> Attribute:
    """The element type of a tensor."""
    assert isinstance(value.type, TensorType)
    found: Attribute = value.type.element_type
    return found


def rank(value: SSAValue) -> int:
    """The number of a tensor's dimensions."""
    assert isinstance(value.type, TensorType)
    return value.type.get_num_dims()


def only_user(value: SSAValue) -> Operation | None:
    """The op that uses a value, if it is the only use."""
    use = value.get_unique_use()
    return use.operation if use is not None else None


def weights(value: SSAValue) -> Attribute | None:
    """The elements attribute of a constant."""
    constant = defining_op(value, ConstantOp)
    return constant.weights if constant is not None else None


def dense(value: SSAValue) -> Array | None:
    """The array of a constant that stands in the text (never that of a resource)."""
    found = weights(value)
    return elements.to_numpy(found) if isinstance(found, DenseIntOrFPElementsAttr) else None


def splat(value: SSAValue) -> float | int | None:
    """The number that a constant repeats; None for other values, and for no elements at all."""
    found = weights(value)
    return splat_of(found) if isinstance(found, DenseIntOrFPElementsAttr) else None


def splat_of(attribute: DenseIntOrFPElementsAttr) -> float | int | None:
    """The number that an elements attribute repeats."""
    data = attribute.data.data
    size = elements.size_of(attribute.get_element_type())
    if data[:size] != data[-size:] or not elements.is_splat(data, size):
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
        return found if found is None else round_to(found, element_type(value))
    if isinstance(owner, _KEEPS_SPLAT):
        filled = isinstance(owner, SliceOp) and owner.value("mode") == "kFILL"
        return None if filled else uniform(owner.input)
    return None


def round_to(number: float, element: Attribute) -> float | int:
    """A number as an element type keeps it."""
    kept: float | int = np.asarray(number).astype(elements.dtype_of(element)).item()
    return kept
