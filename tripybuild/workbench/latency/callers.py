"""Callers of programs: in this process, or in a process for each contestant.

A contestant has a process of its own, so that neither memory nor threads are shared. Whatever ends
that is a diagnostic that names the contestant, and it never outlives the process that asked for it.
"""

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.memory import (
    is_out_of_memory,
    memory_error,
    resident_bytes,
)
from tripybuild.workbench.comparison import InputChoice, draw_calls
from tripybuild.workbench.programs import Program
from tripybuild.worker.diagnostics_json import from_json, to_json
from tripybuild.worker.failures import end_reason, is_killed

PATIENCE = 1.0  # seconds that a child has for leaving
GRACE = 0.2  # seconds of them in which a call may be done
Turn = tuple[list[float], float]  # the seconds of each call, and of all together


@dataclass(frozen=True, slots=True)
class Start:
    """What a contestant says when it can be called.

    Args:
        target: What it runs by.
        sizes: The dynamic sizes of the calls.
        load: Seconds until it was loaded.
        first: Seconds of its first call.
        memory: Bytes that its process gained since before it was loaded; None if it is not known.
    """

    target: str
    sizes: Mapping[str, int]
    load: float
    first: float
    memory: int | None


class Caller(Protocol):
    """A program in some process."""

    start: Start

    def turn(self, seconds: float, clients: int) -> Turn:
        """Call it for some seconds."""

    def close(self) -> None:
        """Nothing is called any more."""


class OwnProcess:
    """A program that is called in this process.

    Args:
        open_program: Loads it.
        choice: The inputs; drawn ones are those of the program's signature.
        shared: Where the inputs of the first program that says what it takes are kept for those
            that do not, peers; None if there are none.

    Raises:
        DiagnosticError: It cannot be loaded, or does not take the inputs.
    """

    def __init__(
        self, open_program: Callable[[], Program], choice: InputChoice, shared: Path | None
    ) -> None:
        before, began = resident_bytes(), time.perf_counter()
        opened = open_program()
        load = time.perf_counter() - began
        arrays, sizes = _inputs(opened, choice, shared)
        self._call = opened.prepare(arrays)
        began = time.perf_counter()
        self._call()
        first = time.perf_counter() - began
        after = resident_bytes()
        memory = None if before is None or after is None else max(after - before, 0)
        self.start = Start(opened.target, sizes, load, first, memory)

    def turn(self, seconds: float, clients: int) -> Turn:
        """Call it for some seconds, by so many threads."""
        began = time.perf_counter()
        if clients == 1:  # no thread stands between
            found = _calls(self._call, seconds)
        else:
            with ThreadPoolExecutor(clients) as pool:
                waiting = [pool.submit(_calls, self._call, seconds) for _ in range(clients)]
                found = [took for one in waiting for took in one.result()]
        return found, time.perf_counter() - began

    def close(self) -> None:
        """Nothing is left to do."""


def _inputs(
    opened: Program, choice: InputChoice, shared: Path | None
) -> tuple[Mapping[str, Any], Mapping[str, int]]:
    """The inputs of a program, and the sizes that they have."""
    from tripybuild.weights import array_files, safetensors  # noqa: PLC0415 - peers alone

    if opened.signature is None and shared is not None and shared.exists():
        return safetensors.read(shared, array_files.array_names(shared)), {}
    call = next(draw_calls(opened, opened, choice))
    if opened.signature is not None and shared is not None and not shared.exists():
        array_files.write(shared, dict(call.arrays))
    return call.arrays, call.sizes


def _calls(call: Callable[[], object], seconds: float) -> list[float]:
    """Call for some seconds, at least once, and give what each call took."""
    end = time.perf_counter() + seconds
    found: list[float] = []
    while True:
        began = time.perf_counter()
        call()
        done = time.perf_counter()
        found.append(done - began)
        if done >= end:
            return found


def serve(caller: Callable[[], Caller], name: str, requests: IO[str], answers: IO[str]) -> None:
    """Answer one line of JSON by another, as a child of `ChildProcess`, until there are no more."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, lines), daemon=True).start()

    def answer(data: object) -> None:
        answers.write(json.dumps(data) + "\n")
        answers.flush()

    with contextlib.suppress(BrokenPipeError):  # nothing reads it any more
        try:
            own = caller()
            facts = own.start
            answer([facts.target, dict(facts.sizes), facts.load, facts.first, facts.memory])
            while line := lines.get():
                answer(own.turn(*json.loads(line)))
        except DiagnosticError as error:
            answer({"diagnostics": to_json(error.diagnostics)})
        except Exception as error:
            if not is_out_of_memory(error):
                raise  # a bug, whose traceback a report needs
            answer({"diagnostics": to_json(exhausted_memory(name, error).diagnostics)})


def _listen(requests: IO[str], lines: "queue.SimpleQueue[str]") -> None:
    """Queue the requests; when the parent is gone, leave also amid a call."""
    for line in requests:
        lines.put(line)
    lines.put("")
    time.sleep(GRACE)
    os._exit(0)


def exhausted_memory(name: str, error: BaseException) -> DiagnosticError:
    """What an exception says that has no memory for a program."""
    return memory_error(f"`{name}` needs more memory than available", (), error)


class ChildProcess:
    """A program that is called in a process of its own.

    Args:
        module: What the process runs, which calls `serve`.
        order: What it is told, as JSON.
        name: What the user calls the program.

    Raises:
        DiagnosticError: What the program says, or that its process ended.
    """

    def __init__(self, module: str, order: Mapping[str, Any], name: str) -> None:
        self._name = name
        self._process = subprocess.Popen(  # noqa: S603 - this program itself
            [sys.executable, "-P", "-m", module, json.dumps(order)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is for the parent, which ends the child
        )
        try:
            self.start = Start(*self._answer())
        except BaseException:
            self._process.kill()  # it may load something for long
            self.close()
            raise

    def turn(self, seconds: float, clients: int) -> Turn:
        """Let the process call it."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # what is read says so
            self._process.stdin.write(json.dumps([seconds, clients]) + "\n")
            self._process.stdin.flush()
        calls, elapsed = self._answer()
        return calls, elapsed

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith("\n"):  # it ended amid an answer, or before
            raise DiagnosticError(self._end_diagnostic(self._process.wait()))
        found = json.loads(line)
        if isinstance(found, dict):
            self.close()
            raise DiagnosticError(*from_json(found["diagnostics"]))
        return found

    def _end_diagnostic(self, status: int) -> Diagnostic:
        """What its end is called."""
        message = f"the process of `{self._name}` {end_reason(status)}"
        notes = ("the system kills what needs more memory than there is",) * is_killed(status)
        hint = "another target may run it: name one behind an `@`"
        return Diagnostic("contestant-ended", message, notes=notes, hint=hint)

    def close(self) -> None:
        """Let the process end."""
        process = self._process
        if process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
