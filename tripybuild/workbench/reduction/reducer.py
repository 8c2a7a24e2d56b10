"""Reducer of specs: whatever it tries goes the way of a user's file.

Everything is written, read, compiled and run. First the spec keeps its form, with weights that are
drawn, less of each size, and the least dynamic sizes. Then its graph, for those sizes, is cut: a
part of the operations whose other operands are inputs, with the values that the reference gives
them. Ends are found by halving; what is left is taken away one operation after the other until
nothing more can go (1-minimal, as by delta debugging of Zeller and Hildebrandt, 2002). At last come
the numbers in the file, of which sizes are some.
"""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path

from tripybuild.compiler.lowering.specialize import specialize_graph
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.importer.session import SPEC
from tripybuild.schema.load import Registry
from tripybuild.targets.drawn_inputs import call_sizes
from tripybuild.trace.constants import Constant
from tripybuild.trace.graph import Graph
from tripybuild.workbench.programs import GraphSource
from tripybuild.workbench.reduction.graph_spec import written_sizes
from tripybuild.workbench.reduction.part_folder import INPUTS, PartFolder
from tripybuild.workbench.reduction.part_search import PartSearch
from tripybuild.workbench.reduction.trial import (
    UNBUILT,
    Outcome,
    TrialRequest,
    open_side,
    trial_inputs,
)

Ask = Callable[[TrialRequest], Outcome]
Tell = Callable[[str], None]
REFERENCE = "reference"
_NUMBER = r"(?<![\w.]){}(?![\w.])"


class _LimitError(Exception):
    """The time is over."""


@dataclass
class Reduction:
    """What was found.

    Args:
        request: The trial of the smallest spec.
        outcome: What comes of it.
        before: The number of operations of the whole.
        after: That of the smallest spec.
        trials: How many specs were tried.
        steps: What was done, one sentence each.
    """

    request: TrialRequest
    outcome: Outcome
    before: int
    after: int
    trials: int
    steps: Sequence[str]


