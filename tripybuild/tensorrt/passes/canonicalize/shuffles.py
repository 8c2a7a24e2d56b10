"""`shuffle` and `slice` canonicalization: two shuffles often fused, and static offsets and sizes.

A shuffle is a transpose, a reshape and a transpose. A 0 in `reshape` stands for the size at that
place of what is reshaped, unless `zero_is_placeholder` is false; so a reshape with a 0 means
something else behind another shuffle. Three conditions that mlir-tensorrt lacks are asked here:
merged shuffles have no such 0; a shuffle without a reshape keeps the reshape before it; and the
reshape that is written down for a result of known sizes is the one before the second transpose.
"""

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Operation, SSAValue

from tripybuild.tensorrt.dialect import ShuffleOp, SliceOp
from tripybuild.tensorrt.dialect.base import element, sizes
from tripybuild.tensorrt.passes.elimination.layouts import (
    compose,
    inverse,
    is_identity,
    permute,
)
from tripybuild.tensorrt.passes.rewriting.driver import Folder, Pattern, PatternRewriter
from tripybuild.tensorrt.passes.rewriting.values import defining_op, is_static, numbers_of


def _replace(
    op: ShuffleOp, rewriter: PatternRewriter, source: ShuffleOp, target: ShuffleOp, **changed: Any
) -> bool:
    """Put a shuffle for one: it starts as `source`, and reshapes as `target`, but for changes."""
    attributes = {
        "reshape": target.reshape,
        "second_transpose": op.second_transpose,
        "zero_is_placeholder": target.zero_is_placeholder,
        **changed,
    }
    shape = None if "reshape" in changed else target.dynamic_reshape
    first = source.first_transpose
    return rewriter.replace_with(
        op, ShuffleOp, source.input, shape, first_transpose=first, **attributes
    )


def static_reshape(op: ShuffleOp, rewriter: PatternRewriter) -> bool:
    """A new shape that is a constant becomes an attribute."""
    numbers = numbers_of(op.dynamic_reshape)
    return numbers is not None and _replace(op, rewriter, op, op, reshape=numbers)


def no_placeholder(op: ShuffleOp, rewriter: PatternRewriter) -> bool:
    """A result of known sizes says which reshape it is: no 0 stands for anything."""
    if not op.value("zero_is_placeholder") or op.dynamic_reshape is not None:
        return False
    if not is_static(op.result.type):
        return False
    shape = permute(inverse(op.value("second_transpose")), sizes(op.result))
    return _replace(op, rewriter, op, op, reshape=shape, zero_is_placeholder=False)


def _refers_to_input(op: ShuffleOp) -> bool:
    """Whether the new shape may take sizes over from the old one."""
    if not op.value("zero_is_placeholder"):
        return False
    return op.dynamic_reshape is not None or 0 in (op.value("reshape") or ())


def _reshapes(op: ShuffleOp) -> bool:
    return op.reshape is not None or op.dynamic_reshape is not None


def reshape_of_reshape(op: ShuffleOp, rewriter: PatternRewriter) -> bool:
    """`(t0 r0 t1)(t2 r1 t3)` is `(t0 r1 t3)` if t2 undoes t1."""
    before = defining_op(op.input, ShuffleOp)
    if before is None or not _reshapes(op) or _refers_to_input(op):
        return False
    if not _cancels(before.value("second_transpose"), op.value("first_transpose")):
        return False
    return _replace(op, rewriter, before, op)


def transpose_of_reshape(op: ShuffleOp, rewriter: PatternRewriter) -> bool:
    """`(t0 r0 t1)(t2 t3)` is `(t0 r0 t4)`, where t4 is t1, t2 and t3."""
    before = defining_op(op.input, ShuffleOp)
    if before is None or _reshapes(op):
        return False
    turned = compose(before.value("second_transpose"), op.value("first_transpose"))
    second = compose(turned, op.value("second_transpose"))
    return _replace(op, rewriter, before, before, second_transpose=second)


def _cancels(first: Sequence[int], then: Sequence[int]) -> bool:
    return len(first) == len(then) and is_identity(compose(first, then))


def fold_shuffle(op: ShuffleOp) -> Sequence[SSAValue] | None:
    """A shuffle is its input if sizes are known, and elements stay where they are."""
    reshape, first = op.value("reshape"), op.value("first_transpose")
    source = sizes(op.input)
    if reshape is None or op.value("zero_is_placeholder") or op.input.type != op.result.type:
        return None
    if None in source:
        return None
    one_line = sum(size != 1 for size in source) == 1
    back = _cancels(first, op.value("second_transpose"))
    if one_line or (back and permute(first, source) == tuple(reshape)):
        return (op.input,)
    return None


PATTERNS = (
    Pattern("static reshape", ShuffleOp, static_reshape, "sizes are known when it is built"),
    Pattern("no placeholder", ShuffleOp, no_placeholder, "other rewrites need no old shape"),
    Pattern("reshape of reshape", ShuffleOp, reshape_of_reshape, "one layer"),
    Pattern("transpose of reshape", ShuffleOp, transpose_of_reshape, "one layer"),
)
FOLDERS: dict[type[Operation], Folder] = {ShuffleOp: fold_shuffle}


def _numbers(value: SSAValue | None) -> Sequence[int] | None:
    """The numbers of a constant of i32."""
    return numbers_of(value) if value is not None and element(value) == i32 else None


def static(op: SliceOp, rewriter: PatternRewriter) -> bool:
    """A size or a start that is a constant becomes an attribute; strides stay, as there."""
    size, start = _numbers(op.size), _numbers(op.start)
    if size is None and start is None:
        return False
    given = DenseArrayBase.from_list
    return rewriter.replace_with(
        op,
        SliceOp,
        op.input,
        op.fill,
        op.start if start is None else None,
        op.size if size is None else None,
        op.stride,
        static_start=op.static_start if start is None else given(i32, start),
        static_size=op.static_size if size is None else given(i32, size),
        static_stride=op.static_stride,
        mode=op.mode,
    )


SLICES = (Pattern("static", SliceOp, static, "sizes are known when it is built"),)
