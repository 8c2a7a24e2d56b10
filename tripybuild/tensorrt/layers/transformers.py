"""Transformer layers: attention, rotary embedding, KV cache, mixture of experts."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tripybuild.tensorrt.layers import kinds
from tripybuild.tensorrt.layers.checks import check_equal_sizes, check_rank, check_same_types
from tripybuild.tensorrt.layers.declaration import SingleResultLayer
from tripybuild.tensorrt.layers.operation import (
    LayerOperation,
    OpProblem,
    attribute,
    operand,
    optional_attribute,
    optional_operand,
    output,
    sizes,
)
from tripybuild.tensorrt.shape_rules import MaybeSize, Sizes, broadcasts_to, differ, is_static

if TYPE_CHECKING:
    from tripybuild.tensorrt.translation.emission import Emission

# How queries, keys and values are laid out, a batch of sequences of one length or one after the
# other, and how many dimensions they have then.
PADDED, PACKED = "kPADDED_BHND", "kPACKED_NHD"
_RANKS = {PADDED: 4, PACKED: 3}
_FORM = kinds.enumeration("attention_form")


def _form(at: "Emission", form: str) -> Any | None:
    """Return how a tensor is laid out, where it is not as all releases have it."""
    return None if form == PADDED else at.member("AttentionIOForm", form)


def _optional(at: "Emission", value: Any | None) -> Any | None:
    return None if value is None else at.tensor(value)


class AttentionOp(LayerOperation):
    """`softmax(query @ key^T + mask) @ value` for each head; scale the query before.

    The third operand is `values`, as `value` reads attributes. Tensors are
    `[batch, heads, sequence, head size]`; packed ones are `[tokens, heads, head size]`, and the
    lengths say where each sequence ends.
    """

    name = "trtx.attention"
    query = operand(*kinds.FLOATS)
    key = operand(*kinds.FLOATS)
    values = operand(*kinds.FLOATS, parameter="value")
    mask = optional_operand(kinds.I1, *kinds.FLOATS)
    query_lengths = optional_operand(kinds.I32, ranks=(1,), offered=False)
    key_value_lengths = optional_operand(kinds.I32, ranks=(1,), offered=False)
    quantize_scale = optional_operand(*kinds.FLOATS, ranks=(0, 1), offered=False)
    causal = attribute(kinds.CAUSAL_MASK, default="kNONE", call_default=False)
    decomposable = attribute(kinds.BOOL_ATTR, default=False)
    normalization = attribute(kinds.enumeration("attention_normalization"), default="kSOFTMAX")
    query_form = attribute(_FORM, default=PADDED, offered=False)
    key_value_form = attribute(_FORM, default=PADDED, offered=False)
    quantized_type = optional_attribute(kinds.QUANTIZED_TYPE, offered=False)
    result = output(*kinds.FLOATS, like="query")
    assembly_format = (
        "attr-dict `ins` `(` $query `,` $key `,` $values"
        " `:` type($query) `,` type($key) `,` type($values) `)`"
        " (`mask` `(` $mask^ `:` type($mask) `)`)?"
        " (`query_lengths` `(` $query_lengths^ `:` type($query_lengths) `)`)?"
        " (`key_value_lengths` `(` $key_value_lengths^ `:` type($key_value_lengths) `)`)?"
        " (`quantize_scale` `(` $quantize_scale^ `:` type($quantize_scale) `)`)?"
    )

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Heads, sizes and types belong together, and options can be had at once."""
        yield from check_same_types(self, "query", "key", "values")
        yield from self._layouts()
        yield from self._heads()
        yield from self._options()
        yield from self._mask()

    def _layouts(self) -> Iterator[str]:
        queries, keys = self.value("query_form"), self.value("key_value_form")
        if keys == PACKED and queries == PADDED:
            yield "packed keys and values need a packed query"
        yield from check_rank(self, "query", _RANKS[queries], f" as `query_form` is {queries}")
        for name in ("key", "values"):
            yield from check_rank(self, name, _RANKS[keys], f" as `key_value_form` is {keys}")
        if queries == PACKED and self.query_lengths is None:
            yield "a packed query needs `query_lengths`"
        if keys == PACKED and self.key_value_lengths is None:
            yield "packed keys and values need `key_value_lengths`"

    def _heads(self) -> Iterator[str]:
        query, key, value = sizes(self.query), sizes(self.key), sizes(self.values)
        if any(map(differ, key, value)):
            both = f"{_shape_text(key)} and {_shape_text(value)}"
            yield f"key and values must have the same shape, but are {both}"
        if differ(query[-1], key[-1]):
            yield f"query has heads of size {query[-1]}, but key and values of size {key[-1]}"
        queries, keys = (shape[-3] if len(shape) == 4 else shape[-2] for shape in (query, key))
        if is_static(queries) and is_static(keys) and (keys == 0 or queries % keys):
            yield f"query has {queries} heads, not a multiple of the {keys} of key and values"
        if len(query) == len(key) == 4 and differ(query[0], key[0]):
            yield f"query is a batch of {query[0]}, but key and values of {key[0]}"

    def _options(self) -> Iterator[str]:
        if self.mask is not None and self.value("causal") != "kNONE":
            yield "a causal attention has no other mask"
        if (self.quantize_scale is None) != (self.quantized_type is None):
            yield "`quantize_scale` and `quantized_type` are given together or not at all"
        if self.quantize_scale is not None:
            yield from check_same_types(self, "query", "quantize_scale")
        lengths, batch = self.key_value_lengths, sizes(self.query)[0]
        if lengths is not None and self.value("query_form") == PADDED:
            (count,) = sizes(lengths)
            yield from check_equal_sizes(
                "key_value_lengths", "one number for each of a batch of", count, batch
            )

    def _mask(self) -> Iterator[str]:
        if self.mask is None:
            return
        if not self.is_of(self.mask, kinds.I1):
            yield from check_same_types(self, "query", "mask")
        yield from check_rank(self, "mask", 4)
        query, key = sizes(self.query), sizes(self.key)
        if len(query) != 4 or len(key) != 4:
            return
        wanted = (query[0], query[1], query[2], key[2])
        if not all(map(broadcasts_to, sizes(self.mask), wanted)):
            given = _shape_text(sizes(self.mask))
            yield f"mask has shape {given}, which does not broadcast to {_shape_text(wanted)}"

    def translate(self, at: "Emission") -> Any:
        """Add an attention."""
        tensors = (at.tensor(each) for each in (self.query, self.key, self.values))
        normalization = at.member("AttentionNormalizationOp", self.value("normalization"))
        causal = self.value("causal")
        if at.library.has_layer("add_attention_v2"):
            kind = at.member("CausalMaskKind", causal)
            layer = at.add("attention_v2", *tensors, normalization, kind)
        elif causal == "kLOWER_RIGHT":
            message = f"This release of `{at.library.name}` has no causal mask `{causal}`"
            at.refuse(message, "tensorrt-unsupported")
        else:
            layer = at.add("attention", *tensors, normalization, causal != "kNONE")
        quantized = self.value("quantized_type")
        return at.set(
            layer,
            mask=_optional(at, self.mask),
            decomposable=self.value("decomposable"),
            query_form=_form(at, self.value("query_form")),
            key_value_form=_form(at, self.value("key_value_form")),
            query_lengths=_optional(at, self.query_lengths),
            key_value_lengths=_optional(at, self.key_value_lengths),
            normalization_quantize_scale=_optional(at, self.quantize_scale),
            normalization_quantize_to_type=None if quantized is None else at.kind(quantized).dtype,
        )


