"""Elementwise operations: activations, unary and binary functions, casts, select."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import i1, i32, i64
from xdsl.irdl import (
    VarConstraint,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from tripybuild.tensorrt.dialect import attribute_kinds as attributes, types
from tripybuild.tensorrt.dialect.base import (
    Component,
    OpProblem,
    TensorrtOperation,
    element,
    operation,
    sizes,
)
from tripybuild.tensorrt.dialect.checks import (
    PARTIALLY_INFERRED,
    SAME_OPERANDS_ELEMENT_TYPE,
    Checks,
    all_match,
)
from tripybuild.tensorrt.dialect.effects import ElementwiseMappable
from tripybuild.tensorrt.shape_rules import Shape, arithmetic as rules, differ

_ACTIVATED = types.tensor(types.I8, types.I32, types.I64, *types.FLOATS)
_CAST = types.tensor(types.I1, types.UI8, types.I8, types.I32, types.I64, *types.FLOATS)
_IDENTICAL = types.tensor(types.I1, types.UI8, types.I8, types.I32, *types.FLOATS)
_CHOSEN = types.tensor(types.I1, types.I8, types.I32, types.I64, *types.FLOATS)
_SLOPED = types.tensor(types.I8, *types.FLOATS)

_WITHOUT_ALPHA = frozenset({"kRELU", "kSIGMOID", "kTANH", "kSOFTSIGN", "kGELU_ERF", "kGELU_TANH"})
_WITH_BETA = frozenset({"kSELU", "kSOFTPLUS", "kCLIP", "kHARD_SIGMOID", "kSCALED_TANH"})

# The element types of unary functions, in the order in which NVIDIA's message lists them.
_ELEMENTS = {
    "I1": types.I1,
    "I8": types.I8,
    "I32": types.I32,
    "I64": types.I64,
    "F16": types.F16,
    "F32": types.F32,
    "BF16": types.BF16,
}
_NUMBERS = ("I8", "I32", "I64", "F16", "F32", "BF16")
_UNARY = {
    "kNOT": ("I1",),
    **dict.fromkeys(("kABS", "kNEG", "kSIGN"), _NUMBERS),
    **dict.fromkeys(("kACOS", "kACOSH", "kASIN", "kASINH", "kATAN"), ("F16", "F32")),
    **dict.fromkeys(("kATANH", "kCOSH", "kSINH", "kTAN"), ("F16", "F32")),
}
_USUAL_UNARY = ("F16", "F32", "BF16")

_LOGICAL = frozenset({"kAND", "kOR", "kXOR"})


@operation
class ActivationOp(TensorrtOperation):
    """A function of each element, with up to two parameters."""

    name = "tensorrt.activation"
    input = operand_def(VarConstraint("T", _ACTIVATED))
    activation_type = prop_def(
        attributes.enumeration("activation_type"), prop_name="activationType"
    )
    alpha = opt_prop_def(attributes.F32)
    beta = opt_prop_def(attributes.F32)
    result = result_def(VarConstraint("T", _ACTIVATED))
    assembly_format = "attr-dict $input `:` type($input)"
    traits = traits_def(Pure(), ElementwiseMappable())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The type of the input."""
        return [Component(sizes(self.input), element(self.input))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Integers are rectified alone; each function has the parameters that it needs."""
        kind = self.value("activation_type")
        if element(self.input) in (i32, i64) and kind != "kRELU":
            yield "int32 and int64 types are supported only for RELU activation."
        needs = {"alpha": kind not in _WITHOUT_ALPHA, "beta": kind in _WITH_BETA}
        if any((self.value(name) is not None) != needed for name, needed in needs.items()):
            said = (f"expected {'' if is_ else 'no '}`{n}` attribute" for n, is_ in needs.items())
            yield f"{' and '.join(said)} for `activationType={kind}"


@operation
class UnaryOp(TensorrtOperation):
    """A function of each element."""

    name = "tensorrt.unary"
    input = operand_def(VarConstraint("T", types.TENSOR))
    unary_operation = prop_def(
        attributes.enumeration("unary_operation"), prop_name="unaryOperation"
    )
    result = result_def(VarConstraint("T", types.RANKED))
    assembly_format = "attr-dict $input `:` type($input)"
    traits = traits_def(Pure(), ElementwiseMappable())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The type of the input."""
        return [Component(sizes(self.input), element(self.input))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Each function takes some types of elements."""
        names = _UNARY.get(self.value("unary_operation"), _USUAL_UNARY)
        if not any(_ELEMENTS[name].accepts(element(self.result)) for name in names):
            yield f"expected element type to be one of the following: {', '.join(names)}"


@operation
class ElementWiseOp(TensorrtOperation):
    """A function of the elements of two tensors, broadcast where a size is one."""

    name = "tensorrt.element_wise"
    input1 = operand_def(types.TENSOR)
    input2 = operand_def(types.TENSOR)
    elementwise_operation = prop_def(
        attributes.enumeration("element_wise_operation"), prop_name="elementwiseOperation"
    )
    result = result_def(types.RANKED)
    assembly_format = (
        "attr-dict $elementwiseOperation `(` operands `:` type(operands) `)` `->` type(results)"
    )
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (
        all_match("rank", "input1", "input2", "result"),
        SAME_OPERANDS_ELEMENT_TYPE,
    )
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The broadcast shape; bool where a truth is the result."""
        truth = self.value("elementwise_operation") in rules.TRUTHS
        shape = rules.elementwise(sizes(self.input1), sizes(self.input2))
        return [Component(shape, i1 if truth else element(self.input1))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Logic is of truths, and nothing else is; shapes broadcast."""
        yield from self._element_problems(self.value("elementwise_operation"))
        if not rules.broadcastable(sizes(self.input1), sizes(self.input2)):
            pair = f"'{self.input1.type}' vs '{self.input2.type}'"
            yield f"shapes are not broadcastable: {pair}"

    def _element_problems(self, kind: str) -> Iterator[str]:
        given, subject = element(self.input1), f"ElementWiseOperation type {kind}"
        if kind in _LOGICAL and given != i1:
            yield f"{subject} expected all input types to be i1 (bool)"
        if kind == "kPOW" and given in (i1, i32):
            yield f"{subject} does not allow i32 or i1 (bool) input types"
        if kind not in _LOGICAL and given == i1:
            yield f"{subject} does not support boolean input types"
        if kind in rules.TRUTHS and element(self.result) != i1:
            yield "result element type expected to be i1 (bool)"


@operation
class CastOp(TensorrtOperation):
    """The elements in another type; `result_types` says which."""

    name = "tensorrt.cast"
    input = operand_def(_CAST)
    result = result_def(_CAST)
    assembly_format = "attr-dict $input `:` type($input) `to` type($result)"
    traits = traits_def(Pure(), ElementwiseMappable())
    CHECKS: ClassVar[Checks] = (PARTIALLY_INFERRED,)

    def components(self) -> Sequence[Component]:
        """The shape of the input."""
        return [Component(sizes(self.input))]


@operation
class IdentityOp(TensorrtOperation):
    """The elements, perhaps in another type; `result_types` says which."""

    name = "tensorrt.identity"
    input = operand_def(_IDENTICAL)
    result = result_def(_IDENTICAL)
    assembly_format = "attr-dict $input `:` type($input) `to` type($result)"
    traits = traits_def(Pure(), ElementwiseMappable())
    CHECKS: ClassVar[Checks] = (PARTIALLY_INFERRED,)

    def components(self) -> Sequence[Component]:
        """The shape of the input."""
        return [Component(sizes(self.input))]


@operation
class SelectOp(TensorrtOperation):
    """The elements of one tensor where a condition holds, and of another where it does not."""

    name = "tensorrt.select"
    condition = operand_def(types.tensor(types.I1))
    then_input = operand_def(_CHOSEN)
    else_input = operand_def(_CHOSEN)
    result = result_def(_CHOSEN)
    assembly_format = "attr-dict `ins` `(` operands `:` type(operands) `)` `->` type($result)"
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (all_match("element type", "thenInput", "elseInput", "result"),)
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The shape to which all three broadcast."""
        shapes: list[Shape] = [sizes(operand) for operand in self.operands]
        return [Component(rules.elementwise(*shapes), element(self.then_input))]


@operation
class ParametricReLUOp(TensorrtOperation):
    """Each element where it is positive, and its product with a slope where it is not."""

    name = "tensorrt.parametric_relu"
    input = operand_def(_SLOPED)
    slope = operand_def(_SLOPED)
    result = result_def(_SLOPED)
    assembly_format = "attr-dict `ins` `(` operands `:` type(operands) `)` `->` type(results)"
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (
        all_match("rank", "input", "slope"),
        all_match("element type", "input", "slope"),
    )
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The type of the input."""
        return [Component(sizes(self.input), element(self.input))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The slope broadcasts to the input."""
        pairs = zip(sizes(self.input), sizes(self.slope), strict=True)
        if any(slope != 1 and differ(size, slope) for size, slope in pairs):
            yield (
                "expected dimensions of slope tensor should be either 1 or equal to correspond "
                "dimension of the input tensor"
            )
