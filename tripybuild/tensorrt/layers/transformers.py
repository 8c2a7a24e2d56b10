"""Transformer layers: attention, rotary embedding, KV cache, mixture of experts."""

from typing import TYPE_CHECKING, Any

from tripybuild.tensorrt.layers.declaration import SingleResultLayer, like
from tripybuild.tensorrt.recorder.argument_kinds import (
    boolean,
    integer,
    one_of,
    optional_tensor,
    tensor,
)

if TYPE_CHECKING:
    from tripybuild.tensorrt.translation.emission import Emission

PADDED = "kPADDED_BHND"


def _form(at: "Emission", op: Any, name: str) -> Any | None:
    """Return how a tensor is laid out, where it is not as all releases have it."""
    form = op.value(name)
    return None if form == PADDED else at.member("AttentionIOForm", form)


def _optional(at: "Emission", value: Any | None) -> Any | None:
    return None if value is None else at.tensor(value)


def _attention(at: "Emission", op: Any) -> Any:
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
    return at.set(
        layer,
        mask=_optional(at, op.mask),
        decomposable=op.value("decomposable"),
        query_form=_form(at, op, "query_form"),
        key_value_form=_form(at, op, "key_value_form"),
        query_lengths=_optional(at, op.query_lengths),
        key_value_lengths=_optional(at, op.key_value_lengths),
        normalization_quantize_scale=_optional(at, op.quantize_scale),
        normalization_quantize_to_type=None if quantized is None else at.kind(quantized).dtype,
    )


attention = SingleResultLayer(
    "attention",
    {
        "query": tensor,
        "key": tensor,
        "value": tensor,
        "mask": optional_tensor,
        "causal": boolean.with_default(False),
        "decomposable": boolean.with_default(False),
        "normalization": one_of("attention_normalization").with_default("kSOFTMAX"),
    },
    results=("query",),
    shape=like("query"),
    operation="trtx.attention",
    translate=_attention,
)


def _rotary_embedding(at: "Emission", op: Any) -> Any:
    tensors = (at.tensor(each) for each in (op.input, op.cosine, op.sine))
    layer = at.add("rotary_embedding", *tensors, op.value("interleaved"), op.value("dimensions"))
    if op.position is not None:
        layer.set_input(3, at.tensor(op.position))
    return layer


rotary_embedding = SingleResultLayer(
    "rotary_embedding",
    {
        "input": tensor,
        "cosine": tensor,
        "sine": tensor,
        "interleaved": boolean.with_default(False),
        "dimensions": integer.with_default(0),
        "position": optional_tensor,
    },
    shape=like("input"),
    operation="trtx.rotary_embedding",
    translate=_rotary_embedding,
)


def _kv_cache_update(at: "Emission", op: Any) -> Any:
    tensors = (at.tensor(each) for each in (op.cache, op.update, op.position))
    layer = at.add("kv_cache_update", *tensors, at.member("KVCacheMode", op.value("mode")))
    form = _form(at, op, "update_form")
    return at.set(layer, update_form=form, update_lengths=_optional(at, op.update_lengths))


kv_cache_update = SingleResultLayer(
    "kv_cache_update",
    {
        "cache": tensor,
        "update": tensor,
        "position": tensor,
        "mode": one_of("kv_cache_mode").with_default("kLINEAR"),
    },
    results=("cache",),
    shape=like("cache"),
    operation="trtx.kv_cache_update",
    translate=_kv_cache_update,
)


def _moe(at: "Emission", op: Any) -> Any:
    layer = at.add("moe", *(at.tensor(each) for each in (op.hidden, op.experts, op.scores)))
    weights = (at.tensor(each) for each in (op.gate_weights, op.up_weights, op.down_weights))
    layer.set_gated_weights(*weights, at.member("MoEActType", op.value("activation")))
    if op.gate_bias is not None:
        biases = (op.gate_bias, op.up_bias, op.down_bias)
        layer.set_gated_biases(*(at.tensor(each) for each in biases))
    return layer


moe = SingleResultLayer(
    "moe",
    {
        "hidden": tensor,
        "experts": tensor,
        "scores": tensor,
        "gate_weights": tensor,
        "up_weights": tensor,
        "down_weights": tensor,
    },
    results=("hidden",),
    shape=like("hidden"),
    operation="trtx.moe",
    translate=_moe,
)
