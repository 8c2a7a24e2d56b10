"""Target names of `compile` and their options: `tensorrt-rtx:sm86,sm89`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest

CPU, REFERENCE = "cpu", "reference"
RTX, TENSORRT, MLIR_TENSORRT = "tensorrt-rtx", "tensorrt", "mlir-tensorrt"
TARGETS = (CPU, REFERENCE, RTX, TENSORRT, MLIR_TENSORRT)
# Those that run engines of TensorRT: the ranges of a model become optimization profiles.
ENGINES = frozenset({RTX, TENSORRT, MLIR_TENSORRT})
CAPABILITY = re.compile(r"sm[1-9][0-9]{1,2}")


@dataclass(frozen=True, slots=True)
class Target:
    """What runs a model, and which GPUs it is built for; none named means all that can be."""

    name: str
    capabilities: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ":".join(filter(None, (self.name, ",".join(self.capabilities))))


def parse_target(text: str) -> Target:
    """Read `NAME` or `NAME:smXX,...`.

    Raises:
        DiagnosticError: There is no such target, or it takes no compute capabilities.
    """
    name, colon, rest = text.partition(":")
    check_name(name, TARGETS, "unknown-target", "target")
    if not colon:
        return Target(name)
    if name != RTX:
        message = f"`{name}` is built for the machine that it is on, and takes no `:{rest}`"
        hint = f"`{RTX}:sm89` is built for GPUs that need not be there"
        raise DiagnosticError(Diagnostic("unknown-target", message, hint=hint))
    capabilities = tuple(sorted({each.strip().lower() for each in rest.split(",")}))
    for each in capabilities:
        if not CAPABILITY.fullmatch(each):
            message = f"`{each}` is not a compute capability" if each else f"`{text}` lacks a GPU"
            hint = "write them as `sm86` or `sm86,sm89`"
            raise DiagnosticError(Diagnostic("unknown-target", message, hint=hint))
    return Target(name, capabilities)


def check_name(name: str, names: Sequence[str], code: str, what: str) -> None:
    """Refuse a name that is not among those that there are."""
    if name not in names:
        near = suggest(name, names)
        hint = f"did you mean `{near}`?" if near else None
        message = f"`{name}` is not a {what}; there are {', '.join(f'`{k}`' for k in names)}"
        raise DiagnosticError(Diagnostic(code, message, hint=hint))
