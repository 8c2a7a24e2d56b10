"""The helpers of references that move windows over arrays."""

import numpy as np
import pytest

from tripybuild.reference.numerics.arrays import dilate_pad, sliding_windows


def test_zeros_are_put_between_and_around() -> None:
    """The elements end up `step` apart, behind as many zeros as the edge says."""
    found = dilate_pad(np.array([[1.0, 2.0], [3.0, 4.0]]), [3], [(1, 2)])
    assert found.tolist() == [[0, 1, 0, 0, 2, 0, 0], [0, 3, 0, 0, 4, 0, 0]]


@pytest.mark.parametrize(
    ("edges", "wanted"), [((-1, 0), [0, 2]), ((0, -2), [1]), ((-1, 1), [0, 2, 0])]
)
def test_an_edge_below_zero_cuts_off(edges: tuple[int, int], wanted: list[int]) -> None:
    """Stretched elements are cut off where the edge is negative."""
    assert dilate_pad(np.array([1, 2]), [2], [edges]).tolist() == wanted


def test_nothing_stretched_is_nothing() -> None:
    """A dimension without elements has only its edges."""
    assert dilate_pad(np.zeros((2, 0)), [2], [(1, 1)]).tolist() == [[0, 0], [0, 0]]


def test_a_window_reads_every_tap_of_every_place() -> None:
    """Place by place, the window holds the elements that are `dilation` apart."""
    array = np.arange(2 * 9).reshape(2, 9)
    found = sliding_windows(array, [3], [2], [2])
    assert found.shape == (2, 3, 3)
    for place in range(3):
        taps = [2 * place + 2 * tap for tap in range(3)]
        assert np.array_equal(found[:, place], array[:, taps])
