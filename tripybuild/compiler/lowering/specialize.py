"""Specialization: a graph for given sizes, for which the laws that wait for sizes hold."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tripybuild.artifact.call_signature import law_violations
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.trace.graph import Graph

if TYPE_CHECKING:
    from tripybuild.model.model_graph import ModelGraph  # which reads specifications

AHEAD = "the sizes are those to compile for: `opt` below `ranges:`, if declared, or `shapes`"
Shapes = Sequence[Mapping[str, int]]


def sizes_name(sizes: Mapping[str, int]) -> str:
    """`B=8,S=64`, or `static` where there are no symbols: the name of a specialization."""
    return ",".join(f"{name}={sizes[name]}" for name in sorted(sizes)) or "static"


def specialize_graph(graph: Graph, sizes: Mapping[str, int]) -> Graph:
    """The graph with numbers for symbols.

    Raises:
        DiagnosticError: For these, a size is divided by zero.
    """
    try:
        return graph.substitute(sizes)
    except ZeroDivisionError as error:
        message = f"a size is divided by zero for {sizes_name(sizes)}"
        raise DiagnosticError(Diagnostic("size-out-of-range", message)) from error


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
