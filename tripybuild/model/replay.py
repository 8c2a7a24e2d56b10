"""Replay of repeated parts: equal input types copy the recorded operations.

A deep model repeats one block. The first is run, with every check; the others copy what it
recorded, with their own inputs, weights and places. What a part records depends on its definition,
its sizes, the types of its inputs, and on which of them are known when an engine is built: steps
are pure, and scope is lexical.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tripybuild.errors.budget import spend
from tripybuild.model.context import BuildContext, StepLocation
from tripybuild.schema.operator.operator import Snippet
from tripybuild.trace.graph import operations_between
from tripybuild.trace.location import Location
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import Region
from tripybuild.trace.values import TensorType, Value, is_static


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """What one run of a part recorded, and what it depended on.

    `home` is the part whose operations they are: its own path, but for a definition that has none.
    """

    path: str
    home: str
    place: Snippet | None
    inputs: Sequence[Value]
    operations: Sequence[TraceOp]
    outputs: Sequence[Value]
    results: Sequence[tuple[str, Value]] = ()


def record_run(
    context: BuildContext,
    paths: tuple[str, str],
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    begin: int = 0,
) -> Recording:
    """What was recorded between the inputs and the outputs of a part of this path and home.

    What its steps gave are the results that were kept since `begin`.
    """
    known = context.constants.union(inputs)  # a constant is made once for all
    made = operations_between(known, outputs)
    results = (context.results or [])[begin:]
    return Recording(*paths, context.current_snippet, inputs, made, outputs, results)


def replay_run(
    context: BuildContext, first: Recording, paths: tuple[str, str], inputs: Sequence[Value]
) -> list[Value]:
    """The outputs of the same part at another path and home, on other inputs of the same types."""
    path, _ = paths
    values: dict[Value, Value] = dict(zip(first.inputs, inputs, strict=True))

    def substitute(argument: object) -> object:
        if isinstance(argument, Value):
            return values.get(argument) or _weight(argument)
        if isinstance(argument, tuple):
            return tuple([substitute(item) for item in argument])
        return substitute_region(argument)

    def substitute_region(argument: object) -> object:
        """A region reads nothing from outside: only the places change in it."""
        return (
            argument.copy(substitute_region, _same_type, relocate)
            if isinstance(argument, Region)
            else argument
        )

    def relocate(copy: TraceOp) -> TraceOp:
        return copy.with_location(
            _moved_location(copy, first, paths, context.current_snippet), copy.deferred
        )

    def _weight(value: Value) -> Value:
        """The weight that has the same place below the other path."""
        name = value.name or ""
        if name.startswith(first.path) and context.weights.get(name) is value:
            value = context.weights[path + name[len(first.path) :]]
        return value

    spend("operations", len(first.operations))
    for operation in first.operations:
        copy = relocate(operation.rebuild(substitute, _same_type))
        values.update(zip(operation.outputs, copy.outputs, strict=True))
    if context.results is not None:
        context.results += _moved_results(first, path, values)
    return [values.get(value) or _weight(value) for value in first.outputs]


def _moved_results(
    first: Recording, path: str, values: Mapping[Value, Value]
) -> Iterator[tuple[str, Value]]:
    """What the steps of a copy gave, by their names."""
    for name, value in first.results:
        if value in values:
            yield _moved_name(name, first.path, path), values[value]


def _moved_name(name: str, old: str, new: str) -> str:
    """A name below a path, below another one."""
    return new + name[len(old) :] if name.startswith(old) else name


def _same_type(type: TensorType) -> TensorType:
    return type


def _moved_location(
    operation: TraceOp, first: Recording, paths: tuple[str, str], place: Snippet | None
) -> Location:
    """The place of a copy: its own path, and its caller's step for the first caller's."""
    path, home = paths
    location = operation.location
    if not isinstance(location, StepLocation):  # it has no known place
        return location
    label = _moved_name(location.label, first.path, path)
    snippet = place if location.snippet is first.place and place is not None else location.snippet
    part = _moved_name(location.part, first.home, home)
    return replace(location, label=label, snippet=snippet, part=part)


def is_replayable(context: BuildContext, path: str, inputs: Sequence[Value]) -> bool:
    """Whether another run can be told from this one by its inputs and its path alone.

    It cannot where two inputs are one value, where an input is a weight of the part itself, or
    where the part has state.
    """
    below = f"{path}."
    own = any(
        context.weights.get(v.name) is v and v.name.startswith(below) for v in inputs if v.name
    )
    states = any(name.startswith(below) for name in context.state_paths)
    return len(set(inputs)) == len(inputs) and not own and not states


def replay_key(part: object, sizes: Sequence[object], inputs: Sequence[Value]) -> object:
    """What decides which operations a part records."""
    types = ((value.type.dtype, value.type.shape, is_static(value)) for value in inputs)
    return (id(part), *sizes, *types)
