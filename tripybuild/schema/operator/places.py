"""Registry layout: paths and names of declaration files."""

import os
from pathlib import Path

from tripybuild.process.paths import list_files

TARGETS = "targets.yaml"  # what is true of targets for all operators; a registry has one


def root_name(root: Path) -> str:
    """What the folder of a registry is called, also where it is given as `.` or `..`."""
    return Path(os.path.abspath(root)).name  # noqa: PTH100 - links keep their names


def sources(root: Path) -> dict[str, Path]:
    """The files of a registry by their shown paths, in the order in which they are read."""
    name = root_name(root)
    return {f"{name}/{path}": root / path for path in list_files(root, ".yaml")}


def shown_path(root: Path, path: Path) -> str:
    """A file of a registry as it is shown to people, wherever the registry is."""
    return f"{root_name(root)}/{path.relative_to(root).as_posix()}"
