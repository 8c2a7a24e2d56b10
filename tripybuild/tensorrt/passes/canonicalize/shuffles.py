"""`shuffle` canonicalization: transpose, reshape and transpose in one op, two often fused.

A 0 in `reshape` stands for the size at that place of what is reshaped, unless
`zero_is_placeholder` is false; so a reshape with a 0 means something else behind another shuffle.
Three conditions that mlir-tensorrt lacks are asked here: merged shuffles have no such 0; a shuffle
without a reshape keeps the reshape before it; and the reshape that is written down for a result of
known sizes is the one before the second transpose.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from tripybuild.tensorrt.dialect import ShuffleOp
from tripybuild.tensorrt.dialect.base import sizes
from tripybuild.tensorrt.passes.canonicalize.matching import is_static, numbers_of
from tripybuild.tensorrt.passes.elimination.permutations import (
    Permutation,
    compose,
    inverse,
    is_identity,
    permute,
)
from tripybuild.tensorrt.passes.rewriting.driver import Folder, Pattern, PatternRewriter
from tripybuild.tensorrt.passes.rewriting.values import defining_op


def _replace(
    op: ShuffleOp,
    rewriter: PatternRewriter,
    source: ShuffleOp,
    target: ShuffleOp,
    second: Permutation,
) -> None:
    """Put one shuffle for two: it starts as `source`, and reshapes as `target`."""
    made = rewriter.create(
        ShuffleOp,
        source.input,
        target.dynamic_reshape,
        first_transpose=source.first_transpose,
        reshape=target.reshape,
        second_transpose=second,
        zero_is_placeholder=target.zero_is_placeholder,
        result_types=[op.result.type],
    )
    rewriter.replace(op, made)


def static_reshape(op: ShuffleOp, rewriter: PatternRewriter) -> bool:
    """A new shape that is a constant becomes an attribute."""
    numbers = numbers_of(op.dynamic_reshape)
    if numbers is None:
        return False
    made = rewriter.create(
        ShuffleOp,
        op.input,
        None,
        first_transpose=op.first_transpose,
        reshape=numbers,
        second_transpose=op.second_transpose,
        zero_is_placeholder=op.zero_is_placeholder,
        result_types=[op.result.type],
    )
    rewriter.replace(op, made)
    return True


def no_placeholder(op: ShuffleOp, rewriter: PatternRewriter) -> bool:
    """A result of known sizes says which reshape it is: no 0 stands for anything."""
    if not op.value("zero_is_placeholder") or op.dynamic_reshape is not None:
        return False
    if not is_static(op.result.type):
        return False
    assert isinstance(op.result.type, TensorType)
    shape = permute(inverse(op.value("second_transpose")), op.result.type.get_shape())
    made = rewriter.create(
        ShuffleOp,
        op.input,
        None,
        first_transpose=op.first_transpose,
        reshape=shape,
        second_transpose=op.second_transpose,
        zero_is_placeholder=False,
        result_types=[op.result.type],
    )
    rewriter.replace(op, made)
    return True


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
    _replace(op, rewriter, before, op, op.value("second_transpose"))
    return True


def transpose_of_reshape(op: ShuffleOp, rewriter: PatternRewriter) -> bool:
    """`(t0 r0 t1)(t2 t3)` is `(t0 r0 t4)`, where t4 is t1, t2 and t3."""
    before = defining_op(op.input, ShuffleOp)
    if before is None or _reshapes(op):
        return False
    turned = compose(before.value("second_transpose"), op.value("first_transpose"))
    _replace(op, rewriter, before, before, compose(turned, op.value("second_transpose")))
    return True


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
