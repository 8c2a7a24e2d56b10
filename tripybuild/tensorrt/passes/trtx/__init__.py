"""`trtx-to-tensorrt`: layers that NVIDIA's dialect lacks, decomposed into its operations.

For compilers that know that dialect only. Invariant: nothing is changed where something is refused,
and all that is refused is said, with its place. The pass is ours: mlir-tensorrt has none of this
name.
"""

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.tensorrt.mlir import locations
from tripybuild.tensorrt.passes.rewriting.driver import greedy
from tripybuild.tensorrt.passes.trtx import attention, images, rotary_and_cache, sequences

PATTERNS = (
    *attention.PATTERNS,
    *rotary_and_cache.PATTERNS,
    *sequences.PATTERNS,
    *images.PATTERNS,
)
# Why an op of a kind cannot be written with others, or None; kinds without an entry never can.
REFUSALS = {
    **attention.REFUSALS,
    **rotary_and_cache.REFUSALS,
    **sequences.REFUSALS,
    **images.REFUSALS,
}
NEVER = {
    "trtx.grid_sample": "it interpolates at places that only the run knows",
    "trtx.nms": "which boxes are left is decided one after the other",
    "trtx.constant": "it has no constants of f4",
    "trtx.quantize": "it has f4 as what is dequantized, and not as what is quantized",
    "trtx.moe": "each token is sent to experts of its own",
}
TOGETHER = "several devices do it together"


def run(module: ModuleOp) -> bool:
    """Rewrite all of them.

    Raises:
        DiagnosticError: With each op that cannot be written in the tensorrt dialect.
    """
    found = [op for op in module.walk() if op.name.startswith("trtx.")]
    if not found:
        return False
    refused = [(op, why) for op in found if (why := _refusal_reason(op)) is not None]
    if refused:
        raise DiagnosticError(*(_refusal(op, why) for op, why in refused))
    return greedy(module, PATTERNS)


def _refusal_reason(op: Operation) -> str | None:
    check = REFUSALS.get(op.name)
    return NEVER.get(op.name, TOGETHER) if check is None else check(op)


def _refusal(op: Operation, why: str) -> Diagnostic:
    message = f"`{op.name}` cannot be written in NVIDIA's tensorrt dialect: {why}"
    hint = "the target `tensorrt-rtx` has a layer for it"
    return Diagnostic("tensorrt-unsupported", message, locations.span_of(op.location), hint=hint)
