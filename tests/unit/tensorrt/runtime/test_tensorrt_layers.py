"""Tests of the translation: each operation becomes layers that TensorRT-RTX builds engines of."""

import pytest
from tensorrt_programs import PROGRAMS, A, function, unary

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.tensorrt.dialect import OPERATIONS, TRTX_OPERATIONS
from tripybuild.tensorrt.mlir import verifier
from tripybuild.tensorrt.mlir.reading import parser
from tripybuild.tensorrt.runtime import engine
from tripybuild.tensorrt.translation.library import Library
from tripybuild.tensorrt.translation.log import Log
from tripybuild.tensorrt.translation.translate import translate

# What has no layer: extension ops are expanded before, the others are not computed.
EXTENSION = {
    "transpose",
    "reshape",
    "expand_rank",
    "collapse_rank",
    "broadcast",
    "argmin",
    "argmax",
}
STRUCTURE = {"module", "call", "call_alloc", "yield", "condition"}
# What TensorRT-RTX has no implementation of.
HOLES = {"tensorrt.non_zero", "tensorrt.opaque_plugin", "trtx.nms", "trtx.moe"}


TRANSLATED = {each.name for each in (*OPERATIONS, *TRTX_OPERATIONS) if hasattr(each, "translate")}


def network_of(text):
    """The translation of a text's function, without building it."""
    library, log = Library.find("tensorrt-rtx"), Log()
    function_ = engine.select_function(parser.parse(text), None)
    return translate(library, library.builder(log), log, function_)


def layers_of(text):
    """The kinds and names of a network's layers."""
    network = network_of(text).network
    layers = [network.get_layer(index) for index in range(network.num_layers)]
    return [str(layer.type).removeprefix("LayerType.") for layer in layers]


def test_every_operation_is_translated_or_expanded_before():
    """The tables of layers and the dialect agree."""
    without = {f"tensorrt.{name}" for name in EXTENSION | STRUCTURE}
    dialects = {each.name for each in (*OPERATIONS, *TRTX_OPERATIONS)}
    assert dialects - without == TRANSLATED
    assert set(PROGRAMS) == TRANSLATED - HOLES


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_operation_builds(name):
    """The program is valid, the engine has its outputs, and the record says where they are from."""
    module = parser.parse(PROGRAMS[name], "program.mlir")
    assert verifier.problems(module) == []
    built = engine.build(module)
    assert len(built.plan) > 1000
    function_ = engine.select_function(module, None)
    results = [kind.get_shape() for kind in function_.function_type.outputs]
    shapes = [each["shape"] for each in built.record["outputs"]]
    assert [[s if s >= 0 else None for s in shape] for shape in results] == shapes
    assert name in {layer["op"] for layer in built.record["layers"]}
    names = [layer["name"] for layer in built.record["layers"]]
    names += [each for layer in built.record["layers"] for each in layer.get("others", ())]
    assert len(set(names)) == len(names)
    assert all(
        each.startswith(("[tensorrt.", "[trtx.")) and "loc(program.mlir:" in each for each in names
    )


def test_a_shape_is_found_once_for_each_tensor():
    """TensorRT counts in int64: a shape and a cast, and no second pair for the same tensor."""
    assert layers_of(PROGRAMS["tensorrt.shape"]) == ["SHAPE", "CAST", "IDENTITY"]


def test_a_shape_found_in_a_branch_is_not_used_after_it():
    """It was never computed if the other branch ran."""
    text = function(
        {"c": "tensor<i1>", "a": "tensor<?xf32>"},
        ["tensor<1xi32>", "tensor<1xi32>"],
        """
        %k = tensorrt.constant dense<0> : tensor<1xi32>
        %0 = tensorrt.if (%c : tensor<i1>) -> tensor<1xi32> {
          %s = tensorrt.shape %a : tensor<?xf32> -> tensor<1xi32>
          tensorrt.yield %s : tensor<1xi32>
        } else {
          tensorrt.yield %k : tensor<1xi32>
        }
        %1 = tensorrt.shape %a : tensor<?xf32> -> tensor<1xi32>
        %0, %1
        """,
    )
    assert layers_of(text).count("SHAPE") == 2


def test_inputs_and_repeated_values_go_through_an_identity():
    """An engine gives back neither an input nor one tensor twice."""
    text = function(
        {"a": A}, [A, A, A, A], f"%0 = tensorrt.softmax {{axis = 1 : i64}} %a : {A}\n%a, %0, %0, %a"
    )
    assert layers_of(text) == ["SOFTMAX", "IDENTITY", "IDENTITY", "IDENTITY"]
    assert engine.build(parser.parse(text)).plan


def test_values_from_above_enter_a_conditional_and_constants_do_not():
    """A constant that came through a conditional would be none, and no kernel of a convolution."""
    layers = layers_of(PROGRAMS["tensorrt.if"])
    assert layers.count("CONDITIONAL_INPUT") == 1
    assert layers.count("CONDITIONAL_OUTPUT") == 2
    assert layers.count("CONSTANT") == 1


