"""Safetensors reader: the header is fully validated before any allocation.

The header is read here, not by the format's own library, so that the names, dtypes and shapes of
a huge file cost nothing, and so that dtypes are known that NumPy lacks. Contents are read into
memory, at addresses that the CPU runtime can use as they are.
"""

import contextlib
import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self

import numpy as np
from blake3 import blake3

from tripybuild.artifact.array_bytes import (
    ALIGNMENT,
    BITS,
    DTYPES,
    INT4,
    Array,
    DType,
    Octets,
    aligned_buffer,
    dtype_name,
    pack,
    packed_size,
    unpack,
)
from tripybuild.artifact.file_errors import unreadable_error
from tripybuild.documents.json_reader import parse_json
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span, suggest
from tripybuild.errors.limits import within_budget

Index = dict[str, tuple[DType, tuple[int, ...]]]

START = 8  # bytes that hold the header's length
LONGEST_HEADER = 100_000_000  # the format's own limit
LARGEST = 1 << 62
SHARED = 1 << 12  # bytes of a tensor that is worth a look for another one that is equal
INT4_NOTE = "int4"  # the format lacks it: such tensors are I8, and named in the metadata


class FileState(NamedTuple):
    """Identity of a file's content: inode, length, modification time."""

    device: int
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """The state that the system tells of."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def changed_error(path: Path, span: Span | None = None) -> DiagnosticError:
    """Error for a file that was modified after it was checked against the model."""
    message = f"the weights in `{path}` changed while the model was compiled"
    hint = "compile again when nothing writes to the file"
    return DiagnosticError(Diagnostic("weights-changed", message, span, hint=hint))


class MalformedError(Exception):
    """The file breaks the format; the text says how."""


@dataclass(frozen=True, slots=True)
class _TensorHeader:
    name: str
    spelled: str
    dtype: DType
    shape: tuple[int, ...]
    begin: int
    end: int


def read_index(path: Path) -> Index:
    """Return the dtype and shape of each tensor of a file, reading its header only.

    Raises:
        DiagnosticError: There is no such file, or it is malformed.
    """
    with _report_errors(path), path.open("rb") as file:
        tensors, _ = _read_header(file)
    return {name: (tensor.dtype, tensor.shape) for name, tensor in tensors.items()}


@dataclass(frozen=True, slots=True)
class FileEntry:
    """Where a tensor lies in its file: the first byte, and the first one behind it."""

    dtype: DType
    shape: tuple[int, ...]
    begin: int
    end: int


def file_state(path: Path) -> FileState:
    """Return the state of the file that is there now.

    Raises:
        DiagnosticError: There is no such file.
    """
    with _report_errors(path):
        return FileState.of(path.stat())


def read_entries(path: Path, state: FileState | None = None) -> dict[str, FileEntry]:
    """Return where each tensor of a file lies, reading its header only.

    Raises:
        DiagnosticError: There is no such file, it is malformed, or it is no longer in this state.
    """
    with _report_errors(path), path.open("rb") as file, _guard_file_state(path, file, state):
        tensors, start = _read_header(file)
    return {
        n: FileEntry(t.dtype, t.shape, start + t.begin, start + t.end) for n, t in tensors.items()
    }


def read(
    path: Path, names: Iterable[str] | None = None, state: FileState | None = None
) -> dict[str, Array]:
    """Read tensors of a file; all of them where no names are given.

    Raises:
        DiagnosticError: There is no such file, it is malformed, it lacks one of the tensors, or
            it is not in this state before and after.
    """
    with _report_errors(path), path.open("rb") as file, _guard_file_state(path, file, state):
        tensors, start = _read_header(file)
        wanted = list(tensors if names is None else names)
        if absent := [name for name in wanted if name not in tensors]:
            raise DiagnosticError(*(_missing_tensor(path, name, tensors) for name in absent))
        return {name: _read_tensor(file, start, tensors[name]) for name in wanted}


def decode(content: memoryview, source: str) -> dict[str, Array]:
    """Return the tensors of a file in memory, without a copy; `source` is its name in messages.

    Raises:
        DiagnosticError: It is malformed.
    """
    with _report_errors(source):
        octets = np.frombuffer(content, np.uint8)
        size = _header_size(bytes(content[:START]), len(octets))
        data = octets[START + size :]
        tensors = _parse(bytes(content[START : START + size]), len(data))
        return {
            name: _interpret(data[tensor.begin : tensor.end], tensor)
            for name, tensor in tensors.items()
        }


class Encoder:
    """A file in memory that is written tensor by tensor; equal tensors give equal bytes.

    Args:
        types: The dtype and the shape of each tensor.
        share: Whether large tensors of equal bytes are written once.
        first: The tensors that come before others, in their order, where alignment leaves a choice.

    Raises:
        ValueError: The format has no such dtype.
    """

    def __init__(self, types: Index, *, share: bool = False, first: Iterable[str] = ()) -> None:
        self._types = types
        self._sizes = {name: packed_size(*each) for name, each in types.items()}
        # Multiples of 64 bytes first: with the padded header, all of those are aligned.
        names = dict.fromkeys((*(name for name in first if name in types), *sorted(types)))
        self.order = sorted(names, key=lambda name: self._sizes[name] % ALIGNMENT != 0)
        alike = Counter(types.values()) if share else Counter[tuple[DType, tuple[int, ...]]]()
        self._candidates = {
            name for name in types if alike[types[name]] > 1 and self._sizes[name] >= SHARED
        }
        self._digests: dict[object, str] = {}
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0
        self._header = len(_header_text(types, dict(_consecutive(self.order, self._sizes))))
        self._space = aligned_buffer(self._header + sum(self._sizes.values()))

    def add(self, name: str, array: Array) -> str:
        """Write the next tensor, and return the name of the one that has its bytes."""
        octets = pack(array)
        if name in self._candidates:
            key = self._types[name], blake3(octets.data).digest()
            if (first := self._digests.setdefault(key, name)) != name:
                return first
        begin, self._end = self._end, self._end + self._sizes[name]
        self._places[name] = begin, self._end
        self._space[self._header + begin : self._header + self._end] = octets
        return name

    def content(self) -> memoryview:
        """The file with what was added."""
        text = _header_text(self._types, self._places).ljust(self._header)
        text = (self._header - START).to_bytes(START, "little") + text[START:]
        self._space[: self._header] = np.frombuffer(text, np.uint8)
        return self._space[: self._header + self._end].data


def encode(arrays: Mapping[str, Array]) -> memoryview:
    """Write tensors as a file in memory; equal tensors give equal bytes.

    Raises:
        ValueError: The format has no such dtype.
    """
    encoder = Encoder({name: (each.dtype, each.shape) for name, each in arrays.items()})
    for name in encoder.order:
        encoder.add(name, arrays[name])
    return encoder.content()


def stream(types: Index, load: Callable[[str], Array]) -> Iterator[memoryview]:
    """Give the bytes of a file piece by piece; one tensor is in memory at a time.

    Args:
        types: The dtype and the shape of each tensor.
        load: Gives the elements of a tensor.

    Raises:
        ValueError: The format has no such dtype.
    """
    sizes = {name: packed_size(*each) for name, each in types.items()}
    order = sorted(sorted(types), key=lambda name: sizes[name] % ALIGNMENT != 0)
    text = _header_text(types, dict(_consecutive(order, sizes)))
    yield memoryview((len(text) - START).to_bytes(START, "little") + text[START:])
    for name in order:
        yield pack(load(name)).data


def _consecutive(
    names: Iterable[str], sizes: Mapping[str, int]
) -> Iterator[tuple[str, tuple[int, int]]]:
    end = 0
    for name in names:
        begin, end = end, end + sizes[name]
        yield name, (begin, end)


def _header_text(types: Index, places: Mapping[str, tuple[int, int]]) -> bytes:
    """The bytes before the data: room for their number, and JSON with blanks behind it."""
    header: dict[str, object] = {}
    if small := sorted(name for name in places if types[name][0] == INT4):
        header["__metadata__"] = {INT4_NOTE: json.dumps(small)}
    for name, offsets in places.items():
        dtype, shape = types[name]
        fields = {"dtype": dtype_name(dtype), "shape": list(shape)}
        header[name] = {**fields, "data_offsets": list(offsets)}
    text = bytes(START) + json.dumps(header, separators=(",", ":")).encode()
    return text + b" " * (-len(text) % ALIGNMENT)


def _read_header(file: BinaryIO) -> tuple[dict[str, _TensorHeader], int]:
    """Return the tensors of a file and the offset of their contents."""
    total = os.fstat(file.fileno()).st_size
    size = _header_size(file.read(START), total)
    return _parse(file.read(size), total - START - size), START + size


def _header_size(start: bytes, total: int) -> int:
    size = int.from_bytes(start, "little")
    if len(start) < START or size > total - START:
        raise MalformedError(f"its header is incomplete: the file has {total} bytes")
    if size > LONGEST_HEADER:
        raise MalformedError(f"its header would have {size} bytes")
    return size


def _parse(text: bytes, available: int) -> dict[str, _TensorHeader]:
    """Read a header: each byte of the file belongs to one tensor, in the order of the offsets."""
    try:
        header = parse_json(text, _unique)
    except (ValueError, RecursionError) as error:
        raise MalformedError("its header is not JSON") from error
    if not isinstance(header, dict):
        raise MalformedError("its header is not a JSON object")
    small = _int4_names(header.pop("__metadata__", {}))
    tensors = [_tensor(name, fields, small) for name, fields in header.items()]
    position = 0
    for tensor in sorted(tensors, key=lambda tensor: (tensor.begin, tensor.end)):
        if tensor.begin != position:
            raise MalformedError(f"before `{tensor.name}` there is a gap or an overlap")
        position = tensor.end
    if position != available:
        raise MalformedError(f"the tensors need {position} bytes, and there are {available}")
    return {tensor.name: tensor for tensor in tensors}


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise MalformedError("its header names something twice")
    return found


def _int4_names(metadata: object) -> frozenset[str]:
    if not isinstance(metadata, dict):
        raise MalformedError("its metadata is not a JSON object")
    try:
        return frozenset(json.loads(metadata.get(INT4_NOTE, "[]")))
    except (ValueError, TypeError, RecursionError) as error:
        raise MalformedError("its metadata is malformed") from error


def _tensor(name: str, fields: object, small: frozenset[str]) -> _TensorHeader:
    match fields:
        case {"dtype": str(spelled), "shape": [*sizes], "data_offsets": [begin, end], **rest} if (
            not rest and all(type(each) is int and each >= 0 for each in (*sizes, begin, end))
        ):
            pass
        case _:
            raise MalformedError(f"the entry for `{name}` is malformed")
    if spelled not in DTYPES:
        raise MalformedError(f"`{name}` has the unknown dtype `{spelled}`")
    dtype = DTYPES[spelled]
    # NumPy multiplies the sizes without the zeros, and cannot have a product beyond its own.
    if math.prod(max(size, 1) for size in sizes) * dtype.itemsize > LARGEST or len(sizes) > 32:
        raise MalformedError(f"the shape of `{name}` is too large")
    bits = math.prod(sizes) * BITS.get(spelled, dtype.itemsize * 8)
    if bits % 8 or end - begin != bits // 8:
        raise MalformedError(f"`{name}` needs {bits / 8:g} bytes, and has {end - begin}")
    dtype = INT4 if spelled == "I8" and name in small else dtype
    return _TensorHeader(name, spelled, dtype, tuple(sizes), begin, end)


def _read_tensor(file: BinaryIO, start: int, tensor: _TensorHeader) -> Array:
    octets = aligned_buffer(tensor.end - tensor.begin)
    file.seek(start + tensor.begin)
    if file.readinto(octets.data) != len(octets):  # type: ignore[attr-defined]
        raise MalformedError(f"the file became shorter while `{tensor.name}` was read")
    return _interpret(octets, tensor)


def _interpret(octets: Octets, tensor: _TensorHeader) -> Array:
    try:
        return unpack(octets, tensor.spelled, tensor.dtype).reshape(tensor.shape)
    except ValueError as error:
        raise MalformedError(f"`{tensor.name}` {error}") from error


@contextlib.contextmanager
def _guard_file_state(path: Path, file: BinaryIO, state: FileState | None) -> Iterator[None]:
    """Refuse a file that is not in a state, or leaves it while it is read."""
    if state is None:
        yield
        return
    if FileState.of(os.fstat(file.fileno())) != state:
        raise changed_error(path)
    yield
    if FileState.of(os.fstat(file.fileno())) != state:
        raise changed_error(path)


@contextlib.contextmanager
def _report_errors(source: Path | str) -> Iterator[None]:
    try:
        with within_budget():
            yield
    except MalformedError as error:
        message = f"`{source}` is not a safetensors file as it should be: {error}"
        raise DiagnosticError(Diagnostic("weights-malformed", message)) from error
    except FileNotFoundError as error:
        message = f"there is no weights file `{source}`"
        raise DiagnosticError(Diagnostic("weights-not-found", message)) from error
    except OSError as error:
        raise unreadable_error(source, error) from error


def _missing_tensor(path: Path, name: str, known: Iterable[str]) -> Diagnostic:
    near = suggest(name, known)
    hint = f"did you mean `{near}`?" if near else None
    return Diagnostic("weights-missing", f"`{path}` has no tensor `{name}`", hint=hint)
