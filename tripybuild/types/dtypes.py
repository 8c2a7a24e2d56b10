"""Dtypes: the closed table of element types, by name.

A dtype is a class, as in nvtripy, so `issubclass(float32, floating)` holds, as does
`isinstance(float32, dtype)`, and there is exactly one of each. Nothing here imports numpy
until somebody asks for `.numpy`.
"""

import functools
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np


class dtype(type):  # noqa: N801  (nvtripy's name)
    """The type of every data type: `isinstance(float32, dtype)`."""

    name: str
    bits: int
    itemsize: float
    kind: Literal["float", "integer", "boolean"]
    mlir: str
    lowest: float
    highest: float

    def __repr__(cls) -> str:
        return cls.name

    def __str__(cls) -> str:
        return cls.name

    @property
    def numpy(cls) -> "np.dtype[Any]":
        """The numpy dtype of the same values; those that numpy lacks come from ml_dtypes."""
        return _numpy(cls.name)


class DataType(metaclass=dtype):
    """The base of all data types."""

    name = "DataType"


class floating(DataType):  # noqa: N801  (nvtripy's name)
    """The base of the floating-point types."""

    name = "floating"


class integer(DataType):  # noqa: N801  (nvtripy's name)
    """The base of the integer types."""

    name = "integer"


_NUMPY_NAMES = {"float8": "float8_e4m3fn", "float4": "float4_e2m1fn"}
_FROM_ML_DTYPES = frozenset({"bfloat16", "float8", "float4", "int4"})


@functools.cache
def _numpy(name: str) -> "np.dtype[Any]":
    # numpy takes longer to import than the whole budget of `import tripyapi`.
    module = import_module("ml_dtypes" if name in _FROM_ML_DTYPES else "numpy")
    made: np.dtype[Any] = import_module("numpy").dtype(
        getattr(module, _NUMPY_NAMES.get(name, name))
    )
    return made


def _float(name: str, bits: int, mlir: str, highest: float) -> dtype:
    limits = {"lowest": -highest, "highest": highest}
    return _declare(name, floating, bits, kind="float", mlir=mlir, **limits)


def _integer(name: str, bits: int, mlir: str, lowest: int) -> dtype:
    limits = {"lowest": lowest, "highest": lowest + 2**bits - 1}
    return _declare(name, integer, bits, kind="integer", mlir=mlir, **limits)


def _declare(name: str, base: dtype, bits: int, **fields: object) -> dtype:
    # Two int4 share a byte, so a size in bytes may be a half.
    itemsize = bits // 8 if bits >= 8 else bits / 8
    doc = f"The element type {name}, of {bits} bits."
    common = {"name": name, "bits": bits, "itemsize": itemsize, "__doc__": doc}
    return dtype(name, (base,), {**common, **fields, "__module__": __name__})


float64 = _float("float64", 64, "f64", 1.7976931348623157e308)
float32 = _float("float32", 32, "f32", 3.4028234663852886e38)
float16 = _float("float16", 16, "f16", 65504.0)
bfloat16 = _float("bfloat16", 16, "bf16", 3.3895313892515355e38)
float8 = _float("float8", 8, "f8E4M3FN", 448.0)
float4 = _float("float4", 4, "f4E2M1FN", 6.0)
int4 = _integer("int4", 4, "i4", lowest=-8)
int8 = _integer("int8", 8, "i8", lowest=-128)
uint8 = _integer("uint8", 8, "ui8", lowest=0)
int32 = _integer("int32", 32, "i32", lowest=-(2**31))
int64 = _integer("int64", 64, "i64", lowest=-(2**63))
boolean = _declare("bool", DataType, 8, kind="boolean", mlir="i1", lowest=0, highest=1)

_FLOATS = (float64, float32, float16, bfloat16, float8, float4)
_INTEGERS = (int4, int8, uint8, int32, int64)

BY_NAME: Mapping[str, dtype] = MappingProxyType(
    {each.name: each for each in (*_FLOATS, *_INTEGERS, boolean)}
)


def lowest(of: dtype) -> float:
    """Give the smallest finite value of a dtype; an int where it holds integers."""
    return of.lowest


def highest(of: dtype) -> float:
    """Give the largest finite value of a dtype; an int where it holds integers."""
    return of.highest


def from_numpy(of: "np.dtype[Any]") -> dtype:
    """Give the dtype of a numpy dtype, or raise ValueError if no tensor can hold its values."""
    for each in BY_NAME.values():
        if each.numpy == of:
            return each
    raise ValueError(f"{of} is not an element type of tensors")


bool = boolean  # last, so that Python's own is not hidden above