attention = SingleResultLayer(AttentionOp)


def _shape_text(shape: Sequence[MaybeSize]) -> str:
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"


class RotaryEmbeddingOp(LayerOperation):
    """Pairs of elements, rotated by angles that depend on their place in the sequence.

    Without `position`, the cosines are `[batch, sequence, pairs]`; with it, they are a table of
    which it takes rows.
    """

    name = "trtx.rotary_embedding"
    input = operand(*kinds.FLOATS)
    cosine = operand(*kinds.FLOATS)
    sine = operand(*kinds.FLOATS)
    interleaved = attribute(kinds.BOOL_ATTR, default=False)
    dimensions = attribute(kinds.I64_ATTR, default=0)
    position = optional_operand(kinds.I32, kinds.I64)
    result = output(*kinds.FLOATS, like="input")
    assembly_format = (
        "attr-dict `ins` `(` $input `,` $cosine `,` $sine"
        " `:` type($input) `,` type($cosine) `,` type($sine) `)`"
        " (`position` `(` $position^ `:` type($position) `)`)?"
    )

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """There is an angle for each pair of elements, at each place."""
        yield from check_same_types(self, "input", "cosine", "sine")
        yield from check_rank(self, "input", 4)
        head, rotated = sizes(self.input)[-1], self.value("dimensions")
        if is_static(head) and head % 2:
            yield f"heads of size {head} have no pairs: the size must be even"
        if rotated < 0 or rotated % 2 or (is_static(head) and rotated > head):
            yield f"`dimensions` is {rotated}, but must be even, from 0 to the heads' size ({head})"
        pairs = rotated // 2 if rotated else None if head is None else head // 2
        batch, _, length, _ = sizes(self.input)
        if self.position is not None:
            yield from check_rank(self, "position", 2)
            yield from _check_angle_table("position", sizes(self.position), (batch, length))
        for name in ("cosine", "sine"):
            given, place = sizes(getattr(self, name)), (batch, length)
            why = " as there is no `position`" if self.position is None else " with a `position`"
            yield from check_rank(self, name, 3 if self.position is None else 2, why)
            yield from check_equal_sizes(
                name, "a last size that is the number of pairs,", given[-1], pairs
            )
            yield from _check_angle_table(name, given[:-1], place if self.position is None else ())

    def translate(self, at: "Emission") -> Any:
        """Add a rotary embedding."""
        tensors = (at.tensor(each) for each in (self.input, self.cosine, self.sine))
        options = self.value("interleaved"), self.value("dimensions")
        layer = at.add("rotary_embedding", *tensors, *options)
        if self.position is not None:
            layer.set_input(3, at.tensor(self.position))
        return layer


