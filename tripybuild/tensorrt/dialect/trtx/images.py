"""Image operations: grid sampling, local response normalization, scaling, NMS."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerType
from xdsl.irdl import (
    VarConstraint,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

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
from tripybuild.tensorrt.dialect.trtx.attributes import enumeration
from tripybuild.tensorrt.dialect.trtx.operand_checks import (
    check_equal_sizes,
    check_min_rank,
    check_range,
    check_rank,
    check_same_types,
)
from tripybuild.tensorrt.shape_rules import differ, trtx as rules

_FLOAT = types.FLOAT_TENSOR
_NORMALIZED = types.tensor(types.I8, *types.FLOATS)
_WEIGHTS = types.tensor(*types.FLOATS)
_SAMPLED = frozenset({"kCLAMP", "kFILL", "kREFLECT"})
_THRESHOLD = types.tensor(types.F32, ranks=(0,))


@operation
class GridSampleOp(TensorrtOperation):
    """The input at each place of a grid; places go from -1 to 1."""

    name = "trtx.grid_sample"
    input = operand_def(_FLOAT)
    grid = operand_def(_FLOAT)
    interpolation = prop_def(
        enumeration("interpolation_mode"),
        default_value=enumeration("interpolation_mode").attribute("kLINEAR"),
    )
    align_corners = prop_def(attributes.BOOL, default_value=attributes.BOOL.attribute(value=False))
    mode = prop_def(
        attributes.enumeration("slice_mode"),
        default_value=attributes.enumeration("slice_mode").attribute("kFILL"),
    )
    result = result_def(_FLOAT)
    assembly_format = "attr-dict `ins` `(` operands `:` type(operands) `)` `->` type($result)"
    traits = traits_def(Pure())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """A place for each point of the grid."""
        shape = rules.grid_sample(sizes(self.input), sizes(self.grid))
        return [Component(shape, element(self.input))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The grid has a point for each place, with a number for each dimension."""
        given, grid, mode = sizes(self.input), sizes(self.grid), self.value("mode")
        yield from check_same_types(self, "input", "grid")
        if mode not in _SAMPLED:
            yield f"`mode` is {mode}, but must be kCLAMP, kFILL or kREFLECT"
        if len(given) not in {4, 5}:
            yield f"expected input to be of rank 4 or 5, but it is of rank {len(given)}"
        yield from check_rank(self, "grid", len(given), " like input")
        yield from check_equal_sizes("grid", "a last size of", grid[-1], len(given) - 2)
        yield from check_equal_sizes("grid", "the batch of the input,", grid[0], given[0])


