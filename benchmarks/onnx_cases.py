"""Calls of ONNX's operators as models of one node, with inputs that are drawn.

`onnx_operators.yaml` has them as text: `T[2, 3]` is an input of that shape with random elements,
`P[2, 3]` one of positive ones, `int64([0, 2])` one with these elements, `None` one that is left
out, and a list stands for several. `T` and `P` are of each dtype of ours that the operator takes.
What is named is an attribute, and a list behind a call has values of some.
"""

import ast
import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import yaml
from onnx import defs, helper

from tripybuild.onnx.table import BY_TYPE, NEWEST, OLDEST
from tripybuild.types.dtypes import BY_NAME, dtype

Array = np.ndarray[Any, Any]
CASES = Path(__file__).with_suffix(".yaml").with_name("onnx_operators.yaml")
DRAWN = ("T", "P")
MOST = 16  # combinations of attributes of one call, at random where there are more
MOST_OLD = 4  # of those in a version that is not the newest
MOST_TYPED = 2  # of those that are asked for each dtype
_KINDS = {int(code): name for name, code in onnx.AttributeProto.AttributeType.items()}


@dataclass
class Case:
    """A model, what it is called with, and what it is a case of."""

    operator: str
    text: str
    model: onnx.ModelProto
    inputs: dict[str, Any]
    types: dict[str, onnx.TypeProto] = field(default_factory=dict)


class UnsaidError(Exception):
    """A version of an operator does not take a call."""


def versions(operator: str, domain: str = "") -> dict[int, int]:
    """The versions of an operator that are in force in opsets 7 to 26, with their last opset."""
    found: dict[int, int] = {}
    for opset in range(OLDEST, NEWEST + 1):
        try:
            schema = defs.get_schema(operator, opset, domain)
        except defs.SchemaError:
            continue
        if not schema.deprecated:
            found[schema.since_version] = opset
    return found


def cases(names: Sequence[str] = ()) -> Iterator[Case]:
    """The calls of some operators, or of all, in each version that takes them."""
    said = yaml.safe_load(CASES.read_text(encoding="utf-8"))
    calls: list[tuple[str, str, Mapping[str, Any]]] = []
    for group in said["alike"]:
        for name, shapes in itertools.product(group["operators"], group["calls"]):
            calls.append((name, f"{name}({shapes})", {}))
    for name, texts in said["operators"].items():
        for each in texts:
            text, varied = each if isinstance(each, list) else (each, {})
            calls.append((name, f"{name}{text}", varied))
    for name, text, varied in calls:
        if not names or name in names:
            yield from _cases_of(name, text, varied)
    for name, graphs in said["graphs"].items():
        if not names or name in names:
            yield from (_graph_case(name, each) for each in graphs)


def _cases_of(name: str, text: str, varied: Mapping[str, Any]) -> Iterator[Case]:
    """A call in all versions, with all dtypes in the last one, and each combination once."""
    every = [dict(zip(varied, each, strict=True)) for each in itertools.product(*varied.values())]
    if len(every) > MOST:
        every = [every[0], *random.Random(text).sample(every[1:], MOST - 1)]
    last = max(versions(name).values())
    for opset in sorted(versions(name).values()):
        schema = defs.get_schema(name, opset)
        for place, more in enumerate(every[: None if opset == last else MOST_OLD]):
            call = ast.parse(text, mode="eval").body
            assert isinstance(call, ast.Call)
            drawn = _dtypes(call, schema)
            for index, kind in enumerate(drawn):
                if index and place >= (MOST_TYPED if opset == last else 1):
                    break
                try:
                    yield _case(call, more, kind, schema, opset)
                except UnsaidError:
                    break


def _dtypes(call: ast.Call, schema: defs.OpSchema) -> list[dtype]:
    """The dtypes of what is drawn: those that its first place takes, and we have."""
    for index, node in enumerate(call.args):
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and inner.id in DRAWN:
                formal = schema.inputs[min(index, len(schema.inputs) - 1)]
                kinds = [BY_TYPE[each] for each in formal.types if each in BY_TYPE]
                order = [*BY_NAME.values()]
                first = BY_NAME["float32"]
                return sorted(set(kinds), key=lambda each: (each is not first, order.index(each)))
    return [BY_NAME["float32"]]


def values(kind: dtype, shape: tuple[int, ...], seed: int, *, positive: bool = False) -> Array:
    """Random elements of a dtype."""
    draw = np.random.default_rng(seed)
    if kind.kind == "boolean":
        return draw.integers(0, 2, shape).astype(bool)
    if kind.kind == "integer":
        low = 1 if positive else max(int(kind.lowest), -6)
        return draw.integers(low, 8, shape).astype(kind.numpy)
    found = np.abs(draw.normal(size=shape)) + 0.25 if positive else draw.normal(size=shape)
    return np.asarray(found).astype(kind.numpy)


