"""TensorRT's runtime and CUDA's memory, as far as running an engine needs them, without a GPU.

Device memory is memory of this process that only `Memory` knows: what is read or written outside of
it fails, and so does a host address where a device address belongs. `test_tensorrt_runtime.py`
holds the methods beside those of the real classes.
"""

import ctypes
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Tensor:
    """An input or an output of a fake engine; `-1` is a size that is not known."""

    dtype: Any
    shape: tuple[int, ...]
    on_host: bool = False
    profiles: list[tuple[tuple[int, ...], ...]] = field(default_factory=list)
    alias: str | None = None


@dataclass
class Program:
    """What an engine does: the sizes of outputs from those (and values) of inputs, and results."""

    inputs: dict[str, Tensor]
    outputs: dict[str, Tensor]
    infer: Callable[..., dict[str, tuple[int, ...]]]
    compute: Callable[..., dict[str, np.ndarray]]
    profiles: int = 1


class Memory:
    """The memory of a device."""

    def __init__(self):
        self.blocks: dict[int, Any] = {}
        self.calls: list[str] = []
        self.room = 1 << 30

    def allocate(self, size):
        if size > self.room:
            return 2, None
        block = ctypes.create_string_buffer(size)
        self.blocks[ctypes.addressof(block)] = block
        return 0, ctypes.addressof(block)

    def holds(self, address, size):
        return any(
            start <= address and address + size <= start + len(block)
            for start, block in self.blocks.items()
        )


class Error(int):
    """CUDA's errors are numbers with names."""


def cuda(memory):
    """`cuda.bindings.runtime` over such a memory."""
    kinds = types.SimpleNamespace(
        cudaMemcpyHostToDevice=1, cudaMemcpyDeviceToHost=2, cudaMemcpyDeviceToDevice=3
    )

    def copy(target, source, count, kind, stream):
        memory.calls.append(f"copy {kind} {count}")
        assert stream == 77
        assert memory.holds(target, count) == (kind in {1, 3})
        assert memory.holds(source, count) == (kind in {2, 3})
        ctypes.memmove(target, source, count)
        return (Error(0),)

    def malloc(size):
        memory.calls.append(f"malloc {size}")
        status, address = memory.allocate(size)
        return Error(status), address

    def free(address):
        memory.calls.append("free")
        return (Error(0 if memory.blocks.pop(address, None) is not None else 1),)

    def destroy(stream):
        memory.calls.append("destroy")
        return (Error(0),)

    def synchronize(stream):
        memory.calls.append("finish")
        return (Error(0),)

    return types.SimpleNamespace(
        cudaMemcpyKind=kinds,
        cudaGetDevice=lambda: (Error(0), 0),
        cudaStreamCreate=lambda: (Error(0), 77),
        cudaStreamDestroy=destroy,
        cudaStreamSynchronize=synchronize,
        cudaMalloc=malloc,
        cudaFree=free,
        cudaMemcpyAsync=copy,
        cudaGetErrorString=lambda error: (Error(0), b"out of memory"),
    )


class Fake:
    """The library `tensorrt_rtx` over a memory, with one engine by its bytes."""

    def __init__(self, memory, programs):
        self.__name__ = "tensorrt_rtx"
        self.__version__ = "1.7.1.116"
        self.memory = memory
        self.programs = programs
        self.TensorLocation = types.SimpleNamespace(DEVICE="device", HOST="host")
        self.NetworkDefinitionCreationFlag = types.SimpleNamespace(STRONGLY_TYPED=1)
        self.ILogger, self.IOutputAllocator = ILogger, IOutputAllocator
        self.IRuntimeCache = IRuntimeCache
        self.caches = []

    def Runtime(self, logger):
        return Runtime(self, logger)


class ILogger:
    def log(self, severity, text):
        raise NotImplementedError


class IOutputAllocator:
    pass


class Runtime:
    def __init__(self, library, logger):
        self._library, self._logger = library, logger

    def deserialize_cuda_engine(self, buffer):
        self._library.memory.calls.append("deserialize")
        program = self._library.programs.get(bytes(buffer))
        if program is None:
            self._logger.log(1, "IRuntime::deserializeCudaEngine: Error Code 1: (bad magic)")
            return None
        return ICudaEngine(self._library, program, self._logger)


