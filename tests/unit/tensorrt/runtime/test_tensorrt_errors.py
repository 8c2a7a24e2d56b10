"""Tests of what TensorRT refuses: one diagnostic, the operation's place, TensorRT's own words."""

import textwrap
from pathlib import Path

import numpy as np
import pytest
from tensorrt_programs import PROGRAMS, A, function, unary

from tripybuild.errors.diagnostics import DiagnosticError, Span
from tripybuild.tensorrt.mlir.reading import parser
from tripybuild.tensorrt.runtime import engine
from tripybuild.tensorrt.translation.failing_op import find_operation
from tripybuild.tensorrt.translation.library import Library

HALF, IMAGE = "tensor<2x3xbf16>", "tensor<1x3x8x8xf32>"
_FILE = Path(__file__).parents[3] / "fixtures" / "tensorrt_holes.mlir"
_PIECES = [each.partition("\n") for each in _FILE.read_text().split("// ----- ")[1:]]
HOLES = {name: text for name, _, text in _PIECES}


def refusal(text, weights=None, **options):
    """The one diagnostic of a build that fails."""
    with pytest.raises(DiagnosticError) as caught:
        engine.build(parser.parse(text, "model.mlir"), options, weights)
    (diagnostic,) = caught.value.diagnostics
    assert not any("cudaError" in note or "/_src/" in note for note in diagnostic.notes)
    return diagnostic


def at(line, column):
    """A place in the program's file."""
    return Span("model.mlir", line, column, line, column + 1)


def element_wise(result, other=A):
    """A sum that says that it gives something."""
    return function(
        {"a": A, "b": other},
        [result],
        f"%0 = tensorrt.element_wise <kSUM>(%a, %b : {A}, {other}) -> {result}\n%0",
    )


