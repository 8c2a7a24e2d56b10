"""A layer that TensorRT adds: one class and its builder, and everything else follows."""

from collections.abc import Iterator
from typing import ClassVar

import pytest
from tensorrt_operations import values
from xdsl.dialects.builtin import Float32Type, TensorType

from tripybuild.symbolic.dims import symbol
from tripybuild.tensorrt.dialect import definition
from tripybuild.tensorrt.layers import Network, kinds
from tripybuild.tensorrt.layers.checks import Checks, all_match
from tripybuild.tensorrt.layers.declaration import SingleResultLayer
from tripybuild.tensorrt.layers.operation import (
    LayerOperation,
    attribute,
    operand,
    optional_operand,
    output,
    sizes,
)
from tripybuild.tensorrt.shape_rules import Shape, ShapeError, Sizes
from tripybuild.types import dtypes


class RepeatOp(LayerOperation):
    """Each row as many times as there are counts."""

    name = "trtx.repeat"
    input = operand(*kinds.FLOATS)
    counts = operand(kinds.I32, ranks=(1,), parameter="times")
    axis = attribute(kinds.I64_ATTR)
    mask = optional_operand(kinds.I1)
    mode = attribute(kinds.enumeration("slice_mode"), default="kFILL", mlir="repeatMode")
    result = output(*kinds.FLOATS, dtype="input")
    CHECKS: ClassVar[Checks] = (all_match("element type", "input", "result"),)

    @staticmethod
    def result_shape(input: Shape, times: Shape, axis: int) -> Sizes:
        """The size of the axis, times the counts."""
        if not 0 <= axis < len(input):
            raise ShapeError("axis is outside")
        size, count = input[axis], times[0]
        grown = None if size is None or count is None else size * count
        return (*input[:axis], grown, *input[axis + 1 :])

    def semantic_problems(self) -> Iterator[str]:
        """Nothing is repeated without counts."""
        if sizes(self.counts) == (0,):
            yield "there are no counts"

    def translate(self, at):
        """Add it."""
        return at.add("repeat", at.tensor(self.input), self.value("axis"))


repeat = SingleResultLayer(RepeatOp)
Defined = definition.define(RepeatOp)


def test_the_builder_has_the_fields_as_parameters():
    """What must be given comes first; names and defaults are those of the class."""
    assert repeat.name == "repeat"
    assert list(repeat.parameters) == ["input", "times", "axis", "mask", "mode"]
    assert repeat.parameters["times"].attribute == "counts"
    assert repeat.parameters["mode"].default == "kFILL"
    assert not repeat.typed


def test_a_call_is_recorded_with_the_shape_rule():
    """Also of symbols; what does not fit is refused in the rule's words."""
    size = symbol("N", 1, 8)
    network = Network({}, {"x": (dtypes.float16, (2, size)), "n": (dtypes.int32, (3,))})
    with network:
        made = repeat(*network.inputs.values(), axis=1)
        assert made.dtype is dtypes.float16
        assert str(made.shape) == str((2, size * 3))
        with pytest.raises(ValueError, match=r"`trt.repeat`: axis is outside"):
            repeat(*network.inputs.values(), axis=2)
        with pytest.raises(ValueError, match=r"`trt.repeat` needs an integer for `axis`, not 1.5"):
            repeat(*network.inputs.values(), axis=1.5)


def test_the_operation_infers_the_same():
    """It has a type without being given one, and its default."""
    made = Defined.make(*values("tensor<2x?xf16>", "tensor<3xi32>"), axis=0)
    assert str(made.result.type) == "tensor<6x?xf16>"
    assert made.value("mode") == "kFILL"
    assert made.mask is None
    assert [each.message for each in made.problems()] == []


@pytest.mark.parametrize(
    ("operands", "result", "axis", "message"),
    [
        (("tensor<2xf16>", "tensor<0xi32>"), "tensor<0xf16>", 0, "there are no counts"),
        (("tensor<2xf16>", "tensor<2xi32>"), "tensor<4xf32>", 0, "same element type"),
        (("tensor<2xf16>", "tensor<2xi32>"), "tensor<5xf16>", 0, "incompatible with return type"),
        (("tensor<2xi32>", "tensor<2xi32>"), "tensor<4xf16>", 0, "operand #0 must be 0D/1D"),
        (("tensor<2xf16>", "tensor<2xi32>"), "tensor<4xf16>", 1, "axis is outside"),
    ],
)
def test_the_verifier_is_the_declared_one(operands, result, axis, message):
    """Kinds, traits, the verifier and the inferred types, in MLIR's order."""
    element = Float32Type() if "f32" in result else values(result)[0].type.element_type
    size = int(result.split("<")[1].split("x")[0])
    kind = TensorType(element, [size])
    made = Defined.make(*values(*operands), axis=axis, result_types=[kind])
    assert message in next(made.problems()).message


def test_the_call_of_tensorrt_is_the_declared_one():
    """`self` is the operation."""

    class Network:
        """Remembers what is added."""

        def tensor(self, value):
            """Name a value by its type."""
            return str(value.type)

        def add(self, *call):
            """Give the call."""
            return call

    made = Defined.make(*values("tensor<2xf32>", "tensor<3xi32>"), axis=0)
    assert made.translate(Network()) == ("repeat", "tensor<2xf32>", 0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"like": "data"}, "trtx.odd: a result is like `data`, which is no parameter"),
        ({"dtype": "data"}, "trtx.odd: the dtype of a result is `data`, which is neither"),
        ({}, "trtx.odd: the dtype of a result is ``, which is neither a dtype nor a parameter"),
    ],
)
def test_a_result_names_its_parameters(fields, message):
    """What a class forgets or misspells is told when it is declared."""

    class OddOp(LayerOperation):
        """One whose result is wrong."""

        name = "trtx.odd"
        input = operand(*kinds.FLOATS)
        result = output(*kinds.FLOATS, **fields)

    with pytest.raises(TypeError, match=message):
        SingleResultLayer(OddOp)
