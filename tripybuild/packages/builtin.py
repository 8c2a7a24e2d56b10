"""The declarations of the package that tripybuild brings along, read one by one."""

from importlib import import_module
from pathlib import Path, PurePath

from tripybuild.codegen.package.fragment import BUILT_IN
from tripybuild.process.gc_pause import pause_gc
from tripybuild.process.paths import list_files
from tripybuild.schema.load import Registry
from tripybuild.schema.registry_folders import roots
from tripybuild.schema.registry_index import RegistryIndex, open_registry


def builtin_registry() -> Registry:
    """The declarations that tripybuild brings along, each of which is read when it is needed.

    Where they are not those that the package was generated from, all are read and checked.

    Raises:
        DiagnosticError: Something in them is wrong.
    """
    table = import_module(f"{BUILT_IN}.declarations")
    index = RegistryIndex(table.DIGESTS, table.OPERATORS, table.MODULES)
    (root,) = roots([])
    with pause_gc():
        return open_registry(root, index)


def generated_files(declaration: str) -> list[str]:
    """The files that were generated from one declaration: those that are called as it is.

    Args:
        declaration: Its path, such as `ops_registry/nn/softmax.yaml`. An installed package has
            neither pages nor suites.
    """
    place = PurePath(declaration).relative_to(PurePath(declaration).parts[0]).with_suffix("")
    table = import_module(f"{BUILT_IN}.declarations").__file__
    assert table is not None
    folder = Path(table).parent
    files = list_files(folder, f"{place.name}.py")
    found = [f"{BUILT_IN}/{each}" for each in files if each.endswith(f"/{place.as_posix()}.py")]
    beside = [f"docs/operators/{place.name}.md", f"suites/{place.parent}/test_{place.name}.py"]
    return sorted(found + [each for each in beside if (folder.parent / each).is_file()])
