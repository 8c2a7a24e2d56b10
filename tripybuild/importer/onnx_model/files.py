"""Files of ONNX: the messages in them, and tensors where they lie, without a copy of their data.

The data of large initializers are cut out of a file's bytes before Protocol Buffers parses them, so
that they are mapped like those of other files. A path that a model names stays in its folder.
"""

import math
import mmap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tripybuild.artifact.file_errors import refuse_pipe, unreadable_error
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.onnx.model_files import Field, read_fields
from tripybuild.onnx.protobuf import encode_varint
from tripybuild.onnx.table import BY_CODE
from tripybuild.schema.model.file_references import escape_reason, path_exists
from tripybuild.trace.values import TensorType
from tripybuild.types.dtypes import dtype

if TYPE_CHECKING:
    from onnx import ModelProto, TensorProto

Array = np.ndarray[Any, Any]
# Fields of `ModelProto`, `GraphProto` and `TensorProto`, and how one with a length is written.
_GRAPH, _INITIALIZER, _RAW_DATA, _LENGTH = 7, 5, 9, 2
_PLACE = ("offset", "length")  # of the data of a tensor in another file
_MAPPED = 4096  # bytes of data from which on a tensor is not parsed


@dataclass(eq=False)
class OnnxFile:
    """A model's messages, and where the data of its initializers lie.

    Attributes:
        model: The messages; the data in `cut` are not in them.
        name: What messages call it.
        path: The file, if there is one. Other data are in its folder or below.
        cut: Where data lie in the file, by the position of their initializer.
    """

    model: "ModelProto"
    name: str
    path: Path | None = None
    cut: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    _maps: dict[Path, mmap.mmap] = field(default_factory=dict)

    def tensor_type(self, tensor: "TensorProto") -> TensorType | None:
        """The type of a tensor; None where no dtype of ours is its."""
        kind = BY_CODE.get(tensor.data_type)
        if any(size < 0 for size in tensor.dims):
            raise self.malformed(f"the tensor `{tensor.name}` has a negative size")
        return None if kind is None else TensorType(kind, tuple(tensor.dims))

    def loader(self, tensor: "TensorProto", index: int = -1) -> Callable[[], Array]:
        """What gives the data of a tensor of our dtypes; its size and place are checked now.

        Args:
            tensor: The tensor.
            index: The position of the initializer that it is.

        Raises:
            DiagnosticError: The data are not there, or their size is not that of the tensor.
        """
        type = self.tensor_type(tensor)
        assert type is not None
        if index in self.cut:
            assert self.path is not None
            begin, end = self.cut[index]
            self._check_size(tensor, type, end - begin)
            return self._mapped(self.path, begin, type)
        if tensor.data_location == tensor.EXTERNAL:
            return self._external(tensor, type)
        held = tensor.HasField("raw_data")
        if held:
            self._check_size(tensor, type, len(tensor.raw_data))
        elif type.dtype.bits >= 8 and sum(len(each) for each in _numbers(tensor)) != math.prod(
            type.shape
        ):
            found = sum(len(each) for each in _numbers(tensor))
            message = f"{self.name}: `{tensor.name}` has {math.prod(type.shape)} elements, and"
            raise DiagnosticError(Diagnostic("weights-malformed", f"{message} {found} are there"))
        return lambda: self._inline(tensor, type)

    def malformed(self, how: str) -> DiagnosticError:
        """Say what is wrong with the file."""
        return DiagnosticError(Diagnostic("onnx-malformed", f"{self.name}: {how}"))

    @contextmanager
    def refuse_bytes(self, attribute: str) -> Iterator[None]:
        """Say of an attribute whose bytes are no UTF-8 that it is no text."""
        try:
            yield
        except UnicodeDecodeError as error:
            raise self.malformed(f"the attribute `{attribute}` is no text") from error

    def _inline(self, tensor: "TensorProto", type: TensorType) -> Array:
        from onnx import numpy_helper  # noqa: PLC0415 - an extra

        try:
            array = numpy_helper.to_array(tensor)
        except (ValueError, TypeError, OverflowError) as error:
            raise self.malformed(f"the tensor `{tensor.name}` cannot be read: {error}") from error
        return np.asarray(array).astype(type.dtype.numpy, copy=False).reshape(tensor.dims)

    def _external(self, tensor: "TensorProto", type: TensorType) -> Callable[[], Array]:
        said = {entry.key: entry.value for entry in tensor.external_data}
        try:
            begin = int(said.get("offset", "0"))
            length = int(said["length"]) if "length" in said else None
        except ValueError as error:
            place = ", ".join(f"`{key}` = `{said[key]}`" for key in _PLACE if key in said)
            message = f"the tensor `{tensor.name}` lies at {place}, which is none"
            raise self.malformed(message) from error
        file = self._find(tensor.name, said.get("location", ""))
        size = file.stat().st_size
        length = size - begin if length is None else length
        if begin < 0 or length < 0 or begin + length > size:
            message = (
                f"{self.name} has the tensor `{tensor.name}` in bytes {begin} to {begin + length}"
                f" of `{file.name}`, which has {size}"
            )
            hint = "copy the file again"
            raise DiagnosticError(Diagnostic("weights-malformed", message, hint=hint))
        self._check_size(tensor, type, length)
        return self._mapped(file, begin, type)

    def _find(self, tensor: str, location: str) -> Path:
        """The file that a tensor is in."""
        code = "weights-not-found"
        if self.path is None:
            message = f"{self.name} has the tensor `{tensor}` in a file, and is none itself"
            hint = "name the model's file"
            raise DiagnosticError(Diagnostic(code, message, hint=hint))
        home = self.path.parent
        if not location or (how := escape_reason(home, location)) is not None:
            where = "which is no name" if not location else f"which {how} the model's folder"
            message = f"{self.name} has the tensor `{tensor}` in `{location}`, {where}"
            hint = "put the data beside the model"
            raise DiagnosticError(Diagnostic("outside-folder", message, hint=hint))
        if not path_exists(home / location):
            message = f"{self.name} has the tensor `{tensor}` in `{location}`, which is not there"
            hint = "put all files of the model into one folder"
            raise DiagnosticError(Diagnostic(code, message, hint=hint))
        return home / location

    def _check_size(self, tensor: "TensorProto", type: TensorType, found: int) -> None:
        wanted = -(-math.prod(type.shape) * type.dtype.bits // 8)
        if found != wanted:
            message = f"{self.name}: `{tensor.name}` is {wanted} bytes, and {found} are there"
            raise DiagnosticError(Diagnostic("weights-malformed", message))

    def _mapped(self, path: Path, begin: int, type: TensorType) -> Callable[[], Array]:
        def load() -> Array:
            count = math.prod(map(int, type.shape))
            if not count:
                return np.zeros(type.shape, type.dtype.numpy)
            if path not in self._maps:
                self._maps[path] = _map(path)
            return _view(self._maps[path], begin, count, type.dtype).reshape(type.shape)

        return load


def _numbers(tensor: "TensorProto") -> Sequence[Sequence[float]]:
    """The fields in which a file may have the elements of a tensor as numbers."""
    whole = (tensor.int32_data, tensor.int64_data, tensor.uint64_data)
    return (tensor.float_data, tensor.double_data, *whole)


def read_file(path: Path) -> OnnxFile:
    """Read a model's file; large data stay where they are.

    Raises:
        DiagnosticError: There is no such file, or it is no model.
    """
    name = f"`{path}`"
    if not path_exists(path):
        raise DiagnosticError(Diagnostic("file-not-found", f"there is no file {name}"))
    try:
        refuse_pipe(path)
        if not path.stat().st_size:
            raise _no_model(name, "it is empty")
        content = _map(path)
    except OSError as error:
        raise unreadable_error(path, error) from error
    try:
        outline, cut = _outline(content)
    except ValueError as error:
        raise _no_model(name, str(error)) from error
    finally:
        content.close()
    return OnnxFile(parse_model(outline, name), name, path, cut)


def parse_model(content: bytes, name: str) -> "ModelProto":
    """The messages of a model.

    Raises:
        DiagnosticError: The bytes are none.
    """
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - an extra
    from onnx import ModelProto  # noqa: PLC0415 - an extra

    model = ModelProto()
    try:
        model.ParseFromString(content)
    except DecodeError as error:
        raise _no_model(name, "it is damaged") from error
    if not model.HasField("graph"):
        raise _no_model(name, "it has no graph")
    return model


def _no_model(name: str, how: str) -> DiagnosticError:
    message = f"{name} is no model of ONNX: {how}"
    return DiagnosticError(Diagnostic("onnx-malformed", message))


def _map(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _view(content: mmap.mmap, begin: int, count: int, kind: dtype) -> Array:
    """The elements that lie in a file; of two of 4 bits in a byte, the first is the low half."""
    if kind.bits >= 8:
        return np.frombuffer(content, kind.numpy, count, begin)
    packed = np.frombuffer(content, np.uint8, -(-count // 2), begin)
    halves = np.stack([packed & 0xF, packed >> 4], axis=-1).reshape(-1)[:count]
    if kind.kind == "integer":
        return ((halves.astype(np.int8) ^ 8) - 8).astype(kind.numpy)
    return halves.view(kind.numpy)


def _outline(content: mmap.mmap) -> tuple[bytes, Mapping[int, tuple[int, int]]]:
    """A model's bytes without the data of large initializers, and where those lie."""
    cut: dict[int, tuple[int, int]] = {}

    def graph(message: Field) -> bytes:
        count = 0
        parts = []
        for each, whole in _whole_fields(content, *message[1:], _INITIALIZER):
            if each[0] == _INITIALIZER:
                parts.append(_with_length(_INITIALIZER, tensor(each, count)))
                count += 1
            else:
                parts.append(whole)
        return b"".join(parts)

    def tensor(message: Field, index: int) -> bytes:
        if message[2] - message[1] < _MAPPED:
            return content[message[1] : message[2]]
        parts = []
        for (number, begin, end), whole in _whole_fields(content, *message[1:], _RAW_DATA):
            if number == _RAW_DATA and end - begin >= _MAPPED:
                cut[index] = begin, end
            else:
                parts.append(whole)
        return b"".join(parts)

    fields = _whole_fields(content, 0, len(content), _GRAPH)
    if sum(each[0] == _GRAPH for each, _ in fields) != 1:
        raise ValueError("it has no graph, or more than one")
    parts = [
        _with_length(_GRAPH, graph(each)) if each[0] == _GRAPH else whole for each, whole in fields
    ]
    return b"".join(parts), cut


def _whole_fields(
    content: mmap.mmap, begin: int, end: int, large: int
) -> list[tuple[Field, bytes]]:
    """The fields of a message with their bytes; large ones of one number without."""
    found = []
    content.seek(begin)
    for each in read_fields(content, end):
        is_large = each[0] == large and each[2] - begin >= _MAPPED
        found.append((each, b"" if is_large else content[begin : each[2]]))
        begin = each[2]
    return found


def _with_length(number: int, content: bytes) -> bytes:
    return encode_varint(number << 3 | _LENGTH) + encode_varint(len(content)) + content
