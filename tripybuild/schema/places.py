"""Where the files of a registry are, and what they are called."""

from pathlib import Path

TARGETS = "targets.yaml"  # what is true of targets for all operators; a registry has one


def sources(root: Path) -> list[Path]:
    """The files of a registry, in the order in which they are read."""
    return sorted(root.rglob("*.yaml"))


def shown_path(root: Path, path: Path) -> str:
    """A file of a registry as it is shown to people, wherever the registry is."""
    return f"{root.name}/{path.relative_to(root).as_posix()}"
