"""Models of ONNX in tests: checked by ONNX itself, and run in ONNX Runtime."""

import ctypes
import math

import numpy as np
import onnx
import onnxruntime

from tripyapi.tensor import Tensor
from tripybuild.compiler.lowering.lower_onnx import lower_onnx
from tripybuild.onnx.constants import element_bytes
from tripybuild.onnx.model import OnnxModel
from tripybuild.onnx.protobuf import encode_model
from tripybuild.onnx.table import BY_TYPE, CODES
from tripybuild.reference.execute import execute
from tripybuild.trace.graph import Graph
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import bfloat16, float8, from_numpy

FATAL_ONLY = 4
FOREIGN = (bfloat16, float8)  # of elements that NumPy has from elsewhere
Level = onnxruntime.GraphOptimizationLevel


def lowered(graph, opset=20, weights=None, **settings):
    """The bytes of a graph's model, with the arrays of its weights, checked by ONNX."""
    model = lower_onnx(graph, opset, **settings)
    return checked(with_arrays(model, weights or {}))


def with_arrays(model: OnnxModel, weights) -> OnnxModel:
    """The model with the bytes of its weights."""
    return model.with_data(
        {name: element_bytes(each, from_numpy(each.dtype)) for name, each in weights.items()}
    )


def checked(model: OnnxModel) -> bytes:
    """The bytes of a model that ONNX's checker takes, and whose declared types it infers, too."""
    text = encode_model(model)
    proto = onnx.load_from_string(text)
    onnx.checker.check_model(proto)
    check_types(proto)
    return text


def check_types(proto):
    """Compare the types in a model with those that ONNX infers without them."""
    bare = onnx.ModelProto()
    bare.CopyFrom(proto)
    del bare.graph.value_info[:]
    for output in bare.graph.output:
        output.type.tensor_type.ClearField("shape")
    inferred = onnx.shape_inference.infer_shapes(
        bare, check_type=True, strict_mode=True, data_prop=True
    )
    found = {each.name: each.type for each in (*inferred.graph.value_info, *inferred.graph.output)}
    for info in (*proto.graph.value_info, *proto.graph.output):
        if info.name in found:
            _compare(info.name, info.type.tensor_type, found[info.name].tensor_type)


def _compare(name, declared, inferred):
    assert declared.elem_type == inferred.elem_type, name
    if not inferred.HasField("shape"):
        return
    sizes = [[_size(d) for d in each.shape.dim] for each in (declared, inferred)]
    assert len(sizes[0]) == len(sizes[1]), f"{name}: {sizes}"
    for ours, theirs in zip(*sizes, strict=True):
        assert theirs is None or ours == theirs, f"{name}: {sizes}"


def _size(dimension):
    """A number, or the name of a symbol that is not one of the inference's own."""
    if dimension.HasField("dim_value"):
        return dimension.dim_value
    return None if dimension.dim_param.startswith("unk__") else dimension.dim_param or None


def run(text: bytes, feeds):
    """What ONNX Runtime gives."""
    taken = {name: _ort_value(np.asarray(each)) for name, each in feeds.items()}
    return [_array(each) for each in session(text).run_with_ort_values(None, taken)]


def session(text: bytes, level=Level.ORT_DISABLE_ALL):
    """A session of ONNX Runtime, without its own rewrites unless a level of them is asked for."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = FATAL_ONLY
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = level
    return onnxruntime.InferenceSession(text, options, providers=["CPUExecutionProvider"])


def graph_of(function, *types, names=()):
    """The graph of a function of tensors of these types."""
    names = names or [f"x{i}" for i in range(len(types))]
    values = {
        name: Value(TensorType(*type), name=name) for name, type in zip(names, types, strict=True)
    }
    given = function(*map(Tensor.of, values.values()))
    several = given if isinstance(given, (tuple, list)) else (given,)
    return Graph("g", values, {}, {f"y{i}": each.value for i, each in enumerate(several)})


def agree(graph, *cases, opset=20, absolute=1e-6, **settings):
    """ONNX Runtime gives what the references give; each case has the sizes and the inputs."""
    text = lowered(graph, opset, types=True, **settings)
    for sizes, *arrays in cases:
        feeds = dict(zip(graph.inputs, arrays, strict=True))
        wanted = execute(graph.substitute(sizes), feeds)
        for got, want in zip(run(text, feeds), wanted.values(), strict=True):
            assert got.dtype == want.dtype
            assert got.shape == want.shape
            pair = [each.astype(np.float64) for each in (got, want)]
            np.testing.assert_allclose(*pair, 1e-5, absolute)
    return onnx.load_from_string(text)


def floats(*shape):
    """Random numbers, the same ones each time."""
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def operators(model):
    """The operators of a model's nodes in their order."""
    return [node.op_type for node in model.graph.node]


def _ort_value(array):
    kind = from_numpy(array.dtype)
    if kind not in FOREIGN:
        return onnxruntime.OrtValue.ortvalue_from_numpy(array)
    octets = np.ascontiguousarray(array).view(f"u{array.itemsize}")
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(octets, CODES[kind.onnx])


def _array(value):
    """A copy; NumPy has no dtypes for some, whose memory is read."""
    kind = BY_TYPE[value.data_type()]
    if kind not in FOREIGN:
        return value.numpy()
    count = math.prod(value.shape())
    octets = (ctypes.c_uint8 * (count * kind.numpy.itemsize)).from_address(value.data_ptr())
    return np.frombuffer(bytes(octets), kind.numpy).reshape(value.shape())
