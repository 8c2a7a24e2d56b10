"""What the verifiers of operations say, in NVIDIA's words; and what they let pass."""

# ruff: noqa: E501  # a text and its message are one line each, as MLIR prints them

import pytest
from tensorrt_operations import messages, operation

IMAGE = "tensor<1x4x8x8xf32>"
KERNEL = "tensor<6x4x3x3xf32>"
ONES = "stride = array<i64: 1, 1>, pre_padding = array<i64: 1, 1>, post_padding = array<i64: 1, 1>"
POOL = "stride = array<i64: 2, 2>, prePadding = array<i64: 0, 0>, postPadding = array<i64: 0, 0>"
CONVOLVED = f"in(%x : {IMAGE}) kernel(%k : {KERNEL}) -> tensor<1x6x8x8xf32>"
STATIC = "kernelStatic = dense<0.0> : tensor<6x4x3x3xf32>"
PARTS = {"x": IMAGE, "k": KERNEL}
ROW, SQUARE = "tensor<4xf32>", "tensor<4x4xf32>"


def activation(kind, rest="", type_="tensor<2xf32>"):
    """An activation of a kind."""
    kind = f"activationType = #tensorrt.activation_type<{kind}>"
    return f"%0 = tensorrt.activation {{{kind}{rest}}} %x : {type_}", {"x": type_}


def unary(kind, element):
    """A unary function of a kind."""
    kind = f"unaryOperation = #tensorrt.unary_operation<{kind}>"
    return f"%0 = tensorrt.unary {{{kind}}} %x : tensor<2x{element}>", {"x": f"tensor<2x{element}>"}


def elements(kind, element, result, left="2", right="2"):
    """A binary function of a kind."""
    x, y = f"tensor<{left}x{element}>", f"tensor<{right}x{element}>"
    return (
        f"%0 = tensorrt.element_wise <{kind}>(%x, %y : {x}, {y}) -> tensor<{left}x{result}>",
        {"x": x, "y": y},
    )


def product(left, right, result, op0="kNONE", op1="kNONE"):
    """A product of matrices."""
    ops = f"op0 = #tensorrt.matrix_operation<{op0}>, op1 = #tensorrt.matrix_operation<{op1}>"
    left, right = f"tensor<{left}f32>", f"tensor<{right}f32>"
    return (
        f"%0 = tensorrt.matrix_multiply {{{ops}}} ins(%x, %y : {left}, {right}) -> tensor<{result}f32>",
        {"x": left, "y": right},
    )


def einsum(equation, *shapes, result=""):
    """A sum of products."""
    types = [f"tensor<{shape}f32>" for shape in shapes]
    names = dict(zip("xyz", types, strict=False))
    uses = ", ".join(f"%{name}" for name in names)
    listed = f"{uses} : {', '.join(types)}"
    return (
        f'%0 = tensorrt.einsum {{equation = "{equation}"}} ins({listed}) -> tensor<{result}f32>',
        names,
    )


def convolution(attributes=ONES, rest=CONVOLVED, **types):
    """A convolution."""
    return f"%0 = tensorrt.convolution {{{attributes}}} {rest}", types or PARTS


def deconvolution(attributes, rest, **types):
    """A deconvolution."""
    return f"%0 = tensorrt.deconvolution {{{attributes}}} {rest}", types


def pooling(
    kind,
    rest="",
    shape="1x4x8x8x",
    result="1x4x4x4x",
    window="windowSize = array<i64: 2, 2>",
    steps=POOL,
):
    """A pooling of a kind."""
    kind = f"poolingType = #tensorrt.pooling_type<{kind}>"
    text = f"%0 = tensorrt.pooling {{{kind}, {window}, {steps}{rest}}} ins(%x : tensor<{shape}f32>) -> tensor<{result}f32>"
    return text, {"x": f"tensor<{shape}f32>"}


