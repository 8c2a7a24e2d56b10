"""Compiler process, parent side: one warm child, whose every exit is a diagnostic.

The child is spawned, never forked, and is given bytes, never objects. It outlives a failed
compile but not a crash, a time-out or this process; the next request starts another one.
"""

import atexit
import contextlib
import functools
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, BinaryIO, Self, cast

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.per_process import per_process
from tripybuild.worker import failures as ends, protocol

HALF_AN_HOUR = 1800.0
PATIENCE = 5.0  # seconds that a child has for leaving when its stdin is closed
GRACE = 0.5  # seconds until the status of a crashed child is there

COMMAND = (sys.executable, "-P", "-m", "tripybuild.worker.main")


class CompilerProcess:
    """A child process that compiles, started when first needed and reused until it fails."""

    def __init__(
        self, *, timeout: float = HALF_AN_HOUR, command: Sequence[str] = (*COMMAND, "cpu")
    ) -> None:
        self.timeout = timeout
        self._command = command
        self._lock = threading.RLock()
        self._child: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._requests = 0

    def start(self) -> None:
        """Start the child if there is none, without waiting until it is ready."""
        with self._lock:
            if self._child is not None:
                return
            # A file cannot fill up and block the child, as an unread pipe would.
            errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
            try:
                self._child = subprocess.Popen(  # noqa: S603 - our own module
                    self._command,
                    bufsize=0,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    start_new_session=True,  # Ctrl-C is for this process, which ends the child
                    env=environment(),
                )
            except BaseException:
                errors.close()
                raise
            self._errors = errors

    def compile(
        self,
        target: str,
        module: str | bytes,
        options: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        spent: float = 0.0,
        meanwhile: Callable[[], object] | None = None,
        mapped: Sequence[str] = (),
        tell: Callable[[str], object] | None = None,
    ) -> bytes:
        """Compile a module in the child.

        Args:
            target: A key of the child's table, such as `cpu`.
            module: MLIR text or bytecode.
            options: The target's options, as JSON can say them.
            timeout: Seconds that it may take, in the place of the process's own limit.
            spent: Seconds of them that other modules of the same model took.
            meanwhile: What the session has to do until the reply is there.
            mapped: The user's files that the child maps; they are named where it loses them.
            tell: Told the name of each phase that begins in the child.

        Raises:
            DiagnosticError: The compiler refused the module, crashed, hung or ran out of memory.
        """
        body = module.encode() if isinstance(module, str) else module
        limit = self.timeout if timeout is None else ends.check_timeout(timeout, "`timeout`")
        with self._lock:
            self._requests += 1
            header = {"id": self._requests, "target": target, "options": dict(options or {})}
            heard = (meanwhile or _no_op, tell or _no_op)
            talk = functools.partial(self._exchange, header, body, *heard)
            reply, payload = self._ask(target, limit, spent, talk, mapped)
        if reply.get("outcome") == "done":
            return payload
        raise DiagnosticError(*ends.reply_diagnostics(target, reply))

    def close(self) -> None:
        """End the child; a later request starts another one."""
        with self._lock:
            child, errors = self._child, self._errors
            self._child = self._errors = None
        if child is None:
            return
        with contextlib.suppress(OSError):
            child.stdin.close()  # type: ignore[union-attr]
        try:
            child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        child.stdout.close()  # type: ignore[union-attr]
        errors.close()  # type: ignore[union-attr]

    def kill(self) -> None:
        """End the child amid its work, from another thread than that which waits for it."""
        if (child := self._child) is not None:
            child.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(
        self,
        target: str,
        timeout: float,
        spent: float,
        talk: Callable[[], tuple[protocol.Header, bytes]],
        mapped: Sequence[str],
    ) -> tuple[protocol.Header, bytes]:
        """Send a request and wait for its reply; whatever goes wrong ends the child."""
        try:
            self.start()
        except OSError as error:
            message = f"The compiler process cannot be started: {error.strerror}"
            raise DiagnosticError(Diagnostic("compiler-crashed", message)) from error
        expired = threading.Event()
        watch = threading.Timer(max(0.0, timeout - spent), self._expire, (expired,))
        watch.daemon = True
        watch.start()
        try:
            return talk()
        except (OSError, protocol.BrokenMessageError) as error:
            status, notes = self._reap()
            if expired.is_set():
                raise DiagnosticError(ends.timeout_diagnostic(target, timeout, notes)) from error
            raise DiagnosticError(ends.crash_diagnostic(target, status, notes, mapped)) from error
        except BaseException:  # Ctrl-C above all: the child would go on compiling
            if self._child is not None:
                self._child.kill()
            self._reap()
            raise
        finally:
            watch.cancel()

    def _exchange(
        self,
        header: Mapping[str, object],
        body: bytes,
        meanwhile: Callable[[], object],
        tell: Callable[[str], object],
    ) -> tuple[protocol.Header, bytes]:
        stdin, stdout = _pipes(self._child)
        protocol.send(stdin, header, body)
        meanwhile()
        while (reply := protocol.receive(stdout)) is not None:
            if reply[0].get("id") == header["id"]:
                return reply
            if reply[0].get("outcome") == protocol.PHASE:
                tell(str(reply[0].get("name")))
            elif reply[0].get("outcome") != "ready":
                break
        raise protocol.BrokenMessageError("the reply is missing, or for another request")

    def _expire(self, expired: threading.Event) -> None:
        expired.set()
        if self._child is not None:
            self._child.kill()

    def _reap(self) -> tuple[int | None, tuple[str, ...]]:
        """End the child; return the status that it left by itself, and its last words."""
        child, errors = self._child, self._errors
        assert child is not None
        assert errors is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(GRACE)  # after a crash the pipes close a moment before the status is there
        status = child.poll()
        child.kill()
        notes = ends.last_lines(errors)
        self.close()
        return status, notes


def _no_op(*_: object) -> None:
    """What most sessions have to do meanwhile."""


def _pipes(child: "subprocess.Popen[bytes] | None") -> tuple[BinaryIO, BinaryIO]:
    assert child is not None
    return cast(BinaryIO, child.stdin), cast(BinaryIO, child.stdout)


# TensorRT takes and gives back gigabytes while it builds. Memory that glibc keeps costs nothing the
# next time; pages that are new each time take a sixth of the building of GPT-2. Of what is new,
# huge pages are a tenth as many, and save 0.25 s of processor time for ResNet-50.
ALLOCATION = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 34),
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}


def environment() -> dict[str, str]:
    """Return a child's environment, in which it finds this very package."""
    root = Path(__file__).parents[2]
    found = {**ALLOCATION, **os.environ}
    if root.name not in {"site-packages", "dist-packages"}:
        paths = (str(root), found.get("PYTHONPATH"))
        found["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return found


def default_timeout() -> float:
    """How long a compiler may take, as the environment says.

    Raises:
        DiagnosticError: It says no number of seconds.
    """
    named = os.environ.get(ends.TIMEOUT_VARIABLE) or HALF_AN_HOUR
    return ends.check_timeout(named, f"`{ends.TIMEOUT_VARIABLE}`")


@per_process
def session(target: str = "cpu") -> CompilerProcess:
    """Return the compiler process of this session for a target; it ends with the session."""
    process = CompilerProcess(timeout=default_timeout(), command=(*COMMAND, target))
    atexit.register(process.close)
    return process
