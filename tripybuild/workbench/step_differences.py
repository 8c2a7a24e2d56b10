"""Step differences: how far two programs are apart after each step that both have.

As in a bisection, values are seen where the graph is cut, and no other is marked as an output. A
cut shows all that is live there, which is more than the step before it where branches or residual
connections are. So the fewest cuts are chosen that each value is live in one of: the least set of
points that meets all intervals, which the ends of those that are not met yet are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tripybuild.schema.files import ToleranceEntry
from tripybuild.trace.values import Value
from tripybuild.workbench.comparison import CallInputs
from tripybuild.workbench.cuts import ChainPair, OperationChain, program_source
from tripybuild.workbench.differences import ArrayDifference
from tripybuild.workbench.drawing.drawing import node_ids
from tripybuild.workbench.programs import Program


@dataclass(frozen=True)
class StepDifferences:
    """The differences of two programs by the steps of the first one.

    Args:
        values: The largest difference of what a step gives, as a part of the root mean square, by
            the ids that drawings have.
        count: How many steps both have.
        cuts: How many cuts were compared.
        needed: How many show all steps.
    """

    values: Mapping[str, float]
    count: int
    cuts: int
    needed: int


def find_step_differences(
    one: Program,
    other: Program,
    call: CallInputs,
    within: ToleranceEntry,
    limit: int,
    *,
    entry: str = "",
    tell: Callable[[str], None] = lambda _: None,
) -> StepDifferences:
    """Compare what two programs compute in each step.

    Args:
        one: A, whose steps are told.
        other: B.
        call: The inputs of both.
        within: The tolerance.
        limit: The most cuts; each is compiled for both.
        entry: The entry of A, where it has several.
        tell: Told what is to be done, and each cut.

    Raises:
        DiagnosticError: A side has no graph of ours, or the graphs have no step in common.
    """
    graphs = [program_source(each).entry.graph for each in (one, other)]
    chains = [OperationChain.of(graph, list(graph.outputs)) for graph in graphs]
    pair = ChainPair.of((one, other), chains, call.arrays, within)
    ids = {v: e.id for e in node_ids(graphs[0].operations, entry) for v in e.operation.outputs}
    needed = _meeting_points(_lives(pair))
    points = _spread(needed, limit)
    tell(f"{len(pair.pairs)} steps of both, {len(points)} cuts, each compiled for A and for B")
    seen: dict[Value, float] = {}
    for number, point in enumerate(points, 1):
        live = [value for value in pair.live(point) if value not in seen]
        found = [_measure(each) for each in pair.compare(live)]
        seen |= dict(zip(live, found, strict=True))
        tell(f"cut {number} of {len(points)}: {ids[live[-1]]}, {max(found):.2g} of rms")
    values: dict[str, float] = {}
    for value, name in ids.items():
        if value in seen:
            values[name] = max(values.get(name, 0.0), seen[value])
    return StepDifferences(values, len(pair.pairs), len(points), len(needed))


def _measure(found: ArrayDifference) -> float:
    """A difference as a part of the root mean square, 1 or more where one side has no number."""
    lost = found.nans[0] != found.nans[1] or found.infinities[0] != found.infinities[1]
    apart = lost or found.shapes[0] != found.shapes[1]
    return max(found.scaled, 1.0) if apart else found.scaled


def _lives(pair: ChainPair) -> list[tuple[int, int]]:
    """Where each value of both sides is live in A: after how many operations first and last."""
    final = set(pair.one.graph.outputs.values())
    operations = pair.one.operations
    last: dict[Value, int] = dict.fromkeys(final, len(operations))
    for place, operation in enumerate(operations):
        last |= {value: place for value in operation.reads() if value not in final}
    made = ((v, place) for place, each in enumerate(operations, 1) for v in each.outputs)
    return [(place, last[v]) for v, place in made if v in pair.partner and v in last]


def _meeting_points(intervals: Sequence[tuple[int, int]]) -> list[int]:
    """The fewest points of which each interval has one."""
    found: list[int] = []
    for first, last in sorted(intervals, key=lambda each: each[1]):
        if not found or found[-1] < first:
            found.append(last)
    return found


def _spread(points: Sequence[int], limit: int) -> list[int]:
    """At most so many of some points, from the first to the last."""
    if len(points) <= limit:
        return list(points)
    return [points[(number * len(points) - 1) // limit] for number in range(1, limit + 1)]
