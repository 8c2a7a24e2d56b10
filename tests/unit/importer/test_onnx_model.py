"""Models of ONNX as foreign programs: nodes by their own version, names, sizes, functions."""

from itertools import pairwise

import numpy as np
import pytest
from onnx import TensorProto, defs, helper
from onnx_files import graph, model, node, save, typed, weight

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.importer.foreign_program import (
    ForeignGraph,
    ForeignValue,
    ForeignWeight,
    ModuleCall,
)
from tripybuild.importer.onnx_model.names import identifier
from tripybuild.importer.onnx_model.program import load_file, load_model
from tripybuild.onnx.table import NEWEST, OLDEST, find_operator, operator_names
from tripybuild.types.dtypes import float16, float32
from tripybuild.types.size_range import SizeRange

X = typed("x", shape=("B", 4))
Y = typed("y", shape=None)
TORCH = "pkg.torch.onnx"


def only(made, **settings):
    """The nodes of a model."""
    return load_model(made, **settings).graph.nodes


def said(value):
    """An argument without what is not data."""
    if isinstance(value, list):
        return [said(each) for each in value]
    return value.name if isinstance(value, ForeignValue) else value


def arguments(operator, inputs="x", opset=20, outputs="y", **attributes):
    """The arguments of one node."""
    names = [each for each in inputs.split() if each != "_"]
    made = model(
        [node(operator, inputs, outputs, **attributes)],
        [typed(name, shape=(2, 3)) for name in names],
        [Y],
        opset=opset,
    )
    (found,) = only(made)
    return {name: said(each) for name, each in found.arguments.items()}


def test_arguments_have_the_names_of_parameters():
    assert arguments("Gemm", "x w _", alpha=0.1, transB=1) == {
        "A": "x",
        "B": "w",
        "alpha": 0.1,
        "transB": 1,
    }
    assert arguments("Max", "x w v") == {"data_0": ["x", "w", "v"]}
    assert arguments("Cast", to=TensorProto.FLOAT16) == {"input": "x", "to": float16}
    assert arguments("Cast", to=TensorProto.UINT16) == {"input": "x", "to": "uint16"}


@pytest.mark.parametrize(("opset", "axis"), [(11, {"axis": 1}), (13, {})])
def test_a_default_is_that_of_the_version(opset, axis):
    """Softmax was along dimension 1; the default of today is not written out."""
    assert arguments("Softmax", opset=opset) == {"input": "x"} | axis


def test_an_input_that_was_renamed_goes_by_its_position():
    found = arguments("BatchNormalization", "x s b m v", opset=9)
    assert found["input_mean"] == "m"
    assert found["input_var"] == "v"


def test_an_attribute_that_became_an_input_goes_by_its_name():
    assert arguments("Squeeze", opset=11, axes=[0])["axes"] == [0]
    assert arguments("Clip", opset=6 + 1, min=0.5)["min"] == 0.5
    assert arguments("Resize", "x scales", opset=10)["scales"] == "scales"


def test_every_input_of_each_version_has_a_place_in_the_newest():
    """So what an old file says can be read by an alias of today."""
    lost = []
    for name in operator_names():
        newest = find_operator(name, NEWEST)
        parameters = {each.name for each in newest.inputs} | set(newest.attributes)
        for opset in range(OLDEST, NEWEST + 1):
            old = find_operator(name, opset)
            for index, each in enumerate(old.inputs if old else ()):
                if each.name not in parameters and index >= len(newest.inputs):
                    lost.append((name, opset, each.name))
    assert lost == []


def test_dynamic_sizes_are_symbols():
    inputs = [typed("x", shape=("B", "past + 1", 4)), typed("z", shape=("B", None, "past"))]
    found = load_model(model([node("Add", "x z", "y")], inputs, [Y]))

    x, z = (each.type.shape for each in found.graph.inputs)
    assert [str(size) for size in (*x, *z)] == ["B", "past + 1", "4", "B", "z_1", "past"]
    assert found.ranges == {name: SizeRange(1, 1, None) for name in ("B", "past", "z_1")}


