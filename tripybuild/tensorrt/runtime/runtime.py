"""Engine runtime: arrays in, arrays out, on one stream of the current GPU.

Invariant: a call never writes to what it was given, and what it gives owns its memory. What depends
on shapes alone is done once for each combination of them and kept while calls repeat it; a call is
then copies, one launch, and copies.
"""

import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.per_process import process
from tripybuild.tensorrt.runtime import gpu
from tripybuild.tensorrt.runtime.context import (
    EngineOutput,
    ExecutionContext,
    pack_elements,
    size_of,
)
from tripybuild.tensorrt.runtime.cuda import Buffer, Cuda, refuse_fork
from tripybuild.tensorrt.runtime.dlpack import DeviceArray
from tripybuild.tensorrt.translation.library import Library
from tripybuild.tensorrt.translation.log import Log
from tripybuild.types.dtypes import BY_NAME

Array = np.ndarray[Any, Any]
Record = Mapping[str, Any]
Run = Callable[[Sequence[Any]], list[Array]]
Shape = tuple[int, ...]


def check_compatibility(record: Record) -> tuple[Library, gpu.Gpu]:
    """Return the library and the GPU that an engine is run with, before TensorRT reads the plan.

    Raises:
        DiagnosticError: With all that is missing, or of another kind or version.
    """
    device, capabilities = gpu.find_gpu(), record["compute_capabilities"]
    problems = []
    if isinstance(device, gpu.Absence):
        problems.append(gpu.absence_diagnostic(device, capabilities))
    elif (mismatch := gpu.mismatch_diagnostic(device, capabilities)) is not None:
        problems.append(mismatch)
    library: Library | None = None
    try:
        library = Library.find(record["library"]["name"])
        problems += _version_problems(library, record["library"]["version"])
    except DiagnosticError as error:
        problems += error.diagnostics
    if problems or library is None or isinstance(device, gpu.Absence):
        raise DiagnosticError(*problems)
    return library, device


def _version_problems(library: Library, version: str) -> Iterator[Diagnostic]:
    if library.version != version:
        message = f"the engine was built by {library.name} {version}; here is {library.version}"
        note = "an engine is read only by the version that wrote it"
        package = library.module.__name__
        hint = f"compile the model again, or install `{package}=={version}`"
        yield Diagnostic("executable-incompatible", message, notes=(note,), hint=hint)


def select_profile(inputs: Sequence[Record], numbers: Mapping[str, Shape]) -> int:
    """Return the index of the best optimization profile.

    Of those that hold the sizes it is the one whose `opt` is nearest, then the narrowest, then the
    first; an engine without dynamic sizes has one, which holds what there is.

    Args:
        inputs: The inputs of an engine's record.
        numbers: The sizes of each input, or its values where its profiles are of values.

    Raises:
        DiagnosticError: No profile holds them.
    """
    ranged = [each for each in inputs if each["profiles"]]
    count = max((len(each["profiles"]) for each in ranged), default=0)
    if count == 0:
        return 0
    costs = {
        index: cost for index in range(count) if (cost := _cost(ranged, numbers, index)) is not None
    }
    if not costs:
        raise DiagnosticError(_none_holds(ranged, numbers))
    return min(costs, key=lambda index: (*costs[index], index))


def _cost(
    inputs: Sequence[Record], numbers: Mapping[str, Shape], index: int
) -> tuple[int, int] | None:
    """Return how far `opt` is from the numbers, and how wide the profile is, if it holds them."""
    far = wide = 0
    for each in inputs:
        profiles = each["profiles"]
        profile = profiles[index if len(profiles) > 1 else 0]
        for number, minimum, optimum, maximum in zip(
            numbers[each["name"]], profile["min"], profile["opt"], profile["max"], strict=True
        ):
            if not minimum <= number <= maximum:
                return None
            far, wide = far + abs(number - optimum), wide + maximum - minimum
    return far, wide


def _none_holds(inputs: Sequence[Record], numbers: Mapping[str, Shape]) -> Diagnostic:
    notes = []
    for each in inputs:
        ranges = " or ".join(
            f"{list(one['min'])} to {list(one['max'])}" for one in each["profiles"]
        )
        what = "values" if each.get("of_values") else "sizes"
        notes.append(f"`{each['name']}` has {what} {list(numbers[each['name']])}, within {ranges}")
    message = "no optimization profile of the engine holds these sizes together"
    hint = "compile the model for them with `--shapes`, or widen its `ranges:`"
    return Diagnostic("size-out-of-range", message, notes=tuple(notes), hint=hint)


class EngineInput:
    """An input of an engine: its memory on the device, or on the host where its values decide."""

    def __init__(self, record: Mapping[str, Any], cuda: Cuda, *, on_host: bool) -> None:
        self.name: str = record["name"]
        self.dtype = BY_NAME[record["dtype"]]
        self.on_host = on_host
        self.buffer = Buffer(cuda)
        self.kept: Any = None  # host memory that the engine or a copy may still read


