"""`tripybuild bench`: measures executables and specs beside each other."""

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from math import exp, log
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.interrupts import native_call
from tripybuild.cli.options import (
    Below,
    ConfigFile,
    Registries,
    Seed,
    SizeSettings,
    WeightsPath,
)
from tripybuild.cli.sources import (
    Entry,
    Shapes,
    is_executable,
    open_executable,
    open_peer,
    set_threads,
)
from tripybuild.cli.usage_errors import conflict
from tripybuild.process.memory import format_bytes, resident_bytes
from tripybuild.process.quantities import format_seconds
from tripybuild.targets.table import DEFAULT

if TYPE_CHECKING:
    from tripybuild.workbench.programs import Program

ROUNDS, SECONDS = 10, 1.0
WARM = 0.1  # the part of the seconds that is not measured
RESAMPLES, CONFIDENCE = 2000, 0.95
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}


@dataclass(slots=True)
class Contestant:
    """One of what is measured.

    Args:
        name: What the user called it.
        target: What it runs by.
        load: Seconds until it was loaded.
        first: Seconds of its first call.
        memory: Bytes that the process has gained since before it was loaded.
        call: Calls it once more, with the same inputs.
        rounds: The seconds of each call, round by round.
        elapsed: The seconds of all rounds, in which clients call at the same time.
    """

    name: str
    target: str
    load: float
    first: float
    memory: int | None
    call: Callable[[], object]
    rounds: list[list[float]] = field(default_factory=list)
    elapsed: float = 0.0

    @property
    def calls(self) -> list[float]:
        """The seconds of all calls, the shortest first."""
        return sorted(each for found in self.rounds for each in found)

    def facts(self) -> dict[str, Any]:
        """What was measured, in seconds and bytes."""
        calls = self.calls
        medians = [median(found) for found in self.rounds]
        return {
            "name": self.name,
            "target": self.target,
            "calls": len(calls),
            **{name: calls[int(part * (len(calls) - 1))] for name, part in QUANTILES.items()},
            "p50_interval": list(_interval(medians, fmean)),
            "best": calls[0],
            "calls_per_second": len(calls) / self.elapsed,
            "load": self.load,
            "first_call": self.first,
            "memory": self.memory,
        }


@dataclass(slots=True)
class Draws:
    """The inputs of all contestants; those of the first executable are a peer's, too."""

    asked: Mapping[str, int]
    seed: int
    bounds: Mapping[str, int]
    sizes: dict[str, int] = field(default_factory=dict)
    first: Mapping[str, Any] | None = None

    def arrays(self, opened: "Program") -> Mapping[str, Any]:
        """The inputs by name."""
        from tripybuild.targets.drawn_inputs import call_sizes, draw_inputs  # noqa: PLC0415

        if opened.signature is None:
            assert self.first is not None, "an executable is measured before"
            return self.first
        sizes = call_sizes(opened.signature, self.asked)
        found = draw_inputs(opened.signature, sizes, self.seed, self.bounds)
        if self.first is None:
            self.first, self.sizes = found, sizes
        return found


@command
def bench_models(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="EXE|SPEC...",
            help="Executables, and specs, which are compiled for --target first.",
        ),
    ],
    *,
    target: Annotated[str, typer.Option(help="What specs are compiled for.")] = DEFAULT,
    shapes: Shapes = None,
    entry: Entry = None,
    threads: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Threads of the engine that specs are compiled for."),
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="torch:FILE.py:f|onnx:FILE",
            help="A module of PyTorch, which runs that file, or a file of ONNX, on the same "
            "inputs; may be repeated.",
        ),
    ] = None,
    clients: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="Threads that call at the same time."),
    ] = 1,
    rounds: Annotated[int, typer.Option(metavar="N", min=3, help="How often all take turns.")] = (
        ROUNDS
    ),
    seconds: Annotated[
        float, typer.Option(metavar="S", min=0.01, help="How long each is measured, in all.")
    ] = SECONDS,
    seed: Seed = 0,
    below: Below = None,
    sizes: SizeSettings = None,
    weights: WeightsPath = None,
    config: ConfigFile = None,
    registry: Registries = None,
) -> CommandResult:
    """Measure executables and specs beside each other."""
    own = {"sizes": {each.name: each.value for each in sizes or []}, "weights": weights}
    how = {**own, "config": config, "registry": registry}
    _check_sources(sources, threads is not None and not compare, how)
    specs = not all(map(is_executable, sources))
    chosen = target if threads is None or not specs else set_threads(target, threads)
    bounds = {name: bound for each in below or [] for name, bound in each.sizes.items()}
    found = []
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        openers: list[tuple[str, Callable[[], Program]]] = []
        for number, source in enumerate(sources):
            path = source if is_executable(source) else folder / f"{number}.tpb"
            if path != source:
                _compile(source, path, chosen, how)
            openers.append((str(source), partial(open_executable, path, entry)))
        openers += [
            (text, partial(open_peer, text, threads, "--compare")) for text in compare or []
        ]
        for asked in [each.sizes for each in shapes or []] or [{}]:
            draws = Draws(asked, seed, bounds)
            several = [_contestant(*each, draws) for each in openers]
            with native_call():
                _measure(several, rounds, seconds, clients)
            facts = [each.facts() for each in several]
            for fact, each in zip(facts, several, strict=True):
                fact["ratio"] = _ratio(each, several[0])
            found.append({"sizes": draws.sizes, "contestants": facts})
    text = "\n\n".join("\n".join(_lines(each)) for each in found)
    data = {"rounds": rounds, "clients": clients, "seed": seed, "runs": found}
    return CommandResult(text, data=data)


