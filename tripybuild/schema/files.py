"""Pydantic models of the YAML files: their keys and values.

These models know no operator and parse no snippet; `schema.operator.elaborate` does. They are also
the source of the JSON schemas for editors. The order of the fields is the order in which a file is
read, and in which `tripybuild fmt` writes it (`schema.reading_order`).
"""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from tripybuild.schema.comparison_files import TestEntry
from tripybuild.schema.entries import (
    AliasEntry,
    CasesEntry,
    Code,
    Doc,
    Name,
    SnakeCase,
    StrictModel,
)
from tripybuild.schema.size_entries import Configuration, SizeEntry, SizeTree, UseEntry
from tripybuild.schema.snippets.expressions import Expression
from tripybuild.schema.target_files import TargetEntry

FORMAT = 1


class InputEntry(StrictModel):
    """A tensor that the operator takes."""

    type: str
    optional: bool = False
    constant: Expression = False
    doc: Doc


class AttributeEntry(StrictModel):
    """A Python value that the operator takes."""

    type: str
    default: Expression = None
    keywords: bool = False
    doc: Doc


class OutputEntry(StrictModel):
    """A tensor that the operator gives."""

    type: str
    aliases: str | None = None
    doc: Doc


class LawEntry(StrictModel):
    """A law with a message of its own; names in braces are replaced by their values."""

    that: Expression
    message: str
    hint: str | None = None


class ToleranceEntry(StrictModel):
    """How far from the reference: `|got - want| <= absolute + relative * |want|`."""

    relative: float = 0.0
    absolute: float = 0.0


class ExampleEntry(StrictModel):
    """A call with what it gives, or the law that it breaks."""

    sizes: dict[Name, int] = Field(default_factory=dict)
    call: str
    gives: Expression = None
    fails: str | None = None


class ModuleExampleEntry(StrictModel):
    """A module that cannot be made, and the law or the size that says so."""

    call: str
    fails: str


class CostEntry(StrictModel):
    """What a call costs, as expressions over the sizes."""

    flops: Expression = None
    bytes: Expression = None
    turns: Expression = None


class OperatorBody(StrictModel):
    """What an operator and a family of operators both can say."""

    inline: bool = False
    kind: Literal["movement"] | None = None
    doc: Doc | None = None
    types: dict[Name, list[str]] = Field(default_factory=dict)
    inputs: dict[Name, InputEntry] = Field(default_factory=dict)
    attributes: dict[Name, AttributeEntry] = Field(default_factory=dict)
    signatures: list[str] = Field(default_factory=list)
    outputs: dict[Name, OutputEntry] = Field(default_factory=dict)
    requires: dict[Code, LawEntry | Expression] = Field(default_factory=dict)
    infer: dict[Name, Expression | CasesEntry] = Field(default_factory=dict)
    on_sizes: Expression = None
    shortcut: Expression = None
    decompose: str | CasesEntry | None = None
    equivalents: list[str] = Field(default_factory=list)
    reference: str | CasesEntry | None = None
    lower: dict[Literal["tensorrt", "stablehlo", "onnx"], str | CasesEntry] = Field(
        default_factory=dict
    )
    targets: dict[str, TargetEntry] = Field(default_factory=dict)
    tolerance: dict[str, ToleranceEntry] = Field(default_factory=dict)
    random: bool = False
    sample: dict[Name, Expression] = Field(default_factory=dict)
    examples: list[ExampleEntry] = Field(default_factory=list)
    aliases: AliasEntry | None = None
    cost: CostEntry | None = None
    since: str | None = None
    deprecated: str | None = None


class OperatorFile(OperatorBody):
    """One operator."""

    tripybuild: Literal[1]
    op: SnakeCase
    like: str | None = None


class FamilyFile(OperatorBody):
    """What several operators have in common."""

    tripybuild: Literal[1]
    family: Name
    extends: str | None = None
    parameters: list[Name] = Field(default_factory=list)
    defaults: dict[Name, Expression] = Field(default_factory=dict)


class PartInputEntry(StrictModel):
    """A tensor that a part takes, and that may be left out."""

    type: str
    optional: bool = False
    doc: str | None = None


class WeightEntry(StrictModel):
    """A weight that is there only under a condition."""

    type: str
    when: Expression = True
    doc: str | None = None


class StateEntry(StrictModel):
    """A tensor that is kept from call to call."""

    type: str
    first: Expression = None
    doc: str | None = None


class ModuleWeightEntry(WeightEntry):
    """A weight of a module, and how its Python class differs: in ranks, or in taking more."""

    ranks: list[int] = Field(default_factory=list)
    optional: Expression = False


class RangeEntry(StrictModel):
    """The sizes that a dynamic dimension can have."""

    min: int | str = 1
    opt: int | str | None = None
    max: int | str | None = None
    multiple_of: int | str = 1


