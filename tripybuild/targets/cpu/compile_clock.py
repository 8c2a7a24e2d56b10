"""The time that compilers may take for a model, in their own process or in this one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TypeVar

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process.native_work import OvertimeError, run_native
from tripybuild.worker import compiler_process
from tripybuild.worker.failures import timeout_diagnostic

Made = TypeVar("Made")


@dataclass(slots=True)
class CompileClock:
    """The time of the compiler for a model, into however many programs it is cut.

    To wait for another process that compiles the same takes none of it.

    Args:
        timeout: Seconds that the compiler may take; by default what its process says.
        spent: Seconds that it took so far.
    """

    timeout: float | None = None
    spent: float = 0.0

    def compile(self, kind: str, module: bytes) -> bytes:
        """Compile a module in the compiler's process, in the time that is left."""
        session = compiler_process.session()
        with self._count():
            return session.compile(kind, module, timeout=self.timeout, spent=self.spent)

    def run(self, target: str, work: Callable[[], Made]) -> Made:
        """Compile by a library in this process, in the time that is left; Ctrl-C ends the wait.

        Args:
            target: The target that the library is of.
            work: What calls it.

        Raises:
            DiagnosticError: It takes longer.
            Exception: What the library raises.
        """
        limit = compiler_process.default_timeout() if self.timeout is None else self.timeout
        with self._count():
            try:
                return run_native(work, max(0.0, limit - self.spent))
            except OvertimeError as error:
                raise DiagnosticError(timeout_diagnostic(target, limit, ())) from error

    @contextmanager
    def _count(self) -> Iterator[None]:
        began = monotonic()
        try:
            yield
        finally:
            self.spent += monotonic() - began
