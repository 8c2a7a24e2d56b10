"""Registry folders: the built-in one first, then those added; paths and names of their files."""

import codecs
import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from tripybuild.process import paths

TARGETS = "targets.yaml"  # what is true of targets for all operators; a registry has one


def roots(added: Sequence[Path]) -> list[Path]:
    """The folders of all registries, the built-in one first."""
    return [paths.display_path(paths.registry()), *added]


def root_name(root: Path) -> str:
    """What the folder of a registry is called, also where it is given as `.` or `..`."""
    return Path(os.path.abspath(root)).name  # noqa: PTH100 - links keep their names


def sources(root: Path) -> dict[str, Path]:
    """The files of a registry by their shown paths, in the order in which they are read."""
    name = root_name(root)
    return {f"{name}/{path}": root / path for path in paths.list_files(root, ".yaml")}


def contents(path: Path) -> bytes:
    """What a file holds: nothing where it cannot be read, which the reader makes a diagnostic."""
    try:
        return paths.read_or_none(str(path)) or b""
    except OSError:
        return b""


def content_digest(content: bytes) -> str:
    """The digest of a file, which does not tell whether it begins with a byte order mark."""
    return sha256(content.removeprefix(codecs.BOM_UTF8)).hexdigest()
