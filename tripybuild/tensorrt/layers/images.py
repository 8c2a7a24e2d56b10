"""Image layers: resize, grid sampling, LRN, NMS."""

import struct
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tripybuild.symbolic.dims import same
from tripybuild.tensorrt.layers import kinds
from tripybuild.tensorrt.layers.checks import (
    check_equal_sizes,
    check_min_rank,
    check_range,
    check_rank,
    check_same_types,
)
from tripybuild.tensorrt.layers.declaration import MultiResultLayer, SingleResultLayer
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
    ShapeError,
    Sizes,
    differ,
    is_static,
)

if TYPE_CHECKING:
    from xdsl.ir import Attribute

    from tripybuild.tensorrt.emission.layer_emission import LayerEmission
    from tripybuild.tensorrt.translation.emission import Emission

_RESIZED = (kinds.I8, kinds.F16, kinds.F32)


def resize_shape(shape: Shape, scales: Sequence[float] | None, *, cubic: bool = False) -> Sizes:
    """The sizes times their scales; without scales, nothing but the rank is known."""
    if cubic and len(shape) < 2:
        raise ShapeError("does not support resizing on a tensor that has rank < 2")
    if scales is None:
        return (None,) * len(shape)
    if len(scales) != len(shape):
        raise ShapeError("scales parameter must have same number of dimensions as input/output")
    innermost = 2 if cubic else min(3, len(shape))
    if any(scale != 1 for scale in scales[: len(shape) - innermost]):
        raise ShapeError(f"all scale values except {2 if cubic else 3} innermost must be 1")
    return tuple(_scale_size(size, scale) for size, scale in zip(shape, scales, strict=True))


def _scale_size(size: MaybeSize, scale: float) -> MaybeSize:
    """The size in single precision, as TensorRT has it; a symbol's for whole scales alone."""
    if size is None or same(size, 0):
        return size
    if is_static(size):
        return int(_single(_single(float(size)) * _single(scale)))
    return size * int(scale) if float(scale).is_integer() else None


def _single(number: float) -> float:
    rounded: float = struct.unpack("f", struct.pack("f", number))[0]
    return rounded


class _Resize(LayerOperation):
    """What resizing needs: sizes as a tensor, scales, or static sizes of the result."""

    input = operand(*_RESIZED)
    shape = argument(arguments.sizes.with_default(None))
    output_shape = optional_operand(kinds.SHAPE, offered=False)
    scales = optional_attribute(kinds.F32_ARRAY)
    coordinate_transformation = attribute(
        kinds.enumeration("resize_coordinate_transformation"),
        mlir="coordinateTransformation",
        parameter="coordinates",
        call_default="kHALF_PIXEL",
    )
    selector_for_single_pixel = attribute(
        kinds.enumeration("resize_selector"),
        mlir="selectorForSinglePixel",
        parameter="selector",
        call_default="kFORMULA",
    )
    result = output(*_RESIZED, dtype="input")
    assembly_format = (
        "attr-dict $input ( `,` $output_shape^ )? `:` functional-type(operands, results)"
    )
    INFERRED: ClassVar[bool] = False
    ALLOWED_IN_REGIONS: ClassVar[bool] = False
    INNERMOST: ClassVar[int] = 3
    MODE: ClassVar[str]

    @staticmethod
    def result_shape(
        input: Shape, shape: Sequence[Any] | None, scales: Sequence[float] | None
    ) -> Sizes:
        """The sizes that a call says, or else the sizes times the scales."""
        return resize_shape(input, scales) if shape is None else tuple(shape)

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

    def translate(self, at: "Emission") -> Any:
        """Add a resize."""
        layer, result = at.add("resize", at.tensor(self.input)), self.result
        kind: Any = result.type
        if self.output_shape is not None:
            layer.set_input(1, at.tensor(self.output_shape))
        elif self.value("scales") is not None:
            at.set(layer, scales=self.value("scales"))
        else:
            at.set(layer, shape=kind.get_shape())
        coordinates = self.value("coordinate_transformation")
        selector = self.value("selector_for_single_pixel")
        return at.set(
            layer,
            resize_mode=at.member("InterpolationMode", self.MODE),
            coordinate_transformation=at.member("ResizeCoordinateTransformation", coordinates),
            selector_for_single_pixel=at.member("ResizeSelector", selector),
            **self.special_fields(at),
        )

    def special_fields(self, at: "Emission") -> dict[str, Any]:  # noqa: ARG002
        """What this way of interpolating has besides."""
        return {}


