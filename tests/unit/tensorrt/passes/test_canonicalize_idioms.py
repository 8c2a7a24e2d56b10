"""`canonicalize` finds softmax and layer normalization, and nothing that only looks like them."""

import pytest

from tests.oracles.canonical import canonical, function

VAGUE = "tensor<?x3x4xf32> -> tensor<?x3x1xf32>"
UNARY = "#tensorrt.unary_operation"


def softmax(type="tensor<2x3x4xf32>", axis=2, **changes):
    """The ops of a softmax; `changes` replaces parts."""
    small = "tensor<2x3x1xf32>" if axis == 2 else "tensor<2x1x4xf32>"
    half = "f16" in type
    small = small.replace("f32", "f16") if half else small
    parts = {
        "of": "%a",
        "max": "kMAX",
        "sum": "kSUM",
        "axis": axis,
        "summed": "%e",
        "keep": "true",
    } | changes
    wide, wide_small = type.replace("f16", "f32"), small.replace("f16", "f32")
    lines = [
        (
            f"%m = tensorrt.reduce <{parts['max']}> {parts['of']} "
            f"{{keepDimensions = true, reduceAxes = array<i64: {axis}>}} : {type} -> {small}"
        ),
        f"%s = tensorrt.element_wise <kSUB>(%a, %m : {type}, {small}) -> {type}",
        f"%e = tensorrt.unary {{unaryOperation = {UNARY}<kEXP>}} %s : {type}",
    ]
    if half:
        lines += [
            f"%w = tensorrt.identity {parts['summed']} : {type} to {wide}",
            (
                f"%u = tensorrt.reduce <{parts['sum']}> %w "
                f"{{keepDimensions = true, reduceAxes = array<i64: {parts['axis']}>}} : "
                f"{wide} -> {wide_small}"
            ),
            f"%t = tensorrt.identity %u : {wide_small} to {small}",
        ]
    else:
        lines.append(
            f"%t = tensorrt.reduce <{parts['sum']}> {parts['summed']} "
            f"{{keepDimensions = true, reduceAxes = array<i64: {parts['axis']}>}} : "
            f"{type} -> {small}"
        )
    lines.append(f"%r = tensorrt.element_wise <kDIV>(%e, %t : {type}, {small}) -> {type}")
    return function("\n".join(lines), [type, type], type)


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("axis", [1, 2])
def test_softmax_is_found(element, axis):
    found = canonical(softmax(f"tensor<2x3x4x{element}>", axis))
    assert found.names == ("softmax",)
    assert f"axis = {axis} : i64" in found


def test_softmax_of_unknown_sizes_is_found():
    text = softmax("tensor<?x3x4xf32>").replace("tensor<2x3x1xf32>", "tensor<?x3x1xf32>")
    assert canonical(text).names == ("softmax",)


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize(
    "change", [{"of": "%b"}, {"max": "kMIN"}, {"sum": "kMAX"}, {"summed": "%s"}, {"summed": "%b"}]
)
def test_what_only_looks_like_softmax_stays(element, change):
    found = canonical(softmax(f"tensor<2x3x4x{element}>", **change))
    assert "softmax" not in found.names


def test_softmax_in_another_wide_type_stays():
    text = softmax("tensor<2x3x4xf16>").replace("xf32>", "xbf16>")
    assert "softmax" not in canonical(text).names


def test_softmax_of_another_type_stays():
    before, after = softmax("tensor<2x3x4xf32>").split("%s = ", 1)
    before = before.replace("%a: tensor<2x3x4xf32>", "%a: tensor<?x3x4xf32>")
    before = before.replace("tensor<2x3x4xf32> -> tensor<2x3x1xf32>", VAGUE)
    after = after.replace(
        "tensor<2x3x4xf32>, tensor<2x3x1xf32>)", VAGUE.replace(" ->", ",") + ")", 1
    )
    assert "softmax" not in canonical(before + "%s = " + after, dynamic={0: (2, 3, 4)}).names


def test_softmax_along_other_axes_stays():
    text = softmax("tensor<2x3x3xf32>").replace("tensor<2x3x1xf32>", "tensor<2x3x1xf32>")
    before, after = text.rsplit("reduceAxes = array<i64: 2>", 1)
    turned = f"{before}reduceAxes = array<i64: 1>{after}"
    start, end = turned.split("%t = ", 1)
    text = start + "%t = " + end.replace("tensor<2x3x1xf32>", "tensor<2x1x3xf32>")
    assert "softmax" not in canonical(text).names


