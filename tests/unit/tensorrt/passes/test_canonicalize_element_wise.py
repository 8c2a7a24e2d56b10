"""`canonicalize` on element-wise ops: activations, biases, small constants, products undone."""

import pytest

from tests.oracles.canonical import canonical, function
from tripybuild.tensorrt.passes.canonicalize.element_wise import BY_OPERATION
from tripybuild.tensorrt.recorder.enumerations import ENUMERATIONS

F = "tensor<2x4xf32>"
H = "tensor<2x4xf16>"
IMAGE = "tensor<1x3x8x8xf32>"
HALF_IMAGE = "tensor<1x3x8x8xf16>"


def splat(number, type=F, name="c"):
    return f"%{name} = tensorrt.constant dense<{number}> : {type}"


def binary(kind, left, right, name="r", type=F, right_type=None):
    types = f"{type}, {right_type or type}"
    return f"%{name} = tensorrt.element_wise <{kind}>({left}, {right} : {types}) -> {type}"


def convolved(type=IMAGE, name="v"):
    kernel = type.replace("1x3x8x8", "3x3x1x1")
    return (
        f"%{name} = tensorrt.convolution {{stride = array<i64: 1, 1>, "
        "pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>, "
        f"kernelStatic = dense<0.5> : {kernel}}} in(%a : {type}) -> {type}"
    )


@pytest.mark.parametrize("zero", ["0.0", "-0.0"])
@pytest.mark.parametrize("turned", [False, True])
def test_the_larger_of_a_value_and_zero_is_relu(zero, turned):
    sides = ("%c", "%a") if turned else ("%a", "%c")
    found = canonical(function(splat(zero) + "\n" + binary("kMAX", *sides), [F], F))
    assert found.names == ("activation",)
    assert "kRELU" in found


@pytest.mark.parametrize(
    ("kind", "constant"),
    [
        ("kMIN", splat("0.0")),
        ("kMAX", splat("1.0e-6")),
        ("kMAX", splat("[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]")),
    ],
)
def test_what_is_no_relu_stays(kind, constant):
    found = canonical(function(constant + "\n" + binary(kind, "%a", "%c"), [F], F))
    assert found.names == ("constant", "element_wise")


def test_relu_needs_floats_and_an_input_that_is_not_stretched():
    integers = "tensor<2x4xi32>"
    body = splat("0", integers) + "\n" + binary("kMAX", "%a", "%c", type=integers)
    assert canonical(function(body, [integers], integers)).names == ("constant", "element_wise")
    narrow = "tensor<1x4xf32>"
    body = f"{splat('0.0')}\n" + f"%r = tensorrt.element_wise <kMAX>(%a, %c : {narrow}, {F}) -> {F}"
    assert canonical(function(body, [narrow], F)).names == ("constant", "element_wise")


@pytest.mark.parametrize(
    ("type", "low", "high", "alpha", "beta"),
    [
        (F, "-1.5", "2.0", "-1.500000e+00", "2.000000e+00"),
        (H, "0.1", "0.1", "0.0999755859", "0.0999755859"),
        ("tensor<2x4xbf16>", "-3.0", "3.0", "-3.000000e+00", "3.000000e+00"),
        (F, "0xFF800000", "6.0", "0xFF800000", "6.000000e+00"),
        (F, "0.0", "0x7F800000", "0.000000e+00", "0x7F800000"),
    ],
)
def test_a_value_between_two_numbers_is_clip(type, low, high, alpha, beta):
    inner = binary("kMAX", "%a", "%c", "m", type)
    body = [splat(low, type), inner, splat(high, type, "d"), binary("kMIN", "%m", "%d", type=type)]
    if low == "0.0":  # RELU is as good
        found = canonical(function("\n".join(body), [type], type))
        assert found.names == ("constant", "activation", "element_wise")
        return
    found = canonical(function("\n".join(body), [type], type))
    assert found.names == ("activation",)
    assert f"alpha = {alpha} : f32, beta = {beta} : f32" in found


@pytest.mark.parametrize(
    ("low", "high"), [("2.0", "1.0"), ("0x7FC00000", "1.0"), ("1.0", "0xFFC00000")]
)
def test_clip_needs_bounds_in_order_that_are_numbers(low, high):
    body = [splat(low), binary("kMAX", "%a", "%c", "m"), splat(high, F, "d")]
    text = function("\n".join([*body, binary("kMIN", "%m", "%d")]), [F], F)
    assert canonical(text).names.count("element_wise") == 2


def test_a_difference_after_a_convolution_is_a_sum():
    bias = "tensor<1x3x1x1xf32>"
    body = [
        convolved(),
        f"%c = tensorrt.constant dense<[[[[1.0]], [[-2.0]], [[0.0]]]]> : {bias}",
        binary("kSUB", "%v", "%c", type=IMAGE, right_type=bias),
    ]
    found = canonical(function("\n".join(body), [IMAGE], IMAGE))
    assert found.names == ("constant", "convolution", "element_wise")
    assert "-1.000000e+00" in found
    assert "2.000000e+00" in found
    assert "<kSUM>" in found


