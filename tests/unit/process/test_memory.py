"""Copies of arrays that engines take as they are."""

import ml_dtypes
import numpy as np
import pytest

import tripyapi as tp
from tripybuild.eager.tensor.data import ALIGNMENT, LARGE, aligned_copy

EDGE = LARGE // 4  # float32 numbers that are just large enough


@pytest.mark.parametrize("dtype", ["f4", ">f4", "i8", "?", ml_dtypes.bfloat16, ml_dtypes.int4])
@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (EDGE - 1,), (EDGE,), (3, 7, EDGE)])
def test_a_copy_has_the_same_elements_in_order(dtype, shape):
    """Whatever the layout was, and large ones at a multiple of 64."""
    count = int(np.prod(shape))
    given = (np.arange(count) % 5).reshape(shape[::-1]).astype(dtype).T
    copied = aligned_copy(given, given.dtype.newbyteorder("="))
    assert copied.flags.c_contiguous
    assert copied.flags.writeable
    assert copied.dtype.isnative
    assert not np.shares_memory(copied, given)
    np.testing.assert_array_equal(copied.astype("f4"), given.astype("f4"))
    if copied.nbytes >= LARGE:
        assert copied.ctypes.data % ALIGNMENT == 0


def test_a_large_tensor_can_be_placed_without_a_copy():
    """XLA reads it where it is."""
    held = tp.Tensor(np.ones((EDGE, 2), np.float32)).value.producer.data.array
    assert held.ctypes.data % ALIGNMENT == 0
