"""Test cases: one operator call on concrete arguments, recorded as its own graph."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tripybuild.errors.diagnostics import DiagnosticError, concise
from tripybuild.frontend import Tensor
from tripybuild.language.vocabulary import ANY_NAME
from tripybuild.reference.numerics.arrays import Array
from tripybuild.schema.operator.dtype_combinations import Tuple, format_tuple, legal_tuples, slots
from tripybuild.schema.operator.operator import Operator
from tripybuild.schema.operator.samples import Place, free_sizes, size_places
from tripybuild.testing.generators import generate_array
from tripybuild.testing.sample import BoundSample, Change, bind
from tripybuild.trace.constants import constant
from tripybuild.trace.graph import Graph
from tripybuild.trace.location import at, caller_location
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import dtype, float32, from_numpy
from tripybuild.types.patterns import ValuePattern, options
from tripybuild.types.shapes import fresh_symbols

Function = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Case:
    """A call with arrays. `types` is the name of its dtype tuple.

    The inputs that are `constants` are known when the engine is built, so the graph holds them.
    `bound` are the names of the sample that it is.
    """

    function: Function
    label: str
    types: str
    arrays: Mapping[str, Array | list[Array]]
    attributes: Mapping[str, Any]
    constants: frozenset[str] = frozenset()
    bound: BoundSample | None = None

    @cached_property
    def graph(self) -> Graph:
        """The call as a graph; its inputs are named after the arguments.

        Raises:
            DiagnosticError: Where the declaration refuses the call.
        """
        values: dict[str, Value] = {}
        arguments: dict[str, Any] = {}
        for name, given in self.arrays.items():
            parts = given if isinstance(given, list) else [given]
            if name in self.constants:
                arguments[name] = constant_tensor(parts[0])
                continue
            made = [Value(TensorType(from_numpy(a.dtype), tuple(a.shape))) for a in parts]
            values |= {self._place(name, i, given): value for i, value in enumerate(made)}
            tensors = [Tensor.of(value) for value in made]
            arguments[name] = tensors if isinstance(given, list) else tensors[0]
        with at(caller_location(ANY_NAME)), fresh_symbols():
            result = self.function(**arguments, **self.attributes)
        return Graph(self.label, values, {}, outputs(result))

    @property
    def data(self) -> dict[str, Array]:
        """The arrays by the names of the graph's inputs."""
        return {
            self._place(name, index, given): array
            for name, given in self.arrays.items()
            if name not in self.constants
            for index, array in enumerate(given if isinstance(given, list) else [given])
        }

    def _place(self, name: str, index: int, given: object) -> str:
        return f"{name}_{index}" if isinstance(given, list) else name

    @property
    def is_legal(self) -> bool:
        """Whether the declaration allows the call."""
        return self.refusal is None

    @cached_property
    def refusal(self) -> str | None:
        """What the declaration says against the call."""
        try:
            _ = self.graph
        except DiagnosticError as error:
            return concise(error.diagnostics[0])
        return None


def bound_of(case: Case) -> BoundSample:
    """The sample that a call near it is, with its names bound."""
    assert case.bound is not None, "calls near a sample are bound samples"
    return case.bound


def constant_tensor(array: Array) -> Tensor:
    """A tensor that holds an array."""
    return Tensor.of(constant(array, from_numpy(array.dtype)))


def outputs(result: Any) -> dict[str, Value]:
    """What a public function gave, by the names of a graph's outputs."""
    several = result if isinstance(result, (list, tuple)) else [result]
    return {f"output{i}": tensor.value for i, tensor in enumerate(several)}


