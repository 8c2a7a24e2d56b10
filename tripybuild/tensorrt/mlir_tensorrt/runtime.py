"""mlir-tensorrt runtime: memrefs in, memrefs out."""

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.per_process import process
from tripybuild.tensorrt.mlir_tensorrt.library import NAME, installed_version, interface
from tripybuild.tensorrt.runtime import dlpack, gpu
from tripybuild.tensorrt.runtime.context import size_of, unpack_elements
from tripybuild.tensorrt.runtime.cuda import refuse_fork
from tripybuild.types.dtypes import BY_NAME, dtype

Array = np.ndarray[Any, Any]
Record = Mapping[str, Any]
Shape = tuple[int, ...]


def check_runtime(record: Record) -> Any:
    """Return the runtime, where there is a GPU and it is the compiler's release.

    Raises:
        DiagnosticError: With all that is missing or of another version.
    """
    problems = []
    device = gpu.find_gpu()
    if isinstance(device, gpu.Absence):
        problems.append(gpu.absence_diagnostic(device, []))
    api = None
    try:
        api = interface("runtime")
        built, here = record["library"]["version"], installed_version("runtime")
        if built != here:
            message = f"the executable was built by {NAME} {built}; here is {here}"
            hint = "compile the model again"
            problems.append(Diagnostic("executable-incompatible", message, hint=hint))
    except DiagnosticError as error:
        problems += error.diagnostics
    if problems:
        raise DiagnosticError(*problems)
    return api


class Session:
    """One executable on the first GPU. Calls from several threads run one after the other."""

    def __init__(
        self, api: Any, payload: memoryview, record: Record, outputs: Sequence[str]
    ) -> None:
        self._api = api
        self._client = api.RuntimeClient()
        self._stream = self._client.create_stream()
        self._device = self._client.get_devices()[0]
        options = api.RuntimeSessionOptions(num_devices=1, device_id=0)
        self._session = api.RuntimeSession(options, api.Executable(bytes(payload)))
        self._function: str = record["function"]
        self._inputs: Sequence[Record] = record["inputs"]
        names = [each["name"] for each in record["outputs"]]
        self._dtypes = [BY_NAME[each["dtype"]] for each in record["outputs"]]
        self._order = [names.index(name) for name in outputs]
        self._lock = threading.Lock()
        self._process = process.mark

    def prepare(
        self, inputs: Sequence[str], shapes: Sequence[Shape]
    ) -> Callable[[Sequence[Any]], list[Array]]:
        """Return what runs arrays given in the order of these names."""
        del shapes  # the runtime looks at those of each call
        places = [inputs.index(each["name"]) for each in self._inputs]

        def run(arrays: Sequence[Any]) -> list[Array]:
            refuse_fork(self._process)  # before the lock, which a thread of the parent may hold
            with self._lock:
                return self._run([arrays[place] for place in places])

        return run

    def _run(self, arrays: list[Any]) -> list[Array]:
        try:
            given = [
                self._input_memref(entry, array)
                for entry, array in zip(self._inputs, arrays, strict=True)
            ]
            results = self._session.execute_function(
                self._function, in_args=given, stream=self._stream, client=self._client
            )
            self._stream.sync()
            taken = [
                self._output_array(each, kind)
                for each, kind in zip(results, self._dtypes, strict=True)
            ]
        except self._api.MTRTException as error:
            message = "mlir-tensorrt did not run the executable"
            notes = tuple(line for line in str(error).splitlines() if line.strip())
            raise DiagnosticError(Diagnostic("engine-failed", message, notes=notes)) from error
        return [taken[place] for place in self._order]

    def _input_memref(self, entry: Record, array: Any) -> Any:
        """An input as a memref: a view of what lies on the device, or a copy there."""
        if isinstance(array, dlpack.DeviceArray):
            capsule = array.owner[1].__dlpack__(stream=dlpack.DEFAULT_STREAM)
            return self._client.create_memref_view_from_dlpack(
                capsule, assert_canonical_strides=True
            )
        code = getattr(self._api.ScalarTypeCode, BY_NAME[entry["dtype"]].mlir.lower())
        # `ascontiguousarray` would give a scalar a dimension.
        whole = np.array(array, order="C", copy=None)
        place = {} if entry["host"] else {"device": self._device, "stream": self._stream}
        return self._client.create_memref(whole, shape=list(whole.shape), dtype=code, **place)

    def _output_array(self, memref: Any, kind: dtype) -> Array:
        """An output as an array that owns its memory."""
        if memref.address_space == self._api.PointerType.device:
            memref = self._client.copy_to_host(device_memref=memref)
        capsule = memref.__dlpack__()
        address, shape, _ = dlpack.capsule_layout(capsule)
        octets = np.frombuffer(ctypes.string_at(address, size_of(kind, shape)), np.uint8)
        if kind.bits < 8:
            return unpack_elements(octets, kind, shape)
        return octets.view(kind.numpy).reshape(shape).copy()
