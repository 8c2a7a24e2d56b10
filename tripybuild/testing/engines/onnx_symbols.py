"""Symbolic samples: the sample with sizes that are symbols, as one model of ONNX for all sizes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.schema.operator.dtype_combinations import Tuple
from tripybuild.schema.operator.operator import Operator
from tripybuild.schema.operator.samples import Place, constant_sizes, format_place, size_places
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.symbolic.dims import symbol
from tripybuild.testing.cases import Case, Function, case, size_at
from tripybuild.testing.sample import Change, bind
from tripybuild.testing.symbolic import SYMBOL, omitted_inputs, record_sample
from tripybuild.trace.graph import Graph


@dataclass(frozen=True, eq=False)
class SymbolicSample:
    """The sample with a symbol for each of some sizes, and calls of it with numbers.

    `label` names the sizes.
    """

    label: str
    graph: Graph
    calls: Sequence[Case]


def symbolic_samples(
    operator: Operator, function: Function, types: Tuple
) -> Iterator[SymbolicSample]:
    """The sample with each of its sizes as a symbol, and with all of them as symbols.

    Those are left out that the declaration refuses: the question of symbols says so.
    """
    places = [
        place
        for place in size_places(operator)
        if place[0] not in constant_sizes(operator) and size_at(operator, place) > 0
    ]
    several = [places] if len(places) > 1 else []
    for chosen in (*([place] for place in places), *several):
        symbols = {place: f"{SYMBOL}{index}" for index, place in enumerate(chosen)}
        found = _symbolic_sample(operator, function, types, symbols)
        if found is not None:
            yield found


def _symbolic_sample(
    operator: Operator, function: Function, types: Tuple, symbols: Mapping[Place, str]
) -> SymbolicSample | None:
    def change(place: Place, old: int) -> Any:
        return symbol(symbols[place], 1, 4 * old) if place in symbols else old

    calls = list(_calls(operator, function, types, symbols))
    absent = omitted_inputs(operator, function)
    constants = calls[0].arrays if calls else {}
    try:
        bound = bind(operator, types, change, only_shapes=True)
        graph = record_sample(function, bound, absent, constants)
    except (DiagnosticError, UndecidedSize):
        return None
    label = ", ".join(map(format_place, symbols))
    return SymbolicSample(label, graph, calls)


def _calls(
    operator: Operator, function: Function, types: Tuple, symbols: Mapping[Place, str]
) -> Iterator[Case]:
    """The sample, the first legal call with other sizes, and that with sizes of one."""

    def resize(size: Change) -> Case | None:
        def change(place: Place, old: int) -> int:
            return size(place, old) if place in symbols else old

        try:
            bound = bind(operator, types, change, only_shapes=True)
            found = _without(case(function, "sample", types, bound), absent)
        except (ValueError, ArithmeticError):
            return None
        return found if found.is_legal else None

    absent = omitted_inputs(operator, function)
    larger: list[Change] = [lambda _, old: old + 1, lambda _, old: 2 * old, lambda _, old: 3 * old]
    others = filter(None, map(resize, larger))
    sample, one = resize(lambda _, old: old), resize(lambda *_: 1)
    yield from filter(None, (sample, next(others, None), one))


def _without(whole: Case, names: frozenset[str]) -> Case:
    """A call without some of its inputs."""
    if not names:
        return whole
    kept = {name: array for name, array in whole.arrays.items() if name not in names}
    return Case(whole.function, whole.label, whole.types, kept, whole.attributes, whole.constants)