@dataclass
class _Inputs:
    kind: dtype
    arrays: dict[str, Any] = field(default_factory=dict)

    def add(self, node: ast.expr) -> str:
        """The name of a new input; an empty one is left out."""
        name = f"x{len(self.arrays)}"
        match node:
            case ast.Constant(value=None):
                return ""
            case ast.Subscript(value=ast.Name(id=id)):
                shape = ast.literal_eval(node.slice)
                shape = shape if isinstance(shape, tuple) else (shape,)
                kind = self.kind if id in DRAWN else BY_NAME[id]
                seed = len(self.arrays)
                self.arrays[name] = values(kind, shape, seed, positive=id == "P")
                return name
            case ast.Call(func=ast.Name(id=id)):
                kind = self.kind if id in DRAWN else BY_NAME[id]
                found = np.array(_number(node.args[0]), dtype=object)
                self.arrays[name] = found.astype(np.float64).astype(kind.numpy)
                return name
        raise ValueError(ast.unparse(node))


def _number(node: ast.expr) -> Any:
    return eval(ast.unparse(node), {"inf": np.inf, "nan": np.nan})


def _case(
    call: ast.Call, more: Mapping[str, Any], kind: dtype, schema: defs.OpSchema, opset: int
) -> Case:
    said = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    named = {name: value for name, value in {**said, **more}.items() if value is not None}
    count = named.pop("outputs", max(schema.min_output, 1))
    if not named.keys() <= schema.attributes.keys():
        raise UnsaidError
    inputs = _Inputs(kind)
    names = []
    for node in call.args:
        items = node.elts if isinstance(node, ast.List) else [node]
        names += [inputs.add(each) for each in items]
    if not schema.min_input <= len(names) <= schema.max_input:
        raise UnsaidError
    if count > schema.max_output or not _takes(schema, names, inputs.arrays):
        raise UnsaidError
    results = [f"y{index}" for index in range(count)]
    made = helper.make_node(schema.name, names, results, domain=schema.domain)
    for name, value in named.items():
        code = _KINDS[int(schema.attributes[name].type)]  # type: ignore[call-overload]
        of_type = onnx.AttributeProto.AttributeType.Value(code)
        held = helper.make_tensor("", *value["tensor"]) if isinstance(value, dict) else value
        made.attribute.append(helper.make_attribute(name, held, attr_type=of_type))
    infos = [_info(name, each) for name, each in inputs.arrays.items()]
    outputs = [onnx.ValueInfoProto(name=name) for name in results]
    graph = helper.make_graph([made], "case", infos, outputs)
    words = ", ".join(f"{name}={value!r}" for name, value in named.items())
    shown = f"{ast.unparse(ast.Call(call.func, call.args, []))[:-1]}, {words}) {kind} opset {opset}"
    return Case(schema.name, shown, _model(graph, opset), inputs.arrays)


def _takes(schema: defs.OpSchema, names: Sequence[str], arrays: Mapping[str, Array]) -> bool:
    """Whether the inputs are of types that a version of an operator takes."""
    for index, name in enumerate(names):
        formal = schema.inputs[min(index, len(schema.inputs) - 1)]
        if name:
            kind = next(e for e in BY_NAME.values() if e.numpy == arrays[name].dtype)
            if f"tensor({kind.onnx})" not in formal.types:
                return False
    return True


def _info(name: str, array: Array) -> onnx.ValueInfoProto:
    code = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, code, array.shape)


def _model(graph: onnx.GraphProto, opset: int) -> onnx.ModelProto:
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 10 if opset < 24 else 12
    return model


def _graph_case(name: str, said: Mapping[str, Any]) -> Case:
    """A case that is a graph in ONNX's own text."""
    graph = onnx.parser.parse_graph(said["graph"])
    arrays = {}
    for output in graph.output:
        output.ClearField("type")
    for index, each in enumerate(graph.input):
        given = said.get("inputs", {}).get(each.name)
        arrays[each.name] = _drawn(each.type, given, index)
    text = f"{name}: {said['graph'].strip().splitlines()[0]} opset {said['opset']}"
    return Case(name, text, _model(graph, said["opset"]), arrays)


def _drawn(type: onnx.TypeProto, given: Any, index: int) -> Any:
    """A value of a type: a list for a sequence, and None for what is optional and not there."""
    match type.WhichOneof("value"):
        case "sequence_type":
            count = 3 if given is None else len(given)
            items = given or [None] * count
            inner = type.sequence_type.elem_type
            return [_drawn(inner, each, index + k) for k, each in enumerate(items)]
        case "optional_type":
            if given == "absent":
                return None
            return _drawn(type.optional_type.elem_type, given, index)
    code = type.tensor_type.elem_type
    if given is not None:
        return np.array(given, helper.tensor_dtype_to_np_dtype(code))
    shape = tuple(d.dim_value or 2 for d in type.tensor_type.shape.dim)
    kind = next(
        each for each in BY_NAME.values() if helper.np_dtype_to_tensor_dtype(each.numpy) == code
    )
    return values(kind, shape, index)
