"""Resources of a text: data stored beside the constants that name it.

Invariant: each context has a table of its own, which the module that is read in it keeps. Two texts
may use one name for different data, and a name is never changed; data that is not there
(`__elided__`) is told apart from data that is empty.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects.builtin import DenseResourceAttr, StringAttr, TensorType
from xdsl.ir import Attribute, Operation

from tripybuild.tensorrt.mlir import elements
from tripybuild.tensorrt.mlir.locations import make_location

ALIGNMENT = 4  # bytes of the number in front of the data: to what it is aligned


class Resources(OpAsmDialectInterface):
    """The data behind the names of `dense_resource`."""

    def __init__(self) -> None:
        super().__init__()
        self._blobs: dict[str, bytes] = {}  # with the alignment in front
        self._arrays: dict[str, NDArray[Any]] = {}

    def declare_resource(self, key: str) -> str:
        """Take a name as it is: equal names are one resource."""
        return key

    def parse_resource(self, key: str, val: str) -> None:
        """Keep the data of a name, written as a hexadecimal string."""
        self._blobs[key] = _blob(val)

    def add_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take weights from beside the text; they are not copied."""
        self._arrays.update(arrays)

    def lookup(self, key: str) -> str | None:
        """Give the hexadecimal form of a name's data, if there is any."""
        blob = self._blobs.get(key)
        if key in self._arrays:
            array = self._arrays[key]
            align = max(1, array.dtype.itemsize).to_bytes(ALIGNMENT, "little")
            blob = align + np.ascontiguousarray(array).tobytes()
        return None if blob is None else f"0x{blob.hex().upper()}"

    def build_resources(self, keys: Iterable[str]) -> dict[str, str]:
        """Give the hexadecimal forms of those names that have data."""
        found = ((key, self.lookup(key)) for key in keys)
        return {key: text for key, text in found if text is not None}

    def array(self, attribute: DenseResourceAttr) -> NDArray[Any] | None:
        """Give the elements of a constant, or None where its data is not there.

        Constants in several shapes may name one resource.
        """
        key, type = attribute.resource_handle.data, attribute.type
        if not isinstance(type, TensorType):
            return None
        count = elements.count_of(type.get_shape())
        if key in self._arrays:
            found = self._arrays[key]
            return found.reshape(type.get_shape()) if found.size == count else found
        blob = self._blobs.get(key)
        if blob is None:
            return None
        data = elements.from_mlir_bytes(blob[ALIGNMENT:], type.element_type, count)
        if data is None:
            raise ValueError(f"resource `{key}` has {len(blob) - ALIGNMENT} bytes, not a `{type}`")
        return elements.array(data, type.element_type, type.get_shape())


def _blob(text: str) -> bytes:
    if not text.startswith("0x"):
        raise ValueError("a resource is a string of hexadecimal digits after `0x`")
    try:
        blob = bytes.fromhex(text[2:])
    except ValueError:
        raise ValueError("a resource has two hexadecimal digits for each byte") from None
    if len(blob) < ALIGNMENT:
        raise ValueError("a resource begins with four bytes for its alignment")
    return blob


def resource(name: str, type: Attribute) -> DenseResourceAttr:
    """Give the constant that has a name's data; neither is checked, which would take long."""
    return make_location(DenseResourceAttr, resource_handle=StringAttr(name), type=type)


def of_context(context: Context) -> Resources:
    """Give the resources of a context that `new_context` made."""
    found = context.get_dialect("builtin").get_interface(OpAsmDialectInterface)
    if not isinstance(found, Resources):
        raise TypeError("the context has no resources of its own; `new_context` makes one")
    return found


def attach(module: Operation, table: Resources) -> None:
    """Say which resources a module's constants name."""
    _TABLES[module] = table


def of(operation: Operation) -> Resources:
    """Give the resources of the module that an operation stands in; they begin empty."""
    module = operation
    while (parent := module.parent_op()) is not None:
        module = parent
    return _TABLES.setdefault(module, Resources())


_TABLES: WeakKeyDictionary[Operation, Resources] = WeakKeyDictionary()
