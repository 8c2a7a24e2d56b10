"""The text of each operation: what is read is printed, and read again is the same."""

# ruff: noqa: E501  # texts are as MLIR prints them

from io import StringIO

import pytest
from tensorrt_operations import operation
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, DenseResourceAttr
from xdsl.printer import Printer

from tripybuild.tensorrt.dialect import OPERATIONS

WINDOW = (
    "stride = array<i64: 1, 1>, pre_padding = array<i64: 1, 1>, post_padding = array<i64: 1, 1>"
)
IMAGE = "tensor<1x4x8x8xf32>"
POOL = (
    "windowSize = array<i64: 2, 2>, stride = array<i64: 2, 2>, prePadding = array<i64: 0, 0>,"
    " postPadding = array<i64: 0, 0>"
)

# A name: the line, and the types of what it uses.
LINES = {
    "activation": (
        (
            "%0 = tensorrt.activation {activationType = #tensorrt.activation_type<kCLIP>,"
            " alpha = 0.000000e+00 : f32, beta = 6.000000e+00 : f32} %x : tensor<2x?xf32>"
        ),
        {"x": "tensor<2x?xf32>"},
    ),
    "unary": (
        (
            "%0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %x :"
            " tensor<2x?xbf16>"
        ),
        {"x": "tensor<2x?xbf16>"},
    ),
    "element_wise": (
        (
            "%0 = tensorrt.element_wise <kSUM>(%x, %y : tensor<2x?xf32>, tensor<1x3xf32>) ->"
            " tensor<2x3xf32>"
        ),
        {"x": "tensor<2x?xf32>", "y": "tensor<1x3xf32>"},
    ),
    "element_wise with attributes": (
        (
            '%0 = tensorrt.element_wise {note = "kept"} <kPOW>(%x, %x : tensor<2xi64>, tensor<2xi64>)'
            " -> tensor<2xi64>"
        ),
        {"x": "tensor<2xi64>"},
    ),
    "cast": ("%0 = tensorrt.cast %x : tensor<2xf32> to tensor<2xui8>", {"x": "tensor<2xf32>"}),
    "identity": ("%0 = tensorrt.identity %x : tensor<f32> to tensor<f16>", {"x": "tensor<f32>"}),
    "select": (
        (
            "%0 = tensorrt.select ins(%c, %x, %y : tensor<1xi1>, tensor<3xi64>, tensor<1xi64>) ->"
            " tensor<3xi64>"
        ),
        {"c": "tensor<1xi1>", "x": "tensor<3xi64>", "y": "tensor<1xi64>"},
    ),
    "parametric_relu": (
        (
            "%0 = tensorrt.parametric_relu ins(%x, %y : tensor<2x3xf32>, tensor<1x3xf32>) ->"
            " tensor<2x3xf32>"
        ),
        {"x": "tensor<2x3xf32>", "y": "tensor<1x3xf32>"},
    ),
    "constant": ("%0 = tensorrt.constant dense<[1, -2]> : tensor<2xi64>", {}),
    "constant, a splat": ("%0 = tensorrt.constant dense<1.000000e+00> : tensor<4x4xbf16>", {}),
    "matrix_multiply": (
        (
            "%0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kTRANSPOSE>, op1 ="
            " #tensorrt.matrix_operation<kVECTOR>} ins(%x, %y : tensor<3x2xf16>, tensor<3xf16>) ->"
            " tensor<2xf16>"
        ),
        {"x": "tensor<3x2xf16>", "y": "tensor<3xf16>"},
    ),
    "einsum": (
        (
            '%0 = tensorrt.einsum {equation = "ij,jk->ik"} ins(%x, %y : tensor<2x3xf32>,'
            " tensor<3x4xf32>) -> tensor<2x4xf32>"
        ),
        {"x": "tensor<2x3xf32>", "y": "tensor<3x4xf32>"},
    ),
    "convolution": (
        (
            f"%0 = tensorrt.convolution {{dilation = array<i64: 1, 1>, {WINDOW}}} in(%x : {IMAGE})"
            " kernel(%k : tensor<6x4x3x3xf32>) bias(%b : tensor<6xf32>) -> tensor<1x6x8x8xf32>"
        ),
        {"x": IMAGE, "k": "tensor<6x4x3x3xf32>", "b": "tensor<6xf32>"},
    ),
    "convolution of constants": (
        (
            "%0 = tensorrt.convolution {biasStatic = dense<0.000000e+00> : tensor<4xf32>, kernelStatic"
            " = dense<1.000000e+00> : tensor<4x2x3x3xf32>, num_groups = 2 : ui32,"
            f" {WINDOW}}} in(%x : {IMAGE}) -> tensor<1x4x8x8xf32>"
        ),
        {"x": IMAGE},
    ),
    "deconvolution": (
        (
            f"%0 = tensorrt.deconvolution {{{WINDOW}}} in(%x : {IMAGE}) kernelWeights(%k :"
            " tensor<4x6x3x3xf32>) biasWeights(%b : tensor<6xf32>) -> tensor<1x6x8x8xf32>"
        ),
        {"x": IMAGE, "k": "tensor<4x6x3x3xf32>", "b": "tensor<6xf32>"},
    ),
    "deconvolution of constants": (
        (
            "%0 = tensorrt.deconvolution {kernelWeightsStatic = dense<1.000000e+00> :"
            f" tensor<4x3x3x3xf32>, num_groups = 2 : ui32, {WINDOW}}} in(%x : {IMAGE}) ->"
            " tensor<1x6x8x8xf32>"
        ),
        {"x": IMAGE},
    ),
    "reduce": (
        (
            "%0 = tensorrt.reduce <kAVG> %x {keepDimensions = true, reduceAxes = array<i64: 0, 2>} :"
            " tensor<2x3x4xf32> -> tensor<1x3x1xf32>"
        ),
        {"x": "tensor<2x3x4xf32>"},
    ),
    "reduce to less": (
        (
            "%0 = tensorrt.reduce <kMAX> %x {reduceAxes = array<i64: 1>} : tensor<2x?xi32> ->"
            " tensor<2xi32>"
        ),
        {"x": "tensor<2x?xi32>"},
    ),
    "softmax": (
        "%0 = tensorrt.softmax {axis = 1 : i64} %x : tensor<2x?xf32>",
        {"x": "tensor<2x?xf32>"},
    ),
    "ragged_softmax": (
        (
            "%0 = tensorrt.ragged_softmax ins(%x, %n : tensor<1x3x5xf32>, tensor<1x3x1xi32>) ->"
            " tensor<1x3x5xf32>"
        ),
        {"x": "tensor<1x3x5xf32>", "n": "tensor<1x3x1xi32>"},
    ),
    "top_k": (
        (
            "%0, %1 = tensorrt.top_k <kMIN> {axis = 1 : i64, k = 3 : i64} %x : tensor<2x?xf32> ->"
            " tensor<2x3xf32>, tensor<2x3xi32>"
        ),
        {"x": "tensor<2x?xf32>"},
    ),
    "argmin": (
        (
            "%0, %1 = tensorrt.argmin {axis = 0 : i64} %x : tensor<2x3xi32> -> tensor<1x3xi32>,"
            " tensor<1x3xi32>"
        ),
        {"x": "tensor<2x3xi32>"},
    ),
    "argmax": (
        (
            "%0, %1 = tensorrt.argmax {axis = 1 : i64} %x : tensor<2x3xf32> -> tensor<2x1xf32>,"
            " tensor<2x1xi32>"
        ),
        {"x": "tensor<2x3xf32>"},
    ),
    "pooling": (
        (
            "%0 = tensorrt.pooling {averageCountExcludesPadding = true, blendFactor = 5.000000e-01 :"
            f" f32, poolingType = #tensorrt.pooling_type<kMAX_AVERAGE_BLEND>, {POOL}}} ins(%x :"
            f" {IMAGE}) -> tensor<1x4x4x4xf32>"
        ),
        {"x": IMAGE},
    ),
    "normalization": (
        (
            "%0 = tensorrt.normalization {axis = array<i64: 2, 3>, eps = 1.000000e-05 : f32,"
            f" num_groups = 2 : i32}}(%x : {IMAGE}, %s : tensor<1x2x1x1xf32>, %s :"
            f" tensor<1x2x1x1xf32>) -> {IMAGE}"
        ),
        {"x": IMAGE, "s": "tensor<1x2x1x1xf32>"},
    ),
    "linspace": (
        "%0 = tensorrt.linspace[0.000000e+00] [static] [2.000000e+00] : tensor<4xi32>",
        {},
    ),
    "linspace of operands": (
        (
            "%0 = tensorrt.linspace[%a : tensor<f32>] [%n : tensor<2xi64>] [%b : tensor<2xf32>] :"
            " tensor<?x?xf32>"
        ),
        {"a": "tensor<f32>", "n": "tensor<2xi64>", "b": "tensor<2xf32>"},
    ),
    "random_uniform": (
        (
            "%0 = tensorrt.random_uniform {static_high = 2.000000e+00 : f64, static_low = 1.000000e+00"
            " : f64} -> tensor<2x2xf16>"
        ),
        {},
    ),
    "random_uniform of operands": (
        (
            "%0 = tensorrt.random_uniform low(%a : tensor<f32>) high(%a : tensor<f32>) shape(%n :"
            " tensor<2xi32>) -> tensor<?x?xf32>"
        ),
        {"a": "tensor<f32>", "n": "tensor<2xi32>"},
    ),
    "random_normal": (
        (
            "%0 = tensorrt.random_normal {static_mean = 0.000000e+00 : f64, static_std = 1.000000e+00"
            " : f64} -> tensor<2x2xf32>"
        ),
        {},
    ),
    "random_normal of operands": (
        (
            "%0 = tensorrt.random_normal mean(%a : tensor<f32>) std(%a : tensor<f32>) shape(%n :"
            " tensor<2xi32>) -> tensor<?x?xf32>"
        ),
        {"a": "tensor<f32>", "n": "tensor<2xi32>"},
    ),
    "quantize": (
        (
            "%0 = tensorrt.quantize {axis = 1 : i32} in(%x : tensor<4x8xf32>) scale(%s : tensor<8xf32>)"
            " -> tensor<4x8xi8>"
        ),
        {"x": "tensor<4x8xf32>", "s": "tensor<8xf32>"},
    ),
    "dequantize": (
        (
            "%0 = tensorrt.dequantize in(%x : tensor<4x8xf8E4M3FN>) scale(%s : tensor<f16>) ->"
            " tensor<4x8xf16>"
        ),
        {"x": "tensor<4x8xf8E4M3FN>", "s": "tensor<f16>"},
    ),
    "dynamic_quantize": (
        (
            "%0, %1 = tensorrt.dynamic_quantize {axis = 1 : i32} in(%x : tensor<4x32xf16>)"
            " double_quant_scale(%s : tensor<f32>) -> tensor<4x32xf4E2M1FN>, tensor<4x2xf8E4M3FN>"
        ),
        {"x": "tensor<4x32xf16>", "s": "tensor<f32>"},
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_what_is_read_is_printed(name):
    """Character for character, and nothing is wrong with it."""
    text, types = LINES[name]
    found = operation(text, **types)
    assert str(found) == text
    assert list(found.problems()) == []
    found.verify()


@pytest.mark.parametrize("name", LINES)
def test_the_generic_form_means_the_same(name):
    """What is printed without formats, read again, is printed as before."""
    text, types = LINES[name]
    out = StringIO()
    Printer(out, print_generic_format=True).print_op(operation(text, **types))
    assert str(operation(out.getvalue(), **types)) == text


def test_no_operation_of_these_modules_was_forgotten():
    """Each of them has a line."""
    modules = ("elementwise", "linear", "quantization", "reductions", "sources", "windows")
    ours = {
        op.name.removeprefix("tensorrt.")
        for op in OPERATIONS
        if op.__module__.rpartition(".")[2] in modules
    }
    assert ours == {
        text.split("tensorrt.")[1].split()[0].split("[")[0] for text, _ in LINES.values()
    }


def test_defaults_are_not_printed():
    """Nor are they lost: one that is written and is the default means the same."""
    text, types = LINES["reduce to less"]
    long = text.replace("{", "{keepDimensions = false, ")
    assert str(operation(long, **types)) == text


def test_weights_may_be_resources():
    """The elements of a constant are wherever the attribute says."""
    made = operation("%0 = tensorrt.constant dense_resource<w> : tensor<2x3xf32>")
    assert isinstance(made.weights, DenseResourceAttr)
    assert str(made.result.type) == "tensor<2x3xf32>"
    assert list(made.problems()) == []


def test_weights_give_the_result_its_type():
    """A constant that says another one is refused."""
    text = '%0 = "tensorrt.constant"() <{weights = dense<1> : tensor<2xi32>}> : () -> tensor<2xi64>'
    (problem,) = operation(text).problems()
    assert problem.message == "failed to verify that all of {weights, result} have same type"
    good = operation("%0 = tensorrt.constant dense<1> : tensor<2xi4>")
    assert isinstance(good.weights, DenseIntOrFPElementsAttr)
    assert [str(kind) for kind in good.infer_types()] == ["tensor<2xi4>"]


def test_numbers_of_a_sequence_may_be_left_out():
    """What is not written is not there; integers and negative numbers are numbers."""
    made = operation("%0 = tensorrt.linspace[][static][] : tensor<4xf32>")
    assert (made.value("static_start"), made.value("static_step")) == (None, None)
    assert list(made.problems()) == []
    assert str(made) == "%0 = tensorrt.linspace[] [static] [] : tensor<4xf32>"
    made = operation("%0 = tensorrt.linspace [-1] [static] [-0.5] : tensor<4xf32>")
    assert (made.value("static_start"), made.value("static_step")) == (-1.0, -0.5)