def _check_sources(sources: Sequence[Path], threaded: bool, how: Mapping[str, Any]) -> None:
    """Refuse options of specs where there is none."""
    flags = {"sizes": "--set", "weights": "--weights", "config": "--config"}
    given = [flag for name, flag in flags.items() if how[name]] + ["--threads"] * threaded
    if given and all(map(is_executable, sources)):
        message = f"an executable is compiled already, and takes no `{given[0]}`"
        hint = "bench the spec that it was compiled from"
        raise conflict(message, hint, given[0])


def _compile(spec: Path, path: Path, target: str, how: Mapping[str, Any]) -> None:
    """Compile a spec into a file, which is loaded as others are."""
    from tripybuild.compiler.session import compile_spec  # noqa: PLC0415
    from tripybuild.packages.libraries import model_libraries  # noqa: PLC0415

    options = {name: each for name, each in how.items() if name != "registry"}
    homes = model_libraries(how["registry"], spec)
    compile_spec(spec, target=target, homes=homes, **options).save(path)


def _contestant(name: str, open_program: Callable[[], "Program"], draws: Draws) -> Contestant:
    """Load a program, and call it once."""
    before, began = resident_bytes(), time.perf_counter()
    opened = open_program()
    took = time.perf_counter() - began
    call = opened.prepare(draws.arrays(opened))
    began = time.perf_counter()
    with native_call():
        call()
    first = time.perf_counter() - began
    after = resident_bytes()
    memory = None if before is None or after is None else max(after - before, 0)
    return Contestant(name, opened.target, took, first, memory, call)


def _measure(contestants: Sequence[Contestant], rounds: int, seconds: float, clients: int) -> None:
    """Call all in alternating rounds: in each, all have their turn, and begin with another one."""
    with ThreadPoolExecutor(clients) as pool:

        def turn(each: Contestant, seconds: float) -> tuple[list[float], float]:
            began = time.perf_counter()
            if clients == 1:  # no thread stands between
                found = _calls(each.call, seconds)
            else:
                waiting = [pool.submit(_calls, each.call, seconds) for _ in range(clients)]
                found = [took for one in waiting for took in one.result()]
            return found, time.perf_counter() - began

        for each in contestants:
            turn(each, seconds * WARM)
        for number in range(rounds):
            first = number % len(contestants)
            for each in (*contestants[first:], *contestants[:first]):
                found, elapsed = turn(each, seconds / rounds)
                each.rounds.append(found)
                each.elapsed += elapsed


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


def _ratio(one: Contestant, other: Contestant) -> dict[str, Any]:
    """How many times as long a call takes as that of another one, by rounds, with an interval."""
    pairs = zip(one.rounds, other.rounds, strict=True)
    logs = [log(median(own) / median(base)) for own, base in pairs]
    low, high = _interval(logs, fmean)
    return {"to": other.name, "value": exp(fmean(logs)), "interval": [exp(low), exp(high)]}


def _interval(
    values: Sequence[float], mean: Callable[[Sequence[float]], float]
) -> tuple[float, float]:
    """The bootstrap interval of a mean (Efron, 1979): resamples of the rounds, always the same."""
    import random  # noqa: PLC0415

    draw = random.Random(0)  # noqa: S311 - no secret
    found = sorted(mean(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    edge = (1 - CONFIDENCE) / 2
    return found[int(edge * RESAMPLES)], found[int((1 - edge) * RESAMPLES) - 1]


def _lines(run: Mapping[str, Any]) -> Iterator[str]:
    """The table of one set of sizes, and how the contestants compare."""
    from tripybuild.compiler.lowering.specialize import sizes_name  # noqa: PLC0415

    facts = run["contestants"]
    yield sizes_name(run["sizes"])
    head = ("", "target", "median", "p90", "p99", "calls/s", "first", "load", "memory")
    rows = [head, *(_cells(each) for each in facts)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for name, target, *others in rows:
        cells = (text.rjust(width) for text, width in zip(others, widths[2:], strict=True))
        yield f"  {name.ljust(widths[0])}  {target.ljust(widths[1])}  {'  '.join(cells)}"
    for each in facts[1:]:
        ratio = each["ratio"]
        low, high = ratio["interval"]
        between = f"{low:.3f} to {high:.3f} in {CONFIDENCE:.0%} of resamples"
        yield f"  {each['name']} takes {ratio['value']:.3f} times {ratio['to']} ({between})"


def _cells(each: Mapping[str, Any]) -> tuple[str, ...]:
    times = (format_seconds(each[name]) for name in QUANTILES)
    rate = f"{each['calls_per_second']:.4g}"
    memory = "" if each["memory"] is None else format_bytes(each["memory"])
    rest = (format_seconds(each[name]) for name in ("first_call", "load"))
    return (each["name"], each["target"], *times, rate, *rest, memory)
