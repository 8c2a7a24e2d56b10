"""Many cases, one compilation: the parts do not touch, so each proves what it would alone.

A compilation that fails is tried again in halves, until it is known whose fault it is.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from tripybuild.build.lower import lower_stablehlo
from tripybuild.diagnostics import DiagnosticError, concise
from tripybuild.numerics.arrays import Array
from tripybuild.suite.engines import engine_problems
from tripybuild.targets import pjrt
from tripybuild.targets.child import session
from tripybuild.trace.graph import Graph

Outcome = list[Array] | str
LARGEST = 256  # cases of one program: for more, XLA takes longer than for several programs
MOST = 64  # cases of one engine: more cost more, when one of them is at fault


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


Each = TypeVar("Each", bound=Runnable)


def run(cases: Sequence[Runnable]) -> list[Outcome]:
    """What each case gives on `cpu`, or why it gives nothing.

    Where the whole does not compile, its halves are tried, so that all but the faulty cases run.
    """
    if not cases:
        return []
    if len(cases) > LARGEST:
        return [*run(cases[:LARGEST]), *run(cases[LARGEST:])]
    try:
        return list(_run(cases))
    except (DiagnosticError, ValueError) as error:
        if len(cases) > 1:
            half = len(cases) // 2
            return [*run(cases[:half]), *run(cases[half:])]
        problems = error.diagnostics if isinstance(error, DiagnosticError) else ()
        return ["; ".join(map(concise, problems)) or f"does not compile: {error}"]


def _run(cases: Sequence[Runnable]) -> list[list[Array]]:
    graph = joined([case.graph for case in cases])
    module = lower_stablehlo(graph).text()
    # In the compiler's own process: a crash of it is an outcome too.
    program = pjrt.load(session().compile("cpu", module))
    results = iter(program(*[array for case in cases for array in case.data.values()]))
    return [[next(results) for _ in case.graph.outputs] for case in cases]


def unbuilt(cases: Sequence[Each], gpu: str | None = None) -> dict[Each, list[str]]:
    """What is wrong with the engines of cases, for those of which something is.

    Args:
        cases: What is built together, `MOST` at a time.
        gpu: Which GPU the engines are for; without, they are for all.
    """
    found: dict[Each, list[str]] = {}
    for start in range(0, len(cases), MOST):
        found |= _faults(cases[start : start + MOST], gpu)
    return found


def _faults(cases: Sequence[Each], gpu: str | None) -> dict[Each, list[str]]:
    problems = list(engine_problems(joined([case.graph for case in cases]), gpu=gpu))
    if not problems or len(cases) == 1:
        return {cases[0]: problems} if problems else {}
    half = len(cases) // 2
    return {**_faults(cases[:half], gpu), **_faults(cases[half:], gpu)}


def joined(graphs: Sequence[Graph]) -> Graph:
    """Several graphs as one."""
    cases = list(enumerate(graphs))
    return Graph(
        "cases",
        {f"case{i}_{name}": value for i, graph in cases for name, value in graph.inputs.items()},
        {},
        {f"case{i}_{name}": value for i, graph in cases for name, value in graph.outputs.items()},
    )
