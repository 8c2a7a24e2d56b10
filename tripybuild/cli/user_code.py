"""Execution of user code: its output is kept apart, its exceptions become diagnostics."""

import contextlib
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from traceback import FrameSummary, extract_tb

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.errors.user_frames import MOST
from tripybuild.process.paths import PACKAGE


@contextlib.contextmanager
def user_code(file: Path, hint: str | None = None) -> Iterator[None]:
    """Run what is the user's: it prints beside the answer, and its failures have its lines.

    Args:
        file: The program.
        hint: What else may be wrong, if it fails.

    Raises:
        DiagnosticError: It raised something, be it `SystemExit`.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except (DiagnosticError, KeyboardInterrupt):
        raise
    except SyntaxError as error:
        line, column = error.lineno or 1, error.offset or 1
        span = Span(error.filename or str(file), line, column, line, column + 1)
        raise DiagnosticError(Diagnostic("program-failed", f"{error.msg}", span)) from error
    except BaseException as error:  # whatever the user's code raises, `SystemExit` among it
        raise DiagnosticError(_failure(error, file, hint)) from error


def _failure(error: BaseException, file: Path, hint: str | None) -> Diagnostic:
    """What the user's code raised, at its innermost line below the file's folder."""
    frames = [f for f in extract_tb(error.__traceback__) if not _is_ours(f.filename)]
    own = [f for f in frames if Path(f.filename).is_relative_to(file.resolve().parent)] or frames
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    span = _span(own[-1]) if own else None
    notes = tuple(_outer_frames(own[:-1]))
    return Diagnostic("program-failed", text, span, "raised here", notes, hint)


def _outer_frames(frames: Sequence[FrameSummary]) -> list[str]:
    """The lines that led to a failure, the nearest first; of many, these and the outermost."""
    lines = (f"called at {frame.filename}:{frame.lineno}" for frame in reversed(frames))
    counted = [(line, len(list(equal))) for line, equal in groupby(lines)]
    found = [f"{line} ({times} times)" if times > 1 else line for line, times in counted]
    return [*found[: MOST - 1], *found[MOST - 1 :][-1:]]


def _is_ours(filename: str) -> bool:
    """Whether code is tripybuild's own, or what Python begins with."""
    return filename.startswith("<frozen") or Path(filename).is_relative_to(PACKAGE)


def _span(frame: FrameSummary) -> Span:
    line, column = frame.lineno or 1, (frame.colno or 0) + 1
    end_line = frame.end_lineno or line
    return Span(frame.filename, line, column, end_line, (frame.end_colno or column) + 1)
