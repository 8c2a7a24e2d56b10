"""Calls of ONNX's operators: arguments as inputs and attributes, and the dtypes of results.

A call is written for the newest version of an operator. An older one may have an attribute where a
newer one has an input, and lack an attribute whose default says the same. What it cannot say
raises `Unavailable`, and what no version says is a `ValueError`.

A dtype that an operator does not take is computed in a wider one, its carrier. Invariant: a carrier
holds each value of the dtype, and a result in it is rounded, or wraps around, once: no number is
another one than the operator would give in the dtype itself.
"""

from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from functools import partial
from types import MappingProxyType
from typing import Any, NoReturn

from tripybuild.onnx.builder import OnnxGraph, current
from tripybuild.onnx.dialect.call_check import READERS
from tripybuild.onnx.model import AttributeValue
from tripybuild.onnx.nodes import GraphNode, Unavailable
from tripybuild.onnx.table import (
    ELEMENT_TYPES,
    NEWEST,
    FormalAttribute,
    FormalTensor,
    OperatorSchema,
    find_operator,
)
from tripybuild.onnx.value import Argument, OnnxValue
from tripybuild.symbolic.dims import Dim
from tripybuild.types import dtypes
from tripybuild.types.dtypes import (
    bfloat16,
    boolean,
    dtype,
    float4,
    float8,
    float16,
    float32,
    int4,
    int8,
    int32,
    int64,
    uint8,
)

# Attributes that older versions lack because the number of results says the same.
IMPLIED = frozenset({("Split", "num_outputs")})


def call(name: str, *positional: Argument, **keywords: Argument) -> Any:
    """Add a node: its result, or a tuple where the operator declares several.

    Where the operator does not take a dtype, a wider one carries its values.
    """
    graph = current()
    schema = graph.schema(name)
    node, carried = add_node(graph, schema, positional, keywords)
    outputs = node.outputs
    if carried:
        formals = map(schema.output_at, range(len(outputs)))
        kinds = [None if formal is None else carried.get(formal.type) for formal in formals]
        pairs = zip(outputs, kinds, strict=True)
        outputs = tuple([each if kind is None else convert(each, kind) for each, kind in pairs])
    return outputs[0] if is_single(schema) else outputs


def is_single(schema: OperatorSchema) -> bool:
    """Whether an operator declares one result."""
    return len(schema.outputs) == 1 and not schema.outputs[0].variadic


def add_node(
    graph: OnnxGraph,
    schema: OperatorSchema,
    positional: Sequence[Argument],
    keywords: Mapping[str, Argument],
) -> tuple[GraphNode, Mapping[str, dtype]]:
    """Add a node with all results that its operator declares.

    Returns:
        The node, and the dtypes of the type variables that others carry.

    Raises:
        Unavailable: The opset does not say this.
        ValueError: No opset does.
    """
    newest = find_operator(schema.name, NEWEST) or schema
    formal_inputs, given = _split(newest, positional, keywords)
    inputs = _older_inputs(schema, newest, formal_inputs, given)
    attributes = _attributes(schema, newest, given)
    operands = _Operands(graph, schema, inputs)
    values = operands.values()
    count = len(schema.outputs)
    if schema.outputs[-1].variadic:
        count = _count(schema, inputs, given)
    types = result_types(schema, values, attributes, count)
    return graph.append(schema, values, attributes, types), operands.carried


def _split(
    newest: OperatorSchema, positional: Sequence[Argument], keywords: Mapping[str, Argument]
) -> tuple[list[Argument], dict[str, Argument]]:
    """The inputs in their order, and what is given by keyword for attributes."""
    inputs, given = list(positional), dict(keywords)
    for index, formal in enumerate(newest.inputs):
        if formal.name in given and formal.name not in newest.attributes:
            value = given.pop(formal.name)
            if index < len(positional):
                raise ValueError(f"`{newest.name}` has `{formal.name}` twice")
            inputs += [None] * (index - len(inputs))
            inputs += value if formal.variadic else [value]
    return inputs, given


def _older_inputs(
    schema: OperatorSchema,
    newest: OperatorSchema,
    inputs: list[Argument],
    given: dict[str, Argument],
) -> list[Argument]:
    """The inputs of the version in force; what was no input yet may have been an attribute."""
    while inputs and inputs[-1] is None:
        inputs.pop()
    most = len(schema.inputs)
    if len(inputs) <= most or (schema.inputs and schema.inputs[-1].variadic):
        return inputs
    for index, value in enumerate(inputs[most:], most):
        formal = newest.input_at(index)
        if formal is None:
            raise ValueError(
                f"`{schema.name}` takes {len(newest.inputs)} inputs, not {len(inputs)}"
            )
        if value is None:
            continue
        if formal.name not in schema.attributes or isinstance(value, OnnxValue):
            since = _since(schema, partial(_has_input, formal.name))
            _decline(schema, f"no input `{formal.name}`", since)
        given[formal.name] = value
    return inputs[:most]


