"""Missing names: hints for attributes that a package does not have."""

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.frontend.binding import CallError
from tripybuild.frontend.checks.argument_error import caller_diagnostic
from tripybuild.frontend.checks.messages import OTHER_DTYPES, PYTHON
from tripybuild.frontend.tensor import PACKAGES
from tripybuild.trace.location import caller_location

# Attributes that libraries look for, to learn what an object can do.
PROTOCOL = "__"
# What other libraries call what is made by hand here.
OTHERS = {
    **OTHER_DTYPES,
    **dict.fromkeys(("array", "asarray", "as_tensor", "from_numpy", "from_dlpack"), "Tensor"),
}
# What other libraries' tensors have, and what does it here.
ELSEWHERE = {
    **dict.fromkeys(("T", "mT", "t", "swapaxes"), "{package}.transpose(tensor, 0, 1)"),
    **dict.fromkeys(("astype", "to", "type", "float", "half", "int", "long"), "tensor.cast(dtype)"),
    **dict.fromkeys(("cpu", "cuda"), "{package}.copy(tensor, device)"),
    **dict.fromkeys(("dim", "ndim"), "tensor.rank"),
    "item": "float(tensor)",
    "numpy": "numpy.asarray(tensor)",
    "size": "tensor.shape",
    "view": "tensor.reshape(shape)",
}


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
        names = import_module(f"{package}.others").NAMES
        near = OTHERS.get(name) or names.get(name.lower()) or suggest(name, known)
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
        other = import_module(f"{home}.others").NAMES.get(name)
        if name in ELSEWHERE:
            return f"write `{ELSEWHERE[name].format(package=package)}`"
        if name in known or other is not None:
            return f"call the function: `{package}.{other or name}(...)`"
        if near := suggest(name, [each for each in members() if not each.startswith("_")]):
            return f"did you mean `{near}`?"
        near = suggest(name, known)
        return f"did you mean `{package}.{near}(...)`?" if near else None

    return MissingNameError(f"a tensor has no attribute `{name}`", hint)
