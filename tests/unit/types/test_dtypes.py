"""The table of dtypes against numpy and ml_dtypes."""

import copy
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

from tripybuild.types import dtypes
from tripybuild.types.dtypes import BY_NAME, floating, from_numpy, integer


@pytest.mark.parametrize("each", BY_NAME.values(), ids=str)
def test_limits_and_size_agree_with_numpy(each):
    """The literals of the table are those of the libraries that hold the values."""
    if each.kind == "boolean":
        assert (each.lowest, each.highest, each.bits) == (0, 1, 8)
        return
    information = (ml_dtypes.finfo if each.kind == "float" else ml_dtypes.iinfo)(each.numpy)
    assert information.bits == each.bits == each.itemsize * 8
    assert (float(information.min), float(information.max)) == (
        float(each.lowest),
        float(each.highest),
    )
    assert isinstance(each.lowest, float if each.kind == "float" else int)


@pytest.mark.parametrize("each", BY_NAME.values(), ids=str)
def test_a_dtype_is_found_by_its_names(each):
    """A dtype prints as its name, is found by it and by its numpy dtype, and is never copied."""
    assert repr(each) == str(each) == each.name
    assert BY_NAME[each.name] is getattr(dtypes, each.name) is from_numpy(each.numpy)
    assert copy.deepcopy(each) is each
    assert isinstance(each, dtypes.dtype)


# Of NumPy or ml_dtypes, MLIR, safetensors, TensorRT, ONNX and PyTorch, and DLPack's code.
NAMES = """
float64  float64         f64      F64      -      double       float64        2
float32  float32         f32      F32      FLOAT  float        float32        2
float16  float16         f16      F16      HALF   float16      float16        2
bfloat16 bfloat16        bf16     BF16     BF16   bfloat16     bfloat16       4
float8   float8_e4m3fn   f8E4M3FN F8_E4M3  FP8    float8e4m3fn float8_e4m3fn  10
float4   float4_e2m1fn   f4E2M1FN F4       FP4    float4e2m1   -              17
int4     int4            i4       -        INT4   int4         -              0
int8     int8            i8       I8       INT8   int8         int8           0
uint8    uint8           ui8      U8       UINT8  uint8        uint8          1
int32    int32           i32      I32      INT32  int32        int32          0
int64    int64           i64      I64      INT64  int64        int64          0
bool     bool            i1       BOOL     BOOL   bool         bool           6
"""


def test_each_system_has_its_name_for_a_dtype():
    """The fields of a dtype are what the formats and libraries call it."""
    rows = [line.split() for line in NAMES.strip().splitlines()]
    assert [row[0] for row in rows] == list(BY_NAME)
    for name, *wanted, code in rows:
        each = BY_NAME[name]
        found = [each.numpy_name, each.mlir, each.safetensors, each.tensorrt, each.onnx, each.torch]
        assert [word or "-" for word in found] == wanted
        assert each.numpy.name == each.numpy_name
        assert each.dlpack == (int(code), each.bits)


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