def test_what_is_computed_of_a_size_that_no_input_has_is_a_size():
    found = load_model(model([node("Relu", "x", "y")], [typed("x", shape=("N+1", "class"))], [Y]))
    (x,) = found.graph.inputs
    assert [str(each) for each in x.type.shape] == ["N_1", "size_class"]


def test_stated_types_are_those_of_inputs_sizes_only():
    """A name that no input has is what an exporter made up."""
    known, unknown = typed("h", shape=("B", 4)), typed("y", shape=("made_up", 4))
    made = model([node("Relu", "x", "h"), node("Relu", "h", "y")], [X], [unknown], values=[known])
    first, second = only(made)

    assert str(first.results[0].type) == "tensor<Bx4xf32>"
    assert second.results[0].type is None


def test_names_that_are_no_identifiers():
    inputs = [typed("input.1", shape=(2,)), typed("class", shape=("N:batch",))]
    found = load_model(model([node("Add", "input.1 class", "7")], inputs, [typed("7", shape=None)]))

    assert [each.name for each in found.graph.inputs] == ["input_1", "input_class"]
    assert [name for name, _ in found.graph.outputs] == ["output_7"]
    assert list(found.ranges) == ["N_batch"]
    assert found.notes == [
        "the input `input.1` is called `input_1`",
        "the input `class` is called `input_class`",
        "the output `7` is called `output_7`",
    ]


@pytest.mark.parametrize("name", ["", "_", "1", "für", "a__b", "max", "a b", "::", "_x_"])
def test_identifiers_are_names_of_sizes(name):
    SizeRange(1, 1, None).symbol(identifier(name, "size"))


def test_weights_and_constants():
    nodes = [
        node("Constant", "", "two", value=weight("", np.float32([2.0]))),
        node("Mul", "x w", "h", name="/layer.0/up/Mul"),
        node("Mul", "h onnx::Mul_1", "g", name="/layer.0/up/Mul_1"),
        node("Mul", "g two", "y", name="/layer.0/Mul"),
    ]
    held = [weight("w", np.ones(4, np.float32)), weight("onnx::Mul_1", np.ones(4, np.float32))]
    found = load_model(model(nodes, [X], [Y], held))

    assert {path: each.is_constant for path, each in found.weights.items()} == {
        "layer.0.up.mul_b": False,
        "layer.0.up.mul_b_2": False,
        "two": True,
    }
    assert found.weights["two"].load().tolist() == [2.0]


@pytest.mark.parametrize(
    ("name", "is_number"),
    [("/net/Constant_output_0", True), ("val_3", True), ("eps", True), ("net.scale_1", False),
     ("logit_scale", False)],
)  # fmt: skip
def test_numbers_of_a_program_are_no_weights(name, is_number):
    """A scalar that a parameter is stays one."""
    nodes = [node("Mul", f"x {name}", "y")]
    found = load_model(model(nodes, [X], [Y], weights=[weight(name, np.float32(0.5))]))
    (held,) = found.weights.values()
    assert held.is_constant == is_number


def test_modules_by_the_names_of_nodes():
    nodes = [node("Relu", "x", "h", name="/encoder/layer.0/act/Relu"), node("Relu", "h", "y")]
    inside, outside = only(model(nodes, [X], [Y]))

    assert [call.path for call in inside.modules] == [
        "",
        "encoder",
        "encoder.layer.0",
        "encoder.layer.0.act",
    ]
    assert [call.class_name for call in inside.modules][1:] == ["Encoder", "Layer", "Act"]
    assert outside.modules == ()


