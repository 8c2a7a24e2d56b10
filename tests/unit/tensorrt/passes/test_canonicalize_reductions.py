"""`canonicalize` on reductions: dimensions that are kept, sums that are averages."""

import pytest

from tests.oracles.canonical import canonical, function

X = "tensor<2x8x5xf32>"


def reduce(kind="kSUM", axes="1", source=X, result="tensor<2x5xf32>", keep="false", name="s"):
    attributes = f"{{keepDimensions = {keep}, reduceAxes = array<i64: {axes}>}}"
    return f"%{name} = tensorrt.reduce <{kind}> %a {attributes} : {source} -> {result}"


def expand(result, source="tensor<2x5xf32>"):
    return f"%r = tensorrt.expand_rank %s : {source} to {result}"


@pytest.mark.parametrize("kind", ["kSUM", "kMAX", "kMIN", "kPROD", "kAVG"])
def test_a_dimension_that_comes_back_is_kept(kind):
    result = "tensor<2x1x5xf32>"
    found = canonical(function(reduce(kind) + "\n" + expand(result), [X], result))
    assert found.names == ("reduce",)
    assert f"<{kind}>" in found
    assert "keepDimensions = true" in found


def test_unknown_sizes_are_kept():
    source, small, result = "tensor<?x8x?xf32>", "tensor<?x?xf32>", "tensor<?x1x?xf32>"
    body = reduce(source=source, result=small) + "\n" + expand(result, small)
    assert canonical(function(body, [source], result)).names == ("reduce",)


@pytest.mark.parametrize(
    "result", ["tensor<1x2x5xf32>", "tensor<2x5x1xf32>", "tensor<2x1x5x1xf32>"]
)
def test_a_dimension_elsewhere_is_not(result):
    found = canonical(function(reduce() + "\n" + expand(result), [X], result))
    assert found.names == ("reduce", "expand_rank")


def test_the_place_of_the_dimension_counts_and_not_only_the_rank():
    source, small, result = "tensor<1x1x5xf32>", "tensor<1x5xf32>", "tensor<1x5x1xf32>"
    body = reduce(axes="0", source=source, result=small) + "\n" + expand(result, small)
    assert canonical(function(body, [source], result)).names == ("reduce", "expand_rank")


def test_two_axes_and_two_users_stay():
    result = "tensor<1x8x1xf32>"
    body = reduce(axes="0, 2", result="tensor<8xf32>") + "\n" + expand(result, "tensor<8xf32>")
    assert canonical(function(body, [X], result)).names == ("reduce", "expand_rank")
    result = "tensor<2x1x5xf32>"
    text = function(reduce() + "\n" + expand(result), [X], result)
    text = text.replace(f"-> {result} {{", f"-> ({result}, tensor<2x5xf32>) {{")
    text = text.replace(f"return %r : {result}", f"return %r, %s : {result}, tensor<2x5xf32>")
    assert canonical(text).names == ("reduce", "expand_rank")


def divide(number, type="tensor<2x5xf32>", kind="kDIV", constant=None):
    constant = constant or type
    return (
        f"%c = tensorrt.constant dense<{number}> : {constant}\n"
        f"%r = tensorrt.element_wise <{kind}>(%s, %c : {type}, {constant}) -> {type}"
    )


@pytest.mark.parametrize("keep", ["true", "false"])
def test_a_sum_over_its_count_is_an_average(keep):
    result = "tensor<2x1x5xf32>" if keep == "true" else "tensor<2x5xf32>"
    body = reduce(result=result, keep=keep) + "\n" + divide("8.0", result)
    found = canonical(function(body, [X], result))
    assert found.names == ("reduce",)
    assert "<kAVG>" in found
    assert ("keepDimensions = true" in found) == (keep == "true")


def test_an_average_whose_dimension_comes_back_keeps_it():
    result = "tensor<2x1x5xf32>"
    body = reduce() + "\n" + divide("8.0").replace("%r", "%q") + "\n" + expand(result)
    found = canonical(function(body.replace("expand_rank %s", "expand_rank %q"), [X], result))
    assert found.names == ("reduce",)


@pytest.mark.parametrize(
    ("summed", "divided"),
    [
        (reduce("kMAX"), divide("8.0")),
        (reduce(), divide("7.0")),
        (reduce(), divide("8.0", kind="kPROD")),
        (reduce(), divide("[[8.0, 8.0, 8.0, 8.0, 7.0]]", constant="tensor<1x5xf32>")),
    ],
)
def test_what_is_no_average_stays(summed, divided):
    found = canonical(function(summed + "\n" + divided, [X], "tensor<2x5xf32>"))
    assert found.names == ("constant", "reduce", "element_wise")


def test_integers_several_axes_and_stretched_quotients_stay():
    integers, small = "tensor<2x8x5xi32>", "tensor<2x5xi32>"
    body = reduce(source=integers, result=small) + "\n" + divide("8", small)
    assert "element_wise" in canonical(function(body, [integers], small)).names
    body = reduce(axes="0, 1", result="tensor<5xf32>") + "\n" + divide("8.0", "tensor<5xf32>")
    assert "element_wise" in canonical(function(body, [X], "tensor<5xf32>")).names
    kept, wide = "tensor<2x1x5xf32>", "tensor<2x3x5xf32>"
    body = (
        f"{reduce(result=kept, keep='true')}\n%c = tensorrt.constant dense<8.0> : {wide}\n"
        f"%r = tensorrt.element_wise <kDIV>(%s, %c : {kept}, {wide}) -> {wide}"
    )
    assert "element_wise" in canonical(function(body, [X], wide)).names


def test_a_sum_that_is_divided_twice_stays():
    body = reduce() + "\n" + divide("8.0").replace("%r", "%q")
    small = "tensor<2x5xf32>"
    body += f"\n%r = tensorrt.element_wise <kSUM>(%s, %q : {small}, {small}) -> {small}"
    found = canonical(function(body, [X], small))
    assert "tensorrt.reduce <kSUM>" in found
    assert found.names == ("constant", "reduce", "element_wise", "element_wise")
