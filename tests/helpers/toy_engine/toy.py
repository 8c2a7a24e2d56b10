"""An engine as small as one can be: a program of its own, made in the compiler's process."""

from tripybuild.cache.keys import key
from tripybuild.cache.store import Cache
from tripybuild.compiler.lowering.specialize import check_laws, specialize_graph
from tripybuild.reference.execute import reference_run
from tripybuild.targets.executable_file import Description, ExecutableFile, entry_member
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
        warnings = []

        def ahead(members):
            session = compiler_process.session(self.name)
            for entry in request.entries:
                text = printer.text(entry.graph)
                place = key({"target": self.name, "module": text})
                found = Cache().get_or_make(
                    place, lambda text=text: session.compile(self.name, text)
                )
                entry.manifest["toy"] = {"letters": len(found.content)}
                members[entry_member(PROGRAM, entry.name)] = found.content
                warnings.extend(found.warnings)
            return warnings

        return graph_model(request, ahead)

    def load(self, entry):
        weights = entry.model.weights
        return lambda sizes: reference_run(specialize_graph(entry.graph, sizes), weights)

    def emit(self, built, entry, shapes):
        check_laws(built, entry.graph, shapes)
        return f"toy\n{printer.text(entry.graph)}"


class ToyFile(ExecutableFile):
    """A file with a program."""

    def required_members(self, manifest):
        programs = [entry_member(PROGRAM, entry["name"]) for entry in manifest["entries"]]
        return [*super().required_members(manifest), *programs]

    def describe(self, entry, read, *, layers):
        text = bytes(read(entry_member(PROGRAM, entry["name"]))).decode()
        return Description({"program": text}, [("program", {"begins": text[:10]})], hidden=["toy"])
