"""Graphs that somebody looks at: which engine computes them, and what becomes of their history."""

from collections.abc import Callable, Sequence
from functools import cache
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
from tripybuild.trace.operation import TraceOp
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
    held = value.producer
    if not isinstance(held, Constant) or is_symbol(held):
        evaluate(value)
        held = value.producer
        assert isinstance(held, Constant)
    return held.data.array


def evaluate(value: Value) -> None:
    """Compute a value, and keep what it holds in the place of how it was asked for."""
    graph = pending(value)
    settle(value, _shown(graph, value) if logger.watched else _computed(graph, value))


def _shown(graph: Pending, value: Value) -> "Array":
    """The same for somebody who wants to see what is done."""
    logger.trace(lambda: printer.text(Graph("eager", {}, {}, {"output0": value})))
    with logger.timed(f"compute {value.name or value.type}"):
        return _computed(graph, value)


def _computed(graph: Pending, value: Value) -> "Array":
    try:
        engine = _references() if graph.elements <= SMALL else _programs()
        return engine(graph.operations, [value])[0]
    except DiagnosticError:
        asked = here(PACKAGES)
        if not isinstance(asked, PythonLocation):
            raise
        with blamed(graph.operations, asked.span(), "computed"):
            raise


_Engine = Callable[[Sequence[TraceOp], Sequence[Value]], "list[Array]"]


@cache
def _references() -> _Engine:
    from tripybuild.eager import interpret  # noqa: PLC0415 - NumPy

    return interpret.computed


@cache
def _programs() -> _Engine:
    from tripybuild.eager import programs  # noqa: PLC0415 - heavy

    return programs.computed
