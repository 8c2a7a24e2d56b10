"""The targets `tensorrt-rtx`, `tensorrt` and `mlir-tensorrt` as objects."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.targets.protocol import (
    Compile,
    CompileRequest,
    Description,
    Facts,
    Loader,
    Run,
    Shapes,
    Target,
    Trial,
)

if TYPE_CHECKING:
    from tripybuild.model.graph_builder import ModelGraph
    from tripybuild.targets.compiled_model import CompiledModel
    from tripybuild.trace.graph import Graph

CAPABILITY = re.compile(r"sm[1-9][0-9]{1,2}")


class EngineTarget(Target):
    """What builds an engine, and runs it on a GPU.

    Args:
        name: Its name, which the compiler's process knows it by.
        capabilities: The GPUs that it builds for; none named means all that can be.
    """

    form = "tensorrt"
    # Whether engines are built for GPUs that need not be there.
    portable: ClassVar[bool] = False

    def __init__(self, name: str, capabilities: Sequence[str] = ()) -> None:
        super().__init__(name)
        self.capabilities = tuple(capabilities)

    def __str__(self) -> str:
        return ":".join(filter(None, (self.name, ",".join(self.capabilities))))

    def start(self) -> None:
        """Start the process that loads the library."""
        from tripybuild.worker import compiler_process  # noqa: PLC0415 - when used

        compiler_process.session(self.name).start()

    def compile(self, request: CompileRequest) -> "CompiledModel":
        """Build one engine with a profile for the ranges, and one for each of the sizes."""
        from tripybuild.targets.tensorrt import model  # noqa: PLC0415 - heavy

        return model.compile_graph(request, self)

    def compile_module(
        self,
        path: Path,
        timeout: float | None,
        tell: Callable[[str, float], None],
        function: str | None,
    ) -> "CompiledModel":
        """Build an engine of each function of a module."""
        from tripybuild.targets.tensorrt import mlir_model  # noqa: PLC0415 - heavy

        return mlir_model.compile_module(path, self, timeout, tell, function)

    def emit(self, built: "ModelGraph", graph: "Graph", shapes: Shapes) -> str:
        """The module of the dialect, before any pass."""
        from tripybuild.targets.tensorrt import model  # noqa: PLC0415 - heavy

        return model.emit_graph(built, graph, shapes)

    def emit_module(self, path: Path) -> str:
        """A module after all passes."""
        from tripybuild.targets.tensorrt import mlir_model  # noqa: PLC0415 - heavy

        return mlir_model.emit_module(path)

    def load(self, model: "CompiledModel") -> Loader:
        """Load the engine on this machine's GPU."""
        prepare = self.prepare_engine(model.manifest, model.member)
        names = list(model.signature.inputs)

        def load_sizes(sizes: Mapping[str, int]) -> Run:
            return prepare(names, [shape for _, shape in model.signature.types(sizes)])

        return load_sizes

    def prepare_engine(
        self, manifest: Mapping[str, Any], read: Callable[[str], memoryview]
    ) -> Callable[[Sequence[str], Sequence[tuple[int, ...]]], Run]:
        """Load an engine, and return what prepares it for inputs of given shapes.

        Raises:
            DiagnosticError: There is no GPU, or another one, or another version of the library.
        """
        from tripybuild.targets.tensorrt import run  # noqa: PLC0415 - heavy

        return run.prepare_engine(manifest, read)

    def rebuild(self, model: "CompiledModel", timeout: float | None = None) -> "CompiledModel":
        """Refuse: the weights of an engine are nowhere else.

        Raises:
            DiagnosticError: Always.
        """
        del model, timeout
        reason = "its weights are in its engine alone"
        message = f"an executable for `{self.name}` cannot be rebuilt: {reason}"
        hint = "build the engine from the model's own files with `tripybuild compile`"
        raise DiagnosticError(Diagnostic("cannot-rebuild", message, hint=hint))

    def required_members(self, manifest: Mapping[str, Any]) -> Sequence[str]:
        """The engine, its record and its module."""
        from tripybuild.targets.tensorrt import record  # noqa: PLC0415 - when used

        return record.engine_members(manifest)

    def describe(
        self,
        manifest: Mapping[str, Any],
        read: Callable[[str], memoryview],
        *,
        layers: bool,
    ) -> Description:
        """The engine, its profiles and its layers, from the record that it was built with."""
        from tripybuild.targets.tensorrt import describe, record  # noqa: PLC0415 - when used

        found = record.read_record(bytes(read(manifest["engine"]["record"])), manifest)
        others = manifest["engine"].get("others", ())
        tables = describe.tables(found, portable=self.portable, layers=layers, others=others)
        return Description({"record": found}, tables, hidden=("engine", "arguments"))

    def works(self, trial: Trial) -> Facts:
        """The library's version, and the GPUs that it builds for; nothing is run."""
        from tripybuild.tensorrt.translation.library import Library  # noqa: PLC0415 - heavy

        found = Library.find(self.name)
        library = trial.compile().manifest["engine"]["library"]
        return {found.module.__name__: library["version"], "gpus": list(found.compute_capabilities)}

    def import_array(self, name: str, value: Any) -> Any:
        """An array of another library: one in a GPU's memory is used where it lies."""
        from tripybuild.targets.tensorrt import run  # noqa: PLC0415 - heavy

        return run.gpu_array(name, value)

    def prepare_compiler(self) -> Compile:
        """Load the library."""
        from tripybuild.tensorrt.runtime import request  # noqa: PLC0415 - heavy

        return request.prepare(self.name)