def normalization(axis, scale, rest="", shape="2x4x8x8x"):
    """A normalization over dimensions."""
    x, s = f"tensor<{shape}f32>", f"tensor<{scale}f32>"
    text = f"%0 = tensorrt.normalization {{axis = array<i64{': ' if axis else ''}{axis}>{rest}}}(%x : {x}, %s : {s}, %s : {s}) -> {x}"
    return text, {"x": x, "s": s}


def top_k(axis, k, result, shape="4x5x"):
    """The first of a sorted dimension."""
    return (
        f"%0, %1 = tensorrt.top_k <kMAX> {{axis = {axis} : i64, k = {k} : i64}} %x : tensor<{shape}f32> -> tensor<{result}f32>, tensor<{result}i32>",
        {"x": f"tensor<{shape}f32>"},
    )


def quantize(scale, axis=None, result="i8", shape="4x8x"):
    """Few bits."""
    axis = "" if axis is None else f"{{axis = {axis} : i32}} "
    x, s = f"tensor<{shape}f32>", f"tensor<{scale}f32>"
    return (
        f"%0 = tensorrt.quantize {axis}in(%x : {x}) scale(%s : {s}) -> tensor<{shape}{result}>",
        {"x": x, "s": s},
    )


def dequantize(scale, axis=None, given="i8", shape="4x8x"):
    """Real numbers again."""
    axis = "" if axis is None else f"{{axis = {axis} : i32}} "
    x, s = f"tensor<{shape}{given}>", f"tensor<{scale}f32>"
    return f"%0 = tensorrt.dequantize {axis}in(%x : {x}) scale(%s : {s}) -> tensor<{shape}f32>", {
        "x": x,
        "s": s,
    }


def dynamic(shape, axis, scales, rest=""):
    """Few bits, with scales that are computed."""
    x = f"tensor<{shape}f32>"
    return (
        f"%0, %1 = tensorrt.dynamic_quantize {{axis = {axis} : i32{rest}}} in(%x : {x}) double_quant_scale(%s : tensor<f32>) -> tensor<{shape}f4E2M1FN>, tensor<{scales}f8E4M3FN>",
        {"x": x, "s": "tensor<f32>"},
    )


def fill(text, **types):
    """A tensor of a shape."""
    return f"%0 = tensorrt.{text}", types


