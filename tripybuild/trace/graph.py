"""Graph: inputs, weights, outputs, and operations in recording order."""

from collections.abc import Iterable, Iterator, Mapping, Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from operator import attrgetter

from tripybuild.symbolic.dims import Dim, Size, same
from tripybuild.trace.mesh import Mesh
from tripybuild.trace.operation import DeferredLaw, TraceOp
from tripybuild.trace.region import copy_operations, substitution, walk_operations
from tripybuild.trace.values import TensorType, Value


def operations_between(known: AbstractSet[Value], outputs: Iterable[Value]) -> list[TraceOp]:
    """The operations that outputs need beyond the known values, in the order of recording."""
    found: dict[TraceOp, None] = {}
    stack = [value for value in outputs if value not in known]
    while stack:
        producer = stack.pop().producer
        if producer is not None and producer not in found:
            found[producer] = None
            read = producer.reads()
            stack += [value for value in read if value not in known] if known else read
    return sorted(found, key=attrgetter("serial"))


def next_name(state: str) -> str:
    """The output that is what a state will be; no other output has a dot in its name."""
    return f"{state}.next"


def same_type(one: TensorType, other: TensorType) -> bool:
    """Whether two types are one, whatever the sizes of a call are."""
    alike = one.dtype is other.dtype and len(one.shape) == len(other.shape)
    return alike and all(map(same, one.shape, other.shape))


@dataclass(frozen=True, eq=False)
class Graph:
    """A recorded computation. Weights are inputs named by path, without data."""

    name: str
    inputs: Mapping[str, Value]
    weights: Mapping[str, Value]
    outputs: Mapping[str, Value]
    laws: tuple[DeferredLaw, ...] = ()
    """What each call decides beside the laws of its operations."""
    mesh: Mesh | None = None
    """The devices that share the work; one does it all without."""

    def _repr_html_(self) -> str:
        """What a notebook shows: the signature and a picture."""
        from tripybuild.trace.notebook_html import graph_html  # noqa: PLC0415 - in notebooks alone

        return graph_html(self)

    @cached_property
    def operations(self) -> tuple[TraceOp, ...]:
        """What the outputs need beyond inputs and weights, in the order of recording."""
        known = {*self.inputs.values(), *self.weights.values()}
        return tuple(operations_between(known, self.outputs.values()))

    @cached_property
    def open_laws(self) -> tuple[DeferredLaw, ...]:
        """The laws that were open when the graph was recorded, each once."""
        of_operations = (
            replace(law, place=each.location)
            for each in walk_operations(self.operations)
            for law in each.deferred
        )
        found = chain(self.laws, of_operations)
        return tuple({(law.code, law.law.text, str(law.names)): law for law in found}.values())

    @cached_property
    def deferred_laws(self) -> tuple[DeferredLaw, ...]:
        """The laws that each call decides: those about the sizes of its inputs alone."""
        symbols = set(self.symbols)
        return tuple(law for law in self.open_laws if law.symbols <= symbols)

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The names of the dynamic sizes of the inputs, sorted."""
        sizes = (size for value in self.inputs.values() for size in value.shape)
        return tuple(sorted({name for s in sizes if isinstance(s, Dim) for name in s.symbols}))

    @cached_property
    def updates(self) -> dict[str, str]:
        """The inputs that have a successor of the same type among the outputs, and its name."""
        named = {name: next_name(name) for name in self.inputs if next_name(name) in self.outputs}
        types = {n: (self.inputs[n].type, self.outputs[new].type) for n, new in named.items()}
        return {n: named[n] for n, (old, new) in types.items() if same_type(old, new)}

    def substitute(self, sizes: Mapping[str, Size]) -> "Graph":
        """The same graph with sizes for symbols, in types and in attributes."""
        change, fixed = substitution(sizes)
        values: dict[Value, Value] = {}
        for source in (self.inputs, self.weights):
            for name, value in source.items():
                weight = source is self.weights
                values[value] = Value(fixed(value.type), name=name, weight=weight)
        for _ in copy_operations(self.operations, values, change, fixed):
            pass
        return Graph(
            self.name,
            {name: values[value] for name, value in self.inputs.items()},
            {name: values[value] for name, value in self.weights.items()},
            {name: values[value] for name, value in self.outputs.items()},
            self.laws,
            self.mesh,
        )

    def merge_weights(self, same: Mapping[str, str], weights: Mapping[str, Value]) -> "Graph":
        """The same graph where weights that have the data of others are those.

        Args:
            same: The names of others, by the names of weights that have their data.
            weights: The weights of this graph and others, in the order of the model.
        """
        same = {name: kept for name, kept in same.items() if name in self.weights}
        if not same:
            return self
        values = {self.weights[name]: weights[kept] for name, kept in same.items()}
        for _ in copy_operations(self.operations, values):
            pass
        used = (self.weights.keys() - same.keys()) | set(same.values())
        left = {name: value for name, value in weights.items() if name in used}
        outputs = {name: values.get(value, value) for name, value in self.outputs.items()}
        return Graph(self.name, self.inputs, left, outputs, self.laws, self.mesh)

    @cached_property
    def read_values(self) -> frozenset[Value]:
        """The values that its operations read, and its outputs."""
        read = (value for operation in self.operations for value in operation.reads())
        return frozenset(chain(read, self.outputs.values()))

    def used_weights(self) -> Iterator[str]:
        """The weights that the outputs need, in the order of the model."""
        yield from (name for name, value in self.weights.items() if value in self.read_values)