def case(function: Function, label: str, types: Tuple, bound: BoundSample) -> Case:
    """The call that a bound sample describes, with data."""
    arrays: dict[str, Array | list[Array]] = {}
    for name, operand in bound.operands.items():
        program = operand.generator.program if operand.generator else None
        made = [
            generate_array(program, bound.names, shape, type, f"{label} {name} {index}")
            for index, (type, shape) in enumerate(operand.numbers)
        ]
        arrays[name] = made if operand.several else made[0]
    constants = frozenset(name for name, operand in bound.operands.items() if operand.constant)
    return Case(function, label, format_tuple(types), arrays, bound.attributes, constants, bound)


def of_arguments(
    operator: Operator, function: Function, label: str, arguments: Mapping[str, Any]
) -> Case:
    """A call with arguments by name, arrays for tensors."""
    arrays: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for name, value in arguments.items():
        first = value[0] if isinstance(value, list) and value else value
        of_tensors = name in operator.inputs and isinstance(first, np.ndarray)
        (arrays if of_tensors else others)[name] = value
    constants = frozenset(name for name in arrays if operator.inputs[name].constant)
    return Case(function, label, label, arrays, others, constants)


def sample_case(operator: Operator, function: Function, types: Tuple) -> Case:
    """The declared sample; without the inputs that may be left out where it is legal only so."""
    whole = case(function, "sample", types, bind(operator, types))
    lead = legal_tuples(operator)[0]
    if whole.is_legal or case(function, "sample", lead, bind(operator, lead)).is_legal:
        return whole
    return without_optional(operator, whole) or whole


# What floats are beside numbers; the sign of a zero counts where something is divided by it.
SPECIAL = (np.nan, np.inf, -np.inf, -0.0)
# So many inputs have special values: of what meets a NaN elsewhere, little is a number.
AFFECTED = 2


def special_call(operator: Operator, function: Function) -> tuple[Case, Tuple] | None:
    """The sample in float32 with special values among its numbers, if it has any of float32."""
    tuples = (t for t in legal_tuples(operator) if float32 in t.values())
    types = next((t for t in tuples if not _has_other_floats(t)), None)
    sample = None if types is None else sample_case(operator, function, types)
    if types is None or sample is None or not sample.is_legal:
        return None
    arrays = dict(sample.arrays)
    inputs = [name for name in arrays if name not in sample.constants]
    floats = [name for name in inputs if _takes_special_values(arrays[name])]
    for turn, name in enumerate(floats[:AFFECTED]):
        given = arrays[name]
        assert isinstance(given, np.ndarray)
        changed = given.copy()
        places = np.arange(min(len(SPECIAL), given.size)) * given.size // len(SPECIAL)
        changed.reshape(-1)[places] = np.roll(SPECIAL, turn)[: len(places)]
        arrays[name] = changed
    return (replace(sample, label="special values", arrays=arrays), types) if floats else None


def _has_other_floats(types: Tuple) -> bool:
    return any(each.kind == "float" and each is not float32 for each in types.values())


def _takes_special_values(given: Array | list[Array]) -> bool:
    return isinstance(given, np.ndarray) and given.dtype == np.float32 and given.size > 1


def without_optional(operator: Operator, whole: Case) -> Case | None:
    """A call without the inputs that may be left out."""
    optional = {name for name, input in operator.inputs.items() if input.optional}
    if not optional & whole.arrays.keys():
        return None
    kept = {name: array for name, array in whole.arrays.items() if name not in optional}
    label = "without " + ", ".join(sorted(optional))
    if whole.bound is None:
        return replace(whole, label=label, arrays=kept)
    operands = {name: each for name, each in whole.bound.operands.items() if name in kept}
    return replace(whole, label=label, arrays=kept, bound=replace(whole.bound, operands=operands))


