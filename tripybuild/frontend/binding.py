"""Argument binding: overload resolution, and why arguments do not fit a function's parameters."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span, suggest
from tripybuild.frontend.checks.call_site import argument_span, keyword_span
from tripybuild.frontend.checks.messages import format_value
from tripybuild.frontend.record import PACKAGES
from tripybuild.trace.location import Location, caller_location
from tripybuild.trace.values import is_tensor
from tripybuild.types.dtypes import dtype

# What other libraries call parameters, and what they may be called here.
ELSEWHERE = {
    "axis": ("dim",),
    "axes": ("dim", "perm"),
    "dims": ("dim", "perm"),
    "keepdims": ("keepdim",),
    "newshape": ("shape",),
    "size": ("shape",),
    "kernel_size": ("kernel_dims",),
    "num_groups": ("groups",),
    "input": ("lhs", "tensor"),
    "other": ("rhs",),
    "x": ("input", "lhs"),
    "a": ("input", "lhs"),
    "b": ("rhs",),
}


class CallError(DiagnosticError, TypeError):
    """A call with other arguments than a function has parameters."""


@dataclass(frozen=True)
class BindingError:
    """One reason.

    Args:
        message: A sentence.
        hint: What to do.
        keyword: The argument that is to blame, where it is given by name.
        place: Which one it is, where it is given by place.
    """

    message: str
    hint: str | None = None
    keyword: str | None = None
    place: int | None = None

    def span(self, location: Location) -> Span | None:
        """Where the argument is written that is to blame; None where it is missing."""
        found = None if self.keyword is None else keyword_span(location, self.keyword)
        if found is None and self.place is not None:
            return argument_span(location, self.place)
        return found


def binding_errors(
    name: str,
    arguments: Sequence[object],
    named: Mapping[str, object],
    parameters: Sequence[str],
    optional: Iterable[str],
    lists: Container[str] = (),
) -> Iterator[BindingError]:
    """All that keeps arguments from being bound.

    Args:
        name: The function.
        arguments: What is given by place.
        named: What is given by name.
        parameters: The names of the parameters that can be given by place.
        optional: The names of those that may be left out, or are given by name only.
        lists: The names of those that take several numbers.
    """
    known = {*parameters, *optional}
    missing = [p for p in parameters[len(arguments) :] if p not in {*named, *optional}]
    for each in [each for each in named if each not in known]:
        elsewhere = [other for other in ELSEWHERE.get(each, ()) if other in known]
        near = suggest(each, missing) or next(iter(elsewhere), None) or suggest(each, known)
        missing = [other for other in missing if other != near]
        hint = f"did you mean `{near}`?" if near else None
        yield BindingError(f"`{name}` has no parameter `{each}`", hint, each)
    for each in [each for each in parameters[: len(arguments)] if each in named]:
        message = f"`{name}` has `{each}` twice: positionally and by keyword"
        yield BindingError(message, keyword=each)
    if len(arguments) > len(parameters):
        most = f"{len(parameters)} positional argument{'' if len(parameters) == 1 else 's'}"
        message = f"`{name}` takes at most {most}, and {len(arguments)} are given"
        rest = arguments[len(parameters) - 1 :] if parameters and parameters[-1] in lists else ()
        hint = None
        if rest and all(isinstance(each, int) for each in rest):
            hint = f"put them into a list: `{format_value(rest)}`"
        elif rest and all(map(is_tensor, rest)):
            hint = f"put the tensors into a list: `{parameters[-1]}=[...]`"
        yield BindingError(message, hint, place=len(parameters))
    if missing:
        listed = " and ".join(f"`{each}`" for each in missing)
        yield BindingError(f"`{name}` is not given {listed}")


def bind(
    name: str,
    arguments: Sequence[object],
    named: Mapping[str, object],
    signatures: Sequence[str],
    **defaults: object,
) -> tuple[Any, ...]:
    """The arguments in the order of `defaults`, bound by the first signature that a call fits.

    Args:
        name: The function, for messages.
        arguments: What was given by position.
        named: What was given by name.
        signatures: `"input, shape#, mode?"`; a question mark means that it may be left out, and a
            hash that it holds whole numbers, so that a call with fractions is another one.
        defaults: All parameters with their defaults.

    Raises:
        DiagnosticError: Where no signature fits.
    """
    for signature in signatures:
        bound = _bind_signature(signature, arguments, named)
        if bound is not None:
            return tuple((defaults | bound).values())
    raise CallError(_overload_diagnostic(name, arguments, named, signatures))


def _overload_diagnostic(
    name: str, arguments: Sequence[object], named: Mapping[str, object], signatures: Sequence[str]
) -> Diagnostic:
    """Why each way to call a function does not fit; what all ways have in common is underlined."""
    location = caller_location(PACKAGES)
    reasons = [_first_mismatch(name, signature, arguments, named) for signature in signatures]
    spelling = [signature.replace("#", "").replace("?", "=...") for signature in signatures]
    notes = [
        f"{name}({way}) is not a valid overload because {reason.message}"
        for way, reason in zip(spelling, reasons, strict=True)
    ]
    places = {reason.span(location) for reason in reasons}
    span = (places.pop() if len(places) == 1 else None) or location.span()
    hint = next((reason.hint for reason in reasons if reason.hint is not None), None)
    message = f"`{name}` cannot be called like this"
    return Diagnostic(f"{name}/signature", message, span, notes=tuple(notes), hint=hint)


def _first_mismatch(
    name: str, signature: str, arguments: Sequence[object], named: Mapping[str, object]
) -> BindingError:
    """The first reason why arguments do not fit a signature."""
    parts = {part.strip().rstrip("#?"): part.strip() for part in signature.split(",")}
    names = list(parts)
    optional = [each for each, part in parts.items() if part.endswith("?")]
    found = next(binding_errors(name, arguments, named, names, optional), None)
    if found is not None:
        return found
    given = dict(zip(names, arguments, strict=False)) | dict(named)
    for place, (each, value) in enumerate(given.items()):
        if (each == "dtype") != isinstance(value, dtype):
            wanted = "must be a dtype" if each == "dtype" else "is not a dtype"
        elif "#" in parts[each] and _has_fraction(value):
            wanted = "must be whole numbers"
        else:
            continue
        return BindingError(f"`{each}` {wanted}, but got {format_value(value)}", None, each, place)
    raise AssertionError("a signature that fits is not refused")


def _bind_signature(
    signature: str, arguments: Sequence[object], named: Mapping[str, object]
) -> dict[str, object] | None:
    parameters = [part.strip() for part in signature.split(",")]
    names = [parameter.rstrip("#?") for parameter in parameters]
    if len(arguments) > len(names) or not set(named) <= set(names[len(arguments) :]):
        return None
    bound = dict(zip(names, arguments, strict=False)) | dict(named)
    missing = [
        n for n, p in zip(names, parameters, strict=True) if n not in bound and not p.endswith("?")
    ]
    # Dtypes and whole numbers are the kinds of arguments that are told apart by what they are.
    mixed = any(
        isinstance(value, dtype) != (n == "dtype")
        for n, value in bound.items()
        if n == "dtype" or isinstance(value, dtype)
    )
    whole = {n for n, p in zip(names, parameters, strict=True) if "#" in p}
    broken = any(_has_fraction(value) for n, value in bound.items() if n in whole)
    return None if missing or mixed or broken else bound


def _has_fraction(value: object) -> bool:
    """Whether a value is a float, or a sequence with one in it."""
    if isinstance(value, (list, tuple)):
        return any(map(_has_fraction, value))
    return isinstance(value, float)
