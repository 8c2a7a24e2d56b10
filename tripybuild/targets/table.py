"""The targets of `compile`: one line for each, and a target by its name: `tensorrt-rtx:sm86,sm89`.

A target's module is imported when the target is asked for. This module imports none of them, so
that code that needs only the names loads nothing.
"""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest

if TYPE_CHECKING:
    from tripybuild.targets.protocol import Target

# The class of each target, behind the module that holds it.
TARGETS = {
    "cpu": "tripybuild.targets.cpu.target:Cpu",
    "reference": "tripybuild.targets.reference:Reference",
    "tensorrt-rtx": "tripybuild.targets.tensorrt.target:TensorrtRtx",
    "tensorrt": "tripybuild.targets.tensorrt.target:Tensorrt",
    "mlir-tensorrt": "tripybuild.targets.tensorrt.target:MlirTensorrt",
}


def find_target(name: str) -> "Target":
    """The target of a name.

    Raises:
        DiagnosticError: There is none.
    """
    check_name(name, tuple(TARGETS), "unknown-target", "target")
    return _make(name, TARGETS[name])


@cache
def _make(name: str, place: str) -> "Target":
    module, _, kind = place.partition(":")
    return getattr(import_module(module), kind)(name)  # type: ignore[no-any-return]


def parse_target(text: str) -> "Target":
    """Read `NAME` or `NAME:smXX,...`.

    Raises:
        DiagnosticError: There is no such target, or it takes no compute capabilities.
    """
    name, colon, rest = text.partition(":")
    target = find_target(name)
    return target.for_gpus(rest) if colon else target


def forms() -> dict[str, "Target"]:
    """What `emit` can print, and the first target that prints it."""
    found: dict[str, Target] = {}
    for name in TARGETS:
        target = find_target(name)
        found.setdefault(target.form, target)
    return found


def check_name(name: str, names: Sequence[str], code: str, what: str) -> None:
    """Refuse a name that is not among those that there are."""
    if name not in names:
        near = suggest(name, names)
        hint = f"did you mean `{near}`?" if near else None
        message = f"`{name}` is not a {what}; there are {', '.join(f'`{k}`' for k in names)}"
        raise DiagnosticError(Diagnostic(code, message, hint=hint))
