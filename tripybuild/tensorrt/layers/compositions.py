"""Composite layers: what TensorRT has no layer for; and Python's operators on values.

Invariant: numbers beside tensors become constants of their dtype and rank, because TensorRT has no
implicit promotion. A composition takes values of any rank, and has the dtype of its first value.
"""

from collections.abc import Callable, Sequence
from typing import Any

from tripybuild.symbolic.dims import Dim, same
from tripybuild.tensorrt.layers.control import for_
from tripybuild.tensorrt.layers.elementwise import cast, element_wise, select, unary
from tripybuild.tensorrt.layers.indexing import gather, scatter_nd
from tripybuild.tensorrt.layers.linear import einsum, matrix_multiply
from tripybuild.tensorrt.layers.reshapes import reshape, unsqueeze
from tripybuild.tensorrt.layers.slicing import slice
from tripybuild.tensorrt.layers.sources import constant
from tripybuild.tensorrt.recorder.value import OPERATORS, NetworkValue, Number, Operand, Size
from tripybuild.types import dtypes
from tripybuild.types.subscripts import pairwise


def at_least(value: NetworkValue, rank: int) -> NetworkValue:
    """The value with leading dimensions of size one, until it has the rank."""
    new = rank - value.rank
    return value if new <= 0 else unsqueeze(value, list(range(new)))


def crop_or_pad(value: NetworkValue, shape: Sequence[Size]) -> NetworkValue:
    """The value in a shape of its rank: zeros behind, or elements left out, where sizes differ."""
    own = value.shape
    if own is not None and all(same(a, b) for a, b in zip(own, shape, strict=True)):
        return value
    return slice(value, [0] * len(shape), list(shape), mode="fill")


def full(value: Number | Dim, dtype: dtypes.dtype, shape: Sequence[Size] = ()) -> NetworkValue:
    """A number, or a size, repeated to a shape."""
    # TensorRT takes constants of int8 only before a dequantize layer.
    if dtype is dtypes.int8:
        return cast(constant(value, dtypes.int32, shape=shape), dtypes.int8)
    return constant(value, dtype, shape=shape)


def align(*values: Operand) -> tuple[NetworkValue, ...]:
    """The values with equal ranks; numbers take the dtype of the first value."""
    like = next((value for value in values if isinstance(value, NetworkValue)), None)
    if like is None:
        raise ValueError("at least one operand must be a tensor")
    tensors = [value for value in values if isinstance(value, NetworkValue)]
    if len(tensors) == len(values) and all(value.shape is None for value in tensors):
        return tuple(tensors)
    rank = max(value.rank for value in tensors)
    return tuple(
        at_least(value, rank)
        if isinstance(value, NetworkValue)
        else full(value, like.dtype, [1] * rank)
        for value in values
    )


def _binary(kind: str) -> Callable[..., NetworkValue]:
    return lambda lhs, rhs: element_wise(*align(lhs, rhs), kind)


def _modulo(lhs: Operand, rhs: Operand) -> NetworkValue:
    first, second = align(lhs, rhs)
    whole = element_wise(first, second, "kFLOOR_DIV")
    return element_wise(first, element_wise(whole, second, "kPROD"), "kSUB")


def _matmul(lhs: NetworkValue, rhs: NetworkValue) -> NetworkValue:
    ops = ["kVECTOR" if value.rank == 1 else "kNONE" for value in (lhs, rhs)]
    if "kVECTOR" not in ops:
        lhs, rhs = align(lhs, rhs)
    return matrix_multiply(lhs, rhs, *ops)


OPERATORS.update(
    {
        kind: _binary(kind)
        for kind in (
            *("kSUM", "kSUB", "kPROD", "kDIV", "kFLOOR_DIV", "kPOW", "kAND", "kOR", "kXOR"),
        )
    }
)
OPERATORS.update(
    {
        "modulo": _modulo,
        "matmul": _matmul,
        "kNEG": lambda value: unary(value, "kNEG"),
        "kNOT": lambda value: unary(value, "kNOT"),
    }
)


def truncate(value: NetworkValue) -> NetworkValue:
    """Floats without their fraction: rounded toward zero. NaN and infinities stay."""
    below_zero = element_wise(*align(value, 0.0), "kLESS")
    return select(below_zero, unary(value, "kCEIL"), unary(value, "kFLOOR"))


def remainder(lhs: Operand, rhs: Operand) -> NetworkValue:
    """What division leaves when the quotient is cut off: it has the sign of `lhs`, as in C.

    A float that is smaller than the divisor is left as it is, also by an infinity.
    """
    first, second = align(lhs, rhs)
    quotient = element_wise(first, second, "kDIV")
    if first.dtype.kind != "float":
        return first - quotient * second
    smaller = element_wise(unary(first, "kABS"), unary(second, "kABS"), "kLESS")
    return select(smaller, first, first - truncate(quotient) * second)


def contraction(inputs: Sequence[NetworkValue], equation: str) -> NetworkValue:
    """The sum of the products of any number of values, which a layer has of two at most."""
    first, *rest = inputs
    for step in pairwise(equation):
        first = einsum([first, *rest[:1]], step)
        rest = rest[1:]
    return first


def scan(
    init: Sequence[NetworkValue],
    inputs: Sequence[NetworkValue],
    body: Callable[..., Any],
    results: Sequence[tuple[dtypes.dtype, Sequence[Size]]],
    reverse: bool = False,
) -> tuple[NetworkValue, ...]:
    """Record a loop that threads values through `body(*carried, *rows)` and collects the rest.

    Args:
        init: The values before the first row.
        inputs: Tensors whose rows are walked along.
        body: Gives the next values, then a row of each result.
        results: The dtypes and shapes of what is collected.
        reverse: Whether to begin with the last row.
    """
    assert inputs[0].shape is not None
    length = inputs[0].shape[0]
    assert length is not None
    start, stop, step = (full(each, dtypes.int32) for each in (0, length, 1))
    last = element_wise(stop, step, "kSUB") if reverse else None

    def turn(counter: NetworkValue, *carried: NetworkValue) -> list[NetworkValue]:
        place = counter if last is None else element_wise(last, counter, "kSUB")
        rows = [gather(each, place, 0) for each in inputs]
        given = body(*carried[: len(init)], *rows)
        several = [given] if isinstance(given, NetworkValue) else list(given)
        places = reshape(place, [1, 1])
        pairs = zip(carried[len(init) :], several[len(init) :], strict=True)
        written = [scatter_nd(whole, places, _row(row, whole.dtype)) for whole, row in pairs]
        return [*several[: len(init)], *written]

    wholes = [full(0, _scatter_dtype(dtype), shape) for dtype, shape in results]
    given = for_(start, stop, step, [*init, *wholes], turn)
    collected = zip(given[len(init) :], results, strict=True)
    return (*given[: len(init)], *[_as(value, dtype) for value, (dtype, _) in collected])


def _scatter_dtype(dtype: dtypes.dtype) -> dtypes.dtype:
    """What rows of a dtype are written as: NVIDIA's scatter takes no booleans."""
    return dtypes.int32 if dtype is dtypes.boolean else dtype


def _as(value: NetworkValue, dtype: dtypes.dtype) -> NetworkValue:
    return value if value.dtype is dtype else cast(value, dtype)


def _row(value: NetworkValue, dtype: dtypes.dtype) -> NetworkValue:
    return _as(reshape(value, [1, *(value.shape or ())]), dtype)
