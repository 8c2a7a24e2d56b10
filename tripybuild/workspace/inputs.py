"""Inputs of jobs: the files that a spec reads, by content.

A small file is read each time. The digest of a large one, such as weights, is remembered with the
state of the file: its inode, size, and the times of its content and of its entry, of which no
program can set the last. Where a file was written to just before it was read, its state may be that
of two contents, and nothing is remembered.
"""

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.config import FILE_NAME
from tripybuild.process import paths
from tripybuild.process.hashing import file_digest
from tripybuild.workspace.jobs import JobFile

SMALL = 1 << 16  # bytes of a file that is read each time
SETTLED = 2_000_000_000  # nanoseconds: file systems count in steps of up to two seconds
WEIGHT_SUFFIXES = (".safetensors", ".json")


@dataclass(frozen=True, slots=True)
class SpecChoice:
    """A spec with what a build puts in the place of its own; all paths below the workspace.

    Args:
        spec: The path of the spec.
        weights: A file or folder.
        config: A file of JSON.
        registries: Folders that declare operators.
    """

    spec: str
    weights: str | None = None
    config: str | None = None
    registries: tuple[str, ...] = ()


class InputFiles:
    """The files of a workspace, each looked at once.

    Args:
        root: The workspace's folder.
        memory: What `remembered` gave before.
    """

    def __init__(self, root: Path, memory: dict[str, Any]) -> None:
        self.root = root
        self.changed = False
        self._digests: dict[str, list[Any]] = _mapping(memory.get("digests"))
        self._reads: dict[str, dict[str, Any]] = _mapping(memory.get("reads"))
        self._seen: dict[str, JobFile | None] = {}

    def remembered(self) -> dict[str, Any]:
        """What the next build can use, as JSON can say it."""
        return {"digests": self._digests, "reads": self._reads}

    def look(self, path: str) -> JobFile | None:
        """A file below the workspace's folder, or None where there is none that can be read."""
        if path not in self._seen:
            self._seen[path] = self._look(path)
        return self._seen[path]

    def forget(self, path: str) -> None:
        """Look again at a file that was written."""
        self._seen.pop(path, None)

    def read_by(self, choice: SpecChoice) -> list[JobFile]:
        """The files that a spec reads, each with its digest; one that is not there has none."""
        name = "\0".join([choice.spec, choice.weights or "", choice.config or ""])
        known = self._reads.get(name)
        if known is None or not self._holds(known):
            found = _SpecReads(self.root)
            found.add(choice)
            known = {
                "decides": {each: self._digest(each) for each in sorted(found.decides)},
                "folders": sorted(found.folders),
                "weights": sorted(found.weights),
            }
            if found.is_whole:
                self._reads[name] = known
                self.changed = True
        names = {*known["decides"], *known["weights"]}
        for folder in (*known["folders"], *choice.registries):
            names.update(list_folder(self.root, folder))
        return [self.look(each) or JobFile(each, "", 0) for each in sorted(names)]

    def _holds(self, known: Any) -> bool:
        """Whether what decided which files are read is as it was."""
        decides = known.get("decides") if isinstance(known, dict) else None
        if not isinstance(decides, dict) or not {"folders", "weights"} <= known.keys():
            return False
        lists = known["folders"], known["weights"]
        if not all(isinstance(e, list) and all(isinstance(n, str) for n in e) for e in lists):
            return False
        return all(self._digest(path) == digest for path, digest in decides.items())

    def _digest(self, path: str) -> str:
        found = self.look(path)
        return "" if found is None else found.digest

    def _look(self, path: str) -> JobFile | None:
        place = self.root / path
        try:
            status = place.stat()
            if not stat.S_ISREG(status.st_mode):
                return None
            if status.st_size < SMALL:
                content = place.read_bytes()
                return JobFile(path, sha256(content).hexdigest(), len(content))
            now = time.time_ns()
            state = [status.st_dev, status.st_ino, status.st_size]
            state += [status.st_mtime_ns, status.st_ctime_ns]
            known = self._digests.get(path)
            if isinstance(known, list) and known[:-1] == state:
                return JobFile(path, str(known[-1]), status.st_size)
            measured = file_digest(place)
        except (OSError, ValueError):
            return None
        if now - max(status.st_mtime_ns, status.st_ctime_ns) > SETTLED:
            self._digests[path] = [*state, measured.digest]
            self.changed = True
        return JobFile(path, measured.digest, measured.size)


