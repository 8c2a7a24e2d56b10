"""Results of compiled functions: tensors, alone or nested in lists, tuples and dicts.

Their form is data: the name of an output, or a list of `tuple` and forms, or a list of `dict` and
pairs of keys and forms. So it can stand in an executable's manifest. Lists come back as tuples.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.frontend.checks.messages import format_value
from tripybuild.frontend.checks.python_numbers import is_data
from tripybuild.frontend.tensor import Tensor
from tripybuild.trace.values import Value

TUPLE, DICT = "tuple", "dict"
ONLY = "output"


def flatten_results(
    result: Any, place: Span, inputs: Iterable[str] = ()
) -> tuple[Any, dict[str, Value]]:
    """The form of what a function gave, and its tensors by name.

    They have the names that the function gave them, where all are different, or those of places;
    with a line behind those that inputs have.

    Raises:
        DiagnosticError: Something is no tensor, a key is no text, or there are no tensors.
    """
    found: dict[str, Value] = {}
    form = _form(result, ONLY, found, place)
    if not found:
        raise _type_error("the function returns nothing", place)
    own = {name: _own_name(value) or name for name, value in found.items()}
    if len({*own.values()}) < len(own):
        own = {name: name for name in own}
    own = dict(zip(own, _unique_names(own.values(), inputs), strict=True))
    return _rename(form, own), {own[name]: value for name, value in found.items()}


def _unique_names(names: Iterable[str], inputs: Iterable[str]) -> Iterator[str]:
    """Names of results that no input and no other result has."""
    known = {*inputs}
    for each in names:
        while each in known:
            each += "_"  # noqa: PLW2901 - until it is free
        known.add(each)
        yield each


def _own_name(value: Value) -> str | None:
    """The name that a program gave to a result; an input keeps its own."""
    name = value.name if value.producer is not None else None
    return name if name is not None and name.isidentifier() else None


def _rename(form: Any, names: Mapping[str, str]) -> Any:
    if isinstance(form, str):
        return names[form]
    kind, *inner = form
    if kind == DICT:
        return [DICT, *([key, _rename(each, names)] for key, each in inner)]
    return [TUPLE, *(_rename(each, names) for each in inner)]


def _form(result: Any, name: str, found: dict[str, Value], place: Span) -> Any:
    if isinstance(result, (tuple, list)):
        apart = "" if name == ONLY else "_"
        only = len(result) == 1 and name == ONLY
        names = [name if only else f"{name}{apart}{i}" for i in range(len(result))]
        forms = [_form(e, n, found, place) for n, e in zip(names, result, strict=True)]
        return [TUPLE, *forms]
    if isinstance(result, Mapping):
        if wrong := [key for key in result if not isinstance(key, str)]:
            raise _type_error(
                f"{_which(name)} has the key {wrong[0]!r}, which is not a string", place
            )
        return [DICT, *([k, _form(e, f"{name}_{k}", found, place)] for k, e in result.items())]
    if not isinstance(result, Tensor):
        hint = "make one of it: `tp.Tensor(...)`" if is_data(result) else None
        hint = "`return` what is to be computed" if result is None and name == ONLY else hint
        raise _type_error(
            f"{_which(name)} must be a tensor, but is {format_value(result)}", place, hint
        )
    if name in found:
        raise _type_error(f"two results would be called `{name}`", place)
    found[name] = result.value
    return name


def _which(name: str) -> str:
    path = name.removeprefix(ONLY).removeprefix("_")
    return f"result {path} of the function" if path else "the function's result"


def _type_error(message: str, place: Span, hint: str | None = None) -> DiagnosticError:
    return DiagnosticError(Diagnostic("wrong-type", message, place, hint=hint))


def unflatten_results(form: Any, tensors: Callable[[str], Tensor]) -> Any:
    """Put tensors in the places of their names."""
    if isinstance(form, str):
        return tensors(form)
    kind, *inner = form
    if kind == DICT:
        return {key: unflatten_results(each, tensors) for key, each in inner}
    return tuple(unflatten_results(each, tensors) for each in inner)
