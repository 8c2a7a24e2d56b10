"""A part that runs again on the same types records the same operations, so they are copied.

A deep model repeats one block. The first is run, with every check; the others copy what it
recorded, with their own inputs, weights and places. What a part records depends on its definition,
its sizes, the types of its inputs, and on which of them are known when an engine is built: steps
are pure, and scope is lexical.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tripybuild.errors.budget import spend
from tripybuild.model.context import Context, StepLocation
from tripybuild.schema.operator.operator import Snippet
from tripybuild.trace.graph import between
from tripybuild.trace.location import Location
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import Region
from tripybuild.trace.values import TensorType, Value, is_known


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """What one run of a part recorded, and what it depended on."""

    path: str
    place: Snippet | None
    inputs: Sequence[Value]
    operations: Sequence[TraceOp]
    outputs: Sequence[Value]


def recording(
    context: Context, path: str, inputs: Sequence[Value], outputs: Sequence[Value]
) -> Recording:
    """What was recorded between the inputs and the outputs of a part."""
    known = context.constants.union(inputs)  # a constant is made once for all
    return Recording(path, context.current, inputs, between(known, outputs), outputs)


def replayed(context: Context, first: Recording, path: str, inputs: Sequence[Value]) -> list[Value]:
    """The outputs of the same part at another path, on other inputs of the same types."""
    values: dict[Value, Value] = dict(zip(first.inputs, inputs, strict=True))

    def changed(argument: object) -> object:
        if isinstance(argument, Value):
            return values.get(argument) or _weight(argument)
        if isinstance(argument, tuple):
            return tuple([changed(item) for item in argument])
        return inside(argument)

    def inside(argument: object) -> object:
        """A region reads nothing from outside: only the places change in it."""
        return argument.copied(inside, _same, placed) if isinstance(argument, Region) else argument

    def placed(copy: TraceOp) -> TraceOp:
        return copy.placed(_moved(copy, first, path, context.current), copy.deferred)

    def _weight(value: Value) -> Value:
        """The weight that has the same place below the other path."""
        name = value.name or ""
        if name.startswith(first.path) and context.weights.get(name) is value:
            value = context.weights[path + name[len(first.path) :]]
        return value

    spend("operations", len(first.operations))
    for operation in first.operations:
        copy = placed(operation.rebuilt(changed, _same))
        values.update(zip(operation.outputs, copy.outputs, strict=True))
    return [values.get(value) or _weight(value) for value in first.outputs]


def _same(type: TensorType) -> TensorType:
    return type


def _moved(operation: TraceOp, first: Recording, path: str, place: Snippet | None) -> Location:
    """The place of a copy: its own path, and its caller's step for the first caller's."""
    location = operation.location
    if not isinstance(location, StepLocation):  # nobody said where
        return location
    label = location.label
    if label.startswith(first.path):
        label = path + label[len(first.path) :]
    snippet = place if location.snippet is first.place and place is not None else location.snippet
    return replace(location, label=label, snippet=snippet)


def alike(context: Context, path: str, inputs: Sequence[Value]) -> bool:
    """Whether another run can be told from this one by its inputs and its path alone.

    It cannot where two inputs are one value, where an input is a weight of the part itself, or
    where the part has state.
    """
    below = f"{path}."
    own = any(
        context.weights.get(v.name) is v and v.name.startswith(below) for v in inputs if v.name
    )
    states = any(name.startswith(below) for name in context.states)
    return len(set(inputs)) == len(inputs) and not own and not states


def key(part: object, sizes: Sequence[object], inputs: Sequence[Value]) -> object:
    """What decides which operations a part records."""
    types = ((value.type.dtype, value.type.shape, is_known(value)) for value in inputs)
    return (id(part), *sizes, *types)
