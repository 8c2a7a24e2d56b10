"""Control flow in the `trt.` builder: branches and loops of functions.

Invariant: what gives one of two values has one type, so a size is the same expression in both.
"""

from collections.abc import Callable, Sequence
from typing import Any

from tripybuild.symbolic.dims import same
from tripybuild.tensorrt.recorder.builder import (
    cast,
    element_wise,
    full,
    gather,
    reshape,
    scatter_nd,
)
from tripybuild.tensorrt.recorder.layer_table import LAYERS
from tripybuild.tensorrt.recorder.network import Layer, append, bind, current
from tripybuild.tensorrt.recorder.shape_inference import join_shapes
from tripybuild.tensorrt.recorder.value import NetworkValue, Size
from tripybuild.types import dtypes


def if_(
    condition: NetworkValue,
    then: Callable[..., Any],
    otherwise: Callable[..., Any],
    operands: Sequence[NetworkValue],
) -> tuple[NetworkValue, ...]:
    """Record two branches, of which one runs; each is a function on the operands."""
    signature = LAYERS["if_"]
    arguments = bind(signature, (condition, then, otherwise, operands), {})
    then_region = current().region(then, operands)
    regions = [
        then_region,
        current().region(reshape_results(then_region.gives, otherwise), operands),
    ]
    first, second = [[value.dtype for value in region.gives] for region in regions]
    if first != second:
        raise ValueError(f"branches give {first} and {second}")
    pairs = zip(regions[0].gives, regions[1].gives, strict=True)
    results = tuple(NetworkValue(a.dtype, join_shapes(a.shape, b.shape)) for a, b in pairs)
    append(Layer(signature, arguments, results, tuple(regions)))
    return results


def while_(
    state: Sequence[NetworkValue], condition: Callable[..., Any], body: Callable[..., Any]
) -> tuple[NetworkValue, ...]:
    """Record a loop that replaces the state by `body(*state)` while the condition holds."""
    signature = LAYERS["while_"]
    arguments = bind(signature, (state, condition, body), {})
    return _loop(signature.name, arguments, state, [(condition, ()), (body, ())])


def for_(
    start: NetworkValue,
    stop: NetworkValue,
    step: NetworkValue,
    state: Sequence[NetworkValue],
    body: Callable[..., Any],
) -> tuple[NetworkValue, ...]:
    """Record a loop that replaces the state by `body(counter, *state)`."""
    arguments = bind(LAYERS["for_"], (start, stop, step, state, body), {})
    counter = NetworkValue(start.dtype, ())
    return _loop("for_", arguments, state, [(body, (counter,))])


def _loop(
    name: str,
    arguments: dict[str, Any],
    state: Sequence[NetworkValue],
    parts: Sequence[tuple[Callable[..., Any], tuple[NetworkValue, ...]]],
) -> tuple[NetworkValue, ...]:
    *first, (body, before) = parts
    ways = [*first, (reshape_results(state, body), before)]
    regions = tuple(
        current().region(fill, [*extra, *[NetworkValue(each.dtype, each.shape) for each in state]])
        for fill, extra in ways
    )
    results = tuple(NetworkValue(each.dtype, each.shape) for each in state)
    if [value.dtype for value in regions[-1].gives] != [value.dtype for value in results]:
        raise ValueError(f"a loop over {list(state)} cannot continue with {regions[-1].gives}")
    append(Layer(LAYERS[name], arguments, results, regions))
    return results


def reshape_results(
    like: Sequence[NetworkValue], fill: Callable[..., Any]
) -> Callable[..., list[NetworkValue]]:
    """A function whose results are said to have other sizes, which are the same in each call.

    What gives one of two values has one type: a size is a symbol in both of them or in neither.
    """

    def fill_and_reshape(*taken: NetworkValue) -> list[NetworkValue]:
        given = fill(*taken)
        several = [given] if isinstance(given, NetworkValue) else list(given)
        pairs = zip(several, like, strict=False)
        return [*[_reshape_like(*pair) for pair in pairs], *several[len(like) :]]

    return fill_and_reshape


def _reshape_like(value: NetworkValue, like: NetworkValue) -> NetworkValue:
    if value.shape is None or like.shape is None or len(value.shape) != len(like.shape):
        return value
    alike = None in like.shape or same(value.shape, like.shape)
    return value if alike else reshape(value, like.shape)


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