def test_a_difference_elsewhere_stays_and_so_does_one_of_values():
    assert "<kSUB>" in canonical(function(splat("1.5") + "\n" + binary("kSUB", "%a", "%c"), [F], F))
    body = convolved() + "\n" + binary("kSUB", "%v", "%b", type=IMAGE)
    assert "<kSUB>" in canonical(function(body, [IMAGE, IMAGE], IMAGE))


def test_a_sum_with_a_negated_value_is_a_difference():
    negated = f"%n = tensorrt.unary {{unaryOperation = #tensorrt.unary_operation<kNEG>}} %b : {F}"
    found = canonical(function(negated + "\n" + binary("kSUM", "%a", "%n"), [F, F], F))
    assert found.names == ("element_wise",)
    assert "<kSUB>(%arg0, %arg1" in found
    turned = canonical(function(negated + "\n" + binary("kSUM", "%n", "%a"), [F, F], F))
    assert turned.names == ("unary", "element_wise")


@pytest.mark.parametrize("kind", ["kSUM", "kPROD", "kSUB"])
def test_a_bias_after_a_half_convolution_is_half(kind):
    body = [
        convolved(HALF_IMAGE),
        f"%i = tensorrt.identity %v : {HALF_IMAGE} to {IMAGE}",
        splat("0.25", "tensor<1x3x1x1xf32>"),
        binary(kind, "%i", "%c", type=IMAGE, right_type="tensor<1x3x1x1xf32>"),
    ]
    found = canonical(function("\n".join(body), [HALF_IMAGE], IMAGE))
    assert found.names == ("constant", "convolution", "element_wise", "identity")
    number = "-2.500000e-01" if kind == "kSUB" else "2.500000e-01"  # a bias is added
    assert f"dense<{number}> : tensor<1x1x1x1xf16>" in found


@pytest.mark.parametrize(
    ("source", "kind", "constant"),
    [
        (
            f"%v = tensorrt.softmax {{axis = 1 : i64}} %a : {HALF_IMAGE}",
            "kSUM",
            True,
        ),
        (convolved(HALF_IMAGE), "kDIV", True),
        (convolved(HALF_IMAGE), "kSUM", False),
    ],
)
def test_other_widened_values_stay(source, kind, constant):
    body = [source, f"%i = tensorrt.identity %v : {HALF_IMAGE} to {IMAGE}"]
    if constant:
        body.append(splat("0.25", IMAGE))
    body.append(binary(kind, "%i", "%c" if constant else "%b", type=IMAGE))
    found = canonical(function("\n".join(body), [HALF_IMAGE, IMAGE], IMAGE))
    assert found.names[-2:] == ("identity", "element_wise")


def test_a_chain_after_a_half_convolution_is_half():
    scaled = binary("kPROD", "%v", "%h", "s", HALF_IMAGE, "tensor<1x3x1x1xf16>")
    body = [
        convolved(HALF_IMAGE),
        splat("2.0", "tensor<1x3x1x1xf16>", "h"),
        scaled,
        f"%i = tensorrt.identity %s : {HALF_IMAGE} to {IMAGE}",
        splat("0.25", "tensor<1x3x1x1xf32>"),
        binary("kSUM", "%i", "%c", type=IMAGE, right_type="tensor<1x3x1x1xf32>"),
    ]
    found = canonical(function("\n".join(body), [HALF_IMAGE], IMAGE))
    assert found.names[-3:] == ("element_wise", "element_wise", "identity")


@pytest.mark.parametrize("place", [0, 1])
def test_a_constant_of_one_number_is_small(place):
    sides = ("%a", "%c") if place else ("%c", "%a")
    found = canonical(function(splat("2.5") + "\n" + binary("kSUB", *sides), [F], F))
    assert "dense<2.500000e+00> : tensor<1x1xf32>" in found
    integers = "tensor<2x4xi32>"
    body = splat("7", integers) + "\n" + binary("kDIV", *sides, type=integers)
    assert "dense<7> : tensor<1x1xi32>" in canonical(function(body, [integers], integers))


def test_a_constant_is_as_small_as_the_other_side_allows():
    narrow = "tensor<1x4xf32>"
    body = splat("2.5") + f"\n%r = tensorrt.element_wise <kSUM>(%a, %c : {narrow}, {F}) -> {F}"
    assert "dense<2.500000e+00> : tensor<2x1xf32>" in canonical(function(body, [narrow], F))
    unknown = "tensor<?x4xf32>"
    body = splat("2.5") + f"\n%r = tensorrt.element_wise <kSUM>(%a, %c : {unknown}, {F}) -> {F}"
    found = canonical(function(body, [unknown], F), dynamic={0: (2, 4)})
    assert "dense<2.500000e+00> : tensor<2x1xf32>" in found


@pytest.mark.parametrize("number", ["0x7F800000", "0xFF800000", "0x7FC00000"])
def test_a_constant_that_is_not_finite_keeps_its_shape(number):
    found = canonical(function(splat(number) + "\n" + binary("kMIN", "%a", "%c"), [F], F))
    assert f"dense<{number}> : {F}" in found


