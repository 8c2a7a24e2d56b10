"""`canonicalize` on shuffles, and on slices whose sizes are constants."""

import pytest

from tests.oracles.canonical import canonical, function

S = "tensor<2x6xf32>"


def array(numbers):
    return "array<i64" + (": " if numbers else "") + ", ".join(map(str, numbers)) + ">"


def shuffle(value, before, after, first, second, reshape=None, keeps=None, name="r", dynamic=None):
    parts = [f"first_transpose = {array(first)}"]
    if reshape is not None:
        parts.append(f"reshape = {array(reshape)}")
    parts.append(f"second_transpose = {array(second)}")
    if keeps is not None:
        parts.append(f"zero_is_placeholder = {str(keeps).lower()}")
    inputs = f"{value}, {dynamic[0]} : {before}, {dynamic[1]}" if dynamic else f"{value} : {before}"
    return f"%{name} = tensorrt.shuffle {{{', '.join(parts)}}} ins({inputs}) -> {after}"


def test_a_constant_shape_is_an_attribute():
    body = "%s = tensorrt.constant dense<[3, -1]> : tensor<2xi32>\n"
    body += shuffle(
        "%a", "tensor<?x6xf32>", "tensor<3x?xf32>", [0, 1], [0, 1], None, False,
        dynamic=("%s", "tensor<2xi32>"),
    )  # fmt: skip
    found = canonical(function(body, ["tensor<?x6xf32>"], "tensor<3x?xf32>"))
    assert found.names == ("shuffle",)
    assert "reshape = array<i64: 3, -1>" in found


def test_a_computed_shape_stays():
    body = shuffle(
        "%a", S, "tensor<?x?xf32>", [0, 1], [0, 1], None, False, dynamic=("%b", "tensor<2xi32>")
    )
    text = function(body, [S, "tensor<2xi32>"], "tensor<?x?xf32>")
    found = canonical(text, evaluated=False)
    assert "ins(%arg0, %arg1" in found


def test_a_computed_shape_of_known_sizes_stays():
    body = shuffle("%a", S, "tensor<3x4xf32>", [0, 1], [0, 1], dynamic=("%b", "tensor<2xi32>"))
    text = function(body, [S, "tensor<2xi32>"], "tensor<3x4xf32>")
    found = canonical(text, evaluated=False)
    assert "ins(%arg0, %arg1" in found
    assert " reshape = " not in found


@pytest.mark.parametrize(
    ("after", "first", "second", "reshape", "written"),
    [
        ("tensor<2x2x3xf32>", [0, 1], [0, 1, 2], [0, 2, 3], "2, 2, 3"),
        ("tensor<3x2x2xf32>", [0, 1], [2, 0, 1], [0, 2, 3], "2, 2, 3"),
        ("tensor<6x2xf32>", [1, 0], [0, 1], None, "6, 2"),
        ("tensor<6x2xf32>", [0, 1], [1, 0], None, "2, 6"),
        ("tensor<3x4xf32>", [0, 1], [0, 1], [-1, 4], "3, 4"),
    ],
)
def test_known_sizes_are_written_down(after, first, second, reshape, written):
    found = canonical(function(shuffle("%a", S, after, first, second, reshape), [S], after))
    assert found.names == ("shuffle",)
    assert f"reshape = array<i64: {written}>" in found
    assert "zero_is_placeholder = false" in found


def test_unknown_sizes_keep_their_placeholder():
    before, after = "tensor<?x6xf32>", "tensor<?x2x3xf32>"
    body = shuffle("%a", before, after, [0, 1], [0, 1, 2], [0, 2, 3])
    found = canonical(function(body, [before], after))
    assert "reshape = array<i64: 0, 2, 3>" in found
    assert "zero_is_placeholder = false" not in found


@pytest.mark.parametrize(
    ("before", "first", "reshape", "second", "found"),
    [
        (S, [0, 1], [2, 6], [0, 1], ()),
        (S, [1, 0], [6, 2], [1, 0], ()),
        (S, [1, 0], [2, 6], [0, 1], ("shuffle",)),
        (S, [0, 1], [6, 2], [1, 0], ("shuffle",)),
        ("tensor<1x5xf32>", [1, 0], [1, 5], [0, 1], ()),
        ("tensor<1x1xf32>", [0, 1], [1, 1], [1, 0], ("shuffle",)),
        ("tensor<f32>", [], [], [], ()),
        ("tensor<2x3x4xf32>", [1, 2, 0], [3, 4, 2], [2, 0, 1], ()),
        ("tensor<3x3x3xf32>", [1, 2, 0], [3, 3, 3], [1, 2, 0], ("shuffle",)),
    ],
)
def test_a_shuffle_that_changes_nothing_is_nothing(before, first, reshape, second, found):
    body = shuffle("%a", before, before, first, second, reshape, False)
    assert canonical(function(body, [before], before)).names == found


