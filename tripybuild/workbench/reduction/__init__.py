"""Reduction: the smallest spec that still fails as a given one does.

Everything that is tried goes the way of a user's file: it is written, read, compiled and run. First
the spec keeps its form, with weights that are drawn, less of each size, and the least dynamic
sizes. Then its graph, for those sizes, is cut: a part of the operations whose other operands are
inputs, with the values that the reference gives them. Ends are found by halving; what is left is
taken away one operation after the other until nothing more can go (1-minimal, as by delta debugging
of Zeller and Hildebrandt, 2002). At last come the numbers in the file, of which sizes are some.
"""

import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path

import numpy as np

from tripybuild.artifact.call_signature import Array
from tripybuild.compiler.lowering.specialize import specialize_graph
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.atomic_write import atomic_write_tree
from tripybuild.reference.execute import execute
from tripybuild.schema.load import Registry
from tripybuild.targets.drawn_inputs import call_sizes
from tripybuild.trace.constants import Constant
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.values import Value
from tripybuild.weights.array_files import write
from tripybuild.workbench.cuts import OperationChain
from tripybuild.workbench.programs import GraphSource
from tripybuild.workbench.reduction.graph_spec import (
    extract_part,
    part_outputs,
    store_graph,
    written_sizes,
)
from tripybuild.workbench.reduction.trial import (
    LOST,
    UNBUILT,
    Outcome,
    TrialRequest,
    open_side,
    trial_inputs,
)

Ask = Callable[[TrialRequest], Outcome]
Tell = Callable[[str], None]
INPUTS = "inputs.npz"
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
        folder: Where the smallest spec is written.
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
    kept: Mapping[str, bytes] | None = None  # the files of the smallest part that fails
    before: int = 0
    after: int = 0
    _text: str = ""
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
        self.before = self.after = _count(self._source().entry.graph)
        self.say(f"fails: {self.outcome.text or self.outcome.code}")
        try:
            self._shrink()
        except _LimitError:
            return self.stop(f"the limit of {self.limit:g} seconds was reached")
        except KeyboardInterrupt:
            self.stop("it was interrupted")
            raise
        return self._result()

    def stop(self, reason: str) -> Reduction:
        """Leave the smallest spec that was found to fail, whatever was tried last.

        Args:
            reason: Why no smaller one is looked for.
        """
        clear(self.folder, force=True)
        if self.kept is not None:
            atomic_write_tree(self.folder, self.kept)
            if self._text:
                self._tidy()
        self.say(f"{reason}: this is the smallest that was found until then")
        return self._result()

    def _result(self) -> Reduction:
        found = self.request, self.outcome, self.before, self.after
        return Reduction(*found, self.trials, self.steps)

    def keep_part(self, count: int) -> None:
        """Remember what the folder holds, which is a part of so many operations that fails."""
        files = (each for each in self.folder.iterdir() if each.is_file())
        self.kept, self.after = {each.name: each.read_bytes() for each in files}, count

    def _shrink(self) -> None:
        self._draw_weights()
        self._shrink_sizes()
        self._shrink_shapes()
        self.after = _count(self._source().entry.graph)
        after = self._cut(self._source())
        if after is None:
            self.say("the graph alone does not fail: the spec is kept, with less of its sizes")
            clear(self.folder, force=True)
        else:
            self._shrink_numbers()
            self._tidy()

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
        cutter = _PartSearch(self, graph, call.arrays, source.weights(list(graph.weights)))
        return cutter.cut()

    def _shrink_numbers(self) -> None:
        """Less of each number in the file that is a size of an input; inputs are drawn anew."""
        path = Path(self.request.spec)
        self._text = path.read_text(encoding="utf-8")
        drawn = replace(self.request, arrays=None, draws=True)
        if not self._keep(drawn, "inputs are drawn by the seed"):
            return
        for number in sorted(written_sizes(path), reverse=True):
            for size in _powers(number):
                smaller = re.sub(_NUMBER.format(number), str(size), self._text)
                path.write_text(smaller, encoding="utf-8")
                if self._keep(drawn, f"the size {number} is {size}"):
                    self._text = smaller
                    break

    def _tidy(self) -> None:
        """Leave no file that the spec, in its last form, does not need."""
        unused = [self.folder / INPUTS] if self.request.arrays is None else []
        unused += self.folder.glob("*.safetensors") if self.request.draws else []
        for path in unused:
            path.unlink(missing_ok=True)
        Path(self.request.spec).write_text(self._text, encoding="utf-8")


