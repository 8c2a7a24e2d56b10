"""Emitters of the `trtx` dialect: layers of newer TensorRT releases."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from tripybuild.tensorrt.translation.emission import Emission, Emitter, Tensors
from tripybuild.tensorrt.translation.layers.compute import outputs

PADDED = "kPADDED_BHND"
ALONE = -1  # the root of a collective that has none


def _form(at: Emission, op: Any, name: str) -> Any | None:
    """Return how a tensor is laid out, where it is not as all releases have it."""
    form = op.value(name)
    return None if form == PADDED else at.member("AttentionIOForm", form)


def _attention(at: Emission, op: Any) -> Tensors:
    tensors = (at.tensor(each) for each in (op.query, op.key, op.values))
    normalization = at.member("AttentionNormalizationOp", op.value("normalization"))
    causal = op.value("causal")
    if at.library.has_layer("add_attention_v2"):
        kind = at.member("CausalMaskKind", causal)
        layer = at.add("attention_v2", *tensors, normalization, kind)
    elif causal == "kLOWER_RIGHT":
        message = f"This release of `{at.library.name}` has no causal mask `{causal}`"
        at.refuse(message, "tensorrt-unsupported")
    else:
        layer = at.add("attention", *tensors, normalization, causal != "kNONE")
    quantized = op.value("quantized_type")
    at.set(
        layer,
        mask=_optional_tensor(at, op.mask),
        decomposable=op.value("decomposable"),
        query_form=_form(at, op, "query_form"),
        key_value_form=_form(at, op, "key_value_form"),
        query_lengths=_optional_tensor(at, op.query_lengths),
        key_value_lengths=_optional_tensor(at, op.key_value_lengths),
        normalization_quantize_scale=_optional_tensor(at, op.quantize_scale),
        normalization_quantize_to_type=None if quantized is None else at.kind(quantized).dtype,
    )
    return outputs(layer)


def _optional_tensor(at: Emission, value: SSAValue | None) -> Any | None:
    return None if value is None else at.tensor(value)


def _rotary_embedding(at: Emission, op: Any) -> Tensors:
    tensors = (at.tensor(each) for each in (op.input, op.cosine, op.sine))
    layer = at.add("rotary_embedding", *tensors, op.value("interleaved"), op.value("dimensions"))
    if op.position is not None:
        layer.set_input(3, at.tensor(op.position))
    return outputs(layer)


def _kv_cache_update(at: Emission, op: Any) -> Tensors:
    tensors = (at.tensor(each) for each in (op.cache, op.update, op.position))
    layer = at.add("kv_cache_update", *tensors, at.member("KVCacheMode", op.value("mode")))
    form = _form(at, op, "update_form")
    at.set(layer, update_form=form, update_lengths=_optional_tensor(at, op.update_lengths))
    return outputs(layer)


def _moe(at: Emission, op: Any) -> Tensors:
    layer = at.add("moe", *(at.tensor(each) for each in (op.hidden, op.experts, op.scores)))
    weights = (at.tensor(each) for each in (op.gate_weights, op.up_weights, op.down_weights))
    layer.set_gated_weights(*weights, at.member("MoEActType", op.value("activation")))
    if op.gate_bias is not None:
        biases = (op.gate_bias, op.up_bias, op.down_bias)
        layer.set_gated_biases(*(at.tensor(each) for each in biases))
    return outputs(layer)


def _nms(at: Emission, op: Any) -> Tensors:
    tensors = (at.tensor(each) for each in (op.boxes, op.scores, op.max_output_boxes_per_class))
    indices = () if at.element(op.indices) == "i32" else (at.dtype(op.indices),)
    layer = at.add("nms", *tensors, *indices)
    for index, value in ((3, op.iou_threshold), (4, op.score_threshold)):
        if value is not None:
            layer.set_input(index, at.tensor(value))
    form = at.member("BoundingBoxFormat", op.value("box_format"))
    at.set(layer, bounding_box_format=form, topk_box_limit=op.value("top_k_box_limit"))
    return outputs(layer, 2)


def _grid_sample(at: Emission, op: Any) -> Tensors:
    layer = at.add("grid_sample", at.tensor(op.input), at.tensor(op.grid))
    at.set(
        layer,
        interpolation_mode=at.member("InterpolationMode", op.value("interpolation")),
        align_corners=op.value("align_corners"),
        sample_mode=at.member("SampleMode", op.value("mode")),
    )
    return outputs(layer)


def _lrn(at: Emission, op: Any) -> Tensors:
    numbers = (op.value(name) for name in ("window", "alpha", "beta", "k"))
    return outputs(at.add("lrn", at.tensor(op.input), *numbers))


def _scale(at: Emission, op: Any) -> Tensors:
    mode = at.member("ScaleMode", op.value("mode"))
    weights = [_constant(at, op, name) for name in ("shift", "scale", "power")]
    axis = op.value("axis") % len(op.input.type.get_shape())
    return outputs(at.add("scale_nd", at.tensor(op.input), mode, *weights, axis))


def _constant(at: Emission, op: Any, name: str) -> Any:
    """Return a parameter that TensorRT wants as weights, and no tensor."""
    value = getattr(op, name)
    if value is None:
        return at.library.module.Weights(at.dtype(op.input))
    owner: Any = value.owner
    if getattr(owner, "name", "") != "tensorrt.constant":
        hint = "multiply and add with `tensorrt.element_wise` instead"
        at.refuse(f"`{name}` of `{op.name}` must be a constant", hint=hint)
    return at.weights(owner.value("weights"))


def _cumulative(at: Emission, op: Any) -> Tensors:
    kind = at.member("CumulativeOperation", op.value("kind"))
    flags = op.value("exclusive"), op.value("reverse")
    axis = np.array(op.value("axis"), np.int32)
    at.constants.kept.append(axis)
    scalar = at.add("constant", (), at.library.module.Weights(axis)).get_output(0)
    return outputs(at.add("cumulative", at.tensor(op.input), scalar, kind, *flags))


def _reverse_sequence(at: Emission, op: Any) -> Tensors:
    layer = at.add("reverse_sequence", at.tensor(op.input), at.tensor(op.lengths))
    axes = op.value("batch_axis"), op.value("sequence_axis")
    return outputs(at.set(layer, batch_axis=axes[0], sequence_axis=axes[1]))


def _collective(kind: str, at: Emission, op: Any) -> Tensors:
    """Add what several devices do together; of a scalar, TensorRT crashes instead of refusing."""
    if not op.input.type.get_shape():
        at.refuse(f"`{op.name}` needs a tensor with dimensions, and not a `{op.input.type}`")
    has = op.get_irdl_definition().accessor_names
    reduction = at.member("ReduceOperation", op.value("kind") if "kind" in has else "NONE")
    root = op.value("root") if "root" in has else ALONE
    groups = np.array(op.value("groups") or (), np.int64)
    collective = at.member("CollectiveOperation", kind)
    layer = at.add("dist_collective", at.tensor(op.input), collective, reduction, root, groups)
    at.set(layer, num_ranks=op.value("ranks") if "ranks" in has else None)
    return outputs(layer)


COLLECTIVES: Mapping[str, str] = {
    "trtx.all_reduce": "ALL_REDUCE",
    "trtx.all_gather": "ALL_GATHER",
    "trtx.reduce_scatter": "REDUCE_SCATTER",
    "trtx.all_to_all": "ALL_TO_ALL",
    "trtx.collective_broadcast": "BROADCAST",
    "trtx.collective_reduce": "REDUCE",
    "trtx.collective_gather": "GATHER",
    "trtx.collective_scatter": "SCATTER",
}
LAYERS: Mapping[str, Emitter] = {
    "trtx.attention": _attention,
    "trtx.rotary_embedding": _rotary_embedding,
    "trtx.kv_cache_update": _kv_cache_update,
    "trtx.moe": _moe,
    "trtx.nms": _nms,
    "trtx.grid_sample": _grid_sample,
    "trtx.lrn": _lrn,
    "trtx.scale": _scale,
    "trtx.cumulative": _cumulative,
    "trtx.reverse_sequence": _reverse_sequence,
    **{name: partial(_collective, kind) for name, kind in COLLECTIVES.items()},
}
