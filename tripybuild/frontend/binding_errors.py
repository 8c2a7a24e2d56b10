"""Binding errors: why call arguments do not fit a function's parameters."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tripybuild.errors.diagnostics import DiagnosticError, Span, suggest
from tripybuild.frontend.checks.call_site import argument_span, keyword_span
from tripybuild.frontend.checks.messages import format_value
from tripybuild.trace.location import Location

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
        spread = rest and all(isinstance(each, int) for each in rest)
        hint = f"put them into a list: `{format_value(rest)}`" if spread else None
        yield BindingError(message, hint, place=len(parameters))
    if missing:
        listed = " and ".join(f"`{each}`" for each in missing)
        yield BindingError(f"`{name}` is not given {listed}")
