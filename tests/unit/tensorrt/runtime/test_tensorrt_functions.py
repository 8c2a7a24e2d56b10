"""What functions say of their arguments for an engine, and what is wrong with it."""

import pytest

from tripybuild.tensorrt.mlir import verifier
from tripybuild.tensorrt.mlir.reading import parser

RANGE = "#tensorrt.shape_profile<min = [1], opt = [2], max = [4]>"
GOOD = {
    "sizes": (
        "tensor<?x3xf32>",
        (
            "tensorrt.shape_profile = #tensorrt.shape_profile<min = [1, 3], opt ="
            " [2, 3], max = [4, 3]>"
        ),
    ),
    "sizes of a scalar": (
        "tensor<f32>",
        "tensorrt.shape_profile = #tensorrt.shape_profile<min = [], opt = [], max = []>",
    ),
    "several ranges": ("tensor<?xf32>", f"tensorrt.shape_profile = [{RANGE}, {RANGE}]"),
    "nothing": ("tensor<?xf32>", ""),
    "values": ("tensor<1xi32>", f"tensorrt.host_tensor, tensorrt.value_bounds = {RANGE}"),
    "the value of a scalar": (
        "tensor<i64>",
        (f"tensorrt.host_tensor, tensorrt.value_bounds = {RANGE}"),
    ),
    "names": ("tensor<?x3xf32>", 'tensorrt.dimension_names = {"0" = "batch"}'),
    "what nobody knows": ("tensor<?x3xf32>", "tensorrt.profile = 1 : i32"),
}


def messages(kind, attributes):
    """What is wrong with a function of one argument before this one, and this one."""
    text = f"func.func @f(%a: i32, %b: {kind} {{{attributes}}}) {{\nreturn\n}}"
    return [each.message for each in verifier.problems(parser.parse(text))]


@pytest.mark.parametrize("name", GOOD)
def test_what_is_right(name):
    """NVIDIA's attributes, and attributes that are not ours."""
    assert messages(*GOOD[name]) == []


WRONG = {
    "sizes of another rank": (
        "tensor<?x3xf32>",
        f"tensorrt.shape_profile = {RANGE}",
        ["`tensorrt.shape_profile` has 1 dimensions, but the argument has 2"],
    ),
    "sizes that the type does not have": (
        "tensor<?x3xf32>",
        (
            "tensorrt.shape_profile = #tensorrt.shape_profile<min = [1, 3], opt ="
            " [2, 4], max = [4, 4]>"
        ),
        ["dimension 1 is 3, but `tensorrt.shape_profile` says 4"],
    ),
    "sizes of what has none": (
        "i32",
        f"tensorrt.shape_profile = {RANGE}",
        ["`tensorrt.shape_profile` is of a ranked tensor, but the argument is a 'i32'"],
    ),
    "sizes as something else": (
        "tensor<?xf32>",
        "tensorrt.shape_profile = 3 : i32",
        ["`tensorrt.shape_profile` must be a `#tensorrt.shape_profile`, but is '3 : i32'"],
    ),
    "no range at all": (
        "tensor<?xf32>",
        "tensorrt.shape_profile = []",
        ["`tensorrt.shape_profile` must be a `#tensorrt.shape_profile`, but is '[]'"],
    ),
    "values of another count": (
        "tensor<2xi32>",
        f"tensorrt.value_bounds = {RANGE}",
        ["`tensorrt.value_bounds` has 1 values, but the argument has 2"],
    ),
    "values of floats": (
        "tensor<1xf32>",
        f"tensorrt.value_bounds = {RANGE}",
        [
            (
                "`tensorrt.value_bounds` is of a tensor of integers, but the"
                " argument is a 'tensor<1xf32>'"
            )
        ],
    ),
    "values of a matrix": (
        "tensor<1x1xi32>",
        f"tensorrt.value_bounds = {RANGE}",
        [
            (
                "`tensorrt.value_bounds` is of a scalar or a vector, but the"
                " argument is a 'tensor<1x1xi32>'"
            )
        ],
    ),
    "a host tensor with a value": (
        "tensor<1xi32>",
        "tensorrt.host_tensor = true",
        ["`tensorrt.host_tensor` is said without a value, but has 'true' for 'tensor<1xi32>'"],
    ),
    "names of no dimension": (
        "tensor<?x3xf32>",
        'tensorrt.dimension_names = {"2" = "batch", "x" = "y", "0" = 3 : i32}',
        [
            "dimension name value '3 : i32' is not a string",
            "dimension name key '2' is out of bounds for rank 2",
            "dimension name key 'x' is not an integer",
        ],
    ),
    "names as something else": (
        "tensor<?x3xf32>",
        "tensorrt.dimension_names = 3 : i32",
        ["`tensorrt.dimension_names` must be a dictionary, but is '3 : i32'"],
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong(name):
    """Each message says which argument it is about."""
    kind, attributes, expected = WRONG[name]
    found = messages(kind, attributes)
    assert sorted(found) == sorted(f"'func.func' op argument #1: {each}" for each in expected)
