"""Operator libraries for models: registries generated as `gen` does it, imported from memory.

Invariant: what is imported is what `package_files` gives for the files as they are, after all of
its checks and those of generated code. It is never on disk, where another process could write it.
A registry that has changed becomes another package; what was recorded with the first one keeps its
own.
"""

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from importlib import import_module
from importlib.abc import ExecutionLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from threading import Lock

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.model.libraries import Homes, OperatorLibrary
from tripybuild.process import package_catalog
from tripybuild.process.law_lines import note_registry
from tripybuild.targets.table import is_mlir

_PREFIX = "registry_"
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
    return [OperatorLibrary(package(roots))]


class _Loader(ExecutionLoader):
    """Loads the modules of one generated package."""

    def __init__(self, name: str, files: Mapping[str, str]) -> None:
        self.name = name
        self.files = files

    def path(self, module: str) -> str | None:
        """The generated file of a module."""
        place = module.replace(".", "/")
        paths = (f"{place}/__init__.py", f"{place}.py")
        return next((path for path in paths if path in self.files), None)

    def is_package(self, fullname: str) -> bool:
        """Whether a module holds others."""
        return self.get_filename(fullname).endswith("/__init__.py>")

    def get_filename(self, fullname: str) -> str:
        """What frames say of a module, in the angle brackets of what is no file."""
        path = self.path(fullname)
        if path is None:
            message = f"no module named {fullname!r}"
            raise ImportError(message, name=fullname)
        return f"<{self.name}: {path}>"

    def get_source(self, fullname: str) -> str:
        """The text of a module."""
        path = self.path(fullname)
        if path is None:
            message = f"no module named {fullname!r}"
            raise ImportError(message, name=fullname)
        return self.files[path]


class _Finder(MetaPathFinder):
    """Finds the modules of the packages that are in memory."""

    def __init__(self) -> None:
        self.loaders: dict[str, _Loader] = {}

    def find_spec(
        self, fullname: str, _path: object = None, _target: object = None
    ) -> ModuleSpec | None:
        """The module of one of the packages, or None."""
        loader = self.loaders.get(fullname.partition(".")[0])
        if loader is None or loader.path(fullname) is None:
            return None
        return spec_from_loader(fullname, loader)


_FINDER = _Finder()
_LOCK = Lock()


def package(roots: Sequence[Path]) -> str:
    """The name of the module that the operators of registries are in, imported.

    Raises:
        DiagnosticError: With all that is wrong in any of the registries.
    """
    from tripybuild.codegen.conformance import find_violations  # noqa: PLC0415 - most models need no generator

    with _LOCK:
        real = list(dict.fromkeys(root.resolve() for root in roots))
        for root in real:
            note_registry(root)
        named = sha256("\0".join(map(str, real)).encode()).hexdigest()
        module, files = _free_name(f"{_PREFIX}{named[:16]}", real)
        if module not in _FINDER.loaders:
            if found := find_violations(files, module):
                raise DiagnosticError(*found)
            _FINDER.loaders[module] = _Loader(real[-1].name, files)
            if _FINDER not in sys.meta_path:
                sys.meta_path.append(_FINDER)
            import_module(module)
            package_catalog.rename(module, "+".join(root.name for root in real))
        return module


def _free_name(name: str, roots: Sequence[Path]) -> tuple[str, Mapping[str, str]]:
    """The name under which these files are loaded, or can be, and the files."""
    from tripybuild.codegen.incremental.package_files import package_files  # noqa: PLC0415 - as above

    tried = 0
    while True:
        module = f"{name}_{tried}" if tried else name
        every = package_files(roots, module).files
        files = {path: text for path, text in every.items() if path.startswith(f"{module}/")}
        loaded = _FINDER.loaders.get(module)
        if loaded is None or loaded.files == files:
            return module, files
        tried += 1
