"""Dialect types of recorded values."""

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import builtin
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from tripybuild.tensorrt.dialect.base import tensor_type
from tripybuild.tensorrt.recorder.value import NetworkValue
from tripybuild.types import dtypes

ELEMENTS: dict[str, Attribute] = {
    "float64": builtin.f64,
    "float32": builtin.f32,
    "float16": builtin.f16,
    "bfloat16": builtin.bf16,
    "float8": builtin.Float8E4M3FNType(),
    "float4": builtin.Float4E2M1FNType(),
    "int4": builtin.IntegerType(4),
    "int8": builtin.i8,
    "uint8": builtin.IntegerType(8, builtin.Signedness.UNSIGNED),
    "int32": builtin.i32,
    "int64": builtin.i64,
    "bool": builtin.i1,
}


def tensor(dtype: dtypes.dtype, shape: Sequence[Any]) -> TensorType[Any]:
    """The type of a tensor; sizes that are no numbers print as `?`."""
    return tensor_type([s if isinstance(s, int) else None for s in shape], ELEMENTS[dtype.name])


def type_of(value: NetworkValue) -> TensorType[Any]:
    """The type of a recorded value; ValueError where its shape is not known."""
    if value.shape is None:
        raise ValueError(f"the shape of {value!r} is not known")
    return tensor(value.dtype, value.shape)
