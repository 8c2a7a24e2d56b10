"""Structural layers: shapes, indices, attention, collectives, control flow."""

from types import MappingProxyType

from tripybuild.tensorrt.recorder.argument_kinds import (
    boolean,
    integer,
    integers,
    mapping,
    one_of,
    optional_integers,
    optional_tensor,
    real,
    reals,
    reduction,
    region,
    sizes,
    tensor,
    tensors,
    text,
    types,
)
from tripybuild.tensorrt.recorder.table import layer

_resize = {
    "input": tensor,
    "shape": sizes.with_default(None),
    "scales": reals.with_default(None),
    "coordinates": one_of("resize_coordinate_transformation").with_default("kHALF_PIXEL"),
    "selector": one_of("resize_selector").with_default("kFORMULA"),
}
SHAPES = (
    layer("shape", "int32", input=tensor),
    layer("reshape", input=tensor, shape=sizes),
    layer("transpose", input=tensor, permutation=integers),
    layer(
        "shuffle",
        input=tensor,
        first_transpose=optional_integers,
        shape=sizes.with_default(None),
        second_transpose=optional_integers,
    ),
    layer("expand_rank", input=tensor, shape=sizes),
    layer("collapse_rank", input=tensor, shape=sizes),
    layer("squeeze", input=tensor, axes=integers),
    layer("unsqueeze", input=tensor, axes=integers),
    layer("broadcast", input=tensor, shape=sizes, broadcast_dims=optional_integers),
    layer("concatenation", "tensors", tensors=tensors, axis=integer),
    layer("padding", input=tensor, pre_padding=integers, post_padding=integers),
    layer(
        "slice",
        input=tensor,
        start=sizes,
        size=sizes,
        step=sizes.with_default(None),
        fill=optional_tensor,
        mode=one_of("slice_mode").with_default("kDEFAULT"),
    ),
    layer(
        "reverse_sequence",
        input=tensor,
        lengths=tensor,
        batch_axis=integer.with_default(1),
        sequence_axis=integer.with_default(0),
    ),
    layer(
        "resize_nearest",
        "input",
        **_resize,
        rounding=one_of("resize_round_mode").with_default("kFLOOR"),
    ),
    layer("resize_linear", "input", **_resize),
    layer("resize_cubic", "input", **_resize, cubic_coefficient=real.with_default(-0.75)),
    layer(
        "grid_sample",
        input=tensor,
        grid=tensor,
        interpolation=one_of("interpolation_mode").with_default("kLINEAR"),
        align_corners=boolean.with_default(False),
        mode=one_of("slice_mode").with_default("kFILL"),
    ),
)

INDEXING = (
    layer(
        "gather",
        "data",
        data=tensor,
        indices=tensor,
        axis=integer,
        num_broadcast_dims=integer.with_default(0),
    ),
    layer(
        "gather_nd",
        "data",
        data=tensor,
        indices=tensor,
        num_broadcast_dims=integer.with_default(0),
    ),
    layer("gather_elements", "data", data=tensor, indices=tensor, axis=integer),
    layer("scatter_nd", "data", data=tensor, indices=tensor, updates=tensor),
    layer("scatter_elements", "data", data=tensor, indices=tensor, updates=tensor, axis=integer),
    layer("one_hot", "values", indices=tensor, values=tensor, depth=tensor, axis=integer),
    layer("non_zero", "int32", input=tensor),
    layer(
        "nms",
        "int32 int32",
        boxes=tensor,
        scores=tensor,
        max_output_boxes_per_class=tensor,
        iou_threshold=optional_tensor,
        score_threshold=optional_tensor,
        box_format=one_of("bounding_box_format").with_default("kCORNER_PAIRS"),
    ),
)

TRANSFORMERS = (
    layer(
        "attention",
        "query",
        query=tensor,
        key=tensor,
        value=tensor,
        mask=optional_tensor,
        causal=boolean.with_default(False),
        decomposable=boolean.with_default(False),
        normalization=one_of("attention_normalization").with_default("kSOFTMAX"),
    ),
    layer(
        "rotary_embedding",
        input=tensor,
        cosine=tensor,
        sine=tensor,
        interleaved=boolean.with_default(False),
        dimensions=integer.with_default(0),
        position=optional_tensor,
    ),
    layer(
        "kv_cache_update",
        "cache",
        cache=tensor,
        update=tensor,
        position=tensor,
        mode=one_of("kv_cache_mode").with_default("kLINEAR"),
    ),
    layer(
        "moe",
        "hidden",
        hidden=tensor,
        experts=tensor,
        scores=tensor,
        gate_weights=tensor,
        up_weights=tensor,
        down_weights=tensor,
    ),
)

_groups = optional_integers
COLLECTIVES = (
    layer("all_reduce", input=tensor, kind=reduction, groups=_groups),
    layer("all_gather", input=tensor, ranks=integer, groups=_groups),
    layer("reduce_scatter", input=tensor, kind=reduction, ranks=integer, groups=_groups),
    layer("all_to_all", input=tensor, ranks=integer, groups=_groups),
    layer("collective_broadcast", input=tensor, root=integer, groups=_groups),
    layer("collective_reduce", input=tensor, kind=reduction, root=integer, groups=_groups),
    layer("collective_gather", input=tensor, ranks=integer, root=integer, groups=_groups),
    layer("collective_scatter", input=tensor, ranks=integer, root=integer, groups=_groups),
)

CONTROL = (
    layer("assertion", "", condition=tensor, message=text),
    layer("if_", "", condition=tensor, then=region, otherwise=region, operands=tensors),
    layer("while_", "", state=tensors, condition=region, body=region),
    layer("for_", "", start=tensor, stop=tensor, step=tensor, state=tensors, body=region),
    layer(
        "opaque_plugin",
        "",
        inputs=tensors,
        plugin_name=text,
        plugin_version=text.with_default("1"),
        plugin_namespace=text.with_default(""),
        creator_params=mapping.with_default(MappingProxyType({})),
        outputs=types.with_default(()),
    ),
)
