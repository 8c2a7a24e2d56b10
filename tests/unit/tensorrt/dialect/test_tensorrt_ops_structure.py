"""Operations on shapes, indices and pieces: their text, what is wrong, what is inferred."""

import pytest
from tensorrt_operations import values
from tensorrt_text import messages, printed
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from tripybuild.tensorrt import dialect
from tripybuild.tensorrt.dialect import ShapeProfileAttr
from tripybuild.tensorrt.mlir import verifier
from tripybuild.tensorrt.mlir.writing import printer

X = "tensor<2x3xf32>"
IMAGE = "tensor<1x3x8x9xf32>"
RESIZE = (
    "coordinateTransformation = #tensorrt.resize_coordinate_transformation<kHALF_PIXEL>,{}"
    " selectorForSinglePixel = #tensorrt.resize_selector<kFORMULA>"
)


def resize(kind, more="", rest="", types=f"({IMAGE}) -> {IMAGE}"):
    """The line of a resize."""
    attributes = {"linear": "", "cubic": "", "nearest": ""}
    assert kind in attributes
    middle = {
        "nearest": " nearestRounding = #tensorrt.resize_round_mode<kFLOOR>," + more,
        "linear": more,
    }
    if kind == "cubic":
        head = RESIZE.format(" cubicCoeff = -7.500000e-01 : f32," + more)
    else:
        head = RESIZE.format(middle[kind])
    return f"%0 = tensorrt.resize_{kind} {{{head}}} %x{rest} : {types}"


SHUFFLE = (
    "%0 = tensorrt.shuffle {{first_transpose = array<i64{first}>{reshape}, second_transpose ="
    " array<i64{second}>{zero}}} ins({operands}) -> {result}"
)


def shuffle(result, first=(0, 1), second=(0, 1), reshape=None, zero=None, operands=f"%x : {X}"):
    """The line of a shuffle."""

    def numbers(given):
        return ": " + ", ".join(map(str, given)) if given else ""

    return SHUFFLE.format(
        first=numbers(first),
        second=numbers(second),
        reshape="" if reshape is None else f", reshape = array<i64{numbers(reshape)}>",
        zero="" if zero is None else f", zero_is_placeholder = {str(zero).lower()}",
        operands=operands,
        result=result,
    )


