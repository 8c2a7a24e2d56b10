"""The calls of a program as runs of its modules, one within the other.

A run is one call of a module: the calls that stand in it, whatever stands between them in the
program. Where something outside of a module stands between two of its calls and depends on it, the
module cannot be one call, and is opened: what it does is then done by the module above it.

A definition sees its arguments alone, so the regions of control flow take all that they read: what
a branch reads from outside becomes one more operand, and what the body of a loop reads one more
value that goes from turn to turn as it is.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from typing import Any

from tripybuild.importer.call_program import Call, CallGraph, CallProgram, CallValue
from tripybuild.importer.spec_writer.texts import captured, tensors_of
from tripybuild.schema.operator.operator import Operator
from tripybuild.types.patterns import LikePattern, RegionPattern

FEW = 2  # calls of a module without weights that are put in the place of its call


@dataclass(eq=False, slots=True)
class ModuleRun:
    """One call of a module.

    Attributes:
        path: That of the module; empty for the program.
        class_name: The module's class.
        calls: All calls in it, those of the modules below included.
        items: Its own calls and the runs of modules right below it, in an order that works; later
            also chains of runs.
        arguments: The tensors that it reads from outside, without weights of the module.
        results: The tensors in it that are read outside.
    """

    path: str
    class_name: str
    calls: list[Call]
    items: list[Any] = field(default_factory=list)
    arguments: list[CallValue] = field(default_factory=list)
    results: list[CallValue] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class ModuleNode:
    """A module, or a container of some: what is below it, its own weights, and its runs.

    `operators` are those that stand in a list as modules, by number.
    """

    path: str
    children: "dict[str, ModuleNode]" = field(default_factory=dict)
    weights: dict[str, CallValue] = field(default_factory=dict)
    runs: list[ModuleRun] = field(default_factory=list)
    operators: dict[int, str] = field(default_factory=dict)

    @property
    def is_list(self) -> bool:
        """Whether its children have numbers for names, and it has nothing of its own."""
        return bool(self.children) and not self.weights and all(map(str.isdigit, self.children))

    def walk(self) -> "Iterator[ModuleNode]":
        """The node and all below it."""
        yield self
        for child in self.children.values():
            yield from child.walk()

    def find(self, path: str) -> "ModuleNode":
        """The node of a path, which is made where there is none."""
        node = self
        for segment in path.split(".") if path else ():
            inner = f"{node.path}.{segment}" if node.path else segment
            node = node.children.setdefault(segment, ModuleNode(inner))
        return node


class ModuleRuns:
    """Divides a program into runs.

    Args:
        program: The program.
        opened: Modules that are no parts with calls of their own.
    """

    def __init__(self, program: CallProgram, opened: Iterable[str] = ()) -> None:
        self.program = program
        self.opened = set(opened)
        self.root = ModuleNode("")
        weights = {p: v for p, v in program.weights.items() if p not in program.updates}
        self.path_of = {id(value): path for path, value in weights.items()}
        for path, value in weights.items():
            owner, _, name = path.rpartition(".")
            self.root.find(owner).weights[name] = value
        self._readers: dict[int, list[Call | None]] = defaultdict(list)
        for call in program.graph.calls:
            for value in tensors_of([*call.arguments.values()]):
                self._readers[id(value)].append(call)
        for value in (*(v for _, v in program.graph.outputs), *program.updates.values()):
            self._readers[id(value)].append(None)

    def divide(self) -> ModuleRun:
        """The program's own run."""
        run = ModuleRun("", "", list(self.program.graph.calls))
        outputs = [value for _, value in self.program.graph.outputs]
        run.results = [*outputs, *self.program.updates.values()]  # as often as they are written
        self._divide(run)
        self.root.runs.append(run)
        return run

    def _divide(self, run: ModuleRun) -> None:
        run.items = self._items(run)
        for item in run.items:
            if isinstance(item, ModuleRun):
                item.results = self._results(item.calls)
                item.arguments = self._arguments(item)
                self._divide(item)
                if not self.is_small(item):
                    self.root.find(item.path).runs.append(item)

    def is_small(self, run: ModuleRun) -> bool:
        """Whether a run is put in place: a few calls that read no weights of the module."""
        return len(run.calls) <= FEW and not self.holds_weights(run.path)

    def holds_weights(self, path: str) -> bool:
        """Whether a module or one below it has weights."""
        start = f"{path}."
        return any(each.startswith(start) for each in self.program.weights)

    def _items(self, run: ModuleRun) -> list[Call | ModuleRun]:
        """Own calls and runs of the modules below, sorted; modules in a cycle are opened."""
        while True:
            items: dict[object, Call | ModuleRun] = {}
            for call in run.calls:
                key = self._child(call, run.path)
                if key is None:
                    items[call] = call
                    continue
                path, class_name, _ = key
                inner = items.setdefault(key, ModuleRun(path, class_name, []))
                assert isinstance(inner, ModuleRun)
                inner.calls.append(call)
            ordered, cyclic = _sort(list(items.values()))
            if not cyclic:
                return ordered
            self.opened.update(item.path for item in cyclic)

    def _child(self, call: Call, path: str) -> tuple[str, str, int] | None:
        """The module below a path that a call stands in, with the number of its call."""
        start = f"{path}." if path else ""
        for module in call.node.modules if call.node is not None else ():
            if module.path.startswith(start) and module.path not in (path, "", *self.opened):
                return module.path, module.class_name, module.call
        return None

    def _results(self, calls: Sequence[Call]) -> list[CallValue]:
        inside = set(map(id, calls))
        return [
            value
            for call in calls
            for value in call.results
            if any(id(reader) not in inside for reader in self._readers[id(value)])
        ]

    def _arguments(self, run: ModuleRun) -> list[CallValue]:
        start = f"{run.path}."
        inside = {id(value) for call in run.calls for value in call.results}
        read = (v for call in run.calls for v in tensors_of([*call.arguments.values()]))
        found = {
            id(value): value
            for value in read
            if id(value) not in inside and not self.path_of.get(id(value), "").startswith(start)
        }
        return list(found.values())

    def count(self, value: CallValue, within: Iterable[Call]) -> int:
        """How often the calls of a run read a value."""
        inside = set(map(id, within))
        return sum(id(reader) in inside for reader in self._readers[id(value)])