def _mapping(found: object) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


@dataclass
class _SpecReads:
    """The files that a spec reads: those that decide which others it reads, and weights.

    A file that is wrong ends the search; the job then says what is wrong with it, and the next
    build searches again.
    """

    root: Path
    decides: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    weights: set[str] = field(default_factory=set)
    is_whole: bool = False

    def add(self, choice: SpecChoice) -> None:
        from tripybuild.schema.model.includes import load_model  # noqa: PLC0415 - if it is changed

        self.decides.add(choice.spec)
        try:
            model, _ = load_model(self.root / choice.spec)
        except DiagnosticError:
            return
        if model is None:
            return
        self.is_whole = True
        folder = Path(choice.spec).parent
        self.decides.update(self._below(each.document.path) for each in model.files)
        self.folders.update(self._below(each) for each in model.registries)
        if choice.config is not None:
            self.decides.add(choice.config)
        elif isinstance(model.config, str):
            self.decides.add((folder / model.config).as_posix())
        if choice.weights is not None:
            self._add_given(choice.weights)
        elif model.weights is not None:
            self._add_own(folder, model.weights)

    def _add_given(self, name: str) -> None:
        """Weights that a build names: a file, an index of shards, or a folder with either."""
        place = self.root / name
        self.decides.add((Path(name) / FILE_NAME).as_posix())
        if place.is_dir():
            self.folders.add(name)
        else:
            self._add_shards(partial(_open_given, place), name)

    def _add_own(self, folder: Path, entry: Any) -> None:
        """Weights that the spec itself names."""
        from tripybuild.errors.diagnostics import Span  # noqa: PLC0415 - as below
        from tripybuild.weights.files import open_checkpoint  # noqa: PLC0415 - if it is changed

        named = [entry.file] if isinstance(entry.file, str) else entry.file
        span = Span("", 1, 1, 1, 1)
        if entry.package is not None:
            self._add_shards(partial(open_checkpoint, entry, self.root / folder, span))
            return
        for each in named:
            name = (folder / each).as_posix()
            one = entry.model_copy(update={"file": each})
            self._add_shards(partial(open_checkpoint, one, self.root / folder, span), name)

    def _add_shards(self, opened: Callable[[], Any], name: str | None = None) -> None:
        if name is not None:
            is_index = name.endswith(".json")
            (self.decides if is_index else self.weights).add(name)
        try:
            shards = opened().shards
        except (DiagnosticError, OSError):
            return
        self.weights.update(self._below(each.path) for each in shards)

    def _below(self, path: str | Path) -> str:
        """A path below the workspace's folder; that of an installed package stays as it is."""
        root = os.path.abspath(self.root)  # noqa: PTH100 - links keep their names
        whole = os.path.abspath(path)  # noqa: PTH100
        relative = os.path.relpath(whole, root)
        return whole if relative.startswith("..") else Path(relative).as_posix()


def _open_given(place: Path) -> Any:
    from tripybuild.weights.files import open_path  # noqa: PLC0415 - if it is changed

    return open_path(place)


def list_folder(root: Path, name: str) -> Iterator[str]:
    """The files of a registry, or of a folder of weights, by their paths below the workspace."""
    base = root / name
    for each in paths.list_files(base):
        if each.endswith((".yaml", *WEIGHT_SUFFIXES)):
            yield (Path(name) / each).as_posix()


def registry_digest(files: Iterable[tuple[str, bytes]]) -> str:
    """The digest of declarations, by their paths."""
    digest = sha256()
    for path, content in files:
        digest.update(sha256(path.encode()).digest() + sha256(content).digest())
    return digest.hexdigest()


def built_in_digest() -> str:
    """The digest of the built-in registry where it can change, which is in a source tree."""
    if paths.in_installed_package():
        return ""
    root = paths.registry()
    listed = paths.list_files(root, ".yaml")
    return registry_digest((each, (root / each).read_bytes()) for each in listed)
