"""Emitters of source layers and of quantization."""

from collections.abc import Mapping
from typing import Any

from tripybuild.tensorrt.translation.emission import Emission, Emitter, Tensors
from tripybuild.tensorrt.translation.layers.compute import outputs


def _constant(at: Emission, op: Any) -> Tensors:
    shape = op.result.type.get_shape()
    return outputs(at.add("constant", shape, at.weights(op.value("weights"))))


def _add_fill(
    at: Emission, op: Any, kind: str, first: tuple[Any, Any], second: tuple[Any, Any]
) -> Tensors:
    """Add a fill whose parameters are each a number or a tensor."""
    shape = op.result.type.get_shape()
    if op.shape is not None:  # a whole shape must be given even where a tensor takes its place
        shape = (1,) * len(shape)
    dtype = at.dtype(op.result)
    layer = at.add("fill", shape, at.member("FillOperation", kind), dtype)
    exact = at.element(op.result) == "i64"
    at.set(layer, alpha=_number(first[0], exact), beta=_number(second[0], exact))
    for index, value in enumerate((op.shape, first[1], second[1])):
        if value is not None:
            layer.set_input(index, at.tensor(value))
    return outputs(layer)


def _number(value: float | None, exact: bool) -> float | None:
    """Return a parameter; int64 ones stay whole, as a double cannot hold them all."""
    return int(value) if exact and value is not None and value == int(value) else value


def _linspace(at: Emission, op: Any) -> Tensors:
    start, step = (op.value("static_start"), op.start), (op.value("static_step"), op.step)
    return _add_fill(at, op, "LINSPACE", start, step)


def _random_uniform(at: Emission, op: Any) -> Tensors:
    low, high = (op.value("static_low"), op.low), (op.value("static_high"), op.high)
    return _add_fill(at, op, "RANDOM_UNIFORM", low, high)


def _random_normal(at: Emission, op: Any) -> Tensors:
    mean, deviation = (op.value("static_mean"), op.mean), (op.value("static_std"), op.std)
    return _add_fill(at, op, "RANDOM_NORMAL", mean, deviation)


def _quantize(at: Emission, op: Any) -> Tensors:
    tensors = at.tensor(op.input), at.tensor(op.scale)
    return outputs(at.set(at.add("quantize", *tensors, at.dtype(op.result)), axis=op.value("axis")))


def _dequantize(at: Emission, op: Any) -> Tensors:
    tensors = at.tensor(op.input), at.tensor(op.scale)
    layer = at.add("dequantize", *tensors, at.dtype(op.result))
    return outputs(at.set(layer, axis=op.value("axis")))


def _dynamic_quantize(at: Emission, op: Any) -> Tensors:
    block = op.value("axis"), op.value("block_size")
    dtypes = at.dtype(op.result), at.dtype(op.scales)
    layer = at.add("dynamic_quantize", at.tensor(op.input), *block, *dtypes)
    layer.set_input(1, at.tensor(op.double_quant_scale))
    return outputs(layer, 2)


LAYERS: Mapping[str, Emitter] = {
    "tensorrt.constant": _constant,
    "tensorrt.linspace": _linspace,
    "tensorrt.random_uniform": _random_uniform,
    "tensorrt.random_normal": _random_normal,
    "tensorrt.quantize": _quantize,
    "trtx.constant": _constant,
    "trtx.quantize": _quantize,
    "tensorrt.dequantize": _dequantize,
    "tensorrt.dynamic_quantize": _dynamic_quantize,
}
