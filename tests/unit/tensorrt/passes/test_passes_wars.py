"""`tensorrt-apply-wars`: each workaround, its version, and what it must leave alone."""

import numpy as np
import pytest
from oracles.tensorrt_numpy import assert_same, names, parsed

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.tensorrt.passes import pipeline

PASS = "tensorrt-apply-wars"


def after(text, **options):
    given = {PASS: {name.replace("_", "-"): value for name, value in options.items()}}
    assert_same(text, PASS, options=given)
    module = parsed(text)
    pipeline.run(module, [PASS], given)
    return names(module)


def identity(source, target):
    return f"""
func.func @main(%x: tensor<2x{source}>) -> tensor<2x{target}> {{
  %0 = tensorrt.identity %x : tensor<2x{source}> to tensor<2x{target}>
  return %0 : tensor<2x{target}>
}}"""


@pytest.mark.parametrize(("source", "target"), [("ui8", "i32"), ("i32", "ui8"), ("ui8", "bf16")])
def test_bytes_go_through_floats(source, target):
    """TensorRT converts a byte to and from f32 and f16 only."""
    assert after(identity(source, target)) == ["identity", "identity"]


@pytest.mark.parametrize(("source", "target"), [("ui8", "f32"), ("f16", "ui8"), ("i32", "f32")])
def test_what_tensorrt_converts_stays(source, target):
    """These it does itself."""
    assert after(identity(source, target)) == ["identity"]


def absolute(source):
    return f"""
func.func @main(%x: tensor<{source}>) -> tensor<{source}> {{
  %0 = tensorrt.unary {{unaryOperation = #tensorrt.unary_operation<kABS>}} %x : tensor<{source}>
  return %0 : tensor<{source}>
}}"""


@pytest.mark.parametrize("source", ["5xi8", "i8", "?xi8"])
def test_bytes_have_two_dimensions(source):
    """TensorRT 8.6 computes functions of i8 matrices."""
    wrapped = ["expand_rank", "unary", "collapse_rank"]
    assert after(absolute(source)) == wrapped
    assert after(absolute(source), tensorrt_version="8.6") == wrapped
    assert after(absolute(source), tensorrt_version="8.7") == ["unary"]
    assert after(absolute(source), tensorrt_version="10.0") == ["unary"]


@pytest.mark.parametrize("source", ["5xf32", "2x2xi8", "5xi32"])
def test_other_functions_stay(source):
    """Two dimensions, or other elements."""
    assert after(absolute(source)) == ["unary"]


def product(left, op0, right, op1, result="1x1xf32"):
    operation = "#tensorrt.matrix_operation"
    return f"""
func.func @main(%a: tensor<{left}>, %b: tensor<{right}>) -> tensor<f32> {{
  %0 = tensorrt.matrix_multiply {{op0 = {operation}<{op0}>, op1 = {operation}<{op1}>}}
    ins(%a, %b : tensor<{left}>, tensor<{right}>) -> tensor<{result}>
  %1 = tensorrt.collapse_rank %0 : tensor<{result}> to tensor<f32>
  return %1 : tensor<f32>
}}"""


@pytest.mark.parametrize(
    ("left", "op0", "right", "op1"),
    [
        ("1x4xf32", "kNONE", "1x4xf32", "kTRANSPOSE"),
        ("1x4xf32", "kNONE", "4x1xf32", "kNONE"),
        ("4x1xf32", "kTRANSPOSE", "4x1xf32", "kNONE"),
        ("1x1xf32", "kNONE", "1x1xf32", "kNONE"),
    ],
)
def test_a_product_that_is_a_scalar(left, op0, right, op1):
    """Strongly typed, it is one of vectors."""
    text = product(left, op0, right, op1)
    assert after(text) == ["matrix_multiply", "collapse_rank"]
    wanted = ["collapse_rank", "collapse_rank", "matrix_multiply"]
    assert after(text, tensorrt_strongly_typed=True) == wanted


def test_products_of_vectors_stay():
    """They are what is wanted; so are products of more than one element."""
    text = product("1x4xf32", "kVECTOR", "1x4x1xf32", "kNONE")
    assert after(text, tensorrt_strongly_typed=True) == ["matrix_multiply", "collapse_rank"]


def slices(start, size, operands, shape="4x6xf32", mode="kDEFAULT"):
    attribute = "" if mode == "kDEFAULT" else f" {{mode = #tensorrt.slice_mode<{mode}>}}"
    return f"""
func.func @main(%x: tensor<{shape}>{operands}) -> tensor<?x?xf32> {{
  %0 = tensorrt.slice %x[{start}][{size}][1, 1]{attribute} : tensor<{shape}> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}}"""


X = np.arange(24.0).reshape(4, 6)
BOTH = ", %s: tensor<2xi32>, %n: tensor<2xi32>"
START, SIZE = "%s: tensor<2xi32>", "%n: tensor<2xi32>"
IN_BOUNDS = {PASS: {"force-default-slice-in-bounds": True}}


@pytest.mark.parametrize("shape", ["4x6xf32", "?x6xf32"])
def test_slices_are_kept_in_bounds(shape):
    """Offsets end at the last element, sizes at the input's; in-bounds slices give the same."""
    text = slices(START, SIZE, BOTH, shape)
    given = [X, np.array([1, 2], np.int32), np.array([2, 3], np.int32)]
    assert_same(text, PASS, options=IN_BOUNDS, inputs=given)
    module = parsed(text)
    pipeline.run(module, [PASS], IN_BOUNDS)
    assert names(module).count("element_wise") == 4 + ("?" in shape)
    assert ("shape" in names(module)) == ("?" in shape)


def test_an_offset_alone_is_kept_in_bounds():
    """The size is known; one value may be offset and size."""
    text = slices(START, "1, 1", ", %s: tensor<2xi32>")
    given = [X, np.array([3, 5], np.int32)]
    found = assert_same(text, PASS, options=IN_BOUNDS, inputs=given)
    assert found.count("element_wise") == 2
    assert "dense<[3, 5]>" in found  # the last offsets are computed here, since folders run
    text = slices("%s: tensor<2xi32>", "%s: tensor<2xi32>", ", %s: tensor<2xi32>")
    given = [X, np.array([1, 2], np.int32)]
    assert assert_same(text, PASS, options=IN_BOUNDS, inputs=given).count("element_wise") == 4


def test_other_slices_stay():
    """Static ones are checked; other modes have a meaning out of bounds; it must be asked for."""
    static = slices("1, 2", "2, 3", "")
    given = [X, np.array([1, 2], np.int32), np.array([2, 3], np.int32)]
    for text, inputs, options in (
        (static, given[:1], IN_BOUNDS),
        (slices(START, SIZE, BOTH, mode="kWRAP"), given, IN_BOUNDS),
        (slices(START, SIZE, BOTH), given, {}),
    ):
        assert "element_wise" not in assert_same(text, PASS, options=options, inputs=inputs)


@pytest.mark.parametrize("version", ["10", "10.9.0", "x.y", ""])
def test_versions_that_are_none(version):
    """A version has two numbers."""
    with pytest.raises(DiagnosticError, match="failed to parse version string"):
        pipeline.run(parsed(""), [PASS], {PASS: {"tensorrt-version": version}})
