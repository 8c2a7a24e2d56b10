"""Compute layers: arithmetic, products, reductions, quantization, and sources."""

from tripybuild.tensorrt.recorder.argument_kinds import (
    boolean,
    dtype,
    integer,
    integers,
    literal,
    numbers,
    one_of,
    optional_integers,
    optional_tensor,
    real,
    reduction,
    scalar,
    sizes,
    tensor,
    tensors,
    text,
)
from tripybuild.tensorrt.recorder.table import layer
from tripybuild.types.dtypes import float8

_convolution = {
    "input": tensor,
    "weight": tensor,
    "bias": optional_tensor,
    "stride": optional_integers,
    "dilation": optional_integers,
    "num_groups": integer.with_default(1),
    "pre_padding": optional_integers,
    "post_padding": optional_integers,
}
ARITHMETIC = (
    layer(
        "activation",
        input=tensor,
        kind=one_of("activation_type"),
        alpha=real.with_default(None),
        beta=real.with_default(None),
    ),
    layer("unary", input=tensor, kind=one_of("unary_operation")),
    layer("element_wise", "lhs", lhs=tensor, rhs=tensor, kind=one_of("element_wise_operation")),
    layer("select", "then_input", condition=tensor, then_input=tensor, else_input=tensor),
    layer("cast", "dtype", input=tensor, dtype=dtype),
    layer("identity", input=tensor),
    layer("parametric_relu", input=tensor, slope=tensor),
    layer(
        "scale",
        input=tensor,
        mode=one_of("scale_mode"),
        shift=optional_tensor,
        scale=optional_tensor,
        power=optional_tensor,
        axis=integer.with_default(1),
    ),
)

LINEAR = (
    layer(
        "matrix_multiply",
        "lhs",
        lhs=tensor,
        rhs=tensor,
        op0=one_of("matrix_operation").with_default("kNONE"),
        op1=one_of("matrix_operation").with_default("kNONE"),
    ),
    layer("einsum", "inputs", inputs=tensors, equation=text),
    layer("convolution", "input", **_convolution),
    layer("deconvolution", "input", **_convolution),
)

REDUCTIONS = (
    layer(
        "reduce",
        input=tensor,
        axes=integers,
        kind=reduction,
        keep_dimensions=boolean.with_default(False),
    ),
    layer("softmax", input=tensor, axis=integer),
    layer("ragged_softmax", input=tensor, bounds=tensor),
    layer(
        "cumulative",
        input=tensor,
        axis=integer,
        kind=one_of("cumulative_operation").with_default("kSUM"),
        exclusive=boolean.with_default(False),
        reverse=boolean.with_default(False),
    ),
    layer(
        "top_k",
        "input int32",
        input=tensor,
        k=integer,
        axis=integer,
        kind=one_of("top_k_operation"),
    ),
    layer("argmin", "input int32", input=tensor, axis=integer),
    layer("argmax", "input int32", input=tensor, axis=integer),
    layer(
        "pooling",
        input=tensor,
        kind=one_of("pooling_type"),
        window=integers,
        stride=optional_integers,
        pre_padding=optional_integers,
        post_padding=optional_integers,
        average_count_excludes_padding=boolean.with_default(None),
        blend_factor=real.with_default(None),
    ),
    layer("lrn", input=tensor, window=integer, alpha=real, beta=real, k=real),
    layer(
        "normalization",
        input=tensor,
        scale=tensor,
        bias=tensor,
        axes=integers,
        epsilon=real.with_default(1e-5),
        num_groups=integer.with_default(1),
    ),
)

SOURCES = (
    layer("constant", "dtype", value=literal, dtype=dtype, shape=sizes.with_default(None)),
    layer("linspace", "start", shape=sizes, start=scalar, step=numbers),
    layer("random_uniform", "dtype", shape=sizes, low=scalar, high=scalar, dtype=dtype),
    layer("random_normal", "dtype", shape=sizes, mean=scalar, deviation=scalar, dtype=dtype),
)

QUANTIZATION = (
    layer(
        "quantize",
        "dtype",
        input=tensor,
        scale=tensor,
        dtype=dtype,
        axis=integer.with_default(None),
    ),
    layer(
        "dequantize",
        "dtype",
        input=tensor,
        scale=tensor,
        dtype=dtype,
        axis=integer.with_default(None),
    ),
    layer(
        "dynamic_quantize",
        "dtype scale_dtype",
        input=tensor,
        double_quant_scale=optional_tensor,
        dtype=dtype,
        axis=integer,
        block_size=integer.with_default(16),
        scale_dtype=dtype.with_default(float8),
    ),
)
