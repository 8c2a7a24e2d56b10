"""Elementwise layers: activations, arithmetic, casts, select, scale."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from tripybuild.tensorrt.layers import kinds
from tripybuild.tensorrt.layers.checks import (
    SAME_OPERANDS_ELEMENT_TYPE,
    Checks,
    all_match,
    check_equal_sizes,
    check_min_rank,
)
from tripybuild.tensorrt.layers.declaration import SingleResultLayer
from tripybuild.tensorrt.layers.operation import (
    UNARY,
    LayerOperation,
    OperationField,
    OpProblem,
    argument,
    attribute,
    element,
    operand,
    optional_attribute,
    optional_operand,
    output,
    sizes,
)
from tripybuild.tensorrt.recorder import argument_kinds as arguments
from tripybuild.tensorrt.shape_rules import (
    MaybeSize,
    Shape,
    Sizes,
    broadcastable,
    differ,
    elementwise_shape,
    volume,
)
from tripybuild.types import dtypes

if TYPE_CHECKING:
    from xdsl.ir import Attribute

    from tripybuild.tensorrt.emission.layer_emission import LayerEmission
    from tripybuild.tensorrt.translation.emission import Emission

_NUMBERS = (kinds.I8, kinds.I32, kinds.I64, *kinds.FLOATS)
_IDENTICAL = (kinds.I1, kinds.UI8, kinds.I8, kinds.I32, *kinds.FLOATS)
_CAST = (kinds.I1, kinds.UI8, kinds.I8, kinds.I32, kinds.I64, *kinds.FLOATS)
_SLOPED = (kinds.I8, *kinds.FLOATS)
_ELEMENTWISE = ("Pure", "ElementwiseMappable")

_WITHOUT_ALPHA = frozenset({"kRELU", "kSIGMOID", "kTANH", "kSOFTSIGN", "kGELU_ERF", "kGELU_TANH"})
_WITH_BETA = frozenset({"kSELU", "kSOFTPLUS", "kCLIP", "kHARD_SIGMOID", "kSCALED_TANH"})


class ActivationOp(LayerOperation):
    """A function of each element, with up to two parameters."""

    name = "tensorrt.activation"
    input = operand(*_NUMBERS)
    activation_type = attribute(
        kinds.enumeration("activation_type"), mlir="activationType", parameter="kind"
    )
    alpha = optional_attribute(kinds.F32_ATTR)
    beta = optional_attribute(kinds.F32_ATTR)
    result = output(*_NUMBERS, like="input")
    assembly_format = UNARY
    TRAITS: ClassVar[tuple[str, ...]] = _ELEMENTWISE

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Integers are rectified alone; each function has the parameters that it needs."""
        kind = self.value("activation_type")
        if self.is_of(self.input, kinds.I32, kinds.I64) and kind != "kRELU":
            yield "int32 and int64 types are supported only for RELU activation."
        needs = {"alpha": kind not in _WITHOUT_ALPHA, "beta": kind in _WITH_BETA}
        if any((self.value(name) is not None) != needed for name, needed in needs.items()):
            said = (f"expected {'' if is_ else 'no '}`{n}` attribute" for n, is_ in needs.items())
            yield f"{' and '.join(said)} for `activationType={kind}"

    def translate(self, at: "Emission") -> Any:
        """Add an activation."""
        kind = at.member("ActivationType", self.value("activation_type"))
        layer = at.add("activation", at.tensor(self.input), kind)
        return at.set(layer, alpha=self.value("alpha"), beta=self.value("beta"))


activation = SingleResultLayer(ActivationOp)

# The element types of unary functions, in the order in which NVIDIA's message lists them.
_UNARY_NUMBERS = (kinds.I8, kinds.I32, kinds.I64, kinds.F16, kinds.F32, kinds.BF16)
_TRIGONOMETRY = (
    *("kACOS", "kACOSH", "kASIN", "kASINH", "kATAN"),
    *("kATANH", "kCOSH", "kSINH", "kTAN"),
)
_UNARY = {
    "kNOT": (kinds.I1,),
    **dict.fromkeys(("kABS", "kNEG", "kSIGN"), _UNARY_NUMBERS),
    **dict.fromkeys(_TRIGONOMETRY, (kinds.F16, kinds.F32)),
}
_USUAL_UNARY = (kinds.F16, kinds.F32, kinds.BF16)


