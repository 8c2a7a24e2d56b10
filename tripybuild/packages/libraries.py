"""Operator libraries for models, from the registries that a model declares."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.model.libraries import Homes, OperatorLibrary
from tripybuild.packages.loader import package
from tripybuild.targets.mlir_file import is_mlir

Registries = Path | str | Sequence[Path | str] | None


def model_libraries(added: Registries, spec: Path) -> Homes:
    """What gives the homes of a model's own registries, and of those that are added to them.

    Args:
        added: The folders that a caller names.
        spec: The model's file, which names others.

    Raises:
        DiagnosticError: A module of MLIR has no operators of registries.
    """
    roots = folder_list(added)
    if roots and is_mlir(spec):
        message = f"`{spec}` is a module of MLIR, and calls no operators of a registry"
        hint = "`--registry` is for specs"
        raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint))
    return partial(_make_libraries, roots)


def folder_list(given: Registries) -> list[Path]:
    """One folder, or several, as a list of paths."""
    listed = [given] if isinstance(given, (str, Path)) else given or []
    return [Path(each) for each in listed]


def register_packages(given: Registries) -> None:
    """Let executables find the operators of registries when they are compiled for more sizes.

    Raises:
        DiagnosticError: With all that is wrong in any of the registries.
    """
    if roots := folder_list(given):
        package(roots)


def _make_libraries(added: Sequence[Path], own: Sequence[Path]) -> Sequence[OperatorLibrary]:
    roots = [*own, *added]
    if not roots:
        return ()
    module = package(roots)
    libraries = tuple(OperatorLibrary(module, root, root) for root in roots)
    return [replace(each, others=libraries) for each in libraries]
