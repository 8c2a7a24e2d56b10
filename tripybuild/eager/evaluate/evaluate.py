"""Evaluation of eager tensors: engine selection by graph, then release of the history."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING

from tripybuild.eager.evaluate.error_locations import locate_errors
from tripybuild.eager.evaluate.subgraph import Subgraph, find_subgraph, is_symbol, split_subgraph
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.errors.logger import logger
from tripybuild.frontend.tensor import PACKAGES
from tripybuild.trace import printer
from tripybuild.trace.constants import Constant, fold_to_constant
from tripybuild.trace.graph import Graph
from tripybuild.trace.location import PythonLocation, caller_location
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.values import Value

if TYPE_CHECKING:
    from tripybuild.reference.numerics.arrays import Array

# Elements that all operations of a graph read and write; constants do neither. NumPy needs ten
# microseconds for each operation, and as much for a thousand elements. A compiler needs tens of
# milliseconds, and one or more for each operation: SMALL elements take NumPy one millisecond.
SMALL = 1 << 16
SMALL_EACH = 1 << 10
# Operations that are compiled as one program. XLA's time grows faster than their number (1000 take
# a second, 20,000 four minutes), and the parts of a long loop are mostly one program.
MOST = 512


_small: ContextVar[int] = ContextVar("small", default=SMALL)


@contextmanager
def use_references(elements: int) -> Iterator[None]:
    """Compute graphs of so many elements without a compiler: each is computed once.

    A program takes a compiler tenths of a second, and a process of its own more than one.
    """
    token = _small.set(elements)
    try:
        yield
    finally:
        _small.reset(token)


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
    """Compute a value, and replace its history by the data."""
    graph = find_subgraph(value)
    if logger.watched:
        _compute_with_log(graph, value)
    else:
        _compute(graph, value)


def _compute_with_log(graph: Subgraph, value: Value) -> None:
    """Compute with logging of each step."""
    logger.trace(lambda: printer.text(Graph("eager", {}, {}, {"output0": value})))
    with logger.log_time(f"compute {value.name or value.type}"):
        _compute(graph, value)


def _compute(graph: Subgraph, value: Value) -> None:
    try:
        if graph.elements <= _small.get() + SMALL_EACH * len(graph.operations):
            fold_to_constant(value, _references()(graph.operations, [value])[0])
            return
        for part, wanted in split_subgraph(graph.operations, value, MOST):
            for each, array in zip(wanted, _programs()(part, wanted), strict=True):
                fold_to_constant(each, array)
    except DiagnosticError:
        asked = caller_location(PACKAGES)
        if not isinstance(asked, PythonLocation):
            raise
        with locate_errors(graph.operations, asked.span(), "computed"):
            raise


_Engine = Callable[[Sequence[TraceOp], Sequence[Value]], "list[Array]"]


@cache
def _references() -> _Engine:
    from tripybuild.reference import execute  # noqa: PLC0415 - NumPy

    return execute.compute


@cache
def _programs() -> _Engine:
    from tripybuild.eager.evaluate import xla_backend  # noqa: PLC0415 - heavy

    return xla_backend.compute
