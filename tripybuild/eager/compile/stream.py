"""`tp.Stream`: a CUDA stream, work on the GPU in submission order."""

import weakref
from typing import Any

from tripybuild.eager.settings import config
from tripybuild.eager.tensor.device import device as Device  # noqa: N812 - it is a class
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend.tensor import PACKAGES
from tripybuild.process.per_process import per_process
from tripybuild.tensorrt.runtime import gpu
from tripybuild.trace.location import caller_location

GPU = Device("gpu")


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


def default_stream(device: Device = GPU) -> Stream:
    """The one stream that executables use unless they are given another.

    Args:
        device: The device of the stream; only a GPU has any.

    Raises:
        DiagnosticError: It is no GPU, or there is none.
    """
    if not isinstance(device, Device) or device.kind != GPU.kind:
        message = f"`{device}` has no streams: a GPU has"
        raise DiagnosticError(Diagnostic("wrong-value", message, caller_location(PACKAGES).span()))
    return _default()


@per_process
def _default() -> Stream:
    return Stream()


def _cuda() -> Any:
    """What makes streams, or None where a program only looks as if there was a GPU."""
    absence = gpu.find_gpu()
    if isinstance(absence, gpu.Absence):
        if config.nvtripy_devices:
            return None
        message = f"a stream is one of a GPU, and this machine has {absence.what}"
        hint = "`tp.config.nvtripy_devices = True` lets a program run as if there was one"
        span, notes = caller_location(PACKAGES).span(), (absence.note,)
        raise DiagnosticError(Diagnostic("no-gpu", message, span, notes=notes, hint=hint))
    from tripybuild.tensorrt.runtime.cuda import Cuda  # noqa: PLC0415 - when used

    return Cuda.find()
