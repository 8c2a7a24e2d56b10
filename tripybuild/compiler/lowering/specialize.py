"""Specialization: a graph for given sizes, for which the laws that wait for sizes hold."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tripybuild.artifact.call_signature import law_violations
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.symbolic.dims import Dim, Size, evaluate
from tripybuild.trace.constants import Data
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import DeferredLaw
from tripybuild.trace.region import walk_operations

if TYPE_CHECKING:
    from tripybuild.model.model_graph import ModelGraph  # which reads specifications

AHEAD = "the sizes are those to compile for: `opt` below `ranges:`, if declared, or `shapes`"
Shapes = Sequence[Mapping[str, int]]


def sizes_name(sizes: Mapping[str, Size]) -> str:
    """`B=8,S=64`, or `static` where there are no symbols: the name of a specialization."""
    return ",".join(f"{name}={sizes[name]}" for name in sorted(sizes)) or "static"


def specialize_graph(graph: Graph, sizes: Mapping[str, Size]) -> Graph:
    """The graph with numbers, or with symbols of less, for symbols.

    Raises:
        DiagnosticError: For these, a size is divided by zero.
    """
    try:
        return graph.substitute(sizes)
    except ZeroDivisionError as error:
        raise _division_error(sizes) from error


class GraphSizes:
    """The dynamic sizes in a graph that the sizes of a call decide.

    To compute them takes microseconds, where a specialized graph takes milliseconds.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        values = [*graph.inputs.values(), *graph.weights.values()]
        arguments: list[object] = []
        for operation in walk_operations(graph.operations):
            values += operation.outputs
            arguments += operation.arguments().values()
        symbols = set(graph.symbols)

        def decided(sizes: Iterable[object]) -> frozenset[Dim]:
            return frozenset(e for e in sizes if isinstance(e, Dim) and e.symbols <= symbols)

        self.of_tensors = decided(size for value in values for size in value.shape)
        self._all = self.of_tensors | decided(_flat(arguments))

    def evaluate(self, sizes: Mapping[str, int]) -> dict[Dim, int]:
        """The number that each is.

        Raises:
            DiagnosticError: For the sizes of the call, one is divided by zero.
        """
        try:
            return {size: evaluate(size, sizes) for size in self._all}
        except ZeroDivisionError as error:
            raise _division_error(sizes) from error


def _flat(arguments: Iterable[object]) -> Iterator[object]:
    """What stands in arguments, which may be tuples."""
    for each in arguments:
        if isinstance(each, tuple):
            yield from _flat(each)
        else:
            yield each.value if isinstance(each, Data) else each


def _division_error(sizes: Mapping[str, Size]) -> DiagnosticError:
    message = f"a size is divided by zero for {sizes_name(sizes)}"
    return DiagnosticError(Diagnostic("size-out-of-range", message))


def may_hold(laws: Iterable[DeferredLaw], sizes: Mapping[str, Size]) -> bool:
    """Whether laws hold for some sizes, as far as is known: a call may have them."""

    def is_broken(law: DeferredLaw) -> bool:
        try:
            return bool(law_violations([law], sizes))
        except UndecidedSize:
            return False

    return not any(map(is_broken, laws))


def check_laws(built: "ModelGraph", graph: Graph, shapes: Shapes) -> None:
    """Check the laws that wait for sizes with the sizes that are compiled for now.

    Raises:
        DiagnosticError: One does not hold.
    """
    for sizes in shapes:
        if found := law_violations(graph.deferred_laws, sizes):
            span = built.document.span(("ranges",))
            raise DiagnosticError(
                *(replace(each, span=span, hint=each.hint or AHEAD) for each in found)
            )
