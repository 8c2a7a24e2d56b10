"""Tests of dynamic sizes: profiles, inputs whose values are sizes, names of dimensions."""

import pytest
from tensorrt_programs import function

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.tensorrt.mlir.reading import parser
from tripybuild.tensorrt.runtime import engine

ROWS = "tensor<?x3xf32>"


def profile(*sizes):
    """A profile's text: the three lists."""
    low, usual, high = (list(each) for each in sizes)
    return f"#tensorrt.shape_profile<min = {low}, opt = {usual}, max = {high}>"


ONE = profile((1, 3), (2, 3), (4, 3))
TWO = profile((5, 3), (6, 3), (8, 3))


def total(first, second=f"{ROWS} {{tensorrt.shape_profile = {ONE}}}"):
    """The sum of two inputs with a dynamic size."""
    return function(
        {"a": first, "b": second},
        [ROWS],
        f"%0 = tensorrt.element_wise <kSUM>(%a, %b : {ROWS}, {ROWS}) -> {ROWS}\n%0",
    )


def reshaped(bounds, kind="tensor<2xi32>"):
    """A reshape by an input's values."""
    return function(
        {
            "a": f"tensor<?xf32> {{tensorrt.shape_profile = {profile((1,), (6,), (36,))}}}",
            "s": f"{kind} {{{bounds}}}",
        },
        ["tensor<?x?xf32>"],
        """
        %0 = tensorrt.shuffle {first_transpose = array<i64: 0>, second_transpose = array<i64: 0, 1>} ins(%a, %s : tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
        %0
        """,  # noqa: E501
    )


def built(text):
    """The record of a build."""
    return engine.build(parser.parse(text)).record


def refusal(text):
    """The one diagnostic of a build that fails."""
    with pytest.raises(DiagnosticError) as caught:
        built(text)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def test_a_dynamic_argument_has_a_profile():
    """It is in the record, and unknown sizes are None."""
    record = built(total(f"{ROWS} {{tensorrt.shape_profile = {ONE}}}"))
    assert record["inputs"][0]["shape"] == [None, 3]
    wanted = {"min": [1, 3], "opt": [2, 3], "max": [4, 3]}
    assert record["inputs"][0]["profiles"] == [wanted]
    assert record["inputs"][0]["of_values"] is False
    assert record["outputs"][0]["shape"] == [None, 3]


def test_several_profiles_are_an_array_and_one_is_for_all():
    """An engine has as many profiles as the argument with the most."""
    both = f"{ROWS} {{tensorrt.shape_profile = [{ONE}, {TWO}]}}"
    wide = f"{ROWS} {{tensorrt.shape_profile = {profile((1, 3), (2, 3), (8, 3))}}}"

    def text(first):
        return function({"a": first, "b": wide}, [ROWS, ROWS], "%a, %b")

    record = built(text(both))
    assert [each["max"] for each in record["inputs"][0]["profiles"]] == [[4, 3], [8, 3]]
    assert len(record["inputs"][1]["profiles"]) == 1
    one, two = (engine.build(parser.parse(text(each))).plan for each in (wide, both))
    assert len(two) > len(one) + 50_000


def test_different_numbers_of_profiles_are_refused():
    """Two and three: nobody knows which belongs to which."""
    first = f"{ROWS} {{tensorrt.shape_profile = [{ONE}, {TWO}]}}"
    second = f"{ROWS} {{tensorrt.shape_profile = [{ONE}, {ONE}, {TWO}]}}"
    diagnostic = refusal(total(first, second))
    assert diagnostic.code == "tensorrt-profile"
    assert diagnostic.notes == ("`arg0` has 2, `arg1` has 3",)


def test_a_dynamic_argument_without_a_profile_is_refused():
    """And the hint has the attribute's form."""
    diagnostic = refusal(total(ROWS))
    assert diagnostic.code == "tensorrt-profile"
    assert diagnostic.message == "Argument #0 has dynamic sizes and no `tensorrt.shape_profile`"
    assert "#tensorrt.shape_profile<" in diagnostic.hint


