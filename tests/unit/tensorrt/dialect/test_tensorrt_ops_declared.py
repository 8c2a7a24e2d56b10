"""What declarations of operations say is wrong, in MLIR's words and order; making and reading."""

import pytest
from tensorrt_operations import context, messages, operation, values
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr, f32
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from tripybuild.tensorrt.dialect import (
    OPERATIONS,
    ActivationOp,
    CastOp,
    ConvolutionOp,
    EinsumOp,
    ElementWiseOp,
    LinspaceOp,
    ReduceOp,
    ShapeProfileAttr,
    TopKOp,
    UnaryOp,
)
from tripybuild.tensorrt.dialect.base import tensor_type
from tripybuild.tensorrt.recorder.enumerations import ENUMERATIONS
from tripybuild.tensorrt.shape_rules import ShapeError

FLOATS = "16-bit float or bfloat16 type or 32-bit float"
RANKS = "0D/1D/2D/3D/4D/5D/6D/7D/8D tensor"


@pytest.mark.parametrize(
    ("text", "types", "expected"),
    [
        (
            '%0 = "tensorrt.softmax"() <{axis = 0 : i64}> : () -> tensor<2xf32>',
            {},
            "requires a single operand",
        ),
        (
            '%0 = "tensorrt.matrix_multiply"(%x) : (tensor<2xf32>) -> tensor<2xf32>',
            {"x": "tensor<2xf32>"},
            "expected 2 operands, but found 1",
        ),
        (
            (
                '%0:2 = "tensorrt.softmax"(%x) <{axis = 0 : i64}> : (tensor<2xf32>) ->'
                " (tensor<2xf32>, tensor<2xf32>)"
            ),
            {"x": "tensor<2xf32>"},
            "requires one result",
        ),
        (
            '%0 = "tensorrt.top_k"(%x) : (tensor<2xf32>) -> tensor<2xf32>',
            {"x": "tensor<2xf32>"},
            "expected 2 results",
        ),
        (
            '%0 = "tensorrt.softmax"(%x) ({}) : (tensor<2xf32>) -> tensor<2xf32>',
            {"x": "tensor<2xf32>"},
            "requires zero regions",
        ),
        (
            (
                '%0 = "tensorrt.random_uniform"(%x) <{operandSegmentSizes = array<i32: 0, 0, 0>}> :'
                " (tensor<f32>) -> tensor<2xf32>"
            ),
            {"x": "tensor<f32>"},
            (
                "operand count (1) does not match with the total size (0) specified in attribute "
                "'operandSegmentSizes'"
            ),
        ),
        (
            '%0 = "tensorrt.reduce"(%x) : (tensor<2xi4>) -> tensor<2xf32>',
            {"x": "tensor<2xi4>"},
            "requires attribute 'reduceAxes'",
        ),
        (
            '%0 = "tensorrt.softmax"(%x) <{axis = 0 : i32}> : (tensor<2xi4>) -> tensor<2xf32>',
            {"x": "tensor<2xi4>"},
            "attribute 'axis' failed to satisfy constraint: 64-bit signless integer attribute",
        ),
        (
            (
                "%0 = tensorrt.reduce <kSUM> %x {reduceAxes = array<i64: 1, 0>} : tensor<2x2xf32>"
                " -> tensor<f32>"
            ),
            {"x": "tensor<2x2xf32>"},
            (
                "attribute 'reduceAxes' failed to satisfy constraint: i64 dense array attribute "
                "should be in increasing order whose value is non-negative"
            ),
        ),
        (
            (
                "%0 = tensorrt.reduce <kSUM> %x {reduceAxes = array<i64: -1>} : tensor<2x2xf32>"
                " -> tensor<2xf32>"
            ),
            {"x": "tensor<2x2xf32>"},
            (
                "attribute 'reduceAxes' failed to satisfy constraint: i64 dense array attribute "
                "should be in increasing order whose value is non-negative"
            ),
        ),
        (
            "%0 = tensorrt.softmax {axis = 0 : i64} %x : tensor<2xi32>",
            {"x": "tensor<2xi32>"},
            f"operand #0 must be {RANKS} of {FLOATS} values, but got 'tensor<2xi32>'",
        ),
        (
            "%0 = tensorrt.softmax {axis = 0 : i64} %x : tensor<1x1x1x1x1x1x1x1x1xf32>",
            {"x": "tensor<1x1x1x1x1x1x1x1x1xf32>"},
            (
                f"operand #0 must be {RANKS} of {FLOATS} values, but got "
                "'tensor<1x1x1x1x1x1x1x1x1xf32>'"
            ),
        ),
        (
            (
                '%0 = tensorrt.einsum {equation = "i,i->"} ins(%x, %y : tensor<2xf32>,'
                " tensor<2xi32>) -> tensor<f32>"
            ),
            {"x": "tensor<2xf32>", "y": "tensor<2xi32>"},
            f"operand #1 must be variadic of {RANKS} of {FLOATS} values, but got 'tensor<2xi32>'",
        ),
        (
            "%0 = tensorrt.cast %x : tensor<2xf32> to tensor<2xf64>",
            {"x": "tensor<2xf32>"},
            (
                f"result #0 must be {RANKS} of 1-bit signless integer or 8-bit unsigned integer or "
                "allowed TensorRT tensor i8 element types or 32-bit signless integer or 64-bit "
                f"signless integer or {FLOATS} values, but got 'tensor<2xf64>'"
            ),
        ),
        (
            (
                '%0 = "tensorrt.element_wise"(%x, %x) <{elementwiseOperation ='
                " #tensorrt.element_wise_operation<kSUM>}> : (tensor<2xf32>, tensor<2xf32>) ->"
                " tensor<*xf32>"
            ),
            {"x": "tensor<2xf32>"},
            "result #0 must be ranked tensor of any type values, but got 'tensor<*xf32>'",
        ),
        (
            (
                "%0 = tensorrt.element_wise <kSUM>(%x, %y : tensor<2xf32>, tensor<1x2xf32>)"
                " -> tensor<1x2xf32>"
            ),
            {"x": "tensor<2xf32>", "y": "tensor<1x2xf32>"},
            "failed to verify that all of {input1, input2, result} have same rank",
        ),
        (
            (
                "%0 = tensorrt.element_wise <kSUM>(%x, %y : tensor<2xf32>, tensor<2xf16>)"
                " -> tensor<2xf32>"
            ),
            {"x": "tensor<2xf32>", "y": "tensor<2xf16>"},
            "requires the same element type for all operands",
        ),
        (
            (
                "%0 = tensorrt.reduce <kSUM> %x {reduceAxes = array<i64: 0>} : tensor<2xf32>"
                " -> tensor<f16>"
            ),
            {"x": "tensor<2xf32>"},
            "requires the same element type for all operands and results",
        ),
        (
            (
                "%0 = tensorrt.select ins(%c, %x, %y : tensor<2xi1>, tensor<2xf32>, tensor<2xf16>)"
                " -> tensor<2xf32>"
            ),
            {"c": "tensor<2xi1>", "x": "tensor<2xf32>", "y": "tensor<2xf16>"},
            "failed to verify that all of {thenInput, elseInput, result} have same element type",
        ),
    ],
)
def test_declarations_are_checked_in_the_words_of_mlir(text, types, expected):
    """One message: the first that MLIR gives."""
    name = text.split("tensorrt.")[1].split('"')[0].split()[0]
    assert messages(text, **types) == [f"'tensorrt.{name}' op {expected}"]