def test_modules_and_lines_that_pytorch_writes():
    said = {
        f"{TORCH}.name_scopes": "['', 'layers.0', 'relu']",
        f"{TORCH}.class_hierarchy": "['m.Net', 'm.nn.Block', 'aten.relu.default']",
        f"{TORCH}.stack_trace": 'File "net.py", line 7, in forward\n    x = relu(x)',
    }
    (found,) = only(model([node("Relu", "x", "y", metadata=said)], [X], [Y]))

    assert found.modules == (ModuleCall("", "Net"), ModuleCall("layers.0", "Block"))
    assert str(found.place) == "net.py:7"


def test_operators_that_runtimes_take():
    """Those of another domain by their whole name; newer ones as in the first opset with them."""
    nodes = [
        node("BiasGelu", "x x", "h", domain="com.microsoft"),
        node("LayerNormalization", "h x", "y"),
    ]
    gelu, norm = only(model(nodes, [X], [Y], opset=14, domains=["com.microsoft"]))

    assert (gelu.operator, gelu.domain, gelu.opset) == ("com.microsoft.BiasGelu", "", 14)
    assert [*gelu.arguments] == ["A", "B"]
    assert (norm.operator, norm.opset) == ("LayerNormalization", 17)


def scoped(operator, inputs, outputs, path):
    said = {
        f"{TORCH}.name_scopes": str(["", *([path] if path else []), "op"]),
        f"{TORCH}.class_hierarchy": str(["Net", *(["Block"] if path else []), "op"]),
    }
    return node(operator, inputs, outputs, metadata=said)


def test_nodes_of_optimizers_stand_in_the_module_around_them():
    nodes = [
        scoped("Relu", "x", "a", "h.0"),
        node("Add", "a one", "b", name="fused"),
        scoped("Relu", "b", "c", "h.0"),
        node("Add", "c one", "d"),
        scoped("Relu", "d", "e", "h.1"),
        node("Add", "e one", "y"),
    ]
    held = [weight("one", np.float32([1.0]))]
    found = load_model(model(nodes, [X], [Y], held))

    paths = [each.modules[-1].path if each.modules else None for each in found.graph.nodes]
    assert paths == ["h.0", "h.0", "h.0", "", "h.1", None]


def test_a_weight_of_several_modules_is_in_none_that_is_a_list():
    nodes = [scoped("Add", "x one", "a", "h.0"), scoped("Add", "a one", "y", "h.1")]
    found = load_model(model(nodes, [X], [Y], [weight("one", np.float32([1.0]))]))
    assert [*found.weights] == ["one"]


@pytest.mark.parametrize("scopes", ["[", "[1]", "[[[" * 9999, "print()", "['']", "['', 'a', 'b']"])
def test_metadata_that_say_nothing(scopes):
    said = {f"{TORCH}.name_scopes": scopes, f"{TORCH}.class_hierarchy": "['Net', 'relu']"}
    (found,) = only(model([node("Relu", "x", "y", metadata=said)], [X], [Y]))
    assert found.modules == ()


def double(name="twice", domain="own"):
    """A function with an attribute of its own."""
    body = [
        helper.make_node("Constant", [], ["k"]),
        helper.make_node("Mul", ["a", "k"], ["b"]),
    ]
    body[0].attribute.add().CopyFrom(helper.make_attribute("value_float", 0.0))
    body[0].attribute[0].ClearField("f")
    body[0].attribute[0].ref_attr_name = "factor"
    return helper.make_function(
        domain, name, ["a", "left_out"], ["b"], body, [helper.make_opsetid("", 20)], ["factor"]
    )


def test_functions_of_the_model_are_in_the_place_of_their_calls():
    nodes = [
        node("twice", "x", "h", domain="own", name="first", factor=2.0),
        node("twice", "h", "y", domain="own", name="second", factor=3.0),
    ]
    made = model(nodes, [X], [Y], functions=[double()], domains=["own"])
    found = only(made)

    assert [each.operator for each in found] == ["Constant", "Mul"] * 2
    assert [each.arguments.get("value_float") for each in found][::2] == [2.0, 3.0]
    assert [each.modules[0] for each in found][1::2] == [
        ModuleCall("first", "twice"),
        ModuleCall("second", "twice"),
    ]
    assert found[1].results[0] is found[3].arguments["A"]


