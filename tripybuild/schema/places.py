"""Where the files of a registry are, and what they are called."""

from pathlib import Path

from tripybuild.project import below

TARGETS = "targets.yaml"  # what is true of targets for all operators; a registry has one


def sources(root: Path) -> dict[str, Path]:
    """The files of a registry by their shown paths, in the order in which they are read."""
    return {f"{root.name}/{path}": root / path for path in below(root, ".yaml")}


def shown_path(root: Path, path: Path) -> str:
    """A file of a registry as it is shown to people, wherever the registry is."""
    return f"{root.name}/{path.relative_to(root).as_posix()}"
