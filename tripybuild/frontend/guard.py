"""Public API guard: diagnostics for calls that Python cannot bind, and for missing names.

Generated functions are plain functions, whose arguments Python binds. Where it cannot, it says so
in words of its own and without a hint; the guard around a function says it as we do.
"""

import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any, NoReturn

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.frontend.binding import CallError, binding_errors
from tripybuild.frontend.checks.argument_error import caller_diagnostic
from tripybuild.frontend.checks.habits import dtype_method, habit, meant_name
from tripybuild.frontend.checks.messages import OTHER_DTYPES, PYTHON
from tripybuild.frontend.sizes import with_numbers, with_tensors
from tripybuild.frontend.tensor import PACKAGES, Tensor
from tripybuild.language.limits import LimitError
from tripybuild.process.memory import memory_error
from tripybuild.trace.generated_code import BUILT_IN
from tripybuild.trace.location import caller_location
from tripybuild.types.dtypes import dtype

_guarded: set[type] = set()
_shown: dict[Any, Any] = {}  # Python's record of what it showed: once for each line
DEEPEST = 70  # lists in lists: more than the dimensions of any array, with a few around them

# What stands before the name of a parameter that takes all the rest.
STARS: Mapping[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}
# Attributes that libraries look for, to learn what an object can do.
PROTOCOL = "__"


def guard_value(name: str, value: Any, package: str) -> Any:
    """A public name's value: of a function one that refuses calls in our words.

    Args:
        name: The name, for messages.
        value: What it stands for. The constructors of classes and the methods of Tensor are changed
            in their place.
        package: The package whose door it is; what others made is left as it is.
    """
    PACKAGES.add(package)
    if isinstance(value, dtype):
        dtype.__call__ = _refuse_dtype_call  # type: ignore[method-assign,assignment]
    if isinstance(value, FunctionType):
        _guard_class(Tensor._kind)  # noqa: SLF001 - of this layer; what a function gives has methods
        return _guard(name, value, operator=value.__module__.startswith(f"{package}."))
    if isinstance(value, type) and not issubclass(value, BaseException):
        _guard_class(value)
    return value


def _guard_class(value: type) -> None:
    for kind in set(value.__mro__) - _guarded:
        _guarded.add(kind)
        if kind.__module__.partition(".")[0] in PACKAGES:
            _guard_methods(kind)


def _guard_methods(kind: type) -> None:
    """Guard the constructor and the methods that a user calls by name, once."""
    for name, function in vars(kind).copy().items():
        called = name == "__init__" or not name.startswith("_")
        if called and isinstance(function, FunctionType) and not hasattr(function, "__wrapped__"):
            spelling = kind.__name__ if name == "__init__" else f"{kind.__name__}.{name}"
            setattr(kind, name, _guard(spelling, function))


def _guard(
    name: str, function: Callable[..., Any], *, operator: bool = False
) -> Callable[..., Any]:
    """A function that refuses calls in our words.

    An operator takes known sizes as numbers, and as tensors where it refuses numbers.
    """

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except DiagnosticError:
            sizes = _with_sizes((*arguments, *named.values())) if operator else None
            if sizes is None:
                raise
        except TypeError as error:
            sizes, trace = None, error.__traceback__
            if trace is None or trace.tb_next is not None:
                raise
        except LimitError as error:
            raise CallError(caller_diagnostic("snippet-limit", f"`{name}`: {error}")) from None
        except RecursionError:
            if not _exceeds_depth((arguments, named)):
                raise
            message = f"an argument of `{name}` is nested more than {DEEPEST} deep, or holds itself"
            raise CallError(caller_diagnostic("wrong-value", message)) from None
        except MemoryError as error:
            message = f"`{name}` needs more memory than available"
            raise memory_error(message, (), error, caller_location(PACKAGES).span()) from error
        if sizes is not None:
            by_name = dict(zip(named, sizes[len(arguments) :], strict=True))
            return function(*sizes[: len(arguments)], **by_name)
        raise CallError(*_problems(_display_name(name, arguments), function, arguments, named))

    return call


