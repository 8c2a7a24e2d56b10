"""Errors of plain functions, at the caller's line: of an argument, the argument is underlined."""

from collections.abc import Sequence

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.errors.user_frames import PACKAGES
from tripybuild.frontend.checks.call_site import call_at
from tripybuild.frontend.checks.messages import PYTHON, format_value, nearest_dtype
from tripybuild.trace.location import caller_location
from tripybuild.types.dtypes import BY_NAME, dtype


def caller_diagnostic(code: str, message: str, hint: str | None = None) -> Diagnostic:
    """A problem at the user's line that is running."""
    return Diagnostic(code, message, caller_location(PACKAGES).span(), hint=hint)


def argument_error(
    owner: str,
    name: str,
    wanted: str,
    found: object,
    hint: str | None = None,
    *,
    path: Sequence[int | str] = (),
    code: str = "wrong-type",
    instead: Span | None = None,
) -> DiagnosticError:
    """The error "`dtype` of `InputInfo` must be a dtype", at what is written for the argument.

    Args:
        owner: What was called.
        name: The parameter, which the caller of this function has, too.
        wanted: What it must be.
        found: What it is, or what is in it at `path`.
        hint: What to do.
        path: Where to look in lists and dictionaries.
        code: What kind of a mistake it is.
        instead: The place, where no line of a program asks.
    """
    place = caller_location(PACKAGES)
    call = call_at(place)
    span = instead if call is None else call.argument(name, path)
    inside = "".join(f"[{each!r}]" for each in path)
    message = f"`{name}{inside}` of `{owner}` must be {wanted}"
    label = f"found {format_value(found)}"
    return DiagnosticError(Diagnostic(code, message, span or place.span(), label, hint=hint))


def dtype_argument(owner: str, name: str, given: object) -> dtype:
    """An argument that must be a dtype.

    Raises:
        DiagnosticError: It is none; one of the same or of a similar name is suggested.
    """
    if isinstance(given, dtype):
        return given
    near = nearest_dtype(given, BY_NAME)
    hint = f"did you mean `{PYTHON}.{near}`?" if near else None
    raise argument_error(owner, name, "a dtype", given, hint)
