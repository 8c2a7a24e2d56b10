"""Resize operations: interpolation of a tensor's innermost dimensions."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def, result_def, traits_def
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
from tripybuild.tensorrt.dialect.checks import PARTIALLY_INFERRED, Checks
from tripybuild.tensorrt.shape_rules import differ, resizing as rules

_RESIZED = types.tensor(types.I8, types.F16, types.F32)


class _Resize(TensorrtOperation):
    """What resizing needs: sizes as a tensor, scales, or static sizes of the result."""

    input = operand_def(_RESIZED)
    output_shape = opt_operand_def(types.SHAPE)
    scales = opt_prop_def(attributes.F32_ARRAY)
    coordinate_transformation = prop_def(
        attributes.enumeration("resize_coordinate_transformation"),
        prop_name="coordinateTransformation",
    )
    selector_for_single_pixel = prop_def(
        attributes.enumeration("resize_selector"), prop_name="selectorForSinglePixel"
    )
    result = result_def(_RESIZED)
    assembly_format = (
        "attr-dict $input ( `,` $output_shape^ )? `:` functional-type(operands, results)"
    )
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (PARTIALLY_INFERRED,)
    INNERMOST: ClassVar[int] = 3

    def components(self) -> Sequence[Component]:
        """The sizes times the scales; without scales, the rank."""
        shape = rules.resize(sizes(self.input), self.value("scales"), cubic=self.INNERMOST == 2)
        return [Component(shape, element(self.input))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Only innermost dimensions change, and their new sizes are inferable."""
        given, result, scales = sizes(self.input), sizes(self.result), self.value("scales")
        outer = len(result) - min(self.INNERMOST, len(result))
        if any(map(differ, given[:outer], result[:outer])):
            innermost = "innermost 2" if self.INNERMOST == 2 else "3 innermost"
            yield f"only supports resizing on the {innermost} dimensions"
        if self.output_shape is None and scales is None and None in result[outer:]:
            yield (
                "scales must be provided when output_shape is not provided and the input/output "
                "dimensions are dynamic"
            )


@operation
class ResizeNearestOp(_Resize):
    """The nearest element."""

    name = "tensorrt.resize_nearest"
    nearest_rounding = prop_def(
        attributes.enumeration("resize_round_mode"), prop_name="nearestRounding"
    )


@operation
class ResizeLinearOp(_Resize):
    """A weighted mean of the elements on both sides of each dimension."""

    name = "tensorrt.resize_linear"


@operation
class ResizeCubicOp(_Resize):
    """A cubic curve through the elements on both sides of each dimension."""

    name = "tensorrt.resize_cubic"
    cubic_coeff = prop_def(attributes.F32, prop_name="cubicCoeff")
    INNERMOST: ClassVar[int] = 2
