"""`tensorrt-transpose-reshape-elimination`: transposes and reshapes move through ops.

It stands for `tensorrt-transpose-elimination` and `tensorrt-reshape-elimination`, and knows
products: those become einsums, which take transposes in; then transposes and reshapes go down, then
up, and cancel where they meet; what is left of einsums becomes products again. The stages are
tables of rewrites, in mlir-tensorrt's order.

mlir-tensorrt's rule for einsums that are no product as they stand gives inputs batch dimensions of
size 1, and makes products of vectors of what has rows and columns (an attention whose queries have
their heads last, say). TensorRT may have no good kernel for those; no pipeline has this pass.

Invariant: values never change. Sizes must be known where a reshape moves; a reshape with two
unknown sizes stays where it is.
"""

from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from tripybuild.tensorrt.passes.canonicalize import FOLDERS, reshapes
from tripybuild.tensorrt.passes.elimination import transpose_elimination as transposes
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, greedy
from tripybuild.tensorrt.passes.transpose_reshape_elimination import (
    einsums,
    moves,
    products,
)

_BY_NAME = {row.name: row for row in reshapes.PATTERNS}
_LAYOUTS = tuple(
    _BY_NAME[name]
    for name in ("transpose of transpose", "reshape of constant", "reshape of reshape")
)
_OUT = (
    *_LAYOUTS,
    _BY_NAME["units"],
    transposes.EXPANDED,
    *products.OUT_OF_EINSUM,
)

# Of rows for one op, the first that fits is applied: their order is mlir-tensorrt's.
STAGES: tuple[tuple[Pattern, ...], ...] = (
    (*products.INTO_EINSUM, einsums.OPERANDS, einsums.RESULT, *_LAYOUTS),
    (einsums.UNITS,),
    (
        *transposes.PUSH_DOWN,
        *moves.DOWN,
        moves.UNARY_DOWN,
        moves.UNITS,
        einsums.OPERANDS,
        einsums.DOWN,
        einsums.ORDER_RESULT,
        *_LAYOUTS,
    ),
    (
        *transposes.PUSH_UP,
        *moves.UP,
        einsums.RESULT,
        einsums.UP,
        moves.UNITS,
        einsums.ORDER_OPERANDS,
        replace(products.BATCH, benefit=0),
        *_LAYOUTS,
    ),
    (*_OUT, products.BATCH, products.SUM_ONCE, moves.UNITS),
    (
        *_OUT,
        einsums.OPERANDS,
        einsums.RESULT,
        einsums.COLLAPSE,
        einsums.EXPAND,
        moves.UNITS,
    ),
)


def run(module: ModuleOp) -> bool:
    """Run the pass on a module, in place; whether it changed anything."""
    changed = [greedy(module, stage, FOLDERS) for stage in STAGES]
    return any(changed)
