"""Package assembly: shared files built from the fragments of all declarations."""

from collections.abc import Iterable, Mapping, Sequence

from tripybuild.codegen.package.conftest import conftest_file
from tripybuild.codegen.package.foreign_names import foreign_names_file
from tripybuild.codegen.package.fragment import PackageFragment
from tripybuild.codegen.package.index import index_page
from tripybuild.codegen.package.package import front_door, submodules, tensor_file
from tripybuild.codegen.package.package_paths import BUILT_IN, DOCS, MODULE_DOCS, SUITES
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError


def assemble_package(
    parts: Sequence[PackageFragment], schemas: Mapping[str, str], package: str
) -> dict[str, str]:
    """All files of a package whose operators and modules give these parts, in their order."""
    own = [each for each in parts if each.files]
    if not own and package != BUILT_IN:
        message = f"nothing is declared that `{package}` could hold"
        hint = "a registry has a file for each operator and module; `tripybuild new op` begins one"
        raise DiagnosticError(Diagnostic("file-not-found", message, hint=hint))
    files: dict[str, str] = {}
    for each in own:
        files.update(each.files)
    files[f"{package}/__init__.py"] = front_door(package, own)
    files[f"{package}/others.py"] = foreign_names_file(own)
    files[f"{package}/py.typed"] = ""
    files[f"{SUITES}/conftest.py"] = conftest_file(package)
    if package == BUILT_IN:
        files |= {f"{package}/tensor.py": tensor_file(own), **submodules(package)}
    for folder in sorted(_folders(path for path in files if path.startswith(f"{package}/"))):
        files.setdefault(f"{folder}/__init__.py", "")
    modules = [each for each in own if each.is_module]
    files[f"{DOCS}/index.md"] = index_page("Operators", [e for e in own if not e.is_module])
    if modules:
        files[f"{MODULE_DOCS}/index.md"] = index_page("Modules", modules)
    return dict(sorted({**files, **schemas}.items()))


def _folders(files: Iterable[str]) -> set[str]:
    """Every folder between the package and its files: each is a package of its own."""
    found = set()
    for path in files:
        parts = path.split("/")[:-1]
        found |= {"/".join(parts[:end]) for end in range(1, len(parts) + 1)}
    return found