class UnaryOp(LayerOperation):
    """A function of each element."""

    name = "tensorrt.unary"
    input = operand(*kinds.USUAL)
    unary_operation = attribute(
        kinds.enumeration("unary_operation"), mlir="unaryOperation", parameter="kind"
    )
    result = output(kinds.RANKED, like="input")
    assembly_format = UNARY
    TRAITS: ClassVar[tuple[str, ...]] = _ELEMENTWISE

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Each function takes some types of elements."""
        names = _UNARY.get(self.value("unary_operation"), _USUAL_UNARY)
        if not self.is_of(self.result, *names):
            yield f"expected element type to be one of the following: {', '.join(names)}"

    def translate(self, at: "Emission") -> Any:
        """Add a unary layer."""
        kind = at.member("UnaryOperation", self.value("unary_operation"))
        return at.add("unary", at.tensor(self.input), kind)


def _emit_unary(place: "LayerEmission") -> Any:
    """NVIDIA's dialect classifies no floats: NaN is not equal to itself, `|x|` may be infinity."""
    kind, source = place.layer.arguments["kind"], place.layer.arguments["input"]
    if kind not in ("kISNAN", "kISINF"):
        return place.plain()
    if source.dtype.kind != "float":
        raise ValueError(f"{source.dtype} has neither infinities nor NaN")
    value = place.values[source]
    equals = {"elementwise_operation": "kEQUAL"}
    if kind == "kISNAN":
        equal = place.one("tensorrt.element_wise", value, value, **equals)
        return place.one("tensorrt.unary", equal, unary_operation="kNOT")
    size = place.one("tensorrt.unary", value, unary_operation="kABS")
    infinity = place.number(math.inf, source.dtype, (1,) * source.rank)
    return place.one("tensorrt.element_wise", size, infinity, **equals)


unary = SingleResultLayer(
    UnaryOp,
    emit=_emit_unary,
    refuses=lambda given, dtype: given["kind"] in _TRIGONOMETRY and dtype is dtypes.bfloat16,
)

_LOGICAL = frozenset({"kAND", "kOR", "kXOR"})
_TRUTHS = frozenset({"kGREATER", "kEQUAL", "kLESS"}) | _LOGICAL  # whose result is bool


class ElementWiseOp(LayerOperation):
    """A function of the elements of two tensors, broadcast where a size is one."""

    name = "tensorrt.element_wise"
    input1 = operand(*kinds.USUAL, parameter="lhs")
    input2 = operand(*kinds.USUAL, parameter="rhs")
    elementwise_operation = attribute(
        kinds.enumeration("element_wise_operation"), mlir="elementwiseOperation", parameter="kind"
    )
    result = output(kinds.RANKED, dtype="lhs")
    assembly_format = (
        "attr-dict $elementwiseOperation `(` operands `:` type(operands) `)` `->` type(results)"
    )
    CHECKS: ClassVar[Checks] = (
        all_match("rank", "input1", "input2", "result"),
        SAME_OPERANDS_ELEMENT_TYPE,
    )

    @staticmethod
    def result_shape(lhs: Shape, rhs: Shape) -> Sizes:
        """The broadcast shape."""
        return elementwise_shape(lhs, rhs)

    def result_element(self, result: OperationField) -> "Attribute | None":  # noqa: ARG002
        """The type of the operands; bool where a truth is the result."""
        truth = self.value("elementwise_operation") in _TRUTHS
        return self.element_type("bool") if truth else element(self.input1)

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Logic is of truths, and nothing else is; shapes broadcast."""
        yield from self._element_problems(self.value("elementwise_operation"))
        if not broadcastable(sizes(self.input1), sizes(self.input2)):
            pair = f"'{self.input1.type}' vs '{self.input2.type}'"
            yield f"shapes are not broadcastable: {pair}"

    def _element_problems(self, kind: str) -> Iterator[str]:
        truths, subject = self.is_of(self.input1, kinds.I1), f"ElementWiseOperation type {kind}"
        if kind in _LOGICAL and not truths:
            yield f"{subject} expected all input types to be i1 (bool)"
        if kind == "kPOW" and self.is_of(self.input1, kinds.I1, kinds.I32):
            yield f"{subject} does not allow i32 or i1 (bool) input types"
        if kind not in _LOGICAL and truths:
            yield f"{subject} does not support boolean input types"
        if kind in _TRUTHS and not self.is_of(self.result, kinds.I1):
            yield "result element type expected to be i1 (bool)"

    def translate(self, at: "Emission") -> Any:
        """Add an elementwise layer."""
        kind = at.member("ElementWiseOperation", self.value("elementwise_operation"))
        return at.add("elementwise", at.tensor(self.input1), at.tensor(self.input2), kind)


element_wise = SingleResultLayer(ElementWiseOp)


class CastOp(LayerOperation):
    """The elements in another type; `result_types` says which."""

    name = "tensorrt.cast"
    input = operand(*_CAST)
    dtype = argument(arguments.dtype)
    result = output(*_CAST, like="input", dtype="dtype")
    assembly_format = "attr-dict $input `:` type($input) `to` type($result)"
    TRAITS: ClassVar[tuple[str, ...]] = _ELEMENTWISE

    def translate(self, at: "Emission") -> Any:
        """Add a cast."""
        return at.add("cast", at.tensor(self.input), at.dtype(self.result))


cast = SingleResultLayer(CastOp)


class IdentityOp(LayerOperation):
    """The elements, perhaps in another type; `result_types` says which."""

    name = "tensorrt.identity"
    input = operand(*_IDENTICAL)
    result = output(*_IDENTICAL, like="input")
    assembly_format = "attr-dict $input `:` type($input) `to` type($result)"
    TRAITS: ClassVar[tuple[str, ...]] = _ELEMENTWISE
    INFERRED: ClassVar[bool] = False

    def result_element(self, result: OperationField) -> "Attribute | None":  # noqa: ARG002
        """What `result_types` says."""
        return None

    def translate(self, at: "Emission") -> Any:
        """Where types are strict, an identity that changes one is a cast."""
        if at.element(self.input) == at.element(self.result):
            return at.add("identity", at.tensor(self.input))
        return at.add("cast", at.tensor(self.input), at.dtype(self.result))


identity = SingleResultLayer(IdentityOp, typed=True)


class SelectOp(LayerOperation):
    """The elements of one tensor where a condition holds, and of another where it does not."""

    name = "tensorrt.select"
    condition = operand(kinds.I1)
    then_input = operand(*kinds.USUAL)
    else_input = operand(*kinds.USUAL)
    result = output(*kinds.USUAL, dtype="then_input")
    CHECKS: ClassVar[Checks] = (all_match("element type", "thenInput", "elseInput", "result"),)

    @staticmethod
    def result_shape(condition: Shape, then_input: Shape, else_input: Shape) -> Sizes:
        """The shape to which all three broadcast."""
        return elementwise_shape(condition, then_input, else_input)

    def translate(self, at: "Emission") -> Any:
        """Add a select."""
        return at.add("select", *map(at.tensor, self.operands))


select = SingleResultLayer(SelectOp)


class ParametricReLUOp(LayerOperation):
    """Each element where it is positive, and its product with a slope where it is not."""

    name = "tensorrt.parametric_relu"
    input = operand(*_SLOPED)
    slope = operand(*_SLOPED)
    result = output(*_SLOPED, like="input")
    ALLOWED_IN_REGIONS: ClassVar[bool] = False
    CHECKS: ClassVar[Checks] = (
        all_match("rank", "input", "slope"),
        all_match("element type", "input", "slope"),
    )

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The slope broadcasts to the input."""
        pairs = zip(sizes(self.input), sizes(self.slope), strict=True)
        if any(slope != 1 and differ(size, slope) for size, slope in pairs):
            yield (
                "expected dimensions of slope tensor should be either 1 or equal to correspond "
                "dimension of the input tensor"
            )

    def translate(self, at: "Emission") -> Any:
        """Add a parametric ReLU."""
        return at.add("parametric_relu", *map(at.tensor, self.operands))


