"""The table of ONNX's operators, beside ONNX's own schemas and its inference of types."""

import re
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper
from oracles import onnx_operators

from tripybuild.onnx import table
from tripybuild.onnx.model import ir_version
from tripybuild.onnx.table import CODES, NEWEST, OLDEST, find_operator, operator_names, versions
from tripybuild.types.dtypes import (
    BY_NAME,
    bfloat16,
    boolean,
    float16,
    float32,
    int4,
    int8,
    int32,
    int64,
    uint8,
)

DATA = Path(table.__file__).parent / "operators.jsonl"


def test_data_are_those_of_onnx():
    assert DATA.read_text(encoding="utf-8").splitlines() == list(onnx_operators.lines())


def test_data_are_those_of_onnx_runtime():
    if not onnxruntime.__version__.startswith("1.32."):
        pytest.skip("onnxruntime 1.32 is not installed")
    lines = DATA.with_name("runtime_operators.jsonl").read_text(encoding="utf-8").splitlines()
    assert lines == list(onnx_operators.runtime_lines())


@pytest.mark.parametrize("opset", range(OLDEST, NEWEST + 1))
def test_operators_of_an_opset(opset):
    """Those in force are the ones that ONNX says, each in the same version."""
    schemas = {
        each.name: each.since_version
        for each in onnx.defs.get_all_schemas_with_history()
        if each.domain == "" and each.since_version <= opset
    }
    wanted = {name: onnx.defs.get_schema(name, opset, "") for name in schemas}
    alive = {name: s.since_version for name, s in wanted.items() if not s.deprecated}
    found = {name: find_operator(name, opset).version for name in operator_names(opset)}
    assert found == alive


def test_codes_and_versions_of_the_format():
    assert {
        each.onnx: TensorProto.DataType.Value(each.onnx.upper()) for each in BY_NAME.values()
    } == CODES
    for opset in range(17, NEWEST + 1):
        assert ir_version(opset) == helper.OP_SET_ID_VERSION_MAP["ai.onnx", opset]


def test_what_a_schema_says():
    attention = find_operator("Attention", 24)
    assert [each.name for each in attention.inputs if each.optional] == [
        *("attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"),
    ]
    assert attention.inputs[-1].type == "tensor(int64)"
    assert attention.dtypes["tensor(int64)"] == {int64}
    assert attention.attributes["is_causal"].default == 0
    assert attention.attributes["scale"].default is None
    assert find_operator("Cast", 20).attributes["to"].required
    assert find_operator("Concat", 20).input_at(7).name == "inputs"
    assert find_operator("Softmax", 20).input_at(1) is None
    assert int4 in find_operator("Cast", 21).dtypes["T2"]
    assert int4 not in find_operator("Cast", 20).dtypes["T2"]
    assert not find_operator("Loop", 20).inputs[-1].homogeneous


def test_what_is_not_there():
    """An operator that is too new, too old, deprecated, or of no opset at all."""
    assert find_operator("Gelu", 19) is None
    assert find_operator("Gelu", 20).version == 20
    assert find_operator("GroupNormalization", 20) is None
    assert [each.deprecated for each in versions("GroupNormalization")] == [True, False]
    assert find_operator("Abs", 6) is None
    assert find_operator("Abs", 27) is None
    assert find_operator("Softmin", 20) is None
    assert versions("Softmin") == ()