def _with_sizes(arguments: Sequence[Any]) -> list[Any] | None:
    """Arguments with known sizes in their other form; None if there are none."""
    return with_tensors(arguments) or with_numbers(arguments)


def _refuse_dtype_call(kind: dtype, *_: Any, **__: Any) -> Any:
    """Refuse `tp.float32(2.5)`, which is how NumPy makes a number of a dtype."""
    message = f"`{kind}` is a dtype, which makes no tensor"
    hint = f"give it to a tensor, `tp.Tensor(2.5, dtype=tp.{kind})`, or cast one to it"
    raise CallError(caller_diagnostic("wrong-type", message, hint))


def _exceeds_depth(value: Any) -> bool:
    """Whether sequences and mappings are nested deeper than any argument is, or hold themselves."""
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        inside = [
            each
            for held in level
            for each in (held.values() if isinstance(held, dict) else held)
            if isinstance(each, (list, tuple, dict))
        ]
        level, depth = list({id(each): each for each in inside}.values()), depth + 1
    return bool(level)


def refuse_call(
    name: str,
    function: Callable[..., Any],
    arguments: Sequence[Any],
    named: Mapping[str, Any],
    error: TypeError,
) -> None:
    """Say of a user's function that ours calls why Python could not call it.

    Args:
        name: What the user called.
        function: What that calls.
        arguments: What it was given by place.
        named: What it was given by name.
        error: What Python raised; if in the function itself, nothing is said.

    Raises:
        CallError: The function has other parameters.
    """
    trace = error.__traceback__
    if trace is None or trace.tb_next is not None or isinstance(error, DiagnosticError):
        return
    refuse_arguments(name, function, arguments, named)


def refuse_arguments(
    name: str, function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]
) -> None:
    """Refuse arguments that a function does not take, under the name that the user calls.

    Raises:
        CallError: The function has other parameters.
    """
    if problems := list(_problems(name, function, arguments, named)):
        raise CallError(*problems) from None


def _display_name(name: str, arguments: Sequence[Any]) -> str:
    """What a user calls a function; a constructor is inherited by classes with other names."""
    kind = type(arguments[0]) if arguments else object
    ours = [each for each in kind.__mro__ if each.__module__.partition(".")[0] in PACKAGES]
    inherited = any(each.__name__ == name for each in ours)
    return ours[0].__name__ if inherited else name


