"""Batched compilation of test cases: independent cases share one program.

A compilation that fails is tried again in halves, until it is known whose fault it is.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from tripybuild.compiler.lowering.lower import lower_stablehlo
from tripybuild.errors.diagnostics import DiagnosticError, concise
from tripybuild.reference.numerics.arrays import Array
from tripybuild.targets.xla import pjrt
from tripybuild.tensorrt.emission import Profile
from tripybuild.testing.engines.layer_builds import engine_problems
from tripybuild.trace.graph import Graph
from tripybuild.worker.compiler_process import session

Outcome = list[Array] | str
LARGEST = 256  # cases of one program: for more, XLA takes longer than for several programs
MOST = 64  # cases of one engine: more cost more, when one of them is at fault


class Buildable(Protocol):
    """What has a graph."""

    @property
    def graph(self) -> Graph:
        """The graph."""
        ...


class Runnable(Buildable, Protocol):
    """A graph without symbols, and the arrays of its inputs."""

    @property
    def data(self) -> Mapping[str, Array]:
        """The inputs by name, in the order of the graph."""
        ...


Case = TypeVar("Case")
Result = TypeVar("Result")
Each = TypeVar("Each", bound=Buildable)


def bisect(
    cases: Sequence[Case],
    most: int,
    together: Callable[[Sequence[Case]], Sequence[Result]],
    is_fault: Callable[[Result], bool],
) -> list[Result]:
    """What each case gives: together, and by halves where that is a fault.

    Args:
        cases: The cases.
        most: How many are tried together.
        together: What several cases give; a fault of one may be told of all.
        is_fault: Whether a result is one.
    """
    if not cases:
        return []
    middle = most
    if len(cases) <= most:
        found = together(cases)
        if len(cases) == 1 or not any(map(is_fault, found)):
            return list(found)
        middle = len(cases) // 2
    parts = cases[:middle], cases[middle:]
    return [each for part in parts for each in bisect(part, most, together, is_fault)]


def run(cases: Sequence[Runnable]) -> list[Outcome]:
    """What each case gives on `cpu`, or why it gives nothing."""
    return bisect(cases, LARGEST, _outcomes, lambda outcome: isinstance(outcome, str))


def _outcomes(cases: Sequence[Runnable]) -> list[Outcome]:
    try:
        return list(_run(cases))
    except (DiagnosticError, ValueError) as error:
        problems = error.diagnostics if isinstance(error, DiagnosticError) else ()
        return ["; ".join(map(concise, problems)) or f"does not compile: {error}"] * len(cases)


def _run(cases: Sequence[Runnable]) -> list[list[Array]]:
    graph = merge_graphs([case.graph for case in cases])
    module = lower_stablehlo(graph).text()
    # In the compiler's own process: a crash of it is an outcome too.
    program = pjrt.load(session().compile("cpu", module))
    results = iter(program(*[array for case in cases for array in case.data.values()]))
    return [[next(results) for _ in case.graph.outputs] for case in cases]


def build_problems(
    cases: Sequence[Each], gpu: str | None = None, profile: Profile | None = None
) -> dict[Each, list[str]]:
    """What is wrong with the engines of cases, for those of which something is.

    Args:
        cases: What is built together, `MOST` at a time.
        gpu: Which GPU the engines are for; without, they are for all.
        profile: The sizes of their symbols, of which no two cases have the same.
    """

    def problems(several: Sequence[Each]) -> list[list[str]]:
        whole = merge_graphs([case.graph for case in several])
        return [list(engine_problems(whole, profile, gpu))] * len(several)

    found = zip(cases, bisect(cases, MOST, problems, bool), strict=True)
    return {case: each for case, each in found if each}


def merge_graphs(graphs: Sequence[Graph]) -> Graph:
    """Several graphs as one."""
    cases = list(enumerate(graphs))
    return Graph(
        "cases",
        {f"case{i}_{name}": value for i, graph in cases for name, value in graph.inputs.items()},
        {},
        {f"case{i}_{name}": value for i, graph in cases for name, value in graph.outputs.items()},
    )
