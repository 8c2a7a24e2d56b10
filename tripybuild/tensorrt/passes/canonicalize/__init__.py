"""`canonicalize`: constant folding, removal of no-ops, canonical forms of idioms.

TensorRT fuses only what it recognizes, so equal computations are brought into one form. The tables
are mlir-tensorrt's, one module per group of ops; what a group's patterns may assume of each other
stands with the group.

Invariant: the values of a function do not change, but for what mlir-tensorrt itself rounds in
another way (sums that become averages, `x * a / a`, bias in float16), and no type changes. Where a
pattern of mlir-tensorrt gives other values or an invalid op, the condition that it lacks is added
here, and said at the pattern. Running the pass twice gives what running it once gives.
"""

from xdsl.dialects.builtin import ModuleOp

from tripybuild.tensorrt.passes.canonicalize import (
    control,
    element_wise,
    folds,
    linear,
    reshapes,
    shuffles,
)
from tripybuild.tensorrt.passes.rewriting.driver import Folders, Pattern, greedy

# Patterns of one class are tried in this order.
PATTERNS: tuple[Pattern, ...] = (
    *element_wise.PATTERNS,
    *linear.PATTERNS,
    *reshapes.PATTERNS,
    *shuffles.PATTERNS,
    *shuffles.SLICES,
    *control.PATTERNS,
    *folds.PATTERNS,
)
# The folders of mlir-tensorrt's operations: every pass that rewrites greedily applies them.
FOLDERS: Folders = {**folds.FOLDERS, **reshapes.FOLDERS, **shuffles.FOLDERS}


def run(module: ModuleOp) -> bool:
    """Apply all patterns and folders until nothing changes."""
    return greedy(module, PATTERNS, {**FOLDERS, **folds.CASTS}, top_down=True)
