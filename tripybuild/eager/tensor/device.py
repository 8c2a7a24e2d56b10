"""Devices: `tp.device("cpu")`, `tp.device("gpu:0")`."""

from dataclasses import dataclass
from typing import Any, Self

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.frontend.tensor import PACKAGES
from tripybuild.trace.location import caller_location

KINDS = ("cpu", "gpu")


@dataclass(frozen=True, init=False)
class device:  # noqa: N801 - the API's name
    """A kind of device, and which one of them.

    Args:
        device: `cpu` or `gpu`, with a colon and an index behind it if wanted; the only index is 0.

    Raises:
        DiagnosticError: There is no such device.
    """

    kind: str
    index: int

    def __init__(self, device: str) -> None:
        kind, colon, index = str(device).partition(":")
        if kind not in KINDS:
            near = "gpu" if kind == "cuda" else suggest(kind, KINDS)
            hint = f"did you mean `{near}`?" if near else None
            raise _value_error(f"there is no kind of device `{kind}`; there are cpu and gpu", hint)
        if colon and not index.isdecimal():
            raise _value_error(f"`{device}` has no number behind its colon", None)
        if int(index or 0) != 0:
            raise _value_error(f"there is no `{device}`: the only index is 0", None)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "index", 0)

    @classmethod
    def fast_init(cls, kind: str, index: int) -> Self:
        """Make a device of a kind and an index that are known to be right."""
        made = object.__new__(cls)
        object.__setattr__(made, "kind", kind)
        object.__setattr__(made, "index", index)
        return made

    def __str__(self) -> str:
        return f"{self.kind}:{self.index}"


def on_gpu(name: str, tensor: Any) -> None:
    """Reject an input that is not on the device that nvtripy's executables expect.

    Args:
        name: The input.
        tensor: What is given for it.

    Raises:
        DiagnosticError: It is said to be on the CPU.
    """
    if tensor.device.kind != "gpu":
        message = f"the input `{name}` must be on gpu:0, but is on {tensor.device}"
        hint = f'copy it: `tp.copy({name}, tp.device("gpu"))`'
        raise _value_error(message, hint)


def _value_error(message: str, hint: str | None) -> DiagnosticError:
    return DiagnosticError(
        Diagnostic("wrong-value", message, caller_location(PACKAGES).span(), hint=hint)
    )
