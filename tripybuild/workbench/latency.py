"""Latencies of programs that take turns: how they are called, and what is concluded.

A contestant has a process of its own, so that neither memory nor threads are shared; rounds
alternate, so that whatever else the machine does meets all of them.
"""

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import exp, log
from pathlib import Path
from statistics import fmean, median
from typing import IO, Any, Protocol

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.memory import resident_bytes
from tripybuild.workbench.comparison import InputChoice, draw_calls
from tripybuild.workbench.programs import Program
from tripybuild.worker.diagnostics_json import from_json, to_json

WARM = 0.1  # the part of the seconds that is not measured
RESAMPLES, CONFIDENCE = 2000, 0.95
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
PATIENCE = 5.0  # seconds that a child has for leaving
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


def serve(caller: Callable[[], Caller], requests: IO[str], answers: IO[str]) -> None:
    """Answer one line of JSON by another, as a child of `ChildProcess`."""

    def answer(data: object) -> None:
        answers.write(json.dumps(data) + "\n")
        answers.flush()

    try:
        own = caller()
        facts = own.start
        answer([facts.target, dict(facts.sizes), facts.load, facts.first, facts.memory])
        for line in requests:
            answer(own.turn(*json.loads(line)))
    except DiagnosticError as error:
        answer({"diagnostics": to_json(error.diagnostics)})


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
        )
        self.start = Start(*self._answer())

    def turn(self, seconds: float, clients: int) -> Turn:
        """Let the process call it."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # what is read says so
            self._process.stdin.write(json.dumps([seconds, clients]) + "\n")
            self._process.stdin.flush()
        calls, elapsed = self._answer()
        return calls, elapsed

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            self.close()
            message = f"the process of `{self._name}` ended with code {code}"
            raise DiagnosticError(Diagnostic("compiler-crashed", message))
        found = json.loads(line)
        if isinstance(found, dict):
            self.close()
            raise DiagnosticError(*from_json(found["diagnostics"]))
        return found

    def close(self) -> None:
        """Let the process end."""
        process = self._process
        if process.stdin is not None:
            with suppress(BrokenPipeError):
                process.stdin.close()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


@dataclass(slots=True)
class Contestant:
    """One of what is measured.

    Args:
        name: What the user called it.
        caller: Calls it.
        rounds: The seconds of each call, round by round.
        elapsed: The seconds of all rounds, in which clients call at the same time.
    """

    name: str
    caller: Caller
    rounds: list[list[float]] = field(default_factory=list)
    elapsed: float = 0.0

    @property
    def calls(self) -> list[float]:
        """The seconds of all calls, the shortest first."""
        return sorted(each for found in self.rounds for each in found)

    def facts(self) -> dict[str, Any]:
        """What was measured, in seconds and bytes."""
        calls, start = self.calls, self.caller.start
        medians = [median(found) for found in self.rounds]
        return {
            "name": self.name,
            "target": start.target,
            "calls": len(calls),
            **{name: calls[int(part * (len(calls) - 1))] for name, part in QUANTILES.items()},
            "p50_interval": list(_interval(medians)),
            "best": calls[0],
            "calls_per_second": len(calls) / self.elapsed,
            "load": start.load,
            "first_call": start.first,
            "memory": start.memory,
        }


def measure(contestants: Sequence[Contestant], rounds: int, seconds: float, clients: int) -> None:
    """Call all in alternating rounds: in each, all have their turn, and begin with another one."""
    for each in contestants:
        each.caller.turn(seconds * WARM, clients)
    for number in range(rounds):
        first = number % len(contestants)
        for each in (*contestants[first:], *contestants[:first]):
            found, elapsed = each.caller.turn(seconds / rounds, clients)
            each.rounds.append(found)
            each.elapsed += elapsed


def ratio(one: Contestant, other: Contestant) -> dict[str, Any]:
    """How many times as long a call takes as that of another one, by rounds, with an interval."""
    pairs = zip(one.rounds, other.rounds, strict=True)
    logs = [log(median(own) / median(base)) for own, base in pairs]
    low, high = _interval(logs)
    return {"to": other.name, "value": exp(fmean(logs)), "interval": [exp(low), exp(high)]}


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """The bootstrap interval of a mean (Efron, 1979): resamples of the rounds, always the same."""
    draw = random.Random(0)  # noqa: S311 - no secret
    found = sorted(fmean(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    edge = (1 - CONFIDENCE) / 2
    return found[int(edge * RESAMPLES)], found[int((1 - edge) * RESAMPLES) - 1]


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn of one set of sizes.

    Args:
        sizes: How the sizes are called.
        calls: The seconds of all calls of each contestant, by name, the shortest first.
    """

    sizes: str
    calls: Sequence[tuple[str, Sequence[float]]]


def check_picture(path: Path) -> None:
    """Refuse what cannot be drawn, before anything is measured for it.

    Raises:
        DiagnosticError: Matplotlib is not installed, or there is no such folder.
    """
    if find_spec("matplotlib") is None:
        hint = "install it: `pip install 'tripybuild[plot]'`"
        message = "a picture is drawn by Matplotlib, which is not installed"
        raise DiagnosticError(Diagnostic("not-installed", message, hint=hint))
    if not path.parent.is_dir():
        message = f"`{path}` cannot be written: there is no folder `{path.parent}`"
        raise DiagnosticError(Diagnostic("output-unwritable", message))


def draw_picture(pictures: Sequence[Picture], path: Path) -> None:
    """Draw latencies: of one set of sizes their distributions, of several the medians beside them.

    A distribution is the part of all calls that took no longer than some milliseconds. Bars reach
    from the median to where 90 of 100 calls are.

    Raises:
        DiagnosticError: Matplotlib is not installed, or the file cannot be written.
    """
    check_picture(path)
    import matplotlib as mpl  # noqa: PLC0415 - an extra
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    (_draw_distributions if len(pictures) == 1 else _draw_medians)(axes, pictures)
    figure.legend(loc="outside upper center", ncols=2)
    axes.grid(visible=True, alpha=0.3)
    try:
        with mpl.rc_context({"svg.hashsalt": "tripybuild", "svg.fonttype": "none"}):
            figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    except (OSError, ValueError) as error:
        message = f"`{path}` cannot be written: {error}"
        raise DiagnosticError(Diagnostic("output-unwritable", message)) from error


def _draw_distributions(axes: Any, pictures: Sequence[Picture]) -> None:
    (only,) = pictures
    for name, calls in only.calls:
        parts = [(at + 1) / len(calls) for at in range(len(calls))]
        axes.step([1e3 * took for took in calls], parts, where="post", label=name)
    axes.set(xscale="log", xlabel="milliseconds", ylabel="part of the calls", title=only.sizes)


def _draw_medians(axes: Any, pictures: Sequence[Picture]) -> None:
    places = range(len(pictures))
    for number, (name, _) in enumerate(pictures[0].calls):
        middle, high = zip(*_quantiles(pictures, number), strict=True)
        above = [top - bottom for top, bottom in zip(high, middle, strict=True)]
        axes.errorbar(places, middle, [[0.0] * len(above), above], marker="o", label=name)
    axes.set_xticks(places, [each.sizes for each in pictures])
    axes.set(yscale="log", ylabel="milliseconds, median to p90")


def _quantiles(pictures: Sequence[Picture], number: int) -> Iterator[tuple[float, float]]:
    for each in pictures:
        calls = each.calls[number][1]
        middle, high = (1e3 * calls[int(QUANTILES[p] * (len(calls) - 1))] for p in ("p50", "p90"))
        yield middle, high
