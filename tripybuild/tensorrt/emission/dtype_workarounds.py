"""Dtype workarounds: exact rewrites for types that NVIDIA's dialect rejects.

Invariant: no value changes. bfloat16 goes through float32, which holds all of its values; int4 goes
through a quantization of scale one, which holds all of int4's.
"""

from collections.abc import Mapping

import numpy as np
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import SSAValue

from tripybuild.tensorrt import dialect
from tripybuild.tensorrt.dialect.base import sizes, tensor_type
from tripybuild.tensorrt.emission.scope import Scopes, tensor
from tripybuild.tensorrt.mlir.elements import from_numpy
from tripybuild.tensorrt.recorder.network import Layer
from tripybuild.tensorrt.recorder.value import NetworkValue
from tripybuild.types import dtypes


def unsupported_dtype(layer: Layer) -> dtypes.dtype | None:
    """The type that a layer is not taken in, if there is a way around; None where all is well."""
    if not layer.results:
        return None
    own = layer.results[0].dtype
    return own if layer.declaration.refuses(layer.arguments, own) else None


def widen_layer(
    layer: Layer, narrow: dtypes.dtype, values: Mapping[NetworkValue, SSAValue], scopes: Scopes
) -> tuple[Layer, dict[NetworkValue, SSAValue]]:
    """The same layer on float32, and its operands in it."""
    known = dict(values)

    def wide(argument: object) -> object:
        if isinstance(argument, tuple):
            return tuple(wide(each) for each in argument)
        if not isinstance(argument, NetworkValue) or argument.dtype is not narrow:
            return argument
        made = NetworkValue(dtypes.float32, argument.shape)
        known[made] = _to_float32(values[argument], narrow, scopes)
        return made

    arguments = {name: wide(argument) for name, argument in layer.arguments.items()}
    results = tuple(NetworkValue(dtypes.float32, each.shape) for each in layer.results)
    return Layer(layer.declaration, arguments, results, layer.regions, layer.location), known


def narrow_result(
    value: SSAValue, narrow: dtypes.dtype, like: NetworkValue, scopes: Scopes
) -> SSAValue:
    """Result cast to the declared dtype."""
    shape = sizes(value) if like.shape is None else like.shape
    result = [tensor(narrow, shape)]
    if narrow is dtypes.int4:
        return scopes.one(dialect.QuantizeOp, value, _unit_scale(scopes), result_types=result)
    return scopes.one(dialect.CastOp, value, result_types=result)


def _to_float32(value: SSAValue, narrow: dtypes.dtype, scopes: Scopes) -> SSAValue:
    result = [tensor_type(sizes(value), f32)]
    if narrow is dtypes.int4:
        return scopes.one(dialect.DequantizeOp, value, _unit_scale(scopes), result_types=result)
    return scopes.one(dialect.CastOp, value, result_types=result)


def _unit_scale(scopes: Scopes) -> SSAValue:
    """The scale that changes nothing."""
    weights = from_numpy(np.array(1, np.float32), TensorType(f32, []))
    return scopes.one(dialect.ConstantOp, weights=weights)