class LoadedEngine:
    """An engine on the GPU. Calls from several threads run one after the other."""

    def __init__(
        self,
        library: Library,
        cuda: Cuda,
        plan: memoryview,
        record: Mapping[str, Any],
        outputs: Sequence[str],
        kernels: Any = None,
    ) -> None:
        self._record = record["inputs"]
        self._cuda = cuda
        self._log = Log()
        self._runtime = library.runtime(self._log)
        engine = self._runtime.deserialize_cuda_engine(plan)
        if engine is None:
            raise DiagnosticError(_unreadable_engine(self._log.drain()))
        self._device = cuda.device()
        self._stream = cuda.stream()
        weakref.finalize(self, cuda.end, self._stream)
        self._context = ExecutionContext(library, engine, self._log, self._stream, kernels)
        host = library.module.TensorLocation.HOST
        places = {name: engine.get_tensor_location(name) == host for name in self._names(outputs)}
        self._inputs = [
            EngineInput(each, cuda, on_host=places[each["name"]]) for each in self._record
        ]
        known = {each["name"]: each for each in record["outputs"]}
        self._outputs = [
            EngineOutput(
                library, cuda, known[name], self._context.alias(name), on_host=places[name]
            )
            for name in outputs
        ]
        self._overwritten = {each.alias for each in self._outputs}
        self._bound: object = None
        self._lock = threading.Lock()
        self._process = process.mark

    def _names(self, outputs: Sequence[str]) -> list[str]:
        return [*(each["name"] for each in self._record), *outputs]

    def prepare(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> Run:
        """Return what runs arrays of these shapes, given in the order of these names."""
        places = [inputs.index(each.name) for each in self._inputs]
        ordered = [shapes[place] for place in places]

        def run(arrays: Sequence[Any]) -> list[Array]:
            refuse_fork(self._process)  # before the lock, which a thread of the parent may hold
            with self._lock:
                return self._run(ordered, [arrays[place] for place in places])

        return run

    def _run(self, shapes: list[Shape], arrays: list[Any]) -> list[Array]:
        self._check_device(arrays)
        try:
            self._bind(shapes, arrays)
            for port, array in zip(self._inputs, arrays, strict=True):
                if not port.on_host:
                    self._give(port, array)
            for output in self._outputs:
                output.place(self._context, self._inputs)
            self._context.execute()
            return self._results()
        except BaseException:
            self._bound = None  # its state is unknown after a failure
            raise

    def _check_device(self, arrays: list[Any]) -> None:
        """Refuse arrays that lie on another GPU."""
        for port, array in zip(self._inputs, arrays, strict=True):
            if isinstance(array, DeviceArray) and array.device != self._device:
                where = f"GPU {array.device}, and the engine on GPU {self._device}"
                message = f"the input `{port.name}` lies on {where}"
                hint = "copy it to the engine's GPU"
                raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint))

    def _results(self) -> list[Array]:
        """The outputs: those of sizes that only the run knows are copied when it is done."""
        if any(each.is_open for each in self._outputs):
            self._cuda.finish(self._stream)
        written = [each.fetch(self._context) for each in self._outputs]
        self._cuda.finish(self._stream)
        self._context.finish()
        return [each.finish(one) for each, one in zip(self._outputs, written, strict=True)]

    def _bind(self, shapes: list[Shape], arrays: list[Any]) -> None:
        """Tell the context shapes, and the values that decide shapes, if they are new to it."""
        hosts = {
            port.name: pack_elements(self._to_host(array), port.dtype)
            for port, array in zip(self._inputs, arrays, strict=True)
            if port.on_host
        }
        wanted = (shapes, [each.tobytes() for each in hosts.values()])
        if wanted == self._bound:
            return
        numbers: dict[str, Shape] = {}
        for port, shape, entry in zip(self._inputs, shapes, self._record, strict=True):
            values = entry.get("of_values") and port.name in hosts
            numbers[port.name] = (
                tuple(int(n) for n in hosts[port.name].reshape(-1)) if values else shape
            )
        self._context.choose(select_profile(self._record, numbers))
        for port, shape in zip(self._inputs, shapes, strict=True):
            self._context.shape(port.name, shape)
            if port.on_host:
                port.kept = hosts[port.name].copy()
                self._context.point(port.name, port.kept.ctypes.data)
        self._context.infer()
        for output in self._outputs:
            output.bind(self._context)
        self._bound = wanted

    def _to_host(self, array: Any) -> Array:
        """The values of an array, wherever it lies."""
        if not isinstance(array, DeviceArray):
            return np.asarray(array)
        found = np.empty(array.shape, array.dtype)
        self._cuda.download(found.ctypes.data, array.address, found.nbytes, self._stream)
        self._cuda.finish(self._stream)
        return found

    def _give(self, port: EngineInput, array: Any) -> None:
        """Let an input be where it lies on the device, or copy it there.

        An input that the engine writes to, as caches of keys and values are, is always a copy.
        """
        size = size_of(port.dtype, array.shape)
        if isinstance(array, DeviceArray):
            port.kept = array
            address = array.address
            if port.name in self._overwritten or not address:
                address = port.buffer.reserve(size)
                self._cuda.move(address, array.address, size, self._stream)
        else:
            port.kept = pack_elements(array, port.dtype)
            address = port.buffer.reserve(size)
            self._cuda.upload(address, port.kept.ctypes.data, size, self._stream)
        self._context.point(port.name, address)


def _unreadable_engine(said: tuple[str, ...]) -> Diagnostic:
    message = "TensorRT does not read the engine"
    hint = "compile the model again on this machine, or for its GPU"
    return Diagnostic("executable-incompatible", message, notes=said, hint=hint)
