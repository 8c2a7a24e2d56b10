"""Calls of ONNX's operators as models of one node, run by ONNX Runtime, by ONNX, and by ours.

A call is written as in the `examples:` of `ops_registry/foreign/onnx.yaml`: `float32[2, 3]` is an
input with random elements, `int64([0, 2])` and `float32(0.5)` are constants, and what is named is
an attribute.
"""

import ast
from dataclasses import dataclass, field

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tripybuild.onnx.table import NEWEST, RUNTIME_DOMAIN, find_operator, runtime_operator_names
from tripybuild.types.dtypes import BY_NAME

FATAL_ONLY = 4
FLOAT8 = "tensor(float8e4m3fn)"
RUNTIME = onnxruntime.SessionOptions()
RUNTIME.log_severity_level = FATAL_ONLY
RUNTIME.intra_op_num_threads = RUNTIME.inter_op_num_threads = 1


@dataclass
class Case:
    """One call: a model with its inputs, by name."""

    model: onnx.ModelProto
    inputs: dict[str, np.ndarray]
    constants: dict[str, np.ndarray] = field(default_factory=dict)


def random_values(dtype, shape, seed):
    draw = np.random.default_rng(seed)
    kind = BY_NAME[dtype].numpy
    if dtype == "bool":
        return draw.integers(0, 2, shape).astype(bool)
    if BY_NAME[dtype].kind == "integer":
        low = 0 if dtype == "uint8" else -5
        return draw.integers(low, 200 if dtype == "uint8" else 6, shape).astype(kind)
    return draw.normal(size=shape).astype(kind)


ATTRIBUTE_TYPES = {kind.lower(): code for kind, code in onnx.AttributeProto.AttributeType.items()}


class _Reader:
    def __init__(self, operator, opset, domain=""):
        if operator in runtime_operator_names():
            self.schema = find_operator(operator, NEWEST)
            self.kinds = {n: ATTRIBUTE_TYPES[e.kind] for n, e in self.schema.attributes.items()}
            self.least = len([each for each in self.schema.outputs if not each.optional])
        else:
            self.schema = schema = onnx.defs.get_schema(operator, opset, domain)
            self.kinds = {name: int(each.type) for name, each in schema.attributes.items()}
            self.least = schema.min_output or schema.max_output
        self.inputs, self.constants, self.words = {}, {}, {}

    def name(self, node):
        """An input's name; an empty one is left out."""
        match node:
            case ast.Constant(value=None):
                return ""
            case ast.Subscript(value=ast.Name(id=dtype)):
                shape = ast.literal_eval(node.slice)
                shape = shape if isinstance(shape, tuple) else (shape,)
                name = f"x{len(self.inputs)}"
                self.inputs[name] = random_values(dtype, shape, len(self.inputs))
                return name
            case ast.Call(func=ast.Name(id=dtype)):
                name = f"c{len(self.constants)}"
                values = eval(ast.unparse(node.args[0]), {"inf": np.inf, "nan": np.nan})
                self.constants[name] = np.array(values, BY_NAME[dtype].numpy)
                return name
        raise AssertionError(ast.unparse(node))

    def attribute(self, name, node):
        if isinstance(node, ast.Call):
            array = np.array(ast.literal_eval(node.args[0]), BY_NAME[node.func.id].numpy)
            return numpy_helper.from_array(array)
        value = ast.literal_eval(node)
        return helper.make_attribute(name, value, attr_type=self.kinds[name])


def read_case(text, opset=NEWEST, outputs=None, domain=""):
    """The model of a call."""
    call = ast.parse(text, mode="eval").body
    operator = ast.unparse(call.func)
    reader = _Reader(operator, opset, domain)
    if operator.startswith(f"{RUNTIME_DOMAIN}."):
        domain, operator = RUNTIME_DOMAIN, operator.removeprefix(f"{RUNTIME_DOMAIN}.")
    formal = [each.name for each in reader.schema.inputs]
    given = dict(zip(formal, call.args, strict=False))
    attributes = {}
    for word in call.keywords:
        if word.arg in formal:
            given[word.arg] = word.value
        else:
            attributes[word.arg] = reader.attribute(word.arg, word.value)
    names = []
    for each in formal:
        node = given.get(each, ast.Constant(None))
        items = node.elts if isinstance(node, ast.List) else [node]
        names += [reader.name(item) for item in items]
    while names and not names[-1]:
        names.pop()
    count = reader.least if outputs is None else outputs
    results = [f"y{index}" for index in range(count)]
    node = helper.make_node(operator, names, results, domain=domain)
    for name, each in attributes.items():
        added = each if isinstance(each, onnx.AttributeProto) else helper.make_attribute(name, each)
        node.attribute.add().CopyFrom(added)
    return Case(_model(node, reader, results, opset, domain), reader.inputs, reader.constants)


def _model(node, reader, results, opset, domain):
    def info(name, array):
        return helper.make_tensor_value_info(name, _code(array.dtype), array.shape)

    held = [numpy_helper.from_array(array, name) for name, array in reader.constants.items()]
    inputs = [info(name, array) for name, array in reader.inputs.items()]
    outputs = [onnx.ValueInfoProto(name=name) for name in results]
    graph = helper.make_graph([node], "g", inputs, outputs, held)
    opsets = [helper.make_opsetid("", opset), *([helper.make_opsetid(domain, 1)] if domain else [])]
    model = helper.make_model(graph, opset_imports=opsets)
    model.ir_version = 10
    return onnx.shape_inference.infer_shapes(model)


def _code(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def run_session(session, case):
    """What ONNX Runtime gives; float8, which NumPy has not, are bytes to it."""
    found = session.run(None, case.inputs)
    float8 = BY_NAME["float8"].numpy
    types = [each.type for each in session.get_outputs()]
    return [v.view(float8) if t == FLOAT8 else v for v, t in zip(found, types, strict=True)]


def expected(case):
    """What ONNX Runtime gives, or ONNX's own evaluator where that has no kernel."""
    try:
        session = onnxruntime.InferenceSession(case.model.SerializeToString(), RUNTIME)
        return run_session(session, case), "onnxruntime"
    except Exception:  # noqa: BLE001 - of many kinds, none of which has a base
        return ReferenceEvaluator(case.model).run(None, case.inputs), "onnx"


def agree(found, wanted, tolerance=1e-4):
    """Compare results: types exactly, and numbers as nearly as float32 has them."""
    assert len(found) == len(wanted)
    for mine, theirs in zip(found, wanted, strict=True):
        if isinstance(theirs, list):
            agree(mine, theirs, tolerance)
            continue
        pair = [np.asarray(mine), np.asarray(theirs)]
        assert pair[0].shape == pair[1].shape
        assert pair[0].dtype == pair[1].dtype
        wide = [each.astype(np.float64) for each in pair]
        np.testing.assert_allclose(*wide, rtol=tolerance, atol=tolerance * 0.1)


def known_opsets(operator):
    """The first opset of each version of an operator that is in force in 7 to 26."""
    found = {}
    for opset in range(7, NEWEST + 1):
        schema = find_operator(operator, opset)
        if schema is not None:
            found.setdefault(schema.version, opset)
    return list(found.values())
