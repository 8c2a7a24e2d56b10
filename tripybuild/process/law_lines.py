"""Law lines: the declaration's line, looked up when an error is shown.

Invariant: a name of a file that comes from an executable leads to no file but a declaration below
the registries that this process knows, or below the current folder; and to no more than a number.
"""

import re
from pathlib import Path, PurePosixPath

from tripybuild.process import paths

_registries: list[Path] = []


def note_registry(root: Path) -> None:
    """Remember where the declarations of a registry are, for the lines of its laws."""
    if root not in _registries:
        _registries.append(root)


def law_location(source: str, law: str, line: int = 0) -> str:
    """Give the place of a law as a person reads it, such as `ops_registry/nn/softmax.yaml:12`.

    Args:
        source: The file that declares it, as it is shown.
        law: Its name.
        line: The line, where it is known.
    """
    line = line or line_of(source, law)
    return f"{source}:{line}" if line else source


def line_of(source: str, law: str) -> int:
    """Give the line of a law, or 0 where its file cannot be found."""
    path = PurePosixPath(source)
    if path.suffix != ".yaml" or path.is_absolute() or ".." in path.parts:
        return 0
    first, _, rest = source.partition("/")
    roots = [root for root in (*reversed(_registries), paths.registry()) if root.name == first]
    found = (_line(str(place), law) for place in [*(root / rest for root in roots), Path(source)])
    return next((line for line in found if line), 0)


def _line(path: str, law: str) -> int:
    """The line on which a declaration has the law among its `requires:`."""
    try:
        content = paths.read_or_none(path) or b""
    except (OSError, ValueError):
        return 0
    key = re.compile(rf"(?:^\s+|[{{,]\s*)['\"]?{re.escape(law)}['\"]?\s*:(?:\s|$)")
    inside = False
    for number, line in enumerate(content.decode("utf-8", errors="replace").splitlines(), 1):
        if line[:1] not in ("", " ", "#"):
            inside = line.startswith("requires:")
        if inside and key.search(line):
            return number
    return 0
