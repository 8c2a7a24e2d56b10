"""The target `reference`: NumPy, by the references that the operators declare."""

from collections.abc import Mapping

from tripybuild.compiler.lowering.footprint import check_footprint
from tripybuild.compiler.lowering.specialize import check_laws, specialize_graph
from tripybuild.model.model_graph import EntryGraph, ModelGraph
from tripybuild.model.size_limits import check_graph_bytes
from tripybuild.reference.execute import reference_run
from tripybuild.targets.compiled_model import CompiledEntry, CompiledModel
from tripybuild.targets.graph_model import graph_model
from tripybuild.targets.protocol import CompileRequest, Loader, Run, Shapes, Target
from tripybuild.trace import printer
from tripybuild.trace.graph import Graph


class Reference(Target):
    """What operators mean, as their declarations compute it."""

    distribution = "numpy"
    takes_mesh = True  # which says where something is computed, and not what

    def compile(self, request: CompileRequest) -> CompiledModel:
        """Keep the graph, once it fits into memory for the sizes."""
        for entry in request.entries:
            for sizes in entry.shapes:
                _specialize(entry.graph, sizes)
        return graph_model(request)

    def load(self, entry: CompiledEntry) -> Loader:
        """Run the graph for sizes by its references."""

        def load_sizes(sizes: Mapping[str, int]) -> Run:
            return reference_run(_specialize(entry.graph, sizes), entry.model.weights)

        return load_sizes

    def emit(self, built: ModelGraph, entry: EntryGraph, shapes: Shapes) -> str:
        """The graph with its symbols, for which the laws may wait."""
        check_laws(built, entry.graph, shapes[1:])
        return printer.text(entry.graph)


def _specialize(graph: Graph, sizes: Mapping[str, int]) -> Graph:
    """The graph for sizes, each of whose results fits into memory."""
    known = specialize_graph(graph, sizes)
    check_graph_bytes(known)
    check_footprint(known, dense=True)
    return known
