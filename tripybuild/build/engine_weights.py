"""The weights of an engine: files that the compiler's process can map, and a digest of the weights.

Both are found in a thread, from the moment the graph is there, while the module is made of it. What
lies in the file of the model as it is declared stays there; what has to be converted, and constants
of the graph, go to files of their own.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self

import blake3

from tripybuild.build.checkpoint import Checkpoint
from tripybuild.build.elements import ALIGNMENT, pack
from tripybuild.build.weights import Stored

CONVERTERS = 2  # threads: NumPy lets go of Python's lock while it converts
PIECE = 1 << 20
File = dict[str, Any]


@dataclass(frozen=True)
class Measured:
    """Files with tensors, and a digest of names, types and bytes, which says nothing of paths."""

    files: Sequence[File]
    digest: bytes


class Weights:
    """Weights that are being found and measured; the files are there until this is closed."""

    def __init__(self, checkpoint: Checkpoint | None = None, names: Iterable[str] = ()) -> None:
        self._held = ExitStack()
        worker = self._held.enter_context(ThreadPoolExecutor(1))
        self._measured = worker.submit(self._measure, checkpoint, sorted(names))

    def with_arrays(self, arrays: Mapping[str, Any]) -> Measured:
        """The weights, once they are measured, and with them constants that lie in memory."""
        others = self._stored(iter(sorted(arrays.items())))
        weights = self._measured.result()
        digest = blake3.blake3(weights.digest + others.digest).digest()
        return Measured([*weights.files, *others.files], digest)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def _measure(self, checkpoint: Checkpoint | None, names: Sequence[str]) -> Measured:
        if checkpoint is None or not names:
            return Measured([], b"")
        places = checkpoint.places(names)
        left = [name for name in names if name not in places]
        with ThreadPoolExecutor(CONVERTERS) as pool:
            converted = pool.map(lambda name: checkpoint([name])[name], left)
            others = self._stored(zip(left, converted, strict=True))
        if not places:
            return others
        file = _file(checkpoint.path, places)
        digest = blake3.blake3(others.digest + _digest(file)).digest()
        return Measured([file, *others.files], digest)

    def _stored(self, arrays: Iterator[tuple[str, Any]]) -> Measured:
        """Write arrays into a file of their own, and measure them on the way."""
        places: dict[str, Stored] = {}
        digest = blake3.blake3()
        stream: Any = None
        for name, array in arrays:
            stream = stream or self._temporary()
            places[name] = _written(stream, name, array, digest)
        if stream is None:
            return Measured([], digest.digest())
        stream.flush()
        return Measured([_file(Path(stream.name), places)], digest.digest())

    def _temporary(self) -> Any:
        return self._held.enter_context(tempfile.NamedTemporaryFile())


def _written(stream: BinaryIO, name: str, array: Any, digest: Any) -> Stored:
    content = memoryview(pack(array).data)
    begin = stream.tell() + -stream.tell() % ALIGNMENT
    stream.seek(begin)
    stream.write(content)
    place = Stored(array.dtype, tuple(array.shape), begin, begin + content.nbytes)
    digest.update(_head(name, _entry(place)))
    digest.update(content)
    return place


def _file(path: Path, places: Mapping[str, Stored]) -> File:
    tensors = {name: _entry(place) for name, place in sorted(places.items())}
    return {"path": str(path.absolute()), "tensors": tensors}


def _entry(place: Stored) -> dict[str, Any]:
    size = {"begin": place.begin, "end": place.end}
    return {"dtype": str(place.dtype), "shape": list(place.shape), **size}


def _head(name: str, entry: Mapping[str, Any]) -> bytes:
    head = json.dumps([name, entry["dtype"], entry["shape"]]).encode()
    return len(head).to_bytes(8, "little") + head


def _digest(file: File) -> bytes:
    """Measure tensors where they lie; one small space for all that is read stays in the cache."""
    digest, space = blake3.blake3(), memoryview(bytearray(PIECE))
    with Path(file["path"]).open("rb", buffering=0) as stream:
        for name, entry in file["tensors"].items():
            digest.update(_head(name, entry))
            stream.seek(entry["begin"])
            left = entry["end"] - entry["begin"]
            while left and (count := stream.readinto(space[: min(left, PIECE)])):
                digest.update(space[:count])
                left -= count
    return digest.digest()
