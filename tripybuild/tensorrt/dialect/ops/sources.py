"""Source operations: constants, linspace, random numbers."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.irdl import (
    VarConstraint,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import ConstantLike, Pure

from tripybuild.tensorrt.dialect import attribute_kinds as attributes, types
from tripybuild.tensorrt.dialect.base import (
    SEGMENTED,
    Component,
    OpProblem,
    TensorrtOperation,
    element,
    operation,
    sizes,
)
from tripybuild.tensorrt.dialect.checks import PARTIALLY_INFERRED, Checks, all_match
from tripybuild.tensorrt.dialect.optional_f64 import OptionalF64
from tripybuild.tensorrt.shape_rules import differ, sources as rules

_SAMPLED = (types.F32, types.F16)
_STEPPED = (types.I32, types.I64, types.F32)
_SCALAR, _LIST = (0,), (1,)
_NEEDS_SHAPE = "If `result` has dynamic dims, `shape` tensor must be present"


@operation
class ConstantOp(TensorrtOperation):
    """A constant; `weights` are elements, whose type is the result's."""

    name = "tensorrt.constant"
    weights = prop_def(attributes.WEIGHTS)
    result = result_def(VarConstraint("T", types.TENSOR_OF_EVERY_TYPE))
    assembly_format = "attr-dict $weights"
    traits = traits_def(Pure(), ConstantLike())
    CHECKS: ClassVar[Checks] = (all_match("type", "weights", "result"),)

    def components(self) -> Sequence[Component]:
        """The type of the elements."""
        weights: Any = self.weights
        return [Component(sizes(weights.get_type()), element(weights.get_type()))]


class _FillOperation(TensorrtOperation):
    """What is made of a shape: that of the result's type, or the values of an operand."""

    CHECKS: ClassVar[Checks] = (PARTIALLY_INFERRED,)
    # The two operands that go together.
    PAIR: ClassVar[tuple[str, str]]

    def components(self) -> Sequence[Component]:
        """The rank, where the shape is an operand."""
        shape = getattr(self, "shape", None)
        return [Component(None if shape is None else rules.fill(sizes(shape)))]

    def _kind(self) -> TensorType:
        kind = self.results[0].type
        assert isinstance(kind, TensorType)
        return kind

    def _shapeless(self) -> Iterator[str]:
        if getattr(self, "shape", None) is None and None in sizes(self._kind()):
            yield _NEEDS_SHAPE

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Both parameters are operands, or none is, of the result's element type."""
        first, second = (getattr(self, name) for name in self.PAIR)
        names = " and ".join(f"`{name}`" for name in self.PAIR)
        if (first is None) != (second is None):
            yield f"{names} must either both be dynamic or both be static"
        elif first is not None:
            if element(first) != element(second):
                yield f"{names} tensor types must have the same element type"
            if element(first) != element(self._kind()):
                low, high = self.PAIR
                yield f"`{low}`, `{high}` and `result` element type should be the same"
        yield from self._shapeless()


@operation
class LinspaceOp(_FillOperation):
    """Numbers at equal distances: a start, and a step along each dimension."""

    name = "tensorrt.linspace"
    shape = opt_operand_def(types.tensor(types.I32, types.I64, ranks=_LIST))
    start = opt_operand_def(types.tensor(*_STEPPED, ranks=_SCALAR))
    step = opt_operand_def(types.tensor(*_STEPPED, ranks=_LIST))
    static_start = opt_prop_def(attributes.F64)
    static_step = opt_prop_def(attributes.F64)
    result = result_def(types.tensor(*_STEPPED))
    irdl_options = SEGMENTED
    custom_directives = (OptionalF64,)
    assembly_format = (
        "attr-dict `[` ($start^ `:` type($start)) : (custom<OptionalF64>($static_start))? `]`"
        " `[` ($shape^ `:` type($shape)) : (`static`)? `]`"
        " `[` ($step^ `:` type($step)) : (custom<OptionalF64>($static_step))? `]` `:` type($result)"
    )
    traits = traits_def(Pure())

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """A result of several dimensions has a step for each; a step has a start."""
        kind, step, start = self._kind(), self.step, self.start
        rank = kind.get_num_dims()
        if rank > 1 and step is None:
            yield "dynamic `step` must be specified if the result is greater than rank 1"
        if step is not None:
            if rank > 1 and differ(sizes(step)[0], rank):
                yield (
                    "dynamic `step` type dimension 0 length must be the same size as the rank of "
                    "the result type"
                )
            if element(step) != element(kind):
                yield "`step` element type and result element type should be the same"
            if start is None:
                yield "`start` and `step` must either both be dynamic or both be static"
            elif element(start) != element(step):
                yield "start and step tensor types must have the same element type"
        yield from self._shapeless()


@operation
class RandomUniformOp(_FillOperation):
    """Random numbers between two bounds; 0 and 1 where none are given."""

    name = "tensorrt.random_uniform"
    shape = opt_operand_def(types.tensor(types.I32, ranks=_LIST))
    low = opt_operand_def(types.tensor(*_SAMPLED, ranks=_SCALAR))
    high = opt_operand_def(types.tensor(*_SAMPLED, ranks=_SCALAR))
    static_low = opt_prop_def(attributes.F64)
    static_high = opt_prop_def(attributes.F64)
    result = result_def(types.tensor(*_SAMPLED))
    irdl_options = SEGMENTED
    assembly_format = (
        "attr-dict (`low` `(` $low^ `:` type($low) `)`)? (`high` `(` $high^ `:` type($high) `)`)?"
        " (`shape` `(` $shape^ `:` type($shape) `)`)? `->` type($result)"
    )
    traits = traits_def(Pure())
    PAIR: ClassVar[tuple[str, str]] = ("low", "high")


@operation
class RandomNormalOp(_FillOperation):
    """Normally distributed numbers; mean 0 and deviation 1 where none are given."""

    name = "tensorrt.random_normal"
    shape = opt_operand_def(types.tensor(types.I32, ranks=_LIST))
    mean = opt_operand_def(types.tensor(*_SAMPLED, ranks=_SCALAR))
    std = opt_operand_def(types.tensor(*_SAMPLED, ranks=_SCALAR))
    static_mean = opt_prop_def(attributes.F64)
    static_std = opt_prop_def(attributes.F64)
    result = result_def(types.tensor(*_SAMPLED))
    irdl_options = SEGMENTED
    assembly_format = (
        "attr-dict (`mean` `(` $mean^ `:` type($mean) `)`)? (`std` `(` $std^ `:` type($std) `)`)?"
        " (`shape` `(` $shape^ `:` type($shape) `)`)? `->` type($result)"
    )
    traits = traits_def(Pure())
    PAIR: ClassVar[tuple[str, str]] = ("mean", "std")