class _Operands:
    """The inputs of a node as values: numbers and lists take the dtypes that variables have."""

    def __init__(
        self, graph: OnnxGraph, schema: OperatorSchema, inputs: Sequence[Argument]
    ) -> None:
        self.graph, self.schema, self.inputs = graph, schema, inputs
        self.formals = [self._formal(index) for index in range(len(inputs))]
        self.bound: dict[str, dtype] = {}
        for formal, value in zip(self.formals, inputs, strict=True):
            if isinstance(value, OnnxValue) and formal.homogeneous:
                self.bound.setdefault(formal.type, value.dtype)
        self.carried: dict[str, dtype] = {}
        """The dtypes of variables that are bound to a wider one."""
        for variable, kind in list(self.bound.items()):
            carrier = find_carrier(kind, schema.dtypes[variable])
            if carrier not in (None, kind):
                self.bound[variable], self.carried[variable] = carrier, kind

    def _formal(self, index: int) -> FormalTensor:
        formal = self.schema.input_at(index)
        if formal is None:
            count = f"{len(self.schema.inputs)} inputs, not {len(self.inputs)}"
            raise ValueError(f"`{self.schema.name}` takes {count}")
        return formal

    def values(self) -> list[OnnxValue | None]:
        """All inputs."""
        missing = (f for f in self.schema.inputs[len(self.inputs) :] if not f.variadic)
        if first := next((f.name for f in missing if not f.optional), None):
            raise ValueError(f"`{self.schema.name}` needs `{first}`")
        pairs = zip(self.formals, self.inputs, strict=True)
        return [self._value(formal, value) for formal, value in pairs]

    def _value(self, formal: FormalTensor, value: Argument) -> OnnxValue | None:
        if value is None:
            if not formal.optional:
                raise ValueError(f"`{self.schema.name}` needs `{formal.name}`")
            return None
        if not isinstance(value, OnnxValue):
            return self._literal(formal, value)
        allowed = self.schema.dtypes[formal.type]
        carrier = find_carrier(value.dtype, allowed)
        if carrier is None:
            name, kind = formal.name, value.dtype
            since = _since(self.schema, partial(_allows, name, kind))
            _decline(self.schema, f"no `{name}` of {kind}", since)
        bound = self.bound.get(formal.type, carrier)
        if formal.homogeneous and bound is not carrier:
            shown = f"`{formal.name}` of `{self.schema.name}` is {value.dtype}"
            raise ValueError(f"{shown}, and others of its type are {bound}")
        return convert(value, carrier)

    def _literal(self, formal: FormalTensor, value: Argument) -> OnnxValue:
        """A number, a size, or a list of them."""
        several = isinstance(value, (list, tuple, range))
        items = list(value) if several else [value]
        kind = self._literal_dtype(formal, items)
        if any(isinstance(each, (Dim, OnnxValue)) for each in items):
            sizes = self.graph.sizes
            found = sizes.vector(items) if several else sizes.scalar(value)
            return convert(found, kind)
        if not all(isinstance(each, (bool, int, float)) for each in items):
            shown = f"`{formal.name}` of `{self.schema.name}`"
            raise ValueError(f"{shown} is a tensor or numbers, not {value!r}")
        return self.graph.numbers(items, kind) if several else self.graph.number(value, kind)

    def _literal_dtype(self, formal: FormalTensor, items: Sequence[Any]) -> dtype:
        """What its variable is bound to, else the usual one of its kind that is allowed."""
        bound = self.bound.get(formal.type)
        if bound is not None:
            return bound
        allowed = self.schema.dtypes[formal.type]
        first = items[0] if items else 0
        usual = dtypes.boolean if isinstance(first, bool) else dtypes.int64
        usual = dtypes.float32 if isinstance(first, float) else usual
        known = (each for each in (usual, dtypes.float32, dtypes.int64) if each in allowed)
        found = next(known, next(iter(allowed)) if len(allowed) == 1 else usual)
        self.bound[formal.type] = found
        return found


def convert(value: OnnxValue, kind: dtype) -> OnnxValue:
    """The value in a dtype, by `Cast` where it has another.

    Raises:
        Unavailable: The opset does not have one of the dtypes.
    """
    if value.dtype is kind:
        return value
    graph = current()
    schema = graph.schema("Cast")
    for name, formal, has in (
        (value.dtype, schema.inputs[0], _allows),
        (kind, schema.outputs[0], _gives),
    ):
        if name not in schema.dtypes[formal.type]:
            _decline(schema, f"no {name}", _since(schema, partial(has, formal.name, name)))
    node = graph.append(schema, [value], {"to": kind}, [kind])
    node.outputs[0].shape = value.shape
    return node.outputs[0]


