"""Symbolic shape tests: inference commutes with substitution of sizes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from tripybuild.artifact.call_signature import law_violations
from tripybuild.errors.diagnostics import DiagnosticError, concise
from tripybuild.frontend import Tensor
from tripybuild.schema.operator.dtype_combinations import Tuple, legal_tuples
from tripybuild.schema.operator.operator import KEPT, Operator
from tripybuild.schema.operator.samples import Place, constant_sizes, format_place, size_places
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.symbolic.dims import Dim, symbol
from tripybuild.tensorrt.emission import Profile
from tripybuild.testing.cases import (
    Case,
    Function,
    case,
    constant_tensor,
    outputs,
    sample_case,
    size_at,
)
from tripybuild.testing.check_counts import count_check
from tripybuild.testing.sample import BoundSample, Change, bind
from tripybuild.testing.target_facts import is_static
from tripybuild.trace.graph import Graph
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.shapes import fresh_symbols
from tripybuild.types.size_range import SizeRange

SYMBOL = "Z"
LARGEST = 4  # times the size of the sample, that a symbol can be


def disagreements(operator: Operator, function: Function, place: Place) -> Iterator[str]:
    """What is wrong when the size at one place is dynamic."""
    types = legal_tuples(operator)[0]
    size = size_at(operator, place)

    def change(where: Place, old: int) -> Any:
        return symbol(SYMBOL, 0, None) if where == place else old

    with fresh_symbols():
        numbers = record_sample(function, bind(operator, types))
    try:
        with fresh_symbols():
            graph = record_sample(function, bind(operator, types, change, only_shapes=True))
        symbols = graph.substitute({SYMBOL: size})
    except DiagnosticError as error:
        yield "; ".join(map(concise, error.diagnostics))
        return
    for name, value in numbers.outputs.items():
        count_check()
        found = symbols.outputs[name]
        if str(found.type) != str(value.type):
            yield f"{name}: symbols give {found.type}, numbers {value.type}"


@dataclass(frozen=True, eq=False)
class DynamicSample:
    """The sample with a dynamic size at one place: its graph, and the range of its symbol."""

    graph: Graph
    profile: Profile


def dynamic_sample(
    operator: Operator, function: Function, place: Place, name: str
) -> DynamicSample:
    """The sample with a symbol of some name at one place.

    Raises:
        DiagnosticError: Where the declaration refuses it.
    """
    size = size_at(operator, place)

    def change(where: Place, old: int) -> Any:
        return symbol(name, 1, size * 2) if where == place else old

    types = legal_tuples(operator)[0]
    graph = record_sample(function, bind(operator, types, change, only_shapes=True))
    return DynamicSample(graph, {name: SizeRange.of(size)})


@dataclass(frozen=True, eq=False)
class SymbolicSample:
    """The sample with a symbol for each of some sizes, and calls of it with numbers.

    `label` names the sizes, and `ranges` are those of the symbols.
    """

    label: str
    graph: Graph
    calls: Sequence[Case]
    ranges: Mapping[str, SizeRange]


def symbolic_samples(
    operator: Operator, function: Function, types: Tuple, target: str = ""
) -> Iterator[SymbolicSample]:
    """The sample with each of its sizes as a symbol, and with all of them as symbols.

    Those are left out that the declaration refuses: the question of symbols says so; and sizes that
    a target wants to be numbers.
    """
    bound = bind(operator, types)
    places = [
        place
        for place in size_places(operator)
        if place[0] not in constant_sizes(operator)
        and size_at(operator, place) > 0
        and not is_static(operator, target, place, bound)
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
        return symbol(symbols[place], 1, LARGEST * old) if place in symbols else old

    calls = list(_calls(operator, function, types, symbols))
    absent = omitted_inputs(operator, function)
    constants = calls[0].arrays if calls else {}
    try:
        bound = bind(operator, types, change, only_shapes=True)
        graph = record_sample(function, bound, absent, constants)
    except (DiagnosticError, UndecidedSize):
        return None
    label = ", ".join(map(format_place, symbols))
    sizes = {name: size_at(operator, place) for place, name in symbols.items()}
    ranges = {name: SizeRange(1, size, LARGEST * size) for name, size in sizes.items()}
    return SymbolicSample(label, graph, [each for each in calls if _allows(graph, each)], ranges)


def _allows(graph: Graph, call: Case) -> bool:
    """Whether no law that waits for sizes refuses those of a call."""
    values = zip(graph.inputs.values(), call.data.values(), strict=True)
    pairs = [pair for value, array in values for pair in zip(value.shape, array.shape, strict=True)]
    sizes = {size.name: number for size, number in pairs if isinstance(size, Dim) and size.name}
    return not law_violations(graph.deferred_laws, sizes)


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


@lru_cache(maxsize=KEPT)
def omitted_inputs(operator: Operator, function: Function) -> frozenset[str]:
    """The inputs that the sample leaves out, since it is legal only without them."""
    lead = sample_case(operator, function, legal_tuples(operator)[0])
    optional = {name for name, input in operator.inputs.items() if input.optional}
    return frozenset(optional - lead.arrays.keys())


def record_sample(
    function: Function,
    bound: BoundSample,
    left_out: frozenset[str] = frozenset(),
    constants: Mapping[str, Any] = MappingProxyType({}),
) -> Graph:
    """A call without data: what it gives is known from the types of its operands.

    Operands that are constant are ones, or the arrays in `constants`.
    """
    arguments: dict[str, Any] = {}
    values: dict[str, Value] = {}
    for name, operand in bound.operands.items():
        if name in left_out:
            continue
        if operand.constant:
            ((type, shape),) = operand.numbers
            given = constants.get(name)
            arguments[name] = constant_tensor(
                np.ones(shape, type.numpy) if given is None else given
            )
            continue
        types = zip(operand.types, operand.shapes, strict=True)
        made = [Value(TensorType(*each)) for each in types]
        values |= {f"{name}_{i}": value for i, value in enumerate(made)}
        tensors = [Tensor.of(value) for value in made]
        arguments[name] = tensors if operand.several else tensors[0]
    return Graph("symbols", values, {}, outputs(function(**arguments, **bound.attributes)))