LINES = {
    "shape": (
        "%0 = tensorrt.shape %x : tensor<2x?xf32> -> tensor<2xi32>",
        {"x": "tensor<2x?xf32>"},
    ),
    "shape of a scalar": (
        "%0 = tensorrt.shape %x : tensor<i1> -> tensor<0xi32>",
        {"x": "tensor<i1>"},
    ),
    "transpose": (
        (
            "%0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %x"
            " : tensor<2x?xi4> to tensor<?x2xi4>"
        ),
        {"x": "tensor<2x?xi4>"},
    ),
    "shuffle": (shuffle("tensor<3x2xf32>", (1, 0)), {"x": X}),
    "shuffle to less": (shuffle("tensor<6xf32>", second=(0,), reshape=(-1,)), {"x": X}),
    "shuffle with zeros": (
        shuffle(
            "tensor<2x0xf32>",
            second=(0, 1),
            reshape=(2, 0),
            zero=False,
            operands="%x : tensor<0x5xf32>",
        ),
        {"x": "tensor<0x5xf32>"},
    ),
    "shuffle to sizes": (
        shuffle("tensor<?x?xf32>", operands=f"%x, %s : {X}, tensor<2xi32>"),
        {"x": X, "s": "tensor<2xi32>"},
    ),
    "shuffle a scalar": (
        shuffle("tensor<1xf32>", (), (0,), (1,), operands="%x : tensor<f32>"),
        {"x": "tensor<f32>"},
    ),
    "reshape": (f"%0 = tensorrt.reshape %x : {X} to tensor<6xf32>", {"x": X}),
    "reshape to sizes": (
        "%0 = tensorrt.reshape %x shape(%s: tensor<2xi32>) : tensor<?xf32> to tensor<?x?xf32>",
        {"x": "tensor<?xf32>", "s": "tensor<2xi32>"},
    ),
    "expand_rank": (f"%0 = tensorrt.expand_rank %x : {X} to tensor<1x2x1x3x1xf32>", {"x": X}),
    "expand_rank of what is not known": (
        "%0 = tensorrt.expand_rank %x : tensor<?x?xf32> to tensor<1x?x?xf32>",
        {"x": "tensor<?x?xf32>"},
    ),
    "collapse_rank": (
        f"%0 = tensorrt.collapse_rank %x : tensor<1x2x3x1xf32> to {X}",
        {"x": "tensor<1x2x3x1xf32>"},
    ),
    "collapse_rank to a scalar": (
        "%0 = tensorrt.collapse_rank %x : tensor<1x1xf32> to tensor<f32>",
        {"x": "tensor<1x1xf32>"},
    ),
    "collapse_rank of what is not known": (
        "%0 = tensorrt.collapse_rank %x : tensor<1x?xf32> to tensor<?xf32>",
        {"x": "tensor<1x?xf32>"},
    ),
    "broadcast": (
        f"%0 = tensorrt.broadcast %x broadcast_dims<2, 0> : {X} to tensor<3x4x2xf32>",
        {"x": X},
    ),
    "broadcast of a scalar": (
        "%0 = tensorrt.broadcast %x broadcast_dims<> : tensor<f32> to tensor<4xf32>",
        {"x": "tensor<f32>"},
    ),
    "broadcast to sizes": (
        (
            "%0 = tensorrt.broadcast %x broadcast_dims<0> shape(%s : tensor<2xi32>)"
            " : tensor<1xf32> to tensor<?x4xf32>"
        ),
        {"x": "tensor<1xf32>", "s": "tensor<2xi32>"},
    ),
    "concatenation": (
        (
            f"%0 = tensorrt.concatenation {{axis = 0 : i32}} ins(%x, %y : {X}, tensor<?x3xf32>)"
            " -> tensor<?x3xf32>"
        ),
        {"x": X, "y": "tensor<?x3xf32>"},
    ),
    "slice": (f"%0 = tensorrt.slice %x[0, 1][2, 2][1, -1] : {X} to tensor<2x2xf32>", {"x": X}),
    "slice of a scalar": (
        "%0 = tensorrt.slice %x[][][] : tensor<f32> to tensor<f32>",
        {"x": "tensor<f32>"},
    ),
    "slice by tensors": (
        (
            "%0 = tensorrt.slice %x[%s: tensor<2xi32>][%s: tensor<2xi32>][1, 1]"
            " fill(%v : tensor<f32>) {mode = #tensorrt.slice_mode<kFILL>}"
            f" : {X} to tensor<?x4xf32>"
        ),
        {"x": X, "s": "tensor<2xi32>", "v": "tensor<f32>"},
    ),
    "padding": (
        (
            "%0 = tensorrt.padding {postPadding = array<i64: 2, -4>,"
            " prePadding = array<i64: 3, -2>}"
            f" ins(%x : {IMAGE}) -> tensor<1x3x13x3xf32>"
        ),
        {"x": IMAGE},
    ),
    "gather": (
        (
            "%0 = tensorrt.gather {axis = 1 : i64}"
            f" ins(%x, %i : {X}, tensor<4x?xi64>) -> tensor<2x4x?xf32>"
        ),
        {"x": X, "i": "tensor<4x?xi64>"},
    ),
    "gather in a batch": (
        (
            "%0 = tensorrt.gather {axis = 1 : i64, numBroadcastDims = 1 : i64}"
            f" ins(%x, %i : {X}, tensor<1x4xi32>) -> tensor<2x4xf32>"
        ),
        {"x": X, "i": "tensor<1x4xi32>"},
    ),
    "gather_nd": (
        f"%0 = tensorrt.gather_nd data(%x) indices(%i) : ({X}, tensor<5x1xi32>) -> tensor<5x3xf32>",
        {"x": X, "i": "tensor<5x1xi32>"},
    ),
    "gather_elements": (
        (
            "%0 = tensorrt.gather_elements {axis = 0 : i64}"
            f" ins(%x, %i : {X}, tensor<4x3xi32>) -> tensor<4x3xf32>"
        ),
        {"x": X, "i": "tensor<4x3xi32>"},
    ),
    "scatter_nd": (
        (
            f"%0 = tensorrt.scatter_nd data(%x : {X}) indices(%i : tensor<5x1xi32>)"
            " updates(%u : tensor<5x3xf32>)"
        ),
        {"x": X, "i": "tensor<5x1xi32>", "u": "tensor<5x3xf32>"},
    ),
    "scatter_elements": (
        (
            f"%0 = tensorrt.scatter_elements {{axis = 1 : i64}} data(%x : {X})"
            " indices(%i : tensor<1x3xi64>) updates(%u : tensor<1x3xf32>)"
        ),
        {"x": X, "i": "tensor<1x3xi64>", "u": "tensor<1x3xf32>"},
    ),
    "one_hot": (
        (
            "%0 = tensorrt.one_hot {axis = -1 : si64}"
            " ins(%i, %v, %d : tensor<2x?xi32>, tensor<2xf16>, tensor<i32>) -> tensor<2x?x?xf16>"
        ),
        {"i": "tensor<2x?xi32>", "v": "tensor<2xf16>", "d": "tensor<i32>"},
    ),
    "non_zero": (f"%0 = tensorrt.non_zero %x : {X} -> tensor<2x?xi32>", {"x": X}),
    "resize_linear": (
        resize(
            "linear",
            " scales = array<f32: 1.000000e+00, 1.000000e+00, 2.000000e+00, 5.000000e-01>,",
            types=f"({IMAGE}) -> tensor<1x3x16x4xf32>",
        ),
        {"x": IMAGE},
    ),
    "resize_nearest": (
        resize("nearest", rest=", %s", types=f"({IMAGE}, tensor<4xi32>) -> tensor<1x3x?x?xf32>"),
        {"x": IMAGE, "s": "tensor<4xi32>"},
    ),
    "resize_cubic": (resize("cubic", types=f"({IMAGE}) -> tensor<1x3x4x4xf32>"), {"x": IMAGE}),
}


@pytest.mark.parametrize("name", LINES)
def test_what_is_read_is_printed(name):
    """Character for character, and nothing is wrong with it."""
    line, types = LINES[name]
    assert printed(line, **types) == line.replace("affine_map<(d0, d1) -> (d1, d0)>", "#map")


