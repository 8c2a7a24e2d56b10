"""Where our files are, beside the package or in a wheel inside of it, and what files hold."""

import os
from pathlib import Path

PACKAGE = Path(__file__).parent
CHECKOUT = PACKAGE.parent


COMPILED = "__pycache__"  # what Python keeps, which is nobody's source


def below(root: Path, ending: str = "") -> list[str]:
    """The files below a folder by their paths in it, in order; without what Python compiled."""
    found: list[str] = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != COMPILED]
        inside = Path(folder).relative_to(root).as_posix()
        before = "" if inside == "." else f"{inside}/"
        found += [f"{before}{name}" for name in names if name.endswith(ending)]
    return sorted(found)


def content(path: str) -> bytes | None:
    """What a file holds, or None where there is none. Thousands are read: no `Path`, no buffer."""
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - see above
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:  # which it is of a folder, in words that depend on the system
        if Path(path).is_file():
            raise
        return None


def registry() -> Path:
    """The built-in registry."""
    beside = CHECKOUT / "ops_registry"
    return beside if beside.is_dir() else PACKAGE / "data" / "ops_registry"


def schemas() -> Path:
    """The JSON schemas for editors."""
    beside = CHECKOUT / "generated" / "schemas"
    return beside if beside.is_dir() else PACKAGE / "data" / "schemas"
