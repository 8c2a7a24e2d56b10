"""Operation times: what an engine measured of its kernels, as times of a model's operations.

A graph is lowered anew with a token for each operation in the place of its step, which the names of
kernels keep. What an engine fuses has one name: the time of a kernel is shared out among what it
contains, by the arithmetic and the bytes that these are declared to cost.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from time import perf_counter
from typing import Any

from tripybuild.artifact.call_signature import Array
from tripybuild.compiler.executable import ExecutableEntry
from tripybuild.targets.protocol import EngineTimes, KernelTime
from tripybuild.trace.constants import Constant
from tripybuild.trace.graph import Graph
from tripybuild.trace.location import StoredLocation
from tripybuild.trace.operation import TraceOp
from tripybuild.workbench.drawing.drawing import Drawing, DrawnNode, node_ids

MARK = "tbop"  # no step has such a name
WARM = 3  # calls that are not measured
_FOUND = re.compile(rf"{MARK}(\d+)(?!\d)")


@dataclass(frozen=True, slots=True)
class FusedKernel:
    """A kernel: its time in one call, and the ids of the operations that it contains."""

    name: str
    kind: str
    seconds: float
    operations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OperationTimes:
    """Where the time of a call went.

    Args:
        drawing: What was called.
        kernels: The kernels, the slowest first; what belongs to no operation has none.
        seconds: The time of each operation by its id.
        call: Seconds of a call that nothing measures: the mean of the faster half.
        measured: The same of calls in which each kernel is measured.
        note: What the user should know of the engine's figures.
    """

    drawing: Drawing
    kernels: Sequence[FusedKernel]
    seconds: Mapping[str, float]
    call: float
    measured: float
    note: str = ""

    @property
    def total(self) -> float:
        """The seconds of all kernels."""
        return sum(each.seconds for each in self.kernels)

    @property
    def own(self) -> float:
        """The seconds of the engine's own kernels, such as changes of layouts."""
        return sum(each.seconds for each in self.kernels if not each.operations)

    def by(self, key: Any) -> list[tuple[str, float, int]]:
        """Seconds by something of each operation, the largest first, and how many these are."""
        sums: Counter[str] = Counter()
        counts: Counter[str] = Counter()
        for node in self.drawing.operations:
            if node.id in self.seconds:
                sums[key(node)] += self.seconds[node.id]  # type: ignore[assignment]
                counts[key(node)] += 1
        return [(name, float(sums[name]), counts[name]) for name, _ in sums.most_common()]


def measure_operations(
    entry: ExecutableEntry, drawing: Drawing, arrays: Mapping[str, Array], rounds: int
) -> OperationTimes:
    """Call an entry, and its graph again with an engine that measures kernels.

    Args:
        entry: What is called.
        drawing: Its drawing for the sizes of the call.
        arrays: The inputs.
        rounds: How often it is called each way.

    Raises:
        DiagnosticError: Its engine measures no kernels.
    """
    call = _call_seconds(lambda: entry.run(arrays), rounds)
    labeled = label_operations(entry.graph)
    given = [arrays[name] for name in entry.signature.inputs]
    found = entry.model.target.measure_kernels(entry, labeled, given, rounds)
    operations = entry.graph.operations
    names = [each.id for each in node_ids(operations, drawing.entry)]
    kernels = [_numbered(each, len(operations)) for each in _typical_kernels(found)]
    fused = [
        FusedKernel(each.name, each.kind, each.seconds, tuple(names[n] for n in numbers))
        for each, numbers in _with_fused(operations, kernels)
    ]
    fused.sort(key=lambda each: -each.seconds)
    return OperationTimes(
        drawing,
        fused,
        _shares(fused, drawing.nodes),
        call,
        _typical_seconds(found.seconds),
        found.note,
    )


def _typical_kernels(found: EngineTimes) -> list[KernelTime]:
    """The kernels with their mean seconds in the faster half of calls."""
    # An engine that tells of all calls together has one list.
    together = len(found.calls) != len(found.seconds)
    fast = range(len(found.calls)) if together else _faster_half(found.seconds)
    sums: dict[tuple[str, str, bool], float] = {}
    for index in fast:
        for each in found.calls[index]:
            key = each.name, each.kind, each.is_first
            sums[key] = sums.get(key, 0.0) + each.seconds / len(fast)
    return [
        KernelTime(name, kind, seconds, is_first)
        for (name, kind, is_first), seconds in sums.items()
    ]


