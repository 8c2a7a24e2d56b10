"""Error locations: engine and compiler errors mapped to the user's Python lines.

What comes back from a compiler names the line and the column of an operation. The operation itself
knows the whole expression; the call that compiled it is another place.

Where expressions begin is enough for all but those that begin at one place, `f(x)` and `f(x) + 1`.
Their ends could be sent, too, but they would be in the text of each executable, in the names of
TensorRT's layers, and in what NVIDIA's compiler reads, whose MLIR may know no stretches of files.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Related, Span
from tripybuild.trace.location import PythonLocation
from tripybuild.trace.operation import TraceOp


@contextmanager
def locate_errors(operations: Iterable[TraceOp], asked: Span, what: str) -> Iterator[None]:
    """Give the errors inside of the context the places of operations.

    Args:
        operations: What is compiled or computed.
        asked: The user's line that asks for it.
        what: What is done there, for the note: `compiled`.

    Raises:
        DiagnosticError: With the same diagnostics, at the whole expressions.
    """
    try:
        yield
    except DiagnosticError as error:
        found = list(operations)
        placed = [_locate(each, found, asked, what) for each in error.diagnostics]
        raise DiagnosticError(*placed) from error


def _locate(
    diagnostic: Diagnostic, operations: Iterable[TraceOp], asked: Span, what: str
) -> Diagnostic:
    span = diagnostic.span
    if span is None:
        return replace(diagnostic, span=asked)
    whole = {
        place: operation.operator
        for operation in operations
        if isinstance(operation.location, PythonLocation)
        and operation.location.code.co_filename == span.path
        and _matches_span(span, place := operation.location.span())
    }
    if not whole:
        return diagnostic
    # Expressions can begin at one place, `f(x)` and `f(x) + 1`: then the largest is underlined.
    largest = max(whole, key=lambda each: (each.end_line, each.end_column))
    label = diagnostic.label or (f"this is `{whole[largest]}`" if len(whole) == 1 else "")
    related = diagnostic.related
    if asked != largest:
        related = (*related, Related(f"it is {what} here", asked))
    return replace(diagnostic, span=largest, label=label, related=related)


def _matches_span(point: Span, whole: Span) -> bool:
    """Whether a place is an expression's, or the point where it begins."""
    begins = (point.line, point.column) == (whole.line, whole.column)
    return point == whole or (
        begins and (point.end_line, point.end_column) <= (point.line, point.column + 1)
    )
