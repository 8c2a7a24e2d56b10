"""Image layers: pooling, resize, grid sampling, LRN, NMS."""

from typing import TYPE_CHECKING, Any

from tripybuild.tensorrt.layers.declaration import (
    Arguments,
    MultiResultLayer,
    ShapeRule,
    SingleResultLayer,
    apply,
    like,
)
from tripybuild.tensorrt.recorder.argument_kinds import (
    boolean,
    integer,
    integers,
    one_of,
    optional_integers,
    optional_tensor,
    real,
    reals,
    sizes,
    tensor,
)
from tripybuild.tensorrt.shape_rules import Sizes, resizing, trtx, windows

if TYPE_CHECKING:
    from tripybuild.tensorrt.translation.emission import Emission


def _pooling_shape(given: Arguments) -> Sizes:
    window = given["window"]
    return windows.pool(given["input"].shape, window, windows.Windows.of(given, len(window)))


def _explicit_pooling(given: Arguments) -> Arguments:
    steps = windows.Windows.of(given, len(given["window"]))
    excludes = given["average_count_excludes_padding"]
    if given["kind"] == "kMAX":
        excludes = None
    elif excludes is None:
        excludes = True
    return {
        "stride": steps.stride,
        "pre_padding": steps.pre_padding,
        "post_padding": steps.post_padding,
        "average_count_excludes_padding": excludes,
    }


def _pooling(at: "Emission", op: Any) -> Any:
    kind = at.member("PoolingType", op.value("pooling_type"))
    layer = at.add("pooling_nd", at.tensor(op.input), kind, op.value("window_size"))
    return at.set(
        layer,
        pre_padding=op.value("pre_padding"),
        post_padding=op.value("post_padding"),
        stride_nd=op.value("stride"),
        average_count_excludes_padding=op.value("average_count_excludes_padding"),
        blend_factor=op.value("blend_factor"),
    )


pooling = SingleResultLayer(
    "pooling",
    {
        "input": tensor,
        "kind": one_of("pooling_type").with_attribute("pooling_type"),
        "window": integers.with_attribute("window_size"),
        "stride": optional_integers,
        "pre_padding": optional_integers,
        "post_padding": optional_integers,
        "average_count_excludes_padding": boolean.with_default(None),
        "blend_factor": real.with_default(None),
    },
    shape=_pooling_shape,
    explicit=_explicit_pooling,
    translate=_pooling,
)

_RESIZE = {
    "input": tensor,
    "shape": sizes.with_default(None),
    "scales": reals.with_default(None),
    "coordinates": one_of("resize_coordinate_transformation").with_default("kHALF_PIXEL"),
    "selector": one_of("resize_selector").with_default("kFORMULA"),
}


def _resize_shape(*, cubic: bool = False) -> ShapeRule:
    def rule(given: Arguments) -> Sizes:
        if given["shape"] is not None:
            return tuple(given["shape"])
        return resizing.resize(given["input"].shape, given["scales"], cubic=cubic)

    return rule


def _add_resize(at: "Emission", op: Any, mode: str) -> Any:
    layer = at.add("resize", at.tensor(op.input))
    if op.output_shape is not None:
        layer.set_input(1, at.tensor(op.output_shape))
    elif op.value("scales") is not None:
        at.set(layer, scales=op.value("scales"))
    else:
        at.set(layer, shape=op.result.type.get_shape())
    coordinates = op.value("coordinate_transformation")
    selector = op.value("selector_for_single_pixel")
    return at.set(
        layer,
        resize_mode=at.member("InterpolationMode", mode),
        coordinate_transformation=at.member("ResizeCoordinateTransformation", coordinates),
        selector_for_single_pixel=at.member("ResizeSelector", selector),
    )


def _resize_nearest(at: "Emission", op: Any) -> Any:
    rounding = at.member("ResizeRoundMode", op.value("nearest_rounding"))
    return at.set(_add_resize(at, op, "NEAREST"), nearest_rounding=rounding)


resize_nearest = SingleResultLayer(
    "resize_nearest",
    {**_RESIZE, "rounding": one_of("resize_round_mode").with_default("kFLOOR")},
    shape=_resize_shape(),
    translate=_resize_nearest,
)


resize_linear = SingleResultLayer(
    "resize_linear",
    _RESIZE,
    shape=_resize_shape(),
    translate=lambda at, op: _add_resize(at, op, "LINEAR"),
)


def _resize_cubic(at: "Emission", op: Any) -> Any:
    return at.set(_add_resize(at, op, "CUBIC"), cubic_coeff=op.value("cubic_coeff"))


resize_cubic = SingleResultLayer(
    "resize_cubic",
    {**_RESIZE, "cubic_coefficient": real.with_default(-0.75)},
    shape=_resize_shape(cubic=True),
    translate=_resize_cubic,
)


def _grid_sample(at: "Emission", op: Any) -> Any:
    return at.set(
        at.add("grid_sample", at.tensor(op.input), at.tensor(op.grid)),
        interpolation_mode=at.member("InterpolationMode", op.value("interpolation")),
        align_corners=op.value("align_corners"),
        sample_mode=at.member("SampleMode", op.value("mode")),
    )


grid_sample = SingleResultLayer(
    "grid_sample",
    {
        "input": tensor,
        "grid": tensor,
        "interpolation": one_of("interpolation_mode").with_default("kLINEAR"),
        "align_corners": boolean.with_default(False),
        "mode": one_of("slice_mode").with_default("kFILL"),
    },
    shape=apply(trtx.grid_sample, "input", "grid"),
    operation="trtx.grid_sample",
    translate=_grid_sample,
)


def _lrn(at: "Emission", op: Any) -> Any:
    numbers = (op.value(name) for name in ("window", "alpha", "beta", "k"))
    return at.add("lrn", at.tensor(op.input), *numbers)


lrn = SingleResultLayer(
    "lrn",
    {"input": tensor, "window": integer, "alpha": real, "beta": real, "k": real},
    shape=like("input"),
    operation="trtx.lrn",
    translate=_lrn,
)


def _nms(at: "Emission", op: Any) -> Any:
    tensors = (at.tensor(each) for each in (op.boxes, op.scores, op.max_output_boxes_per_class))
    indices = () if at.element(op.indices) == "i32" else (at.dtype(op.indices),)
    layer = at.add("nms", *tensors, *indices)
    for index, value in ((3, op.iou_threshold), (4, op.score_threshold)):
        if value is not None:
            layer.set_input(index, at.tensor(value))
    form = at.member("BoundingBoxFormat", op.value("box_format"))
    return at.set(layer, bounding_box_format=form, topk_box_limit=op.value("top_k_box_limit"))


nms = MultiResultLayer(
    "nms",
    {
        "boxes": tensor,
        "scores": tensor,
        "max_output_boxes_per_class": tensor,
        "iou_threshold": optional_tensor,
        "score_threshold": optional_tensor,
        "box_format": one_of("bounding_box_format").with_default("kCORNER_PAIRS"),
    },
    results=("int32", "int32"),
    shape=lambda _: ((None, 3), ()),
    operation="trtx.nms",
    translate=_nms,
)
