"""Build outcome: an engine, or the stage and message of TensorRT's rejection.

Invariant: TensorRT itself is asked of what is illegal. The verifier of the dialect would refuse
much of it before; a module travels packed, unverified, and what it becomes is judged layer by
layer. Only a module with large constants travels as text, which is verified. What no layer can be
recorded for is refused at level `builder`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.targets.tensorrt.model import dialect_module
from tripybuild.tensorrt.mlir import verifier
from tripybuild.tensorrt.translation.failing_op import level
from tripybuild.testing.batch import MOST, bisect, merge_graphs
from tripybuild.testing.engines.layer_builds import build_record
from tripybuild.trace.graph import Graph

BUILDS = "builds"
# What ends a compiler without a verdict of it.
UNSAID = frozenset({"compiler-crashed", "compiler-timeout", "compiler-out-of-memory"})


@dataclass(frozen=True)
class BuildOutcome:
    """`builds`, or the stage of rejection (`builder`, `shape`, `build`) and its message."""

    level: str
    says: str = ""

    @property
    def builds(self) -> bool:
        """Whether there is an engine."""
        return self.level == BUILDS

    def __str__(self) -> str:
        return self.level if self.builds else f"refused at level {self.level}: {self.says}"


def build_outcome(graph: Graph, gpu: str | None = None, *, verified: bool = False) -> BuildOutcome:
    """What TensorRT says of a graph.

    Args:
        graph: The graph, of any dtypes.
        gpu: Which GPU the engine is for, such as `sm89`; without, it is for all.
        verified: Whether the dialect's verifier is asked before, as it is for models.

    Raises:
        DiagnosticError: The compiler ended without a verdict.
    """
    try:
        with np.errstate(invalid="ignore"):  # constants that a dtype cannot hold
            module = dialect_module(graph)
    except DiagnosticError as error:
        return BuildOutcome("builder", _words(error.diagnostics[0]))
    if verified and (problems := verifier.problems(module.module)):
        return BuildOutcome("builder", _words(problems[0]))
    try:
        build_record(module, gpu)
    except DiagnosticError as error:
        first = error.diagnostics[0]
        if first.code in UNSAID:
            raise
        return BuildOutcome(level(first.message), _words(first))
    return BuildOutcome(BUILDS)


def build_outcomes(graphs: Sequence[Graph], gpu: str | None = None) -> list[BuildOutcome]:
    """What TensorRT says of each of many graphs, of which most are expected to build.

    They are built together, and apart, by halves, where the whole is refused: a part of a network
    that touches no other one is judged as it would be alone.
    """

    def together(several: Sequence[Graph]) -> list[BuildOutcome]:
        return [build_outcome(merge_graphs(several), gpu)] * len(several)

    return bisect(graphs, MOST, together, lambda found: not found.builds)


def _words(diagnostic: Diagnostic) -> str:
    return " | ".join([diagnostic.message, *diagnostic.notes])