def layer_norm(element="f32", **changes):
    """The ops of a layer norm over the last two of four dimensions."""
    parts = {
        "mean": "%mean",
        "square": "%a, %a",
        "axes": "2, 3",
        "centered": "%a",
        "average": "kAVG",
        "activation": "kRELU",
        "eps": "dense<1.0e-3>",
        "bias": "%c",
        "root": "kSQRT",
    } | changes
    x, row = f"tensor<2x3x4x5x{element}>", f"tensor<2x3x{element}>"
    kept, scale = f"tensor<2x3x1x1x{element}>", f"tensor<1x1x4x5x{element}>"
    keeps = f"{{reduceAxes = array<i64: {parts['axes']}>}} : {x} -> {row}"
    binary = "tensorrt.element_wise"
    lines = [
        f"%mean = tensorrt.reduce <kAVG> %a {{reduceAxes = array<i64: 2, 3>}} : {x} -> {row}",
        f"%other = tensorrt.reduce <kMAX> %a {{reduceAxes = array<i64: 2, 3>}} : {x} -> {row}",
        f"%sq = {binary} <kPROD>({parts['square']} : {x}, {x}) -> {x}",
        f"%ms = tensorrt.reduce <{parts['average']}> %sq {keeps}",
        f"%mm = {binary} <kPROD>(%mean, %mean : {row}, {row}) -> {row}",
        f"%v = {binary} <kSUB>(%ms, %mm : {row}, {row}) -> {row}",
        (
            f"%p = tensorrt.activation {{activationType = #tensorrt.activation_type<"
            f"{parts['activation']}>}} %v : {row}"
        ),
        f"%ev = tensorrt.expand_rank %p : {row} to {kept}",
        f"%em = tensorrt.expand_rank {parts['mean']} : {row} to {kept}",
        f"%x = {binary} <kSUB>({parts['centered']}, %em : {x}, {kept}) -> {x}",
        f"%eps = tensorrt.constant {parts['eps']} : tensor<1x1x1x1x{element}>",
        f"%y = {binary} <kSUM>(%ev, %eps : {kept}, tensor<1x1x1x1x{element}>) -> {kept}",
        f"%q = tensorrt.unary {{unaryOperation = {UNARY}<kRECIP>}} %y : {kept}",
        f"%h = tensorrt.unary {{unaryOperation = {UNARY}<{parts['root']}>}} %q : {kept}",
        f"%k = {binary} <kPROD>(%h, %b : {kept}, {scale}) -> {x}",
        f"%n = {binary} <kPROD>(%x, %k : {x}, {x}) -> {x}",
        f"%z = {binary} <kSUM>(%c, %c : {scale}, {scale}) -> {scale}",
        f"%r = {binary} <kSUM>(%n, {parts['bias']} : {x}, {scale}) -> {x}",
    ]
    return function("\n".join(lines), [x, scale, scale, x], x)


@pytest.mark.parametrize("element", ["f32", "f16"])
def test_layer_norm_is_found(element):
    found = canonical(layer_norm(element))
    assert found.names == ("normalization",)
    assert "axis = array<i64: 2, 3>" in found
    assert "eps = 1.000000e-03 : f32" in found or "eps = 0.00100040436 : f32" in found


@pytest.mark.parametrize(
    "change",
    [
        {"mean": "%other"},
        {"square": "%a, %d"},
        {"centered": "%d"},
        {"average": "kSUM"},
        {"activation": "kSIGMOID"},
        {"bias": "%z"},
        {"root": "kEXP"},
    ],
)
def test_what_only_looks_like_layer_norm_stays(change):
    assert "normalization" not in canonical(layer_norm(**change)).names


def test_layer_norm_of_bfloat_stays():
    assert "normalization" not in canonical(layer_norm("bf16")).names


def test_layer_norm_over_other_axes_stays():
    text = layer_norm(axes="1, 3").replace("2x3x4x5", "2x3x3x5").replace("1x1x4x5", "1x1x3x5")
    assert "normalization" not in canonical(text).names
