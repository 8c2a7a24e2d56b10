"""Problem collection: messages that fail a test together."""

from collections.abc import Iterable

from tripybuild.errors.diagnostics import DiagnosticError, concise


def refuse(problems: Iterable[str]) -> None:
    """Fail where there are problems, with all of them."""
    found = list(problems)
    if found:
        raise AssertionError("\n".join(found))


def refuse_difference(what: str, found: object, wanted: object) -> None:
    """Fail where two values are not equal. An `assert` would be gone under `python -O`."""
    refuse([f"{what}: {found}, expected {wanted}"] if found != wanted else [])


def error_line(error: Exception) -> str:
    """An error in one line."""
    if isinstance(error, DiagnosticError):
        return "; ".join(map(concise, error.diagnostics))
    return f"{type(error).__name__}: {error}"