class ResizeNearestOp(_Resize):
    """The nearest element."""

    name = "tensorrt.resize_nearest"
    nearest_rounding = attribute(
        kinds.enumeration("resize_round_mode"),
        mlir="nearestRounding",
        parameter="rounding",
        call_default="kFLOOR",
    )
    MODE: ClassVar[str] = "NEAREST"

    def special_fields(self, at: "Emission") -> dict[str, Any]:
        """How places are rounded."""
        rounding = at.member("ResizeRoundMode", self.value("nearest_rounding"))
        return {"nearest_rounding": rounding}


class ResizeLinearOp(_Resize):
    """A weighted mean of the elements on both sides of each dimension."""

    name = "tensorrt.resize_linear"
    MODE: ClassVar[str] = "LINEAR"


class ResizeCubicOp(_Resize):
    """A cubic curve through the elements on both sides of each dimension."""

    name = "tensorrt.resize_cubic"
    cubic_coeff = attribute(
        kinds.F32_ATTR, mlir="cubicCoeff", parameter="cubic_coefficient", call_default=-0.75
    )
    INNERMOST: ClassVar[int] = 2
    MODE: ClassVar[str] = "CUBIC"

    @staticmethod
    def result_shape(
        input: Shape, shape: Sequence[Any] | None, scales: Sequence[float] | None
    ) -> Sizes:
        """The sizes that a call says, or else the sizes times the scales."""
        return resize_shape(input, scales, cubic=True) if shape is None else tuple(shape)

    def special_fields(self, at: "Emission") -> dict[str, Any]:  # noqa: ARG002
        """The curve's coefficient."""
        return {"cubic_coeff": self.value("cubic_coeff")}


def _emit_resize(place: "LayerEmission") -> Any:
    """Scales are attributes where they give the shape, by the engine's arithmetic too."""
    layer, given = place.layer, place.layer.arguments
    before, shape, scales = given["input"].shape, layer.results[0].shape, given["scales"]
    if shape is None or (given["shape"] is None and scales is None):
        raise ValueError("it needs a shape, or scales of an input with a known shape")
    if scales is not None and before is not None:
        cubic = layer.declaration.name == "resize_cubic"
        matches = same(resize_shape(before, scales, cubic=cubic), tuple(shape))
        scales = scales if matches else None
    parameters = layer.declaration.parameters
    attributes = {
        parameters[name].attribute: given[name]
        for name in ("coordinates", "selector", "rounding", "cubic_coefficient")
        if name in parameters
    }
    sizes = None if scales else place.dynamic(shape)  # type: ignore[arg-type]
    operands = place.argument("input"), sizes
    return place.like_result(layer.declaration.operation, *operands, scales=scales, **attributes)


resize_nearest = SingleResultLayer(ResizeNearestOp, emit=_emit_resize)
resize_linear = SingleResultLayer(ResizeLinearOp, emit=_emit_resize)
resize_cubic = SingleResultLayer(ResizeCubicOp, emit=_emit_resize)

_SAMPLED = frozenset({"kCLAMP", "kFILL", "kREFLECT"})


class GridSampleOp(LayerOperation):
    """The input at each place of a grid; places go from -1 to 1."""

    name = "trtx.grid_sample"
    input = operand(*kinds.FLOATS)
    grid = operand(*kinds.FLOATS)
    interpolation = attribute(kinds.enumeration("interpolation_mode"), default="kLINEAR")
    align_corners = attribute(kinds.BOOL_ATTR, default=False)
    mode = attribute(kinds.enumeration("slice_mode"), default="kFILL")
    result = output(*kinds.FLOATS, dtype="input")

    @staticmethod
    def result_shape(input: Shape, grid: Shape) -> Sizes:
        """The input's batch and channels, and a place for each point of the grid."""
        if len(input) not in {4, 5} or len(grid) != len(input):
            raise ShapeError(
                f"expected input and grid to have the same rank, 4 or 5, but got {len(input)} and "
                f"{len(grid)}"
            )
        return (*input[:2], *grid[1:-1])

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

    def translate(self, at: "Emission") -> Any:
        """Add a grid sample."""
        return at.set(
            at.add("grid_sample", at.tensor(self.input), at.tensor(self.grid)),
            interpolation_mode=at.member("InterpolationMode", self.value("interpolation")),
            align_corners=self.value("align_corners"),
            sample_mode=at.member("SampleMode", self.value("mode")),
        )