def last_word(path: str, otherwise: str) -> str:
    """The last name in a path that is no number of a list."""
    return next((s for s in reversed(path.split(".")) if s and not s.isdigit()), otherwise)


def calls_of(item: Call | ModuleRun) -> Sequence[Call]:
    """The calls of an item."""
    return [item] if isinstance(item, Call) else item.calls


def _sort(items: Sequence[Call | ModuleRun]) -> tuple[list[Call | ModuleRun], list[ModuleRun]]:
    """Items in an order that works, the earlier first; or else the runs that stand in a cycle."""
    maker = {id(v): i for i, item in enumerate(items) for c in calls_of(item) for v in c.results}
    needs: list[set[int]] = []
    for index, item in enumerate(items):
        read = (v for call in calls_of(item) for v in tensors_of([*call.arguments.values()]))
        needs.append({maker[id(v)] for v in read if id(v) in maker} - {index})
    done, left = _topological(needs)
    if not left:
        return [items[i] for i in done], []
    inverse: list[set[int]] = [set() for _ in items]
    for index in left:
        for need in needs[index] & left:
            inverse[need].add(index)
    after, _ = _topological(inverse)
    cyclic = [items[i] for i in sorted(left - set(after))]
    return [], [item for item in cyclic if isinstance(item, ModuleRun)]


