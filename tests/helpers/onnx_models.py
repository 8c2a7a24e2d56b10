"""Models of ONNX in tests: checked by ONNX itself, and run in ONNX Runtime."""

import numpy as np
import onnx
import onnxruntime

from tripybuild.compiler.lowering.lower import lower_onnx
from tripybuild.onnx.constants import element_bytes
from tripybuild.onnx.model import Model
from tripybuild.onnx.protobuf import encode_model
from tripybuild.types.dtypes import from_numpy

FATAL_ONLY = 4


def lowered(graph, opset=20, weights=None, **settings):
    """The bytes of a graph's model, with the arrays of its weights, checked by ONNX."""
    model = lower_onnx(graph, opset, **settings)
    return checked(with_arrays(model, weights or {}))


def with_arrays(model: Model, weights) -> Model:
    """The model with the bytes of its weights."""
    return model.with_data(
        {name: element_bytes(each, from_numpy(each.dtype)) for name, each in weights.items()}
    )


def checked(model: Model) -> bytes:
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
    """What ONNX Runtime gives, without its own rewrites."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = FATAL_ONLY
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(text, options, providers=["CPUExecutionProvider"])
    return session.run(None, {name: np.asarray(each) for name, each in feeds.items()})