class ICudaEngine:
    def __init__(self, library, program, logger):
        self._library, self._program, self._logger = library, program, logger
        self._tensors = {**program.inputs, **program.outputs}

    def get_tensor_location(self, name):
        places = self._library.TensorLocation
        return places.HOST if self._tensors[name].on_host else places.DEVICE

    def get_aliased_input_tensor(self, name):
        return self._tensors[name].alias

    def create_runtime_config(self):
        return IRuntimeConfig(self._library)

    def create_execution_context(self, runtime_config=None):
        assert runtime_config is None or isinstance(runtime_config, IRuntimeConfig)
        return IExecutionContext(self._library, self._program, self._logger)


class IRuntimeConfig:
    def __init__(self, library):
        self._library = library

    def create_runtime_cache(self):
        cache = IRuntimeCache()
        self._library.caches.append(cache)
        return cache

    def set_runtime_cache(self, cache):
        return True


class IRuntimeCache:
    def __init__(self):
        self._content = b"kernels"
        self._read = None

    def serialize(self):
        return memoryview(self._content)

    def deserialize(self, blob):
        self._read = bytes(blob)
        return True


class IExecutionContext:
    def __init__(self, library, program, logger):
        self._library, self._program, self._logger = library, program, logger
        self._calls = library.memory.calls
        self._profile = 0
        self._shapes, self._addresses, self._allocators = {}, {}, {}
        self._sizes = {}

    def set_optimization_profile_async(self, profile_index, stream_handle):
        self._calls.append(f"profile {profile_index}")
        self._profile, self._shapes = profile_index, {}
        return 0 <= profile_index < self._program.profiles

    def set_input_shape(self, name, shape):
        self._calls.append(f"shape {name} {list(shape)}")
        tensor = self._program.inputs[name]
        low, _, high = (
            tensor.profiles[self._profile]
            if tensor.profiles and not tensor.on_host
            else (shape, shape, shape)
        )
        fits = all(a <= n <= b for a, n, b in zip(low, shape, high, strict=True))
        if not fits:
            self._logger.log(1, "IExecutionContext::setInputShape: Error Code 3: (out of range)")
            return False
        self._shapes[name] = tuple(shape)
        return True

    def set_tensor_address(self, name, memory):
        self._calls.append(f"address {name}")
        if not memory:
            return False
        self._addresses[name] = memory
        return True

    def set_output_allocator(self, name, output_allocator):
        self._allocators[name] = output_allocator
        return True

    def _read(self, name):
        tensor = self._program.inputs[name]
        address, shape = self._addresses[name], self._shapes[name]
        count = int(np.prod(shape, dtype=np.int64)) * np.dtype(tensor.dtype).itemsize
        assert self._library.memory.holds(address, count) != tensor.on_host
        return np.frombuffer(ctypes.string_at(address, count), tensor.dtype).reshape(shape)

    def infer_shapes(self):
        missing = [name for name in self._program.inputs if name not in self._shapes]
        hosts = [name for name, each in self._program.inputs.items() if each.on_host]
        missing += [name for name in hosts if name not in self._addresses]
        if not missing:
            values = {name: self._read(name) for name in hosts}
            self._sizes = self._program.infer(self._shapes, **values)
        return missing

    def get_tensor_shape(self, name):
        return self._sizes[name]

    def execute_async_v3(self, stream_handle):
        self._calls.append("execute")
        found = self._program.compute(**{name: self._read(name) for name in self._program.inputs})
        for name, tensor in self._program.outputs.items():
            array = np.ascontiguousarray(found[name], tensor.dtype)
            address = self._addresses.get(name)
            allocator = self._allocators.get(name)
            if allocator is not None:
                address = allocator.reallocate_output_async(name, 0, array.nbytes, 256, 77)
                if not address:
                    self._logger.log(1, "IExecutionContext: Error Code 2: (no memory)")
                    return False
                allocator.notify_shape(name, found[name].shape)
            else:
                assert tuple(self._sizes[name]) == found[name].shape
            assert self._library.memory.holds(address, array.nbytes) != tensor.on_host
            ctypes.memmove(address, array.ctypes.data, array.nbytes)
        return True