def _problems(
    name: str,
    function: Callable[..., Any],
    arguments: Sequence[Any],
    named: Mapping[str, Any],
) -> Iterator[Diagnostic]:
    """What Python found wrong with a call, each with its place."""
    location = caller_location(PACKAGES)
    parameters = dict(inspect.signature(function).parameters)
    method = next(iter(parameters), "") == "self"
    if method:
        del parameters["self"]
        arguments = arguments[1:]
    signature = inspect.Signature(list(parameters.values()))
    note = f"can be called as {name}{_signature_text(signature)}"
    places = [p.name for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    lists = [p.name for p in parameters.values() if "Sequence" in str(p.annotation)]
    for each in binding_errors(
        name, arguments, named, places, _missing_parameters(signature), lists
    ):
        span = each.span(location) or location.span()
        yield Diagnostic(f"{name}/signature", each.message, span, notes=(note,), hint=each.hint)


def _missing_parameters(signature: inspect.Signature) -> list[str]:
    return [
        each.name
        for each in signature.parameters.values()
        if each.default is not each.empty or each.kind is each.KEYWORD_ONLY
    ]


def _signature_text(signature: inspect.Signature) -> str:
    """`(input, dim=..., *, name=..., **fields)`."""
    shown, starred = [], False
    for each in signature.parameters.values():
        if each.kind is each.KEYWORD_ONLY and not starred:
            shown.append("*")
            starred = True
        shown.append(
            STARS.get(each.kind, "") + each.name + ("" if each.default is each.empty else "=...")
        )
    return f"({', '.join(shown)})"


class MissingNameError(DiagnosticError, AttributeError):
    """Missing name; the suggestion is computed on first access.

    Libraries ask objects for many names to learn what they can do.
    """

    def __init__(self, message: str, hint: Callable[[], str | None]) -> None:
        super().__init__()
        self._message, self._hint, self._place = message, hint, caller_location(PACKAGES)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong, at the user's line."""
        span = self._place.span()
        return (Diagnostic("unknown-name", self._message, span, hint=self._hint()),)

    @diagnostics.setter
    def diagnostics(self, _: object) -> None:
        """The base sets it to what it is given, which is nothing yet."""


def refuse_calls(module: str) -> None:
    """Let a module say what is meant where a program calls it."""
    sys.modules[module].__class__ = _NotCallable


class _NotCallable(ModuleType):
    """A module that other libraries have a function of the same name for."""

    def __call__(self, *arguments: object, **named: object) -> NoReturn:
        """Say what is called instead.

        Raises:
            CallError: Always.
        """
        del arguments, named
        package, _, name = self.__name__.rpartition(".")
        near = suggest(name, import_module(package).__all__)
        hint = f"did you mean `{PYTHON}.{near}`?" if near else None
        message = f"`{package}.{name}` is a module, and no function"
        raise CallError(caller_diagnostic("unknown-name", message, hint))


def missing_name(package: str, name: str, known: Iterable[str]) -> AttributeError:
    """The error of a package's name that is not there, with the one that is nearest.

    Args:
        package: The package.
        name: What was asked for.
        known: What is there.
    """

    def hint() -> str | None:
        names, here = import_module(f"{package}.others").NAMES, list(known)
        if found := habit("package", name, here):
            return found
        near = OTHER_DTYPES.get(name) or meant_name(name, here, names.get)
        return f"did you mean `{near}`?" if near else None

    message = f"module `{package}` has no attribute `{name}`"
    return AttributeError(message) if name.startswith(PROTOCOL) else MissingNameError(message, hint)


def missing_member(
    name: str, members: Callable[[], Iterable[str]], package: str, home: str
) -> MissingNameError:
    """The error of a tensor's attribute that is not there: what is no method may be a function.

    Args:
        name: What was asked for.
        members: What a tensor has.
        package: The package of the functions, as programs call it.
        home: Its own name.
    """

    def hint() -> str | None:
        known = set(import_module(home).__all__)
        own = {each for each in members() if not each.startswith("_")}
        if found := habit("tensor", name, known):
            return found
        if kind := dtype_method(name):
            return f"write `tensor.cast({package}.{kind})`"
        names = import_module(f"{home}.others").NAMES
        if name in known:
            return f"call the function: `{package}.{name}(...)`"
        near = meant_name(name, own | known, names.get)
        if near is None:
            return None
        if name.rstrip("_") != name and near not in own:
            return f"a tensor never changes: `tensor = {package}.{near}(tensor, ...)`"
        if near in own:
            return f"did you mean `{near}`?"
        if near == names.get(name.lower()):
            return f"call the function: `{package}.{near}(...)`"
        return f"did you mean `{package}.{near}(...)`?"

    return MissingNameError(f"a tensor has no attribute `{name}`", hint)


def missing_module_member(
    module: object, name: str, children: Iterable[str] = ()
) -> MissingNameError:
    """The error of a module's attribute that is not there.

    Args:
        module: The module; its class and its attributes say what there is.
        name: What was asked for.
        children: The names of modules that are no attributes of it.
    """
    members = {*vars(module), *dir(type(module)), *children}

    def hint() -> str | None:
        if found := habit("module", name, import_module(BUILT_IN).__all__):
            return found
        near = suggest(name, [each for each in members if not each.startswith("_")])
        return f"did you mean `{near}`?" if near else None

    return MissingNameError(f"`{type(module).__name__}` has no attribute `{name}`", hint)


def warn_deprecation(name: str, instead: str, package: str) -> None:
    """Warn about a call, at the user's line or step.

    Args:
        name: The operator.
        instead: What its declaration says about it.
        package: The generated package that holds the operator.
    """
    span = caller_location({*PACKAGES, package}).span()
    message = f"`{name}` is deprecated: {instead}"
    # Python hides DeprecationWarning from users; what they call themselves concerns them.
    warnings.warn_explicit(message, FutureWarning, span.path, span.line, registry=_shown)
