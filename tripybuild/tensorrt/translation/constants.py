"""Constants for TensorRT: an address, and memory that outlives the network.

Invariant: nothing is copied that lies in memory as TensorRT reads it. Elements of four bits are two
to the byte there, the first in the low half; an array of them may be that already, as bytes.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DenseResourceAttr

from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.tensorrt.mlir import elements

Array = NDArray[Any]
# What MLIR prints where it leaves data out; NVIDIA's translator takes zeros for it.
ELIDED = "__elided__"
SHORT = frozenset({"i4", "f4E2M1FN"})
LARGEST_SPLAT = 1 << 30  # bytes that one may have in an engine


class ConstantDataError(Exception):
    """A constant's data is missing, or is not what its type says."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class NetworkConstants:
    """The constants of one network.

    Args:
        make: Gives TensorRT's weights of an element type, an address and a count.
        named: The data of `dense_resource<name>` constants by name.
        stored: Gives the data of such a constant that the module itself holds.
    """

    def __init__(
        self,
        make: Callable[[str, int, int], Any],
        named: Mapping[str, Array],
        stored: Callable[[DenseResourceAttr], Array | None],
    ) -> None:
        self._make = make
        self._named = named
        self._stored = stored
        self.kept: list[Array] = []

    def weights(self, attribute: Any, element: str) -> Any:
        """Return the weights of a constant attribute, which stay valid while this object lives.

        Args:
            attribute: The constant.
            element: Its element type, as MLIR writes it.
        """
        count = elements.count_of(attribute.type.get_shape())
        if isinstance(attribute, DenseResourceAttr):
            array = self._resource(attribute, element, count)
        else:  # xDSL keeps the bytes of each element one after the other
            array = _memory_layout(_expand_splat(attribute, count), element)
        self.kept.append(array)
        address = array.__array_interface__["data"][0] if count else 0
        return self._make(element, address, count)

    def _resource(self, attribute: DenseResourceAttr, element: str, count: int) -> Array:
        type = attribute.type
        name = attribute.resource_handle.data
        found = self._named.get(name)
        if found is None:
            found = self._in_module(attribute)
        if found is None and name == ELIDED:
            found = np.zeros(count, elements.DTYPES[element])
        if found is None:
            raise ConstantDataError(_missing_data(name, type))
        if not _is_raw(found, element, count):
            if found.size != count or found.dtype != elements.DTYPES[element]:
                raise ConstantDataError(_unfit(name, found, type))
            found = _memory_layout(found, element)
        return _aligned_array(found)

    def _in_module(self, attribute: DenseResourceAttr) -> Array | None:
        try:
            return self._stored(attribute)
        except ValueError as error:
            raise ConstantDataError(Diagnostic("weight-shape", str(error))) from error


def _expand_splat(attribute: Any, count: int) -> Array:
    """The bytes of all elements: TensorRT is given those of a splat one after the other, too."""
    data = attribute.data.data
    whole = elements.size_of(attribute.type.element_type) * count
    if len(data) == whole:
        return np.frombuffer(data, np.uint8)
    if whole > LARGEST_SPLAT:
        message = f"a constant of one repeated number takes {whole:,} bytes in an engine"
        hint = f"at most {LARGEST_SPLAT:,} are written out; let it be broadcast by the operation"
        raise ConstantDataError(Diagnostic("constant-too-large", message, hint=hint))
    return np.frombuffer(data * count, np.uint8)


def _is_raw(array: Array, element: str, count: int) -> bool:
    """Tell whether an array is bytes, as many as the elements take."""
    size = (count + 1) // 2 if element in SHORT else count * elements.DTYPES[element].itemsize
    return array.dtype == np.uint8 and element != "ui8" and array.nbytes == size


def _memory_layout(array: Array, element: str) -> Array:
    """Return elements as they lie in TensorRT's memory; truth is one, where xDSL has minus one."""
    if element == "i1":
        truth: Array = array.view(np.uint8) != 0
        return truth
    if element not in SHORT:
        return array
    halves = array.reshape(-1).view(np.uint8) & 0x0F
    if halves.size % 2:
        halves = np.append(halves, np.uint8(0))
    return halves[0::2] | (halves[1::2] << 4)


def _aligned_array(array: Array) -> Array:
    """Return an array in C's order and at an address that its elements may have."""
    flags = array.flags
    return array if flags.c_contiguous and flags.aligned else array.copy(order="C")


def _missing_data(name: str, type: object) -> Diagnostic:
    message = f"There is no data for `dense_resource<{name}> : {type}`"
    hint = "a text has the data of its resources at its end: `{-# dialect_resources: ... #-}`"
    return Diagnostic("weight-missing", message, hint=hint)


def _unfit(name: str, array: Array, type: object) -> Diagnostic:
    message = f"The data of `dense_resource<{name}>` does not match its type"
    found = f"{array.dtype}{list(array.shape)}"
    return Diagnostic("weight-shape", message, notes=(f"found {found}, and the type is `{type}`",))