def _faster_half(seconds: Sequence[float]) -> list[int]:
    """Which calls took least: others had to wait for something else on the machine."""
    order = sorted(range(len(seconds)), key=lambda index: seconds[index])
    return order[: (len(order) + 1) // 2]


def _typical_seconds(seconds: Sequence[float]) -> float:
    """The mean of the faster half."""
    return fmean(seconds[index] for index in _faster_half(seconds))


def label_operations(graph: Graph) -> Graph:
    """The same graph, whose operations are at steps that are called after their numbers."""
    copy = graph.substitute({})
    numbers = {}
    for number, operation in enumerate(copy.operations):
        place = StoredLocation(f"{MARK}{number}", "<profile>", 1, 1, 1, 2)
        operation.with_location(place, operation.deferred)
        numbers[operation] = number
    outputs = {}
    for name, value in copy.outputs.items():  # engines call the last kernel after its output
        is_made = value.producer is not None
        label = f"{MARK}{numbers[value.producer]}/{name}" if is_made else name  # type: ignore[index]
        outputs[label] = value
    return replace(copy, outputs=outputs)


def _call_seconds(call: Any, rounds: int) -> float:
    """The seconds that a call takes, once it has been called."""
    found = []
    for _ in range(WARM):
        call()
    for _ in range(rounds):
        began = perf_counter()
        call()
        found.append(perf_counter() - began)
    return _typical_seconds(found)


Numbered = tuple[KernelTime, list[int]]


def _numbered(kernel: KernelTime, count: int) -> Numbered:
    """A kernel with the numbers of the operations in its name."""
    numbers = dict.fromkeys(int(each) for each in _FOUND.findall(kernel.name))
    name = _FOUND.sub("", kernel.name).strip("/_ ")
    return replace(kernel, name=name or kernel.kind), [each for each in numbers if each < count]


def _with_fused(operations: Sequence[TraceOp], kernels: Sequence[Numbered]) -> list[Numbered]:
    """The kernels with the operations that have none: they are in one beside them.

    What follows on an operation is in a kernel that is called after its first one; what is read is
    in one that is called after its last one.
    """
    home: dict[int, int] = {}
    for index, (kernel, numbers) in enumerate(kernels):
        for number in numbers:
            if number not in home or kernels[home[number]][0].seconds < kernel.seconds:
                home[number] = index
    number_of = {each: number for number, each in enumerate(operations)}
    sources = [
        [number_of[v.producer] for v in each.reads() if v.producer in number_of]
        for each in operations
    ]
    readers: list[list[int]] = [[] for _ in operations]
    for number, several in enumerate(sources):
        for source in several:
            readers[source].append(number)
    contained: dict[int, list[int]] = {}
    forward = range(len(operations))
    for order, beside, is_first in (
        (forward, sources, True),
        (reversed(forward), readers, False),
        (forward, sources, False),
    ):
        for number in order:
            if number in home or isinstance(operations[number], Constant):
                continue
            near = (home[each] for each in beside[number] if each in home)
            found = [each for each in near if kernels[each][0].is_first or not is_first]
            if found:
                home[number] = found[0]
                contained.setdefault(found[0], []).append(number)
    return [
        (kernel, sorted({*numbers, *contained.get(index, ())}))
        for index, (kernel, numbers) in enumerate(kernels)
    ]


def _shares(kernels: Sequence[FusedKernel], nodes: Mapping[str, DrawnNode]) -> dict[str, float]:
    """The seconds of each operation: its share of each kernel that it is in."""
    found: dict[str, float] = {}
    for kernel in kernels:
        weights = dict(_weights(kernel.operations, nodes))
        whole = sum(weights.values())
        for name, weight in weights.items():
            share = weight / whole if whole else 1 / len(weights)
            found[name] = found.get(name, 0.0) + kernel.seconds * share
    return found


def _weights(names: Sequence[str], nodes: Mapping[str, DrawnNode]) -> Iterator[tuple[str, int]]:
    """What operations are declared to cost."""
    for name in names:
        node = nodes.get(name)
        if node is not None and node.kind == "operation":
            yield name, node.flops + node.bytes
