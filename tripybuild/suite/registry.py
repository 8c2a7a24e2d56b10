"""Which declarations a suite is about: the registry that it names, on top of the built-in one."""

from functools import cache
from pathlib import Path

from tripybuild import project
from tripybuild.diagnostics import DiagnosticError
from tripybuild.schema.load import Registry, load


@cache
def registry(*roots: Path) -> Registry:
    """The declarations below some folders.

    Raises:
        DiagnosticError: Where anything is wrong with them.
    """
    found, problems = load(roots)
    if problems:
        raise DiagnosticError(*problems)
    return found


def declared_in(source: str, suite: str) -> Registry:
    """The registry of the file `source`, searched for in the folders above the suite's own file."""
    return registry(*roots(source, suite))


def roots(source: str, suite: str) -> tuple[Path, ...]:
    """The folders of the built-in registry and, where it is another one, of the file's own."""
    name = source.partition("/")[0]
    own = next((p / name for p in Path(suite).resolve().parents if (p / source).is_file()), None)
    if own is None:
        message = f"{source}: not found in any folder above {suite}"
        raise FileNotFoundError(message)
    built_in = project.registry()
    return (own,) if own == built_in else (built_in, own)
