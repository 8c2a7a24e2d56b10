"""The weights of an engine: files that the compiler's process can map, and a digest of the weights.

Both are found from the moment the graph is there, while the module is made of it: the compiler's
process measures the file of the model, in which stays what lies there as it is declared. What has
to be converted, and constants of the graph, go to files of their own.
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

from tripybuild.build import checkpoint
from tripybuild.build.elements import ALIGNMENT, pack
from tripybuild.build.weights import Stored
from tripybuild.targets import child

CONVERTERS = 2  # threads: NumPy lets go of Python's lock while it converts
File = dict[str, Any]


@dataclass(frozen=True)
class Measured:
    """Files with tensors, and a digest of names, types and bytes, which says nothing of paths."""

    files: Sequence[File]
    digest: bytes


class Weights:
    """Weights that are being found and measured; the files are there until this is closed."""

    def __init__(
        self, target: str, read: checkpoint.Weights | None = None, names: Iterable[str] = ()
    ) -> None:
        self._target = target
        self._held = ExitStack()
        worker = self._held.enter_context(ThreadPoolExecutor(1))
        self._measured = worker.submit(self._measure, read, sorted(names))

    def with_arrays(self, arrays: Mapping[str, Any]) -> Measured:
        """The weights, once they are measured, and with them constants that lie in memory."""
        others = self._stored(iter(sorted(arrays.items())))
        measured = self._measured.result()
        digest = blake3.blake3(measured.digest + self._digest(others)).digest()
        return Measured([*measured.files, *others], digest)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def _measure(self, read: checkpoint.Weights | None, names: Sequence[str]) -> Measured:
        if read is None or not names:
            return Measured([], b"")
        places = read.places(names)
        left = [name for name in names if name not in places]
        files = [_file(read.path, places)] if places else []
        with ThreadPoolExecutor(CONVERTERS) as pool:
            converted = pool.map(lambda name: read([name])[name], left)
            files += self._stored(zip(left, converted, strict=True))
        return Measured(files, self._digest(files))

    def _digest(self, files: Sequence[File]) -> bytes:
        """Ask the compiler's process, which has nothing else to do yet."""
        session, asked = child.session(self._target), (json.dumps(each).encode() for each in files)
        return b"".join([session.compile("weights", each) for each in asked])

    def _stored(self, arrays: Iterator[tuple[str, Any]]) -> list[File]:
        """Write arrays into a file of their own, if there are any."""
        places: dict[str, Stored] = {}
        stream: Any = None
        for name, array in arrays:
            stream = stream or self._temporary()
            places[name] = _written(stream, array)
        if stream is None:
            return []
        stream.flush()
        return [_file(Path(stream.name), places)]

    def _temporary(self) -> Any:
        return self._held.enter_context(tempfile.NamedTemporaryFile())


def _written(stream: BinaryIO, array: Any) -> Stored:
    content = memoryview(pack(array).data)
    begin = stream.tell() + -stream.tell() % ALIGNMENT
    stream.seek(begin)
    stream.write(content)
    return Stored(array.dtype, tuple(array.shape), begin, begin + content.nbytes)


def _file(path: Path, places: Mapping[str, Stored]) -> File:
    tensors = {name: _entry(place) for name, place in sorted(places.items())}
    return {"path": str(path.absolute()), "tensors": tensors}


def _entry(place: Stored) -> dict[str, Any]:
    size = {"begin": place.begin, "end": place.end}
    return {"dtype": str(place.dtype), "shape": list(place.shape), **size}
