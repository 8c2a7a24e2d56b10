"""Graphs that somebody looks at: which engine computes them, and what becomes of their history."""

from typing import TYPE_CHECKING

from tripybuild.diagnostics import DiagnosticError
from tripybuild.eager.blame import blamed
from tripybuild.eager.pending import Pending, is_symbol, pending
from tripybuild.frontend.tensor import PACKAGES
from tripybuild.logger import logger
from tripybuild.trace import printer
from tripybuild.trace.constants import Constant, settle
from tripybuild.trace.graph import Graph
from tripybuild.trace.location import PythonLocation, here
from tripybuild.trace.values import Value

if TYPE_CHECKING:
    from tripybuild.numerics.arrays import Array

# Elements that all operations of a graph read and write; constants do neither. NumPy needs some
# microseconds for each operation and a compiler tens of milliseconds for the first call: this many
# take one millisecond.
SMALL = 1 << 16


def array_of(value: Value) -> "Array":
    """What a value holds; it is computed now if it was not yet.

    Raises:
        DiagnosticError: It depends on something that is known only when a model runs.
    """
    if not isinstance(value.producer, Constant) or is_symbol(value.producer):
        evaluate([value])
    assert isinstance(value.producer, Constant)
    return value.producer.data.array


def evaluate(values: list[Value]) -> None:
    """Compute values together, and keep what they hold in the place of how it was asked for."""
    graph = pending(values)
    if logger.shows("trace"):
        logger.trace(lambda: printer.text(_graph(values)))
    with logger.timed(
        lambda: f"compute {', '.join(each.name or str(each.type) for each in values)}"
    ):
        computed = _computed(graph, values)
    for value, array in zip(values, computed, strict=True):
        settle(value, array)


def _graph(values: list[Value]) -> Graph:
    return Graph("eager", {}, {}, {f"output{i}": value for i, value in enumerate(values)})


def _computed(graph: Pending, values: list[Value]) -> "list[Array]":
    try:
        return _by_engine(graph, values)
    except DiagnosticError:
        asked = here(PACKAGES)
        if not isinstance(asked, PythonLocation):
            raise
        with blamed(graph.operations, asked.span(), "computed"):
            raise


def _by_engine(graph: Pending, values: list[Value]) -> "list[Array]":
    if graph.elements <= SMALL:
        from tripybuild.eager import interpret  # noqa: PLC0415 - NumPy

        return interpret.computed(graph.operations, values)
    from tripybuild.eager import programs  # noqa: PLC0415 - heavy

    return programs.computed(graph.operations, values)
