"""Operand conversion: Values and numbers become Values of one dtype and shape.

Invariant: dtypes never promote; a number takes the dtype of the Value beside it.
"""

from collections.abc import Sequence

from tripybuild.stablehlo.broadcast import broadcast_shapes, broadcast_to
from tripybuild.stablehlo.constants import scalar
from tripybuild.stablehlo.value import HloValue, Operand, same_sizes


def same_types(*operands: Operand) -> list[HloValue]:
    """The operands as Values of one dtype; their shapes stay as they are."""
    values = [operand for operand in operands if isinstance(operand, HloValue)]
    if not values:
        raise ValueError("at least one operand must be a tensor")
    dtype = values[0].dtype
    for value in values:
        if value.dtype is not dtype:
            raise ValueError(f"operands must have one dtype, not {_type_list(values)}")
    return [each if isinstance(each, HloValue) else scalar(each, dtype) for each in operands]


def broadcast_values(*values: Operand) -> tuple[HloValue, ...]:
    """The operands in one shape, by NumPy's rule; numbers take the dtype of the first Value.

    Dtypes may differ, so that a condition can be broadcast with what it chooses from.
    """
    like = next((value for value in values if isinstance(value, HloValue)), None)
    if like is None:
        raise ValueError("at least one operand must be a tensor")
    tensors = [
        value if isinstance(value, HloValue) else scalar(value, like.dtype) for value in values
    ]
    shape = broadcast_shapes(*[tensor.shape for tensor in tensors])
    return tuple(broadcast_to(tensor, shape) for tensor in tensors)


def pair(lhs: Operand, rhs: Operand) -> tuple[HloValue, HloValue]:
    """Two operands of one dtype in one shape."""
    if isinstance(lhs, HloValue):
        if not isinstance(rhs, HloValue):
            return lhs, scalar(rhs, lhs.dtype, lhs.shape)
        if lhs.dtype is rhs.dtype and same_sizes(lhs.shape, rhs.shape):
            return lhs, rhs
    elif isinstance(rhs, HloValue):
        return scalar(lhs, rhs.dtype, rhs.shape), rhs
    first, second = same_types(lhs, rhs)
    shape = broadcast_shapes(first.shape, second.shape)
    return broadcast_to(first, shape), broadcast_to(second, shape)


def check_dims(input: HloValue, dims: Sequence[int]) -> tuple[int, ...]:
    """The dimensions, sorted, after a look at whether the input has each of them once."""
    chosen = tuple(sorted(dims))
    if len(set(chosen)) != len(chosen) or any(not 0 <= dim < input.rank for dim in chosen):
        raise ValueError(f"dimensions {tuple(dims)} do not fit shape {input.shape}")
    return chosen


def _type_list(values: Sequence[HloValue]) -> str:
    return " and ".join(f"{value.dtype.name}{list(value.shape)}" for value in values)
