"""Many cases, one compilation: the parts do not touch, so each proves what it would alone."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from tripybuild.build.lower import lower_stablehlo
from tripybuild.diagnostics import DiagnosticError, concise
from tripybuild.numerics.arrays import Array
from tripybuild.targets import pjrt
from tripybuild.targets.child import session
from tripybuild.trace.graph import Graph

Outcome = list[Array] | str


class Runnable(Protocol):
    """A graph and the arrays of its inputs."""

    @property
    def graph(self) -> Graph:
        """The graph, without symbols."""
        ...

    @property
    def data(self) -> Mapping[str, Array]:
        """The inputs by name, in the order of the graph."""
        ...


def run(cases: Sequence[Runnable]) -> list[Outcome]:
    """What each case gives on `cpu`, or why it gives nothing.

    Where the whole does not compile, its halves are tried, so that all but the faulty cases run.
    """
    if not cases:
        return []
    try:
        return list(_run(cases))
    except (DiagnosticError, ValueError) as error:
        if len(cases) > 1:
            half = len(cases) // 2
            return [*run(cases[:half]), *run(cases[half:])]
        problems = error.diagnostics if isinstance(error, DiagnosticError) else ()
        return ["; ".join(map(concise, problems)) or f"does not compile: {error}"]


def _run(cases: Sequence[Runnable]) -> list[list[Array]]:
    graph = joined(cases)
    module = lower_stablehlo(graph).text()
    # In the compiler's own process: a crash of it is an outcome too.
    program = pjrt.load(session().compile("cpu", module))
    results = iter(program(*[array for case in cases for array in case.data.values()]))
    return [[next(results) for _ in case.graph.outputs] for case in cases]


def joined(cases: Sequence[Runnable]) -> Graph:
    """The graphs of all cases as one."""
    graphs = list(enumerate(case.graph for case in cases))
    return Graph(
        "cases",
        {f"case{i}_{name}": value for i, graph in graphs for name, value in graph.inputs.items()},
        {},
        {f"case{i}_{name}": value for i, graph in graphs for name, value in graph.outputs.items()},
    )
