"""Engine weights: files that the worker process maps, and their digest.

Both are found from the moment the graph is there, while the module is made of it: the compiler's
process measures the files of the model, in which stays what lies there as it is declared. What has
to be converted, and constants of the graph, go to files of their own.
"""

import json
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Self

import blake3

from tripybuild.artifact.array_bytes import ALIGNMENT, pack
from tripybuild.types.nonfinite import Nonfinite, Occurrences
from tripybuild.weights.safetensors import FileEntry, changed_error
from tripybuild.weights.source import WeightSource
from tripybuild.worker import compiler_process

CONVERTERS = 2  # threads: NumPy lets go of Python's lock while it converts
File = dict[str, Any]


@dataclass(frozen=True)
class WeightFiles:
    """Files with tensors, and a digest of names, types and bytes, which says nothing of paths.

    Args:
        files: The files; those of the user come first.
        digest: Of all of them.
        own: What was measured of each of the user's files.
        nonfinite: The weights with elements that are no finite numbers.
    """

    files: Sequence[File]
    digest: bytes
    own: Sequence[bytes] = ()
    nonfinite: Mapping[str, Nonfinite] = field(default_factory=dict)


class EngineWeights:
    """Weights that are being found and measured; the files are there until this is closed.

    Invariant: an engine is kept under the digest of what it was built of. Other processes may write
    to the user's files, so they are measured again when the engine is built (`verify`).
    """

    def __init__(
        self, target: str, read: WeightSource | None = None, names: Iterable[str] = ()
    ) -> None:
        self._target, self._read = target, read
        self._held = ExitStack()
        worker = self._held.enter_context(ThreadPoolExecutor(1))
        self._measured = worker.submit(self._measure, read, sorted(names))

    @property
    def mapped_files(self) -> tuple[str, ...]:
        """The user's files that the compiler's process maps."""
        found = self._measured.result()
        return tuple(str(each["path"]) for each in found.files[: len(found.own)])

    def with_arrays(self, arrays: Mapping[str, Any]) -> WeightFiles:
        """The weights, once they are measured, and with them constants that lie in memory."""
        others = self._write_arrays(iter(sorted(arrays.items())))
        found = self._measured.result()
        digest = blake3.blake3(
            found.digest + b"".join(d for d, _ in self._request_digests(others))
        ).digest()
        return replace(found, files=[*found.files, *others], digest=digest)

    def verify(self) -> None:
        """Measure again what the compiler's process has mapped.

        Raises:
            DiagnosticError: A file was changed meanwhile.
        """
        found = self._measured.result()
        if self._read is None or not found.own:
            return
        self._read.verify()
        own = found.files[: len(found.own)]
        now = [digest for digest, _ in self._request_digests(own)]
        for file, digest, before in zip(own, now, found.own, strict=True):
            if digest != before:
                raise changed_error(Path(file["path"]), self._read.span)

    def nonfinite(self) -> Mapping[str, Nonfinite]:
        """The weights with elements that are no finite numbers."""
        return self._measured.result().nonfinite

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def _measure(self, read: WeightSource | None, names: Sequence[str]) -> WeightFiles:
        if read is None or not names:
            return WeightFiles([], b"")
        places = read.file_entries(names)
        left = [name for name in names if not any(name in each for each in places.values())]
        files = [_file_entry(path, each) for path, each in places.items()]
        files += self._write_arrays(read_ahead(read, left))
        found = list(self._request_digests(files, scan=True))
        nonfinite = {name: each for _, suspects in found for name, each in suspects.items()}
        own = [digest for digest, _ in found[: len(places)]]
        return WeightFiles(files, b"".join(digest for digest, _ in found), own, nonfinite)

    def _request_digests(
        self, files: Iterable[File], *, scan: bool = False
    ) -> Iterator[tuple[bytes, dict[str, Nonfinite]]]:
        """Ask the compiler's process, which has nothing else to do yet."""
        session, options = compiler_process.session(self._target), {"suspects": scan}
        for each in files:
            path = str(each["path"])
            text = session.compile("weights", json.dumps(each).encode(), options, mapped=(path,))
            reply = json.loads(text)
            yield bytes.fromhex(reply["digest"]), _nonfinite(reply["nonfinite"])

    def _write_arrays(self, arrays: Iterator[tuple[str, Any]]) -> list[File]:
        """Write arrays into a file of their own, if there are any."""
        places: dict[str, FileEntry] = {}
        stream: Any = None
        for name, array in arrays:
            stream = stream or self._temporary()
            places[name] = _write_array(stream, array)
        if stream is None:
            return []
        stream.flush()
        return [_file_entry(Path(stream.name), places)]

    def _temporary(self) -> Any:
        return self._held.enter_context(tempfile.NamedTemporaryFile())


def read_ahead(read: WeightSource, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Read weights one by one, few of them before they are asked for: all need not fit.

    Those that are computed come first: what several of them read is computed once.
    """
    names = list(names)
    computed = set[str]()
    for name, array in read.compute(names):
        computed.add(name)
        yield name, array
    pending: deque[tuple[str, Future[Any]]] = deque()
    with ThreadPoolExecutor(CONVERTERS) as pool:
        for name in names:
            if name in computed:
                continue
            pending.append((name, pool.submit(lambda one: read([one])[one], name)))
            if len(pending) > CONVERTERS:
                first, found = pending.popleft()
                yield first, found.result()
        yield from ((name, found.result()) for name, found in pending)


def _write_array(stream: BinaryIO, array: Any) -> FileEntry:
    content = memoryview(pack(array).data)
    begin = stream.tell() + -stream.tell() % ALIGNMENT
    stream.seek(begin)
    stream.write(content)
    return FileEntry(array.dtype, tuple(array.shape), begin, begin + content.nbytes)


def _file_entry(path: Path, places: Mapping[str, FileEntry]) -> File:
    tensors = {name: _tensor_entry(place) for name, place in sorted(places.items())}
    return {"path": str(path.absolute()), "tensors": tensors}


def _tensor_entry(place: FileEntry) -> dict[str, Any]:
    size = {"begin": place.begin, "end": place.end}
    return {"dtype": str(place.dtype), "shape": list(place.shape), **size}


def _nonfinite(said: Mapping[str, Any]) -> dict[str, Nonfinite]:
    return {
        name: Nonfinite(**{kind: each and Occurrences(**each) for kind, each in kinds.items()})
        for name, kinds in said.items()
    }