class PartEntry(StrictModel):
    """A part of a model: parts, weights and steps of its own."""

    doc: Doc | None = None
    sizes: list[Name] | dict[Name, Expression | SizeEntry] = Field(default_factory=list)
    types: dict[Name, str | list[str]] = Field(default_factory=dict)
    requires: dict[Code, LawEntry | Expression] = Field(default_factory=dict)
    inputs: dict[Name, str | PartInputEntry] = Field(default_factory=dict)
    parts: dict[Name, Expression] = Field(default_factory=dict)
    constants: dict[Name, str] = Field(default_factory=dict)
    weights: dict[Name, str | WeightEntry] = Field(default_factory=dict)
    prepared: dict[Name, Expression] = Field(default_factory=dict)
    state: dict[Name, str | StateEntry] = Field(default_factory=dict)
    steps: dict[str, Expression] = Field(default_factory=dict)
    next: dict[Name, Expression] = Field(default_factory=dict)
    outputs: dict[str, Expression] = Field(default_factory=dict)


class ModuleFile(PartEntry):
    """A part that every model can use, such as a linear layer."""

    tripybuild: Literal[1]
    module: Name
    extends: Name | None = None
    doc: Doc
    weights: dict[Name, str | ModuleWeightEntry] = Field(  # type: ignore[assignment]  # of a narrower kind
        default_factory=dict
    )
    sample: dict[Name, Expression] = Field(default_factory=dict)
    examples: list[ModuleExampleEntry] = Field(default_factory=list)


# A tensor of a model by its path; `*` stands for one part of it.
TensorPath = Annotated[str, Field(max_length=200)]
FileList = Annotated[list[str], Field(min_length=1)]


class WeightsEntry(StrictModel):
    """Where the weights of a model are, and what they are called there."""

    file: str | FileList
    package: str | None = None
    tensors: dict[Name, str | WeightEntry] = Field(default_factory=dict)
    prefix: str = ""
    rename: dict[str, str] = Field(default_factory=dict)
    convert: bool = False
    unused: list[str] = Field(default_factory=list)


class EntryPoint(StrictModel):
    """A function of a model: what it takes and gives, over the parts and states of the file."""

    doc: Doc | None = None
    inputs: dict[Name, str] = Field(default_factory=dict)
    steps: dict[str, Expression] = Field(default_factory=dict)
    next: dict[Name, Expression] = Field(default_factory=dict)
    outputs: dict[str, Expression] = Field(default_factory=dict)


class ModelFile(StrictModel):
    """One model."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [{"required": ["inputs", "outputs"]}, {"required": ["entries"]}]
        }
    )

    tripybuild: Literal[1]
    model: Name
    doc: Doc | None = None
    registry: str | list[str] = Field(default_factory=list)
    use: dict[str, list[Name] | UseEntry] = Field(default_factory=dict)
    config: Configuration = None
    sizes: dict[Name, SizeTree] = Field(default_factory=dict)
    types: dict[Name, str] = Field(default_factory=dict)
    requires: dict[Code, LawEntry | Expression] = Field(default_factory=dict)
    inputs: dict[Name, str] = Field(default_factory=dict)
    ranges: dict[Name, RangeEntry] = Field(default_factory=dict)
    parts: dict[Name, Expression] = Field(default_factory=dict)
    constants: dict[Name, str] = Field(default_factory=dict)
    prepared: dict[Name, Expression] = Field(default_factory=dict)
    state: dict[Name, str | StateEntry] = Field(default_factory=dict)
    steps: dict[str, Expression] = Field(default_factory=dict)
    next: dict[Name, Expression] = Field(default_factory=dict)
    outputs: dict[str, Expression] = Field(default_factory=dict)
    entries: Annotated[dict[Name, EntryPoint], Field(min_length=1)] = Field(default_factory=dict)
    weights: str | FileList | WeightsEntry | None = None
    mesh: dict[Name, Expression] = Field(default_factory=dict)
    sharding: dict[TensorPath, list[Name | list[Name] | None]] = Field(default_factory=dict)
    define: dict[Name, PartEntry] = Field(default_factory=dict)
    test: TestEntry | None = None


class DefinitionsFile(StrictModel):
    """Definitions that several models use, with the sizes and types that they see."""

    tripybuild: Literal[1]
    doc: Doc | None = None
    use: dict[str, list[Name] | UseEntry] = Field(default_factory=dict)
    sizes: dict[Name, SizeTree] = Field(default_factory=dict)
    types: dict[Name, str] = Field(default_factory=dict)
    requires: dict[Code, LawEntry | Expression] = Field(default_factory=dict)
    define: dict[Name, PartEntry]
