"""Registry folders: the built-in one first, then those added behind it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process import paths

if TYPE_CHECKING:
    from tripybuild.schema.load import Registry


def builtin_root() -> Path:
    """Give the folder of the operators that tripybuild brings along."""
    return paths.registry()


def display_path(path: Path) -> Path:
    """Give a path as a person would type it here."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def roots(added: Sequence[Path]) -> list[Path]:
    """Give the folders of all registries, the built-in one first."""
    return [display_path(builtin_root()), *added]


def contents(path: Path) -> bytes:
    """Give what a file holds: nothing where it cannot be read, which the schema says in words."""
    try:
        return paths.read_or_none(str(path)) or b""
    except OSError:
        return b""


def load(added: Sequence[Path]) -> "Registry":
    """Read the built-in registry and those added behind it.

    Raises:
        DiagnosticError: With all that is wrong in any of them.
    """
    from tripybuild.schema.load import load as read  # noqa: PLC0415

    registry, found = read(roots(added))
    if found:
        raise DiagnosticError(*found)
    return registry