@dataclass
class _PartSearch:
    """Tries parts of a graph as specs.

    Args:
        owner: The reduction, which tries them.
        graph: The graph, without symbols.
        inputs: What it was called with.
        weights: Its weights by path.
    """

    owner: Reducer
    graph: Graph
    inputs: Mapping[str, Array]
    weights: Mapping[str, Array]

    def cut(self) -> int | None:
        """The fewest operations; what they make is written to the folder."""
        chain = OperationChain.of(self.graph, list(self.graph.outputs))
        self.known = self._known_values(chain)
        every = list(chain.operations)
        if not self._fails(every):
            return None
        last = self._halve(len(every), lambda n: self._fails(every[:n]))
        self.owner.say(f"the first {last} of {len(every)} operations")
        first = last - self._halve(last, lambda n: self._fails(every[last - n : last]))
        kept = every[first:last]
        self.owner.say(f"the last {len(kept)} of those")
        kept = self._drop_each(kept)
        self._choose_output(kept)
        return len(kept)

    def _known_values(self, chain: OperationChain) -> dict[Value, Array]:
        """What all values are, by the reference; nothing where it cannot compute them."""
        values = [out for each in chain.operations for out in each.outputs]
        named = {f"v{number}": value for number, value in enumerate(values)}
        try:
            found = execute(replace(self.graph, outputs=named), {**self.weights, **self.inputs})
        except DiagnosticError:
            return {}
        return {named[name]: array for name, array in found.items()}

    def _halve(self, count: int, fails: Callable[[int], bool]) -> int:
        """The least number for which something fails, as it does for `count`."""
        low, high = 0, count
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if fails(middle) else (middle, high)
        return high

    def _drop_each(self, kept: list[TraceOp]) -> list[TraceOp]:
        """What is left when no operation more can go."""
        changed = True
        while changed and len(kept) > 1:
            changed = False
            for each in list(kept):
                fewer = [other for other in kept if other is not each]
                if fewer and self._fails(fewer):
                    kept, changed = fewer, True
        return kept

    def _choose_output(self, kept: Sequence[TraceOp]) -> None:
        """One output, if it fails alone; the folder holds what failed last."""
        outputs = list(part_outputs(self.graph, kept))
        alone = next((each for each in outputs if self._fails(kept, [each])), None)
        if alone is None:
            self._fails(kept)

    def _fails(self, kept: Sequence[TraceOp], outputs: Sequence[Value] | None = None) -> bool:
        """Whether a part fails in the same way."""
        wanted = list(part_outputs(self.graph, kept)) if outputs is None else list(outputs)
        part, read = extract_part(self.graph, kept, wanted)
        arrays = {name: self._array(value) for name, value in read.items()}
        lost = [a for a in arrays.values() if not np.isfinite(a.astype(np.float64)).all()]
        if lost and (self.owner.outcome.kind == LOST or self.owner.request.finite):
            return False
        folder = self.owner.folder
        try:
            spec = store_graph(folder, part, {}, self.weights, self.owner.registry)
        except ValueError:
            return False
        write(folder / INPUTS, arrays)
        request = replace(
            self.owner.request,
            spec=str(spec),
            entry=None,
            sizes={},
            shapes={},
            below={},
            weights=None,
            config=None,
            arrays=str(folder / INPUTS) if arrays else None,
            draws=False,
        )
        found = self.owner.attempt(request)
        if not found.is_same(self.owner.outcome):
            return False
        self.owner.keep_part(len(kept))
        self.owner.request, self.owner.outcome = request, found
        return True

    def _array(self, value: Value) -> Array:
        """What a value is, or some numbers where that is not known."""
        names = {v: n for n, v in self.graph.inputs.items()}
        if value in names:
            return np.asarray(self.inputs[names[value]])
        if value in self.known:
            return np.asarray(self.known[value])
        random = np.random.default_rng(self.owner.request.seed)
        shape = tuple(int(each) for each in value.shape)
        return np.asarray(random.standard_normal(shape)).astype(value.dtype.numpy)


def _count(graph: Graph) -> int:
    return sum(not isinstance(each, Constant) for each in graph.operations)


def _powers(value: int) -> list[int]:
    """Powers of two below a number."""
    return [1 << n for n in range(max(value, 1).bit_length()) if 1 << n < value]


def clear(folder: Path, *, force: bool) -> None:
    """Make an empty folder.

    Raises:
        DiagnosticError: It is there, and may not be replaced.
    """
    if folder.exists() and any(folder.iterdir()):
        if not force:
            message = f"`{folder}` already exists"
            hint = "`--force` replaces it, and `-o` names another folder"
            raise DiagnosticError(Diagnostic("file-exists", message, hint=hint))
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