grid_sample = SingleResultLayer(GridSampleOp)


class LRNOp(LayerOperation):
    """Each element by a power of the squares around it, in neighboring channels."""

    name = "trtx.lrn"
    input = operand(kinds.I8, *kinds.FLOATS)
    window = attribute(kinds.I64_ATTR)
    alpha = attribute(kinds.F32_ATTR)
    beta = attribute(kinds.F32_ATTR)
    k = attribute(kinds.F32_ATTR)
    result = output(kinds.I8, *kinds.FLOATS, like="input")
    assembly_format = UNARY

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Numbers are those that TensorRT takes."""
        window = self.value("window")
        yield from check_min_rank(self, "input", 4)
        if not (1 <= window <= 15 and window % 2):
            yield f"`window` is {window}, but must be odd, from 1 to 15"
        yield from check_range("alpha", self.value("alpha"), -1e20, 1e20)
        yield from check_range("beta", self.value("beta"), _single(0.01), 1e5)
        yield from check_range("k", self.value("k"), _single(1e-5), 1e10)

    def translate(self, at: "Emission") -> Any:
        """Add a local response normalization."""
        numbers = (self.value(name) for name in ("window", "alpha", "beta", "k"))
        return at.add("lrn", at.tensor(self.input), *numbers)


lrn = SingleResultLayer(LRNOp)


class NMSOp(LayerOperation):
    """The best boxes that do not overlap: `[batch, class, box]` of each, and how many there are."""

    name = "trtx.nms"
    boxes = operand(*kinds.FLOATS)
    scores = operand(*kinds.FLOATS)
    max_output_boxes_per_class = operand(kinds.I32, kinds.I64, ranks=(0,))
    iou_threshold = optional_operand(kinds.F32, ranks=(0,))
    score_threshold = optional_operand(kinds.F32, ranks=(0,))
    box_format = attribute(kinds.enumeration("bounding_box_format"), default="kCORNER_PAIRS")
    top_k_box_limit = optional_attribute(kinds.I64_ATTR, offered=False)
    indices = output(kinds.I32, kinds.I64, dtype="int32")
    count = output(kinds.I32, ranks=(0,), dtype="int32")
    assembly_format = (
        "attr-dict `ins` `(` $boxes `,` $scores `,` $max_output_boxes_per_class"
        " `:` type($boxes) `,` type($scores) `,` type($max_output_boxes_per_class) `)`"
        " (`iou_threshold` `(` $iou_threshold^ `:` type($iou_threshold) `)`)?"
        " (`score_threshold` `(` $score_threshold^ `:` type($score_threshold) `)`)?"
        " `->` type(results)"
    )

    @staticmethod
    def result_shape(boxes: Shape) -> tuple[Sizes, Sizes]:  # noqa: ARG004
        """Unknown number: it depends on data."""
        return (None, 3), ()

    def result_element(self, result: OperationField) -> "Attribute | None":
        """Indices are i64 if the type says so."""
        given: Any = self.indices.type
        assert self.BODY is not None
        if result is self.BODY.fields["indices"] and given.name == "tensor":
            return element(given)
        return self.element_type("int32")

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

    def translate(self, at: "Emission") -> Any:
        """Add a non-maximum suppression."""
        names = ("boxes", "scores", "max_output_boxes_per_class")
        tensors = (at.tensor(getattr(self, name)) for name in names)
        indices = () if at.element(self.indices) == "i32" else (at.dtype(self.indices),)
        layer = at.add("nms", *tensors, *indices)
        for index, value in ((3, self.iou_threshold), (4, self.score_threshold)):
            if value is not None:
                layer.set_input(index, at.tensor(value))
        form = at.member("BoundingBoxFormat", self.value("box_format"))
        return at.set(layer, bounding_box_format=form, topk_box_limit=self.value("top_k_box_limit"))


nms = MultiResultLayer(NMSOp)
