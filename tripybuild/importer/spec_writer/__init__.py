"""Writer of specs: a call program as the text of a model's file, and the weights that it needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tripybuild.eager.evaluate.evaluate import use_references
from tripybuild.importer.call_program import CallProgram
from tripybuild.importer.foreign_program import ForeignWeight
from tripybuild.importer.raising.default_arguments import drop_arguments
from tripybuild.importer.raising.equivalents import raise_compositions
from tripybuild.importer.raising.simplify import simplify
from tripybuild.importer.raising.size_makers import make_buffers
from tripybuild.importer.spec_writer.definition import Folding
from tripybuild.importer.spec_writer.definitions import DefinitionWriter
from tripybuild.importer.spec_writer.document import SpecDocument, main_float
from tripybuild.importer.spec_writer.module_runs import close_regions
from tripybuild.importer.spec_writer.names import model_name, rename_dims, rename_inputs
from tripybuild.importer.spec_writer.registry_modules import RegistryModules
from tripybuild.importer.spec_writer.size_names import name_sizes
from tripybuild.importer.spec_writer.stored_weights import weight_files
from tripybuild.importer.spec_writer.value_names import ValueNames
from tripybuild.schema.load import Registry

_REASON = "since its name means something else in a spec"
COMPUTED = 1 << 24  # elements of a graph that is computed to see what it equals


@dataclass(frozen=True)
class WrittenSpec:
    """A spec as it is to be stored.

    Attributes:
        text: The model's file.
        weights: The name of the safetensors file that goes beside it; None if it needs none.
        arrays: What is in that file, by name.
        checkpoints: Files that the spec names and that must be beside it, as they are.
        input_names: What inputs are called, by their own names, where those mean something else.
        notes: What was renamed, one sentence each.
    """

    text: str
    weights: str | None = None
    arrays: Mapping[str, ForeignWeight] = field(default_factory=dict)
    checkpoints: Sequence[Path] = ()
    input_names: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()


def write_spec(program: CallProgram, registry: Registry, *, by_name: bool = False) -> WrittenSpec:
    """Write a program as a spec.

    Args:
        program: The program.
        registry: The declarations that its calls are of.
        by_name: Whether the spec names the files of a checkpoint that hold its weights. They must
            then be beside it. Otherwise all weights are stored anew.
    """
    with use_references(COMPUTED):
        program = simplify(make_buffers(program, registry.operators), registry.operators)
    program = raise_compositions(program, registry.operators)
    with use_references(COMPUTED):
        program = drop_arguments(program, registry.operators)
    return write_calls(program, registry, by_name=by_name)


def write_calls(program: CallProgram, registry: Registry, *, by_name: bool = False) -> WrittenSpec:
    """Write a program as a spec, call by call: nothing is said in another way.

    The arguments are those of `write_spec`.
    """
    program = close_regions(program, registry.operators)
    modules = RegistryModules(registry, main_float(program))
    writer = DefinitionWriter(program, registry.operators, modules, ValueNames(program))
    model = writer.write()
    folding = Folding([*writer.definitions.values()])
    model = folding.fold(model)
    weights = {
        writer.spec_path(path): value
        for path, value in program.weights.items()
        if path not in program.updates
    }
    files = weight_files(weights, f"{model_name(program.name)}.safetensors", by_name=by_name)
    every = [model, *folding.kept]
    held = {name for each in every for name in (*each.parts, *each.weights)}
    inputs = {value.name for value in program.graph.inputs}
    known = frozenset(registry.operators), frozenset(registry.modules)
    taken = held.union(*known, inputs)
    called = rename_inputs(model, taken.union(program.ranges))
    taken.update(called.values())
    dims = rename_dims(program.ranges, taken)
    names = name_sizes(program, every, taken.union(program.ranges, dims.values()))
    document = SpecDocument(program, model, folding.kept, files.section, *known, names, dims)
    notes = [f"the input `{old}` is called `{new}`, {_REASON}" for old, new in called.items()]
    notes += [f"the dimension `{old}` is called `{new}`, {_REASON}" for old, new in dims.items()]
    return WrittenSpec(
        document.text(), files.stored, files.arrays, files.checkpoints, called, notes
    )
