"""Emission of layers with a one-to-one operation in the dialect.

Invariant: tensors are operands in the table's order; the other parameters are attributes under the
dialect's names. What needs more than that stands in `shaped`, `sourced` and `controlled`.
"""

from collections.abc import Mapping
from typing import Any

from xdsl.ir import Operation, SSAValue

from tripybuild.tensorrt import dialect
from tripybuild.tensorrt.dialect.base import TensorrtOperation
from tripybuild.tensorrt.dialect.trtx import OPERATIONS as TRTX_OPERATIONS, QuantizeToF4Op
from tripybuild.tensorrt.emission.scope import Scopes
from tripybuild.tensorrt.emission.types import type_of
from tripybuild.tensorrt.recorder.network import Layer
from tripybuild.tensorrt.recorder.value import NetworkValue
from tripybuild.types.dtypes import float4

_OPERATIONS: tuple[type[TensorrtOperation], ...] = (*TRTX_OPERATIONS, *dialect.OPERATIONS)
# The operation of each layer has the layer's name, in NVIDIA's dialect or in ours.
KINDS: Mapping[str, type[TensorrtOperation]] = {
    each.name.partition(".")[2]: each for each in _OPERATIONS
}
# Those that NVIDIA's dialect has not for results of float4.
SHORT: Mapping[str, type[TensorrtOperation]] = {"quantize": QuantizeToF4Op}
# What the dialect calls a parameter of ours, for one layer.
NAMES: Mapping[str, Mapping[str, str]] = {
    "activation": {"kind": "activation_type"},
    "unary": {"kind": "unary_operation"},
    "element_wise": {"kind": "elementwise_operation"},
    "reduce": {"kind": "reduce_operation", "axes": "reduce_axes"},
    "top_k": {"kind": "topk_operation"},
    "normalization": {"axes": "axis", "epsilon": "eps"},
}
# Parameters that say the type of a result, and are no attribute.
TYPES = frozenset({"dtype", "scale_dtype"})
# The operations whose results' types no operand tells.
TYPED = frozenset({"cast", "identity", "quantize", "dequantize", "dynamic_quantize"})


def plain(layer: Layer, values: Mapping[NetworkValue, SSAValue], scopes: Scopes) -> Operation:
    """The one operation that a layer is."""
    name = layer.signature.name
    operands: list[Any] = []
    attributes: dict[str, Any] = {}
    for parameter, kind in layer.signature.parameters.items():
        argument = layer.arguments[parameter]
        if kind.name == "tensor":
            operands.append(None if argument is None else values[argument])
        elif kind.name == "tensors":
            operands.append([values[each] for each in argument])
        elif parameter not in TYPES and argument is not None:
            said = sorted(argument) if parameter == "axes" else argument
            attributes[NAMES.get(name, {}).get(parameter, parameter)] = said
    if name in TYPED:
        attributes["result_types"] = [type_of(result) for result in layer.results]
    kinds = SHORT if layer.results and layer.results[0].dtype is float4 else KINDS
    return scopes.add(kinds.get(name, KINDS[name]), *operands, **attributes)
