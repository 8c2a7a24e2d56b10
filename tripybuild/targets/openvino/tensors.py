"""Tensors of OpenVINO over the memory of arrays, of every dtype that models have.

Invariant: a tensor does not keep its array alive. The caller holds the array as long.

To make a tensor and to bind it takes as long as to copy 64 KiB. A request therefore has memory of
its own for smaller arrays, which stays bound for as long as calls have the same shapes.
"""

import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripybuild.onnx.constants import element_bytes
from tripybuild.targets.openvino.library import library
from tripybuild.types.dtypes import dtype

Array = npt.NDArray[Any]
Shapes = Sequence[Sequence[int] | None]
HALF = 4  # bits
SMALL = 1 << 16  # bytes


def element_type(kind: dtype) -> Any:
    """OpenVINO's name of a dtype."""
    return getattr(library().Type, TYPES[kind.name])


TYPES = {
    "bool": "boolean",
    "int4": "i4",
    "int8": "i8",
    "uint8": "u8",
    "int32": "i32",
    "int64": "i64",
    "float4": "f4e2m1",
    "float8": "f8e4m3",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
}


def tensor_over(array: Array, kind: dtype, shape: Sequence[int]) -> Any:
    """A tensor over the bytes of an array, which may be read-only; two of 4 bits share one."""
    size = max(array.nbytes, 1)
    octets = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(array.ctypes.data))
    found = library()
    return found.Tensor(octets, found.Shape(list(shape)), element_type(kind))


def pack(array: Array, kind: dtype) -> Array:
    """The bytes of an array as tensors have them: row by row, two elements of 4 bits in one."""
    array = np.ascontiguousarray(array)
    if kind.bits != HALF:
        return array
    return np.frombuffer(element_bytes(array, kind), np.uint8)


def allocate(kind: dtype, shape: Sequence[int]) -> Array:
    """An array that a tensor of a dtype is made over."""
    if kind.bits != HALF:
        return np.empty(shape, kind.numpy)
    return np.empty((math.prod(shape) + 1) // 2, np.uint8)


def unpack(array: Array, kind: dtype, shape: Sequence[int]) -> Array:
    """An array of a dtype and shape, of what `allocate` gave."""
    if kind.bits != HALF:
        return array
    halves = np.stack((array & 15, array >> HALF), axis=-1).reshape(-1)[: math.prod(shape)]
    return np.ascontiguousarray(halves).view(kind.numpy).reshape(shape)


@dataclass(frozen=True, slots=True)
class OpenvinoPort:
    """An input or an output.

    Args:
        name: Its name.
        dtype: Its dtype.
        place: The number that OpenVINO has for it; None where it has none.
    """

    name: str
    dtype: dtype
    place: int | None = None


class BoundRequest:
    """An infer request and the memory that it is bound to; one call at a time uses it.

    Args:
        native: OpenVINO's request.
        inputs: The inputs in the order of calls.
        outputs: The outputs.
    """

    def __init__(
        self, native: Any, inputs: Sequence[OpenvinoPort], outputs: Sequence[OpenvinoPort]
    ) -> None:
        self.native, self._inputs, self._outputs = native, inputs, outputs
        self._taken: list[tuple[int, ...]] | None = None
        self._given: list[Sequence[int] | None] = []
        # What is bound from call to call; None where each call binds an array of its own.
        self._sources: list[Array | None] = []
        self._results: list[Array | None] = []

    def run(
        self, arrays: Sequence[Array], shapes: Shapes, infer: Callable[[Any], None]
    ) -> list[Array]:
        """Compute; the results own their memory.

        Args:
            arrays: The inputs.
            shapes: Those of the results; None where the elements of inputs tell.
            infer: Computes what OpenVINO's request is bound to.
        """
        taken = [each.shape for each in arrays]
        if taken != self._taken or shapes != self._given:
            self._bind_small(taken, shapes)
        held = [pack(each, port.dtype) for each, port in zip(arrays, self._inputs, strict=True)]
        for array, port, own, shape in zip(held, self._inputs, self._sources, taken, strict=True):
            if own is not None:
                own[...] = array
            elif port.place is not None:
                self._bind_input(port, array, shape)
        made = [
            self._bind_output(port, shape) if own is None else own
            for port, own, shape in zip(self._outputs, self._results, shapes, strict=True)
        ]
        infer(self.native)
        return [
            self._read(port, array, shape, is_own=own is not None)
            for port, array, own, shape in zip(
                self._outputs, made, self._results, shapes, strict=True
            )
        ]

    def _bind_small(self, taken: list[tuple[int, ...]], shapes: Shapes) -> None:
        """Bind what is small for these shapes to memory that stays."""
        self._taken = None  # until all is bound
        self._sources = [
            self._bind_input(port, array, shape)
            if port.place is not None and (array := allocate(port.dtype, shape)).nbytes <= SMALL
            else None
            for port, shape in zip(self._inputs, taken, strict=True)
        ]
        self._results = [
            self._bind_output(port, shape)
            if shape is not None and math.prod(shape) * port.dtype.itemsize <= SMALL
            else None
            for port, shape in zip(self._outputs, shapes, strict=True)
        ]
        self._taken, self._given = taken, list(shapes)

    def _bind_input(self, port: OpenvinoPort, array: Array, shape: Sequence[int]) -> Array:
        self.native.set_input_tensor(port.place, tensor_over(array, port.dtype, shape))
        return array

    def _bind_output(self, port: OpenvinoPort, shape: Sequence[int] | None) -> Array | None:
        """Memory for a result, whose shape is known."""
        if shape is None:
            return None
        made = allocate(port.dtype, shape)
        self.native.set_output_tensor(port.place, tensor_over(made, port.dtype, shape))
        return made

    def _read(
        self, port: OpenvinoPort, made: Array | None, shape: Sequence[int] | None, *, is_own: bool
    ) -> Array:
        """A result as an array of its own."""
        kind = port.dtype
        if made is None or shape is None:
            tensor = self.native.get_output_tensor(port.place)
            shape = list(tensor.shape)
            octets = tensor.data.reshape(-1).view(np.uint8).copy()
            made = octets if kind.bits < 8 else octets.view(kind.numpy).reshape(shape)
        found = unpack(made, kind, shape)
        return found.copy() if is_own and found is made else found
