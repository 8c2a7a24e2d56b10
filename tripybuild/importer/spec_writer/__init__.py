"""Writer of specs: a call program as the text of a model's file, and the weights that it needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tripybuild.importer.call_program import CallProgram
from tripybuild.importer.foreign_program import ForeignWeight
from tripybuild.importer.spec_writer.definitions import DefinitionWriter
from tripybuild.importer.spec_writer.document import SpecDocument, main_float, model_name
from tripybuild.importer.spec_writer.folding import Folding
from tripybuild.importer.spec_writer.registry_modules import RegistryModules
from tripybuild.schema.load import Registry


@dataclass(frozen=True)
class WrittenSpec:
    """A spec as it is to be stored.

    Attributes:
        text: The model's file.
        weights: The name of the safetensors file that goes beside it; None if it needs none.
        arrays: What is in that file, by name.
    """

    text: str
    weights: str | None = None
    arrays: Mapping[str, ForeignWeight] = field(default_factory=dict)


def write_spec(program: CallProgram, registry: Registry) -> WrittenSpec:
    """Write a program as a spec.

    Args:
        program: The program.
        registry: The declarations that its calls are of.
    """
    modules = RegistryModules(registry, main_float(program))
    writer = DefinitionWriter(program, registry.operators, modules)
    model = writer.write()
    folding = Folding([*writer.definitions.values()])
    model = folding.fold(model)
    file = f"{model_name(program.name)}.safetensors"
    arrays = {}
    for path, value in program.weights.items():
        assert value.weight is not None
        arrays[writer.spec_path(path)] = value.weight
    taken = frozenset({*registry.operators, *registry.modules})
    document = SpecDocument(program, model, folding.kept, file if arrays else "", taken)
    return WrittenSpec(document.text(), file if arrays else None, arrays)