def test_no_operation_of_these_modules_was_forgotten():
    """Each has a line."""
    modules = ("shapes", "reshapes", "indexing", "slicing", "images")
    ours = {op.name for op in dialect.OPERATIONS if op.__module__.rpartition(".")[2] in modules}
    assert ours == {line.split()[2].split("[")[0] for line, _ in LINES.values()}


def inferred(name, found, given):
    """The two messages of a wrong result."""
    return [
        (
            f"'tensorrt.{name}' op inferred type(s) '{found}' are incompatible"
            " with return type(s) of"
            f" operation '{given}'"
        ),
        f"'tensorrt.{name}' op failed to infer returned types",
    ]


def failed(name, message):
    """The two messages of an inference that fails."""
    return [message, f"'tensorrt.{name}' op failed to infer returned types"]


WRONG = [
    (
        "%0 = tensorrt.shape %x : tensor<2x3xf32> -> tensor<3xi32>",
        {"x": X},
        inferred("shape", "tensor<2xi32>", "tensor<3xi32>"),
    ),
    (
        "%0 = tensorrt.shape %x : tensor<2x3xf32> -> tensor<2xi64>",
        {"x": X},
        "result #0 must be 1D tensor of 32-bit signless integer values, but got 'tensor<2xi64>'",
    ),
    (
        (
            "%0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d0, d0)>} %x"
            " : tensor<2x3xf32> to tensor<2x3xf32>"
        ),
        {"x": X},
        'expected "permutation" to be a permutation of rank 2',
    ),
    (
        (
            "%0 = tensorrt.transpose {permutation = affine_map<(d0) -> (d0)>} %x :"
            " tensor<2x3xf32> to tensor<2x3xf32>"
        ),
        {"x": X},
        'expected "permutation" to be a permutation of rank 2',
    ),
    (
        (
            "%0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %x"
            " : tensor<2x3xf32> to tensor<2x3xf32>"
        ),
        {"x": X},
        inferred("transpose", "tensor<3x2xf32>", "tensor<2x3xf32>"),
    ),
    (
        shuffle("tensor<3x2xf32>", (0, 0)),
        {"x": X},
        ["first transpose array is not a permutation of input rank 2"],
    ),
    (
        shuffle("tensor<3x2xf32>", (0,)),
        {"x": X},
        ["first transpose array is not a permutation of input rank 2"],
    ),
    (
        shuffle("tensor<6xf32>", reshape=(6,)),
        {"x": X},
        ["second transpose array is not a permutation of reshaped rank 1"],
    ),
    (
        shuffle("tensor<?x?xf32>", reshape=(-1, -1)),
        {"x": X},
        ["invalid reshape specification - at most one '-1' is allowed"],
    ),
    (
        shuffle("tensor<?x?xf32>", reshape=(0, -1), zero=False),
        {"x": X},
        [
            (
                "invalid reshape specification - 0 and -1 cannot be used when not in"
                ' "zero is placeholder" mode'
            )
        ],
    ),
    (
        shuffle("tensor<2x3x1xf32>", second=(0, 1, 2), reshape=(0, 0, 0)),
        {"x": X},
        [
            (
                "invalid reshape specification - 0 placeholder maps to out-of-bounds"
                " index of input shape"
            )
        ],
    ),
    (shuffle("tensor<2x3xf32>", reshape=(2, -2)), {"x": X}, ["invalid shape value"]),
    (
        shuffle("tensor<2x4xf32>", reshape=(2, 4)),
        {"x": X},
        "operand and output tensor types should have same number of elements",
    ),
    (
        shuffle("tensor<2x2xf32>", reshape=(0, -1)),
        {"x": X},
        "result 0 has type tensor<2x2xf32> but inferred tensor of shape <2x3>",
    ),
    (
        f"%0 = tensorrt.reshape %x : {X} to tensor<5xf32>",
        {"x": X},
        "input and result tensor types should have the same number of elements",
    ),
    (
        f"%0 = tensorrt.reshape %x : {X} to tensor<6xf16>",
        {"x": X},
        "failed to verify that all of {input, result} have same element type",
    ),
    (
        f"%0 = tensorrt.reshape %x : {X} to tensor<?x?xf32>",
        {"x": X},
        "result type may have at most one dynamic dimension if the 'shape' operand is not provided",
    ),
    (
        f"%0 = tensorrt.reshape %x shape(%s: tensor<?xi32>) : {X} to tensor<?x?xf32>",
        {"x": X, "s": "tensor<?xi32>"},
        "dynamic reshape must be a 1D tensor of known shape",
    ),
    (
        f"%0 = tensorrt.reshape %x shape(%s: tensor<3xi32>) : {X} to tensor<?x?xf32>",
        {"x": X, "s": "tensor<3xi32>"},
        "reshape tensor size (3) does not match result type rank (2)",
    ),
    (
        f"%0 = tensorrt.expand_rank %x : {X} to tensor<6xf32>",
        {"x": X},
        "result rank should be greater than or equal to input rank",
    ),
    (
        f"%0 = tensorrt.expand_rank %x : {X} to tensor<1x3x2xf32>",
        {"x": X},
        "the reshape is not a valid rank expansion produced from inserting 1's",
    ),
    (
        "%0 = tensorrt.expand_rank %x : tensor<6xf32> to tensor<2x3xf32>",
        {"x": "tensor<6xf32>"},
        "the reshape is not a valid rank expansion produced from inserting 1's",
    ),
    (
        f"%0 = tensorrt.expand_rank %x : {X} to tensor<1x2x3xf16>",
        {"x": X},
        "requires the same element type for all operands and results",
    ),
    (
        f"%0 = tensorrt.collapse_rank %x : {X} to tensor<1x2x3xf32>",
        {"x": X},
        "input type rank should be greater than or equal to result type rank",
    ),
    (
        "%0 = tensorrt.collapse_rank %x : tensor<1x2x3xf32> to tensor<3x2xf32>",
        {"x": "tensor<1x2x3xf32>"},
        "failed to compute a reassociation map from input to output type",
    ),
    (
        "%0 = tensorrt.collapse_rank %x : tensor<2x3xf32> to tensor<6xf32>",
        {"x": X},
        "expected to only drop unit-dims from the shape",
    ),
    (
        f"%0 = tensorrt.broadcast %x broadcast_dims<0> : {X} to tensor<2x3xf32>",
        {"x": X},
        'expected "broadcast_dims" size to equal input type rank (2)',
    ),
    (
        f"%0 = tensorrt.broadcast %x broadcast_dims<0, 2> : {X} to tensor<2x3xf32>",
        {"x": X},
        'all "broadcast_dims" values must be in the range [0,2)',
    ),
    (
        f"%0 = tensorrt.broadcast %x broadcast_dims<1, 1> : {X} to tensor<2x3xf32>",
        {"x": X},
        '"broadcast_dims" contains duplicate values',
    ),
    (
        f"%0 = tensorrt.broadcast %x broadcast_dims<0, 1> : {X} to tensor<2x?xf32>",
        {"x": X},
        "if the result type has unknown dimensions, a shape operand must be provided",
    ),
    (
        f"%0 = tensorrt.broadcast %x broadcast_dims<0, 1> : {X} to tensor<2x6xf32>",
        {"x": X},
        "expected input shape dimension 1 (3) to be broadcastable to result type dimension 1 (6)",
    ),
    (
        (
            "%0 = tensorrt.broadcast %x broadcast_dims<0, 1> shape(%s : tensor<3xi32>) :"
            f" {X} to tensor<2x3xf32>"
        ),
        {"x": X, "s": "tensor<3xi32>"},
        "result 0 has type tensor<2x3xf32> but inferred tensor of shape <?x?x?>",
    ),
    (
        (
            "%0 = tensorrt.broadcast %x broadcast_dims<0, 1> shape(%s : tensor<?xi32>) :"
            f" {X} to tensor<2x3xf32>"
        ),
        {"x": X, "s": "tensor<?xi32>"},
        (
            "operand #1 must be 1D static i32 tensor representing a shape of 32-bit"
            " signless integer values, but got 'tensor<?xi32>'"
        ),
    ),
    (
        f"%0 = tensorrt.concatenation {{axis = 2 : i32}} ins(%x, %x : {X}, {X}) -> {X}",
        {"x": X},
        "concat axis exceeds the dimension of input tensor.",
    ),
    (
        f"%0 = tensorrt.concatenation {{axis = -1 : i32}} ins(%x, %x : {X}, {X}) -> {X}",
        {"x": X},
        "concat axis exceeds the dimension of input tensor.",
    ),
    (
        f"%0 = tensorrt.concatenation {{axis = 0 : i32}} ins(%x, %y : {X}, tensor<3xf32>) -> {X}",
        {"x": X, "y": "tensor<3xf32>"},
        "input rank at input[1] is 1 which is different from the rank of input tensor at index 0",
    ),
    (
        (
            f"%0 = tensorrt.concatenation {{axis = 0 : i32}} ins(%x, %y : {X},"
            " tensor<2x4xf32>) -> tensor<4x3xf32>"
        ),
        {"x": X, "y": "tensor<2x4xf32>"},
        "input tensor[1] has size 4 at dimension 1, while the value should be 3",
    ),
    (
        f"%0 = tensorrt.concatenation {{axis = 0 : i32}} ins(%x, %x : {X}, {X}) -> tensor<5x3xf32>",
        {"x": X},
        inferred("concatenation", "tensor<4x3xf32>", "tensor<5x3xf32>"),
    ),
    (
        (
            f"%0 = tensorrt.concatenation {{axis = 0 : i32}} ins(%x, %y : {X},"
            " tensor<2x3xf16>) -> tensor<4x3xf32>"
        ),
        {"x": X, "y": "tensor<2x3xf16>"},
        "requires the same element type for all operands and results",
    ),
    (
        '%0 = "tensorrt.concatenation"() <{axis = 0 : i32}> : () -> tensor<4x3xf32>',
        {},
        failed("concatenation", "expected at least one input"),
    ),
    (
        f"%0 = tensorrt.slice %x[0, 1, 2][2, 2][1, 1] : {X} to tensor<2x2xf32>",
        {"x": X},
        (
            "the size of all static index arrays (start, size, stride) should"
            " be equal to the rank of"
            " the input tensor type"
        ),
    ),
    (
        f"%0 = tensorrt.slice %x[%s: tensor<3xi32>][2, 2][1, 1] : {X} to tensor<2x2xf32>",
        {"x": X, "s": "tensor<3xi32>"},
        (
            "all dynamic index tensors should have a static size equal to the"
            " rank of the input tensor"
            " type"
        ),
    ),
    (
        f"%0 = tensorrt.slice %x[0, 1][2, 2][1, 1] fill(%v : tensor<f32>) : {X} to tensor<2x2xf32>",
        {"x": X, "v": "tensor<f32>"},
        'when a fill value is provided, the slice "mode" must be kFILL',
    ),
    (
        (
            "%0 = tensorrt.slice %x[0][2][1] {mode = #tensorrt.slice_mode<kCLAMP>} :"
            " tensor<3xbf16> to tensor<2xbf16>"
        ),
        {"x": "tensor<3xbf16>"},
        "kCLAMP, kFILL and kREFLECT modes do not support bfloat16 type",
    ),
    (
        f"%0 = tensorrt.slice %x[0, 1][2, 2][1, 1] : {X} to tensor<2x3xf32>",
        {"x": X},
        inferred("slice", "tensor<2x2xf32>", "tensor<2x3xf32>"),
    ),
    (
        (
            f'%0 = "tensorrt.slice"(%x) <{{operandSegmentSizes = array<i32: 1, 0, 0, 0,'
            f" 0>}}> : ({X}) -> {X}"
        ),
        {"x": X},
        failed("slice", "expected size operand to be 1D tensor of known size"),
    ),
    (
        (
            "%0 = tensorrt.padding {prePadding = array<i64: 0, 0>, postPadding ="
            " array<i64: 0, 0>} ins(%x : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>"
        ),
        {"x": "tensor<2x3x4xf32>"},
        "input rank should be greater or equal than 4",
    ),
    (
        (
            f"%0 = tensorrt.padding {{prePadding = array<i64: 0>, postPadding = array<i64:"
            f" 0, 0>}} ins(%x : {IMAGE}) -> {IMAGE}"
        ),
        {"x": IMAGE},
        (
            "padding exactly two innermost dimensions is supported but"
            ' received "prePadding" input of'
            ' size: 1 and "postPadding" input of size: 2'
        ),
    ),
    (
        (
            f"%0 = tensorrt.padding {{prePadding = array<i64: -5, 0>, postPadding ="
            f" array<i64: -4, 0>}} ins(%x : {IMAGE}) -> {IMAGE}"
        ),
        {"x": IMAGE},
        (
            "shape error on dimension 2 : pre padding amount: -5; post padding amount:"
            " -4; origin dimension: 8"
        ),
    ),
    (
        (
            f"%0 = tensorrt.padding {{prePadding = array<i64: 0, -10>, postPadding ="
            f" array<i64: 0, 4>}} ins(%x : {IMAGE}) -> {IMAGE}"
        ),
        {"x": IMAGE},
        (
            "shape error on dimension 3 : pre padding amount: -10; post padding amount:"
            " 4; origin dimension: 9"
        ),
    ),
    (
        (
            f"%0 = tensorrt.gather {{axis = 2 : i64}} ins(%x, %i : {X}, tensor<4xi32>) ->"
            " tensor<2x4xf32>"
        ),
        {"x": X, "i": "tensor<4xi32>"},
        'expected "axis" to must be in the range [0, 2)',
    ),
    (
        (
            f"%0 = tensorrt.gather {{axis = 1 : i64, numBroadcastDims = 2 : i64}} ins(%x,"
            f" %i : {X}, tensor<4xi32>) -> tensor<2x4xf32>"
        ),
        {"x": X, "i": "tensor<4xi32>"},
        "in kDEFAULT mode, numElementWiseDims must be 0 or 1",
    ),
    (
        (
            f"%0 = tensorrt.gather {{axis = 0 : i64, numBroadcastDims = 1 : i64}} ins(%x,"
            f" %i : {X}, tensor<4xi32>) -> tensor<2x4xf32>"
        ),
        {"x": X, "i": "tensor<4xi32>"},
        'expected "numBroadcastDims" <= "axis"',
    ),
    (
        (
            f"%0 = tensorrt.gather {{axis = 1 : i64, numBroadcastDims = 1 : i64}} ins(%x,"
            f" %i : {X}, tensor<3x4xi32>) -> tensor<2x4xf32>"
        ),
        {"x": X, "i": "tensor<3x4xi32>"},
        "when numBroadcastDims = 1, first dimension of data and indices must be broadcastable",
    ),
    (
        (
            f"%0 = tensorrt.gather {{axis = 0 : i64}} ins(%x, %i : {X}, tensor<4xi32>) ->"
            " tensor<5x3xf32>"
        ),
        {"x": X, "i": "tensor<4xi32>"},
        inferred("gather", "tensor<4x3xf32>", "tensor<5x3xf32>"),
    ),
    (
        f"%0 = tensorrt.gather_nd data(%x) indices(%i) : ({X}, tensor<5x3xi32>) -> tensor<5xf32>",
        {"x": X, "i": "tensor<5x3xi32>"},
        failed(
            "gather_nd",
            "the extent of the last dimension of 'indices' shape must be greater than zero and"
            " less-than-or-equal-to 'data' rank",
        ),
    ),
    (
        (
            "%0 = tensorrt.gather_nd data(%x) indices(%i) : (tensor<f32>, tensor<1xi32>)"
            " -> tensor<f32>"
        ),
        {"x": "tensor<f32>", "i": "tensor<1xi32>"},
        failed("gather_nd", "input rank and indices rank must be >= 1"),
    ),
    (
        (
            f"%0 = tensorrt.gather_elements {{axis = 2 : i64}} ins(%x, %i : {X},"
            " tensor<4x3xi32>) -> tensor<4x3xf32>"
        ),
        {"x": X, "i": "tensor<4x3xi32>"},
        'expected "axis" to must be in the range [0, 2)',
    ),
    (
        (
            f"%0 = tensorrt.gather_elements {{axis = 0 : i64}} ins(%x, %i : {X},"
            " tensor<4xi32>) -> tensor<4xf32>"
        ),
        {"x": X, "i": "tensor<4xi32>"},
        "failed to verify that all of {data, indices, result} have same rank",
    ),
    (
        f"%0 = tensorrt.scatter_nd data(%x : {X}) indices(%i : tensor<i32>) updates(%x : {X})",
        {"x": X, "i": "tensor<i32>"},
        ["tensorrt.scatter_nd indices must have rank >= 1"],
    ),
    (
        f"%0 = tensorrt.scatter_nd data(%x : {X}) indices(%i : tensor<5x?xi32>) updates(%x : {X})",
        {"x": X, "i": "tensor<5x?xi32>"},
        [
            (
                "the last dimension in tensorrt.scatter_nd indices tensor (the index vector size)"
                " must be static"
            )
        ],
    ),
    (
        f"%0 = tensorrt.scatter_nd data(%x : {X}) indices(%i : tensor<5x3xi32>) updates(%x : {X})",
        {"x": X, "i": "tensor<5x3xi32>"},
        ["tensorrt.scatter_nd index vector size cannot be larger than the input rank"],
    ),
    (
        f"%0 = tensorrt.scatter_nd data(%x : {X}) indices(%i : tensor<5x2xi32>) updates(%x : {X})",
        {"x": X, "i": "tensor<5x2xi32>"},
        ["tensorrt.scatter_nd expected updates tensor rank to be 1"],
    ),
    (
        (
            f"%0 = tensorrt.scatter_nd data(%x : {X}) indices(%i : tensor<5x1xi32>)"
            " updates(%u : tensor<5x4xf32>)"
        ),
        {"x": X, "i": "tensor<5x1xi32>", "u": "tensor<5x4xf32>"},
        [
            (
                "tensorrt.scatter_nd input tensor shape is incompatible with the shape of the"
                " updates tensor"
            )
        ],
    ),
    (
        (
            f"%0 = tensorrt.scatter_nd data(%x : {X}) indices(%i : tensor<i32>)"
            " updates(%u : tensor<2x3xf16>)"
        ),
        {"x": X, "i": "tensor<i32>", "u": "tensor<2x3xf16>"},
        ["tensorrt.scatter_nd indices must have rank >= 1"],
    ),
    (
        f"%0 = tensorrt.scatter_nd data(%x : {X}) indices(%i : i32) updates(%x : {X})",
        {"x": X, "i": "i32"},
        (
            "operand #1 must be 0D/1D/2D/3D/4D/5D/6D/7D/8D tensor of 32-bit signless integer or"
            " 64-bit signless integer values, but got 'i32'"
        ),
    ),
    (
        (
            f"%0 = tensorrt.scatter_elements {{axis = 2 : i64}} data(%x : {X}) indices(%i"
            f" : tensor<2x3xi32>) updates(%x : {X})"
        ),
        {"x": X, "i": "tensor<2x3xi32>"},
        "expected axis to be in the range [0, 2)",
    ),
    (
        (
            f"%0 = tensorrt.scatter_elements data(%x : {X}) indices(%i : tensor<1x3xi32>)"
            f" updates(%x : {X})"
        ),
        {"x": X, "i": "tensor<1x3xi32>"},
        "failed to verify that all of {indices, updates} have same shape",
    ),
    (
        (
            "%0 = tensorrt.scatter_elements data(%x : tensor<f32>) indices(%i :"
            " tensor<i32>) updates(%x : tensor<f32>)"
        ),
        {"x": "tensor<f32>", "i": "tensor<i32>"},
        "expected data to have rank >= 1, got 0",
    ),
    (
        (
            "%0 = tensorrt.one_hot {axis = 3 : si64} ins(%i, %v, %d : tensor<2x2xi32>,"
            " tensor<2xf16>, tensor<i32>) -> tensor<2x2x?xf16>"
        ),
        {"i": "tensor<2x2xi32>", "v": "tensor<2xf16>", "d": "tensor<i32>"},
        failed("one_hot", "expected axis to be in the range [-rank(indices)-1, rank(indices)]"),
    ),
    (
        (
            "%0 = tensorrt.one_hot {axis = 0 : si64} ins(%i, %v, %d : tensor<2xi32>,"
            " tensor<f16>, tensor<i32>) -> tensor<?x2xf16>"
        ),
        {"i": "tensor<2xi32>", "v": "tensor<f16>", "d": "tensor<i32>"},
        failed("one_hot", "expected values to be of rank 1"),
    ),
    (
        (
            "%0 = tensorrt.one_hot {axis = 0 : si64} ins(%i, %v, %d : tensor<2xi32>,"
            " tensor<3xf16>, tensor<i32>) -> tensor<?x2xf16>"
        ),
        {"i": "tensor<2xi32>", "v": "tensor<3xf16>", "d": "tensor<i32>"},
        failed("one_hot", "expected values to have two elements"),
    ),
    (
        (
            "%0 = tensorrt.one_hot {axis = 0 : si64} ins(%i, %v, %d : tensor<2xi32>,"
            " tensor<2xf16>, tensor<1xi32>) -> tensor<?x2xf16>"
        ),
        {"i": "tensor<2xi32>", "v": "tensor<2xf16>", "d": "tensor<1xi32>"},
        "expected depth to be of rank 0",
    ),
    (
        f"%0 = tensorrt.non_zero %x : {X} -> tensor<3x?xi32>",
        {"x": X},
        inferred("non_zero", "tensor<2x?xi32>", "tensor<3x?xi32>"),
    ),
    (
        resize("linear", " scales = array<f32: 1.0, 2.0>,"),
        {"x": IMAGE},
        ["scales parameter must have same number of dimensions as input/output"],
    ),
    (
        resize(
            "linear",
            " scales = array<f32: 2.0, 1.0, 1.0, 1.0>,",
            types=f"({IMAGE}) -> tensor<2x3x8x9xf32>",
        ),
        {"x": IMAGE},
        ["all scale values except 3 innermost must be 1"],
    ),
    (
        resize(
            "cubic",
            " scales = array<f32: 1.0, 2.0, 1.0, 1.0>,",
            types=f"({IMAGE}) -> tensor<1x6x8x9xf32>",
        ),
        {"x": IMAGE},
        ["all scale values except 2 innermost must be 1"],
    ),
    (
        resize("nearest", " scales = array<f32: 1.0, 1.0, 2.0, 2.0>,"),
        {"x": IMAGE},
        f"result 0 has type {IMAGE} but inferred tensor of shape <1x3x16x18>",
    ),
    (
        resize("nearest", types=f"({IMAGE}) -> tensor<2x3x8x9xf32>"),
        {"x": IMAGE},
        "only supports resizing on the 3 innermost dimensions",
    ),
    (
        resize("cubic", types=f"({IMAGE}) -> tensor<1x4x8x9xf32>"),
        {"x": IMAGE},
        "only supports resizing on the innermost 2 dimensions",
    ),
    (
        resize("linear", types=f"({IMAGE}) -> tensor<1x3x?x9xf32>"),
        {"x": IMAGE},
        (
            "scales must be provided when output_shape is not provided and"
            " the input/output dimensions"
            " are dynamic"
        ),
    ),
    (
        resize("cubic", types="(tensor<3xf32>) -> tensor<6xf32>"),
        {"x": "tensor<3xf32>"},
        ["does not support resizing on a tensor that has rank < 2"],
    ),
    (
        resize("linear", types="(tensor<2x3xbf16>) -> tensor<2x3xbf16>"),
        {"x": "tensor<2x3xbf16>"},
        (
            "operand #0 must be 0D/1D/2D/3D/4D/5D/6D/7D/8D tensor of allowed"
            " TensorRT tensor i8 element"
            " types or 16-bit float or 32-bit float values, but got 'tensor<2x3xbf16>'"
        ),
    ),
]


