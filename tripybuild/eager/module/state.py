"""State loading: tensors are checked against the parameters that they replace."""

from collections.abc import Iterator, Mapping

from tripybuild.eager.module.members import ModuleMember
from tripybuild.eager.module.placeholders import fits
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span, pair_names
from tripybuild.frontend.checks.call_site import call_at
from tripybuild.frontend.checks.messages import format_value
from tripybuild.frontend.checks.python_numbers import is_data
from tripybuild.frontend.tensor import PACKAGES, Tensor
from tripybuild.trace.location import caller_location

MATRIX = 2  # dimensions
MOST = 12  # problems of one kind that are spelled out


def check_replacement(name: str, before: Tensor, after: object) -> Iterator[Diagnostic]:
    """What is wrong with a new tensor for a parameter: it has the dtype and shape of the old one.

    Args:
        name: The parameter, for messages.
        before: What is there.
        after: What is to be there.
    """
    if not isinstance(after, Tensor):
        message = f"the parameter `{name}` is a tensor, but this is {format_value(after)}"
        hint = "make one of it: `tp.Tensor(...)`" if is_data(after) else None
        yield Diagnostic("wrong-type", message, _place(name), hint=hint)
    elif not fits(before, after):
        code = "weight-dtype" if before.dtype is not after.dtype else "weight-shape"
        message = f"the parameter `{name}` is {before.type}, but this is {after.type}"
        hint = None
        if code == "weight-dtype":
            hint = f"cast it: `tp.cast(..., tp.{before.dtype})`"
        elif before.type.rank == MATRIX and before.type.shape == after.type.shape[::-1]:
            hint = "turn it: `tp.transpose(..., 0, 1)`"
        yield Diagnostic(code, message, _place(name), hint=hint)


def _place(name: str) -> Span:
    """Source location of a named tensor, or of the call that passes it."""
    place = caller_location(PACKAGES)
    call = call_at(place)
    return (call and call.argument("state_dict", (name,))) or place.span()


def load(
    state: Mapping[str, ModuleMember], given: Mapping[str, Tensor], *, strict: bool
) -> tuple[set[str], set[str]]:
    """Put tensors in the place of parameters.

    Args:
        state: Where each parameter is, by its path.
        given: The tensors by their paths.
        strict: Whether all parameters must be there, and nothing else.

    Returns:
        The paths that are missing, and those that no parameter has.
    """
    missing, left = set(state) - set(given), set(given) - set(state)
    found = [
        problem
        for path, member in state.items()
        if path in given
        for problem in check_replacement(path, member.value, given[path])
    ]
    if strict and (missing or left):
        span = caller_location(PACKAGES).span()
        absent = [path for path in state if path in missing]
        extra = [path for path in given if path in left]
        meant = _match_paths(absent, extra)
        found += _path_diagnostics(
            absent, "weight-missing", "the parameter `{}` is missing", meant, span
        )
        meant = {other: path for path, other in meant.items()}
        found += _path_diagnostics(
            extra, "weight-unused", "there is no parameter `{}`", meant, span
        )
    if found:
        raise DiagnosticError(*found)
    for path, member in state.items():
        if path in given:
            member.holder[member.key] = given[path]
    return missing, left


def _match_paths(absent: list[str], extra: list[str]) -> dict[str, str]:
    """Which of the paths that are shown was meant by which: each by one, and the nearest first."""
    meant = pair_names(absent[:MOST], extra)
    rest = [path for path in absent if path not in meant]
    left = [path for path in extra if path not in meant.values()]
    return meant | {path: other for other, path in pair_names(left[:MOST], rest).items()}


def _path_diagnostics(
    paths: list[str], code: str, message: str, meant: Mapping[str, str], span: Span
) -> Iterator[Diagnostic]:
    """One diagnostic for each path, but for those of a long list."""
    for path in paths[:MOST]:
        near = meant.get(path)
        hint = f"did you mean `{near}`?" if near else None
        yield Diagnostic(code, message.format(path), span, hint=hint)
    if len(paths) > MOST:
        rest = f"{message.format(paths[MOST])}, and {len(paths) - MOST - 1} more"
        yield Diagnostic(code, rest, span)
