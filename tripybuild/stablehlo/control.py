"""Control flow: branches and loops whose bodies are Python functions on Values.

Invariant: a region uses what it is given; results have the types of the values that they come from.
"""

from collections.abc import Callable, Sequence

from tripybuild.stablehlo.comparison import BOOL, less
from tripybuild.stablehlo.constants import constant
from tripybuild.stablehlo.module import TensorType
from tripybuild.stablehlo.regions import emit_branches, emit_regions
from tripybuild.stablehlo.shapes import reshape
from tripybuild.stablehlo.slices import dynamic_slice, dynamic_update_slice
from tripybuild.stablehlo.value import HloValue, same_sizes
from tripybuild.types import dtypes

Body = Callable[..., HloValue | Sequence[HloValue]]


def _many(result: HloValue | Sequence[HloValue]) -> list[HloValue]:
    return [result] if isinstance(result, HloValue) else list(result)


def _types(values: Sequence[HloValue]) -> list[TensorType]:
    return [(value.dtype, value.shape) for value in values]


def while_(state: Sequence[HloValue], condition: Body, body: Body) -> tuple[HloValue, ...]:
    """Replace the state by `body(*state)` as long as `condition(*state)` holds."""
    types = _types(state)

    def again(*values: HloValue) -> list[HloValue]:
        (answer,) = _many(condition(*values))
        if answer.dtype is not BOOL or answer.shape not in ((), (1,)):
            raise ValueError(f"a condition must be one bool, not {answer!r}")
        return [reshape(answer, ())]

    def advance(*values: HloValue) -> list[HloValue]:
        results = _many(body(*values))
        if not same_sizes(_types(results), types):
            raise ValueError(f"a loop over {list(state)} cannot continue with {results}")
        return results

    return emit_regions("stablehlo.while", state, types, [(types, again), (types, advance)])


def scan(
    init: Sequence[HloValue],
    inputs: Sequence[HloValue],
    body: Body,
    results: Sequence[TensorType],
    reverse: bool = False,
) -> tuple[HloValue, ...]:
    """Thread values through `body(*carried, *rows)`, and collect what else it gives.

    Args:
        init: The values before the first row.
        inputs: Tensors whose rows are walked along; all have as many.
        body: Gives the next values, then a row of each result.
        results: The dtypes and shapes of what is collected.
        reverse: Whether to begin with the last row.
    """
    length, threaded = inputs[0].shape[0], len(init)
    wholes = [constant(0, dtype, shape) for dtype, shape in results]
    if length == 0:
        return (*init, *wholes)

    def again(counter: HloValue, *_: HloValue) -> HloValue:
        return less(counter, length)

    def turn(counter: HloValue, *state: HloValue) -> list[HloValue]:
        place = length - 1 - counter if reverse else counter
        given = _many(body(*state[:threaded], *[_row(each, place) for each in inputs]))
        pairs = zip(state[threaded:], given[threaded:], strict=True)
        return [counter + 1, *given[:threaded], *[_write_row(*pair, place) for pair in pairs]]

    return while_([constant(0, dtypes.int32), *init, *wholes], again, turn)[1:]


def _row(whole: HloValue, place: HloValue) -> HloValue:
    rest = whole.shape[1:]
    return reshape(dynamic_slice(whole, [place, *[0] * len(rest)], [1, *rest]), rest)


def _write_row(whole: HloValue, row: HloValue, place: HloValue) -> HloValue:
    update = reshape(row, (1, *row.shape))
    return dynamic_update_slice(whole, update, [place, *[0] * row.rank])


def if_(
    predicate: HloValue, then: Body, otherwise: Body, operands: Sequence[HloValue]
) -> tuple[HloValue, ...]:
    """`then(*operands)` where the predicate holds, else `otherwise(*operands)`; only one runs."""
    if predicate.dtype is not BOOL or predicate.shape not in ((), (1,)):
        raise ValueError(f"a predicate must be one bool, not {predicate!r}")
    branches = [lambda: _many(then(*operands)), lambda: _many(otherwise(*operands))]
    return emit_branches("stablehlo.if", [reshape(predicate, ())], branches)