class Tensorrt(EngineTarget):
    """Regular TensorRT, which builds for the GPU that is here."""

    distribution = "tensorrt"


class TensorrtRtx(EngineTarget):
    """TensorRT for RTX, which builds without a GPU."""

    distribution = "tensorrt_rtx"
    portable = True

    def for_gpus(self, text: str) -> Self:
        """The target for the compute capabilities `sm86,sm89` alone.

        Raises:
            DiagnosticError: One of them is none.
        """
        capabilities = sorted({each.strip().lower() for each in text.split(",")})
        for each in capabilities:
            if not CAPABILITY.fullmatch(each):
                missing = f"`{self.name}:{text}` lacks a GPU"
                message = f"`{each}` is not a compute capability" if each else missing
                hint = "write them as `sm86` or `sm86,sm89`"
                raise DiagnosticError(Diagnostic("unknown-target", message, hint=hint))
        return type(self)(self.name, capabilities)


class MlirTensorrt(EngineTarget):
    """NVIDIA's own compiler of the dialect, and its runtime."""

    distribution = "mlir-tensorrt-compiler"

    def prepare_engine(
        self, manifest: Mapping[str, Any], read: Callable[[str], memoryview]
    ) -> Callable[[Sequence[str], Sequence[tuple[int, ...]]], Run]:
        """Load an executable of the runtime.

        Raises:
            DiagnosticError: There is no GPU, or another version of the runtime.
        """
        from tripybuild.targets.tensorrt import run  # noqa: PLC0415 - heavy

        return run.prepare_mlir_tensorrt(manifest, read)

    def works(self, trial: Trial) -> Facts:
        """The compiler's version; nothing is run."""
        self.prepare_compiler()
        library = trial.compile().manifest["engine"]["library"]
        return {self.distribution: library["version"]}

    def prepare_compiler(self) -> Compile:
        """Load the compiler; that it is not installed is said before ours is loaded."""
        from tripybuild.tensorrt.mlir_tensorrt import library  # noqa: PLC0415 - heavy

        library.interface("compiler")
        from tripybuild.tensorrt.mlir_tensorrt import compiler  # noqa: PLC0415 - heavy

        return compiler.compile_request
