"""Provenance of an executable: the files of its specification, in the manifest."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from tripybuild.model.graph_builder import ModelGraph, Origin


def provenance_of(built: ModelGraph, path: Path) -> dict[str, Any]:
    """The files that a model was built from, by their names and digests."""
    folder = Path(built.document.path).parent
    used = [
        {"path": Path(each.path).relative_to(folder).as_posix(), "sha256": _digest(each)}
        for each in built.used
    ]
    return {"specification": path.name, "sha256": _digest(built.document), "used": used}


def _digest(document: Origin) -> str:
    return sha256(document.text.encode()).hexdigest()
