"""`tensorrt-transpose-reshape-elimination`: transposes and reshapes pass through what they can.

It stands for `tensorrt-transpose-elimination` and `tensorrt-reshape-elimination`, and knows
products: those become einsums, which take transposes in; then transposes and reshapes go down, then
up, and cancel where they meet; what is left of einsums becomes products again. The stages are
tables of rewrites, in mlir-tensorrt's order.

Law: values never change. Sizes must be known where a reshape moves; a reshape with two unknown
sizes stays where it is.
"""

from xdsl.dialects.builtin import ModuleOp

from tripybuild.passes import transpose_elimination as transposes
from tripybuild.passes.canonicalize import FOLDERS, reshapes
from tripybuild.passes.rewriting import Pattern, greedy
from tripybuild.passes.transpose_reshape_elimination import (
    einsum_reshapes,
    einsums,
    moves,
    products,
)

_BY_NAME = {row.name: row for row in reshapes.PATTERNS}
_LAYOUTS = tuple(
    _BY_NAME[name]
    for name in ("transpose of transpose", "reshape of constant", "reshape of reshape")
)
_RANKS = (_BY_NAME["rank of rank"], _BY_NAME["units"])

_UP = (
    *transposes.PUSH_UP,
    *moves.UP,
    moves.UNITS,
    einsums.RESULT,
    einsum_reshapes.UP,
    *_LAYOUTS,
)
_OUT = (*products.OUT_OF_EINSUM, moves.UNITS, *_LAYOUTS, *_RANKS)

# mlir-tensorrt orders the inputs of einsums, and gives them batch dimensions, while layouts still
# go up; then einsums are ordered for results that they do not keep. Here they wait for that.
STAGES: tuple[tuple[Pattern, ...], ...] = (
    (*products.INTO_EINSUM, einsums.OPERANDS, einsums.RESULT, *_LAYOUTS),
    (einsums.UNITS, *_LAYOUTS),
    (
        *transposes.PUSH_DOWN,
        *moves.DOWN,
        moves.UNARY_DOWN,
        moves.UNITS,
        einsums.OPERANDS,
        einsum_reshapes.DOWN,
        einsums.ORDER_RESULT,
        *_LAYOUTS,
    ),
    _UP,
    (*_UP, einsums.ORDER_OPERANDS),
    (*_OUT, products.SUM_ONCE, products.BATCH),
    (*_OUT, einsums.OPERANDS, einsums.RESULT, einsums.COLLAPSE, einsums.EXPAND),
)


def run(module: ModuleOp) -> bool:
    """Run the pass on a module, in place; whether it changed anything."""
    changed = [greedy(module, stage, FOLDERS) for stage in STAGES]
    return any(changed)
