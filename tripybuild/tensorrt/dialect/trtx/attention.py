"""Attention: queries, keys and values, with masks and scales."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import Float8E4M3FNType, IntegerType
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
from tripybuild.tensorrt.dialect.trtx.attributes import (
    PACKED,
    PADDED,
    RANKS,
    causal_mask,
    enumeration,
    form,
)
from tripybuild.tensorrt.dialect.trtx.operand_checks import (
    check_equal_sizes,
    check_rank,
    check_same_types,
)
from tripybuild.tensorrt.shape_rules import MaybeSize, differ, is_static
from tripybuild.tensorrt.shape_rules.shapes import broadcasts_to

_FLOAT = types.FLOAT_TENSOR
_LENGTHS = types.tensor(types.I32, ranks=(1,))
_QUANTIZED = attributes.AttributeKind(
    "type attribute of f8E4M3FN or i8",
    lambda given: given in (Float8E4M3FNType(), IntegerType(8)),
    None,
    lambda given: given,
    lambda given: given,
)


@operation
class AttentionOp(TensorrtOperation):
    """`softmax(query @ key^T + mask) @ value` for each head; scale the query before.

    The third operand is `values`, as `value` reads attributes. Tensors are
    `[batch, heads, sequence, head size]`; packed ones are `[tokens, heads, head size]`, and the
    lengths say where each sequence ends.
    """

    name = "trtx.attention"
    irdl_options = SEGMENTED
    query = operand_def(VarConstraint("T", _FLOAT))
    key = operand_def(_FLOAT)
    values = operand_def(_FLOAT)
    mask = opt_operand_def(types.tensor(types.I1, *types.FLOATS))
    query_lengths = opt_operand_def(_LENGTHS)
    key_value_lengths = opt_operand_def(_LENGTHS)
    quantize_scale = opt_operand_def(types.tensor(*types.FLOATS, ranks=(0, 1)))
    causal = prop_def(causal_mask(), default_value=causal_mask().attribute("kNONE"))
    decomposable = prop_def(attributes.BOOL, default_value=attributes.BOOL.attribute(value=False))
    normalization = prop_def(
        enumeration("attention_normalization"),
        default_value=enumeration("attention_normalization").attribute("kSOFTMAX"),
    )
    query_form = prop_def(form(), default_value=form().attribute(PADDED))
    key_value_form = prop_def(form(), default_value=form().attribute(PADDED))
    quantized_type = opt_prop_def(_QUANTIZED)
    result = result_def(VarConstraint("T", _FLOAT))
    assembly_format = (
        "attr-dict `ins` `(` $query `,` $key `,` $values"
        " `:` type($query) `,` type($key) `,` type($values) `)`"
        " (`mask` `(` $mask^ `:` type($mask) `)`)?"
        " (`query_lengths` `(` $query_lengths^ `:` type($query_lengths) `)`)?"
        " (`key_value_lengths` `(` $key_value_lengths^ `:` type($key_value_lengths) `)`)?"
        " (`quantize_scale` `(` $quantize_scale^ `:` type($quantize_scale) `)`)?"
    )
    traits = traits_def(Pure())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The query's type."""
        return [Component(sizes(self.query), element(self.query))]

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
        yield from check_rank(self, "query", RANKS[queries], f" as `query_form` is {queries}")
        for name in ("key", "values"):
            yield from check_rank(self, name, RANKS[keys], f" as `key_value_form` is {keys}")
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
        if not types.I1.accepts(element(self.mask)):
            yield from check_same_types(self, "query", "mask")
        yield from check_rank(self, "mask", 4)
        query, key = sizes(self.query), sizes(self.key)
        if len(query) != 4 or len(key) != 4:
            return
        wanted = (query[0], query[1], query[2], key[2])
        if not all(map(broadcasts_to, sizes(self.mask), wanted)):
            given = _shape_text(sizes(self.mask))
            yield f"mask has shape {given}, which does not broadcast to {_shape_text(wanted)}"


def _shape_text(shape: Sequence[MaybeSize]) -> str:
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"
