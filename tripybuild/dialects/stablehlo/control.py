"""Branches and loops, whose parts are Python functions on Values.

Law: a region uses what it is given; results have the types of the values that they come from.
"""

from collections.abc import Callable, Sequence

from tripybuild.dialects.stablehlo.choice import BOOL
from tripybuild.dialects.stablehlo.module import TensorType, emit_branches, emit_regions
from tripybuild.dialects.stablehlo.shapes import reshape
from tripybuild.dialects.stablehlo.value import Value

Body = Callable[..., Value | Sequence[Value]]


def _many(result: Value | Sequence[Value]) -> list[Value]:
    return [result] if isinstance(result, Value) else list(result)


def _types(values: Sequence[Value]) -> list[TensorType]:
    return [(value.dtype, value.shape) for value in values]


def while_(state: Sequence[Value], condition: Body, body: Body) -> tuple[Value, ...]:
    """Replace the state by `body(*state)` as long as `condition(*state)` holds."""
    types = _types(state)

    def again(*values: Value) -> list[Value]:
        (answer,) = _many(condition(*values))
        if answer.dtype is not BOOL or answer.shape not in ((), (1,)):
            raise ValueError(f"a condition must be one bool, not {answer!r}")
        return [reshape(answer, ())]

    def advance(*values: Value) -> list[Value]:
        results = _many(body(*values))
        if _types(results) != types:
            raise ValueError(f"a loop over {list(state)} cannot continue with {results}")
        return results

    return emit_regions("stablehlo.while", state, types, [(types, again), (types, advance)])


def if_(
    predicate: Value, then: Body, otherwise: Body, operands: Sequence[Value]
) -> tuple[Value, ...]:
    """`then(*operands)` where the predicate holds, else `otherwise(*operands)`; only one runs."""
    if predicate.dtype is not BOOL or predicate.shape not in ((), (1,)):
        raise ValueError(f"a predicate must be one bool, not {predicate!r}")
    branches = [lambda: _many(then(*operands)), lambda: _many(otherwise(*operands))]
    return emit_branches("stablehlo.if", [reshape(predicate, ())], branches)
