"""Segments: a graph cut where blocks repeat, so that equal blocks are lowered and compiled once.

A deep model repeats one block on other weights. Its operations are a sequence with a period: where
the same kinds of operations come again and again, the graph is cut at that distance, at the phase
where the least data crosses. Equal segments share one program, whatever they read from outside:
weights, states, and what the segment before gives are all its arguments. Equality is that of
`subgraph_key`, so a block that differs in one attribute or type is a program of its own.

An elementwise operation costs next to nothing where it is fused with its neighbors, and a cut ends
that. So a block is worth a program for what its other operations read and write: products,
reductions and loops. A chain of elementwise operations is never cut.

Constants belong to no segment. Each that reads one has it inside, where the compiler can fold it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import prod

import numpy as np
import numpy.typing as npt

from tripybuild.symbolic.dims import Dim
from tripybuild.trace.constants import Constant
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.structural_key import operation_key, subgraph_key
from tripybuild.trace.values import Value

IntArray = npt.NDArray[np.int64]

# A program more costs each call 130 microseconds, as its threads wait and begin again. That is 3 %
# of the time that reading so much memory takes, which is the least that a program reads.
LEAST_BYTES = 96 << 20
LEAST_OPERATIONS = 16  # of a program
# A program more takes as long to compile as some dozens of operations.
LEAST_SAVED = 128
# The search takes time in proportion to each of these.
MOST_DISTANCES = 16  # that may be the period, for each length of what recurs
MOST_DEPTH = 16  # of runs beside longer runs


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Consecutive operations of a graph; those with equal keys compute the same of what they take.

    Args:
        takes: What they read from outside, in the order in which it is first read.
        operations: The operations, without constants.
        gives: What is read outside.
        key: What they compute, whatever they take.
    """

    takes: tuple[Value, ...]
    operations: tuple[TraceOp, ...]
    gives: tuple[Value, ...]
    key: object

    def graph(self) -> Graph:
        """The segment as a graph of its own, of the same operations."""
        takes = {str(at): value for at, value in enumerate(self.takes)}
        return Graph("", takes, {}, {str(at): value for at, value in enumerate(self.gives)})


def cut_graph(graph: Graph) -> tuple[Segment, ...]:
    """Cut a graph, whose sizes have bounds, where blocks repeat; none where it is best whole."""
    outputs = set(graph.outputs.values())
    if any(isinstance(value.producer, Constant) for value in outputs):
        return ()
    operations = [each for each in graph.operations if not isinstance(each, Constant)]
    cuts = {0, *_Cutter(operations).cuts(), len(operations)}
    if len(cuts) == 2:
        return ()
    found = _segments(operations, sorted(cuts), outputs)
    # Blocks of one kind may still be wired differently: what is there once needs no cut.
    often = Counter(each.key for each in found)
    once = [often[each.key] == 1 for each in found]
    pairs = zip(sorted(cuts)[1:], once, once[1:], strict=False)
    cuts -= {cut for cut, before, behind in pairs if before and behind}
    return _segments(operations, sorted(cuts), outputs) if len(cuts) > 2 else ()


