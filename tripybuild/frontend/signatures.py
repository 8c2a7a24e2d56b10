"""Functions that can be called in several ways: find the way that fits a call."""

from collections.abc import Mapping, Sequence

from tripybuild.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend.record import PACKAGES
from tripybuild.trace.location import here
from tripybuild.types.dtypes import dtype


def bind(
    name: str,
    arguments: Sequence[object],
    named: Mapping[str, object],
    signatures: Sequence[str],
    **defaults: object,
) -> tuple[object, ...]:
    """The arguments in the order of `defaults`, bound by the first signature that a call fits.

    Args:
        name: The function, for messages.
        arguments: What was given by position.
        named: What was given by name.
        signatures: `"start, stop, step?, dtype?"`; a question mark means that it may be left out.
        defaults: All parameters with their defaults.

    Raises:
        DiagnosticError: Where no signature fits.
    """
    for signature in signatures:
        bound = _fit(signature, arguments, named)
        if bound is not None:
            return tuple((defaults | bound).values())
    ways = "\n".join(f"{name}({signature.replace('?', '=...')})" for signature in signatures)
    raise DiagnosticError(
        Diagnostic(
            f"{name}/signature",
            f"`{name}` cannot be called like this",
            here(PACKAGES).span(),
            notes=tuple(f"can be called as {way}" for way in ways.splitlines()),
        )
    )


def _fit(
    signature: str, arguments: Sequence[object], named: Mapping[str, object]
) -> dict[str, object] | None:
    parameters = [part.strip() for part in signature.split(",")]
    names = [parameter.rstrip("?") for parameter in parameters]
    if len(arguments) > len(names) or not set(named) <= set(names[len(arguments) :]):
        return None
    bound = dict(zip(names, arguments, strict=False)) | dict(named)
    missing = [
        n for n, p in zip(names, parameters, strict=True) if n not in bound and not p.endswith("?")
    ]
    # A dtype is the one kind of argument that is told apart by what it is.
    mixed = any(
        isinstance(value, dtype) != (n == "dtype")
        for n, value in bound.items()
        if n == "dtype" or isinstance(value, dtype)
    )
    return None if missing or mixed else bound