RESULTS = [
    ("Add", 20, [float16, float16], {}, [float16]),
    ("Equal", 20, [int32, int32], {}, [boolean]),
    ("Shape", 20, [float16], {}, [int64]),
    ("TopK", 20, [float32, int64], {}, [float32, int64]),
    ("Where", 20, [boolean, int8, int8], {}, [int8]),
    ("Cast", 20, [float32], {"to": bfloat16}, [bfloat16]),
    ("Cast", 20, [float32], {"to": 7}, [int64]),
    ("CastLike", 20, [float32, int32], {}, [int32]),
    ("ConstantOfShape", 20, [int64], {}, [float32]),
    ("QuantizeLinear", 20, [float32, float32], {}, [uint8]),
    ("QuantizeLinear", 21, [float32, float32], {"output_dtype": 3}, [int8]),
    ("QuantizeLinear", 20, [float32, float32, int8], {}, [int8]),
    ("DequantizeLinear", 23, [int8, float16], {}, [float16]),
    ("DequantizeLinear", 23, [int8, float16], {"output_dtype": float32}, [float32]),
    ("LayerNormalization", 20, [float16, float16], {}, [float16, float32, float32]),
    ("EyeLike", 20, [float16], {}, [float16]),
    ("EyeLike", 20, [float16], {"dtype": 7}, [int64]),
    ("RandomNormal", 20, [], {}, [float32]),
    ("Split", 20, [int32], {"num_outputs": 3}, [int32, int32, int32]),
]


@pytest.mark.parametrize(("name", "opset", "inputs", "attributes", "wanted"), RESULTS)
def test_result_dtypes(name, opset, inputs, attributes, wanted):
    """They are those that ONNX itself infers."""
    schema = find_operator(name, opset)
    assert list(schema.result_dtypes(inputs, attributes, len(wanted))) == wanted
    assert inferred(name, opset, inputs, attributes, len(wanted)) == wanted


def inferred(name, opset, inputs, attributes, count):
    """What ONNX's inference says."""
    codes = {key: CODES[v.onnx] if v in BY_NAME.values() else v for key, v in attributes.items()}
    extra = {"shape": [2]} if name == "RandomNormal" else {}
    names = [f"x{i}" for i in range(len(inputs))]
    results = [f"y{i}" for i in range(count)]
    node = helper.make_node(name, names, results, **codes, **extra)
    taken = [
        helper.make_tensor_value_info(n, CODES[t.onnx], shape_of(name, i))
        for i, (n, t) in enumerate(zip(names, inputs, strict=True))
    ]
    graph = helper.make_graph([node], "g", taken, [onnx.ValueInfoProto(name=r) for r in results])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    found = onnx.shape_inference.infer_shapes(made, data_prop=True).graph.output
    by_code = {code: spelled for spelled, code in CODES.items()}
    ours = {each.onnx: each for each in BY_NAME.values()}
    return [ours[by_code[each.type.tensor_type.elem_type]] for each in found]


def shape_of(name, index):
    """The shape of an input that inference does not refuse."""
    second = {"TopK": [1], "LayerNormalization": [6]}
    first = {"ConstantOfShape": [2]}
    scalars = name in {"QuantizeLinear", "DequantizeLinear"} and index > 0
    found = (second if index else first).get(name, [6, 6])
    return [] if scalars else found


def test_unknown_results():
    """Results of branches and of lists have no dtype here."""
    assert find_operator("If", 20).result_dtypes([boolean], {}, 2) == (None, None)
    assert find_operator("SequenceAt", 20).result_dtypes([None, int64], {}, 1) == (None,)


def test_constant_takes_the_dtype_of_its_value():
    schema = find_operator("Constant", 20)
    tensor = type("Tensor", (), {"dtype": float16})
    assert schema.result_dtypes([], {"value": tensor}, 1) == (float16,)
    assert schema.result_dtypes([], {"value_ints": (1, 2)}, 1) == (int64,)


def test_defaults_are_numbers_of_float32_as_written():
    """0.001, and not what its nearest float32 is in decimals."""
    found = find_operator("BatchNormalization", 20).attributes["epsilon"].default
    assert found == 1e-05
    assert np.float32(found) == np.float32(1e-05)


def test_lines_have_the_form_that_the_module_says():
    for line in DATA.read_text(encoding="utf-8").splitlines()[1:]:
        assert re.match(r'\["\w+",\d+,\[', line), line
