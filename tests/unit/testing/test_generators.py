"""The data of suites: what a `sample` asks for is what its arrays hold."""

import numpy as np
import pytest

from tripybuild.language.grammar import parse
from tripybuild.testing.generators import generate_array
from tripybuild.types.dtypes import float32, int32


def drawn(text, shape, type=int32, **names):
    """The array of a generator in a sample."""
    return generate_array(parse(text), names, shape, type, "seed")


def test_places_are_inside_and_differ():
    """Vectors along the last dimension; a shape with fewer elements than vectors has none."""
    found = drawn("places(S[:2])", (3, 4, 2), S=[5, 3, 9])
    vectors = {tuple(vector) for vector in found.reshape(-1, 2).tolist()}
    assert len(vectors) == 12
    assert all(0 <= a < 5 and 0 <= b < 3 for a, b in vectors)
    with pytest.raises(ValueError, match="reshape"):
        drawn("places(S)", (4, 1), S=[3])


@pytest.mark.parametrize(
    ("text", "low", "high"), [("uniform(2, 3)", 2, 3), ("integers(4, 7)", 4, 6)]
)
def test_numbers_are_between_their_bounds(text, low, high):
    """The upper bound of whole numbers is excluded."""
    found = drawn(text, (50,), float32)
    assert low <= found.min() < found.max() <= high


def test_a_permutation_has_each_number_once_in_a_row():
    """Rows differ, and within a row nothing occurs twice."""
    found = drawn("permutation(5)", (4, 5))
    assert np.sort(found).tolist() == [[0, 1, 2, 3, 4]] * 4
    assert np.unique(found, axis=0).shape[0] > 1
