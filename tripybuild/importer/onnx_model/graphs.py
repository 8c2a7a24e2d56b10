"""Graphs of ONNX as foreign graphs: each node by the signature of its own version.

Parameters have the names of the newest version: an input that has another name there is the one at
its position. A default that is another one there is written out. A function of the model is put in
the place of its call; that of an operator is an expansion, which is made when it is asked for.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tripybuild.importer.foreign_program import (
    ForeignGraph,
    ForeignNode,
    ForeignValue,
    ForeignWeight,
    ModuleCall,
    ResultDtypes,
    TypeOf,
)
from tripybuild.importer.onnx_model.files import OnnxFile
from tripybuild.importer.onnx_model.names import (
    is_number,
    metadata_of,
    module_path,
    modules_of,
    place_of,
)
from tripybuild.importer.onnx_model.schemas import (
    arguments_in_table,
    attribute_value,
    find_schema,
    formals_of,
    function_body,
    gives_one,
    operator_version,
    type_name,
)
from tripybuild.importer.onnx_model.sizes import DimensionNames
from tripybuild.onnx.table import CONSTANTS, NEWEST, find_operator
from tripybuild.types.dtypes import dtype

if TYPE_CHECKING:
    from onnx import (
        AttributeProto,
        FunctionProto,
        GraphProto,
        NodeProto,
        TensorProto,
        TypeProto,
        ValueInfoProto,
    )

NEWER = "ai.onnx"  # the domain of operators that the table does not have
_DEEPEST = 64  # calls of functions and graphs inside of each other
_MOST = 1 << 17  # nodes, each as often as the functions around it are called
# What a function is not given, as an optional input of a call.
ABSENT = ForeignValue("")


@dataclass
class ValueScope:
    """The values of a graph by name, and of what is around it."""

    outer: "ValueScope | None" = None
    values: dict[str, ForeignValue] = field(default_factory=dict)

    def find(self, name: str) -> ForeignValue | None:
        """The value of a name, `ABSENT` if it was left out, or None."""
        scope: ValueScope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            scope = scope.outer
        return None


@dataclass(frozen=True)
class Surroundings:
    """What holds for the nodes of a graph.

    Attributes:
        opsets: The version of each domain.
        attributes: Those of the call of a function.
        modules: The modules around it.
        types: The types that the file states, by name.
        depth: How many graphs and functions are around it.
    """

    opsets: Mapping[str, int]
    attributes: Mapping[str, "AttributeProto"] = field(default_factory=dict)
    modules: tuple[ModuleCall, ...] = ()
    types: Mapping[str, "TypeProto"] = field(default_factory=dict)
    depth: int = 0


class GraphReader:
    """Reads the graphs of one model; `weights` are all that it found."""

    def __init__(self, file: OnnxFile, sizes: DimensionNames) -> None:
        self.file, self.sizes = file, sizes
        self.weights: list[ForeignWeight] = []
        self._count = 0
        self._functions = {(domain_of(f.domain), f.name): f for f in file.model.functions}

    def read_nodes(
        self, nodes: Sequence["NodeProto"], scope: ValueScope, around: Surroundings
    ) -> list[ForeignNode]:
        """The nodes of a graph; those of functions stand in the place of their calls."""
        if around.depth > _DEEPEST:
            raise self.file.malformed(f"its graphs and functions are more than {_DEEPEST} deep")
        return [each for node in nodes for each in self._read_node(node, scope, around)]

    def read_initializers(
        self, graph: "GraphProto", scope: ValueScope, *, outermost: bool = False
    ) -> None:
        """Bind the weights of a graph to their names."""
        for index, tensor in enumerate(graph.initializer):
            place = index if outermost and not is_number(tensor) else -1
            self.bind(scope, tensor.name, self.read_tensor(tensor, tensor.name, place))
        for sparse in graph.sparse_initializer:
            name = sparse.values.name
            self.bind(scope, name, ForeignValue(name, unsupported="sparse"))

    def read_tensor(self, tensor: "TensorProto", name: str, index: int = -1) -> ForeignValue:
        """A tensor that is in the file."""
        type = self.file.tensor_type(tensor)
        if type is None:
            return ForeignValue(name, unsupported=type_name(tensor.data_type))
        load = self.file.loader(tensor, index)
        return self.keep(ForeignWeight(name, type, load=load, is_constant=index < 0))

    def keep(self, weight: ForeignWeight) -> ForeignWeight:
        """Remember a weight."""
        self.weights.append(weight)
        return weight

    def bind(self, scope: ValueScope, name: str, value: ForeignValue) -> None:
        """Give a value its name, which nothing else has."""
        if name in scope.values:
            raise self.file.malformed(f"two values are called `{name}`")
        scope.values[name] = value

    def outputs_of(
        self, outputs: Sequence["ValueInfoProto"], scope: ValueScope
    ) -> list[tuple[str, ForeignValue]]:
        """The outputs of a graph."""
        return [(each.name, self._require(each.name, scope, "an output")) for each in outputs]

    def _require(self, name: str, scope: ValueScope, reader: str) -> ForeignValue:
        found = self._find(name, scope, reader)
        if found is None:
            raise self.file.malformed(f"{reader} is `{name}`, which a function is not given")
        return found

    def _find(self, name: str, scope: ValueScope, reader: str) -> ForeignValue | None:
        """The value of a name; None where a function was not given it."""
        found = scope.find(name)
        if found is None:
            raise self.file.malformed(f"{reader} is `{name}`, which nothing before it gives")
        return None if found is ABSENT else found

    def _read_node(
        self, node: "NodeProto", scope: ValueScope, around: Surroundings
    ) -> Iterator[ForeignNode]:
        domain = domain_of(node.domain)
        self._count += 1
        if self._count > _MOST:
            raise self.file.malformed(
                f"it has more than {_MOST} nodes, those of functions included"
            )
        reader = f"an input of the node `{node.name or node.op_type}`"
        inputs = [self._find(name, scope, reader) if name else None for name in node.input]
        said = metadata_of(node)
        inside = replace(around, modules=around.modules or modules_of(node, said))
        function = self._functions.get((domain, node.op_type))
        if function is not None:
            yield from self._call_function(function, node, inputs, scope, inside)
            return
        if not domain and not around.opsets.get(domain):
            raise self.file.malformed(f"it has `{node.op_type}`, and states no opset of ONNX's")
        attributes = dict(self._attributes(node, around))
        operator, domain, opset = operator_version(node.op_type, domain, around.opsets)
        made = ForeignNode(
            operator=operator,
            arguments={},
            results=[self._result(name, around) if name else None for name in node.output],
            place=place_of(node, said),
            modules=inside.modules,
            domain=domain,
            opset=opset,
        )
        made.arguments = self._arguments(made, inputs, attributes, scope, around)
        made.expand = self._expansion(made, node, attributes, inputs, inside)
        made.result_dtypes = _result_dtypes(made, inputs)
        made.gives_one = gives_one(made.operator, made.opset or 0, made.domain)
        _place_in_table(made)
        for name, value in zip(node.output, made.results, strict=True):
            if value is not None:
                self.bind(scope, name, value)
        yield made

    def _result(self, name: str, around: Surroundings) -> ForeignValue:
        stated = around.types.get(name)
        return ForeignValue(name) if stated is None else self.sizes.result(name, stated)

    def _attributes(
        self, node: "NodeProto", around: Surroundings
    ) -> Iterator[tuple[str, "AttributeProto"]]:
        """The attributes of a node; those that are a function's own are the call's."""
        for attribute in node.attribute:
            if not attribute.ref_attr_name:
                yield attribute.name, attribute
            elif attribute.ref_attr_name in around.attributes:
                yield attribute.name, around.attributes[attribute.ref_attr_name]

    def _arguments(
        self,
        made: ForeignNode,
        inputs: Sequence[ForeignValue | None],
        attributes: Mapping[str, "AttributeProto"],
        scope: ValueScope,
        around: Surroundings,
    ) -> dict[str, Any]:
        """The arguments by parameter of the newest version; without what is left out."""
        formals = formals_of(made.operator, made.opset or 0, made.domain)
        names = [f"input_{index}" for index in range(len(inputs))]
        found: dict[str, Any] = {}
        if formals is not None:
            names, found = [*formals.inputs], dict(formals.defaults)
            if problem := formals.problem(made, len(inputs), attributes):
                raise self.file.malformed(f"{made.place} has {problem}")
            if formals.variadic:
                first = len(names) - 1
                inputs = [*inputs[:first], [*inputs[first:]]]  # type: ignore[list-item]
        found |= dict(zip(names, inputs, strict=False))
        owner = next((each.name for each in made.results if each), made.operator)
        for name, attribute in attributes.items():
            found[name] = self._attribute(name, attribute, owner, scope, around)
        return {name: value for name, value in found.items() if value is not None}

    def _attribute(
        self, name: str, said: "AttributeProto", owner: str, scope: ValueScope, around: Surroundings
    ) -> Any:
        match said.type:
            case said.TENSOR:
                return self.read_tensor(said.t, owner)
            case said.GRAPH:
                return self.read_graph(said.g, scope, around)
            case said.INT | said.INTS | said.FLOAT | said.FLOATS | said.STRING | said.STRINGS:
                with self.file.refuse_bytes(name):
                    return attribute_value(said, name)
        return ForeignValue(owner, unsupported=said.AttributeType.Name(said.type).lower())

    def read_graph(
        self, graph: "GraphProto", outer: ValueScope, around: Surroundings
    ) -> ForeignGraph:
        """A graph inside of a node; it reads the values around it."""
        types = {**around.types, **stated_types(graph)}
        scope = ValueScope(outer)
        self.read_initializers(graph, scope)
        inputs = []
        for each in graph.input:
            if each.name not in scope.values:
                inputs.append(self.sizes.value(each.name, each.type))
                self.bind(scope, each.name, inputs[-1])
        inside = replace(around, types=types, depth=around.depth + 1)
        nodes = self.read_nodes(graph.node, scope, inside)
        return ForeignGraph(inputs, nodes, self.outputs_of(graph.output, scope))

    def _call_function(
        self,
        function: "FunctionProto",
        node: "NodeProto",
        inputs: Sequence[ForeignValue | None],
        scope: ValueScope,
        around: Surroundings,
    ) -> Iterator[ForeignNode]:
        """The nodes of a function of the model, and its results under the names of the call."""
        origin = ".".join(filter(None, (function.domain, function.name)))
        call = ModuleCall(module_path(node, around.modules), function.name, origin=origin)
        own = {each.name: each for each in function.attribute_proto}
        inside = replace(
            around,
            attributes=own | dict(self._attributes(node, around)),
            modules=(*around.modules, call),
        )
        graph = self._function_graph(function, inputs, inside)
        yield from graph.nodes
        for name, (_, value) in zip(node.output, graph.outputs, strict=False):
            if name:
                self.bind(scope, name, value)

    def _function_graph(
        self,
        function: "FunctionProto",
        inputs: Sequence[ForeignValue | None],
        around: Surroundings,
    ) -> ForeignGraph:
        """The nodes of a function over the arguments of a call, of which some are left out."""
        scope = ValueScope()
        for name in function.input:
            scope.values[name] = ABSENT
        for name, value in zip(function.input, inputs, strict=False):
            scope.values[name] = ABSENT if value is None else value
        opsets = {domain_of(each.domain): each.version for each in function.opset_import}
        inside = replace(
            around, opsets={**around.opsets, **opsets}, types={}, depth=around.depth + 1
        )
        nodes = self.read_nodes(function.node, scope, inside)
        # A result that a call leaves out need not be there.
        found = [(each, scope.find(each)) for each in function.output]
        outputs = [(name, ForeignValue(name) if v is None else v) for name, v in found]
        return ForeignGraph((), nodes, outputs)

    def _expansion(
        self,
        made: ForeignNode,
        node: "NodeProto",
        attributes: Mapping[str, "AttributeProto"],
        inputs: Sequence[ForeignValue | None],
        around: Surroundings,
    ) -> Callable[[TypeOf], ForeignGraph | None] | None:
        """What gives the nodes that ONNX says that an operator is; None where it says none."""
        opset = made.opset or 0
        schema = find_schema(made.operator, opset, made.domain)
        if schema is None or not (schema.has_function or schema.has_context_dependent_function):
            return None

        def expand(type_of: TypeOf) -> ForeignGraph | None:
            types = [None if each is None else type_of(each) for each in inputs]
            call = _without_references(node, attributes)
            function = function_body(schema, call, opset, types)
            if function is None:
                return None
            values = {name: each.default_value for name, each in schema.attributes.items()}
            said = {name: each for name, each in values.items() if each.type} | dict(attributes)
            return self._function_graph(function, inputs, replace(around, attributes=said))

        return expand


def _result_dtypes(made: ForeignNode, inputs: Sequence[ForeignValue | None]) -> ResultDtypes | None:
    """What gives the dtypes of a node's results, by the table of operators."""
    schema = None if made.domain else find_operator(made.operator, min(made.opset or 0, NEWEST))
    if schema is None:
        return None
    attributes = {
        name: value.type if isinstance(value, ForeignValue) else value
        for name, value in made.arguments.items()
        if name in schema.attributes
        and (isinstance(value, dtype | ForeignValue) or name in CONSTANTS)
    }

    def result_dtypes(type_of: TypeOf) -> Sequence[dtype | None]:
        types = [None if each is None else type_of(each) for each in inputs]
        dtypes = [None if each is None else each.dtype for each in types]
        return schema.result_dtypes(dtypes, attributes, len(made.results))

    return result_dtypes