REFUSED = {
    "a type that TensorRT sees otherwise": (
        element_wise("tensor<2x3xf16>"),
        "gives `tensor<2x3xf32>` in TensorRT, and not `tensor<2x3xf16>`",
        "",
    ),
    "a shape that TensorRT sees otherwise": (
        element_wise("tensor<3x3xf32>"),
        "gives `tensor<2x3xf32>` in TensorRT, and not `tensor<3x3xf32>`",
        "",
    ),
    "another rank than TensorRT's": (
        element_wise("tensor<2x3x1xf32>"),
        "gives `tensor<2x3xf32>` in TensorRT, and not `tensor<2x3x1xf32>`",
        "",
    ),
    "ranks that do not fit": (
        element_wise(A, "tensor<3xf32>"),
        "refuses the types of `tensorrt.el",
        "nbDims",
    ),
    "a setter that is ignored": (
        unary(f"tensorrt.concatenation {{axis = -1 : i32}} ins(%a, %a : {A}, {A}) -> {A}"),
        "refuses `tensorrt.concatenation`",
        "axis >= 0",
    ),
    "a layer that is not made": (
        unary(f"tensorrt.reduce <kSUM> %a {{reduceAxes = array<i64>}} : {A} -> {A}"),
        "refuses the types of `tensorrt.reduce`",
        "no dimensions to be reduced",
    ),
    "a shape that cannot be found": (
        unary("tensorrt.softmax {axis = 0 : i64} %a : tensor<3xf32>", "tensor<3xf32>"),
        "refuses the types of `tensorrt.softmax`",
        "at least 2 dimensions",
    ),
    "what the build alone finds, by the layer": (
        unary(f"tensorrt.slice %a[0, 2][2, 3][1, 1] : {A} to {A}"),
        "cannot build `tensorrt.slice`",
        "out of bounds slice",
    ),
    "what the build alone finds, by the kernel": (
        unary(
            "tensorrt.activation {activationType = #tensorrt.activation_type<kSIGMOID>} "
            "%a : tensor<2x3xi8>",
            "tensor<2x3xi8>",
        ),
        "cannot build `tensorrt.activation`",
        "No matching rules",
    ),
    "what quantized types may not do": (
        function({}, ["tensor<2xi8>"], "%0 = tensorrt.constant dense<1> : tensor<2xi8>\n%0"),
        "cannot build `tensorrt.constant`",
        "only allowed before DQ",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_names_the_operation(case):
    """Whatever finds it: our comparison, a call, a setter, the log, shape inference, the build."""
    text, says, noted = REFUSED[case]
    diagnostic = refusal(text)
    assert diagnostic.code == "tensorrt-refused"
    assert says in diagnostic.message
    assert noted in "\n".join(diagnostic.notes)
    assert diagnostic.span == at(2, 8)


def test_the_first_wrong_operation_is_named_though_others_follow():
    """A later shape would be wrong, too, and its message would name nobody."""
    text = function(
        {"a": A, "b": "tensor<4x3xf32>"},
        [A],
        f"""
        %0 = tensorrt.softmax {{axis = 1 : i64}} %a : {A}
        %1 = tensorrt.element_wise <kSUM>(%0, %b : {A}, tensor<4x3xf32>) -> {A}
        %2 = tensorrt.softmax {{axis = 1 : i64}} %1 : {A}
        %2
        """,
    )
    assert refusal(text).span == at(3, 8)


FP8 = function(
    {"a": A},
    [A],
    f"""
    %s = tensorrt.constant dense<0.5> : tensor<f32>
    %q = tensorrt.quantize in(%a : {A}) scale(%s : tensor<f32>) -> tensor<2x3xf8E4M3FN>
    %0 = tensorrt.dequantize in(%q : tensor<2x3xf8E4M3FN>) scale(%s : tensor<f32>) -> {A}
    %0
    """,
)


@pytest.mark.parametrize(
    ("text", "gpus", "refused", "element", "place"),
    [
        (FP8, ["sm86"], "sm86", "f8E4M3FN", at(3, 8)),
        (PROGRAMS["tensorrt.dynamic_quantize"], ["sm89", "sm120"], "sm89", "f4E2M1FN", at(3, 12)),
        (
            unary(f"tensorrt.softmax {{axis = 1 : i64}} %a : {HALF}", HALF),
            ["sm75"],
            "sm75",
            "bf16",
            at(2, 8),
        ),
        (PROGRAMS["tensorrt.dequantize"], ["sm75"], "sm75", "i4", at(2, 8)),
    ],
)
def test_what_a_gpu_lacks_is_the_first_operation_that_has_it(text, gpus, refused, element, place):
    """TensorRT names data types there, and no layer."""
    diagnostic = refusal(text, compute_capabilities=gpus)
    assert diagnostic.code == "tensorrt-refused"
    assert diagnostic.message == f"`{refused}` cannot compute with `{element}`"
    assert diagnostic.span == place
    assert engine.build(parser.parse(text), {"compute_capabilities": ["sm120"]}).plan


def test_what_a_gpu_cannot_multiply_is_named_by_the_layer():
    """Turing multiplies no float32 matrices."""
    diagnostic = refusal(PROGRAMS["tensorrt.einsum"], compute_capabilities=["sm75"])
    assert diagnostic.message == "TensorRT cannot build `tensorrt.einsum`"
    assert diagnostic.span == at(2, 8)


def test_a_build_that_nobody_is_to_blame_for_is_the_function_s():
    """Too little memory for temporary values."""
    diagnostic = refusal(PROGRAMS["tensorrt.einsum"], workspace=1)
    assert diagnostic.message == "TensorRT cannot build `main`"
    assert "workspace limit" in diagnostic.notes[0]
    assert diagnostic.span == at(1, 1)


@pytest.mark.parametrize("name", HOLES)
def test_what_tensorrt_rtx_computes_nowhere_is_said_so(name):
    """Its shapes are inferred, its network is made, and the build finds nothing to run it."""
    diagnostic = refusal(HOLES[name])
    assert diagnostic.code == "tensorrt-unsupported"
    assert diagnostic.message == f"`tensorrt-rtx` has nothing that computes `{name}`"


def test_plugins_are_for_the_other_library():
    """TensorRT-RTX has no plugins from Python."""
    text = unary(
        'tensorrt.opaque_plugin {plugin_name = "X", plugin_version = "1", plugin_namespace = "", '
        f'dso_path = "evil.so", creator_params = {{}}}} (%a) : ({A}) -> {A}'
    )
    diagnostic = refusal(text)
    assert diagnostic.code == "tensorrt-unsupported"
    assert "`tensorrt`" in diagnostic.hint


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        (f"tensorrt.reshape %a : {A} to tensor<6xf32>", "tensorrt-expand-ops"),
        ("arith.constant dense<1.0> : tensor<6xf32>", None),
    ],
)
def test_what_has_no_layer_is_refused(body, hint):
    """Extension operations are expanded by a pass; other dialects are none of ours."""
    diagnostic = refusal(unary(body, result="tensor<6xf32>"))
    assert diagnostic.code == "tensorrt-unsupported"
    assert (hint is None) == (diagnostic.hint is None)
    assert hint is None or hint in diagnostic.hint
    assert diagnostic.span == at(2, 8)


@pytest.mark.parametrize("kind", ["all_gather", "collective_gather"])
def test_collectives_of_scalars_are_refused_and_do_not_crash(kind):
    """TensorRT-RTX ends the process when it is asked for their shape."""
    root = ", root = 0 : i64" if kind == "collective_gather" else ""
    text = unary(
        f"trtx.{kind} %a {{ranks = 2 : i64{root}}} : tensor<f32> -> tensor<f32>", "tensor<f32>"
    )
    assert "needs a tensor with dimensions" in refusal(text).message


