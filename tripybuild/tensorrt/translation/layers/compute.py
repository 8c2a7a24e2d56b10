"""Emitters of compute layers: arithmetic, products, reductions, normalization.

An emitter is given the network and an operation of `tensorrt.dialect`, and returns a tensor
for each result. Axes become bit masks here, as TensorRT wants them.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tripybuild.tensorrt.translation.emission import Emission, Emitter, Tensors


def mask(axes: Iterable[int]) -> int:
    """Return the bit mask of some axes."""
    return sum(1 << axis for axis in axes)


def outputs(layer: Any, count: int = 1) -> Tensors:
    """Return the first outputs of a layer."""
    return [layer.get_output(index) for index in range(count)]


def _activation(at: Emission, op: Any) -> Tensors:
    kind = at.member("ActivationType", op.value("activation_type"))
    layer = at.add("activation", at.tensor(op.input), kind)
    return outputs(at.set(layer, alpha=op.value("alpha"), beta=op.value("beta")))


def _unary(at: Emission, op: Any) -> Tensors:
    kind = at.member("UnaryOperation", op.value("unary_operation"))
    return outputs(at.add("unary", at.tensor(op.input), kind))


def _element_wise(at: Emission, op: Any) -> Tensors:
    kind = at.member("ElementWiseOperation", op.value("elementwise_operation"))
    return outputs(at.add("elementwise", at.tensor(op.input1), at.tensor(op.input2), kind))


def cast(at: Emission, op: Any) -> Tensors:
    """Add a cast to the result's element type."""
    return outputs(at.add("cast", at.tensor(op.input), at.dtype(op.result)))


def _select(at: Emission, op: Any) -> Tensors:
    branches = at.tensor(op.then_input), at.tensor(op.else_input)
    return outputs(at.add("select", at.tensor(op.condition), *branches))


def _parametric_relu(at: Emission, op: Any) -> Tensors:
    return outputs(at.add("parametric_relu", at.tensor(op.input), at.tensor(op.slope)))


def _matrix_multiply(at: Emission, op: Any) -> Tensors:
    first, second = (at.member("MatrixOperation", op.value(name)) for name in ("op0", "op1"))
    layer = at.add("matrix_multiply", at.tensor(op.input0), first, at.tensor(op.input1), second)
    return outputs(layer)


def _einsum(at: Emission, op: Any) -> Tensors:
    return outputs(at.add("einsum", [at.tensor(each) for each in op.inputs], op.value("equation")))


def _convolution(at: Emission, op: Any) -> Tensors:
    static = op.value("kernel_static"), op.value("bias_static")
    return _add_convolution(at, op, "convolution_nd", (op.kernel, op.bias), static)


def _deconvolution(at: Emission, op: Any) -> Tensors:
    static = op.value("kernel_weights_static"), op.value("bias_weights_static")
    return _add_convolution(
        at, op, "deconvolution_nd", (op.kernel_weights, op.bias_weights), static
    )


def _add_convolution(
    at: Emission, op: Any, method: str, inputs: tuple[Any, Any], static: tuple[Any, Any]
) -> Tensors:
    (kernel, bias), (kernel_static, bias_static) = inputs, static
    shape = (kernel.type if kernel_static is None else kernel_static.get_type()).get_shape()
    maps = op.result.type.get_shape()[1]
    nothing = at.library.module.Weights(at.dtype(op.input))
    weights = nothing if kernel_static is None else at.weights(kernel_static)
    layer = at.add(method, at.tensor(op.input), maps, shape[2:], weights, at.weights(bias_static))
    for index, value in ((1, kernel), (2, bias)):
        if value is not None:
            layer.set_input(index, at.tensor(value))
    at.set(
        layer,
        stride_nd=op.value("stride"),
        pre_padding=op.value("pre_padding"),
        post_padding=op.value("post_padding"),
        dilation_nd=op.value("dilation"),
        num_groups=op.value("num_groups"),
    )
    return outputs(layer)


def _reduce(at: Emission, op: Any) -> Tensors:
    kind = at.member("ReduceOperation", op.value("reduce_operation"))
    axes = mask(op.value("reduce_axes"))
    return outputs(at.add("reduce", at.tensor(op.input), kind, axes, op.value("keep_dimensions")))


def _softmax(at: Emission, op: Any) -> Tensors:
    layer = at.add("softmax", at.tensor(op.input))
    return outputs(at.set(layer, axes=mask([op.value("axis")])))


def _ragged_softmax(at: Emission, op: Any) -> Tensors:
    return outputs(at.add("ragged_softmax", at.tensor(op.input), at.tensor(op.bounds)))


def _top_k(at: Emission, op: Any) -> Tensors:
    kind = at.member("TopKOperation", op.value("topk_operation"))
    axes = mask([op.value("axis")])
    return outputs(at.add("topk", at.tensor(op.input), kind, op.value("k"), axes), 2)


def _pool(at: Emission, op: Any) -> Tensors:
    kind = at.member("PoolingType", op.value("pooling_type"))
    layer = at.add("pooling_nd", at.tensor(op.input), kind, op.value("window_size"))
    at.set(
        layer,
        pre_padding=op.value("pre_padding"),
        post_padding=op.value("post_padding"),
        stride_nd=op.value("stride"),
        average_count_excludes_padding=op.value("average_count_excludes_padding"),
        blend_factor=op.value("blend_factor"),
    )
    return outputs(layer)


def _normalization(at: Emission, op: Any) -> Tensors:
    inputs = (at.tensor(each) for each in (op.input, op.scale, op.bias))
    layer = at.add("normalization", *inputs, mask(op.value("axis")))
    return outputs(at.set(layer, epsilon=op.value("eps"), num_groups=op.value("num_groups")))


LAYERS: Mapping[str, Emitter] = {
    "tensorrt.activation": _activation,
    "tensorrt.unary": _unary,
    "tensorrt.element_wise": _element_wise,
    "tensorrt.cast": cast,
    "tensorrt.select": _select,
    "tensorrt.parametric_relu": _parametric_relu,
    "tensorrt.matrix_multiply": _matrix_multiply,
    "tensorrt.einsum": _einsum,
    "tensorrt.convolution": _convolution,
    "tensorrt.deconvolution": _deconvolution,
    "tensorrt.reduce": _reduce,
    "tensorrt.softmax": _softmax,
    "tensorrt.ragged_softmax": _ragged_softmax,
    "tensorrt.top_k": _top_k,
    "tensorrt.pooling": _pool,
    "tensorrt.normalization": _normalization,
}