class _Cutter:
    """Looks for repeated blocks in a sequence of operations."""

    def __init__(self, operations: Sequence[TraceOp]) -> None:
        # What the operations up to each place read and write, in bytes, whatever is fused.
        self._moved = [0, *accumulate(map(_moved_bytes, operations))]
        self._operations = operations
        self._kinds = np.empty(0, np.int64)
        self._crossing: list[int] = []

    def cuts(self) -> Iterable[int]:
        """The places before operations where repeated blocks begin and end."""
        if self._moved[-1] < 2 * LEAST_BYTES:
            return []
        numbers: dict[object, int] = {}
        kinds = [numbers.setdefault(_kind(each), len(numbers)) for each in self._operations]
        self._kinds = np.array(kinds, np.int64)
        self._crossing = _crossing_bytes(self._operations)
        return self._cuts(0, len(kinds), MOST_DEPTH)

    def _cuts(self, begin: int, end: int, depth: int) -> Iterable[int]:
        found = self._longest_run(begin, end) if depth else None
        if found is None:
            return []
        first, period, count = found
        last = first + period * count
        return [
            *self._cuts(begin, first, depth - 1),
            *range(first, last + 1, period),
            *self._cuts(last, end, depth - 1),
        ]

    def _longest_run(self, begin: int, end: int) -> tuple[int, int, int] | None:
        """Where the blocks begin that save most operations, how long they are, and how many."""
        if end - begin <= LEAST_SAVED or self._moved[end] - self._moved[begin] < 2 * LEAST_BYTES:
            return None
        best, saved = None, LEAST_SAVED - 1
        kinds = self._kinds[begin:end]
        for period in _periods(kinds):
            edges = np.flatnonzero(kinds[period:] != kinds[:-period])
            edges = np.concatenate(([-1], edges, [len(kinds) - period]))
            lengths = np.diff(edges) - 1
            at = int(np.argmax(lengths))
            length = int(lengths[at])
            if length <= saved or length < period:
                continue
            first = begin + int(edges[at]) + 1
            run = self._joined(*self._best_phase(first, period, length + period))
            if (run[2] - 1) * run[1] > saved:
                best, saved = run, (run[2] - 1) * run[1]
        return best

    def _joined(self, first: int, period: int, count: int) -> tuple[int, int, int]:
        """The same run in longer blocks, each of which is worth a program."""
        moved = self._moved[first + period] - self._moved[first]
        joined = -(-LEAST_OPERATIONS // period)
        if moved < LEAST_BYTES:
            joined = max(joined, -(-LEAST_BYTES // moved) if moved else count + 1)
        return first, period * joined, count // joined

    def _best_phase(self, first: int, period: int, length: int) -> tuple[int, int, int]:
        """The same run with two blocks or more, begun where the least data goes between them."""
        end = first + length

        def crossing(phase: int) -> int:
            return max(self._crossing[phase : end + 1 : period])

        phases = range(first, min(first + period, end - 2 * period + 1))
        phase = min(phases, key=crossing)
        return phase, period, (end - phase) // period


def _periods(kinds: IntArray) -> list[int]:
    """The distances at which much of a sequence recurs, which its periods are among.

    Of the strings of each power of two of kinds, the distances to the next equal ones are counted.
    """
    found: set[int] = set()
    ranks, length = kinds, 1
    while 2 * length <= len(kinds):
        order = np.argsort(ranks, kind="stable")
        same = ranks[order[1:]] == ranks[order[:-1]]
        counts = np.bincount(np.diff(order)[same])
        if not counts.size:  # no string recurs, and no longer one does
            break
        most = np.argsort(-counts, kind="stable")[:MOST_DISTANCES]
        found.update(int(each) for each in most if counts[each])
        pairs = ranks[:-length] * len(kinds) + ranks[length:]
        ranks = np.unique(pairs, return_inverse=True)[1]
        length *= 2
    return sorted(each for each in found if 2 * each <= len(kinds))


def _kind(operation: TraceOp) -> object:
    """An operation without its operands: what it is and the types that it takes and gives."""
    read = tuple([value.type for value in operation.reads()])
    return operation_key(operation), read, tuple([value.type for value in operation.outputs])


def _moved_bytes(operation: TraceOp) -> int:
    """What an operation reads and writes; none where it can be fused with its neighbors."""
    if not (operation.declaration.reduces or operation.region_fields()):
        return 0
    return sum(_most_bytes(value) for value in (*operation.reads(), *operation.outputs))


def _most_bytes(value: Value) -> int:
    """The bytes of a tensor of the largest sizes; none where there is no largest."""
    sizes = [size.high if isinstance(size, Dim) else size for size in value.shape]
    return prod(each or 0 for each in sizes) * value.dtype.bits // 8


def _crossing_bytes(operations: Sequence[TraceOp]) -> list[int]:
    """The bytes that are computed before each place and read behind it."""
    made: dict[Value, int] = {}
    read: dict[Value, int] = {}
    for at, operation in enumerate(operations):
        read.update((value, at) for value in operation.reads() if value in made)
        made.update((value, at) for value in operation.outputs)
    change = [0] * (len(operations) + 2)
    for value, last in read.items():
        change[made[value] + 1] += _most_bytes(value)
        change[last + 1] -= _most_bytes(value)
    return list(accumulate(change))


def _segments(
    operations: Sequence[TraceOp], cuts: Sequence[int], outputs: set[Value]
) -> tuple[Segment, ...]:
    parts = [operations[begin:end] for begin, end in pairwise(cuts)]
    users: Counter[Value] = Counter()
    for part in parts:
        users.update({value for each in part for value in each.reads()})
    return tuple(_segment(part, users, outputs) for part in parts)


def _segment(operations: Sequence[TraceOp], users: Counter[Value], outputs: set[Value]) -> Segment:
    own = {value for each in operations for value in each.outputs}
    read = dict.fromkeys(value for each in operations for value in each.reads())
    constants = [value.producer for value in read if isinstance(value.producer, Constant)]
    takes = tuple(
        value for value in read if value not in own and not isinstance(value.producer, Constant)
    )
    gives = tuple(
        value
        for each in operations
        for value in each.outputs
        if value in outputs or users[value] > (value in read)
    )
    key = subgraph_key(takes, [*constants, *operations], gives)
    return Segment(takes, tuple(operations), gives, (key, *[value.type for value in takes]))