def test_a_scale_of_weights_that_are_computed_is_refused():
    """TensorRT takes them as weights only."""
    text = function(
        {"a": IMAGE, "s": "tensor<3xf32>"},
        [IMAGE],
        f"%0 = trtx.scale <kCHANNEL> %a scale(%s : tensor<3xf32>) : {IMAGE}\n%0",
    )
    diagnostic = refusal(text)
    assert "must be a constant" in diagnostic.message
    assert "element_wise" in diagnostic.hint


def test_layers_of_newer_releases_are_missed_in_words(monkeypatch):
    """An older library lacks whole layers; what it has is found by looking."""
    library = Library.find("tensorrt-rtx")

    class Network:
        """A network that knows how to add inputs alone."""

        def __init__(self, real):
            self.real = real

        def add_input(self, *arguments):
            return self.real.add_input(*arguments)

    monkeypatch.setattr(
        Library,
        "network",
        lambda _, builder: Network(builder.create_network(library._strongly_typed)),
    )
    diagnostic = refusal(PROGRAMS["tensorrt.einsum"])
    assert diagnostic.code == "tensorrt-unsupported"
    assert "`tensorrt.einsum` needs a layer that this release" in diagnostic.message


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("index", "not a ranked tensor"),
        ("tensor<2xf64>", "no data type"),
        ("tensor<2xi16>", "`i16`"),
    ],
)
def test_arguments_are_tensors_of_types_that_engines_have(argument, says):
    """And say which one is not."""
    text = function({"a": A, "b": argument}, [A], "%a")
    assert says in refusal(text).message


def test_a_function_gives_something():
    """An engine without outputs is none."""
    assert "at least one output" in refusal("func.func @main() { return }").message


def test_a_function_has_one_block():
    """Other control flow is not TensorRT's."""
    text = textwrap.dedent(
        f"""
        func.func @main(%a: {A}) -> {A} {{
          cf.br ^next
        ^next:
          return %a : {A}
        }}
        """
    )
    assert "2 blocks" in refusal(text).message


def test_constants_whose_data_nobody_gives_are_named():
    """Missing, of another size, of another dtype; the elided one is zeros, as in NVIDIA's."""
    text = function({}, [A], f"%0 = tensorrt.constant dense_resource<w> : {A}\n%0")
    assert refusal(text).code == "weight-missing"
    wrong = refusal(text, {"w": np.zeros((2, 2), np.float32)})
    assert wrong.code == "weight-shape"
    assert "float32[2, 2]" in wrong.notes[0]
    assert refusal(text, {"w": np.zeros((2, 3), np.float16)}).code == "weight-shape"
    assert engine.build(parser.parse(text), weights={"w": np.zeros((2, 3), np.float32)})
    elided = text.replace("<w>", "<__elided__>")
    assert engine.build(parser.parse(elided)).plan


@pytest.mark.parametrize(
    ("options", "code", "hint"),
    [
        ({"optimisation_level": 3}, "unknown-key", "`optimization_level`"),
        ({"optimization_level": 6}, "wrong-value", "from 0 to 5"),
        ({"workspace": -1}, "wrong-value", "from 0"),
        ({"timing_iterations": "many"}, "wrong-value", "number"),
        ({"compute_capabilities": ["sm88"]}, "unknown-target", "`sm89`"),
        ({"verbosity": "all"}, "wrong-value", "`detailed`"),
        ({"library": "tensorrt-rtxx"}, "wrong-value", "`tensorrt-rtx`"),
        ({"flags": ["TF31"]}, "wrong-value", "`TF32`"),
        ({"function": "mian"}, "wrong-value", None),
    ],
)
def test_options_that_are_none_are_refused(options, code, hint):
    """With the one that was meant, or all that there are."""
    diagnostic = refusal(PROGRAMS["tensorrt.einsum"], **options)
    assert diagnostic.code == code
    assert hint is None or hint in diagnostic.hint


def test_regular_tensorrt_builds_for_the_gpu_at_hand(monkeypatch):
    """It has no list of others."""
    monkeypatch.setattr(Library, "compute_capabilities", ())
    diagnostic = refusal(PROGRAMS["tensorrt.einsum"], compute_capabilities=["sm86"])
    assert diagnostic.code == "wrong-value"


def test_a_name_is_found_as_a_whole_and_the_longest_wins():
    """`arg1` is not in `arg10`, and `f_1` is no `f`."""
    names = {"arg1": 1, "arg10": 10, "[f] loc(a:1:2)": 2, "[f] loc(a:1:2)_1": 3}
    assert find_operation("tensor arg10 is bad", names) == 10
    assert find_operation("tensor arg1, arg10", names) == 1
    assert find_operation("x[f] loc(a:1:2)_1: no", names) == 3
    assert find_operation("[f] loc(a:1:2): no", names) == 2
    assert find_operation("arg100 and xarg1", names) is None
