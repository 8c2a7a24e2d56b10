"""Our writer of ONNX's files: the messages of `onnx.proto` in Protocol Buffers' wire format.

The same model gives the same bytes: fields are written in the order of their numbers, and maps in
the order of their keys. The data of tensors are never copied: a message is a list of parts, and
each buffer that is given is a part of its own.

Of files that are there, only what they are and which other files they name is read: the headers of
fields, and nothing between them. Whatever is in a file, reading it ends with an answer.
"""

import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from mmap import mmap
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple, TypeAlias, TypeVar

from tripybuild.onnx.model import (
    Buffer,
    ExternalData,
    GraphDef,
    OnnxAttribute,
    OnnxModel,
    OnnxNode,
    TensorData,
    ValueInfo,
    ir_version,
)
from tripybuild.onnx.table import CODES
from tripybuild.types.dtypes import dtype

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
_LONGEST = 10  # bytes of a varint
_LONGEST_PATH = 1 << 16
_EXTERNAL = 1  # `TensorProto.DataLocation`
_UNSIGNED = 2**64 - 1

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


def encode_model(model: OnnxModel) -> bytes:
    """A model as the bytes of its file."""
    return b"".join(encode_parts(model))


def encode_parts(model: OnnxModel) -> tuple[Buffer, ...]:
    """A model as buffers whose concatenation is its file; data of tensors are among them."""
    message = _Message()
    message.number(1, ir_version(model.opset))
    message.text(2, model.producer)
    message.text(3, model.producer_version)
    message.remark(6, model.doc)
    message.message(7, _graph(model.graph))
    message.messages(8, _opsets({"": model.opset, **model.domains}))
    message.messages(14, _entries(model.metadata))
    return tuple(message.parts)


class _Message:
    """A message in the making; `size` is the sum of its parts'."""

    __slots__ = ("parts", "size")

    def __init__(self) -> None:
        self.parts: list[Buffer] = []
        self.size = 0

    def number(self, field: int, value: int) -> None:
        """A number, which is written even if it is 0."""
        self._add(encode_varint(field << 3 | _VARINT) + encode_varint(value & _UNSIGNED))

    def real(self, field: int, value: float) -> None:
        """A number as float32: infinite where it is beyond the largest one."""
        try:
            encoded = struct.pack("<f", value)
        except OverflowError:
            encoded = struct.pack("<f", math.copysign(math.inf, value))
        self._add(encode_varint(field << 3 | _FIXED32) + encoded)

    def bytes(self, field: int, value: Buffer) -> None:
        size = value.nbytes if isinstance(value, memoryview) else len(value)
        self._add(encode_varint(field << 3 | _LENGTH) + encode_varint(size))
        self.parts.append(value)
        self.size += size

    def text(self, field: int, value: str) -> None:
        """A text, which is left out if it is empty."""
        if value:
            self.name(field, value)

    def remark(self, field: int, value: str) -> None:
        r"""A text that only people read: what is no UTF-8 is written `\udcff`."""
        self.text(field, value.encode(errors="backslashreplace").decode())

    def name(self, field: int, value: str) -> None:
        """A text, which is written even if it is empty."""
        encoded = value.encode()
        self._add(encode_varint(field << 3 | _LENGTH) + encode_varint(len(encoded)) + encoded)

    def message(self, field: int, value: "_Message") -> None:
        self._add(encode_varint(field << 3 | _LENGTH) + encode_varint(value.size))
        self.parts += value.parts
        self.size += value.size

    def messages(self, field: int, values: "Iterable[_Message]") -> None:
        for each in values:
            self.message(field, each)

    def _add(self, encoded: Buffer) -> None:
        self.parts.append(encoded)
        self.size += len(encoded)


def encode_varint(value: int) -> bytes:
    """A number in as few bytes as it takes."""
    if value < 0x80:
        return _SMALL[value]
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


_SMALL = tuple(bytes((value,)) for value in range(0x80))


