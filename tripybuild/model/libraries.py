"""Operator libraries of models: packages that are generated from registries."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.trace.generated_code import BUILT_IN


@dataclass(frozen=True, slots=True)
class OperatorLibrary:
    """A package that is generated from registries.

    Only what the registries declare is within the reach of a model: what else the package has is
    for programs.
    """

    package: str

    def operator(self, name: str) -> Any:
        """The function of an operator, or None."""
        return self._declared(name, "ops")

    def module(self, name: str) -> Any:
        """The class of a module, or None."""
        return self._declared(name, "modules")

    def names(self) -> Iterator[str]:
        """The names of all operators and modules, none of which is imported."""
        own = f"{self.package}.ops.", f"{self.package}.modules."
        yield from (name for name, place in self._places.items() if place.startswith(own))

    def translate(self, name: str) -> str | None:
        """The operator that another system calls so, by the aliases of the registry."""
        names: Mapping[str, str] = import_module(f"{self.package}.others").NAMES
        return names.get(name.lower())

    @property
    def _places(self) -> Mapping[str, str]:
        places: Mapping[str, str] = vars(import_module(self.package))["_PLACES"]
        return places

    def _declared(self, name: str, folder: str) -> Any:
        is_own = self._places.get(name, "").startswith(f"{self.package}.{folder}.")
        return getattr(import_module(self.package), name) if is_own else None


# Gives the homes of registries, by their folders: those that a specification names, and others.
Homes = Callable[[Sequence[Path]], Sequence[OperatorLibrary]]


def no_libraries(roots: Sequence[Path]) -> Sequence[OperatorLibrary]:
    """No libraries: models built without a package generator cannot have registries.

    Raises:
        DiagnosticError: The model names a registry.
    """
    if roots:
        message = f"the operators of `{roots[0].name}` are not to be had here"
        hint = "`tripybuild.compile` and the command line make them callable"
        raise DiagnosticError(Diagnostic("missing-package", message, hint=hint))
    return ()


def builtin_library() -> OperatorLibrary:
    """What tripybuild brings along."""
    return OperatorLibrary(BUILT_IN)