@pytest.mark.parametrize(("line", "types", "expected"), WRONG)
def test_what_is_wrong_is_said(line, types, expected):
    """In NVIDIA's words; a list is of whole messages."""
    if isinstance(expected, str):
        name = line.split("tensorrt.")[1].split()[0].split("[")[0].split('"')[0]
        expected = [f"'tensorrt.{name}' op {expected}"]
    assert messages(line, **types) == expected


MADE = [
    (dialect.ShapeOp, ["tensor<2x?x3xf32>"], {}, "tensor<3xi32>"),
    (dialect.TransposeOp, ["tensor<2x?x3xf32>"], {"permutation": (2, 0, 1)}, "tensor<3x2x?xf32>"),
    (
        dialect.ShuffleOp,
        ["tensor<?x3xf16>"],
        {"first_transpose": (1, 0), "reshape": (0, -1, 1), "second_transpose": (2, 0, 1)},
        "tensor<1x3x?xf16>",
    ),
    (
        dialect.ConcatenationOp,
        [["tensor<2x3xi1>", "tensor<2x4xi1>", "tensor<?x5xi1>"]],
        {"axis": 1},
        "tensor<2x12xi1>",
    ),
    (
        dialect.SliceOp,
        ["tensor<?x3xi32>"],
        {"static_start": (0, 0), "static_size": (4, 2), "static_stride": (1, 1)},
        "tensor<4x2xi32>",
    ),
    (
        dialect.PaddingOp,
        ["tensor<?x3x?x9xf32>"],
        {"pre_padding": (1, 2), "post_padding": (1, -4)},
        "tensor<?x3x?x7xf32>",
    ),
    (
        dialect.GatherOp,
        ["tensor<?x3x4xf32>", "tensor<5x?xi32>"],
        {"axis": 1},
        "tensor<?x5x?x4xf32>",
    ),
    (
        dialect.GatherOp,
        ["tensor<?x3x4xf32>", "tensor<6x5xi32>"],
        {"axis": 2, "num_broadcast_dims": 1},
        "tensor<6x3x5xf32>",
    ),
    (dialect.GatherNdOp, ["tensor<2x3x4xf32>", "tensor<?x2xi64>"], {}, "tensor<?x4xf32>"),
    (
        dialect.GatherElementsOp,
        ["tensor<2x?xi64>", "tensor<?x5xi32>"],
        {"axis": 1},
        "tensor<?x5xi64>",
    ),
    (
        dialect.ScatterOp,
        ["tensor<?x3xf32>", "tensor<?x1xi32>", "tensor<?x3xf32>"],
        {},
        "tensor<?x3xf32>",
    ),
    (
        dialect.ScatterElementsOp,
        ["tensor<?x3xf32>", "tensor<1x?xi32>", "tensor<1x?xf32>"],
        {},
        "tensor<?x3xf32>",
    ),
    (
        dialect.OneHotOp,
        ["tensor<4x?xi32>", "tensor<2xi64>", "tensor<i32>"],
        {"axis": -3},
        "tensor<?x4x?xi64>",
    ),
    (dialect.NonZeroOp, ["tensor<4x?xi1>"], {}, "tensor<2x?xi32>"),
]


