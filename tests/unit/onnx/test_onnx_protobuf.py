"""Our writer of ONNX's files, beside what ONNX's own library reads and writes."""

from dataclasses import replace
from io import BytesIO

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from tripybuild.onnx.model import (
    ExternalData,
    GraphDef,
    OnnxAttribute,
    OnnxModel,
    OnnxNode,
    TensorData,
    ValueInfo,
)
from tripybuild.onnx.model_files import looks_like_model, read_locations, read_stored
from tripybuild.onnx.protobuf import (
    encode_model,
    encode_parts,
)
from tripybuild.types.dtypes import BY_NAME, boolean, float16, float32, int4, int64

ONES = np.ones((2, 3), np.float32)


def held(name, array, of=float32):
    return TensorData(name, of, array.shape, array.tobytes())


def value(name, shape=("batch", 3), of=float32):
    return ValueInfo(name, of, shape)


def branch(name, operator):
    node = OnnxNode(operator, ("x",), (f"{name}_y",), name=f"{name}/{operator}")
    return GraphDef(name, (node,), (), (value(f"{name}_y"),))


def every_message():
    """A model that has each message and kind of attribute."""
    nodes = (
        OnnxNode(
            "Add",
            ("x", "weight"),
            ("sum",),
            name="first/add",
            doc="model.yaml:3:7",
        ),
        OnnxNode(
            "If",
            ("flag",),
            ("chosen",),
            {
                "then_branch": OnnxAttribute("graph", branch("then", "Relu")),
                "else_branch": OnnxAttribute("graph", branch("else", "Neg")),
            },
        ),
        OnnxNode("Clip", ("chosen", "", "top"), ("clipped",)),
        OnnxNode("Twice", ("clipped",), ("twice",), domain="local"),
        OnnxNode("LeakyRelu", ("twice",), ("leaky",), {"alpha": OnnxAttribute("float", 0.25)}),
        OnnxNode("Cast", ("leaky",), ("y",), {"to": OnnxAttribute("int", float16)}),
    )
    graph = GraphDef(
        "main",
        nodes,
        (value("x"), value("flag", (), boolean)),
        (value("y", ("batch", None), float16),),
        (held("weight", ONES), held("top", np.float32(6.0))),
        (ValueInfo("sum", float32, None, "of both"),),
        doc="A graph.",
    )
    return OnnxModel(
        graph,
        20,
        {"local": 1},
        "tripybuild",
        "1.0",
        "A model.",
        {"zoo": "last", "author": "first"},
    )


def test_onnx_reads_what_is_written():
    """And its checker has nothing to say, with inference of types and shapes."""
    model = onnx.load_from_string(encode_model(every_message()))
    onnx.checker.check_model(model, full_check=True)
    assert model.ir_version == 9
    assert [(each.domain, each.version) for each in model.opset_import] == [("", 20), ("local", 1)]
    assert model.producer_name == "tripybuild"
    assert [each.key for each in model.metadata_props] == ["author", "zoo"]
    assert model.graph.node[0].doc_string == "model.yaml:3:7"
    assert list(model.graph.node[2].input) == ["chosen", "", "top"]
    assert model.graph.node[-1].attribute[0].i == onnx.TensorProto.FLOAT16
    dims = model.graph.input[0].type.tensor_type.shape.dim
    assert (dims[0].dim_param, dims[1].dim_value) == ("batch", 3)
    assert not model.graph.value_info[0].type.tensor_type.HasField("shape")
    np.testing.assert_array_equal(numpy_helper.to_array(model.graph.initializer[0]), ONES)


def test_outputs_whose_types_are_inferred():
    """They have names alone, behind the others."""
    graph = replace(every_message().graph, inferred=("sum",))
    model = onnx.load_from_string(encode_model(OnnxModel(graph, 20)))
    assert [each.name for each in model.graph.output] == ["y", "sum"]
    assert not model.graph.output[1].HasField("type")


def test_bytes_are_those_of_the_library():
    """Fields stand in the order of their numbers, each in the one form that it has."""
    encoded = encode_model(every_message())
    assert onnx.load_from_string(encoded).SerializeToString(deterministic=True) == encoded


def test_two_orders_of_a_map_are_one_file():
    model = every_message()
    swapped = replace(model, metadata=dict(reversed(model.metadata.items())))
    assert encode_model(swapped) == encode_model(model)


ATTRIBUTES = [
    ("int", -1, -1),
    ("int", 2**63 - 1, 2**63 - 1),
    ("int", True, 1),
    ("ints", (-(2**63), 0, 300), [-(2**63), 0, 300]),
    ("ints", (), []),
    ("float", 3, 3.0),
    ("float", float("-inf"), float("-inf")),
    ("float", -1e300, float("-inf")),
    ("floats", (0.5, 1), [0.5, 1.0]),
    ("string", "nearest_größe", "nearest_größe".encode()),
    ("string", b"\xff", b"\xff"),
    ("strings", ("a", ""), [b"a", b""]),
]


@pytest.mark.parametrize(("kind", "given", "wanted"), ATTRIBUTES)
def test_kinds_of_attributes(kind, given, wanted):
    node = OnnxNode("Any", (), ("y",), {"it": OnnxAttribute(kind, given)})
    model = OnnxModel(GraphDef("g", (node,), (), ()), 20)
    found = onnx.load_from_string(encode_model(model)).graph.node[0].attribute[0]
    assert onnx.AttributeProto.AttributeType.Name(found.type) == kind.upper()
    assert onnx.helper.get_attribute_value(found) == wanted


