"""Output allocation of an engine, also for data-dependent sizes.

Such an output has an allocator of ours, which TensorRT asks for memory and tells the sizes.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from tripybuild.tensorrt.runtime.context import ExecutionContext
from tripybuild.tensorrt.runtime.cuda import Buffer, Cuda
from tripybuild.tensorrt.runtime.packing import memory, size_of, unpack_elements
from tripybuild.tensorrt.translation.library import Library
from tripybuild.types.dtypes import BY_NAME

Array = np.ndarray[Any, Any]


class InputMemory(Protocol):
    """An input, as far as an output that lies in its memory needs it."""

    name: str
    buffer: Buffer


class EngineOutput:
    """One output: where it is written, and how it comes from there."""

    def __init__(
        self,
        library: Library,
        cuda: Cuda,
        record: Mapping[str, Any],
        alias: str | None,
        *,
        on_host: bool,
    ) -> None:
        self.name: str = record["name"]
        self.dtype = BY_NAME[record["dtype"]]
        self.alias = alias
        self._on_host = on_host
        self._library = library
        self._cuda = cuda
        self._buffer = Buffer(cuda)
        self._written: Array = np.empty(0, np.uint8)
        self._shape: tuple[int, ...] = ()
        self._shape_found: tuple[int, ...] = ()
        self._allocator: Any = None

    @property
    def is_open(self) -> bool:
        """Whether only the run knows how large it is."""
        return -1 in self._shape

    def bind(self, context: ExecutionContext) -> None:
        """Ask for the sizes, now that those of the inputs are known."""
        self._shape = context.sizes(self.name)
        if self.is_open and self._allocator is None:
            self._allocator = _allocator(self._library.module, self._buffer)
        context.allocator(self.name, self._allocator if self.is_open else None)

    def place(self, context: ExecutionContext, inputs: Sequence[InputMemory]) -> None:
        """Give the engine memory to write to; with an allocator it asks for it itself."""
        if self.is_open:
            return
        if self.alias is not None:
            owner = next(each for each in inputs if each.name == self.alias)
            context.point(self.name, owner.buffer.address)
        elif self._on_host:
            self._written = memory(self.dtype, self._shape)
            context.point(self.name, self._written.ctypes.data)
        else:
            size = size_of(self.dtype, self._shape)
            context.point(self.name, self._buffer.reserve(size))

    def fetch(self, context: ExecutionContext) -> Array:
        """Begin to copy it, for `finish` to take when the stream is done."""
        if self.is_open:
            self._shape_found = self._allocator.shape
            source = self._buffer.address
        else:
            self._shape_found = self._shape
            source = context.address(self.name)
        if self.is_open or not self._on_host:
            self._written = memory(self.dtype, self._shape_found)
            target, size = self._written.ctypes.data, self._written.nbytes
            self._cuda.download(target, source, size, context.stream)
        return self._written

    def finish(self, written: Array) -> Array:
        """Return the tensor."""
        return unpack_elements(written, self.dtype, self._shape_found)


def _allocator(module: Any, buffer: Buffer) -> Any:
    """An output allocator of TensorRT's; nothing that goes wrong may reach the code that asks."""

    class Allocator(module.IOutputAllocator):  # type: ignore[misc]
        """Gives one output its memory, and keeps its sizes."""

        def __init__(self) -> None:
            module.IOutputAllocator.__init__(self)
            self.shape: tuple[int, ...] = ()

        def reallocate_output(
            self, tensor_name: str, memory: int, size: int, alignment: int
        ) -> int:
            del tensor_name, memory, alignment  # cudaMalloc aligns for all
            try:
                return buffer.reserve(size)
            except Exception:  # noqa: BLE001 - no address means that there is no memory
                return 0

        def reallocate_output_async(
            self, tensor_name: str, memory: int, size: int, alignment: int, stream: int
        ) -> int:
            del stream
            return self.reallocate_output(tensor_name, memory, size, alignment)

        def notify_shape(self, tensor_name: str, shape: Sequence[int]) -> None:
            del tensor_name
            self.shape = tuple(shape)

    return Allocator()