@operation
class LRNOp(TensorrtOperation):
    """Each element by a power of the squares around it, in neighboring channels."""

    name = "trtx.lrn"
    input = operand_def(VarConstraint("T", _NORMALIZED))
    window = prop_def(attributes.I64)
    alpha = prop_def(attributes.F32)
    beta = prop_def(attributes.F32)
    k = prop_def(attributes.F32)
    result = result_def(VarConstraint("T", _NORMALIZED))
    assembly_format = "attr-dict $input `:` type($input)"
    traits = traits_def(Pure())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The input's type."""
        return [Component(sizes(self.input), element(self.input))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Numbers are those that TensorRT takes."""
        window = self.value("window")
        yield from check_min_rank(self, "input", 4)
        if not (1 <= window <= 15 and window % 2):
            yield f"`window` is {window}, but must be odd, from 1 to 15"
        yield from check_range("alpha", self.value("alpha"), -1e20, 1e20)
        yield from check_range("beta", self.value("beta"), _single(0.01), 1e5)
        yield from check_range("k", self.value("k"), _single(1e-5), 1e10)


def _single(number: float) -> float:
    return float(attributes.F32.value(attributes.F32.attribute(number)))


@operation
class ScaleOp(TensorrtOperation):
    """`(input * scale + shift) ** power`, with weights for all, each channel or each element."""

    name = "trtx.scale"
    irdl_options = SEGMENTED
    input = operand_def(VarConstraint("T", _FLOAT))
    shift = opt_operand_def(_WEIGHTS)
    scale = opt_operand_def(_WEIGHTS)
    power = opt_operand_def(_WEIGHTS)
    mode = prop_def(enumeration("scale_mode"))
    axis = prop_def(attributes.I64, default_value=attributes.I64.attribute(1))
    result = result_def(VarConstraint("T", _FLOAT))
    assembly_format = (
        "$mode $input (`shift` `(` $shift^ `:` type($shift) `)`)?"
        " (`scale` `(` $scale^ `:` type($scale) `)`)?"
        " (`power` `(` $power^ `:` type($power) `)`)? attr-dict `:` type($input)"
    )
    traits = traits_def(Pure())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The input's type."""
        return [Component(sizes(self.input), element(self.input))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """There are as many weights as the mode needs."""
        shape, mode, axis = sizes(self.input), self.value("mode"), self.value("axis")
        yield from check_min_rank(self, "input", 1)
        if not -len(shape) <= axis < len(shape):
            yield f"`axis` is {axis}, which is outside of [-{len(shape)}, {len(shape)})"
        wanted = rules.weights(shape, mode, axis)
        for name in ("shift", "scale", "power"):
            given = getattr(self, name)
            if given is not None:
                count = rules.weights(sizes(given), "kELEMENTWISE", 0)
                yield from check_equal_sizes(
                    name, f"as many weights as {mode} needs,", count, wanted
                )


@operation
class NMSOp(TensorrtOperation):
    """The best boxes that do not overlap: `[batch, class, box]` of each, and how many there are."""

    name = "trtx.nms"
    irdl_options = SEGMENTED
    boxes = operand_def(_FLOAT)
    scores = operand_def(_FLOAT)
    max_output_boxes_per_class = operand_def(types.tensor(types.I32, types.I64, ranks=(0,)))
    iou_threshold = opt_operand_def(_THRESHOLD)
    score_threshold = opt_operand_def(_THRESHOLD)
    box_format = prop_def(
        enumeration("bounding_box_format"),
        default_value=enumeration("bounding_box_format").attribute("kCORNER_PAIRS"),
    )
    top_k_box_limit = opt_prop_def(attributes.I64)
    indices = result_def(types.tensor(types.I32, types.I64))
    count = result_def(types.tensor(types.I32, ranks=(0,)))
    assembly_format = (
        "attr-dict `ins` `(` $boxes `,` $scores `,` $max_output_boxes_per_class"
        " `:` type($boxes) `,` type($scores) `,` type($max_output_boxes_per_class) `)`"
        " (`iou_threshold` `(` $iou_threshold^ `:` type($iou_threshold) `)`)?"
        " (`score_threshold` `(` $score_threshold^ `:` type($score_threshold) `)`)?"
        " `->` type(results)"
    )
    traits = traits_def(Pure())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """Unknown number: it depends on data; indices are i64 if the type has i64."""
        given = self.indices.type
        kind = element(given) if types.RANKED.accepts(given) else IntegerType(32)
        return [Component((None, 3), kind), Component((), IntegerType(32))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Boxes and scores are of the same batch, boxes and classes."""
        boxes, scores, limit = sizes(self.boxes), sizes(self.scores), self.value("top_k_box_limit")
        yield from check_same_types(self, "boxes", "scores")
        if len(boxes) not in {3, 4}:
            yield f"expected boxes to be of rank 3 or 4, but they are of rank {len(boxes)}"
        yield from check_rank(self, "scores", 3)
        yield from check_equal_sizes("boxes", "a last size of", boxes[-1], 4)
        shared = "batch and boxes" if len(boxes) == 3 else "batch, boxes and classes"
        if any(map(differ, boxes[:-1], scores)):
            yield f"boxes and scores must have the same {shared}"
        if limit is not None:
            yield from check_range("top_k_box_limit", limit, 0, 5000)
