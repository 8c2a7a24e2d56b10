"""Engines of TensorRT: a graph becomes a module of the dialect, and the child's library builds it.

Engines are content-addressed over the module, the weights, the GPUs they are for, the library and
our own version. Weights never go through text: the child maps the file that they lie in.
"""

import json
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import blake3

from tripybuild.build import weights as weights_file
from tripybuild.build.cache import Cache, Made, key
from tripybuild.build.checkpoint import Checkpoint
from tripybuild.build.manifest import Member
from tripybuild.build.targets import Target
from tripybuild.diagnostics import Diagnostic, DiagnosticError
from tripybuild.targets import child
from tripybuild.version import VERSION

MODULE, PLAN, RECORD = "tensorrt/module.mlir", "tensorrt/engine.plan", "tensorrt/record.json"
DISTRIBUTIONS = {"tensorrt-rtx": "tensorrt_rtx", "tensorrt": "tensorrt"}
File = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """What an engine is built from.

    Args:
        text: The module.
        checkpoint: Where its weights are.
        weights: The names of the weights among the module's resources.
        arrays: The other resources.
        path: The file that the text is shown as, in places that it has itself.
        folder: The folder of the user's files, in which the module's locations are.
    """

    text: str
    checkpoint: Checkpoint | None = None
    weights: Sequence[str] = ()
    arrays: Mapping[str, Any] = field(default_factory=dict)
    path: str = "-"
    folder: Path | None = None


@dataclass(frozen=True)
class Engine:
    """A built engine and the record of what is in it."""

    made: Made
    record: Mapping[str, Any]

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What was wrong with the cache."""
        return self.made.warnings


def build_engine(
    source: Source,
    target: Target,
    pipeline: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> Engine:
    """Build an engine, or find the one that was built of the same.

    Raises:
        DiagnosticError: The library is missing, refuses the module, crashes, hangs or runs out of
            memory.
    """
    with ExitStack() as held:
        files, digest = _weights(source, held)
        request = {
            **(options or {}),
            "path": source.path,
            "pipeline": list(pipeline),
            "compute_capabilities": list(target.capabilities),
            "weights": files,
        }
        asked = {name: value for name, value in request.items() if name != "weights"}
        parts: dict[str, str | bytes] = {
            "target": str(target),
            "module": source.text,
            "weights": digest.result(),
            "request": json.dumps(asked, sort_keys=True),
            "library": library_version(target.name),
            "tripybuild": VERSION,
        }
        records: list[Any] = []

        def write(path: Path, start: int) -> Member:
            place = {"plan": str(path), "start": start}
            reply = _ask(source, target, {**request, **place}, timeout)
            record = json.loads(reply)
            plan = record.pop("plan")
            records.append(record)
            return Member(plan["size"], plan["digest"], plan["crc32"])

        made = Cache().get_or_write(key({**parts, "what": "plan"}), write)
    # The record is small, and made with the engine: where one is there and the other is not, it is
    # said once more by the library.
    return Engine(made, _record(parts, records, source, target, request, timeout))


def _record(
    parts: Mapping[str, str | bytes],
    made: Sequence[Any],
    source: Source,
    target: Target,
    request: Mapping[str, Any],
    timeout: float | None,
) -> Mapping[str, Any]:
    place = key({**parts, "what": "record"})
    if made:
        Cache().put(place, json.dumps(made[0], sort_keys=True).encode())
        return made[0]  # type: ignore[no-any-return]
    found = Cache().get(place)
    if found is not None:
        return json.loads(found)  # type: ignore[no-any-return]
    with ExitStack() as held:
        files, _ = _weights(source, held)
        plan = held.enter_context(tempfile.NamedTemporaryFile())
        reply = _ask(source, target, {**request, "weights": files, "plan": plan.name}, timeout)
    record = json.loads(reply)
    record.pop("plan")
    return record  # type: ignore[no-any-return]


def _ask(
    source: Source, target: Target, request: Mapping[str, Any], timeout: float | None
) -> bytes:
    try:
        session = child.session(target.name)
        return session.compile(target.name, source.text, request, timeout=timeout)
    except DiagnosticError as error:
        raise DiagnosticError(
            *(placed(each, source.folder) for each in error.diagnostics)
        ) from error


def placed(diagnostic: Diagnostic, folder: Path | None) -> Diagnostic:
    """A diagnostic whose place is written as the user named the folder."""
    span = diagnostic.span
    if folder is None or span is None or Path(span.path).is_absolute():
        return diagnostic
    path = (folder / span.path).as_posix()
    return replace(diagnostic, span=replace(span, path=path))


def _weights(source: Source, held: ExitStack) -> tuple[list[File], Future[bytes]]:
    """Where the resources lie, and a digest of their bytes, which is computed meanwhile."""
    files, arrays = [], dict(source.arrays)
    if source.checkpoint is not None and source.weights:
        checkpoint = source.checkpoint
        places = checkpoint.places(source.weights)
        arrays |= checkpoint([name for name in source.weights if name not in places])
        if places:
            files.append(_file(checkpoint.path, places))
    if arrays:
        stored = held.enter_context(
            tempfile.NamedTemporaryFile(suffix=".safetensors")  # noqa: SIM115 - held it is
        )
        stored.write(weights_file.encode(arrays))
        stored.flush()
        path = Path(stored.name)
        files.append(_file(path, weights_file.read_places(path)))
    worker = held.enter_context(ThreadPoolExecutor(1))
    return files, worker.submit(_digest, files)


def _file(path: Path, places: Mapping[str, weights_file.Stored]) -> File:
    tensors = {
        name: {
            "dtype": str(place.dtype),
            "shape": list(place.shape),
            "begin": place.begin,
            "end": place.end,
        }
        for name, place in sorted(places.items())
    }
    return {"path": str(path.absolute()), "tensors": tensors}


def _digest(files: Sequence[File]) -> bytes:
    """A digest of names, types and bytes; not of the paths, which say nothing of the content."""
    digest = blake3.blake3()
    for file in files:
        with Path(file["path"]).open("rb") as stream:
            for name, place in file["tensors"].items():
                head = json.dumps([name, place["dtype"], place["shape"]])
                digest.update(len(head).to_bytes(8, "little") + head.encode())
                stream.seek(place["begin"])
                digest.update(stream.read(place["end"] - place["begin"]))
    return digest.digest()


@cache
def library_version(target: str) -> str:
    """The version of a target's library, without loading it."""
    try:
        return version(DISTRIBUTIONS[target])
    except (KeyError, PackageNotFoundError):
        return "none"