rotary_embedding = SingleResultLayer(RotaryEmbeddingOp)


def _check_angle_table(
    name: str, given: Sequence[MaybeSize], wanted: Sequence[MaybeSize]
) -> Iterator[str]:
    for what, size, of_input in zip(("batch", "sequence"), given, wanted, strict=False):
        yield from check_equal_sizes(name, f"the {what} of the input,", size, of_input)


class KVCacheUpdateOp(LayerOperation):
    """A cache of keys or values, with new ones written where `position` says, for each sequence."""

    name = "trtx.kv_cache_update"
    cache = operand(*kinds.FLOATS)
    update = operand(*kinds.FLOATS)
    position = operand(kinds.I32, ranks=(1,))
    update_lengths = optional_operand(kinds.I32, ranks=(1,), offered=False)
    mode = attribute(kinds.enumeration("kv_cache_mode"), default="kLINEAR")
    update_form = attribute(_FORM, default=PADDED, offered=False)
    result = output(*kinds.FLOATS, like="cache")
    assembly_format = (
        "attr-dict `ins` `(` $cache `,` $update `,` $position"
        " `:` type($cache) `,` type($update) `,` type($position) `)`"
        " (`update_lengths` `(` $update_lengths^ `:` type($update_lengths) `)`)?"
    )

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """What is written fits into the cache."""
        form = self.value("update_form")
        yield from check_same_types(self, "cache", "update")
        yield from check_rank(self, "cache", 4)
        yield from check_rank(self, "update", _RANKS[form], f" as `update_form` is {form}")
        if form == PACKED and self.update_lengths is None:
            yield "a packed update needs `update_lengths`"
        cache, update = sizes(self.cache), sizes(self.update)
        heads = update[1]
        yield from check_equal_sizes("update", "as many heads as the cache,", heads, cache[1])
        yield from check_equal_sizes("update", "heads of the cache's size,", update[-1], cache[-1])
        if form == PADDED:
            for what, size, room in (
                ("batch", update[0], cache[0]),
                ("length", update[2], cache[2]),
            ):
                if is_static(size) and is_static(room) and size > room:
                    yield f"update has a {what} of {size}, and the cache has room for {room}"
            (count,) = sizes(self.position)
            yield from check_equal_sizes(
                "position", "one number for each of a batch of", count, update[0]
            )

    def translate(self, at: "Emission") -> Any:
        """Add an update of a cache."""
        tensors = (at.tensor(each) for each in (self.cache, self.update, self.position))
        layer = at.add("kv_cache_update", *tensors, at.member("KVCacheMode", self.value("mode")))
        form = _form(at, self.value("update_form"))
        return at.set(layer, update_form=form, update_lengths=_optional(at, self.update_lengths))


