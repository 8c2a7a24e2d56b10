"""The targets `tensorrt-rtx`, `tensorrt` and `mlir-tensorrt`, which build engines and run them.

An engine is loaded on the GPU at its first call. What compiles takes xDSL, which takes longer to
import than all else, so that the methods that compile and print import it: a call needs none of it,
and the compiler's process starts meanwhile.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tripybuild.artifact.call_signature import import_array
from tripybuild.cache.keys import key
from tripybuild.cache.store import Cache
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.model.model_graph import EntryGraph, ModelGraph
from tripybuild.targets.compiled_model import CompiledEntry, CompiledModel
from tripybuild.targets.protocol import (
    CompileRequest,
    EntryRequest,
    Facts,
    Loader,
    Run,
    Shapes,
    Target,
    Trial,
)
from tripybuild.targets.table import prepare_compiler
from tripybuild.targets.tensorrt.build import EngineMembers, toolchain
from tripybuild.targets.tensorrt.record import read_record
from tripybuild.targets.tensorrt.weights import EngineWeights
from tripybuild.tensorrt.mlir_tensorrt import runtime as mlir_tensorrt
from tripybuild.tensorrt.runtime import dlpack, gpu
from tripybuild.tensorrt.runtime.cuda import Cuda
from tripybuild.tensorrt.runtime.runtime import LoadedEngine, check_compatibility
from tripybuild.tensorrt.translation.library import Library
from tripybuild.types.nonfinite import Nonfinite
from tripybuild.weights.warnings import nonfinite_warnings
from tripybuild.worker import compiler_process

CAPABILITY = re.compile(r"sm[1-9][0-9]{1,2}")
Read = Callable[[str], memoryview]
Prepare = Callable[[Sequence[str], Sequence[tuple[int, ...]]], Run]


class EngineTarget(Target):
    """What builds an engine, and runs it on a GPU.

    Args:
        name: Its name, which the compiler's process knows it by.
        capabilities: The GPUs that it builds for; none named means all that can be.
    """

    def __init__(self, name: str, capabilities: Sequence[str] = ()) -> None:
        super().__init__(name)
        self.capabilities = tuple(capabilities)

    def __str__(self) -> str:
        return ":".join(filter(None, (self.name, ",".join(self.capabilities))))

    def for_gpus(self, text: str) -> Target:
        """The target for the compute capabilities `sm86,sm89` alone.

        Raises:
            DiagnosticError: One of them is none, or it builds for the machine that it is on.
        """
        if not self.entry.portable:
            return super().for_gpus(text)
        capabilities = sorted({each.strip().lower() for each in text.split(",")})
        for each in capabilities:
            if not CAPABILITY.fullmatch(each):
                missing = f"`{self.name}:{text}` lacks a GPU"
                message = f"`{each}` is not a compute capability" if each else missing
                hint = "write them as `sm86` or `sm86,sm89`"
                raise DiagnosticError(Diagnostic("unknown-target", message, hint=hint))
        return type(self)(self.name, capabilities)

    def toolchain(self) -> dict[str, str]:
        """The library, and the GPU where it builds for that which is here."""
        return toolchain(self)

    def start(self) -> None:
        """Start the process that loads the library."""
        compiler_process.session(self.name).start()

    def compile(self, request: CompileRequest) -> CompiledModel:
        """Build an engine of each entry, with profiles for the ranges and for each of the sizes."""
        members, suspects = EngineMembers(), dict[str, Nonfinite]()
        found: list[Diagnostic] = []
        for entry in request.entries:
            try:
                suspects |= self._compile_entry(request, entry, None if found else members)
            except DiagnosticError as error:
                found += error.diagnostics
        if found:
            raise DiagnosticError(*dict.fromkeys(found))
        made, declared = members.model(request.manifest), request.built.declared_weights
        made.warnings += nonfinite_warnings(suspects, declared, request.weights)
        return made

    def _compile_entry(
        self, request: CompileRequest, entry: EntryRequest, members: EngineMembers | None
    ) -> Mapping[str, Nonfinite]:
        """Build an engine, or only look what is wrong where there is no place for it.

        Returns:
            The weights with elements that are no finite numbers.
        """
        request.tell(" ".join(filter(None, ("lower", entry.name))))
        names = () if members is None else entry.graph.weights
        with EngineWeights(self.name, request.weights, names) as weights:
            from tripybuild.targets.tensorrt import model  # noqa: PLC0415 - xDSL, beside the weights

            if members is None:
                model.engine_module(request.built, entry.built, entry.shapes)
                return {}
            model.compile_entry(request, entry, self, weights, members)
            return weights.nonfinite()

    def compile_module(
        self,
        path: Path,
        timeout: float | None,
        tell: Callable[[str, float], None],
        function: str | None,
    ) -> CompiledModel:
        """Build an engine of each function of a module."""
        from tripybuild.targets.tensorrt import mlir_model  # noqa: PLC0415 - xDSL

        return mlir_model.compile_module(path, self, timeout, tell, function)

    def emit(self, built: ModelGraph, entry: EntryGraph, shapes: Shapes) -> str:
        """The module of the dialect, before any pass."""
        from tripybuild.targets.tensorrt import model  # noqa: PLC0415 - xDSL

        return model.emit_graph(built, entry, shapes)

    def emit_module(self, path: Path) -> str:
        """A module after all passes."""
        from tripybuild.targets.tensorrt import mlir_model  # noqa: PLC0415 - xDSL

        return mlir_model.emit_module(path)

    def load(self, entry: CompiledEntry) -> Loader:
        """Load the engine on this machine's GPU."""
        prepare = self.prepare_engine(entry.manifest, entry.model.member)
        names = list(entry.signature.inputs)

        def load_sizes(sizes: Mapping[str, int]) -> Run:
            return prepare(names, [shape for _, shape in entry.signature.types(sizes)])

        return load_sizes

    def prepare_engine(self, manifest: Mapping[str, Any], read: Read) -> Prepare:
        """Load the engine of an entry, and return what prepares it for inputs of given shapes.

        Raises:
            DiagnosticError: There is no GPU, or another one, or another version of the library.
        """
        text = bytes(read(manifest["engine"]["record"]))
        record = read_record(text, manifest)
        library, device = check_compatibility(record)
        cuda = Cuda.find()
        kernels = KernelCache({"library": library.version, "gpu": repr(device), "record": text})
        plan = read(manifest["engine"]["plan"])
        return LoadedEngine(library, cuda, plan, record, _output_names(manifest), kernels).prepare

    def rebuild(self, model: CompiledModel, timeout: float | None = None) -> CompiledModel:
        """Refuse: the weights of an engine are nowhere else.

        Raises:
            DiagnosticError: Always.
        """
        del model, timeout
        reason = "its weights are in its engine alone"
        message = f"an executable for `{self.name}` cannot be rebuilt: {reason}"
        hint = "build the engine from the model's own files with `tripybuild compile`"
        raise DiagnosticError(Diagnostic("cannot-rebuild", message, hint=hint))

    def works(self, trial: Trial) -> Facts:
        """The library's version, and the GPUs that it builds for; nothing is run."""
        found = Library.find(self.name)
        library = _engine_of(trial.compile())["library"]
        return {found.module.__name__: library["version"], "gpus": list(found.compute_capabilities)}

    def check_gpu(self, trial: Trial, facts: Facts) -> None:
        """Look for a driver, a GPU and what talks to it, and run an engine.

        Raises:
            DiagnosticError: One of them is missing, or the engine computes something else.
        """
        found = gpu.find_gpu()
        if isinstance(found, gpu.Absence):
            message = f"this machine has {found.what}"
            raise DiagnosticError(Diagnostic("no-gpu", message, notes=(found.note,)))
        facts |= {"gpu": found.name, "capability": found.capability}
        Cuda.find()
        facts["cuda-bindings"] = version("cuda-bindings")
        trial.run()

    def import_array(self, name: str, value: Any) -> Any:
        """An array of another library: one in a GPU's memory is used where it lies."""
        return import_array(name, value, dlpack.device_array if dlpack.on_gpu(value) else None)


