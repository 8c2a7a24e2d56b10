"""Execution context of TensorRT, and its outputs: errors become diagnostics in TensorRT's words.

For TensorRT-RTX it has a runtime cache: kernels that were compiled for this GPU once are read in
the next process, where `kernels` keeps them. An output whose sizes depend on data has an allocator
of ours, which TensorRT asks for memory and tells the sizes. In an engine's memory two elements of
four bits share a byte, the first one in its low half.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Protocol

import numpy as np

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.tensorrt.runtime.cuda import Buffer, Cuda
from tripybuild.tensorrt.translation.library import Library
from tripybuild.tensorrt.translation.log import Log
from tripybuild.types.dtypes import BY_NAME, dtype

Array = np.ndarray[Any, Any]
HALF = 4  # bits


def size_of(kind: dtype, shape: tuple[int, ...]) -> int:
    """Return how many bytes a tensor takes."""
    count = math.prod(shape)
    return (count + 1) // 2 if kind.bits == HALF else count * int(kind.numpy.itemsize)


def pack_elements(array: Array, kind: dtype) -> Array:
    """Return an array whose memory is as the engine reads it; nothing is copied without need."""
    whole = np.ascontiguousarray(array)
    if kind.bits != HALF:
        return whole
    halves = whole.reshape(-1).view(np.uint8) & 15
    even = np.append(halves, np.uint8(0)) if halves.size % 2 else halves
    return even[0::2] | (even[1::2] << HALF)


def memory(kind: dtype, shape: tuple[int, ...]) -> Array:
    """Return an array for an engine to write a tensor to, for `unpack_elements` to take."""
    if kind.bits != HALF:
        return np.empty(shape, kind.numpy)
    return np.empty(size_of(kind, shape), np.uint8)


def unpack_elements(written: Array, kind: dtype, shape: tuple[int, ...]) -> Array:
    """Return the tensor that an engine wrote to `memory`."""
    if kind.bits != HALF:
        return written
    halves = np.stack((written & 15, written >> HALF), axis=-1).reshape(-1)
    return halves[: math.prod(shape)].view(kind.numpy).reshape(shape).copy()


class KernelStore(Protocol):
    """Where compiled kernels are kept between processes."""

    def read(self) -> bytes | None:
        """Return what was kept, if something was."""

    def keep(self, content: bytes) -> None:
        """Keep it in the place of what was kept before."""


class ExecutionContext:
    """One context of an engine, on one stream."""

    def __init__(
        self, library: Library, engine: Any, log: Log, stream: int, kernels: KernelStore | None
    ) -> None:
        self._engine = engine
        self._log = log
        self._kernels = kernels
        self.stream = stream
        self._cache: Any = None
        self._is_new = False
        self._profile = 0
        self._addresses: dict[str, int] = {}
        self._open: set[str] = set()
        self._context = self._create_context(library)
        if self._context is None:
            self._refuse("TensorRT cannot prepare the engine")

    def _create_context(self, library: Library) -> Any:
        engine = self._engine
        if self._kernels is None or not hasattr(library.module, "IRuntimeCache"):
            return engine.create_execution_context()
        config = engine.create_runtime_config()
        self._cache = config.create_runtime_cache()
        stored = self._kernels.read()
        if stored is not None:
            self._cache.deserialize(stored)  # what is of another driver or GPU is left out
        config.set_runtime_cache(self._cache)
        return engine.create_execution_context(config)

    def alias(self, name: str) -> str | None:
        """Return the input whose memory an output is written to."""
        method = getattr(self._engine, "get_aliased_input_tensor", None)
        return None if method is None else (method(name) or None)

    def choose(self, profile: int) -> None:
        """Select an optimization profile; tensor settings are applied again."""
        self._addresses.clear()
        if profile != self._profile:
            done = self._context.set_optimization_profile_async(profile, self.stream)
            self._need(done, f"TensorRT does not take the optimization profile #{profile}")
            self._profile = profile

    def shape(self, name: str, shape: tuple[int, ...]) -> None:
        """Say an input's sizes."""
        done = self._context.set_input_shape(name, shape)
        self._need(done, f"TensorRT does not take the sizes {list(shape)} of the input `{name}`")

    def infer(self) -> None:
        """Let TensorRT compute all sizes that can be known before the run."""
        self._is_new = True
        missing = self._context.infer_shapes()
        names = ", ".join(f"`{name}`" for name in missing)
        self._need(not missing, f"TensorRT needs to know more of {names}")

    def sizes(self, name: str) -> tuple[int, ...]:
        """Return the sizes of a tensor; -1 is one that only the run knows."""
        return tuple(self._context.get_tensor_shape(name))

    def allocator(self, name: str, allocator: Any) -> None:
        """Let an output ask for its memory, or no longer."""
        if allocator is None and name not in self._open:
            return
        done = self._context.set_output_allocator(name, allocator)
        self._need(done, f"TensorRT takes no allocator for the output `{name}`")
        self._open.discard(name)
        if allocator is not None:
            self._open.add(name)

    def point(self, name: str, address: int) -> None:
        """Say where a tensor lies."""
        if self._addresses.get(name) != address:
            done = self._context.set_tensor_address(name, address)
            self._need(done, f"TensorRT does not take the memory of `{name}`")
            self._addresses[name] = address

    def address(self, name: str) -> int:
        """Return where a tensor lies."""
        return self._addresses[name]

    def execute(self) -> None:
        """Begin a run."""
        done = self._context.execute_async_v3(self.stream)
        self._need(done, "TensorRT did not run the engine")

    def finish(self) -> None:
        """Keep the kernels that were compiled, when a run with new shapes is done."""
        if self._cache is not None and self._kernels is not None and self._is_new:
            self._kernels.keep(bytes(memoryview(self._cache.serialize())))
        self._is_new = False

    def _need(self, done: bool, message: str) -> None:
        if not done:
            self._refuse(message)

    def _refuse(self, message: str) -> NoReturn:
        said = self._log.drain()
        raise DiagnosticError(Diagnostic("engine-failed", message, notes=said))


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
