"""Paths: the project's files in a checkout or a wheel, the user's cache, reading of files."""

import os
import stat
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
CHECKOUT = PACKAGE.parent


COMPILED = "__pycache__"  # Python's bytecode cache, which is not source
CACHE_VARIABLE = "TRIPYBUILD_CACHE_DIR"
NOWHERE = Path(os.devnull, "no home")  # where nothing can be, since no folder lies below a file


def list_files(root: Path, ending: str = "") -> list[str]:
    """The files below a folder by their paths in it, in order; without what Python compiled."""
    found: list[str] = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != COMPILED]
        inside = Path(folder).relative_to(root).as_posix()
        before = "" if inside == "." else f"{inside}/"
        found += [f"{before}{name}" for name in names if name.endswith(ending)]
    return sorted(found)


def read_or_none(path: str) -> bytes | None:
    """What a file holds, or None where there is none. Thousands are read: no `Path`, no buffer.

    A pipe or a device is not a file: opening one may block for ever.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - see above
            return None
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - see above
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None


def registry() -> Path:
    """The built-in registry."""
    beside = CHECKOUT / "ops_registry"
    return beside if beside.is_dir() else PACKAGE / "data" / "ops_registry"


def in_installed_package() -> bool:
    """Whether the built-in registry is part of an installed package, not of a source tree."""
    return registry().is_relative_to(PACKAGE)


def display_path(path: Path) -> Path:
    """A path as a person would type it here."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def cache_folder() -> Path:
    """The user's folder of what was compiled, or the one that the environment names.

    It is `NOWHERE` for a user without a home, as in a container without an entry for the user. It
    is created with permissions for the user alone.
    """
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    import platformdirs  # noqa: PLC0415 - most importers of this module need no cache

    try:
        found = platformdirs.user_cache_path("tripybuild")
    except RuntimeError:
        return NOWHERE
    return found if found.is_absolute() else NOWHERE


def schemas() -> Path:
    """The JSON schemas for editors."""
    beside = CHECKOUT / "generated" / "schemas"
    return beside if beside.is_dir() else PACKAGE / "data" / "schemas"
