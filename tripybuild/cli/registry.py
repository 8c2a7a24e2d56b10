"""Which registries a command works on: the built-in one, and those added behind it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tripybuild.diagnostics import DiagnosticError

if TYPE_CHECKING:
    from tripybuild.schema.load import Registry

PACKAGE = Path(__file__).resolve().parents[1]
FOLDER = "ops_registry"

Registries = Annotated[
    list[Path] | None,
    typer.Option("--registry", metavar="DIR", help="Another registry; may be given repeatedly."),
]


def checkout() -> Path | None:
    """Give the folder of the source tree that this package runs from, if it does."""
    root = PACKAGE.parent
    return root if (root / FOLDER).is_dir() and (root / "pyproject.toml").is_file() else None


def built_in() -> Path:
    """Give the folder of the operators that tripybuild brings along."""
    root = checkout()
    return (PACKAGE / "data" if root is None else root) / FOLDER


def schema_file(kind: str) -> Path:
    """Give the JSON schema of a kind of file, `operator` or `model`."""
    root = checkout()
    folder = PACKAGE / "data" if root is None else root / "generated"
    return folder / "schemas" / f"{kind}.json"


def shown(path: Path) -> Path:
    """Give a path as a person would type it here."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def load(added: Sequence[Path]) -> "Registry":
    """Read the built-in registry and those added behind it.

    Raises:
        DiagnosticError: With all that is wrong in any of them.
    """
    from tripybuild.schema.load import load as read  # noqa: PLC0415

    registry, found = read([shown(built_in()), *added])
    if found:
        raise DiagnosticError(*found)
    return registry
