"""Lazy engine loading: an executable's engine is loaded on the GPU at its first call."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tripybuild.artifact.cache import Cache, key
from tripybuild.artifact.call_signature import Array, import_array
from tripybuild.targets.tensorrt.record import read_record

Run = Callable[[Sequence[Any]], list[Array]]
Prepare = Callable[[Sequence[str], Sequence[tuple[int, ...]]], Run]
Read = Callable[[str], memoryview]


class KernelCache:
    """Kernels that TensorRT-RTX compiled of an engine for a GPU, in the user's cache.

    They do not depend on the weights, so engines of the same layers share them.
    """

    def __init__(self, parts: Mapping[str, str | bytes]) -> None:
        self._key = key({**parts, "what": "kernels"})
        self._known: bytes | None = None

    def read(self) -> bytes | None:
        """Return what was kept, if something was."""
        self._known = Cache().get(self._key)
        return self._known

    def keep(self, content: bytes) -> None:
        """Keep it in the place of what was kept before."""
        if content != self._known:
            Cache().put(self._key, content)
            self._known = content


def prepare_engine(manifest: Mapping[str, Any], read: Read) -> Prepare:
    """Load an engine, and return what prepares it for inputs of given shapes.

    Raises:
        DiagnosticError: There is no GPU, or another one, or another version of the library.
    """
    from tripybuild.tensorrt.runtime import runtime  # noqa: PLC0415 - when used
    from tripybuild.tensorrt.runtime.cuda import Cuda  # noqa: PLC0415 - when used

    text = bytes(read(manifest["engine"]["record"]))
    record = read_record(text, manifest)
    library, gpu = runtime.check_compatibility(record)
    cuda = Cuda.find()
    kernels = KernelCache({"library": library.version, "gpu": repr(gpu), "record": text})
    plan = read(manifest["engine"]["plan"])
    return runtime.LoadedEngine(
        library, cuda, plan, record, output_names(manifest), kernels
    ).prepare


def prepare_mlir_tensorrt(manifest: Mapping[str, Any], read: Read) -> Prepare:
    """Load an executable of mlir-tensorrt's runtime.

    Raises:
        DiagnosticError: There is no GPU, or another version of the runtime.
    """
    from tripybuild.tensorrt.mlir_tensorrt import runtime  # noqa: PLC0415 - when used

    record = read_record(bytes(read(manifest["engine"]["record"])), manifest)
    api = runtime.check_runtime(record)
    plan = read(manifest["engine"]["plan"])
    return runtime.Session(api, plan, record, output_names(manifest)).prepare


def output_names(manifest: Mapping[str, Any]) -> list[str]:
    """The outputs of a model, in their order."""
    return [each["name"] for each in manifest["outputs"]]


def gpu_array(name: str, value: Any) -> Any:
    """An array of another library: one in a GPU's memory is used where it lies."""
    from tripybuild.tensorrt.runtime import dlpack  # noqa: PLC0415 - when used

    return import_array(name, value, dlpack.device_array if dlpack.on_gpu(value) else None)
