"""Memrefs, sessions and streams; the memory of the device is arrays of this process."""

from types import SimpleNamespace

import numpy as np
from oracles.tensorrt_numpy import evaluate, parsed
from xdsl.dialects.builtin import DenseResourceAttr

from tripybuild.tensorrt.dialect import ConstantOp
from tripybuild.tensorrt.mlir import elements, resources

PointerType = SimpleNamespace(device="device", host="host")
ScalarTypeCode = SimpleNamespace(f32="f32", i32="i32", i64="i64", i1="i1", f16="f16")
KINDS = {"f32": np.float32, "i32": np.int32, "i64": np.int64, "i1": np.bool_, "f16": np.float16}
DEVICE = object()


class MTRTException(Exception):
    pass


class MemRef:
    def __init__(self, array, address_space):
        self.array, self.address_space = array, address_space
        self.shape = list(array.shape)

    def __dlpack__(self):
        assert self.address_space == PointerType.host
        return self.array.__dlpack__()


class Stream:
    def __init__(self):
        self.open = 0

    def sync(self):
        self.open = 0


class RuntimeClient:
    def create_stream(self):
        return Stream()

    def get_devices(self):
        return [DEVICE]

    def create_memref(self, array, /, *, shape, dtype, device=None, stream=None):
        assert list(array.shape) == shape
        assert array.dtype == KINDS[dtype]
        assert (device is None) == (stream is None)
        place = PointerType.host if device is None else PointerType.device
        return MemRef(array.copy(), place)

    def create_memref_view_from_dlpack(self, capsule, *, assert_canonical_strides):
        assert assert_canonical_strides
        return MemRef(np.from_dlpack(Capsule(capsule)), PointerType.device)

    def copy_to_host(self, *, device_memref):
        return MemRef(device_memref.array.copy(), PointerType.host)


class Capsule:
    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


class RuntimeSessionOptions:
    def __init__(self, *, num_devices, device_id):
        assert (num_devices, device_id) == (1, 0)


class Executable:
    def __init__(self, content):
        self.module = parsed(content.decode())
        for op in self.module.walk():  # the oracle would take random numbers
            if isinstance(op, ConstantOp) and isinstance(op.weights, DenseResourceAttr):
                array = resources.of(self.module).array(op.weights)
                op.properties["weights"] = elements.from_numpy(array, op.weights.type)


class RuntimeSession:
    def __init__(self, options, executable):
        assert isinstance(options, RuntimeSessionOptions)
        self._module = executable.module

    def execute_function(self, name, *, in_args, stream, client):
        assert isinstance(stream, Stream)
        assert isinstance(client, RuntimeClient)
        stream.open += 1
        arrays = [each.array for each in in_args]
        if any(each.size == 13 for each in arrays):
            raise MTRTException("InternalError: failed to set input shape\nRuntime shape mismatch")
        results = evaluate(self._module, name, arrays)
        narrow = {"f": np.float32}
        given = [each.astype(narrow.get(each.dtype.kind, each.dtype)) for each in results]
        return [MemRef(each, PointerType.device) for each in given]
