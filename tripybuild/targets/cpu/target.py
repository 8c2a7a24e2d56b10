"""The target `cpu` as an object; what it does is in the modules beside this one."""

from typing import TYPE_CHECKING

from tripybuild.targets.protocol import Compile, CompileRequest, Loader, Shapes, Target

if TYPE_CHECKING:
    from tripybuild.model.graph_builder import ModelGraph
    from tripybuild.targets.compiled_model import CompiledModel
    from tripybuild.trace.graph import Graph


class Cpu(Target):
    """XLA on the processor."""

    form = "stablehlo"
    distribution = "jaxlib"

    def compile(self, request: CompileRequest) -> "CompiledModel":
        """Compile ahead for the sizes, and keep the graph for others."""
        from tripybuild.targets.cpu import programs  # noqa: PLC0415 - when used

        return programs.compile_graph(request)

    def load(self, model: "CompiledModel") -> Loader:
        """Take the file's own program for sizes, or compile one."""
        from tripybuild.targets.cpu import programs  # noqa: PLC0415 - when used

        return programs.loader(model)

    def emit(self, built: "ModelGraph", graph: "Graph", shapes: Shapes) -> str:
        """The StableHLO for the last of the sizes."""
        from tripybuild.targets.cpu import compile_module  # noqa: PLC0415 - when used

        return compile_module.stablehlo_module(built, graph, shapes[-1]).text()

    def rebuild(self, model: "CompiledModel", timeout: float | None = None) -> "CompiledModel":
        """Compile the StableHLO of a file anew."""
        from tripybuild.targets.cpu import recompile  # noqa: PLC0415 - when used

        return recompile.recompile(model, timeout)

    def prepare_compiler(self) -> Compile:
        """Load XLA."""
        from tripybuild.targets.xla import client, pjrt  # noqa: PLC0415 - heavy

        client.client()
        return pjrt.compile
