"""Search for the smallest part of a graph that still fails, as a spec of its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from tripybuild.artifact.call_signature import Array
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.reference.execute import execute
from tripybuild.schema.load import Registry
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.values import Value
from tripybuild.weights.array_files import write
from tripybuild.workbench.cuts import OperationChain
from tripybuild.workbench.reduction.graph_spec import extract_part, part_outputs, store_graph
from tripybuild.workbench.reduction.part_folder import INPUTS
from tripybuild.workbench.reduction.trial import LOST, Outcome, TrialRequest


class TrialOwner(Protocol):
    """What tries parts, and keeps those that fail."""

    request: TrialRequest
    outcome: Outcome
    registry: Registry

    def stage(self) -> Path:
        """An empty folder for the spec of the next trial."""

    def try_part(self, request: TrialRequest, count: int) -> bool:
        """Whether a spec of so many operations, in that folder, fails in the same way."""

    def say(self, step: str) -> None:
        """Note what was done."""


@dataclass
class PartSearch:
    """Tries parts of a graph as specs.

    Args:
        owner: The reduction, which tries them.
        graph: The graph, without symbols.
        inputs: What it was called with.
        weights: Its weights by path.
    """

    owner: TrialOwner
    graph: Graph
    inputs: Mapping[str, Array]
    weights: Mapping[str, Array]

    def cut(self) -> int | None:
        """The fewest operations; the folder holds them."""
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
        """One output, if it fails alone."""
        for each in part_outputs(self.graph, kept):
            if self._fails(kept, [each]):
                return

    def _fails(self, kept: Sequence[TraceOp], outputs: Sequence[Value] | None = None) -> bool:
        """Whether a part fails in the same way."""
        wanted = list(part_outputs(self.graph, kept)) if outputs is None else list(outputs)
        part, read = extract_part(self.graph, kept, wanted)
        arrays = {name: self._array(value) for name, value in read.items()}
        lost = [a for a in arrays.values() if not np.isfinite(a.astype(np.float64)).all()]
        if lost and (self.owner.outcome.kind == LOST or self.owner.request.finite):
            return False
        stage = self.owner.stage()
        try:
            spec = store_graph(stage, part, {}, self.weights, self.owner.registry)
        except ValueError:
            return False
        if arrays:
            write(stage / INPUTS, arrays)
        request = replace(
            self.owner.request,
            spec=str(spec),
            entry=None,
            sizes={},
            shapes={},
            below={},
            weights=None,
            config=None,
            arrays=str(stage / INPUTS) if arrays else None,
            draws=False,
        )
        return self.owner.try_part(request, len(kept))

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
