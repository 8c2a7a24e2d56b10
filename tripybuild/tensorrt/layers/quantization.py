"""Quantization layers."""

from typing import TYPE_CHECKING, Any

from tripybuild.tensorrt.layers.declaration import (
    Arguments,
    MultiResultLayer,
    SingleResultLayer,
    like,
)
from tripybuild.tensorrt.recorder.argument_kinds import dtype, integer, optional_tensor, tensor
from tripybuild.tensorrt.shape_rules import Sizes, quantization as rules
from tripybuild.types.dtypes import float8

if TYPE_CHECKING:
    from tripybuild.tensorrt.translation.emission import Emission, Emitter

_SCALED = {"input": tensor, "scale": tensor, "dtype": dtype, "axis": integer.with_default(None)}


def _scaled(layer: str) -> "Emitter":
    def translate(at: "Emission", op: Any) -> Any:
        tensors = at.tensor(op.input), at.tensor(op.scale)
        return at.set(at.add(layer, *tensors, at.dtype(op.result)), axis=op.value("axis"))

    return translate


quantize = SingleResultLayer(
    "quantize",
    _SCALED,
    results=("dtype",),
    shape=like("input"),
    typed=True,
    float4_operation="trtx.quantize",
    translate=_scaled("quantize"),
)


dequantize = SingleResultLayer(
    "dequantize",
    _SCALED,
    results=("dtype",),
    shape=like("input"),
    typed=True,
    translate=_scaled("dequantize"),
)


def _dynamic_quantize_shapes(given: Arguments) -> tuple[Sizes, Sizes]:
    shape = given["input"].shape
    return shape, rules.block_scales(shape, given["axis"], given["block_size"])


def _dynamic_quantize(at: "Emission", op: Any) -> Any:
    block = op.value("axis"), op.value("block_size")
    dtypes = at.dtype(op.result), at.dtype(op.scales)
    layer = at.add("dynamic_quantize", at.tensor(op.input), *block, *dtypes)
    layer.set_input(1, at.tensor(op.double_quant_scale))
    return layer


dynamic_quantize = MultiResultLayer(
    "dynamic_quantize",
    {
        "input": tensor,
        "double_quant_scale": optional_tensor,
        "dtype": dtype,
        "axis": integer,
        "block_size": integer.with_default(16),
        "scale_dtype": dtype.with_default(float8),
    },
    results=("dtype", "scale_dtype"),
    shape=_dynamic_quantize_shapes,
    typed=True,
    translate=_dynamic_quantize,
)