def test_xdsl_verifies_with_the_same_words():
    """`verify` of xDSL raises the first problem."""
    wrong = operation(
        "%0 = tensorrt.softmax {axis = 7 : i64} %x : tensor<2xf32>", x="tensor<2xf32>"
    )
    with pytest.raises(VerifyException, match=r"'tensorrt\.softmax' op expected axis to be"):
        wrong.verify()


@pytest.mark.parametrize(
    ("element", "accepted"),
    [
        ("i8", True),
        ("!quant.uniform<i8:f32, 1.0>", True),
        ("!quant.uniform<i8:f16, 0.5>", True),
        ("!quant.uniform<i8:f32, 1.0:3>", False),
        ("!quant.uniform<i8:f32:0, {1.0, 2.0}>", False),
        ("!quant.uniform<i4:f32, 1.0>", False),
        ("!quant.uniform<i8:f64, 1.0>", False),
        ("ui8", False),
        ("si8", False),
        ("i4", False),
        ("f64", False),
        ("index", False),
    ],
)
def test_small_integers_may_be_quantized_numbers_without_a_zero_point(element, accepted):
    """The set that the dialect calls its i8."""
    kind = f"tensor<2x{element}>"
    relu = "{activationType = #tensorrt.activation_type<kRELU>}"
    text = f"%0 = tensorrt.activation {relu} %x : {kind}"
    assert (messages(text, x=kind) == []) is accepted


