"""A shape pattern against a shape, and back."""

import pytest

from tripybuild.types.patterns import TensorPattern
from tripybuild.types.type_syntax import parse_pattern


def pattern(text):
    found = parse_pattern(text, frozenset("T"))
    assert isinstance(found, TensorPattern)
    return found


@pytest.mark.parametrize(
    ("text", "shape", "wanted"),
    [
        ("T[N, C]", (2, 3), {"N": 2, "C": 3}),
        ("T[N, C]", (2,), None),
        ("T[N, C]", (2, 3, 4), None),
        ("T[*S]", (), {"*S": []}),
        ("T[*S]", (2, 3), {"*S": [2, 3]}),
        ("T[N, *D]", (2,), {"N": 2, "*D": []}),
        ("T[N, *D]", (), None),
        ("T[*B, M, K]", (4, 5, 2, 3), {"*B": [4, 5], "M": 2, "K": 3}),
        ("T[N, *D, 2]", (7, 5, 6, 2), {"N": 7, "*D": [5, 6], "2": 2}),
        ("T[K, C // groups]", (8, 3), {"K": 8, "C // groups": 3}),
        ("T[()]", (), {}),
        ("T[()]", (1,), None),
        ("T[...]", (1, 2), {}),
    ],
)
def test_a_shape_is_matched_and_made_again(text, shape, wanted):
    pairs = pattern(text).match(shape)
    assert (pairs if pairs is None else {str(each): found for each, found in pairs}) == wanted
    if wanted:
        found = dict(pairs)
        assert [size for _, size in pattern(text).sizes(found.__getitem__)] == list(shape)
        names = {key.strip("*"): each for key, each in wanted.items()}
        plain = {key: each for key, each in names.items() if key.isidentifier()}
        assert pattern(text).bindings(shape) == plain


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("T[N, *D]", (1, False)), ("T[N, max(A, B)]", (2, True)), ("T[()]", (0, True))],
)
def test_the_ranks_of_a_pattern(text, wanted):
    assert pattern(text).ranks() == wanted