def _attributes(
    schema: OperatorSchema, newest: OperatorSchema, given: Mapping[str, Argument]
) -> dict[str, AttributeValue]:
    found: dict[str, AttributeValue] = {}
    for name, value in given.items():
        formal = schema.attributes.get(name)
        if formal is not None:
            if value is not None:
                found[name] = _attribute(schema, formal, value)
            continue
        if name not in newest.attributes:
            raise ValueError(f"`{schema.name}` has no attribute `{name}`")
        said = newest.attributes[name].default
        if value is None or value == said or (schema.name, name) in IMPLIED:
            continue
        since = _since(schema, partial(_has_attribute, name))
        _decline(schema, f"no attribute `{name}`", since)
    for name, formal in schema.attributes.items():
        if formal.required and name not in found:
            raise ValueError(f"`{schema.name}` needs `{name}`")
    return found


def _attribute(schema: OperatorSchema, formal: FormalAttribute, value: Argument) -> AttributeValue:
    """A value of the kind that the schema says."""
    if isinstance(value, OnnxValue) or _has_size(value):
        # What is a number there may be an input of another version, or of another operator.
        _decline(schema, f"no `{formal.name}` that is not a number", None)
    try:
        return READERS[formal.kind](value)
    except (KeyError, TypeError, ValueError) as error:
        shown = f"`{formal.name}` of `{schema.name}`"
        raise ValueError(f"{shown} is of kind {formal.kind}, not {value!r}") from error


def _has_size(value: Argument) -> bool:
    items = value if isinstance(value, (list, tuple)) else [value]
    return any(isinstance(each, (Dim, OnnxValue)) for each in items)


def _count(
    schema: OperatorSchema, inputs: Sequence[Argument], given: Mapping[str, Argument]
) -> int:
    """How many results a node has that may have any number of them: one for each size."""
    sizes = inputs[1] if len(inputs) > 1 else None
    if isinstance(sizes, (list, tuple)):
        return len(sizes)
    if isinstance(count := given.get("num_outputs"), int):
        return count
    raise ValueError(f"the number of results of `{schema.name}` is not known")


def result_types(
    schema: OperatorSchema,
    values: Sequence[OnnxValue | None],
    attributes: Mapping[str, AttributeValue],
    count: int,
) -> list[dtype]:
    """The dtypes of the results of a node.

    Raises:
        Unavailable: The version has no result of the dtype that an attribute asks for.
    """
    kinds = [None if each is None else each.dtype for each in values]
    asked = next((k for n in ELEMENT_TYPES if isinstance(k := attributes.get(n), dtype)), None)
    found = schema.result_dtypes(kinds, attributes, count)
    return check_results(schema, [each or asked for each in found])


def check_results(schema: OperatorSchema, types: Sequence[dtype | None]) -> list[dtype]:
    """The dtypes of results, each of which the version in force allows."""
    found = []
    for index, each in enumerate(types):
        formal = schema.output_at(index)
        if each is None or formal is None:
            raise ValueError(f"nothing says the dtype of result {index} of `{schema.name}`")
        if each not in schema.dtypes[formal.type]:
            since = _since(schema, partial(_gives, formal.name, each))
            _decline(schema, f"no result of {each}", since)
        found.append(each)
    return found


def _has_input(name: str, schema: OperatorSchema) -> bool:
    return any(name == each.name for each in schema.inputs)


def _has_attribute(name: str, schema: OperatorSchema) -> bool:
    return name in schema.attributes


def _allows(name: str, kind: dtype, schema: OperatorSchema) -> bool:
    return any(kind in schema.dtypes[i.type] for i in schema.inputs if i.name == name)


def _gives(name: str, kind: dtype, schema: OperatorSchema) -> bool:
    return any(kind in schema.dtypes[o.type] for o in schema.outputs if o.name == name)


def _since(schema: OperatorSchema, holds: Callable[[OperatorSchema], bool]) -> int | None:
    """The first later opset whose version of the operator has something."""
    found = (find_operator(schema.name, opset) for opset in range(schema.version + 1, NEWEST + 1))
    return next((each.version for each in found if each is not None and holds(each)), None)


def _decline(schema: OperatorSchema, lack: str, since: int | None) -> NoReturn:
    opset = current().opset
    raise Unavailable(f"`{schema.name}` of ONNX has {lack} in opset {opset}", since)


WIDER: Mapping[dtype, dtype] = MappingProxyType(
    {
        float4: float32,
        float8: float32,
        float16: float32,
        bfloat16: float32,
        boolean: int32,
        int4: int8,
        int8: int32,
        uint8: int32,
        int32: int64,
    }
)


def find_carrier(kind: dtype, allowed: AbstractSet[dtype]) -> dtype | None:
    """The dtype itself where it is allowed, else the next wider one that is, if any."""
    carrier: dtype | None = kind
    while carrier is not None and carrier not in allowed:
        carrier = WIDER.get(carrier)
    return carrier