def _topological(needs: Sequence[set[int]]) -> tuple[list[int], set[int]]:
    """An order of numbers in which each stands behind what it needs, and those that have none."""
    waiting = [set(each) for each in needs]
    users: Mapping[int, list[int]] = defaultdict(list)
    for index, each in enumerate(waiting):
        for need in each:
            users[need].append(index)
    ready = [index for index, each in enumerate(waiting) if not each]
    heapify(ready)
    order: list[int] = []
    while ready:
        index = heappop(ready)
        order.append(index)
        for user in users[index]:
            waiting[user].discard(index)
            if not waiting[user]:
                heappush(ready, user)
    return order, set(range(len(needs))) - set(order)


def close_regions(program: CallProgram, operators: Mapping[str, Operator]) -> CallProgram:
    """A program whose regions read nothing but their inputs."""
    calls = [_closed(call, operators) for call in program.graph.calls]
    return replace(program, graph=replace(program.graph, calls=calls))


def _closed(call: Call, operators: Mapping[str, Operator]) -> Call:
    operator = operators[call.operator]
    graphs = {n: v for n, v in call.arguments.items() if isinstance(v, CallGraph)}
    if not graphs:
        return call
    graphs = {
        name: replace(graph, calls=[_closed(each, operators) for each in graph.calls])
        for name, graph in graphs.items()
    }
    found = {id(value): value for graph in graphs.values() for value in captured(graph)}
    if not found:
        return replace_arguments(call, graphs)
    outside = list(found.values())
    patterns = operator.regions()
    name = next(_names(patterns[next(iter(graphs))]))
    given = list(call.arguments.get(name, ()))
    made = {n: _with_inputs(g, patterns[n], name, len(given), outside) for n, g in graphs.items()}
    closed = replace_arguments(call, {name: [*given, *outside], **made})
    if any(_threads(pattern, name) for pattern in patterns.values()):
        extra = [CallValue(each.type, each.name) for each in outside]
        results = [*call.results[: len(given)], *extra, *call.results[len(given) :]]
        for index, value in enumerate(results):
            value.call, value.index = closed, index
        closed.results, closed.is_list = results, len(results) > 1
    return closed


def replace_arguments(call: Call, arguments: Mapping[str, object]) -> Call:
    """The call with other arguments, whose results are of the new one."""
    made = Call(
        call.operator, {**call.arguments, **arguments}, call.results, call.is_list, call.node
    )
    for value in call.results:
        value.call = made
    return made


def _names(pattern: RegionPattern) -> Iterator[str]:
    """The inputs whose values, not rows of them, a region takes."""
    return iter([p.name for p in pattern.parameters if isinstance(p, LikePattern) and not p.each])


def _threads(pattern: RegionPattern, name: str) -> bool:
    """Whether a region gives the next values of an input."""
    return any(isinstance(p, LikePattern) and p.name == name for p in pattern.results)


def _with_inputs(
    graph: CallGraph, pattern: RegionPattern, name: str, count: int, outside: Sequence[CallValue]
) -> CallGraph:
    """A region that takes what it reads from outside, behind the others of an input."""
    own = {id(value): CallValue(value.type, value.name) for value in outside}
    inputs = [*graph.inputs[:count], *own.values(), *graph.inputs[count:]]
    calls = [
        replace_arguments(call, {n: _replaced(v, own) for n, v in call.arguments.items()})
        for call in graph.calls
    ]
    outputs = [(each, own.get(id(value), value)) for each, value in graph.outputs]
    if _threads(pattern, name):
        extra = [(f"{value.name}_same", value) for value in own.values()]
        outputs = [*outputs[:count], *extra, *outputs[count:]]
    return CallGraph(inputs, calls, outputs)


def _replaced(value: object, by: Mapping[int, CallValue]) -> object:
    match value:
        case CallValue():
            return by.get(id(value), value)
        case list() | tuple():
            return [_replaced(each, by) for each in value]
        case slice():
            return slice(*(_replaced(v, by) for v in (value.start, value.stop, value.step)))
        case CallGraph():
            calls = [
                replace_arguments(c, {n: _replaced(v, by) for n, v in c.arguments.items()})
                for c in value.calls
            ]
            outputs = [(n, by.get(id(v), v)) for n, v in value.outputs]
            return CallGraph(value.inputs, calls, outputs)
    return value
