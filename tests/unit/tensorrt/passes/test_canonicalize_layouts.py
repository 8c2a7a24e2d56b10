"""`canonicalize` on transposes, reshapes, ranks, broadcasts and resizes."""

import pytest

from tests.oracles.canonical import canonical, function

M = "tensor<2x3x4xf32>"


def transpose(value, before, after, order, name):
    names = [f"d{index}" for index in range(len(order))]
    map_ = f"affine_map<({', '.join(names)}) -> ({', '.join(names[i] for i in order)})>"
    return f"%{name} = tensorrt.transpose {{permutation = {map_}}} {value} : {before} to {after}"


def to(op, value, before, after, name="r"):
    return f"%{name} = tensorrt.{op} {value} : {before} to {after}"


def test_two_transposes_are_one():
    middle, after = "tensor<4x2x3xf32>", "tensor<4x3x2xf32>"
    body = [
        transpose("%a", M, middle, [2, 0, 1], "s"),
        transpose("%s", middle, after, [0, 2, 1], "r"),
    ]
    found = canonical(function("\n".join(body), [M], after))
    assert found.names == ("transpose",)
    assert "(d0, d1, d2) -> (d2, d1, d0)" in found


def test_transposes_that_undo_each_other_are_none():
    middle = "tensor<4x2x3xf32>"
    body = [
        transpose("%a", M, middle, [2, 0, 1], "s"),
        transpose("%s", middle, M, [1, 2, 0], "r"),
    ]
    assert canonical(function("\n".join(body), [M], M)).names == ()
    assert canonical(function(transpose("%a", M, M, [0, 1, 2], "r"), [M], M)).names == ()
    square = "tensor<3x3xf32>"
    text = function(transpose("%a", square, square, [1, 0], "r"), [square], square)
    assert canonical(text).names == ("transpose",)


@pytest.mark.parametrize(
    ("op", "before", "after", "found"),
    [
        ("reshape", M, M, ()),
        ("reshape", M, "tensor<2x1x3x4xf32>", ("expand_rank",)),
        ("reshape", "tensor<2x1x3x1xf32>", "tensor<2x3xf32>", ("collapse_rank",)),
        ("reshape", "tensor<1x1xf32>", "tensor<f32>", ("collapse_rank",)),
        ("reshape", "tensor<f32>", "tensor<1x1xf32>", ("expand_rank",)),
        ("reshape", "tensor<2x1x1xf32>", "tensor<1x2xf32>", ("reshape",)),
        ("reshape", M, "tensor<6x4xf32>", ("reshape",)),
        ("reshape", "tensor<6xf32>", "tensor<2x3xf32>", ("reshape",)),
        ("reshape", "tensor<1x2xf32>", "tensor<2x1xf32>", ("reshape",)),
        ("reshape", "tensor<?x4xf32>", "tensor<?x1x4xf32>", ("expand_rank",)),
        ("reshape", "tensor<?x4xf32>", "tensor<?x4xf32>", ("reshape",)),
        ("expand_rank", "tensor<2x3xf32>", "tensor<1x2x3x1xf32>", ("expand_rank",)),
    ],
)
def test_a_reshape_says_what_it_does(op, before, after, found):
    assert canonical(function(to(op, "%a", before, after), [before], after)).names == found


def chain(*steps):
    """Ops one after the other: each with the type after it."""
    (before, *rest), lines, value = steps, [], "%a"
    for index, (op, after) in enumerate(rest):
        name = "r" if index == len(rest) - 1 else f"v{index}"
        lines.append(to(op, value, before, after, name))
        before, value = after, f"%{name}"
    return function("\n".join(lines), [steps[0]], before)


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        ((M, ("reshape", "tensor<6x4xf32>"), ("reshape", "tensor<24xf32>")), ("reshape",)),
        ((M, ("reshape", "tensor<24xf32>"), ("reshape", M)), ()),
        ((M, ("reshape", "tensor<6x4xf32>"), ("reshape", "tensor<2x3x1x4xf32>")), ("expand_rank",)),
        (("tensor<2x3xf32>", ("expand_rank", "tensor<2x1x3xf32>"),
          ("expand_rank", "tensor<1x2x1x3xf32>")), ("expand_rank",)),
        (("tensor<1x2x1xf32>", ("collapse_rank", "tensor<1x2xf32>"),
          ("collapse_rank", "tensor<2xf32>")), ("collapse_rank",)),
        (("tensor<2x3xf32>", ("expand_rank", "tensor<2x1x3xf32>"),
          ("collapse_rank", "tensor<2x3xf32>")), ()),
        (("tensor<2x1x3xf32>", ("collapse_rank", "tensor<2x3xf32>"),
          ("expand_rank", "tensor<2x1x3xf32>")), ()),
        (("tensor<2x3xf32>", ("expand_rank", "tensor<1x2x1x3xf32>"),
          ("collapse_rank", "tensor<2x1x3xf32>")), ("expand_rank",)),
        (("tensor<1x2x3xf32>", ("expand_rank", "tensor<1x2x1x3xf32>"),
          ("collapse_rank", "tensor<2x3xf32>")), ("collapse_rank",)),
        (("tensor<2x1x3xf32>", ("collapse_rank", "tensor<2x3xf32>"),
          ("expand_rank", "tensor<2x1x3x1xf32>")), ("expand_rank",)),
        (("tensor<2x1x3x1xf32>", ("collapse_rank", "tensor<2x3xf32>"),
          ("expand_rank", "tensor<2x3x1xf32>")), ("collapse_rank",)),
        (("tensor<2x1x3xf32>", ("collapse_rank", "tensor<2x3xf32>"),
          ("expand_rank", "tensor<2x3x1xf32>")), ("collapse_rank", "expand_rank")),
        (("tensor<?x1x?xf32>", ("collapse_rank", "tensor<?x?xf32>"),
          ("expand_rank", "tensor<?x1x?xf32>")), ()),
    ],
)  # fmt: skip
def test_chains_are_as_short_as_can_be(steps, found):
    assert canonical(chain(*steps)).names == found


