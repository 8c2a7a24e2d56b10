"""The target `reference`: NumPy, by the references that the operators declare."""

from typing import TYPE_CHECKING

from tripybuild.targets.protocol import CompileRequest, Loader, Run, Shapes, Target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tripybuild.model.graph_builder import ModelGraph
    from tripybuild.targets.compiled_model import CompiledModel
    from tripybuild.trace.graph import Graph


class Reference(Target):
    """What operators mean, as their declarations compute it."""

    form = "trace"
    distribution = "numpy"

    def compile(self, request: CompileRequest) -> "CompiledModel":
        """Keep the graph, once it fits into memory for the sizes."""
        from tripybuild.targets.graph_model import graph_model  # noqa: PLC0415 - when used

        for sizes in request.shapes:
            _specialize(request.graph, sizes)
        return graph_model(request)

    def load(self, model: "CompiledModel") -> Loader:
        """Run the graph for sizes by its references."""
        from tripybuild.reference.execute import reference_run  # noqa: PLC0415 - when used

        def load_sizes(sizes: "Mapping[str, int]") -> Run:
            return reference_run(_specialize(model.graph, sizes), model.weights)

        return load_sizes

    def emit(self, built: "ModelGraph", graph: "Graph", shapes: Shapes) -> str:
        """The graph with its symbols, for which the laws may wait."""
        from tripybuild.compiler.lowering.specialize import check_laws  # noqa: PLC0415 - when used
        from tripybuild.trace import printer  # noqa: PLC0415 - when used

        check_laws(built, graph, shapes[1:])
        return printer.text(graph)


def _specialize(graph: "Graph", sizes: "Mapping[str, int]") -> "Graph":
    """The graph for sizes, each of whose results fits into memory."""
    from tripybuild.compiler.lowering.footprint import check_footprint  # noqa: PLC0415 - when used
    from tripybuild.compiler.lowering.specialize import (  # noqa: PLC0415 - when used
        specialize_graph,
    )
    from tripybuild.model.size_limits import check_graph_bytes  # noqa: PLC0415 - when used

    known = specialize_graph(graph, sizes)
    check_graph_bytes(known)
    check_footprint(known, dense=True)
    return known