class Tensorrt(EngineTarget):
    """Regular TensorRT, which builds for the GPU that is here."""

    distribution = "tensorrt"


class TensorrtRtx(EngineTarget):
    """TensorRT for RTX, which builds without a GPU."""

    distribution = "tensorrt_rtx"


class MlirTensorrt(EngineTarget):
    """NVIDIA's own compiler of the dialect, and its runtime."""

    distribution = "mlir-tensorrt-compiler"

    @property
    def is_installed(self) -> bool:
        """Whether its compiler can be found."""
        return find_spec("mlir_tensorrt") is not None

    def prepare_engine(self, manifest: Mapping[str, Any], read: Read) -> Prepare:
        """Load an executable of the runtime.

        Raises:
            DiagnosticError: There is no GPU, or another version of the runtime.
        """
        record = read_record(bytes(read(manifest["engine"]["record"])), manifest)
        api = mlir_tensorrt.check_runtime(record)
        plan = read(manifest["engine"]["plan"])
        return mlir_tensorrt.Session(api, plan, record, _output_names(manifest)).prepare

    def works(self, trial: Trial) -> Facts:
        """The compiler's version; nothing is run."""
        prepare_compiler(self.name)
        library = _engine_of(trial.compile())["library"]
        return {self.distribution: library["version"]}


def _engine_of(model: CompiledModel) -> Mapping[str, Any]:
    """What the manifest says of the engine of a model's first entry."""
    return model.manifest["entries"][0]["engine"]  # type: ignore[no-any-return]


def _output_names(manifest: Mapping[str, Any]) -> list[str]:
    """The outputs of an entry, in their order."""
    return [each["name"] for each in manifest["outputs"]]


class KernelCache:
    """Kernels that TensorRT-RTX compiled of an engine for a GPU, in the user's cache.

    They do not depend on the weights, so engines of the same layers share them.
    """

    def __init__(self, parts: Mapping[str, str | bytes]) -> None:
        self._key = key({**parts, "what": "GPU kernels"})
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