def test_a_reshape_to_a_computed_shape_keeps_it():
    after = "tensor<?x?xf32>"
    body = [
        to("reshape", "%a", M, "tensor<6x4xf32>", "v"),
        f"%r = tensorrt.reshape %v shape(%b: tensor<2xi32>) : tensor<6x4xf32> to {after}",
    ]
    text = function("\n".join(body), [M, "tensor<2xi32>"], after)
    found = canonical(text, evaluated=False)
    assert found.names == ("reshape",)
    assert "%arg0 shape(%arg1: tensor<2xi32>)" in found
    before, after = "tensor<?xf32>", "tensor<?x1xf32>"
    body = f"%r = tensorrt.reshape %a shape(%b: tensor<2xi32>) : {before} to {after}"
    text = function(body, [before, "tensor<2xi32>"], after)
    assert canonical(text, evaluated=False).names == ("reshape",)


@pytest.mark.parametrize("op", ["reshape", "expand_rank"])
def test_a_constant_has_the_new_shape(op):
    body = "%c = tensorrt.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"
    body += to(op, "%c", "tensor<2xf32>", "tensor<2x1xf32>")
    found = canonical(function(body, [], "tensor<2x1xf32>"))
    assert found.names == ("constant",)
    assert "[[1.000000e+00], [2.000000e+00]]" in found


def test_a_collapsed_constant_and_one_that_was_left_out():
    body = "%c = tensorrt.constant dense<3> : tensor<1x2x1xi32>\n"
    body += to("collapse_rank", "%c", "tensor<1x2x1xi32>", "tensor<2xi32>")
    assert "dense<3> : tensor<2xi32>" in canonical(function(body, [], "tensor<2xi32>"))
    body = "%c = tensorrt.constant dense_resource<__elided__> : tensor<2x3xf32>\n"
    body += to("reshape", "%c", "tensor<2x3xf32>", "tensor<6xf32>")
    found = canonical(function(body, [], "tensor<6xf32>"))
    assert "dense_resource<__elided__> : tensor<6xf32>" in found


def test_weights_are_not_read():
    body = "%c = tensorrt.constant dense_resource<w> : tensor<2x3xf32>\n"
    body += to("reshape", "%c", "tensor<2x3xf32>", "tensor<6xf32>")
    text = function(body, [], "tensor<6xf32>")
    text += '{-# dialect_resources: {builtin: {w: "0x04000000' + "0000803F" * 6 + '"}} #-}'
    assert canonical(text).names == ("constant", "reshape")


def broadcast(before, after, dims, shape=""):
    return f"%r = tensorrt.broadcast %a broadcast_dims<{dims}> {shape}: {before} to {after}"


@pytest.mark.parametrize(
    ("before", "after", "dims", "found"),
    [
        (M, M, "0, 1, 2", ()),
        ("tensor<2x2xf32>", "tensor<2x2xf32>", "1, 0", ("broadcast",)),
        ("tensor<1x2xf32>", "tensor<3x2xf32>", "0, 1", ("broadcast",)),
        ("tensor<2xf32>", "tensor<3x2xf32>", "1", ("broadcast",)),
    ],
)
def test_a_broadcast_that_stretches_nothing_is_nothing(before, after, dims, found):
    assert canonical(function(broadcast(before, after, dims), [before], after)).names == found


def resize(kind, before, after):
    extra = {
        "nearest": ", nearestRounding = #tensorrt.resize_round_mode<kFLOOR>",
        "linear": "",
        "cubic": ", cubicCoeff = -0.75 : f32",
    }[kind]
    scales = "array<f32: 1.0, 1.0, 2.0, 2.0>"
    return (
        f"%r = tensorrt.resize_{kind} {{coordinateTransformation = "
        "#tensorrt.resize_coordinate_transformation<kASYMMETRIC>, selectorForSinglePixel = "
        f"#tensorrt.resize_selector<kUPPER>, scales = {scales}{extra}}} %c : ({before}) -> {after}"
    )


@pytest.mark.parametrize("kind", ["nearest", "linear", "cubic"])
def test_a_resize_knows_the_sizes_that_a_cast_forgot(kind):
    known, vague, after = "tensor<1x1x4x4xf32>", "tensor<?x1x?x4xf32>", "tensor<?x1x?x8xf32>"
    body = f"%c = tensor.cast %a : {known} to {vague}\n" + resize(kind, vague, after)
    found = canonical(function(body, [known], after), evaluated=False)
    assert "tensor.cast" not in found
    body = f"%c = tensor.cast %a : {vague} to {known}\n" + resize(kind, known, after)
    found = canonical(function(body, [vague], after), evaluated=False)
    assert "tensor.cast" in found