def test_inferred_types_are_compared_up_to_what_is_unknown():
    """Two messages: MLIR says what it inferred, and that it failed."""
    line = "%0 = tensorrt.element_wise <kSUM>(%x, %x : tensor<?x3xf32>, tensor<?x3xf32>) -> {}"
    assert messages(line.format("tensor<7x?xf32>"), x="tensor<?x3xf32>") == []
    assert messages(line.format("tensor<7x4xf32>"), x="tensor<?x3xf32>") == [
        (
            "'tensorrt.element_wise' op inferred type(s) 'tensor<?x3xf32>' are incompatible with "
            "return type(s) of operation 'tensor<7x4xf32>'"
        ),
        "'tensorrt.element_wise' op failed to infer returned types",
    ]
    assert messages(line.format("tensor<?x3xf16>"), x="tensor<?x3xf32>")[0].startswith(
        "'tensorrt.element_wise' op inferred type(s)"
    )


def test_all_inferred_types_are_shown():
    """Types of several results are a list."""
    text = (
        "%0, %1 = tensorrt.top_k <kMAX> {axis = 0 : i64, k = 2 : i64} %x : tensor<4x3xf32> ->"
        " tensor<2x5xf32>, tensor<2x5xi32>"
    )
    assert messages(text, x="tensor<4x3xf32>")[0] == (
        "'tensorrt.top_k' op inferred type(s) 'tensor<2x3xf32>', 'tensor<2x3xi32>' are "
        "incompatible with return type(s) of operation 'tensor<2x5xf32>', 'tensor<2x5xi32>'"
    )


def test_partly_inferred_types_are_checked_before_the_verifier():
    """The shape of a cast is known, its element type is not."""
    text = "%0 = tensorrt.cast %x : tensor<2x?xf32> to tensor<3x?xi32>"
    assert messages(text, x="tensor<2x?xf32>") == [
        "'tensorrt.cast' op result 0 has type tensor<3x?xi32> but inferred tensor of shape <2x?>"
    ]


def test_making_infers_the_result_and_takes_plain_values():
    """Operands by position, attributes by their Python names, words for members."""
    x, y = values("tensor<2x?xf32>", "tensor<1x4xf32>")
    place = FileLineColLoc(StringAttr("model.py"), IntAttr(3), IntAttr(1))
    made = ElementWiseOp.make(x, y, elementwise_operation="less", location=place)
    assert str(made.result.type) == "tensor<2x4xi1>"
    assert made.location == place
    assert made.value("elementwise_operation") == "kLESS"
    reduced = ReduceOp.make(x, reduce_axes=[0], reduce_operation="kMAX")
    assert str(reduced.result.type) == "tensor<?xf32>"
    assert reduced.value("reduce_axes") == (0,)
    assert reduced.value("keep_dimensions") is False
    kept = ReduceOp.make(x, reduce_axes=[0], reduce_operation="kMAX", keep_dimensions=True)
    assert str(kept.result.type) == "tensor<1x?xf32>"
    assert kept.value("keep_dimensions") is True


def test_making_with_several_results_and_absent_operands():
    """Absent operands may be left out; results are inferred together."""
    (x,) = values("tensor<2x8xf16>")
    made = TopKOp.make(x, k=3, axis=1, topk_operation="kMIN")
    assert [str(kind) for kind in made.result_types] == ["tensor<2x3xf16>", "tensor<2x3xi32>"]
    filled = LinspaceOp.make(static_start=0, static_step=2.5, result_types=[tensor_type([5], f32)])
    assert (filled.shape, filled.start, filled.step) == (None, None, None)
    assert filled.value("static_step") == 2.5
    assert list(filled.problems()) == []