def test_two_reshapes_are_one():
    middle, after = "tensor<3x4xf32>", "tensor<4x3xf32>"
    body = [
        shuffle("%a", S, middle, [1, 0], [1, 0], [4, 3], False, "s"),
        shuffle("%s", middle, after, [1, 0], [1, 0], [3, 4], False),
    ]
    found = canonical(function("\n".join(body), [S], after))
    assert found.names == ("shuffle",)
    assert "first_transpose = array<i64: 1, 0>" in found
    assert "reshape = array<i64: 3, 4>" in found


def test_a_transpose_after_a_reshape_goes_into_it():
    x, middle, after = "tensor<?x6xf32>", "tensor<3x?x2xf32>", "tensor<2x3x?xf32>"
    body = [
        shuffle("%a", x, middle, [1, 0], [0, 2, 1], [3, 2, -1], False, "s"),
        shuffle("%s", middle, after, [1, 2, 0], [1, 2, 0], None, False),
    ]
    found = canonical(function("\n".join(body), [x], after))
    assert found.names == ("shuffle",)
    assert "reshape = array<i64: 3, 2, -1>" in found


def test_a_transpose_keeps_the_reshape_before_it():
    """What mlir-tensorrt loses: a square that was reshaped and then transposed."""
    x, square = "tensor<2x8xf32>", "tensor<4x4xf32>"
    body = [
        shuffle("%a", x, square, [0, 1], [0, 1], [4, 4], False, "s"),
        shuffle("%s", square, square, [0, 1], [1, 0], None, False),
    ]
    found = canonical(function("\n".join(body), [x], square))
    assert found.names == ("shuffle",)
    assert "reshape = array<i64: 4, 4>" in found


def test_transposes_between_reshapes_stay():
    middle, after = "tensor<4x3xf32>", "tensor<2x6xf32>"
    body = [
        shuffle("%a", S, middle, [0, 1], [1, 0], [3, 4], False, "s"),
        shuffle("%s", middle, after, [0, 1], [0, 1], [2, 6], False),
    ]
    assert canonical(function("\n".join(body), [S], after)).names == ("shuffle", "shuffle")


def test_a_placeholder_refers_to_the_shape_before_it():
    x, middle, after = "tensor<?x6xf32>", "tensor<?x3xf32>", "tensor<?x1x3xf32>"
    body = [
        shuffle("%a", x, middle, [0, 1], [0, 1], [-1, 3], False, "s"),
        shuffle("%s", middle, after, [0, 1], [0, 1, 2], [0, 1, 3], True),
    ]
    assert canonical(function("\n".join(body), [x], after)).names == ("shuffle", "shuffle")


def constant(name, numbers):
    return f"%{name} = tensorrt.constant dense<{numbers}> : tensor<{len(numbers)}xi32>"


def test_constant_sizes_of_a_slice_are_attributes():
    after = "tensor<1x3xf32>"
    body = [
        constant("s", [1, 2]),
        constant("n", [1, 3]),
        (
            "%r = tensorrt.slice %a[%s: tensor<2xi32>][%n: tensor<2xi32>][1, 1] "
            f"{{mode = #tensorrt.slice_mode<kCLAMP>}} : {S} to {after}"
        ),
    ]
    found = canonical(function("\n".join(body), [S], after))
    assert found.names == ("slice",)
    assert "[1, 2][1, 3][1, 1]" in found
    assert "kCLAMP" in found


def test_the_type_of_a_slice_and_its_stride_stay():
    after = "tensor<?x?xf32>"
    body = [
        constant("n", [1, 3]),
        constant("t", [1, 1]),
        (
            "%r = tensorrt.slice %a[%b: tensor<2xi32>][%n: tensor<2xi32>][%t: tensor<2xi32>] "
            f": {S} to {after}"
        ),
    ]
    text = function("\n".join(body), [S, "tensor<2xi32>"], after)
    found = canonical(text, evaluated=False)
    assert found.names == ("constant", "slice")
    assert "[%arg1: tensor<2xi32>][1, 3][%" in found
    assert f"to {after}" in found


def test_a_filled_slice_keeps_its_fill():
    after = "tensor<2x8xf32>"
    body = [
        constant("s", [0, -1]),
        (
            "%r = tensorrt.slice %a[%s: tensor<2xi32>][2, 8][1, 1] fill(%b : tensor<f32>) "
            f"{{mode = #tensorrt.slice_mode<kFILL>}} : {S} to {after}"
        ),
    ]
    found = canonical(function("\n".join(body), [S, "tensor<f32>"], after))
    assert found.names == ("slice",)
    assert "[0, -1][2, 8][1, 1] fill(%arg1" in found
