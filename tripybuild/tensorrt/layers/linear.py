"""Linear layers: matrix multiplication, einsum, convolutions."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tripybuild.tensorrt.layers.declaration import Arguments, SingleResultLayer, apply
from tripybuild.tensorrt.recorder.argument_kinds import (
    integer,
    one_of,
    optional_integers,
    optional_tensor,
    tensor,
    tensors,
    text,
)
from tripybuild.tensorrt.shape_rules import Sizes, linear as rules, windows
from tripybuild.tensorrt.shape_rules.einsum import einsum as contracted_shape

if TYPE_CHECKING:
    from tripybuild.tensorrt.translation.emission import Emission


def _matrix_multiply(at: "Emission", op: Any) -> Any:
    first, second = (at.member("MatrixOperation", op.value(name)) for name in ("op0", "op1"))
    return at.add("matrix_multiply", at.tensor(op.input0), first, at.tensor(op.input1), second)


matrix_multiply = SingleResultLayer(
    "matrix_multiply",
    {
        "lhs": tensor,
        "rhs": tensor,
        "op0": one_of("matrix_operation").with_default("kNONE"),
        "op1": one_of("matrix_operation").with_default("kNONE"),
    },
    results=("lhs",),
    shape=apply(rules.matrix_multiply, "lhs", "rhs", "op0", "op1"),
    translate=_matrix_multiply,
)


def _einsum_shape(given: Arguments) -> Sizes:
    return contracted_shape(given["equation"], *[value.shape for value in given["inputs"]])


def _einsum(at: "Emission", op: Any) -> Any:
    return at.add("einsum", [at.tensor(each) for each in op.inputs], op.value("equation"))


einsum = SingleResultLayer(
    "einsum",
    {"inputs": tensors, "equation": text},
    results=("inputs",),
    shape=_einsum_shape,
    translate=_einsum,
)

_CONVOLUTION = {
    "input": tensor,
    "weight": tensor,
    "bias": optional_tensor,
    "stride": optional_integers,
    "dilation": optional_integers,
    "num_groups": integer.with_default(1),
    "pre_padding": optional_integers,
    "post_padding": optional_integers,
}


def _explicit_windows(given: Arguments) -> Arguments:
    sizes = given["weight"].shape[2:]
    if not all(isinstance(size, int) for size in sizes):
        raise ValueError("TensorRT needs numbers for all sizes of a kernel")
    return asdict(windows.Windows.of(given, len(sizes)))


def _convolution_shape(given: Arguments) -> Sizes:
    kernel = given["weight"].shape
    steps = windows.Windows.of(given, len(kernel) - 2)
    return windows.convolution(given["input"].shape, kernel, steps)


def _convolution(at: "Emission", op: Any) -> Any:
    static = op.value("kernel_static"), op.value("bias_static")
    return _add_convolution(at, op, "convolution_nd", (op.kernel, op.bias), static)


def _add_convolution(
    at: "Emission", op: Any, method: str, inputs: tuple[Any, Any], static: tuple[Any, Any]
) -> Any:
    (kernel, bias), (kernel_static, bias_static) = inputs, static
    shape = (kernel.type if kernel_static is None else kernel_static.get_type()).get_shape()
    maps = op.result.type.get_shape()[1]
    nothing = at.library.module.Weights(at.dtype(op.input))
    weights = nothing if kernel_static is None else at.weights(kernel_static)
    layer = at.add(method, at.tensor(op.input), maps, shape[2:], weights, at.weights(bias_static))
    for index, value in ((1, kernel), (2, bias)):
        if value is not None:
            layer.set_input(index, at.tensor(value))
    return at.set(
        layer,
        stride_nd=op.value("stride"),
        pre_padding=op.value("pre_padding"),
        post_padding=op.value("post_padding"),
        dilation_nd=op.value("dilation"),
        num_groups=op.value("num_groups"),
    )


convolution = SingleResultLayer(
    "convolution",
    _CONVOLUTION,
    shape=_convolution_shape,
    explicit=_explicit_windows,
    typed=True,
    translate=_convolution,
)


def _deconvolution_shape(given: Arguments) -> Sizes:
    kernel = given["weight"].shape
    steps = windows.Windows.of(given, len(kernel) - 2)
    return windows.deconvolution(given["input"].shape, kernel, steps, given["num_groups"])


def _deconvolution(at: "Emission", op: Any) -> Any:
    static = op.value("kernel_weights_static"), op.value("bias_weights_static")
    return _add_convolution(
        at, op, "deconvolution_nd", (op.kernel_weights, op.bias_weights), static
    )


deconvolution = SingleResultLayer(
    "deconvolution",
    _CONVOLUTION,
    shape=_deconvolution_shape,
    explicit=_explicit_windows,
    typed=True,
    translate=_deconvolution,
)
