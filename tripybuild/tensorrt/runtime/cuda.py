"""CUDA memory, copies and streams through `cuda-bindings`; failures are diagnostics."""

import contextlib
from importlib import import_module
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.per_process import per_process, process

RUNTIME = "cuda.bindings.runtime"
SPAWN = 'start processes with `multiprocessing.get_context("spawn")`'
LEAST = 256  # bytes: nothing may lie at no address, not even an empty tensor


class Cuda:
    """The CUDA runtime on the current device."""

    def __init__(self, module: Any) -> None:
        self._module = module
        kinds = module.cudaMemcpyKind
        self._up, self._down = kinds.cudaMemcpyHostToDevice, kinds.cudaMemcpyDeviceToHost
        self._across = kinds.cudaMemcpyDeviceToDevice

    @staticmethod
    @per_process
    def find() -> "Cuda":
        """Import the bindings.

        Raises:
            DiagnosticError: They are not installed.
        """
        try:
            return Cuda(import_module(RUNTIME))
        except (ImportError, OSError, RuntimeError) as error:
            message = "engines are run through `cuda-bindings`, which cannot be used here"
            hint = "install it with `pip install 'tripybuild[cuda]'`"
            raise DiagnosticError(
                Diagnostic("target-unavailable", message, notes=(str(error),), hint=hint)
            ) from error

    def stream(self) -> int:
        """Return a new stream, which waits for what was begun on the default one."""
        return int(self._call("cudaStreamCreate"))

    def end(self, stream: int) -> None:
        """Destroy a stream; not at process exit, where the driver may be gone."""
        with contextlib.suppress(Exception):
            self._module.cudaStreamDestroy(stream)

    def device(self) -> int:
        """Return the number of the current GPU."""
        return int(self._call("cudaGetDevice"))

    def finish(self, stream: int) -> None:
        """Wait until all work on a stream is complete."""
        self._call("cudaStreamSynchronize", stream)

    def allocate(self, size: int) -> int:
        """Return the address of new device memory."""
        return int(self._call("cudaMalloc", size))

    def free(self, address: int) -> None:
        """Free device memory; not at process exit, where the driver may be gone."""
        with contextlib.suppress(Exception):
            self._module.cudaFree(address)

    def upload(self, target: int, source: int, size: int, stream: int) -> None:
        """Copy from this machine's memory to the device's."""
        self._copy(target, source, size, self._up, stream)

    def download(self, target: int, source: int, size: int, stream: int) -> None:
        """Copy from the device's memory to this machine's."""
        self._copy(target, source, size, self._down, stream)

    def move(self, target: int, source: int, size: int, stream: int) -> None:
        """Copy within the device's memory."""
        self._copy(target, source, size, self._across, stream)

    def _copy(self, target: int, source: int, size: int, kind: Any, stream: int) -> None:
        if size:
            self._call("cudaMemcpyAsync", target, source, size, kind, stream)

    def _call(self, name: str, *arguments: Any) -> Any:
        """Call a function, whose first result is its error."""
        error, *results = getattr(self._module, name)(*arguments)
        if int(error) != 0:
            raise DiagnosticError(self._failure(name, error))
        return results[0] if results else None

    def _failure(self, name: str, error: Any) -> Diagnostic:
        _, text = self._module.cudaGetErrorString(error)
        said = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
        message = f"CUDA cannot run the engine: {said}"
        notes = (f"`{name}` gave the error {error}",)
        return Diagnostic("engine-failed", message, notes=notes, hint=_fork_hint())


def _fork_hint() -> str | None:
    return f"CUDA does not work in a forked process; {SPAWN}" if process.forked else None


def refuse_fork(mark: object) -> None:
    """Refuse what the parent of a forked process loaded: CUDA's state is not inherited.

    Args:
        mark: The mark of the process that loaded it.

    Raises:
        DiagnosticError: That is another process.
    """
    if mark is not process.mark:
        message = "the engine was loaded before this process was forked, and CUDA is not inherited"
        raise DiagnosticError(Diagnostic("engine-failed", message, hint=SPAWN))


class Buffer:
    """Growable device memory, freed with its last reference."""

    def __init__(self, cuda: Cuda) -> None:
        self._cuda = cuda
        self.address = 0
        self._size = -1

    def reserve(self, size: int) -> int:
        """Return the address of at least so much memory; what was there may be lost."""
        wanted = max(size, LEAST)
        if wanted > self._size:
            self.release()
            self.address, self._size = self._cuda.allocate(wanted), wanted
        return self.address

    def release(self) -> None:
        """Give the memory back."""
        if self._size >= 0:
            self._cuda.free(self.address)
        self.address, self._size = 0, -1

    def __del__(self) -> None:
        self.release()