WRONG = [
    (
        activation("kTANH", type_="tensor<2xi32>"),
        "int32 and int64 types are supported only for RELU activation.",
    ),
    (
        activation("kTANH", ", alpha = 1.0 : f32"),
        "expected no `alpha` attribute and expected no `beta` attribute for `activationType=kTANH",
    ),
    (
        activation("kELU"),
        "expected `alpha` attribute and expected no `beta` attribute for `activationType=kELU",
    ),
    (
        activation("kCLIP", ", alpha = 1.0 : f32"),
        "expected `alpha` attribute and expected `beta` attribute for `activationType=kCLIP",
    ),
    (unary("kNOT", "f32"), "expected element type to be one of the following: I1"),
    (
        unary("kABS", "i1"),
        "expected element type to be one of the following: I8, I32, I64, F16, F32, BF16",
    ),
    (unary("kACOS", "bf16"), "expected element type to be one of the following: F16, F32"),
    (unary("kEXP", "i32"), "expected element type to be one of the following: F16, F32, BF16"),
    (
        elements("kAND", "f32", "i1"),
        "ElementWiseOperation type kAND expected all input types to be i1 (bool)",
    ),
    (elements("kXOR", "i1", "f32"), "result element type expected to be i1 (bool)"),
    (
        elements("kEQUAL", "i1", "i1"),
        "ElementWiseOperation type kEQUAL does not support boolean input types",
    ),
    (elements("kLESS", "f32", "f32"), "result element type expected to be i1 (bool)"),
    (
        elements("kSUM", "i1", "i1"),
        "ElementWiseOperation type kSUM does not support boolean input types",
    ),
    (
        elements("kPOW", "i32", "i32"),
        "ElementWiseOperation type kPOW does not allow i32 or i1 (bool) input types",
    ),
    (
        elements("kPOW", "i1", "i1"),
        "ElementWiseOperation type kPOW does not allow i32 or i1 (bool) input types",
    ),
    (
        elements("kSUM", "f32", "f32", right="3"),
        "shapes are not broadcastable: 'tensor<2xf32>' vs 'tensor<3xf32>'",
    ),
    (product("4x", "4x4x", "4x"), "Input 0 has rank one. Expected TRT MatOp kVCETOR "),
    (product("4x4x", "4x", "4x"), "Input 1 has rank one. Expected TRT MatOp kVCETOR "),
    (product("", "4x4x", "4x"), "Input 0 is a scalar. Expected a matrix or a vector"),
    (
        product("2x3x4x4x", "?x4x", "4x4x", op1="kVECTOR"),
        "Input0 and Input1 number of collection dims doesn't match. Input0, MatrixOp: 0, Collection dims: 2, 3 ; Input1, MatrixOp: 2, Collection dims: -9223372036854775808",
    ),
    (
        product("2x4x4x", "3x4x4x", "2x4x4x"),
        'collection (batch) dimensions of "input0" and "input1" are not broadcastable',
    ),
    (
        product("4x5x", "4x6x", "4x6x"),
        "operand shapes do not have consistent sizes for the contraction dimension",
    ),
    (
        product("4x5x", "5x6x", "5x6x", op0="kTRANSPOSE"),
        "operand shapes do not have consistent sizes for the contraction dimension",
    ),
    (
        convolution(rest=f"in(%x : {IMAGE}) -> tensor<1x6x8x8xf32>"),
        "kernel operand or kernelStatic attribute must be specified",
    ),
    (
        convolution(f"{STATIC}, {ONES}"),
        "only one of kernel operand or kernelStatic attribute can be specified",
    ),
    (
        convolution(ONES.replace("stride = array<i64: 1, 1>", "stride = array<i64: 1>")),
        "stride/pre_padding/post_padding should have size equal to the number of spatial dimensions",
    ),
    (
        convolution(f"dilation = array<i64: 1, 1, 1>, {ONES}"),
        "dilation should have size equal to the number of spatial dimensions",
    ),
    (
        convolution(f"num_groups = 3 : ui32, {ONES}"),
        'both input channels and output channels must be divisible by "num_groups"',
    ),
    (
        convolution(f"num_groups = 0 : ui32, {ONES}"),
        'both input channels and output channels must be divisible by "num_groups"',
    ),
    (
        convolution(f"num_groups = 2 : ui32, {ONES}"),
        'for "num_groups" = 2 and input channels = 4, second (idx = 1) kernel dimension should be 2',
    ),
    (
        convolution(
            rest=f"in(%x : {IMAGE}) kernel(%k : {KERNEL}) bias(%b : tensor<4xf32>) -> tensor<1x6x8x8xf32>",
            b="tensor<4xf32>",
            **PARTS,
        ),
        "bias type should be a rank-1 tensor type with size equal to the number of channels (dim 1) of the result tensor type",
    ),
    (
        deconvolution(ONES, f"in(%x : {IMAGE}) -> {IMAGE}", x=IMAGE),
        "kernelWeights operand or kernelWeightsStatic attribute must be specified",
    ),
    (
        deconvolution(
            f"kernelWeightsStatic = dense<0.0> : tensor<4x4x3x3xf32>, {ONES}",
            f"in(%x : {IMAGE}) kernelWeights(%x : {IMAGE}) -> {IMAGE}",
            x=IMAGE,
        ),
        "only one of kernelWeights operand or kernelWeightsStatic attribute can be specified",
    ),
    (
        deconvolution(
            f"num_groups = 3 : ui32, {ONES}",
            f"in(%x : {IMAGE}) kernelWeights(%x : {IMAGE}) -> {IMAGE}",
            x=IMAGE,
        ),
        'input channels must be divisible by "num_groups"',
    ),
    (
        deconvolution(
            ONES,
            f"in(%x : {IMAGE}) kernelWeights(%k : tensor<4x6x3x3xf32>) biasWeights(%b : tensor<1x6xf32>) -> tensor<1x6x8x8xf32>",
            x=IMAGE,
            k="tensor<4x6x3x3xf32>",
            b="tensor<1x6xf32>",
        ),
        "bias type should be a rank-1 tensor type with size equal to the number of channels (dim 1) of the result tensor type",
    ),
    (
        (
            "%0 = tensorrt.reduce <kSUM> %x {reduceAxes = array<i64: 0, 2>} : tensor<4x4xf32> -> tensor<4xf32>",
            {"x": SQUARE},
        ),
        "expected each element of reduceAxes to be smaller than input type rank (2)",
    ),
    (
        (f"%0 = tensorrt.softmax {{axis = 1 : i64}} %x : {ROW}", {"x": ROW}),
        "expected axis to be non-negative and less than 1",
    ),
    (
        (f"%0 = tensorrt.softmax {{axis = -1 : i64}} %x : {ROW}", {"x": ROW}),
        "expected axis to be non-negative and less than 1",
    ),
    (top_k(2, 1, "4x1x"), '"axis" attribute is 2, but this is out of bounds for input of rank 2'),
    (top_k(-1, 1, "4x1x"), '"axis" attribute is -1, but this is out of bounds for input of rank 2'),
    (top_k(1, 2, "4x3x"), "expected result shapes dim 1 to equal 2"),
    (top_k(1, 2, "4x?x"), "expected result shapes dim 1 to equal 2"),
    (
        top_k(1, 6, "4x6x"),
        'expected K attribute value to be smaller than the dimension specified by "axis"',
    ),
    (
        pooling("kMAX", result="1x4x4x"),
        "input tensor type and result tensor type should have equal rank",
    ),
    (
        pooling("kMAX", shape="4x4x8x", result="4x4x8x"),
        "expected input tensor type to be rank 4 (2D pooling) or 5 (3D pooling)",
    ),
    (
        pooling("kMAX", ", blendFactor = 0.5 : f32"),
        'blendFactor is required when pooling type is "kMAX_AVERAGE_BLEND", otherwise it should not be present',
    ),
    (
        pooling("kMAX_AVERAGE_BLEND", ", averageCountExcludesPadding = true"),
        'blendFactor is required when pooling type is "kMAX_AVERAGE_BLEND", otherwise it should not be present',
    ),
    (
        pooling("kAVERAGE"),
        '"averageCountExcludesPadding" must be provided when pooling type is "kMAX_AVERAGE_BLEND" or "kMAX", otherwise it should not be provided',
    ),
    (
        pooling("kMAX", ", averageCountExcludesPadding = false"),
        '"averageCountExcludesPadding" must be provided when pooling type is "kMAX_AVERAGE_BLEND" or "kMAX", otherwise it should not be provided',
    ),
    (
        pooling("kMAX", steps=POOL.replace("2, 2", "2")),
        '"stride" array size should be equal to the size of the "windowSize" array',
    ),
    (
        pooling("kMAX", steps=POOL.replace("0, 0", "0")),
        '"prePadding" and "postPadding" array sizes should be equal to the size of the "windowSize" array',
    ),
    (
        normalization("4", "1x4x1x1x"),
        "`axis` value 4 is out of the bound for input tensor of rank 4",
    ),
    (normalization("", "1x4x1x1x"), "`axis` should contain at least one dimension"),
    (
        normalization("2, 3", "1x3x1x1x", ", num_groups = 3 : i32"),
        "It is an error to set `num_groups` to a value that does not evenly divide into the number of channels of the input tensor.",
    ),
    (
        normalization("1, 2, 3", "1x2x1x1x", ", num_groups = 2 : i32"),
        "If num_groups != 1, it is expected that axis array contains all dimensions after the channel dimension (which is 1).",
    ),
    (
        normalization("2, 3", "1x4x1x1x", ", num_groups = 2 : i32"),
        "If num_groups != 1, scale and bias shape is expected to be [1, num_groups, 1, 1, ... N] where N is rank of input tensor i.e. 4",
    ),
    (
        normalization("1, 2", "1x4x1x1x"),
        "If more than one axis is provided and scale/bias are in the form [1, C, 1, 1, .. N], this is the case for instance normalization. Array `axis` should contain all the axis after channel.",
    ),
    (
        normalization("0", "1x1x8x8x"),
        "In case of batch normalization (axis=0), scale and bias shape is expected to be [1, C, 1, 1, ..] where input is in the form [N, C, H, W, ...]",
    ),
    (
        fill("linspace [0.0] [static] [1.0] : tensor<2x2xf32>"),
        "dynamic `step` must be specified if the result is greater than rank 1",
    ),
    (
        fill(
            "linspace [%a : tensor<f32>] [static] [%b : tensor<3xf32>] : tensor<2x2xf32>",
            a="tensor<f32>",
            b="tensor<3xf32>",
        ),
        "dynamic `step` type dimension 0 length must be the same size as the rank of the result type",
    ),
    (
        fill(
            "linspace [%a : tensor<f32>] [static] [%b : tensor<1xi32>] : tensor<2xf32>",
            a="tensor<f32>",
            b="tensor<1xi32>",
        ),
        "`step` element type and result element type should be the same",
    ),
    (
        fill("linspace [0.0] [static] [%b : tensor<1xf32>] : tensor<2xf32>", b="tensor<1xf32>"),
        "`start` and `step` must either both be dynamic or both be static",
    ),
    (
        fill(
            "linspace [%a : tensor<i32>] [static] [%b : tensor<1xf32>] : tensor<2xf32>",
            a="tensor<i32>",
            b="tensor<1xf32>",
        ),
        "start and step tensor types must have the same element type",
    ),
    (
        fill("linspace [0.0] [static] [1.0] : tensor<?xf32>"),
        "If `result` has dynamic dims, `shape` tensor must be present",
    ),
    (
        fill("linspace [0.0] [%n : tensor<2xi32>] [1.0] : tensor<?xf32>", n="tensor<2xi32>"),
        "result 0 has type tensor<?xf32> but inferred tensor of shape <?x?>",
    ),
    (
        fill("random_uniform low(%a : tensor<f32>) -> tensor<2xf32>", a="tensor<f32>"),
        "`low` and `high` must either both be dynamic or both be static",
    ),
    (
        fill(
            "random_uniform low(%a : tensor<f32>) high(%b : tensor<f16>) -> tensor<2xf32>",
            a="tensor<f32>",
            b="tensor<f16>",
        ),
        "`low` and `high` tensor types must have the same element type",
    ),
    (
        fill(
            "random_uniform low(%a : tensor<f32>) high(%a : tensor<f32>) -> tensor<2xf16>",
            a="tensor<f32>",
        ),
        "`low`, `high` and `result` element type should be the same",
    ),
    (
        fill("random_uniform -> tensor<?xf16>"),
        "If `result` has dynamic dims, `shape` tensor must be present",
    ),
    (
        fill("random_normal std(%a : tensor<f32>) -> tensor<2xf32>", a="tensor<f32>"),
        "`mean` and `std` must either both be dynamic or both be static",
    ),
    (
        fill(
            "random_normal mean(%a : tensor<f32>) std(%a : tensor<f32>) -> tensor<2xf16>",
            a="tensor<f32>",
        ),
        "`mean`, `std` and `result` element type should be the same",
    ),
    (quantize("8x", axis=2), "expected axis to be non-negative and less than 2"),
    (quantize("8x", axis=-1), "expected axis to be non-negative and less than 2"),
    (
        quantize("2x8x", shape="2x4x8x"),
        "Scale value must be scalar for per-tensor quantization, 1D for per-channel quantization, and same rank as the input for block quantization.",
    ),
    (
        dequantize("2x8x", shape="2x4x8x"),
        "Scale value must be scalar for per-tensor dequantization, 1D for per-channel dequantization, and same rank as the input for block dequantization.",
    ),
    (
        quantize("", axis=1),
        "When scale value is scalar, quantization is per-tensor and thus axis value shouldn't be provided.",
    ),
    (
        dequantize("", axis=1),
        "When scale value is scalar, dequantization is per-tensor and thus axis value shouldn't be provided.",
    ),
    (
        quantize("8x"),
        "When scale is 1D tensor, quantization is per-channel and thus axis value must be provided.",
    ),
    (
        dequantize("8x"),
        "When scale is 1D tensor, dequantization is per-channel and thus axis value must be provided.",
    ),
    (
        quantize("8x", axis=0),
        "For per-channel quantization, expected the scales tensor dimension to match the quantization axis dimension of input tensor",
    ),
    (
        dequantize("8x", axis=0),
        "For per-channel dequantization, expected the scales tensor dim to match the dequantization axis dimension of input tensor",
    ),
    (
        quantize("2x8x", axis=0, result="i4"),
        "Scale has same rank as that of input, thus this is block quantization. Axis is not valid in this case.",
    ),
    (
        dequantize("2x8x", axis=0, given="i4"),
        "Scale has same rank as that of input, thus this is block dequantization. Axis is not valid in this case.",
    ),
    (
        quantize("2x8x"),
        "Block quantization is supported only for int4, fp4 or fp8 output types.",
    ),
    (
        dequantize("2x8x"),
        "Block dequantization is supported only for int4, fp4 or fp8 input types.",
    ),
    (
        quantize("1x4x8x", result="i4", shape="2x4x8x"),
        "For block quantization, blocking dimension should be either last or second last.",
    ),
    (
        dequantize("1x4x8x", given="i4", shape="2x4x8x"),
        "For block dequantization, blocking dimension should be either last or second last.",
    ),
    (
        quantize("2x4x", result="i4"),
        "For block quantization, all input and scale dimensions match except a single blocking dimension : 0",
    ),
    (
        dequantize("3x2x4x", given="f4E2M1FN", shape="3x4x8x"),
        "For block dequantization, all input and scale dimensions match except a single blocking dimension : 1",
    ),
    (
        quantize("3x8x", result="i4"),
        "block quantization needs blocks of one size, but 4 is not a multiple of 3",
    ),
    (
        dynamic("4x32x", 1, "4x2x", ", block_size = 32 : i32"),
        "currently only block size of 16 is supported!",
    ),
    (
        dynamic("32x4x32x", 0, "2x4x32x"),
        "invalid axis! Axis can be either last or second last dimension of the input.",
    ),
    (dynamic("4x24x", 1, "4x1x"), "shape(input)[axis] must be divisible by 16."),
]


