"""Our writer of ONNX's files: the messages of `onnx.proto` in Protocol Buffers' wire format.

The same model gives the same bytes: fields are written in the order of their numbers, and maps in
the order of their keys. The data of tensors are never copied: a message is a list of parts, and
each buffer that is given is a part of its own.
"""

import math
import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any

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
_EXTERNAL = 1  # `TensorProto.DataLocation`
_UNSIGNED = 2**64 - 1


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