kv_cache_update = SingleResultLayer(KVCacheUpdateOp)

_PLACES = ("batch", "sequence")
_TRIO = ("gate", "up", "down")


class MoEOp(LayerOperation):
    """`down(activation(gate(x)) * up(x))` of each chosen expert, times its score, summed.

    The tokens are `[batch, sequence, hidden]`, experts and scores `[batch, sequence, chosen]`, and
    weights `[experts, hidden, inner]`, for `down` the other way round.
    """

    name = "trtx.moe"
    hidden = operand(*kinds.FLOATS)
    experts = operand(kinds.I32, kinds.I64)
    scores = operand(*kinds.FLOATS)
    gate_weights = operand(*kinds.FLOATS)
    up_weights = operand(*kinds.FLOATS)
    down_weights = operand(*kinds.FLOATS)
    gate_bias = optional_operand(*kinds.FLOATS, offered=False)
    up_bias = optional_operand(*kinds.FLOATS, offered=False)
    down_bias = optional_operand(*kinds.FLOATS, offered=False)
    activation = attribute(kinds.enumeration("expert_activation"), default="kSILU", offered=False)
    result = output(*kinds.FLOATS, like="hidden")
    assembly_format = (
        "attr-dict `ins` `(` $hidden `,` $experts `,` $scores"
        " `:` type($hidden) `,` type($experts) `,` type($scores) `)`"
        " `weights` `(` $gate_weights `,` $up_weights `,` $down_weights"
        " `:` type($gate_weights) `,` type($up_weights) `,` type($down_weights) `)`"
        " (`gate_bias` `(` $gate_bias^ `:` type($gate_bias) `)`)?"
        " (`up_bias` `(` $up_bias^ `:` type($up_bias) `)`)?"
        " (`down_bias` `(` $down_bias^ `:` type($down_bias) `)`)?"
    )

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Tokens, choices and weights belong together."""
        for name in ("hidden", "experts", "scores", *(f"{each}_weights" for each in _TRIO)):
            yield from check_rank(self, name, 3)
        tokens, chosen, scores = sizes(self.hidden), sizes(self.experts), sizes(self.scores)
        for what, size, wanted in zip(_PLACES, chosen, tokens, strict=False):
            yield from check_equal_sizes("experts", f"the {what} of the tokens,", size, wanted)
        for what, size, wanted in zip((*_PLACES, "choices"), scores, chosen, strict=True):
            yield from check_equal_sizes("scores", f"the {what} of the experts,", size, wanted)
        yield from self._weights(tokens)
        yield from self._biases()

    def _weights(self, tokens: Sizes) -> Iterator[str]:
        gate, up, down = (sizes(getattr(self, f"{each}_weights")) for each in _TRIO)
        yield from check_equal_sizes(
            "gate_weights", "the hidden size of the tokens,", gate[1], tokens[2]
        )
        if any(map(differ, up, gate)):
            yield "gate_weights and up_weights must have the same shape"
        if any(map(differ, down, (gate[0], gate[2], gate[1]))):
            yield "down_weights must have the shape of gate_weights with its last two sizes swapped"

    def _biases(self) -> Iterator[str]:
        biases = [getattr(self, f"{each}_bias") for each in _TRIO]
        if any(each is None for each in biases):
            if any(each is not None for each in biases):
                yield "the three biases are given together or not at all"
            return
        for name in _TRIO:
            weights, bias = sizes(getattr(self, f"{name}_weights")), f"{name}_bias"
            yield from check_rank(self, bias, 2)
            experts, width = sizes(getattr(self, bias))
            yield from check_equal_sizes(
                bias, "a row for each of the experts,", experts, weights[0]
            )
            yield from check_equal_sizes(
                bias, "a number for each output of its layer,", width, weights[2]
            )

    def translate(self, at: "Emission") -> Any:
        """Add a mixture of experts."""
        layer = at.add(
            "moe", *(at.tensor(each) for each in (self.hidden, self.experts, self.scores))
        )
        weights = (at.tensor(getattr(self, f"{each}_weights")) for each in _TRIO)
        layer.set_gated_weights(*weights, at.member("MoEActType", self.value("activation")))
        if self.gate_bias is not None:
            layer.set_gated_biases(*(at.tensor(getattr(self, f"{each}_bias")) for each in _TRIO))
        return layer


moe = SingleResultLayer(MoEOp)