def test_conditionals_and_loops_nest():
    """A branch in a loop in a branch is a network; TensorRT-RTX builds none, and we say why."""
    text = function(
        {"c": "tensor<i1>", "a": A},
        [A],
        f"""
        %l = tensorrt.constant dense<0> : tensor<i32>
        %n = tensorrt.constant dense<3> : tensor<i32>
        %s = tensorrt.constant dense<1> : tensor<i32>
        %0 = tensorrt.if (%c : tensor<i1>) -> {A} {{
          %1 = tensorrt.for %i = %l to %n step %s init(%x = %a) -> ({A}) {{
            %2 = tensorrt.if (%c : tensor<i1>) -> {A} {{
              %y = tensorrt.element_wise <kSUM>(%x, %a : {A}, {A}) -> {A}
              tensorrt.yield %y : {A}
            }} else {{
              tensorrt.yield %x : {A}
            }}
            tensorrt.yield %2 : {A}
          }}
          tensorrt.yield %1 : {A}
        }} else {{
          tensorrt.yield %a : {A}
        }}
        %0
        """,
    )
    with pytest.raises(DiagnosticError) as caught:
        engine.build(parser.parse(text))
    assert "flatten" in caught.value.diagnostics[0].hint
    layers = layers_of(text)
    assert layers.count("CONDITION") == 2
    assert layers.count("LOOP_OUTPUT") == 1
    assert layers.count("CONDITIONAL_INPUT") == 2 + 2  # %c and %a; then %x and %a


@pytest.mark.parametrize("outer", ["if", "for"])
def test_two_levels_of_control_flow_build(outer):
    """A loop in a branch, and a branch in a loop."""
    constants = "\n".join(
        f"%{name} = tensorrt.constant dense<{value}> : tensor<i32>"
        for name, value in (("l", 0), ("n", 3), ("s", 1))
    )
    total = f"%y = tensorrt.element_wise <kSUM>(%{{0}}, %a : {A}, {A}) -> {A}"
    branch = (
        f"%{{0}} = tensorrt.if (%c : tensor<i1>) -> {A} {{{{\n{{1}}\ntensorrt.yield %{{2}} : {A}\n"
        f"}}}} else {{{{\ntensorrt.yield %a : {A}\n}}}}"
    )
    loop = (
        f"%{{0}} = tensorrt.for %i = %l to %n step %s init(%x = %a) -> ({A}) {{{{\n{{1}}\n"
        f"tensorrt.yield %{{2}} : {A}\n}}}}"
    )
    if outer == "if":
        body = branch.format(0, loop.format(1, total.format("x"), "y"), 1)
    else:
        body = loop.format(0, branch.format(1, total.format("x"), "y"), 1)
    text = function({"c": "tensor<i1>", "a": A}, [A], f"{constants}\n{body}\n%0")
    assert engine.build(parser.parse(text)).plan


def test_a_condition_hands_on_what_the_loop_carries():
    """TensorRT's loops have no place for anything else, and a wrong result would be silent."""
    text = PROGRAMS["tensorrt.while"].replace(
        "tensorrt.condition(%c : tensor<i1>) %x", "tensorrt.condition(%c : tensor<i1>) %k"
    )
    with pytest.raises(DiagnosticError) as caught:
        network_of(text)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "tensorrt-unsupported"
    assert "hands on" in diagnostic.message


def test_an_identity_that_changes_the_type_is_a_cast():
    """As in NVIDIA's translator, where types are strict; one that changes nothing stays one."""
    assert layers_of(PROGRAMS["tensorrt.identity"]) == ["CAST"]
    assert layers_of(unary(f"tensorrt.identity %a : {A} to {A}")) == ["IDENTITY"]


def test_metadata_fused_to_a_location_is_the_layer_s():
    """Which is how nvtripy finds its own operations again."""
    text = unary(f'tensorrt.softmax {{axis = 1 : i64}} %a : {A} loc(fused<"in;;out">["f.py":7:3])')
    network = network_of(text).network
    layer = network.get_layer(0)
    assert layer.metadata == "in;;out"
    assert layer.name == "[tensorrt.softmax] loc(fused<in;;out>[f.py:7:3])"
    assert layer.get_output(0).name == "result0"


def test_layers_of_one_place_have_names_of_their_own():
    """And long ones are cut before TensorRT would refuse them."""
    place = f'loc("{"x" * 5000}":1:1)'
    body = "\n".join(
        f"%{i} = tensorrt.softmax {{axis = 1 : i64}} %{i - 1 if i else 'a'} : {A} {place}"
        for i in range(3)
    )
    made = network_of(function({"a": A}, [A], f"{body}\n%2"))
    names = [made.network.get_layer(index).name for index in range(3)]
    assert len(set(names)) == 3
    assert max(map(len, names)) < 4096
    assert set(names) <= set(made.emission.names.owners)


def test_names_of_arguments_and_results_may_be_given():
    """By an attribute of ours; else they are mlir-tensorrt's."""
    text = function(
        {"a": f'{A} {{tripybuild.name = "tokens"}}', "b": A},
        [f'{A} {{tripybuild.name = "logits"}}', A],
        "%a, %b",
    )
    record = engine.build(parser.parse(text)).record
    assert [each["name"] for each in record["inputs"]] == ["tokens", "arg1"]
    assert [each["name"] for each in record["outputs"]] == ["logits", "result1"]


@pytest.mark.parametrize("names", [("x", "x", "y"), ("x", "y", "x")])
def test_two_ports_cannot_have_one_name(names):
    """An engine's inputs and outputs are found by name."""
    first, second, result = (f'{A} {{tripybuild.name = "{name}"}}' for name in names)
    with pytest.raises(DiagnosticError) as caught:
        network_of(function({"a": first, "b": second}, [result], "%a"))
    assert caught.value.diagnostics[0].code == "tensorrt-refused"
    assert "`x`" in caught.value.diagnostics[0].message
