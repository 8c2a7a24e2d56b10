"""Cost table: what the parts of a graph hold, compute and move, in symbols and in numbers.

A part has what is below it, too. Equal parts of a list are one row: `layers.*`. Bytes are those of
operations one by one, so that an engine that fuses some moves fewer. Memory is that of results from
the operation that makes them to the last one that reads them, and of the inputs of the call; what
only looks at another tensor, as `reshape` does, takes none.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from tripybuild.compiler.check.devices import Roofline
from tripybuild.reference.cost import Cost, bytes_of, cost, has_unknown_turns
from tripybuild.symbolic.dims import Size, evaluate, same
from tripybuild.trace.constants import Constant
from tripybuild.trace.graph import Graph
from tripybuild.trace.location import PythonLocation
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.structural_key import operation_key
from tripybuild.trace.values import TensorType, Value

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartCost:
    """What a part costs.

    Args:
        path: The names from the outermost part to it, where `*` is any index; empty for all.
        count: How many parts that is.
        parameters: The elements of its weights that are in files.
        cost: Operations and bytes, with symbols.
        flops: The operations for the chosen sizes.
        bytes: The bytes read and written, for the chosen sizes.
        memory: The most bytes of activations that are held while it runs, for these.
        seconds: The least time on the device, for these.
        computing: The part of that time in which arithmetic, not memory, is the limit.
    """

    path: Path
    count: int
    parameters: int
    cost: Cost
    flops: int
    bytes: int
    memory: int
    seconds: float
    computing: float


@dataclass(slots=True, eq=False)
class _OperationCost:
    """What operations of one form cost."""

    cost: Cost
    flops: int
    bytes: int
    seconds: float
    computes: bool


@dataclass(slots=True, eq=False)
class _Tally:
    """What was counted of a part so far."""

    members: set[Path] = field(default_factory=set)
    parameters: int = 0
    operations: Counter[_OperationCost] = field(default_factory=Counter)
    memory: int = 0

    def result(self, path: Path) -> PartCost:
        """The sums."""
        counted = self.operations.items()
        flops = sum((each.cost.flops * times for each, times in counted), 0)
        moved = sum((each.cost.bytes * times for each, times in counted), 0)
        return PartCost(
            path,
            len(self.members),
            self.parameters,
            Cost(flops, moved),
            sum(each.flops * times for each, times in counted),
            sum(each.bytes * times for each, times in counted),
            self.memory,
            sum(each.seconds * times for each, times in counted),
            sum(each.seconds * times for each, times in counted if each.computes),
        )


class CostTable:
    """The costs of one graph for some sizes on a device.

    Args:
        graph: The graph, with symbols.
        sizes: Numbers for them. What a size of data depends on counts for nothing.
        device: What times are of.
        stored: The weights that are in files, by path, and which of them a computed one is made of.
        states: The inputs that stay where they are from call to call.
    """

    def __init__(
        self,
        graph: Graph,
        sizes: Mapping[str, int],
        device: Roofline,
        stored: Mapping[str, Value],
        states: Iterable[str] = (),
    ) -> None:
        self.graph, self.sizes, self.device, self.states = graph, sizes, device, frozenset(states)
        self._tallies: dict[Path, _Tally] = {}
        self._above: dict[str, list[_Tally]] = {}
        self._costs: dict[object, _OperationCost] = {}
        self._sizes: dict[TensorType, int] = {}
        self._most_held: Sequence[Value] = ()
        self.inside = 0
        """The operations whose bodies run as often as data decides, and count once."""
        places: dict[Value, str] = {}  # of weights, where paths are functions
        for operation, held in self._held_bytes(graph.operations):
            found, path = self._cost(operation), operation.location.part
            self.inside += has_unknown_turns(operation)
            for tally in self._chain(path):
                tally.operations[found] += 1
                tally.memory = max(tally.memory, held)
            if isinstance(operation.location, PythonLocation):
                places |= dict.fromkeys(operation.reads(), path)
        for name, value in stored.items():
            for tally in self._chain(places.get(value) or name.rpartition(".")[0]):
                tally.parameters += prod(value.shape)

    def rows(self) -> list[PartCost]:
        """The parts, the whole first, and each before those below it."""
        order = {path: index for index, path in enumerate(self._tallies)}
        ordered = sorted(
            self._tallies, key=lambda path: [order[path[: i + 1]] for i in range(len(path))]
        )
        return [self._tallies[path].result(path) for path in ordered]

    @property
    def memory(self) -> Size:
        """The bytes of activations where most are held, with symbols."""
        return bytes_of(self._most_held)

    def _chain(self, path: str) -> list[_Tally]:
        """The tallies of a part and of all that it is in."""
        if path not in self._above:
            names = tuple(path.split(".")) if path else ()
            starred = tuple("*" if name.isdigit() else name for name in names)
            chain = []
            for end in range(len(names) + 1):
                tally = self._tallies.setdefault(starred[:end], _Tally())
                tally.members.add(names[:end])
                chain.append(tally)
            self._above[path] = chain
        return self._above[path]

    def _cost(self, operation: TraceOp) -> _OperationCost:
        """The cost of an operation, counted once for all of one form."""
        read = operation.reads()
        numbers = {value: number for number, value in enumerate(dict.fromkeys(read))}
        given = tuple([each.type for each in (*numbers, *operation.outputs)])
        is_constant = isinstance(operation, Constant)
        key = is_constant or (operation_key(operation, numbers), given)
        if key not in self._costs:
            found = cost(operation)
            flops, moved = self._number(found.flops), self._number(found.bytes)
            kind = (*read, *operation.outputs)[0].dtype
            self._costs[key] = _OperationCost(
                found, flops, moved, *self.device.seconds(flops, moved, kind)
            )
        return self._costs[key]

    def _number(self, size: Size) -> int:
        if isinstance(size, int):
            return size
        return evaluate(size, self.sizes) if size.symbols <= self.sizes.keys() else 0

    def _bytes(self, value: Value) -> int:
        if value.type not in self._sizes:
            self._sizes[value.type] = self._number(bytes_of([value]))
        return self._sizes[value.type]

    def _held_bytes(self, operations: Sequence[TraceOp]) -> Iterator[tuple[TraceOp, int]]:
        """Each operation with the bytes that are held while it runs."""
        graph = self.graph
        given = [value for name, value in graph.inputs.items() if name not in self.states]
        roots = self._roots(operations)
        last = {roots.get(v, v): i for i, each in enumerate(operations) for v in each.reads()}
        ends: dict[int, list[Value]] = {}
        forever = {roots.get(value, value) for value in graph.outputs.values()}
        for value, index in last.items():
            if value not in forever:
                ends.setdefault(index, []).append(value)
        inside = {graph.outputs[new] for new in graph.updates.values()}  # they take a state's place
        held = dict.fromkeys(given)
        always = frozenset(given)
        total, most = sum(map(self._bytes, held)), -1
        for index, operation in enumerate(operations):
            made = [v for v in operation.outputs if v not in roots and v not in inside]
            made = [] if isinstance(operation, Constant) else made
            held |= dict.fromkeys(made)
            total += sum(map(self._bytes, made))
            if total > most:
                most, self._most_held = total, tuple(held)
            yield operation, total
            dead = [v for v in made if v not in last and v not in forever]
            for value in (*dead, *ends.get(index, ())):
                if value in held and value not in always:
                    del held[value]
                    total -= self._bytes(value)

    def _roots(self, operations: Iterable[TraceOp]) -> dict[Value, Value]:
        """The tensors that only look at another one, with that one."""
        found: dict[Value, Value] = {}
        for operation in operations:
            read = operation.reads()
            if read and same(self._cost(operation).cost.bytes, 0):
                found |= dict.fromkeys(operation.outputs, found.get(read[0], read[0]))
        return found
