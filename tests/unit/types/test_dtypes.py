"""The table of dtypes against numpy and ml_dtypes."""

import copy
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

from tripybuild.types import dtypes
from tripybuild.types.dtypes import BY_NAME, floating, from_numpy, highest, integer, lowest


@pytest.mark.parametrize("each", BY_NAME.values(), ids=str)
def test_limits_and_size_agree_with_numpy(each):
    """The literals of the table are those of the libraries that hold the values."""
    if each.kind == "boolean":
        assert (lowest(each), highest(each), each.bits) == (0, 1, 8)
        return
    information = (ml_dtypes.finfo if each.kind == "float" else ml_dtypes.iinfo)(each.numpy)
    assert information.bits == each.bits == each.itemsize * 8
    assert (float(information.min), float(information.max)) == (
        float(lowest(each)),
        float(highest(each)),
    )
    assert isinstance(lowest(each), float if each.kind == "float" else int)


@pytest.mark.parametrize("each", BY_NAME.values(), ids=str)
def test_a_dtype_is_found_by_its_names(each):
    """A dtype prints as its name, is found by it and by its numpy dtype, and is never copied."""
    assert repr(each) == str(each) == each.name
    assert BY_NAME[each.name] is getattr(dtypes, each.name) is from_numpy(each.numpy)
    assert copy.deepcopy(each) is each
    assert isinstance(each, dtypes.dtype)


def test_classes_are_as_in_nvtripy():
    """`issubclass` tells floats from integers, and bool is neither."""
    assert issubclass(dtypes.float8, floating)
    assert issubclass(dtypes.uint8, integer)
    assert not issubclass(dtypes.bool, (floating, integer))


def test_a_foreign_numpy_dtype_is_refused():
    """A numpy dtype that no tensor can hold is a ValueError that names it."""
    with pytest.raises(ValueError, match="complex64"):
        from_numpy(np.dtype(np.complex64))


def test_types_do_not_import_numpy():
    """`import tripyapi` has a budget that numpy alone would exceed."""
    modules = "tripybuild.types.dtypes, tripybuild.symbolic.dims, tripybuild.types.shapes"
    check = f"import sys, {modules}; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
