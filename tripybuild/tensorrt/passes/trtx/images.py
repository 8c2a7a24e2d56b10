"""Decomposition of scaling and of normalization across channels."""

from typing import Any

from xdsl.dialects.builtin import IntegerType, f32
from xdsl.ir import SSAValue

from tripybuild.tensorrt.dialect.base import element
from tripybuild.tensorrt.dialect.trtx import LRNOp, ScaleOp
from tripybuild.tensorrt.passes.elimination.layouts import sizes_of
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter
from tripybuild.tensorrt.passes.trtx.op_builder import OpBuilder

CHANNELS = 1


def _scale(op: ScaleOp, rewriter: PatternRewriter) -> bool:
    make = OpBuilder(rewriter)
    found = op.input
    for name, weights in (("kPROD", op.scale), ("kSUM", op.shift), ("kPOW", op.power)):
        if weights is not None:
            fitting = make.cast(make.reshape(weights, _weight_sizes(op)), element(op.input))
            found = make.binary(name, found, fitting)
    rewriter.replace(op, found)
    return True


def _weight_sizes(op: ScaleOp) -> list[int]:
    """The sizes that weights have beside the input."""
    shape, mode = sizes_of(op.input), op.value("mode")
    axis = op.value("axis") % len(shape)
    own = {"kUNIFORM": (), "kCHANNEL": (axis,), "kELEMENTWISE": range(axis, len(shape))}[mode]
    return [shape[each] or 0 if each in own else 1 for each in range(len(shape))]


def _scale_obstacle(op: Any) -> str | None:
    shape, mode = sizes_of(op.input), op.value("mode")
    axis = op.value("axis") % len(shape)
    own = {"kUNIFORM": (), "kCHANNEL": (axis,), "kELEMENTWISE": range(axis, len(shape))}[mode]
    if any(shape[each] is None for each in own):
        return "its number of weights is unknown"
    return None


def _lrn(op: LRNOp, rewriter: PatternRewriter) -> bool:
    """`x / (k + alpha / window * sum of squares) ** beta`, in f32: squares of f16 overflow soon."""
    make = OpBuilder(rewriter)
    given = make.cast(op.input, f32)
    reach = op.value("window") // 2
    squares = make.binary("kPROD", given, given)
    near: list[SSAValue] = [
        make.shift(squares, CHANNELS, by) if by else squares for by in range(-reach, reach + 1)
    ]
    total = make.binary("kSUM", *near)
    share = make.number(op.value("alpha") / op.value("window"), given)
    around = make.binary(
        "kSUM", make.binary("kPROD", total, share), make.number(op.value("k"), given)
    )
    power = make.binary("kPOW", around, make.number(op.value("beta"), given))
    rewriter.replace(op, make.cast(make.binary("kDIV", given, power), element(op.input)))
    return True


def _lrn_obstacle(op: Any) -> str | None:
    if isinstance(element(op.input), IntegerType):
        return "its integers are quantized floats, with an unknown scale"
    if len(sizes_of(op.input)) != 4:
        return "only of images `[batch, channels, height, width]` is it known what it means"
    return None


PATTERNS = (
    Pattern("scale-as-arithmetic", ScaleOp, _scale, "there is no layer for it"),
    Pattern("lrn-as-arithmetic", LRNOp, _lrn, "there is no layer for it"),
)
REFUSALS = {ScaleOp.name: _scale_obstacle, LRNOp.name: _lrn_obstacle}