def test_making_variadic_operands():
    """A sequence is the operands of a variadic field."""
    x, y = values("tensor<2x3xf32>", "tensor<3x4xf32>")
    made = EinsumOp.make([x, y], equation="ij,jk->ik")
    assert str(made.result.type) == "tensor<2x4xf32>"
    assert made.value("equation") == "ij,jk->ik"


def test_making_says_what_it_cannot_know():
    """A cast needs its type; a wrong name or member is refused; a wrong shape uses nothing up."""
    (x,) = values("tensor<2xf32>")
    with pytest.raises(TypeError, match=r"result types of tensorrt\.cast cannot be inferred"):
        CastOp.make(x)
    with pytest.raises(TypeError, match="no attribute `activationType`"):
        ActivationOp.make(x, activationType="kRELU")
    with pytest.raises(ValueError, match="UnaryOperation to be one of: kEXP, kLOG"):
        UnaryOp.make(x, unary_operation="kISNAN")
    with pytest.raises(ShapeError, match="Input must be 4D or 5D"):
        ConvolutionOp.make(x, x, stride=[1], pre_padding=[0], post_padding=[0])
    assert not x.uses


def test_absent_attributes_have_their_defaults():
    """And optional ones are None."""
    text = (
        "%0 = tensorrt.convolution {stride = array<i64: 1, 1>, pre_padding = array<i64: 0, 0>,"
        " post_padding = array<i64: 0, 0>} in(%x : tensor<1x3x4x4xf32>)"
        " kernel(%k : tensor<2x3x3x3xf32>) -> tensor<1x2x2x2xf32>"
    )
    found = operation(text, x="tensor<1x3x4x4xf32>", k="tensor<2x3x3x3xf32>")
    assert found.value("num_groups") == 1
    assert found.value("dilation") is None
    assert found.value("stride") == (1, 1)
    assert list(found.problems()) == []


def test_members_stand_in_angle_brackets():
    """In dictionaries with their enumeration's name, in formats without it."""
    parser = Parser(context(), "#tensorrt.reduce_operation<kAVG>")
    assert str(parser.parse_attribute()) == "#tensorrt.reduce_operation<kAVG>"
    wrong = "#tensorrt.top_k_operation<kSUM>"
    with pytest.raises(
        ParseError, match="::mlir::tensorrt::TopKOperation to be one of: kMAX, kMIN"
    ):
        Parser(context(), wrong).parse_attribute()


def test_every_enumeration_of_the_dialect_has_its_members():
    """What is recorded is what is written, but for members that only newer builders have."""
    for name in ("padding_mode", "gather_mode", "resize_mode", "loop_output", "scatter_mode"):
        for member in ENUMERATIONS[name].members:
            text = f"#tensorrt.{name}<{member}>"
            assert str(Parser(context(), text).parse_attribute()) == text
    with pytest.raises(ParseError):
        Parser(context(), "#tensorrt.unary_operation<kISINF>").parse_attribute()


def test_profiles_are_ordered():
    """The lists of a scalar are empty."""
    for text in (
        "#tensorrt.shape_profile<min = [], opt = [], max = []>",
        "#tensorrt.shape_profile<min = [1, 3], opt = [5, 3], max = [10, 3]>",
    ):
        assert str(Parser(context(), text).parse_attribute()) == text
    assert ShapeProfileAttr.of([1], [2], [3]).bounds == ((1,), (2,), (3,))


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        (([1], [2, 3], [4]), "shape min/opt/max arrays should have equal size"),
        (
            ([1, 5], [1, 4], [1, 6]),
            "profile dimension 1 min=5 should be less than or equal to opt=4",
        ),
        (([1], [3], [2]), "profile dimension 0 opt=3 should be less than or equal to max=2"),
    ],
)
def test_profiles_that_are_not_ordered_are_refused(lists, message):
    """In NVIDIA's words."""
    with pytest.raises(VerifyException, match=message):
        ShapeProfileAttr.of(*lists)


def test_each_operation_has_a_name_of_its_own():
    """And a docstring, and says whether it is pure."""
    assert len({op.name for op in OPERATIONS}) == len(OPERATIONS)
    assert all(op.__doc__ for op in OPERATIONS)
