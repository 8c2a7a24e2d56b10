"""Cost model of reshapes: zero for constants, low beside other reshapes."""

from xdsl.ir import Operation, SSAValue

from tripybuild.tensorrt.dialect import (
    ActivationOp,
    ConstantOp,
    IdentityOp,
    ReshapeOp,
    ShuffleOp,
    TransposeOp,
    UnaryOp,
)

FREE, MERGED, SEPARATE = 0, 100, 1000
FARTHEST = 10  # ops that are looked back through

_LAYOUTS = (ShuffleOp, ReshapeOp, TransposeOp)
_PASSABLE = (UnaryOp, ActivationOp, IdentityOp, *_LAYOUTS)


def cost(value: SSAValue) -> int:
    """What a new reshape of a value would cost."""
    op, found, passable = value.owner, SEPARATE, True
    for _ in range(FARTHEST):
        if not isinstance(op, Operation):
            break
        if isinstance(op, ConstantOp):
            return FREE
        if passable and isinstance(op, _LAYOUTS):
            found = MERGED
        passable = passable and isinstance(op, _PASSABLE)
        if len(op.operands) != 1:
            break
        op = op.operands[0].owner
    return found
