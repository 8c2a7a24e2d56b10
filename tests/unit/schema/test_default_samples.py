"""Sizes that a sample leaves out: 2, 3 and so on along the inputs, two of them for `*S`."""

from dataclasses import replace

import pytest

from tripybuild.language.grammar import parse
from tripybuild.process import paths
from tripybuild.schema.operator.operator import Input
from tripybuild.schema.operator.samples import default_sizes, free_sizes
from tripybuild.testing.registry import registry
from tripybuild.types.type_syntax import parse_pattern

OPERATORS = registry(paths.registry()).operators


def inputs(*texts):
    """Inputs of these types."""
    names = frozenset({"T", "I"})
    return [Input(f"x{i}", parse_pattern(text, names), "") for i, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("types", "sizes"),
    [
        (["T[*S]"], {"S": [2, 3]}),
        (["T[N, C, *D]"], {"N": 2, "C": 3, "D": [4, 5]}),
        (["T[N, C, H, W]"], {"N": 2, "C": 3, "H": 4, "W": 5}),
        (["T[*A, K]", "T[M, K]", "T[M]"], {"A": [2, 3], "K": 4, "M": 5}),
        (["T[*S] | number", "T[C // 2, 7]"], {"S": [2, 3]}),
        (["T[()]", "list[T[*S]]"], {}),
    ],
)
def test_a_size_follows_from_its_place(types, sizes):
    assert default_sizes(inputs(*types), {}) == sizes


def test_what_the_sample_gives_as_a_value_has_no_sizes():
    given = inputs("T[*S]", "I[*J] | index(x0)")
    value = replace(OPERATORS["getitem"].sample["index"], program=parse("[2, None]"))
    assert default_sizes(given, {"x1": value}) == {"S": [2, 3]}
    drawn = replace(value, program=parse("integers(0, 2)"))
    assert default_sizes(given, {"x1": drawn}) == {"S": [2, 3], "J": [4, 5]}


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("exp", {"S": [2, 3]}),
        ("global_maxpool", {"N": 2, "C": 3, "D": [4, 5]}),
        ("convolution", {"N": 2, "C": 4, "M": 6, "D": [9, 8], "K": [3, 2]}),
        ("getitem", {"S": [4, 6]}),
        ("full", {}),
    ],
)
def test_what_is_said_is_no_default(name, sizes):
    assert free_sizes(OPERATORS[name]) == sizes
