"""Constant folding of `arith`, used by plugins' shape computations, with xDSL's patterns."""

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter

_INTEGERS: tuple[type[Operation], ...] = tuple(
    op_class
    for op_class in arith.Arith.operations
    if issubclass(op_class, arith.SignlessIntegerBinaryOperation)
)


def integers(op: arith.SignlessIntegerBinaryOperation, rewriter: PatternRewriter) -> bool:
    """Two numbers are one, and adding 0 (and the like) is nothing."""
    folded: tuple[SSAValue | IntegerAttr] | None = op.fold()  # type: ignore[no-untyped-call]
    if folded is None:
        return False
    (found,) = folded
    if isinstance(found, IntegerAttr):
        constant = arith.ConstantOp(found)
        constant.location = op.location
        found = rewriter.insert(constant).result
    rewriter.replace(op, found)
    return True


PATTERNS = (Pattern("integers", _INTEGERS, integers, "shapes that are known become numbers"),)
