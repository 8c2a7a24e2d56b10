"""Models of ONNX in the notation of ONNX's own helper, for what reads them."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CODES = {
    "float32": TensorProto.FLOAT,
    "float16": TensorProto.FLOAT16,
    "float64": TensorProto.DOUBLE,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "int8": TensorProto.INT8,
    "uint8": TensorProto.UINT8,
    "bool": TensorProto.BOOL,
    "string": TensorProto.STRING,
}


def typed(name, dtype="float32", shape=()):
    """A value's declaration; a size that is None is unknown."""
    return helper.make_tensor_value_info(name, CODES[dtype], shape)


def untyped(name):
    """A value's declaration that says no type."""
    return onnx.ValueInfoProto(name=name)


def weight(name, values):
    return numpy_helper.from_array(np.asarray(values), name)


def node(operator, inputs, outputs, name="", domain="", metadata=None, **attributes):
    """A node; inputs and outputs are names with blanks between them, and `_` is left out."""
    split = [["" if each == "_" else each for each in text.split()] for text in (inputs, outputs)]
    made = helper.make_node(operator, *split, name=name, domain=domain, **attributes)
    for key, value in (metadata or {}).items():
        entry = made.metadata_props.add()
        entry.key, entry.value = key, value
    return made


def graph(nodes, inputs, outputs, weights=(), values=()):
    return helper.make_graph(nodes, "g", inputs, outputs, list(weights), value_info=list(values))


def model(nodes, inputs, outputs, weights=(), values=(), opset=20, functions=(), domains=()):
    made = helper.make_model(
        graph(nodes, inputs, outputs, weights, values),
        opset_imports=[
            helper.make_opsetid("", opset),
            *(helper.make_opsetid(d, 1) for d in domains),
        ],
        functions=functions,
    )
    made.ir_version = 10
    return made


def save(made, path):
    path.write_bytes(made.SerializeToString())
    return path


def external(tensor, location, offset=None, length=None):
    """A tensor whose data are in a file."""
    made = onnx.TensorProto()
    made.CopyFrom(tensor)
    made.ClearField("raw_data")
    made.data_location = TensorProto.EXTERNAL
    said = {"location": location, "offset": offset, "length": length}
    for key, value in said.items():
        if value is not None:
            entry = made.external_data.add()
            entry.key, entry.value = key, str(value)
    return made