def variations(
    operator: Operator, function: Function, types: Tuple, *, every: bool
) -> Iterator[Case]:
    """The sample, and the legal calls near it: other sizes, inputs left out, numbers for tensors.

    Args:
        operator: The declaration.
        function: The public function.
        types: The dtypes.
        every: Whether to give sizes of zero and one too.
    """
    sample = sample_case(operator, function, types)
    yield sample
    yield from (c for c in _arguments(operator, sample, types) if c.is_legal)
    second = _first_legal(operator, function, types, "second shape", _larger())
    if second is not None:
        yield second
    sizes = sorted(
        {_at(free_sizes(operator)[name], path) for name, path in size_places(operator)} - {1}
    )
    for size in sizes[:3] if every else ():
        for wanted in (0, 1):
            label = f"{size} becomes {wanted}"
            found = _first_legal(operator, function, types, label, [_substitute({size: wanted})])
            if found is not None:
                yield found


def _arguments(operator: Operator, sample: Case, types: Tuple) -> Iterator[Case]:
    bare = without_optional(operator, sample)
    if bare is not None:
        yield bare
    for name, input in operator.inputs.items():
        takes_number = any(
            isinstance(o, ValuePattern) and o.kind == "number" for o in options(input.pattern)
        )
        if takes_number and len(sample.arrays) > 1:
            yield _with_number(operator, sample, name, _number(next(iter(types.values()))))
    for name, attribute in operator.attributes.items():
        if any(isinstance(o, ValuePattern) and o.lengths == () for o in options(attribute.pattern)):
            yield _with_nothing(sample, name)


def _with_number(operator: Operator, sample: Case, name: str, number: float) -> Case:
    """The sample with a number for a tensor; the dtypes of that tensor alone are none."""
    arrays = {n: array for n, array in sample.arrays.items() if n != name}
    attributes = {**sample.attributes, name: number}
    bound = sample.bound
    if bound is not None:
        alone = [s.name for s in slots(operator) if s.inputs == (name,) and not s.attributes]
        operands = {n: operand for n, operand in bound.operands.items() if n != name}
        names = bound.names.but(dict.fromkeys(alone))
        bound = replace(bound, operands=operands, names=names)
    label = f"{name} is {number}"
    return replace(sample, label=label, arrays=arrays, attributes=attributes, bound=bound)


def _with_nothing(sample: Case, name: str) -> Case:
    """The sample with an attribute that is a list of nothing."""
    bound = sample.bound
    if bound is not None:
        attributes = {**bound.attributes, name: []}
        bound = replace(bound, attributes=attributes, names=bound.names.but({name: []}))
    attributes = {**sample.attributes, name: []}
    return replace(sample, label=f"no {name}", attributes=attributes, bound=bound)


def _number(type: dtype) -> float | bool:
    return {"float": 1.5, "integer": 2}.get(type.kind, True)


def _first_legal(
    operator: Operator, function: Function, types: Tuple, label: str, changes: list[Change]
) -> Case | None:
    """The first change of sizes that the declaration allows."""
    for change in changes:
        try:
            found = case(function, label, types, bind(operator, types, change))
        except (ValueError, ArithmeticError):
            continue
        if found.is_legal and changes_size(operator, change):
            return found
    return None


def changes_size(operator: Operator, change: Change) -> bool:
    """Whether a change of sizes changes any."""
    sizes = free_sizes(operator)
    return any(
        change(place, old) != old
        for place in size_places(operator)
        if (old := _at(sizes[place[0]], place[1])) is not None
    )


def _larger() -> list[Change]:
    """Other sizes. Equal ones stay equal and ones stay one, so that some keep what relates them."""
    return [_scale(1, 1), _scale(2, -1), _scale(2, 0), _scale(3, 0)]


def _scale(factor: int, more: int) -> Change:
    return lambda _, size: size if size <= 1 else factor * size + more


def _substitute(sizes: Mapping[int, int]) -> Change:
    return lambda _, size: sizes.get(size, size)


def _at(value: Any, path: tuple[int, ...]) -> Any:
    for index in path:
        value = value[index]
    return value


def size_at(operator: Operator, place: Place) -> int:
    """The number that the sample has at a place."""
    found: int = _at(free_sizes(operator)[place[0]], place[1])
    return found
