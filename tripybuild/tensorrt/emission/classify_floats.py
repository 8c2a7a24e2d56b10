"""Float classification (NaN, infinity), expressed in operations of NVIDIA's dialect.

Invariant: `x` is no number where it is not equal to itself, and infinite where its size is
infinity. As in TensorRT, only floats are asked.
"""

from collections.abc import Callable, Mapping

import numpy as np
from xdsl.ir import SSAValue

from tripybuild.tensorrt import dialect
from tripybuild.tensorrt.emission.reshapes import LayerEmission
from tripybuild.tensorrt.emission.types import tensor
from tripybuild.tensorrt.mlir.elements import from_numpy
from tripybuild.tensorrt.recorder.value import NetworkValue


def is_nan(place: LayerEmission) -> SSAValue:
    """`not x == x`."""
    value = place.argument("input")
    _float_input(place)
    equal = place.one(dialect.ElementWiseOp, value, value, elementwise_operation="kEQUAL")
    return place.one(dialect.UnaryOp, equal, unary_operation="kNOT")


def is_infinite(place: LayerEmission) -> SSAValue:
    """`|x| == inf`."""
    source = _float_input(place)
    size = place.one(dialect.UnaryOp, place.argument("input"), unary_operation="kABS")
    limit = np.full((1,) * source.rank, np.inf).astype(source.dtype.numpy)
    infinity = place.one(
        dialect.ConstantOp, weights=from_numpy(limit, tensor(source.dtype, limit.shape))
    )
    return place.one(dialect.ElementWiseOp, size, infinity, elementwise_operation="kEQUAL")


def _float_input(place: LayerEmission) -> NetworkValue:
    source: NetworkValue = place.layer.arguments["input"]
    if source.dtype.kind != "float":
        raise ValueError(f"{source.dtype} has neither infinities nor NaN")
    return source


TRUTHS: Mapping[str, Callable[[LayerEmission], SSAValue]] = {
    "kISNAN": is_nan,
    "kISINF": is_infinite,
}