@pytest.mark.parametrize(
    ("line", "message"), WRONG, ids=lambda part: part[:60] if isinstance(part, str) else None
)
def test_what_verifiers_refuse(line, message):
    """The first message, and no other."""
    text, types = line
    name = operation(text, **types).name
    assert messages(text, **types) == [f"'{name}' op {message}"]


INFERENCE = [
    (einsum("", "4x"), "einsum equation string is empty"),
    (
        einsum("I->I", "4x", result="4x"),
        "einsum equation syntax is invalid. TensorRT only supports ASCII lower-case letters with no ellipses.",
    ),
    (
        einsum("...i", "4x", result="4x"),
        "einsum equation syntax is invalid. TensorRT only supports ASCII lower-case letters with no ellipses.",
    ),
    (einsum("i,i,i", "4x", "4x", "4x"), "einsum op may only have 1 or 2 inputs"),
    (
        einsum("i", "4x", "4x"),
        "each tensor input should have a subscript. Received 2 tensor operands and 1 input subscripts",
    ),
    (
        einsum("ij,j", "4x", "4x"),
        "each tensor dimension must have a label. Tensor input 0 has rank of 1 but subscript size is 2",
    ),
    (einsum("i,i", "4x", "5x"), "label `i` is repeated between inputs but dimensions are not same"),
    (
        einsum("i->k", "4x", result="4x"),
        "output label `k` does not appear in the input subscript string",
    ),
    (einsum("i->ii", "4x", result="4x4x"), "label `i` is repeated in the output substring"),
    (
        (
            "%0 = tensorrt.ragged_softmax ins(%x, %n : tensor<4x4xf32>, tensor<4x1xi32>) -> tensor<4x4xf32>",
            {"x": SQUARE, "n": "tensor<4x1xi32>"},
        ),
        "expected input and bounds to be of rank 3",
    ),
    (
        (
            "%0 = tensorrt.select ins(%c, %x, %y : tensor<3xi1>, tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>",
            {"c": "tensor<3xi1>", "x": ROW, "y": "tensor<1xf32>"},
        ),
        "failed to determine expected shape",
    ),
    (
        pooling(
            "kMAX",
            window="windowSize = array<i64: 2>",
            steps=POOL.replace("2, 2", "2").replace("0, 0", "0"),
        ),
        '"windowSize", "stride" ,"prePadding", and "postPadding", should have size equal to number of spatial dimensions.',
    ),
    (
        pooling("kMAX", steps=POOL.replace("2, 2", "0, 2")),
        "failed to compute output shape of pooling operation",
    ),
    (
        convolution(
            rest="in(%x : tensor<1x4x8xf32>) kernel(%k : tensor<6x4x3x3xf32>) -> tensor<1x6x8x8xf32>",
            x="tensor<1x4x8xf32>",
            k=KERNEL,
        ),
        "failed to create input shape components. Input must be 4D or 5D",
    ),
    (
        convolution(
            rest=f"in(%x : {IMAGE}) kernel(%k : tensor<6x4x3xf32>) -> tensor<1x6x8x8xf32>",
            x=IMAGE,
            k="tensor<6x4x3xf32>",
        ),
        "failed to create kernel shape components. Kernel must be 4D or 5D",
    ),
    (
        convolution(
            rest=f"in(%x : {IMAGE}) kernel(%k : tensor<6x4x30x3xf32>) -> tensor<1x6x8x8xf32>",
            x=IMAGE,
            k="tensor<6x4x30x3xf32>",
        ),
        "failed to compute output shape of convolution operation",
    ),
]


