"""Execution context of TensorRT: errors become diagnostics in TensorRT's words.

For TensorRT-RTX it has a runtime cache: kernels that were compiled for this GPU once are read in
the next process, where `kernels` keeps them.
"""

from typing import Any, NoReturn, Protocol

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.tensorrt.translation.library import Library
from tripybuild.tensorrt.translation.log import Log


class KernelStore(Protocol):
    """Where compiled kernels are kept between processes."""

    def read(self) -> bytes | None:
        """Return what was kept, if something was."""

    def keep(self, content: bytes) -> None:
        """Keep it in the place of what was kept before."""


class ExecutionContext:
    """One context of an engine, on one stream."""

    def __init__(
        self, library: Library, engine: Any, log: Log, stream: int, kernels: KernelStore | None
    ) -> None:
        self._engine = engine
        self._log = log
        self._kernels = kernels
        self.stream = stream
        self._cache: Any = None
        self._is_new = False
        self._profile = 0
        self._addresses: dict[str, int] = {}
        self._open: set[str] = set()
        self._context = self._create_context(library)
        if self._context is None:
            self._refuse("TensorRT cannot prepare the engine")

    def _create_context(self, library: Library) -> Any:
        engine = self._engine
        if self._kernels is None or not hasattr(library.module, "IRuntimeCache"):
            return engine.create_execution_context()
        config = engine.create_runtime_config()
        self._cache = config.create_runtime_cache()
        stored = self._kernels.read()
        if stored is not None:
            self._cache.deserialize(stored)  # what is of another driver or GPU is left out
        config.set_runtime_cache(self._cache)
        return engine.create_execution_context(config)

    def alias(self, name: str) -> str | None:
        """Return the input whose memory an output is written to."""
        method = getattr(self._engine, "get_aliased_input_tensor", None)
        return None if method is None else (method(name) or None)

    def choose(self, profile: int) -> None:
        """Select an optimization profile; tensor settings are applied again."""
        self._addresses.clear()
        if profile != self._profile:
            done = self._context.set_optimization_profile_async(profile, self.stream)
            self._need(done, f"TensorRT does not take the optimization profile #{profile}")
            self._profile = profile

    def shape(self, name: str, shape: tuple[int, ...]) -> None:
        """Say an input's sizes."""
        done = self._context.set_input_shape(name, shape)
        self._need(done, f"TensorRT does not take the sizes {list(shape)} of the input `{name}`")

    def infer(self) -> None:
        """Let TensorRT compute all sizes that can be known before the run."""
        self._is_new = True
        missing = self._context.infer_shapes()
        names = ", ".join(f"`{name}`" for name in missing)
        self._need(not missing, f"TensorRT needs to know more of {names}")

    def sizes(self, name: str) -> tuple[int, ...]:
        """Return the sizes of a tensor; -1 is one that only the run knows."""
        return tuple(self._context.get_tensor_shape(name))

    def allocator(self, name: str, allocator: Any) -> None:
        """Let an output ask for its memory, or no longer."""
        if allocator is None and name not in self._open:
            return
        done = self._context.set_output_allocator(name, allocator)
        self._need(done, f"TensorRT takes no allocator for the output `{name}`")
        self._open.discard(name)
        if allocator is not None:
            self._open.add(name)

    def point(self, name: str, address: int) -> None:
        """Say where a tensor lies."""
        if self._addresses.get(name) != address:
            done = self._context.set_tensor_address(name, address)
            self._need(done, f"TensorRT does not take the memory of `{name}`")
            self._addresses[name] = address

    def address(self, name: str) -> int:
        """Return where a tensor lies."""
        return self._addresses[name]

    def execute(self) -> None:
        """Begin a run."""
        done = self._context.execute_async_v3(self.stream)
        self._need(done, "TensorRT did not run the engine")

    def finish(self) -> None:
        """Keep the kernels that were compiled, when a run with new shapes is done."""
        if self._cache is not None and self._kernels is not None and self._is_new:
            self._kernels.keep(bytes(memoryview(self._cache.serialize())))
        self._is_new = False

    def _need(self, done: bool, message: str) -> None:
        if not done:
            self._refuse(message)

    def _refuse(self, message: str) -> NoReturn:
        said = self._log.drain()
        raise DiagnosticError(Diagnostic("engine-failed", message, notes=said))
