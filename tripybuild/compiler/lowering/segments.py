"""Segments: a graph cut where blocks repeat, so that equal blocks are lowered and compiled once.

A deep model repeats one block on other weights. Its operations are a sequence with a period: where
the same kinds of operations come again and again, the graph is cut at that distance, at the phase
where the least data crosses. Equal segments share one program, whatever they read from outside:
weights, states, and what the segment before gives are all its arguments. Equality is that of
`subgraph_key`, so a block that differs in one attribute or type is a program of its own.

Constants belong to no segment. Each that reads one has it inside, where the compiler can fold it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from tripybuild.compiler.lowering.footprint import byte_size
from tripybuild.trace.constants import Constant
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.structural_key import operation_key, subgraph_key
from tripybuild.trace.values import Value

LONGEST = 4096  # operations of a block that is looked for
# A call of one program more takes 10 microseconds, in which 100 kB are read; its compiling takes
# as long as that of a few operations.
LEAST_BYTES = 1 << 20
LEAST_SAVED = 24


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

    def graph(self, name: str) -> Graph:
        """The segment as a graph of its own, of the same operations."""
        takes = {str(at): value for at, value in enumerate(self.takes)}
        return Graph(name, takes, {}, {str(at): value for at, value in enumerate(self.gives)})


def cut_graph(graph: Graph) -> tuple[Segment, ...]:
    """Cut a graph of fixed sizes where blocks repeat; one segment is the whole graph."""
    operations = [each for each in graph.operations if not isinstance(each, Constant)]
    cuts = _Cutter(operations).cuts(0, len(operations))
    outputs = set(graph.outputs.values())
    segments = _segments(operations, sorted({0, *cuts, len(operations)}), outputs)
    return segments


class _Cutter:
    """Looks for repeated blocks in a sequence of operations."""

    def __init__(self, operations: Sequence[TraceOp]) -> None:
        numbers: dict[object, int] = {}
        kinds = [numbers.setdefault(_kind(each), len(numbers)) for each in operations]
        self._kinds = np.array(kinds, np.int64)
        self._crossing = _crossing_bytes(operations)
        # What the operations up to each place read and write, in bytes.
        self._moved = [0, *accumulate(map(_moved_bytes, operations))]

    def cuts(self, begin: int, end: int) -> Iterable[int]:
        """The places before operations where the repeated blocks of a range begin and end."""
        found = self._longest_run(begin, end)
        if found is None:
            return []
        first, period, count = found
        last = first + period * count
        return [
            *self.cuts(begin, first),
            *range(first, last + 1, period),
            *self.cuts(last, end),
        ]

    def _longest_run(self, begin: int, end: int) -> tuple[int, int, int] | None:
        """Where the blocks begin that save most operations, how long they are, and how many."""
        best, saved = None, LEAST_SAVED - 1
        kinds = self._kinds[begin:end]
        for period in range(1, min(len(kinds) // 2, LONGEST) + 1):
            same = np.flatnonzero(kinds[period:] != kinds[:-period])
            edges = np.concatenate(([-1], same, [len(kinds) - period]))
            lengths = np.diff(edges) - 1
            at = int(np.argmax(lengths))
            count = int(lengths[at]) // period + 1
            if (count - 1) * period <= saved:
                continue
            first = begin + int(edges[at]) + 1
            run = self._best_phase(first, period, int(lengths[at]) + period)
            moved = self._moved[run[0] + period] - self._moved[run[0]]
            if run[2] > 1 and moved >= LEAST_BYTES and (run[2] - 1) * period > saved:
                best, saved = run, (run[2] - 1) * period
        return best

    def _best_phase(self, first: int, period: int, length: int) -> tuple[int, int, int]:
        """The same run, begun where the least data goes from block to block."""
        end = first + length

        def crossing(phase: int) -> int:
            return max(self._crossing[phase : end + 1 : period])

        phase = min(range(first, first + period), key=crossing)
        return phase, period, (end - phase) // period


def _kind(operation: TraceOp) -> object:
    """An operation without its operands: what it is and the types that it takes and gives."""
    read = tuple([value.type for value in operation.reads()])
    return operation_key(operation), read, tuple([value.type for value in operation.outputs])


def _moved_bytes(operation: TraceOp) -> int:
    return sum(byte_size(value) for value in (*operation.reads(), *operation.outputs))


def _crossing_bytes(operations: Sequence[TraceOp]) -> list[int]:
    """The bytes that are computed before each place and read behind it."""
    made: dict[Value, int] = {}
    read: dict[Value, int] = {}
    for at, operation in enumerate(operations):
        read.update((value, at) for value in operation.reads() if value in made)
        made.update((value, at) for value in operation.outputs)
    change = [0] * (len(operations) + 2)
    for value, last in read.items():
        change[made[value] + 1] += byte_size(value)
        change[last + 1] -= byte_size(value)
    return list(accumulate(change))


def _segments(
    operations: Sequence[TraceOp], cuts: Sequence[int], outputs: set[Value]
) -> tuple[Segment, ...]:
    parts = [operations[begin:end] for begin, end in zip(cuts, cuts[1:], strict=False)]
    users: Counter[Value] = Counter()
    for part in parts:
        users.update({value for each in part for value in each.reads()})
    return tuple(_segment(part, users, outputs) for part in parts)


def _segment(
    operations: Sequence[TraceOp], users: Counter[Value], outputs: set[Value]
) -> Segment:
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
