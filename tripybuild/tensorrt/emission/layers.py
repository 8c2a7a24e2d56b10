"""Emission of layers with a one-to-one operation in the dialect.

Invariant: tensors are operands in the declaration's order; the other parameters are attributes
under the names that it gives them, but for dtypes, which are types of results.
"""

from collections.abc import Mapping
from typing import Any

from xdsl.ir import Operation, SSAValue

from tripybuild.tensorrt import dialect
from tripybuild.tensorrt.dialect.base import TensorrtOperation
from tripybuild.tensorrt.emission.scope import Scopes
from tripybuild.tensorrt.emission.types import type_of
from tripybuild.tensorrt.recorder.network import Layer
from tripybuild.tensorrt.recorder.value import NetworkValue
from tripybuild.types.dtypes import float4

OPERATIONS: Mapping[str, type[TensorrtOperation]] = {
    each.name: each for group in (dialect.TRTX_OPERATIONS, dialect.OPERATIONS) for each in group
}


def plain(layer: Layer, values: Mapping[NetworkValue, SSAValue], scopes: Scopes) -> Operation:
    """The one operation that a layer is."""
    declared = layer.declaration
    operands: list[Any] = []
    attributes: dict[str, Any] = {}
    arguments = layer.arguments
    if declared.explicit is not None:
        arguments = {**arguments, **declared.explicit(arguments)}
    for parameter, kind in declared.parameters.items():
        argument = arguments[parameter]
        if kind.name == "tensor":
            operands.append(None if argument is None else values[argument])
        elif kind.name == "tensors":
            operands.append([values[each] for each in argument])
        elif kind.name != "dtype" and argument is not None:
            said = sorted(argument) if parameter == "axes" else argument
            attributes[kind.attribute or parameter] = said
    if declared.typed:
        attributes["result_types"] = [type_of(result) for result in layer.results]
    short = declared.float4_operation and layer.results[0].dtype is float4
    operation = declared.float4_operation if short else declared.operation
    return scopes.add(OPERATIONS[operation], *operands, **attributes)
