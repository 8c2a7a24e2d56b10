"""Rotary position embeddings, and key-value caches."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.irdl import (
    VarConstraint,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
)
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
from tripybuild.tensorrt.dialect.trtx.attributes import PACKED, PADDED, RANKS, enumeration, form
from tripybuild.tensorrt.dialect.trtx.operand_checks import (
    check_equal_sizes,
    check_rank,
    check_same_types,
)
from tripybuild.tensorrt.shape_rules import MaybeSize, is_static

_FLOAT = types.FLOAT_TENSOR
_LENGTHS = types.tensor(types.I32, ranks=(1,))


@operation
class RotaryEmbeddingOp(TensorrtOperation):
    """Pairs of elements, rotated by angles that depend on their place in the sequence.

    Without `position`, the cosines are `[batch, sequence, pairs]`; with it, they are a table of
    which it takes rows.
    """

    name = "trtx.rotary_embedding"
    input = operand_def(VarConstraint("T", _FLOAT))
    cosine = operand_def(_FLOAT)
    sine = operand_def(_FLOAT)
    position = opt_operand_def(types.tensor(types.I32, types.I64))
    interleaved = prop_def(attributes.BOOL, default_value=attributes.BOOL.attribute(value=False))
    dimensions = prop_def(attributes.I64, default_value=attributes.I64.attribute(0))
    result = result_def(VarConstraint("T", _FLOAT))
    assembly_format = (
        "attr-dict `ins` `(` $input `,` $cosine `,` $sine"
        " `:` type($input) `,` type($cosine) `,` type($sine) `)`"
        " (`position` `(` $position^ `:` type($position) `)`)?"
    )
    traits = traits_def(Pure())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The input's type."""
        return [Component(sizes(self.input), element(self.input))]

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


def _check_angle_table(
    name: str, given: Sequence[MaybeSize], wanted: Sequence[MaybeSize]
) -> Iterator[str]:
    for what, size, of_input in zip(("batch", "sequence"), given, wanted, strict=False):
        yield from check_equal_sizes(name, f"the {what} of the input,", size, of_input)


@operation
class KVCacheUpdateOp(TensorrtOperation):
    """A cache of keys or values, with new ones written where `position` says, for each sequence."""

    name = "trtx.kv_cache_update"
    cache = operand_def(VarConstraint("T", _FLOAT))
    update = operand_def(_FLOAT)
    position = operand_def(types.tensor(types.I32, ranks=(1,)))
    update_lengths = opt_operand_def(_LENGTHS)
    mode = prop_def(
        enumeration("kv_cache_mode"),
        default_value=enumeration("kv_cache_mode").attribute("kLINEAR"),
    )
    update_form = prop_def(form(), default_value=form().attribute(PADDED))
    result = result_def(VarConstraint("T", _FLOAT))
    assembly_format = (
        "attr-dict `ins` `(` $cache `,` $update `,` $position"
        " `:` type($cache) `,` type($update) `,` type($position) `)`"
        " (`update_lengths` `(` $update_lengths^ `:` type($update_lengths) `)`)?"
    )
    traits = traits_def(Pure())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The cache's type."""
        return [Component(sizes(self.cache), element(self.cache))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """What is written fits into the cache."""
        form = self.value("update_form")
        yield from check_same_types(self, "cache", "update")
        yield from check_rank(self, "cache", 4)
        yield from check_rank(self, "update", RANKS[form], f" as `update_form` is {form}")
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
