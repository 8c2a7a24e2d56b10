"""What is read of ONNX's files: what they are, which other files they name, and where weights are.

The headers of fields are read, and little between them. Whatever is in a file, reading it ends with
an answer.
"""

from collections.abc import Callable, Iterator, Mapping, Set as AbstractSet
from mmap import mmap
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, NamedTuple, TypeAlias, TypeVar

# How a field is written: a varint, 8 bytes, a length and bytes, or 4 bytes.
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_FIXED = MappingProxyType({_FIXED64: 8, _FIXED32: 4})
# The fields of a model (`ModelProto`): two are numbers, and the others texts and messages.
_MODEL = MappingProxyType(
    {1: _VARINT, 5: _VARINT} | dict.fromkeys((2, 3, 4, 6, 7, 8, 14, 20, 25, 26), _LENGTH)
)
# Where a model says what its file is, and where the data of its weights are.
_VERSION, _GRAPH, _INITIALIZER, _EXTERNAL_DATA, _KEY, _VALUE = 1, 7, 5, 13, 1, 2
_DIMS, _DATA_TYPE, _NAME = 1, 2, 8  # of a tensor
_NODE, _OUTPUT, _ATTRIBUTE, _BODIES = 1, 2, 5, (6, 11)  # of graphs, nodes and attributes
_LONGEST = 10  # bytes of a varint
_LONGEST_PATH = 1 << 16

_T = TypeVar("_T")
Field: TypeAlias = tuple[int, int, int]
"""The number of a field, and where its content begins and ends."""


class StoredTensor(NamedTuple):
    """A weight whose data are in a file: the number of its dtype, and the bytes that are its."""

    name: str
    code: int
    shape: tuple[int, ...]
    offset: int
    size: int


def looks_like_model(path: Path) -> bool:
    """Whether a file is empty, or from end to end the fields of a model: such may be replaced."""

    def has_fields(file: BinaryIO, end: int) -> bool:
        return not end or {_VERSION, _GRAPH} <= {
            number for number, *_ in read_fields(file, end, _MODEL)
        }

    return _read(path, has_fields, otherwise=False)


def read_locations(path: Path) -> frozenset[str]:
    """The files that the weights of a model are in, as it names them; none of what is no model."""
    return _read(path, lambda file, end: frozenset(_locations(file, end)), otherwise=frozenset())


def _read(path: Path, read: Callable[[BinaryIO, int], _T], otherwise: _T) -> _T:
    try:
        with path.open("rb") as file:
            return read(file, path.stat().st_size)
    except (OSError, ValueError):
        return otherwise


def _locations(file: BinaryIO, end: int) -> Iterator[str]:
    graphs = (each for each in read_fields(file, end, _MODEL) if each[0] == _GRAPH)
    for tensor in _inner(file, graphs, _INITIALIZER):
        for entry in _inner(file, iter((tensor,)), _EXTERNAL_DATA):
            key, value = _read_entry(file, entry)
            if key == "location":
                yield value


def read_stored(file: BinaryIO | mmap, end: int) -> Iterator[StoredTensor]:
    """The weights of the model from here to the end, whose data are in a file.

    Raises:
        ValueError: It is no model, or does not say all of one.
    """
    graphs = (each for each in read_fields(file, end, _MODEL) if each[0] == _GRAPH)
    for tensor in _inner(file, graphs, _INITIALIZER):
        fields = list(_fields_of(file, tensor))
        said = dict(_read_entry(file, each) for each in fields if each[0] == _EXTERNAL_DATA)
        if "offset" in said and "length" in said:
            (name,) = (_read_text(file, *place) for number, *place in fields if number == _NAME)
            (code,) = (_read_number(file, each) for each in fields if each[0] == _DATA_TYPE)
            shape = tuple(_read_number(file, each) for each in fields if each[0] == _DIMS)
            yield StoredTensor(name, code, shape, int(said["offset"]), int(said["length"]))


def repeats_names(file: BinaryIO | mmap, end: int) -> bool:
    """Whether a body in the model from here to the end gives a name that is given around it.

    Raises:
        ValueError: It is no model.
    """
    graphs = [each for each in read_fields(file, end, _MODEL) if each[0] == _GRAPH]
    return any(_repeats(file, each, frozenset()) for each in graphs)


def _repeats(file: BinaryIO | mmap, graph: Field, around: AbstractSet[str]) -> bool:
    fields = [list(_fields_of(file, n)) for n in _inner(file, iter((graph,)), _NODE)]
    places = [place for node in fields for number, *place in node if number == _OUTPUT]
    names = {_read_text(file, *place) for place in places} - {""}
    attributes = (each for node in fields for each in node if each[0] == _ATTRIBUTE)
    inside = [each for a in attributes for each in _fields_of(file, a) if each[0] in _BODIES]
    return bool(names & around) or any(_repeats(file, each, names | around) for each in inside)


def _read_entry(file: BinaryIO | mmap, entry: Field) -> tuple[str, str]:
    said = {number: _read_text(file, *place) for number, *place in _fields_of(file, entry)}
    return said.get(_KEY, ""), said.get(_VALUE, "")


def _read_number(file: BinaryIO | mmap, field: Field) -> int:
    file.seek(field[1])
    return _read_varint(file)


def _inner(file: BinaryIO | mmap, messages: Iterator[Field], wanted: int) -> Iterator[Field]:
    """The fields of this number in messages."""
    for each in messages:
        yield from (field for field in _fields_of(file, each) if field[0] == wanted)


def _fields_of(file: BinaryIO | mmap, message: Field) -> Iterator[Field]:
    _, begin, end = message
    file.seek(begin)
    return read_fields(file, end)


def read_fields(
    file: BinaryIO | mmap, end: int, known: Mapping[int, int] | None = None
) -> Iterator[Field]:
    """The fields from here to the end of a message.

    Args:
        file: The file; it may be elsewhere when the next field is asked for.
        end: The first byte behind the message.
        known: The fields that may be there, and how each is written.

    Raises:
        ValueError: It is no message, or has another field.
    """
    while (begin := file.tell()) < end:
        key = _read_varint(file)
        number, kind = key >> 3, key & 7
        if not number or (known is not None and known.get(number) != kind):
            raise ValueError("no field of this message")
        begin = file.tell()
        size = _read_varint(file) if kind in {_VARINT, _LENGTH} else _FIXED.get(kind, -1)
        begin = begin if kind == _VARINT else file.tell()
        stop = file.tell() if kind == _VARINT else begin + size
        if size < 0 or stop > end:
            raise ValueError("a field of no kind, or beyond its message")
        yield number, begin, stop
        file.seek(stop)


def _read_varint(file: BinaryIO | mmap) -> int:
    value = 0
    for index in range(_LONGEST):
        (byte,) = file.read(1) or b"\xff"
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value
    raise ValueError("a number without an end")


def _read_text(file: BinaryIO | mmap, begin: int, end: int) -> str:
    file.seek(begin)
    return file.read(min(end - begin, _LONGEST_PATH)).decode()
