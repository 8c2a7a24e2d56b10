"""Contestants in processes of their own, which answer questions: one line of JSON each.

A contestant waits while others are asked, pinned to the same cores, with the same number of
threads. What it takes too long for, what it has no memory for and what it dies of is an answer.
"""

import json
import os
import re
import resource
import selectors
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

Answer = dict[str, Any]
Ask = Callable[[Mapping[str, Any]], Mapping[str, Any]]

PROBLEM = "problem"
QUIET = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error", "CI": "true"}
LONGEST = 110  # characters of a problem
COLOR = re.compile(r"\x1b\[[0-9;]*m")


class Contestant:
    """One of them, from its start until it is stopped.

    Args:
        script: The benchmark, which calls `answer` where its first word is `--child`.
        words: What follows it.
        threads: The cores that it gets.
        memory: Bytes that it may ask for.
        environment: What it finds beside our own environment.
    """

    def __init__(
        self,
        script: str,
        words: list[str],
        *,
        threads: int,
        memory: int,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        # Some size their pools by these before Python code can say otherwise.
        pools = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
        limits = {"BENCHMARK_THREADS": str(threads), "BENCHMARK_MEMORY": str(memory)}
        self.errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, script, "--child", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env={**os.environ, **pools, **limits, **QUIET, **(environment or {})},
        )
        self.waits = selectors.DefaultSelector()
        assert self.process.stdout is not None
        self.waits.register(self.process.stdout, selectors.EVENT_READ)

    def ask(self, limit: float, **question: Any) -> Answer:
        """Return the answer, or the reason why there is none; then the process has ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(question).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return self._ended()
        if not self.waits.select(limit):
            self.stop()
            return {PROBLEM: f"more than {limit:.0f} s for {question['ask']}"}
        line = self.process.stdout.readline()
        found: Answer = json.loads(line) if line else self._ended()
        return found

    def _ended(self) -> Answer:
        code = self.process.wait()
        self.errors.seek(0)
        last = (self.errors.read().strip().splitlines() or ["no message"])[-1]
        return {PROBLEM: f"ended with {code}: {last}"[:LONGEST]}

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            if stream is not None:
                stream.close()
        self.waits.close()


def threads() -> int:
    """How many this contestant has."""
    return int(os.environ["BENCHMARK_THREADS"])


def answer(make: Callable[[], Mapping[str, Ask]]) -> None:
    """Answer questions by name until there are none; what fails is answered with its message.

    Whatever libraries print goes to the other stream.
    """
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: threads()])
    memory = int(os.environ["BENCHMARK_MEMORY"])
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    answers: Mapping[str, Ask] | None = None
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answers = make() if answers is None else answers
            found = dict(answers[question["ask"]](question))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a contestant's failure is a row
            traceback.print_exc()
            text = " ".join(COLOR.sub("", str(error)).split()) or "no message"
            found = {PROBLEM: f"{type(error).__name__}: {text}"[:LONGEST]}
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        own.write(json.dumps({"peak MB": peak / 1024, **found}) + "\n")
        own.flush()


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds that a call takes, and what it gives."""
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found
