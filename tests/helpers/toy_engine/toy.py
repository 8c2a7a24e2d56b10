"""An engine as small as one can be: a program of its own, made in the compiler's process."""

from tripybuild.artifact.cache import Cache, key
from tripybuild.compiler.lowering.specialize import check_laws, specialize_graph
from tripybuild.reference.execute import reference_run
from tripybuild.targets.executable_file import Description, ExecutableFile
from tripybuild.targets.graph_model import graph_model
from tripybuild.targets.protocol import Target
from tripybuild.trace import printer
from tripybuild.worker import compiler_process

PROGRAM = "toy/program.txt"


def prepare(name):
    """What compiles for the target of this name, in the compiler's process."""
    return lambda module, options: f"{name}: {module.decode().upper()}".encode()


class Toy(Target):
    """Keeps the graph, and computes with the references."""

    distribution = "numpy"

    def compile(self, request):
        text, session = printer.text(request.graph), compiler_process.session(self.name)
        place = key({"target": self.name, "module": text})
        found = Cache().get_or_make(place, lambda: session.compile(self.name, text))
        request.manifest["toy"] = {"letters": len(found.content)}
        made = graph_model(request, lambda members: [members.update({PROGRAM: found.content})][:0])
        made.warnings += found.warnings
        return made

    def load(self, model):
        return lambda sizes: reference_run(specialize_graph(model.graph, sizes), model.weights)

    def emit(self, built, graph, shapes):
        check_laws(built, graph, shapes)
        return f"toy\n{printer.text(graph)}"


class ToyFile(ExecutableFile):
    """A file with a program."""

    def required_members(self, manifest):
        return [*super().required_members(manifest), PROGRAM]

    def describe(self, manifest, read, *, layers):
        text = bytes(read(PROGRAM)).decode()
        return Description({"program": text}, [("program", {"begins": text[:10]})], hidden=["toy"])