@dataclass
class Reducer:
    """Looks for the smallest spec.

    Args:
        request: The trial that fails.
        folder: Where the smallest spec is; it is emptied once the trial is known to fail.
        ask: Tries a spec.
        registry: The declarations of its operators.
        tell: Told what is done.
        limit: Seconds after which no trial begins.
    """

    request: TrialRequest
    folder: Path
    ask: Ask
    registry: Registry
    tell: Tell = lambda _: None
    limit: float = inf
    trials: int = 0
    before: int = 0
    after: int = 0
    steps: list[str] = field(default_factory=list)

    def reduce(self) -> Reduction:
        """Reduce the spec.

        Raises:
            DiagnosticError: It does not fail, or it cannot be read.
        """
        self.deadline = time.monotonic() + self.limit
        self.outcome = self.attempt(self.request)
        if not self.outcome.fails:
            self._refuse()
        self.parts = PartFolder(self.folder)
        self.parts.clear()
        self.before = self.after = _count(self._source().entry.graph)
        self.say(f"fails: {self.outcome.text or self.outcome.code}")
        try:
            self._shrink()
        except _LimitError:
            return self.stop(f"the limit of {self.limit:g} seconds was reached")
        self.parts.close()
        return self._result()

    def stop(self, reason: str) -> Reduction:
        """Leave the smallest spec that was found to fail, whatever was tried last.

        Args:
            reason: Why no smaller one is looked for.
        """
        self.parts.close()
        self.say(f"{reason}: this is the smallest that was found until then")
        return self._result()

    def _result(self) -> Reduction:
        found = self.request, self.outcome, self.before, self.after
        return Reduction(*found, self.trials, self.steps)

    def stage(self) -> Path:
        """An empty folder for the spec of the next trial."""
        return self.parts.new_stage()

    def try_part(self, request: TrialRequest, count: int) -> bool:
        """Try a spec of so many operations, which is on the stage; keep it, if it fails."""
        found = self.attempt(request)
        if not found.is_same(self.outcome):
            return False
        self.parts.keep()
        arrays = None if request.arrays is None else str(self.folder / INPUTS)
        self.request = replace(request, spec=str(self.folder / SPEC), arrays=arrays)
        self.outcome, self.after = found, count
        return True

    def _shrink(self) -> None:
        self._draw_weights()
        self._shrink_sizes()
        self._shrink_shapes()
        self.after = _count(self._source().entry.graph)
        if self._cut(self._source()) is None:
            self.say("the graph alone does not fail: the spec is kept, with less of its sizes")
        else:
            self._shrink_numbers()

    def _refuse(self) -> None:
        """Say why there is nothing to reduce."""
        request, found = self.request, self.outcome
        message = f"`{request.spec}` does not fail by `{request.target}`"
        hint = "say how it does: `--against`, `--nan`, `--rtol`, `--shapes` or `--seed`"
        if found.kind == UNBUILT:
            one = open_side(request, request.target)  # which says where
            trial_inputs(request, one, one)
            message = f"`{request.spec}` cannot be compared: {found.text}"
            hint = "say another target by `--against`"
        raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint))

    def attempt(self, request: TrialRequest) -> Outcome:
        """Try a spec."""
        if self.trials and time.monotonic() > self.deadline:
            raise _LimitError
        self.trials += 1
        return self.ask(request)

    def _keep(self, request: TrialRequest, step: str) -> bool:
        """Go on with a smaller trial, if it fails in the same way."""
        found = self.attempt(request)
        if not found.is_same(self.outcome):
            return False
        self.request, self.outcome = request, found
        self.say(step)
        return True

    def say(self, step: str) -> None:
        """Note what was done."""
        self.steps.append(step)
        self.tell(step)

    def _draw_weights(self) -> None:
        if self._source().built.stored_weights:
            self._keep(replace(self.request, draws=True), "weights are drawn by the seed")

    def _shrink_sizes(self) -> None:
        """Less of each size of the spec; weights of files have those of the files."""
        if self._source().built.stored_weights and not self.request.draws:
            return
        for name, value in self._source().built.sizes.items():
            if isinstance(value, int) and not isinstance(value, bool):
                for size in _powers(value):
                    sizes = {**self.request.sizes, name: size}
                    if self._keep(replace(self.request, sizes=sizes), f"{name}: {value} to {size}"):
                        break

    def _shrink_shapes(self) -> None:
        """The least of each dynamic size."""
        ranges = self._source().entry.ranges
        for name, each in ranges.items():
            now = self.request.shapes.get(name, each.opt)
            for size in (n for n in (each.min, *_powers(now)) if each.min <= n < now):
                if each.violation(name, size) is None:
                    shapes = {**self.request.shapes, name: size}
                    step = f"the dynamic size {name}: {now} to {size}"
                    if self._keep(replace(self.request, shapes=shapes), step):
                        break

    def _source(self) -> GraphSource:
        found = open_side(self.request, REFERENCE).source
        assert found is not None
        return found

    def _cut(self, source: GraphSource) -> int | None:
        """The fewest operations that still fail, as a spec in the folder; None if none does."""
        one = open_side(self.request, REFERENCE)
        assert one.signature is not None
        call = trial_inputs(self.request, one, one)
        sizes = call_sizes(one.signature, self.request.shapes, call.arrays)
        graph = specialize_graph(source.entry.graph, sizes)
        weights = source.weights(list(graph.weights))
        return PartSearch(self, graph, call.arrays, weights).cut()

    def _shrink_numbers(self) -> None:
        """Less of each number in the file that is a size of an input; inputs are drawn anew."""
        text = Path(self.request.spec).read_text(encoding="utf-8")
        if not self._try_text(text, "inputs are drawn by the seed"):
            return
        for number in sorted(written_sizes(Path(self.request.spec)), reverse=True):
            for size in _powers(number):
                smaller = re.sub(_NUMBER.format(number), str(size), text)
                if self._try_text(smaller, f"the size {number} is {size}"):
                    text = smaller
                    break

    def _try_text(self, text: str, step: str) -> bool:
        """Go on with a spec of which all is drawn, if it fails in the same way."""
        spec = self.stage() / SPEC
        spec.write_text(text, encoding="utf-8")
        request = replace(self.request, spec=str(spec), arrays=None, draws=True)
        if not self.try_part(request, self.after):
            return False
        self.say(step)
        return True


def _count(graph: Graph) -> int:
    return sum(not isinstance(each, Constant) for each in graph.operations)


def _powers(value: int) -> list[int]:
    """Powers of two below a number."""
    return [1 << n for n in range(max(value, 1).bit_length()) if 1 << n < value]
