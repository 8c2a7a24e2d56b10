"""What a file of ONNX holds: a model with its graph, nodes, tensors and types."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

from tripybuild.errors.diagnostics import Span
from tripybuild.onnx.table import NEWEST
from tripybuild.types.dtypes import dtype

Buffer: TypeAlias = bytes | bytearray | memoryview
Size: TypeAlias = int | str | None
"""A number, the name of a symbol (`dim_param`), or unknown."""

# The opsets that models are written for; nearly all runtimes take the default.
OPSETS = range(17, NEWEST + 1)
DEFAULT_OPSET = 20
# The version of the format of files that came with an opset.
IR_VERSIONS = MappingProxyType({25: 13, 24: 12, 23: 11, 21: 10, 19: 9})


def ir_version(opset: int) -> int:
    """The version of the format for a model of an opset: the oldest one that has all of it."""
    return next((ir for since, ir in IR_VERSIONS.items() if since <= opset), 8)


@dataclass(frozen=True, slots=True)
class ExternalData:
    """The bytes of a tensor in another file: its path is relative to the model's folder."""

    location: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class TensorData:
    """A constant. `data` are its elements in little endian; two of 4 bits share a byte.

    Of those the first one is the low half. None is a weight without data (`Model.with_data`).
    """

    name: str
    dtype: dtype
    shape: tuple[int, ...]
    data: Buffer | ExternalData | None


@dataclass(frozen=True, slots=True)
class ValueInfo:
    """The type of a value; a shape that is None has no known rank."""

    name: str
    dtype: dtype
    shape: tuple[Size, ...] | None
    doc: str = ""


@dataclass(frozen=True, slots=True)
class OnnxAttribute:
    """The value of an attribute, of the kind that the schema says (`table.FormalAttribute`).

    A dtype as an `int` is the number of its element type.
    """

    kind: str
    value: "AttributeValue"


@dataclass(frozen=True, slots=True)
class OnnxNode:
    """A call of an operator; an input or output with an empty name is left out.

    A file has `doc`; `span` is the same place for diagnostics.
    """

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, OnnxAttribute] = field(default_factory=dict)
    name: str = ""
    domain: str = ""
    doc: str = ""
    span: Span | None = field(default=None, compare=False)

    @property
    def bodies(self) -> dict[str, "GraphDef"]:
        """The graphs in it, by the attributes that they are."""
        each = self.attributes.items()
        return {name: a.value for name, a in each if isinstance(a.value, GraphDef)}


@dataclass(frozen=True, slots=True)
class GraphDef:
    """A graph: nodes in an order of computation.

    `inferred` are the names of more outputs, of types that a runtime infers.
    """

    name: str
    nodes: tuple[OnnxNode, ...]
    inputs: tuple[ValueInfo, ...]
    outputs: tuple[ValueInfo, ...]
    initializers: tuple[TensorData, ...] = ()
    values: tuple[ValueInfo, ...] = ()
    doc: str = ""
    inferred: tuple[str, ...] = ()

    def walk(self) -> Iterator[OnnxNode]:
        """The nodes, each before those of the graphs in it."""
        for node in self.nodes:
            yield node
            for body in node.bodies.values():
                yield from body.walk()


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """A file's content. `opset` is of the default domain, `domains` are the versions of others."""

    graph: GraphDef
    opset: int
    domains: Mapping[str, int] = field(default_factory=dict)
    producer: str = ""
    producer_version: str = ""
    doc: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)

    def weights(self) -> tuple[str, ...]:
        """The names of initializers that have no data yet."""
        return tuple(each.name for each in self.graph.initializers if each.data is None)

    def with_data(self, data: Mapping[str, Buffer | ExternalData]) -> "OnnxModel":
        """The same model with the data of initializers, by their names."""
        held = tuple(
            replace(each, data=data[each.name]) if each.name in data else each
            for each in self.graph.initializers
        )
        return replace(self, graph=replace(self.graph, initializers=held))


AttributeValue: TypeAlias = (
    int
    | float
    | str
    | bytes
    | dtype
    | TensorData
    | GraphDef
    | Sequence[int]
    | Sequence[float]
    | Sequence[str]
    | Sequence[bytes]
)
