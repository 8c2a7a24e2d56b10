"""`tensorrt-legalize-int8`: with quantization, without it, and with neither."""

import pytest
from oracles.tensorrt_numpy import assert_same, names, parsed

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.tensorrt.passes import pipeline

PASS = "tensorrt-legalize-int8"


def after(text):
    assert_same(text, PASS)
    module = parsed(text)
    pipeline.run(module, [PASS])
    return names(module)


CONSTANT = """
func.func @main(%x: tensor<2xi8>) -> tensor<2xi8> {
  %c = tensorrt.constant dense<[-128, 127]> : tensor<2xi8>
  %0 = tensorrt.element_wise <kMAX>(%x, %c : tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  return %0 : tensor<2xi8>
}"""


def test_constants_are_wider_where_nothing_is_quantized():
    """The numbers are the same, as i32, and converted."""
    assert after(CONSTANT) == ["constant", "identity", "element_wise"]
    assert "dense<[-128, 127]> : tensor<2xi32>" in assert_same(CONSTANT, PASS)


def test_elided_constants_are_wider_too():
    """A text that leaves elements out says so still; other resources cannot be converted."""
    text = CONSTANT.replace("dense<[-128, 127]>", "dense_resource<__elided__>")
    module = parsed(text)
    pipeline.run(module, [PASS])
    assert names(module) == ["constant", "identity", "element_wise"]
    with pytest.raises(DiagnosticError, match="failed to convert value to i32 tensor"):
        pipeline.run(parsed(text.replace("__elided__", "w")), [PASS])


QUANTIZED = """
func.func @main(%x: tensor<2x3xi8>, %y: tensor<2x3xi8>) -> (tensor<3x2xi8>, tensor<2x3xf32>) {
  %s = tensorrt.constant dense<0.5> : tensor<f32>
  %c = tensorrt.constant dense<1> : tensor<2x3xi8>
  %0 = tensorrt.transpose {permutation = affine_map<(a, b) -> (b, a)>}
    %x : tensor<2x3xi8> to tensor<3x2xi8>
  %1 = tensorrt.dequantize in(%y : tensor<2x3xi8>) scale(%s : tensor<f32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<3x2xi8>, tensor<2x3xf32>
}"""


def test_inputs_and_results_go_through_floats():
    """`%x` and the first result do; `%y` is dequantized already, and constants stay."""
    found = after(QUANTIZED)
    assert found.count("dequantize") == 3
    assert found.count("quantize") == 2
    assert found.count("identity") == 0
    assert "dense<1> : tensor<2x3xi8>" in assert_same(QUANTIZED, PASS)


def test_what_is_quantized_at_the_end_stays():
    """A result of `quantize` needs nothing; a value that is returned twice is treated once."""
    text = """
func.func @main(%x: tensor<2xf32>) -> (tensor<2xi8>, tensor<2xi8>, tensor<2xi8>) {
  %s = tensorrt.constant dense<0.5> : tensor<f32>
  %0 = tensorrt.quantize in(%x : tensor<2xf32>) scale(%s : tensor<f32>) -> tensor<2xi8>
  %1 = tensorrt.element_wise <kMAX>(%0, %0 : tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  return %0, %1, %1 : tensor<2xi8>, tensor<2xi8>, tensor<2xi8>
}"""
    found = after(text)
    assert found.count("quantize") == 2
    assert found.count("dequantize") == 1


def test_functions_are_apart():
    """One function's quantization says nothing about another's constants."""
    both = CONSTANT.replace("@main", "@other") + QUANTIZED
    assert after(both).count("identity") == 1


@pytest.mark.parametrize("element", ["i32", "f32", "i1"])
def test_other_types_stay(element):
    """There is nothing to do."""
    text = f"""
func.func @main() -> tensor<2x{element}> {{
  %c = tensorrt.constant dense<{"0.0" if element == "f32" else 0}> : tensor<2x{element}>
  return %c : tensor<2x{element}>
}}"""
    assert after(text) == ["constant"]


def test_declarations_have_nothing_to_do():
    """A function without a body."""
    assert after("func.func private @main(tensor<2xi8>) -> tensor<2xi8>") == []
