"""Devices, `tp.device("cpu")`, and CUDA streams, `tp.Stream`: GPU work in submission order."""

import weakref
from dataclasses import dataclass, replace
from typing import Any, Self

from tripybuild.eager.settings import config
from tripybuild.errors.diagnostics import DiagnosticError, suggest
from tripybuild.frontend.checks.argument_error import caller_diagnostic
from tripybuild.process.per_process import per_process

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
            raise _value_error(f"`{device}` has no number behind its colon")
        if int(index or 0) != 0:
            raise _value_error(f"there is no `{device}`: the only index is 0")
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


CPU, GPU = device("cpu"), device("gpu")


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


def _value_error(message: str, hint: str | None = None) -> DiagnosticError:
    return DiagnosticError(caller_diagnostic("wrong-value", message, hint))


class Stream:
    """CUDA stream. An executable waits for its own earlier work.

    Without a GPU there is none; where `config.nvtripy_devices` lets a program run as if there was
    one, nothing has to be waited for.

    Raises:
        DiagnosticError: There is no GPU.
    """

    def __init__(self) -> None:
        self._cuda = _cuda()
        if self._cuda is None:
            self._ptr = id(self)  # each has an address of its own, also without a GPU
        else:
            self._ptr = self._cuda.stream()
            weakref.finalize(self, self._cuda.end, self._ptr)

    @property
    def ptr(self) -> int:
        """The address that CUDA knows it by; without a GPU, one that no other stream has."""
        return self._ptr

    def synchronize(self) -> None:
        """Wait until all work on the stream is complete."""
        if self._cuda is not None:
            self._cuda.finish(self._ptr)

    def __eq__(self, other: object) -> bool:
        """Whether both are one stream."""
        return isinstance(other, Stream) and self._ptr == other._ptr

    def __hash__(self) -> int:
        return hash(self._ptr)

    def __str__(self) -> str:
        return f"<Stream {self._ptr:#x}>"

    __repr__ = __str__


def default_stream(device: device = GPU) -> Stream:
    """The one stream that executables use unless they are given another.

    Args:
        device: The device of the stream; only a GPU has any.

    Raises:
        DiagnosticError: It is no GPU, or there is none.
    """
    if not isinstance(device, type(GPU)) or device.kind != GPU.kind:
        message = f"`{device}` has no streams: a GPU has"
        raise _value_error(message)
    return _default()


@per_process
def _default() -> Stream:
    return Stream()


def _cuda() -> Any:
    """What makes streams, or None where a program only looks as if there was a GPU."""
    from tripybuild.tensorrt.runtime import cuda, gpu  # noqa: PLC0415 - when used

    absence = gpu.find_gpu()
    if isinstance(absence, gpu.Absence):
        if config.nvtripy_devices:
            return None
        message = f"a stream is one of a GPU, and this machine has {absence.what}"
        hint = "`tp.config.nvtripy_devices = True` lets a program run as if there was one"
        found = caller_diagnostic("no-gpu", message, hint)
        raise DiagnosticError(replace(found, notes=(absence.note,)))
    return cuda.Cuda.find()