@pytest.mark.parametrize(("kind", "types", "attributes", "expected"), MADE)
def test_types_are_inferred(kind, types, attributes, expected):
    """Sizes that nobody knows stay so."""
    operands = [values(*each) if isinstance(each, list) else values(each)[0] for each in types]
    made = kind.make(*operands, **attributes)
    assert [str(result.type) for result in made.results] == [expected]
    assert list(made.problems()) == []


def test_resizing_multiplies_in_single_precision():
    """7 times the number next to 3/7 is 2, not 3: TensorRT's sizes are cut off."""
    common = {
        "coordinate_transformation": "kASYMMETRIC",
        "selector_for_single_pixel": "kUPPER",
        "nearest_rounding": "kCEIL",
    }
    (x,) = values("tensor<7x?x10xf32>")
    made = dialect.ResizeNearestOp.make(x, scales=(0.4, 2.0, 1 / 3), **common)
    assert str(made.result.type) == "tensor<2x?x3xf32>"
    (x,) = values("tensor<10xf32>")
    thirds = dialect.ResizeNearestOp.make(x, scales=(1.7,), **common)
    assert str(thirds.result.type) == "tensor<17xf32>"


def test_attributes_are_read_as_values():
    """Defaults as well."""
    (x,) = values("tensor<2x3xf32>")
    cut = dialect.SliceOp.make(x, static_start=(0, 0), static_size=(1, 1), static_stride=(1, 1))
    assert cut.value("mode") == "kDEFAULT"
    assert cut.value("static_size") == (1, 1)
    turned = dialect.TransposeOp.make(x, permutation=(1, 0))
    assert str(turned.value("permutation")) == "(d0, d1) -> (d1, d0)"
    moved = dialect.ShuffleOp.make(x, first_transpose=(0, 1), second_transpose=(1, 0))
    assert moved.value("zero_is_placeholder") is True
    assert moved.value("reshape") is None


