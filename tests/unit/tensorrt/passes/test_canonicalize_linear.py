"""`canonicalize` on convolutions and matrix products."""

import pytest

from tests.oracles.canonical import canonical, function

A, B, C = "tensor<2x3x4xf32>", "tensor<2x4x5xf32>", "tensor<2x3x5xf32>"


def product(left, right, types, result, op0="kNONE", op1="kNONE", name="r"):
    operations = (
        f"{{op0 = #tensorrt.matrix_operation<{op0}>, op1 = #tensorrt.matrix_operation<{op1}>}}"
    )
    return (
        f"%{name} = tensorrt.matrix_multiply {operations} "
        f"ins({left}, {right} : {', '.join(types)}) -> {result}"
    )


def transpose(value, before, after, order, name="t"):
    names = [f"d{index}" for index in range(len(order))]
    map_ = f"affine_map<({', '.join(names)}) -> ({', '.join(names[i] for i in order)})>"
    return f"%{name} = tensorrt.transpose {{permutation = {map_}}} {value} : {before} to {after}"


CONVOLUTION = (
    "%r = tensorrt.convolution {stride = array<i64: 2, 1>, pre_padding = array<i64: 1, 0>, "
    "post_padding = array<i64: 0, 1>, num_groups = 2 : ui32, dilation = array<i64: 1, 2>} "
    "in(%a : tensor<1x4x8x8xf32>) kernel(%k : tensor<6x2x3x3xf32>) "
    "bias(%b : tensor<6xf32>) -> tensor<1x6x4x5xf32>"
)


@pytest.mark.parametrize("weights", ["dense<0.5>", "dense_resource<w>"])
def test_a_constant_kernel_is_an_attribute(weights):
    constant = f"%k = tensorrt.constant {weights} : tensor<6x2x3x3xf32>"
    result = "tensor<1x6x4x5xf32>"
    text = function(f"{constant}\n{CONVOLUTION}", ["tensor<1x4x8x8xf32>", "tensor<6xf32>"], result)
    if "resource" in weights:
        data = "0x04000000" + "0000803F" * 108
        text = f'{text}\n{{-# dialect_resources: {{builtin: {{w: "{data}"}}}} #-}}'
    found = canonical(text)
    assert found.names == ("convolution",)
    assert f"kernelStatic = {weights}".replace("0.5", "5.000000e-01") in found
    assert "bias(%arg1" in found
    assert "num_groups = 2 : ui32" in found
    assert "dilation = array<i64: 1, 2>" in found


def test_a_kernel_that_is_computed_stays():
    body = CONVOLUTION.replace("%k", "%c")
    arguments = ["tensor<1x4x8x8xf32>", "tensor<6xf32>", "tensor<6x2x3x3xf32>"]
    found = canonical(function(body, arguments, "tensor<1x6x4x5xf32>"))
    assert found.names == ("convolution",)
    assert "kernel(%arg2" in found


def test_a_transpose_of_the_right_side_goes_into_the_product():
    turned = "tensor<2x5x4xf32>"
    body = transpose("%b", turned, B, [0, 2, 1]) + "\n" + product("%a", "%t", [A, B], C)
    found = canonical(function(body, [A, turned], C))
    assert found.names == ("matrix_multiply",)
    assert "op1 = #tensorrt.matrix_operation<kTRANSPOSE>" in found


def test_a_transpose_that_is_used_elsewhere_stays():
    square = "tensor<2x4x4xf32>"
    body = [
        transpose("%a", square, square, [0, 2, 1]),
        product("%a", "%t", [square, square], square, name="p"),
        f"%r = tensorrt.element_wise <kSUM>(%p, %t : {square}, {square}) -> {square}",
    ]
    found = canonical(function("\n".join(body), [square], square))
    assert found.names == ("transpose", "matrix_multiply", "element_wise")
    assert "kTRANSPOSE" not in found


def test_a_transpose_of_other_dimensions_stays():
    turned = "tensor<4x2x5xf32>"
    body = transpose("%b", turned, B, [1, 0, 2]) + "\n" + product("%a", "%t", [A, B], C)
    assert canonical(function(body, [A, turned], C)).names == ("transpose", "matrix_multiply")


def test_a_transposed_left_side_is_an_op_of_its_own():
    turned = "tensor<2x4x3xf32>"
    body = product("%a", "%b", [turned, B], C, "kTRANSPOSE")
    found = canonical(function(body, [turned, B], C))
    assert found.names == ("transpose", "matrix_multiply")
    assert "op0 = #tensorrt.matrix_operation<kNONE>" in found


def test_one_value_on_both_sides_is_transposed_on_the_left_only():
    square, small = "tensor<4x3xf32>", "tensor<3x3xf32>"
    found = canonical(
        function(product("%a", "%a", [square, square], small, "kTRANSPOSE"), [square], small)
    )
    assert found.names == ("transpose", "matrix_multiply")
    large = "tensor<4x4xf32>"
    body = product("%a", "%a", [square, square], large, "kNONE", "kTRANSPOSE")
    assert canonical(function(body, [square], large)).names == ("matrix_multiply",)


def test_two_transposes_of_the_left_side_are_none():
    body = transpose("%a", A, "tensor<2x4x3xf32>", [0, 2, 1]) + "\n"
    body += product("%t", "%b", ["tensor<2x4x3xf32>", B], C, "kTRANSPOSE")
    assert canonical(function(body, [A, B], C)).names == ("matrix_multiply",)


def test_vectors_stay():
    vector, result = "tensor<4xf32>", "tensor<3xf32>"
    body = product("%a", "%b", ["tensor<3x4xf32>", vector], result, "kNONE", "kVECTOR")
    assert canonical(function(body, ["tensor<3x4xf32>", vector], result)).names == (
        "matrix_multiply",
    )


V, S = "tensor<2x3x6x5xf32>", "tensor<2x3x4x5xf32>"
SOFTMAX = f"%s = tensorrt.softmax {{axis = 3 : i64}} %b : {S}"


def test_a_softmax_stands_on_the_left():
    result = "tensor<2x3x6x4xf32>"
    body = SOFTMAX + "\n" + product("%a", "%s", [V, S], result, "kNONE", "kTRANSPOSE")
    found = canonical(function(body, [V, S], result))
    assert found.names == ("softmax", "matrix_multiply", "transpose")
    assert "ins(%0, %arg0 : tensor<2x3x4x5xf32>, tensor<2x3x6x5xf32>)" in found


@pytest.mark.parametrize(("rank", "op1"), [(4, "kNONE"), (3, "kTRANSPOSE")])
def test_other_products_of_softmax_stay(rank, op1):
    x, s = ("tensor<2x3x6x4xf32>", S) if rank == 4 else ("tensor<3x6x5xf32>", "tensor<3x4x5xf32>")
    result = "tensor<2x3x6x5xf32>" if rank == 4 else "tensor<3x6x4xf32>"
    softmax = f"%s = tensorrt.softmax {{axis = 2 : i64}} %b : {s}"
    body = softmax + "\n" + product("%a", "%s", [x, s], result, "kNONE", op1)
    assert canonical(function(body, [x, s], result)).names == ("softmax", "matrix_multiply")


def test_two_softmaxes_do_not_take_turns():
    result = "tensor<2x3x6x4xf32>"
    body = [
        SOFTMAX,
        f"%u = tensorrt.softmax {{axis = 3 : i64}} %a : {V}",
        product("%u", "%s", [V, S], result, "kNONE", "kTRANSPOSE"),
    ]
    found = canonical(function("\n".join(body), [V, S], result))
    assert found.names == ("softmax", "softmax", "matrix_multiply")
