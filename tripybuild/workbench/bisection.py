"""Bisection: the first step at which two programs part, or at which one leaves the numbers.

A graph is cut between two operations, and what is live there is compared. Marking all values as
outputs at once would be one compilation in the place of a few, but would change what is fused, and
with it what is looked for; a cut changes it at the cut alone.

The search keeps a cut that agrees and a later one that differs, and halves what lies between. So
what it finds is always a step that gives a difference and was given none beyond the tolerance: that
needs no assumption. That it is the *first* such step assumes that a difference stays visible in
what is live until the end; one that vanishes, as behind a rounding or a choice of the largest, and
comes again elsewhere, may hide an earlier one. The step is compiled once more in a cut of its own,
which says whether it differs there, too, and by itself, with the inputs of A on both sides, which
says whether it computes something else or amplifies a small difference.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tripybuild.artifact.call_signature import Array
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.schema.files import ToleranceEntry
from tripybuild.trace.constants import Constant
from tripybuild.trace.graph import Graph
from tripybuild.trace.location import PythonLocation
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.values import Value
from tripybuild.types.dtypes import floating
from tripybuild.workbench.comparison import CallDifference, CallInputs, compare_call
from tripybuild.workbench.cuts import (
    OUTPUT,
    ChainPair,
    CutRuns,
    OperationChain,
    known_array,
    program_source,
    value_name,
)
from tripybuild.workbench.differences import ArrayDifference, compare_arrays, finest_common
from tripybuild.workbench.programs import GraphSource, Program

Tell = Callable[[str], None]
NAN, INFINITY = "NaN", "infinity"


@dataclass(frozen=True)
class StepReport:
    """A step that was found.

    Args:
        operation: What it is in A.
        position: Its number among the operations that lead to the output.
        count: How many there are.
        cuts: How many cuts were compared to find it.
    """

    operation: TraceOp
    position: int
    count: int
    cuts: int

    @property
    def part(self) -> str:
        """The path of the part that the step is of; empty for the outermost and for Python."""
        return self.operation.location.label.rpartition(".")[0]

    @property
    def is_python(self) -> bool:
        """Whether it is a line of a function, and no step of a spec."""
        return isinstance(self.operation.location, PythonLocation)


@dataclass(frozen=True)
class Parting:
    """Where two programs part.

    Args:
        step: The step.
        operands: What it reads and is computed, on both sides.
        known: The weights and constants that it reads, on both sides.
        results: What it gives, on both sides, in a cut with its operands.
        alone: What it gives by itself for A's operands on both sides; empty where it has no form
            of its own.
    """

    step: StepReport
    operands: Sequence[ArrayDifference]
    known: Sequence[ArrayDifference]
    results: Sequence[ArrayDifference]
    alone: Sequence[ArrayDifference]

    @property
    def verdict(self) -> str:
        """What the step does: it reads other `weights`, it `computes` otherwise, or `amplifies`.

        What the search found may not show in a cut with all that the step reads: then `operands`
        differ, too, or the difference `vanishes`.
        """
        if not all(each.agrees for each in self.known):
            return "weights"
        if not all(each.agrees for each in self.operands):
            return "operands"
        if all(each.agrees for each in self.results):
            return "vanishes"
        return "amplifies" if self.alone and all(e.agrees for e in self.alone) else "computes"


@dataclass(frozen=True)
class NumberLoss:
    """Where NaN or infinity begins.

    Args:
        kind: Which of both.
        step: The step.
        index: The first element of its result that is so.
        value: What that is.
        operands: What it reads: the name, the least and the largest finite element, how many are
            no finite numbers, and the element at the same index where the shapes are one.
    """

    kind: str
    step: StepReport
    index: tuple[int, ...]
    value: float
    operands: Sequence[tuple[str, float, float, int, float | None]]


def find_parting(
    one: Program,
    other: Program,
    call: CallInputs,
    within: ToleranceEntry,
    tell: Tell = lambda _: None,
) -> tuple[CallDifference, Parting | None]:
    """How two programs differ as a whole, and the step at which they part, if they do.

    Args:
        one: A, whose steps are told.
        other: B.
        call: The inputs of both.
        within: The tolerance, for what is live at each cut as for outputs.
        tell: Told each cut.

    Raises:
        DiagnosticError: A side has no graph of ours, or the graphs have no step in common.
    """
    sources = [program_source(each) for each in (one, other)]
    whole = compare_call(one, other, call, within)
    names = [each.name for each in whole.outputs if not each.agrees]
    if not names:
        return whole, None
    chains = [_chain(each, whole, names) for each in sources]
    search = _Pairing.of((one, other), chains, call.arrays, within)
    last, cuts = _search(len(search.pairs), search.agrees, tell)
    position = search.pairs[last][0]
    operation = chains[0].operations[position]
    step = StepReport(operation, position + 1, len(chains[0].operations), cuts)
    return whole, search.report(last, step, sources)


def find_loss(program: Program, call: CallInputs, tell: Tell = lambda _: None) -> list[NumberLoss]:
    """Where NaN or infinity begins; where NaN comes of infinity, where that began, too.

    Raises:
        DiagnosticError: The program has no graph of ours, or an input is no number itself.
    """
    source, arrays = program_source(program), program.arguments(call.arrays)
    for name, array in arrays.items():
        if not np.isfinite(array.astype(np.float64)).all():
            message = f"the input `{name}` itself has elements that are no finite numbers"
            raise DiagnosticError(Diagnostic("wrong-value", message))
    graph, runs = source.entry.graph, CutRuns(source, arrays)
    found = runs(graph)
    for kind, test in ((NAN, np.isnan), (INFINITY, np.isinf)):
        bad = [n for n, a in zip(graph.outputs, found, strict=True) if _any(test, a)]
        if bad:
            losses = [_loss(kind, OperationChain.of(graph, bad[:1]), runs, source, tell)]
            before = _infinite_operand(losses[0].step.operation, runs, graph)
            if kind == NAN and before is not None:
                chain = OperationChain.of(replace(graph, outputs={OUTPUT: before}), [OUTPUT])
                losses.append(_loss(INFINITY, chain, runs, source, tell))
            return losses
    return []


def _search(count: int, agrees: Callable[[int], bool], tell: Tell) -> tuple[int, int]:
    """The position after which cuts differ, of which the last one does, and how many were made."""
    low, high, cuts = 0, count, 0
    while high - low > 1:
        middle = (low + high) // 2
        good = agrees(middle)
        cuts += 1
        tell(f"after {middle} of {count} steps: {'agrees' if good else 'differs'}")
        low, high = (middle, high) if good else (low, middle)
    return high - 1, cuts


def _chain(source: GraphSource, whole: CallDifference, names: Sequence[str]) -> OperationChain:
    """The operations to the output that differs and needs the fewest."""
    graph = source.entry.graph
    order = [each.name for each in whole.outputs]
    own = [n if whole.by_name else list(graph.outputs)[order.index(n)] for n in names]
    chains = [OperationChain.of(graph, [name]) for name in own]
    return min(chains, key=lambda each: len(each.operations))


class _Pairing(ChainPair):
    """Two chains, between whose steps the search looks."""

    def agrees(self, position: int) -> bool:
        """Whether all that is live after so many steps agrees."""
        return all(e.agrees for e in self.compare(self.live(self.pairs[position - 1][0] + 1)))

    def report(self, last: int, step: StepReport, sources: Sequence[GraphSource]) -> Parting:
        """Compare what a step reads and gives, in a cut of its own, and the step by itself."""
        ours, theirs = (
            chain.operations[place]
            for chain, place in zip((self.one, self.other), self.pairs[last], strict=True)
        )
        read = [v for v in dict.fromkeys(ours.reads()) if v in self.partner]
        found = self.compare([*read, *ours.outputs])
        known = _known_operands(ours, theirs, sources, self.within)
        alone = self._alone(ours, theirs, read)
        return Parting(step, found[: len(read)], known, found[len(read) :], alone)

    def _alone(
        self, ours: TraceOp, theirs: TraceOp, read: Sequence[Value]
    ) -> list[ArrayDifference]:
        """The step by itself, for the operands of A on both sides."""
        computed = self.runs[0](self.one.at(read)) if read else []
        given = dict(zip(read, computed, strict=True))
        inputs, theirs_inputs = self.one.graph.inputs, self.other.graph.inputs.values()
        given |= {v: self.runs[0].arrays[name] for name, v in inputs.items()}
        partner = {**self.partner, **dict(zip(inputs.values(), theirs_inputs, strict=False))}
        given = {v: _round_to_both(a, v, partner.get(v, v)) for v, a in given.items()}
        theirs_given = {partner[v]: a for v, a in given.items() if v in partner}
        try:
            results = [
                run.alone(operation, known)
                for run, operation, known in zip(
                    self.runs, (ours, theirs), (given, theirs_given), strict=True
                )
            ]
        except KeyError:  # what it reads has no partner, such as a cast of one side alone
            return []
        rows = zip(ours.outputs, *results, strict=True)
        return [
            compare_arrays(value_name(v, self.one.graph), a, b, self.within) for v, a, b in rows
        ]


def _round_to_both(array: Array, one: Value, other: Value) -> Array:
    """Elements that the dtypes of both values have, so that no side sees other numbers."""
    if not (issubclass(one.dtype, floating) and issubclass(other.dtype, floating)):
        return array
    with np.errstate(over="ignore"):
        return array.astype(finest_common([one.dtype, other.dtype]).numpy)


def _known_operands(
    ours: TraceOp, theirs: TraceOp, sources: Sequence[GraphSource], within: ToleranceEntry
) -> list[ArrayDifference]:
    """The weights and constants that a step reads, which may differ on both sides."""
    found = []
    for number, (a, b) in enumerate(zip(ours.reads(), theirs.reads(), strict=False)):
        arrays = [known_array(v, s) for v, s in zip((a, b), sources, strict=True)]
        if arrays[0] is not None and arrays[1] is not None:
            graph = sources[0].entry.graph
            name = value_name(a, graph)
            name = f"constant {number}" if a.producer is not None else name
            found.append(compare_arrays(name, arrays[0], arrays[1], within))
    return found


def _any(test: Callable[[Array], Array], array: Array) -> bool:
    return bool(test(array.astype(np.float64)).any())


def _loss(
    kind: str, chain: OperationChain, runs: CutRuns, source: GraphSource, tell: Tell
) -> NumberLoss:
    """Where elements of a kind begin on the way to an output that has them."""
    test = np.isnan if kind == NAN else np.isinf

    def agrees(position: int) -> bool:
        return not any(_any(test, each) for each in runs(chain.at(chain.frontier(position))))

    last, cuts = _search(len(chain.operations), agrees, tell)
    operation = chain.operations[last]
    read = [v for v in dict.fromkeys(operation.reads()) if not isinstance(v.producer, Constant)]
    computed = [v for v in read if v.producer is not None]
    arrays = runs(chain.at([*computed, *operation.outputs]))
    held = dict(zip(computed, arrays, strict=False))
    held |= {v: runs.arrays[n] for n, v in chain.graph.inputs.items() if v in read}
    for value in operation.reads():
        if value not in held and (known := known_array(value, source)) is not None:
            held[value] = known
    results = arrays[len(computed) :]
    bad = next((each for each in results if _any(test, each)), results[0])
    places = np.argwhere(test(bad.astype(np.float64)))
    index = tuple(int(n) for n in places[0]) if len(places) else (0,) * bad.ndim
    rows = [_operand_row(value_name(v, chain.graph), a, bad, index) for v, a in held.items()]
    step = StepReport(operation, last + 1, len(chain.operations), cuts)
    return NumberLoss(kind, step, index, float(bad[index]), rows)


def _operand_row(
    name: str, array: Array, result: Array, index: tuple[int, ...]
) -> tuple[str, float, float, int, float | None]:
    """What an operand holds, and what stands where the result was lost."""
    wide = array.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    least, most = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    try:
        there = float(np.broadcast_to(wide, result.shape)[index])
    except ValueError:  # other shapes, as of a matrix product
        there = None
    return name, least, most, int(wide.size - finite.size), there


def _infinite_operand(operation: TraceOp, runs: CutRuns, graph: Graph) -> Value | None:
    """A value that an operation reads, was computed, and has infinities."""
    read = [v for v in dict.fromkeys(operation.reads()) if v.producer is not None]
    read = [v for v in read if not isinstance(v.producer, Constant)]
    if not read:
        return None
    arrays = runs(OperationChain.of(graph, list(graph.outputs)[:1]).at(read))
    return next((v for v, a in zip(read, arrays, strict=True) if _any(np.isinf, a)), None)