def test_the_example_of_the_issue():
    """A linear resize as mlir-tensorrt prints it, and what its function says of the argument."""
    profile = ShapeProfileAttr.of((2, 2), (2, 2), (2, 2))
    square = TensorType(f32, [2, 2])
    block = Block(arg_types=[square])
    made = dialect.ResizeLinearOp.make(
        block.args[0],
        scales=(2, 2),
        coordinate_transformation="kHALF_PIXEL",
        selector_for_single_pixel="kFORMULA",
    )
    block.add_ops([made, ReturnOp(made)])
    function = FuncOp(
        "main",
        ([square], [made.result.type]),
        Region(block),
        arg_attrs=ArrayAttr([DictionaryAttr({"tensorrt.shape_profile": profile})]),
    )
    module = ModuleOp([function])
    assert verifier.problems(module) == []
    first, second = printer.text(module).splitlines()[1:3]
    assert first == (
        "  func.func @main(%arg0: tensor<2x2xf32> {tensorrt.shape_profile ="
        " #tensorrt.shape_profile<min = [2, 2], opt = [2, 2], max = [2, 2]>}) -> tensor<4x4xf32> {"
    )
    assert second == (
        "    %0 = tensorrt.resize_linear {coordinateTransformation ="
        " #tensorrt.resize_coordinate_transformation<kHALF_PIXEL>, scales = array<f32:"
        " 2.000000e+00, 2.000000e+00>, selectorForSinglePixel ="
        " #tensorrt.resize_selector<kFORMULA>}"
        " %arg0 : (tensor<2x2xf32>) -> tensor<4x4xf32>"
    )
