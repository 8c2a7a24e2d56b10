"""A target that computes with the references, as small as one can be."""

from tripybuild.compiler.lowering.specialize import check_laws, specialize_graph
from tripybuild.reference.execute import reference_run
from tripybuild.targets.graph_model import graph_model
from tripybuild.targets.protocol import Description, Target
from tripybuild.trace import printer


class Toy(Target):
    """The references, in this process."""

    form = "toy"
    distribution = "numpy"

    def compile(self, request):
        request.manifest["toy"] = {"operations": len(request.graph.operations)}
        return graph_model(request)

    def load(self, model):
        return lambda sizes: reference_run(specialize_graph(model.graph, sizes), model.weights)

    def emit(self, built, graph, shapes):
        check_laws(built, graph, shapes)
        return f"toy\n{printer.text(graph)}"

    def describe(self, manifest, read, *, layers):
        count = manifest["toy"]["operations"]
        return Description({"toys": count}, [("toys", {"operations": str(count)})], hidden=["toy"])