def _place_in_table(made: ForeignNode) -> None:
    """Give a node of an opset beyond the table the newest one there, if it means the same.

    What is newer has a domain of its own here, so that nothing but its definition says what it is.
    """
    if not made.domain and (made.opset or 0) > NEWEST:
        arguments = arguments_in_table(made.operator, made.opset or 0, made.arguments)
        if arguments is None:
            made.domain = NEWER
        else:
            made.opset, made.arguments = NEWEST, arguments


def stated_types(graph: "GraphProto") -> dict[str, "TypeProto"]:
    """The types that a graph states of its values, by name."""
    infos = (*graph.value_info, *graph.output)
    return {each.name: each.type for each in infos if each.type.WhichOneof("value")}


def _without_references(
    node: "NodeProto", attributes: Mapping[str, "AttributeProto"]
) -> "NodeProto":
    """A node with the values of its attributes, where they are those of a function's call."""
    if not any(each.ref_attr_name for each in node.attribute):
        return node
    made = type(node)()
    made.CopyFrom(node)
    del made.attribute[:]
    for name, each in attributes.items():
        added = made.attribute.add()
        added.CopyFrom(each)
        added.name = name
    return made


def domain_of(name: str) -> str:
    """A domain by its shortest name."""
    return "" if name == "ai.onnx" else name