@pytest.mark.parametrize(
    "bad",
    [profile((1,), (2,), (4,)), profile((1, 3), (2, 3), (4, 5)), profile((-1, 3), (2, 3), (4, 3))],
)
def test_a_profile_is_of_the_argument_s_shape(bad):
    """Of its rank, with its static sizes, and nothing negative."""
    diagnostic = refusal(total(f"{ROWS} {{tensorrt.shape_profile = {bad}}}"))
    assert diagnostic.code == "tensorrt-profile"
    assert ROWS in diagnostic.message


def test_profiles_that_cannot_be_at_once_are_tensorrt_s_to_refuse():
    """Rows from two to four cannot be added to rows from five to eight."""
    first, second = (
        f"{ROWS} {{tensorrt.shape_profile = {each}}}"
        for each in (TWO, profile((2, 3), (3, 3), (4, 3)))
    )
    text = total(first, second)
    diagnostic = refusal(text)
    assert diagnostic.code == "tensorrt-refused"
    assert "element_wise" in diagnostic.message


def test_a_static_argument_needs_no_profile():
    """And one that is there is of no use."""
    text = function(
        {"a": f"tensor<2x3xf32> {{tensorrt.shape_profile = {profile((2, 3), (2, 3), (2, 3))}}}"},
        ["tensor<2x3xf32>"],
        "%a",
    )
    assert built(text)["inputs"][0]["profiles"] == []


BOUNDS = f"tensorrt.value_bounds = {profile((1, 1), (2, 3), (6, 6))}"


@pytest.mark.parametrize(
    "host", ["tensorrt.host_tensor", "plan.memory_space = #plan.memory_space<host>"]
)
def test_an_input_whose_values_are_sizes_has_bounds(host):
    """In mlir-tensorrt's words, and in nvtripy's."""
    (_, sizes) = built(reshaped(f"{host}, {BOUNDS}"))["inputs"]
    assert sizes["host"]
    assert sizes["of_values"]
    assert sizes["profiles"] == [{"min": [1, 1], "opt": [2, 3], "max": [6, 6]}]


@pytest.mark.parametrize(
    ("attributes", "says"),
    [
        (BOUNDS, "must be `tensorrt.host_tensor`"),
        ("tensorrt.host_tensor", "without bounds: `tensorrt.value_bounds`"),
        (
            f"tensorrt.host_tensor, tensorrt.value_bounds = {profile((1,), (2,), (3,))}",
            "must have 2 values",
        ),
    ],
)
def test_such_an_input_says_all_of_it(attributes, says):
    """That it is on the host, and as many values as it has."""
    diagnostic = refusal(reshaped(attributes))
    assert diagnostic.code == "tensorrt-profile"
    assert says in diagnostic.message


def test_a_host_tensor_whose_values_are_no_sizes_is_like_any_other():
    """mlir-tensorrt warns and goes on."""
    text = function(
        {"a": f"tensor<2xi32> {{tensorrt.host_tensor, {BOUNDS}}}"}, ["tensor<2xi32>"], "%a"
    )
    assert built(text)["inputs"][0]["profiles"] == []


def test_equal_names_of_dimensions_are_equal_sizes():
    """TensorRT compares the profiles of both."""
    named = 'tensorrt.dimension_names = {"0" = "batch"}'
    first, second = (f"{ROWS} {{{named}, tensorrt.shape_profile = {each}}}" for each in (ONE, TWO))
    record = built(total(first, first))
    assert [each["dimension_names"] for each in record["inputs"]] == [{"0": "batch"}] * 2
    text = function({"a": first, "b": second}, [ROWS, ROWS], "%a, %b")
    assert "contradictory" in refusal(text).notes[0]


def test_names_are_of_dimensions_that_there_are():
    """A key is the number of a dimension."""
    text = total(f'{ROWS} {{tensorrt.dimension_names = {{"2" = "depth"}}}}')
    assert "has no dimension `2`" in refusal(text).message