def test_functions_that_call_others_twice_each():
    names = [f"F{i}" for i in range(30)]
    made = [
        helper.make_function(
            "own",
            name,
            ["a"],
            ["b"],
            [node(after, "a", "c", domain="own"), node(after, "c", "b", domain="own")],
            [helper.make_opsetid("", 20), helper.make_opsetid("own", 1)],
        )
        for name, after in pairwise([*names, "Last"])
    ]
    made.append(
        helper.make_function(
            "own", "Last", ["a"], ["b"], [node("Relu", "a", "b")], [helper.make_opsetid("", 20)]
        )
    )
    call = node("F0", "x", "y", domain="own")
    with pytest.raises(DiagnosticError, match="it has more than 131072 nodes"):
        load_model(model([call], [X], [Y], functions=made, domains=["own"]))


def test_functions_without_an_end():
    body = [helper.make_node("loop", ["a"], ["b"], domain="own")]
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("own", 1)]
    loop = helper.make_function("own", "loop", ["a"], ["b"], body, opsets)
    made = model([node("loop", "x", "y", domain="own")], [X], [Y], functions=[loop])

    with pytest.raises(DiagnosticError, match="onnx-malformed"):
        load_model(made)


def test_a_branch_reads_what_is_around_it():
    then = graph([node("Relu", "x", "t")], [], [typed("t", shape=None)])
    other = graph([node("Add", "x k", "o")], [], [typed("o", shape=None)], [weight("k", [1.0] * 4)])
    made = model(
        [node("If", "c", "y", then_branch=then, else_branch=other)],
        [X, typed("c", "bool")],
        [Y],
    )
    program = load_model(made)
    (found,) = program.graph.nodes

    branches = [found.arguments[name] for name in ("then_branch", "else_branch")]
    assert all(isinstance(each, ForeignGraph) for each in branches)
    assert all(each.nodes[0].arguments.get("X", program.graph.inputs[0]) for each in branches)
    assert branches[0].nodes[0].arguments["X"] is program.graph.inputs[0]
    assert isinstance(branches[1].nodes[0].arguments["B"], ForeignWeight)


def test_a_body_of_onnx_is_made_when_it_is_asked_for():
    made = model([node("ReduceL2", "x", "y", keepdims=0)], [X], [Y])
    (found,) = only(made)
    body = found.expand(lambda value: value.type)

    assert "Sqrt" in [each.operator for each in body.nodes]
    reduced = next(each for each in body.nodes if each.operator.startswith("Reduce"))
    assert reduced.arguments["keepdims"] == 0
    assert body.nodes[0].arguments["A"] is found.arguments["data"]


def test_a_body_can_depend_on_types():
    made = model([node("Clip", "x _ h", "y")], [X, typed("h")], [Y])
    (found,) = only(made)
    body = found.expand(lambda value: value.type)

    assert {each.operator for each in body.nodes} == {"Less", "Where"}
    (plain,) = only(model([node("MatMul", "x x", "y")], [X], [Y]))
    assert plain.expand is None


def test_operators_of_newer_opsets_have_bodies():
    """They are no operators of the table; what ONNX says that they are is."""
    newest = defs.onnx_opset_version()
    later = [
        each.name
        for each in defs.get_all_schemas()
        if not each.domain and each.since_version > NEWEST and each.has_function
    ]
    for name in later[:1]:
        schema = defs.get_schema(name, newest, "")
        inputs = " ".join("x" for each in schema.inputs[: schema.min_input])
        made = model([node(name, inputs, "y")], [X], [Y], opset=newest)
        assert only(made)[0].expand is not None


