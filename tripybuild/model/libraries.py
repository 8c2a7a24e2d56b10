"""Operator libraries of models: a registry and the package generated from it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

from tripybuild.documents.document import read
from tripybuild.errors.budget import Budget
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.errors.limits import within_budget
from tripybuild.process.paths import registry
from tripybuild.schema.files import ModuleFile
from tripybuild.schema.model.extends import Declared, extend
from tripybuild.schema.model.model import load_module
from tripybuild.schema.operator.part import Part
from tripybuild.schema.registry_folders import shown_path
from tripybuild.schema.validate import validate
from tripybuild.trace.generated_code import BUILT_IN


@dataclass(frozen=True, slots=True)
class OperatorLibrary:
    """A registry with its generated package.

    Only its declarations are within the reach of a model: what else the package has is for
    programs. Modules are read below `modules`, a folder of the registry; those that they extend may
    be those of `others`, too.
    """

    package: str
    root: Path
    modules: Path
    others: tuple["OperatorLibrary", ...] = ()

    def operator(self, name: str) -> Any:
        """The function of an operator, or None."""
        package = import_module(self.package)
        found = getattr(package, name, None) if name in package.__all__ else None
        own = f"{self.package}.ops."
        is_declared = isinstance(found, FunctionType) and found.__module__.startswith(own)
        return found if is_declared else None

    def module(self, name: str) -> Part | None:
        """A module, by its name, or None.

        Raises:
            DiagnosticError: With all that is wrong with its file.
        """
        return _load(self, name)

    def names(self) -> Iterator[str]:
        """The names of all operators and modules."""
        yield from filter(str.islower, import_module(self.package).__all__)  # others are classes
        found = (_read(self.root, path) for path in sorted(self.modules.rglob("*.yaml")))
        yield from (file.module for _, file in filter(None, found))

    def file(self, name: str) -> Declared | None:
        """The file of a module, by the module's name, or None."""
        for stem in dict.fromkeys((name, name.lower())):
            for path in sorted(self.modules.rglob(f"{stem}.yaml")):
                found = _read(self.root, path)
                if found is not None and found[1].module == name:
                    return found
        return None


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
    return OperatorLibrary(BUILT_IN, registry(), registry() / "modules")


@cache
def _load(library: OperatorLibrary, name: str) -> Part | None:
    """A module with what it inherits, read once, whichever file names it first."""
    with within_budget(budget=Budget()):
        found = library.file(name)
        if found is None:
            return None
        homes = (library, *library.others, builtin_library())
        bases: dict[str, Declared] = {}
        wanted = found[1].extends
        while wanted is not None and wanted not in bases:
            base = next(filter(None, (home.file(wanted) for home in homes)), None)
            if base is None:
                break
            bases[wanted], wanted = base, base[1].extends
        document, file, problems = extend(*found, bases)
        if not problems:
            part, problems = load_module(document, file)
        if problems:
            raise DiagnosticError(*problems)
        return part


@cache
def _read(root: Path, path: Path) -> Declared | None:
    """The keys of a module's file; None, where it declares something else."""
    with within_budget(budget=Budget()):
        document, found = read(path)
        if document is None or found:
            raise DiagnosticError(*found)
        if not isinstance(document.data, dict) or "module" not in document.data:
            return None
        document = replace(document, path=shown_path(root, path))  # as operators are shown
        file, found = validate(document, ModuleFile)
        if file is None or found:
            raise DiagnosticError(*found)
        return document, file
