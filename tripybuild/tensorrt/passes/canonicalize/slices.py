"""`slice` canonicalization: static offsets and sizes."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import SSAValue

from tripybuild.tensorrt.dialect import SliceOp
from tripybuild.tensorrt.dialect.base import element
from tripybuild.tensorrt.passes.canonicalize.matching import numbers_of
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter


def _numbers(value: SSAValue | None) -> Sequence[int] | None:
    """The numbers of a constant of i32."""
    return numbers_of(value) if value is not None and element(value) == i32 else None


def static(op: SliceOp, rewriter: PatternRewriter) -> bool:
    """A size or a start that is a constant becomes an attribute; strides stay, as there."""
    size, start = _numbers(op.size), _numbers(op.start)
    if size is None and start is None:
        return False
    given = DenseArrayBase.from_list
    made = rewriter.create(
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
        result_types=[op.result.type],
    )
    rewriter.replace(op, made)
    return True


PATTERNS = (Pattern("static", SliceOp, static, "sizes are known when it is built"),)