@pytest.mark.parametrize(
    ("line", "message"), INFERENCE, ids=lambda part: part[:60] if isinstance(part, str) else None
)
def test_what_inference_refuses(line, message):
    """Its message is bare, and the operation says that it has no types."""
    text, types = line
    name = operation(text, **types).name
    assert messages(text, **types) == [message, f"'{name}' op failed to infer returned types"]


def test_the_shape_of_a_fill_is_a_list_of_a_known_length():
    """A failed inference of a part of the types says so alone."""
    text, types = fill(
        "random_normal shape(%n : tensor<?xi32>) -> tensor<?xf32>", n="tensor<?xi32>"
    )
    assert messages(text, **types) == ["shape input should be rank 1 with static dim size"]


RIGHT = [
    activation("kRELU", type_="tensor<2xi64>"),
    activation("kGELU_TANH"),
    activation("kLEAKY_RELU", ", alpha = 0.1 : f32"),
    activation("kSOFTPLUS", ", alpha = 1.0 : f32, beta = 1.0 : f32"),
    unary("kNOT", "i1"),
    unary("kSIGN", "i64"),
    unary("kROUND", "bf16"),
    elements("kMIN", "!quant.uniform<i8:f32, 1.0>", "!quant.uniform<i8:f32, 1.0>"),
    elements("kPOW", "i64", "i64"),
    elements("kSUM", "f32", "f32", left="?", right="3"),
    product("5x1x4x", "?x4x6x", "5x1x6x"),
    product("5x4x", "5x4x", "5x", op0="kVECTOR", op1="kVECTOR"),
    product("4x", "4x", "", op0="kVECTOR", op1="kVECTOR"),
    product("4x5x", "6x4x", "5x6x", op0="kTRANSPOSE", op1="kTRANSPOSE"),
    einsum("bij,bjk->bik", "2x3x4x", "2x4x5x", result="2x3x5x"),
    einsum("bij,bjk", "2x3x4x", "1x4x5x", result="3x5x"),
    einsum(" i j - > j i ", "?x4x", result="4x?x"),
    einsum("ij->", "3x4x"),
    einsum("ik,kj->ij", "1x1x", "4x5x", result="1x5x"),
    convolution(
        f"num_groups = 2 : ui32, {ONES}",
        "in(%x : tensor<1x?x8x8xf32>) kernel(%k : tensor<6x4x3x3xf32>) -> tensor<1x6x8x8xf32>",
        x="tensor<1x?x8x8xf32>",
        k=KERNEL,
    ),
    convolution(
        rest=f"in(%x : {IMAGE}) kernel(%k : {KERNEL}) bias(%b : tensor<?xf32>) -> tensor<1x6x8x8xf32>",
        b="tensor<?xf32>",
        **PARTS,
    ),
    deconvolution(
        ONES,
        "in(%x : tensor<1x4x?x8xf32>) kernelWeights(%k : tensor<4x6x3x3xf32>) biasWeights(%b : tensor<6xf32>) -> tensor<1x6x?x8xf32>",
        x="tensor<1x4x?x8xf32>",
        k="tensor<4x6x3x3xf32>",
        b="tensor<6xf32>",
    ),
    top_k(1, 5, "4x5x"),
    top_k(0, 5, "5x5x", shape="?x5x"),
    pooling("kAVERAGE", ", averageCountExcludesPadding = true"),
    pooling("kMAX", shape="1x4x?x8x", result="1x4x?x4x"),
    normalization("2, 3", "1x4x1x1x"),
    normalization("1, 2, 3", "1x1x1x1x", shape="2x1x8x8x"),
    normalization("1, 2, 3", "1x4x8x8x"),
    normalization("0", "1x4x1x1x"),
    normalization("0", "1x1x1x1x", shape="2x1x8x8x"),
    normalization("0", "1x?x1x1x"),
    normalization("3", "1x1x1x8x"),
    normalization("2, 3", "1x2x1x1x", ", num_groups = 2 : i32", shape="2x?x8x8x"),
    quantize(""),
    quantize("?x", axis=1),
    quantize("2x8x", result="i4"),
    quantize("4x2x", result="f8E4M3FN"),
    quantize("3x2x8x", result="i4", shape="3x4x8x"),
    quantize("", result="!quant.uniform<i8:f32, 1.0>"),
    dequantize("4x", axis=0, given="f8E4M3FN", shape="4x7x"),
    dequantize("4x2x", given="f4E2M1FN"),
    dequantize("", given="i4", shape="4x7x"),
    quantize("8x", axis=0, shape="8x"),
    quantize("4x8x", result="i4", shape="?x8x"),
    dynamic("4x32x", 1, "4x2x", ", block_size = 16 : i32"),
    dynamic("32x5x", 0, "2x5x"),
    dynamic("4x?x", 1, "4x?x"),
    dynamic("32x", 0, "2x"),
]


@pytest.mark.parametrize("line", RIGHT, ids=lambda line: line[0][15:75])
def test_what_verifiers_let_pass(line):
    """Nothing is wrong with these."""
    text, types = line
    assert messages(text, **types) == []