def test_small_constants_become_one():
    body = [
        splat("2.5"),
        binary("kSUM", "%a", "%c", "s"),
        splat("2.5", "tensor<1x4xf32>", "d"),
        binary("kPROD", "%s", "%d", right_type="tensor<1x4xf32>"),
    ]
    found = canonical(function("\n".join(body), [F], F))
    assert found.names == ("constant", "element_wise", "element_wise")


@pytest.mark.parametrize(("type", "number"), [(F, "3.0"), (H, "0.1"), ("tensor<2x4xi32>", "1")])
def test_a_product_that_is_undone_is_nothing(type, number):
    body = [
        splat(number, type),
        binary("kPROD", "%a", "%c", "p", type),
        binary("kDIV", "%p", "%c", type=type),
    ]
    assert canonical(function("\n".join(body), [type], type)).names == ()


@pytest.mark.parametrize(
    ("type", "factor", "divisor"),
    [
        (F, "3.0", "4.0"),
        (F, "0.0", "0.0"),
        (F, "0x7F800000", "0x7F800000"),
        (F, "0x7FC00000", "0x7FC00000"),
        ("tensor<2x4xi32>", "3", "3"),
        ("tensor<2x4xi32>", "1", "2"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_other_products_stay(type, factor, divisor):
    body = [
        splat(factor, type),
        binary("kPROD", "%a", "%c", "p", type),
        splat(divisor, type, "d"),
        binary("kDIV", "%p", "%d", type=type),
    ]
    found = canonical(function("\n".join(body), [type], type))
    assert found.names.count("element_wise") == 2


def test_a_product_that_stretches_stays():
    narrow = "tensor<1x4xf32>"
    body = [
        splat("3.0"),
        f"%p = tensorrt.element_wise <kPROD>(%a, %c : {narrow}, {F}) -> {F}",
        binary("kDIV", "%p", "%c"),
    ]
    found = canonical(function("\n".join(body), [narrow], F))
    assert found.names.count("element_wise") == 2


def test_a_bias_that_is_a_resource_is_added_all_the_same():
    bias = "tensor<1x3x1x1xf32>"
    body = [
        convolved(),
        f"%c = tensorrt.constant dense_resource<__elided__> : {bias}",
        binary("kSUB", "%v", "%c", type=IMAGE, right_type=bias),
    ]
    found = canonical(function("\n".join(body), [IMAGE], IMAGE))
    assert found.names == ("constant", "convolution", "unary", "element_wise")
    assert "<kSUM>" in found


@pytest.mark.parametrize(
    "ops",
    [
        [splat("0.0"), "kMAX %a %c"],
        [splat("1.0"), splat("2.0", F, "d"), "kMAX %a %c", "kMIN %0 %d"],
        [splat("2.0"), "kPROD %a %c", "kDIV %0 %c"],
    ],
)
def test_a_constant_may_stretch_what_has_an_unknown_size(ops):
    """The size may be 1: all types are the same, and still the constant makes two rows of one."""
    vague = "tensor<?x4xf32>"
    steps = [op for op in ops if op.startswith("k")]
    lines = [op for op in ops if op.startswith("%")]
    for index, step in enumerate(steps):
        kind, left, right = step.split()
        name = "r" if index == len(steps) - 1 else "s"
        left = "%s" if left == "%0" else left
        lines.append(
            f"%{name} = tensorrt.element_wise <{kind}>({left}, {right} : {vague}, {F}) -> {vague}"
        )
    found = canonical(function("\n".join(lines), [vague], vague), dynamic={0: (1, 4)})
    assert found.names.count("element_wise") == len(steps)


@pytest.mark.parametrize("steps", [["kMAX"], ["kPROD", "kDIV"]])
def test_a_result_that_knows_more_than_its_operand_stays(steps):
    """The value is of another type, though nothing is stretched."""
    vague, row = "tensor<?x4xf32>", "tensor<1x4xf32>"
    lines, value, before = [splat("0.0" if steps == ["kMAX"] else "2.0", row)], "%a", vague
    for index, kind in enumerate(steps):
        name = "r" if index == len(steps) - 1 else "s"
        types = f"{before}, {row}) -> {F}"
        lines.append(f"%{name} = tensorrt.element_wise <{kind}>({value}, %c : {types}")
        value, before = f"%{name}", F
    found = canonical(function("\n".join(lines), [vague], F), dynamic={0: (2, 4)})
    assert found.names.count("element_wise") == len(steps)


def test_a_half_convolution_as_integers_stays():
    integers, bias = IMAGE.replace("f32", "i32"), "tensor<1x3x1x1xi32>"
    body = [
        convolved(HALF_IMAGE),
        f"%i = tensorrt.identity %v : {HALF_IMAGE} to {integers}",
        splat("3", bias),
        binary("kSUM", "%i", "%c", type=integers, right_type=bias),
    ]
    found = canonical(function("\n".join(body), [HALF_IMAGE], integers))
    assert found.names[-2:] == ("identity", "element_wise")


def test_the_table_knows_its_operations():
    members = ENUMERATIONS["element_wise_operation"].members
    assert BY_OPERATION.keys() <= set(members)
