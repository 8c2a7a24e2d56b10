"""Carriers: a dtype that an operator of ONNX does not take is computed in a wider one.

Invariant: a carrier holds each value of the dtype, and a result in it is rounded, or wraps around,
once: no number is another one than the operator would give in the dtype itself.
"""

from collections.abc import Mapping, Set as AbstractSet
from types import MappingProxyType

from tripybuild.types.dtypes import (
    bfloat16,
    boolean,
    dtype,
    float4,
    float8,
    float16,
    float32,
    int4,
    int8,
    int32,
    int64,
    uint8,
)

WIDER: Mapping[dtype, dtype] = MappingProxyType(
    {
        float4: float32,
        float8: float32,
        float16: float32,
        bfloat16: float32,
        boolean: int32,
        int4: int8,
        int8: int32,
        uint8: int32,
        int32: int64,
    }
)


def find_carrier(kind: dtype, allowed: AbstractSet[dtype]) -> dtype | None:
    """The dtype itself where it is allowed, else the next wider one that is, if any."""
    carrier: dtype | None = kind
    while carrier is not None and carrier not in allowed:
        carrier = WIDER.get(carrier)
    return carrier