def _graph(graph: GraphDef) -> _Message:
    message = _Message()
    message.messages(1, map(_node, graph.nodes))
    message.text(2, graph.name)
    message.messages(5, map(_tensor, graph.initializers))
    message.remark(10, graph.doc)
    message.messages(11, map(_value_info, graph.inputs))
    message.messages(12, map(_value_info, graph.outputs))
    message.messages(12, map(_untyped, graph.inferred))
    message.messages(13, map(_value_info, graph.values))
    return message


def _node(node: OnnxNode) -> _Message:
    message = _Message()
    for name in node.inputs:
        message.name(1, name)
    for name in node.outputs:
        message.name(2, name)
    message.text(3, node.name)
    message.text(4, node.operator)
    message.messages(5, (_attribute(name, each) for name, each in sorted(node.attributes.items())))
    message.remark(6, node.doc)
    message.text(7, node.domain)
    return message


def _attribute(name: str, attribute: OnnxAttribute) -> _Message:
    code, write = _KINDS[attribute.kind]
    message = _Message()
    message.name(1, name)
    write(message, attribute.value)
    message.number(20, code)
    return message


def _int(value: Any) -> int:
    """A number; a dtype is that of its element type."""
    return CODES[value.onnx] if isinstance(value, dtype) else int(value)


def _string(value: Buffer | str) -> Buffer:
    return value.encode() if isinstance(value, str) else value


def _each(write: Callable[[_Message, Any], None]) -> Callable[[_Message, Any], None]:
    """A list of values that are written alike."""

    def write_all(message: _Message, values: Iterable[Any]) -> None:
        for value in values:
            write(message, value)

    return write_all


# The numbers and fields of the kinds of attributes (`AttributeProto`).
_KINDS: Mapping[str, tuple[int, Callable[[_Message, Any], None]]] = {
    "float": (1, lambda message, value: message.real(2, value)),
    "int": (2, lambda message, value: message.number(3, _int(value))),
    "string": (3, lambda message, value: message.bytes(4, _string(value))),
    "tensor": (4, lambda message, value: message.message(5, _tensor(value))),
    "graph": (5, lambda message, value: message.message(6, _graph(value))),
    "floats": (6, _each(lambda message, value: message.real(7, value))),
    "ints": (7, _each(lambda message, value: message.number(8, _int(value)))),
    "strings": (8, _each(lambda message, value: message.bytes(9, _string(value)))),
}


def _tensor(tensor: TensorData) -> _Message:
    message = _Message()
    for size in tensor.shape:
        message.number(1, size)
    message.number(2, CODES[tensor.dtype.onnx])
    message.text(8, tensor.name)
    if tensor.data is None:
        raise ValueError(f"the weight {tensor.name!r} has no data")
    if isinstance(tensor.data, ExternalData):
        place = tensor.data
        said = {"location": place.location, "offset": place.offset, "length": place.length}
        message.messages(13, (_entry(key, str(value)) for key, value in said.items()))
        message.number(14, _EXTERNAL)
    else:
        message.bytes(9, tensor.data)
    return message


def _value_info(value: ValueInfo) -> _Message:
    type = _Message()
    type.number(1, CODES[value.dtype.onnx])
    if value.shape is not None:
        shape = _Message()
        for size in value.shape:
            dim = _Message()
            if isinstance(size, int):
                dim.number(1, size)
            elif size is not None:
                dim.name(2, size)
            shape.message(1, dim)
        type.message(2, shape)
    wrapped = _Message()
    wrapped.message(1, type)
    message = _Message()
    message.text(1, value.name)
    message.message(2, wrapped)
    message.remark(3, value.doc)
    return message


def _untyped(name: str) -> _Message:
    message = _Message()
    message.text(1, name)
    return message


def _opsets(versions: Mapping[str, int]) -> Iterable[_Message]:
    for domain, version in sorted(versions.items()):
        message = _Message()
        message.name(1, domain)
        message.number(2, version)
        yield message


def _entries(values: Mapping[str, str]) -> Iterable[_Message]:
    return (_entry(key, value) for key, value in sorted(values.items()))


def _entry(key: str, value: str) -> _Message:
    message = _Message()
    message.name(1, key)
    message.name(2, value)
    return message


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