def test_tensors_of_each_dtype():
    for of in BY_NAME.values():
        array = np.asarray([1, 0, 1, 1], of.numpy)
        data = bytes([1, 0x11]) if of is int4 else array.tobytes()
        if of.bits == 4 and of is not int4:
            codes = array.view(np.uint8)
            data = bytes([codes[0] | codes[1] << 4, codes[2] | codes[3] << 4])
        tensor = TensorData("t", of, (4,), data)
        model = OnnxModel(GraphDef("g", (), (), (), (tensor,)), 23)
        read = onnx.load_from_string(encode_model(model)).graph.initializer[0]
        np.testing.assert_array_equal(numpy_helper.to_array(read).astype(of.numpy), array)


def test_data_are_not_copied():
    """A part of the file is the buffer that was given."""
    data = memoryview(bytearray(1 << 20)).cast("f")
    tensor = TensorData("t", float32, (len(data),), data)
    parts = encode_parts(OnnxModel(GraphDef("g", (), (), (), (tensor,)), 20))
    assert any(part is data for part in parts)
    read = onnx.load_from_string(b"".join(parts))
    assert len(read.graph.initializer[0].raw_data) == 1 << 20


def test_data_of_another_file(tmp_path):
    """What is named is read from there: a file, the first byte and the length."""
    (tmp_path / "data.bin").write_bytes(b"head" + ONES.tobytes() + b"tail")
    tensor = TensorData("weight", float32, (2, 3), None)
    node = OnnxNode("Add", ("x", "weight"), ("y",))
    model = OnnxModel(GraphDef("g", (node,), (value("x"),), (value("y"),), (tensor,)), 20)
    with pytest.raises(ValueError, match="the weight 'weight' has no data"):
        encode_model(model)
    model = model.with_data({"weight": ExternalData("data.bin", 4, 24)})
    (tmp_path / "m.onnx").write_bytes(encode_model(model))
    onnx.checker.check_model(tmp_path / "m.onnx", full_check=True)
    read = onnx.load(tmp_path / "m.onnx")
    np.testing.assert_array_equal(numpy_helper.to_array(read.graph.initializer[0]), ONES)
    with (tmp_path / "m.onnx").open("rb") as file:
        stored = list(read_stored(file, (tmp_path / "m.onnx").stat().st_size))
    assert stored == [("weight", onnx.TensorProto.FLOAT, (2, 3), 4, 24)]
    whole = encode_model(model.with_data({"weight": ONES.tobytes()}))
    assert list(read_stored(BytesIO(whole), len(whole))) == []


def test_large_fields_have_lengths_of_many_bytes():
    doc = "a" * 300_000
    shape = ValueInfo("x", int64, (2**40,))
    model = OnnxModel(GraphDef("g", (), (shape,), ()), 20, doc=doc)
    read = onnx.load_from_string(encode_model(model))
    assert read.doc_string == doc
    assert read.graph.input[0].type.tensor_type.shape.dim[0].dim_value == 2**40


def test_remarks_are_utf8_whatever_they_were():
    """A path may have bytes that are none; names have not, as readers refuse them."""
    made = every_message()
    node = replace(made.graph.nodes[0], doc="b\udcff.yaml:3:7")
    made = replace(made, doc="\ud800", graph=replace(made.graph, nodes=(node,), doc="\udfff"))
    read = onnx.load_from_string(encode_model(made))
    assert (read.doc_string, read.graph.doc_string) == ("\\ud800", "\\udfff")
    assert read.graph.node[0].doc_string == "b\\udcff.yaml:3:7"


def test_models_are_told_by_all_of_their_fields(tmp_path):
    """Not by their first bytes, which weights can have as well."""
    path = tmp_path / "model"
    content = encode_model(every_message())
    alike = {
        b"": True,
        content: True,
        onnx.load_from_string(content).SerializeToString(): True,
        content[:-1]: False,
        content + b"\x0a": False,
        b"\x08\x01" + bytes(6) + b"{}": False,
        b"\x08\x09": False,
        b"\x08" + b"\xff" * 20: False,
        b"some text\n": False,
    }
    for each, wanted in alike.items():
        path.write_bytes(each)
        assert looks_like_model(path) == wanted, each[:10]
    assert not looks_like_model(tmp_path / "missing")


def test_the_files_are_read_that_a_model_names(tmp_path):
    """As ONNX reads them; of what is no model there are none."""
    path = tmp_path / "model"
    made = every_message()
    places = ("a/b.data", "c.data")
    outside = (TensorData(e, float32, (2,), ExternalData(e, 64, 8)) for e in places)
    inside = made.graph.initializers
    graph = replace(made.graph, initializers=(*inside, *outside))
    path.write_bytes(encode_model(replace(made, graph=graph)))
    held = onnx.load(path, load_external_data=False).graph.initializer
    named = {e.value for each in held for e in each.external_data if e.key == "location"}
    assert read_locations(path) == named == set(places)
    path.write_bytes(path.read_bytes()[:-1])
    assert read_locations(path) == set()
