"""Exception hook: prints user frames and the diagnostic of an uncaught error.

Frames of ours say nothing to a user. Interactive shells and notebooks ask the error itself
(`_render_traceback_`).
"""

import sys
import traceback
from collections.abc import Callable
from types import TracebackType

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.errors.user_frames import is_library
from tripybuild.frontend.tensor import PACKAGES

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], object]


def install() -> None:
    """Let what shows errors see users' frames only; whatever was there before still shows them."""
    before = sys.excepthook
    if getattr(before, "__module__", "") == __name__:
        return

    def hook(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> object:
        if isinstance(error, DiagnosticError) and not _is_fault(error):
            _trim_traceback(error, trace)
        return before(kind, error, error.__traceback__)

    sys.excepthook = hook
    DiagnosticError._render_traceback_ = _notebook_lines  # type: ignore[attr-defined]


def strip_internal_frames(
    trace: TracebackType | None, *, within: bool = False
) -> TracebackType | None:
    """A traceback without the frames of our packages, nor of libraries that these call.

    Args:
        trace: The traceback.
        within: Whether the frame before it is left out.
    """
    if trace is None:
        return None
    within = _is_ours(trace) or (within and is_library(trace.tb_frame.f_code.co_filename))
    rest = strip_internal_frames(trace.tb_next, within=within)
    if within:
        return rest
    return TracebackType(rest, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)


def _trim_traceback(
    error: DiagnosticError, trace: TracebackType | None, *, within: bool = False
) -> None:
    """Leave to an error the user's frames, and the causes that do not begin in ours."""
    rest = strip_internal_frames(trace, within=within)
    error.__traceback__ = None if rest is not None and _says(error, rest) else rest
    for name in ("__cause__", "__context__"):
        other = getattr(error, name)
        if other is not None and _is_ours(other.__traceback__):
            setattr(error, name, None)


def _says(error: DiagnosticError, trace: TracebackType) -> bool:
    """Whether diagnostics cover all lines of a traceback, as spans or user frames."""
    found = [each for each in error.diagnostics if each.span]
    places = {(each.span.path, each.span.line) for each in found if each.span}
    places |= {(caller.path, caller.line) for each in found for caller in each.callers}
    lines: TracebackType | None = trace
    while lines is not None:
        if (lines.tb_frame.f_code.co_filename, lines.tb_lineno) not in places:
            return False
        lines = lines.tb_next
    return True


def _is_ours(trace: TracebackType | None) -> bool:
    package = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__", ""))
    return trace is None or package.partition(".")[0] in PACKAGES


def _is_fault(error: DiagnosticError) -> bool:
    """Whether the fault is ours: then all frames are wanted."""
    return any(each.code == "internal" for each in error.diagnostics)


def _notebook_lines(error: DiagnosticError) -> list[str]:
    """The lines that a notebook shows."""
    _trim_traceback(error, error.__traceback__, within=True)  # the shell's frames come first
    shown = traceback.format_exception(error)
    return "".join(shown).splitlines()