parametric_relu = SingleResultLayer(ParametricReLUOp)


def count_weights(shape: Shape, mode: str, axis: int) -> MaybeSize:
    """How many weights of each kind `scale` takes: one, one per channel, or one per element."""
    if mode == "kUNIFORM":
        return 1
    if mode == "kCHANNEL":
        return shape[axis]
    return volume(shape[axis if axis >= 0 else len(shape) + axis :])


class ScaleOp(LayerOperation):
    """`(input * scale + shift) ** power`, with weights for all, each channel or each element."""

    name = "trtx.scale"
    input = operand(*kinds.FLOATS)
    mode = attribute(kinds.enumeration("scale_mode"))
    shift = optional_operand(*kinds.FLOATS)
    scale = optional_operand(*kinds.FLOATS)
    power = optional_operand(*kinds.FLOATS)
    axis = attribute(kinds.I64_ATTR, default=1)
    result = output(*kinds.FLOATS, like="input")
    assembly_format = (
        "$mode $input (`shift` `(` $shift^ `:` type($shift) `)`)?"
        " (`scale` `(` $scale^ `:` type($scale) `)`)?"
        " (`power` `(` $power^ `:` type($power) `)`)? attr-dict `:` type($input)"
    )

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """There are as many weights as the mode needs."""
        shape, mode, axis = sizes(self.input), self.value("mode"), self.value("axis")
        yield from check_min_rank(self, "input", 1)
        if not -len(shape) <= axis < len(shape):
            yield f"`axis` is {axis}, which is outside of [-{len(shape)}, {len(shape)})"
        wanted = count_weights(shape, mode, axis)
        for name in ("shift", "scale", "power"):
            given = getattr(self, name)
            if given is not None:
                what = f"as many weights as {mode} needs,"
                yield from check_equal_sizes(name, what, volume(sizes(given)), wanted)

    def translate(self, at: "Emission") -> Any:
        """Add a scale."""
        mode = at.member("ScaleMode", self.value("mode"))
        weights = [self._weights(at, name) for name in ("shift", "scale", "power")]
        axis = self.value("axis") % len(sizes(self.input))
        return at.add("scale_nd", at.tensor(self.input), mode, *weights, axis)

    def _weights(self, at: "Emission", name: str) -> Any:
        """Give a parameter that TensorRT wants as weights, and no tensor."""
        value = getattr(self, name)
        if value is None:
            return at.library.module.Weights(at.dtype(self.input))
        owner: Any = value.owner
        if getattr(owner, "name", "") != "tensorrt.constant":
            hint = "multiply and add with `tensorrt.element_wise` instead"
            at.refuse(f"`{name}` of `{self.name}` must be a constant", hint=hint)
        return at.weights(owner.value("weights"))


scale = SingleResultLayer(ScaleOp)
