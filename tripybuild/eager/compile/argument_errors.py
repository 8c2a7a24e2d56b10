"""Argument errors of `tp.compile`: constants that were most likely meant as `InputInfo`.

Whatever is no info is a constant of what is compiled, and most values may be one. What can only be
meant as an info is refused where it is given; the rest is told of when the function fails with it.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any

from tripybuild.eager.compile.infos import Bounds, DimensionInputInfo, InputInfo, NamedDimension
from tripybuild.eager.excepthook import strip_internal_frames
from tripybuild.eager.module.module import Module
from tripybuild.eager.tensor.tensor import Tensor
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Related, Span
from tripybuild.errors.user_frames import is_library
from tripybuild.frontend.binding import binding_errors
from tripybuild.frontend.checks.argument_error import argument_error
from tripybuild.frontend.checks.call_site import call_at
from tripybuild.frontend.checks.messages import PYTHON, format_value
from tripybuild.frontend.tensor import PACKAGES
from tripybuild.trace.location import Location, PythonLocation
from tripybuild.types.dtypes import dtype

INFO = "arguments of calls are compiled as `tp.InputInfo(shape, dtype)`; all else is a constant"
Path = tuple[int | str, ...]
_HINTS: Mapping[type, str] = {
    NamedDimension: "it is a size in the shape of an info: `tp.InputInfo([...], dtype)`",
    Bounds: "a size argument is `tp.DimensionInputInfo((min, opt, max))`",
}
_INFOS = (InputInfo, DimensionInputInfo)
_KINDS = (*_INFOS, NamedDimension, Bounds, Tensor, Module)
_FAILURES = (TypeError, AttributeError, IndexError, KeyError, ValueError)


def check_arguments(func: object, args: object, kwargs: object, place: Span) -> None:
    """Refuse what no function can be compiled with.

    Args:
        func: What is to be compiled; these parameters have the names of `tp.compile`'s.
        args: What to call it with.
        kwargs: What to call it with by name.
        place: The place of the call, where that is no line of a program.

    Raises:
        DiagnosticError: At the argument.
    """
    refuse = partial(argument_error, "compile", instead=place)
    if isinstance(func, type) or not callable(func):
        raise refuse("func", "a function or a module", func, _instance(func))
    if not isinstance(args, (list, tuple)):
        raise refuse("args", "a list of arguments", args, "put it into a list: `args=[...]`")
    if not isinstance(kwargs, Mapping):
        hint = "put them into a dictionary: `kwargs={...}`"
        raise refuse("kwargs", "a dictionary of arguments by name", kwargs, hint)
    for name, given in (("args", args), ("kwargs", kwargs)):
        for path, each in _leaves(given):
            if (meant := _HINTS.get(type(each)) or _instance(each)) is not None:
                raise refuse(name, "an info or a constant", each, meant, path=path)


def _instance(given: object) -> str | None:
    """The hint for a class in the place of an object of it."""
    if not isinstance(given, type) or not issubclass(given, _KINDS):
        return None
    ours = given.__module__.partition(".")[0] in PACKAGES
    return f"make one: `{f'{PYTHON}.' if ours else ''}{given.__name__}(...)`"


def _leaves(given: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """What is in lists and dictionaries, each with its place."""
    if isinstance(given, (list, tuple, Mapping)):
        items = given.items() if isinstance(given, Mapping) else enumerate(given)
        for key, each in items:
            yield from _leaves(each, (*path, key))
    else:
        yield path, given


def binding_problems(
    name: str, signature: inspect.Signature, args: Sequence[Any], kwargs: Any
) -> list[str]:
    """Why a function cannot be called with some arguments, in sentences."""
    kinds = inspect.Parameter
    several = {kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD, kinds.POSITIONAL_ONLY}
    parameters = signature.parameters.values()
    if any(each.kind in several for each in parameters):
        return []
    by_place = [each.name for each in parameters if each.kind is kinds.POSITIONAL_OR_KEYWORD]
    optional = [p.name for p in parameters if p.default is not p.empty or p.name not in by_place]
    return [each.message for each in binding_errors(name, args, kwargs, by_place, optional)]


@contextmanager
def explain_constants(
    func: Callable[..., Any], arguments: Mapping[str, Any], kwargs: Mapping[str, Any], at: Location
) -> Iterator[None]:
    """Say of a function that fails which of its arguments are constants.

    What a command compiles is called by no line of a program, and its arguments have no places.

    Args:
        func: What is called inside.
        arguments: What it is compiled with, by the names of its parameters.
        kwargs: What of that was given by name.
        at: The place of the call.

    Raises:
        DiagnosticError: It failed with an error of Python's, and nothing that it takes is an info.
    """
    if isinstance(at, PythonLocation) and is_library(at.code.co_filename):
        yield
        return
    try:
        yield
    except DiagnosticError as error:
        constants = _constants(arguments, kwargs, at)
        error.diagnostics = tuple(
            [_relate_constant(each, arguments, constants) for each in error.diagnostics]
        )
        raise
    except _FAILURES as error:
        constants = _constants(arguments, kwargs, at)
        if not constants or len(constants) < len(arguments):
            raise
        raise DiagnosticError(_call_failure(func, error, [*constants.values()], at)) from error


def _constants(
    arguments: Mapping[str, Any], kwargs: Mapping[str, Any], at: Location
) -> dict[str, Related]:
    """The arguments that calls could give as well, each with its place."""
    return {
        name: Related(
            f"`{name}` is a constant: {format_value(each)}", _place(name, arguments, kwargs, at)
        )
        for name, each in arguments.items()
        if _is_data(each)
    }


def _is_data(given: object) -> bool:
    """Whether an argument is what a call could give as well: a number, an array, lists of these."""
    leaves = [each for _, each in _leaves(given)]
    return all(isinstance(each, dtype) or not _is_info_or_callable(each) for each in leaves)


def _is_info_or_callable(given: object) -> bool:
    """Whether a function calls what it is given, or is given an info."""
    return isinstance(given, _INFOS) or callable(given)


def _place(
    name: str, arguments: Mapping[str, Any], kwargs: Mapping[str, Any], at: Location
) -> Span:
    """Where what a parameter gets is written."""
    call = call_at(at)
    if call is None:
        return at.span()
    path = ("kwargs", name) if name in kwargs else ("args", list(arguments).index(name))
    return call.argument(path[0], path[1:]) or at.span()


def _relate_constant(
    diagnostic: Diagnostic, arguments: Mapping[str, Any], constants: Mapping[str, Related]
) -> Diagnostic:
    """Found values, with the argument that is the constant's origin."""
    for name, related in constants.items():
        if diagnostic.label == f"found {format_value(arguments[name])}":
            found = (*diagnostic.related, related)
            return replace(diagnostic, hint=INFO, related=found)
    return diagnostic


def _call_failure(
    func: Callable[..., Any], error: Exception, constants: Sequence[Related], at: Location
) -> Diagnostic:
    """An error of Python's in a function that is compiled for nothing but constants."""
    name = getattr(func, "__name__", type(func).__name__)
    message = f"`{name}` fails with {type(error).__name__}: {error}"
    raised = _innermost(strip_internal_frames(error.__traceback__))
    related = (*constants, *([] if raised is None else [Related("it is raised here", raised)]))
    return Diagnostic("wrong-type", message, at.span(), hint=INFO, related=related)


def _innermost(trace: TracebackType | None) -> Span | None:
    """The user's line in which an error was raised."""
    if trace is None:
        return None
    code = trace.tb_frame.f_code
    own = None if is_library(code.co_filename) else PythonLocation(code, trace.tb_lasti).span()
    return _innermost(trace.tb_next) or own
