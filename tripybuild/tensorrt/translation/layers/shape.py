"""Emitters of data movement: shapes, slices, indices, resize; and of sources."""

from collections.abc import Mapping
from typing import Any

from tripybuild.tensorrt.translation.emission import Emission, Emitter, Tensors
from tripybuild.tensorrt.translation.layers.compute import cast, outputs


def _identity(at: Emission, op: Any) -> Tensors:
    """Where types are strict, an identity that changes one is a cast."""
    if at.element(op.input) == at.element(op.result):
        return outputs(at.add("identity", at.tensor(op.input)))
    return cast(at, op)


def _shape(at: Emission, op: Any) -> Tensors:
    """TensorRT counts in int64 and the dialect in int32; once for each tensor is enough."""
    found = at.shapes.get(op.input)
    if found is None:
        shape = at.add("shape", at.tensor(op.input)).get_output(0)
        found = at.add("cast", shape, at.dtype(op.result)).get_output(0)
        at.shapes[op.input] = found
    return [found]


def _shuffle(at: Emission, op: Any) -> Tensors:
    layer = at.add("shuffle", at.tensor(op.input))
    at.set(
        layer,
        zero_is_placeholder=op.value("zero_is_placeholder"),
        first_transpose=op.value("first_transpose"),
    )
    if op.dynamic_reshape is not None:
        layer.set_input(1, at.tensor(op.dynamic_reshape))
    at.set(layer, reshape_dims=op.value("reshape"), second_transpose=op.value("second_transpose"))
    return outputs(layer)


def _concatenation(at: Emission, op: Any) -> Tensors:
    layer = at.add("concatenation", [at.tensor(each) for each in op.inputs])
    return outputs(at.set(layer, axis=op.value("axis")))


def _padding(at: Emission, op: Any) -> Tensors:
    sizes = op.value("pre_padding"), op.value("post_padding")
    return outputs(at.add("padding_nd", at.tensor(op.input), *sizes))


def _slice(at: Emission, op: Any) -> Tensors:
    layer = at.add("slice", at.tensor(op.input), (), (), ())
    at.set(layer, mode=at.member("SampleMode", op.value("mode")))
    at.set(
        layer,
        start=op.value("static_start"),
        shape=op.value("static_size"),
        stride=op.value("static_stride"),
    )
    for index, value in enumerate((op.start, op.size, op.stride, op.fill), 1):
        if value is not None:
            layer.set_input(index, at.tensor(value))
    return outputs(layer)


def _resize(at: Emission, op: Any, mode: str) -> Any:
    layer = at.add("resize", at.tensor(op.input))
    if op.output_shape is not None:
        layer.set_input(1, at.tensor(op.output_shape))
    elif op.value("scales") is not None:
        at.set(layer, scales=op.value("scales"))
    else:
        at.set(layer, shape=op.result.type.get_shape())
    coordinates = op.value("coordinate_transformation")
    selector = op.value("selector_for_single_pixel")
    return at.set(
        layer,
        resize_mode=at.member("InterpolationMode", mode),
        coordinate_transformation=at.member("ResizeCoordinateTransformation", coordinates),
        selector_for_single_pixel=at.member("ResizeSelector", selector),
    )


def _resize_nearest(at: Emission, op: Any) -> Tensors:
    rounding = at.member("ResizeRoundMode", op.value("nearest_rounding"))
    return outputs(at.set(_resize(at, op, "NEAREST"), nearest_rounding=rounding))


def _resize_linear(at: Emission, op: Any) -> Tensors:
    return outputs(_resize(at, op, "LINEAR"))


def _resize_cubic(at: Emission, op: Any) -> Tensors:
    return outputs(at.set(_resize(at, op, "CUBIC"), cubic_coeff=op.value("cubic_coeff")))


def _add_gather(at: Emission, op: Any, mode: str) -> Any:
    kind = at.member("GatherMode", mode)
    return at.add("gather_v2", at.tensor(op.data), at.tensor(op.indices), kind)


def _gather(at: Emission, op: Any) -> Tensors:
    layer = _add_gather(at, op, "DEFAULT")
    count = op.value("num_broadcast_dims")
    return outputs(at.set(layer, axis=op.value("axis"), num_elementwise_dims=count))


def _gather_nd(at: Emission, op: Any) -> Tensors:
    return outputs(_add_gather(at, op, "ND"))


def _gather_elements(at: Emission, op: Any) -> Tensors:
    return outputs(at.set(_add_gather(at, op, "ELEMENT"), axis=op.value("axis")))


def _add_scatter(at: Emission, op: Any, mode: str) -> Any:
    tensors = (at.tensor(each) for each in (op.data, op.indices, op.updates))
    return at.add("scatter", *tensors, at.member("ScatterMode", mode))


def _scatter_nd(at: Emission, op: Any) -> Tensors:
    return outputs(_add_scatter(at, op, "ND"))


def _scatter_elements(at: Emission, op: Any) -> Tensors:
    return outputs(at.set(_add_scatter(at, op, "ELEMENT"), axis=op.value("axis")))


def _one_hot(at: Emission, op: Any) -> Tensors:
    tensors = (at.tensor(each) for each in (op.indices, op.values, op.depth))
    return outputs(at.add("one_hot", *tensors, op.value("axis")))


def _non_zero(at: Emission, op: Any) -> Tensors:
    return outputs(at.add("non_zero", at.tensor(op.input)))


LAYERS: Mapping[str, Emitter] = {
    "tensorrt.identity": _identity,
    "tensorrt.shape": _shape,
    "tensorrt.shuffle": _shuffle,
    "tensorrt.concatenation": _concatenation,
    "tensorrt.padding": _padding,
    "tensorrt.slice": _slice,
    "tensorrt.resize_nearest": _resize_nearest,
    "tensorrt.resize_linear": _resize_linear,
    "tensorrt.resize_cubic": _resize_cubic,
    "tensorrt.gather": _gather,
    "tensorrt.gather_nd": _gather_nd,
    "tensorrt.gather_elements": _gather_elements,
    "tensorrt.scatter_nd": _scatter_nd,
    "tensorrt.scatter_elements": _scatter_elements,
    "tensorrt.one_hot": _one_hot,
    "tensorrt.non_zero": _non_zero,
}
