"""Dtypes: the closed table of element types, by name.

A dtype is a class, as in nvtripy, so `issubclass(float32, floating)` holds, as does
`isinstance(float32, dtype)`, and there is exactly one of each. Its names in formats and libraries
are its fields. NumPy is imported when `.numpy` is read.
"""

import functools
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np


class dtype(type):  # noqa: N801  (nvtripy's name)
    """The type of every data type: `isinstance(float32, dtype)`.

    `mlir`, `numpy_name` and so on are what others call it; None where they have no such type.
    One that is `host_only` is for engines of the CPU: TensorRT has no tensors of it, or none but at
    an engine's border.
    """

    name: str
    bits: int
    itemsize: float
    kind: Literal["float", "integer", "boolean"]
    lowest: float  # the smallest finite value; an int where it holds integers
    highest: float
    mlir: str
    numpy_name: str  # of NumPy, or else of ml_dtypes; XLA's arrays have it, too
    safetensors: str | None
    tensorrt: str | None  # the member of its `DataType`
    onnx: str
    torch: str | None
    dlpack: tuple[int, int]  # the code and the bits
    host_only: bool

    def __repr__(cls) -> str:
        return cls.name

    def __str__(cls) -> str:
        return cls.name

    @property
    def wide(cls) -> "dtype":
        """The dtype in which numbers of this one are computed: no float is wider than float64."""
        return float64 if cls is float64 else float32

    @property
    def numpy(cls) -> "np.dtype[Any]":
        """The numpy dtype of the same values; those that numpy lacks come from ml_dtypes."""
        return numpy_dtype(cls.numpy_name)


class DataType(metaclass=dtype):
    """The base of all data types."""

    name = "DataType"


class floating(DataType):  # noqa: N801  (nvtripy's name)
    """The base of the floating-point types."""

    name = "floating"


class integer(DataType):  # noqa: N801  (nvtripy's name)
    """The base of the integer types."""

    name = "integer"


@functools.cache
def numpy_dtype(name: str) -> "np.dtype[Any]":
    """Give the dtype of a name in NumPy, or else in ml_dtypes."""
    # numpy takes longer to import than the whole budget of `import tripyapi`.
    numpy = import_module("numpy")
    found: np.dtype[Any] = numpy.dtype(
        getattr(numpy, name, None) or getattr(import_module("ml_dtypes"), name)
    )
    return found


_INTEGER, _UNSIGNED, _FLOAT, _BFLOAT, _BOOL, _FLOAT8_E4M3FN, _FLOAT4_E2M1FN = 0, 1, 2, 4, 6, 10, 17
"""DLPack's codes of types."""


def _float(name: str, bits: int, highest: float, code: int = _FLOAT, **names: object) -> dtype:
    limits = {"lowest": -highest, "highest": highest}
    common = {"mlir": f"f{bits}", "safetensors": f"F{bits}"}
    return _declare(name, floating, bits, code, kind="float", **limits, **{**common, **names})


def _integer(name: str, bits: int, lowest: int, code: int = _INTEGER, **names: object) -> dtype:
    limits = {"lowest": lowest, "highest": lowest + 2**bits - 1}
    common = {"mlir": f"i{bits}", "safetensors": f"I{bits}", "tensorrt": f"INT{bits}"}
    return _declare(name, integer, bits, code, kind="integer", **limits, **{**common, **names})


def _declare(name: str, base: dtype, bits: int, code: int, **fields: object) -> dtype:
    # Two int4 share a byte, so a size in bytes may be a half.
    itemsize = bits // 8 if bits >= 8 else bits / 8
    doc = f"The element type {name}, of {bits} bits."
    common = {"name": name, "bits": bits, "itemsize": itemsize, "dlpack": (code, bits)}
    common["host_only"] = False
    names = {"numpy_name": name, "onnx": name, "torch": fields.get("numpy_name", name)}
    python = {"__doc__": doc, "__module__": __name__}
    return dtype(name, (base,), {**common, **names, **fields, **python})


float64 = _float(
    "float64", 64, 1.7976931348623157e308, tensorrt=None, onnx="double", host_only=True
)
float32 = _float("float32", 32, 3.4028234663852886e38, tensorrt="FLOAT", onnx="float")
float16 = _float("float16", 16, 65504.0, tensorrt="HALF")
bfloat16 = _float(
    "bfloat16", 16, 3.3895313892515355e38, _BFLOAT, mlir="bf16", safetensors="BF16", tensorrt="BF16"
)
float8 = _float(
    "float8",
    bits=8,
    highest=448.0,
    code=_FLOAT8_E4M3FN,
    mlir="f8E4M3FN",
    numpy_name="float8_e4m3fn",
    safetensors="F8_E4M3",
    tensorrt="FP8",
    onnx="float8e4m3fn",
)
float4 = _float(
    "float4",
    bits=4,
    highest=6.0,
    code=_FLOAT4_E2M1FN,
    mlir="f4E2M1FN",
    numpy_name="float4_e2m1fn",
    tensorrt="FP4",
    onnx="float4e2m1",
    torch=None,
)
int4 = _integer("int4", 4, -8, safetensors=None, torch=None)
int8 = _integer("int8", 8, -128)
uint8 = _integer(
    "uint8", 8, 0, _UNSIGNED, mlir="ui8", safetensors="U8", tensorrt="UINT8", host_only=True
)
int32 = _integer("int32", 32, -(2**31))
int64 = _integer("int64", 64, -(2**63))
boolean = _declare(
    "bool",
    *(DataType, 8, _BOOL),
    kind="boolean",
    lowest=0,
    highest=1,
    mlir="i1",
    safetensors="BOOL",
    tensorrt="BOOL",
)

_FLOATS = (float64, float32, float16, bfloat16, float8, float4)
_INTEGERS = (int4, int8, uint8, int32, int64)

BY_NAME: Mapping[str, dtype] = MappingProxyType(
    {each.name: each for each in (*_FLOATS, *_INTEGERS, boolean)}
)
BY_MLIR: Mapping[str, dtype] = MappingProxyType({each.mlir: each for each in BY_NAME.values()})


def from_numpy(of: "np.dtype[Any]") -> dtype:
    """Give the dtype of a numpy dtype, or raise ValueError if no tensor can hold its values."""
    for each in BY_NAME.values():
        if each.numpy == of:
            return each
    raise ValueError(f"{of} is not an element type of tensors")


bool = boolean  # last, so that Python's own is not hidden above