def test_newer_versions_that_only_take_more_dtypes_are_those_of_the_table():
    """A version with another attribute is, too, where that has its default."""
    (found,) = only(model([node("Mod", "x x", "y")], [X], [Y], opset=28))
    assert (found.domain, found.opset) == ("", NEWEST)
    for mode, domain in (("DCR", ""), ("CRD", "ai.onnx")):
        call = node("SpaceToDepth", "x", "y", blocksize=2, mode=mode)
        (found,) = only(model([call], [X], [Y], opset=28))
        assert found.domain == domain


def test_constants_in_the_place_of_inputs():
    made = model([node("Reshape", "x s", "y")], [X, typed("s", "int64", (2,))], [Y])
    found = load_model(made, {"s": np.array([2, -1])})

    assert [each.name for each in found.graph.inputs] == ["x"]
    assert found.graph.nodes[0].arguments["shape"].load().tolist() == [2, -1]
    for wrong, says in (
        ({"s": np.zeros(3, np.int64)}, r"is int64\[2\], and the constant for it is int64\[3\]"),
        ({"s": np.zeros(2, np.int32)}, r"is int64\[2\], and the constant for it is int32\[2\]"),
        ({"t": np.zeros(2)}, "has no input `t`"),
    ):
        with pytest.raises(DiagnosticError, match=says) as caught:
            load_model(made, wrong)
        assert caught.value.diagnostics[0].code == "onnx-input"


def of_function(opset):
    """A model of a function of another opset than its own."""
    body = [node("Relu", "a", "b")]
    made = helper.make_function("own", "F", ["a"], ["b"], body, [helper.make_opsetid("", opset)])
    call = node("F", "x", "y", domain="own")
    return model([call], [X], [Y], functions=[made], domains=["own"])


def without_opsets(made):
    made.ClearField("opset_import")
    return made


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (model([node("Relu", "x", "y")], [X], [Y], opset=6), "of opset 6"),
        (model([node("Relu", "x", "y")], [X], [Y], opset=99), "of opset 99"),
        (model([node("Relu", "x", "y")], [X], [Y], opset=1 << 40), f"of opset {1 << 40}"),
        (of_function(5), "of opset 5"),
        (model([node("Relu", "x", "y")], [typed("x", shape=None)], [Y]), "has no shape"),
        (model([node("Relu", "x", "y")], [typed("x", "string", (1,))], [Y]), "is of string"),
    ],
)
def test_what_cannot_be_imported(made, says):
    with pytest.raises(DiagnosticError, match=r"onnx-unsupported") as error:
        load_model(made)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (model([node("Relu", "z", "y")], [X], [Y]), "`z`, which nothing before it gives"),
        (model([node("Relu", "x", "x")], [X], [Y]), "two values are called `x`"),
        (model([node("Relu", "x x", "y")], [X], [Y]), "has 2 inputs, and `Relu` has 1"),
        (model([node("Relu", "", "y")], [X], [Y]), "has 0 inputs, and `Relu` needs 1"),
        (model([node("Relu", "x", "y z")], [X], [Y]), "has 2 results, and `Relu` has 1"),
        (model([node("Elu", "x", "y", alpha="a")], [X], [Y]), "`alpha` as string, and that of"),
        (model([node("Relu", "x", "y")], [typed("")], [Y]), "one of its inputs has no name"),
        (model([node("Relu", "x", "y")], [X], []), "it has no outputs"),
        (model([node("Relu", "x", "h")], [X], [Y]), "an output is `y`"),
        (model([node("Relu", "x", "y", alpha=0.5)], [X], [Y]), "has the attribute `alpha`"),
        (without_opsets(model([node("Relu", "x", "y")], [X], [Y])), "states no opset of ONNX's"),
    ],
)
def test_models_that_contradict_themselves(made, says, tmp_path):
    with pytest.raises(DiagnosticError, match="onnx-malformed") as error:
        load_file(save(made, tmp_path / "m.onnx"))
    assert says in str(error.value)
    assert float32.name not in says
