"""`tripybuild bench`: measures executables and specs beside each other."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripybuild.cli.command import FAILED, CommandResult, command
from tripybuild.cli.console import terminal_width
from tripybuild.cli.function_reference import program
from tripybuild.cli.interrupts import native_call
from tripybuild.cli.number_table import number_table
from tripybuild.cli.options import (
    Below,
    ConfigFile,
    Duration,
    InputFile,
    Registries,
    Seed,
    SizeSettings,
    WeightsPath,
    seconds,
)
from tripybuild.cli.sources import (
    Entry,
    InputValues,
    RandomWeights,
    Shapes,
    SourceOptions,
    Target,
    check_peer,
    function_inputs,
    hint_random,
    is_executable,
    open_source,
    pair_sources,
    set_threads,
    split_source,
)
from tripybuild.cli.usage_errors import CODES, conflict, wrong_argument
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.memory import format_bytes
from tripybuild.process.phases import begin_phase
from tripybuild.process.quantities import format_seconds
from tripybuild.targets.table import DEFAULT

if TYPE_CHECKING:
    from tripybuild.workbench.latency.callers import Caller
    from tripybuild.workbench.latency.contestants import Contestant
    from tripybuild.workbench.latency.latency_picture import Picture

ROUNDS, SECONDS = 10, 1.0
CHILD = "tripybuild.cli.bench_child"
HEAD = ("", "target", "median", "p90", "p99", "calls/s", "first", "load", "memory")


@dataclass(frozen=True)
class _Entrant:
    """What is to be measured.

    Args:
        name: What the user calls it.
        order: What `bench_child` is told.
        note: What the user should know of it.
        problems: Why there is nothing to measure.
    """

    name: str
    order: Mapping[str, Any]
    note: str = ""
    problems: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class _Plan:
    """How all are measured.

    Args:
        rounds: How often all take turns.
        seconds: How long each is called, in all.
        clients: How many threads call.
        together: Whether all are in this process.
    """

    rounds: int
    seconds: float
    clients: int
    together: bool


@command
def bench_models(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="EXE|SPEC[@TARGET]|FILE.py:f[@TARGET]...",
            help="Executables, and specs and Python functions, compiled first; `@TARGET` alone is "
            "the first of them by that target.",
        ),
    ],
    *,
    target: Target = DEFAULT,
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
    time: Annotated[
        Duration | None,
        typer.Option(
            "--seconds",
            metavar="S",
            parser=seconds,
            help="How long each is measured, in all: 1 by default.",
        ),
    ] = None,
    random: RandomWeights = False,
    seed: Seed = 0,
    below: Below = None,
    inputs: InputValues = None,
    together: Annotated[
        bool,
        typer.Option("--together", help="Measure all in one process, which shares its memory."),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.svg", help="Draw the latencies, by Matplotlib; .png and .pdf, too."
        ),
    ] = None,
    sizes: SizeSettings = None,
    weights: WeightsPath = None,
    config: ConfigFile = None,
    registry: Registries = None,
) -> CommandResult:
    """Measure executables and specs beside each other."""
    chosen = SourceOptions(
        target=target,
        entry=entry,
        sizes={each.name: each.value for each in sizes or []},
        weights=weights,
        config=config,
        registry=registry,
        inputs=function_inputs(inputs or []),
        threads=threads,
        seed=seed if random else None,
    )
    sources = [pair_sources(sources[0], each)[1] for each in sources]
    _check_sources(sources, threads is not None and not compare, chosen)
    for each in compare or []:
        check_peer(each, "--compare")
    if plot is not None:
        from tripybuild.workbench.latency.latency_picture import check_plot  # noqa: PLC0415

        check_plot(plot)
    files = [each for each in inputs or [] if isinstance(each, InputFile)]
    common = {
        "threads": threads,
        "registry": [str(each) for each in registry or []],
        "seed": seed,
        "below": {name: bound for each in below or [] for name, bound in each.sizes.items()},
        "given": [(each.name, str(each.path)) for each in files],
    }
    plan = _Plan(rounds, SECONDS if time is None else time.number, clients, together)
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        entrants = [_compile(each, folder, chosen, common) for each in sources]
        entrants += [_Entrant(each, {**common, "source": None}) for each in compare or []]
        measured = []
        several = [each.sizes for each in shapes or []] or [{}]
        for number, asked in enumerate(several):
            shared = str(folder / f"inputs{number}.safetensors") if compare else None
            begin_phase("measure")
            measured.append(_measure(entrants, {"sizes": asked, "shared": shared}, plan))
    found = list(zip(several, measured, strict=True))
    return _conclude(found, entrants, plan, seed, plot)


def _conclude(
    measured: "Sequence[tuple[Mapping[str, int], Sequence[Contestant]]]",
    entrants: Sequence[_Entrant],
    plan: _Plan,
    seed: int,
    plot: Path | None,
) -> CommandResult:
    """What was measured at some sizes, of which some may have failed.

    Raises:
        DiagnosticError: All have failed.
    """
    every = [each for _, several in measured for each in several]
    problems = [_of_contestant(e, found, len(entrants)) for e in every for found in e.problems]
    if all(each.problems for each in every):
        raise DiagnosticError(*dict.fromkeys(found for e in every for found in e.problems))
    runs = [_facts(several, asked) for asked, several in measured]
    if plot is not None:
        from tripybuild.workbench.latency.latency_picture import draw_picture  # noqa: PLC0415

        draw_picture([_picture(each, asked) for asked, each in measured], plot)
    text = "\n\n".join("\n".join(_lines(each)) for each in runs)
    notes = [f"  {each.name} is measured {each.note}" for each in entrants if each.note]
    text = "\n".join([text, *notes])
    plain = {"rounds": plan.rounds, "clients": plan.clients, "seed": seed}
    data = {**plain, "together": plan.together, "runs": runs}
    remark = "" if plot is None else f"Drew `{plot}`"
    code = FAILED if problems else None
    return CommandResult(text, remark, data, tuple(dict.fromkeys(problems)), code)


def _of_contestant(each: "Contestant", problem: Diagnostic, many: int) -> Diagnostic:
    """A problem that says whose it is, unless it does."""
    if many == 1 or f"`{each.name}`" in problem.message:
        return problem
    return replace(problem, notes=(*problem.notes, f"`{each.name}` is not measured"))


def _measure(
    entrants: Sequence[_Entrant], call: Mapping[str, Any], plan: _Plan
) -> "list[Contestant]":
    """Measure all contestants at some sizes."""
    from tripybuild.cli.bench_child import caller  # noqa: PLC0415
    from tripybuild.workbench.latency.callers import ChildProcess  # noqa: PLC0415
    from tripybuild.workbench.latency.contestants import Contestant, measure  # noqa: PLC0415

    with ExitStack() as opened, native_call() if plan.together else nullcontext():
        several: list[Contestant] = []
        for each in entrants:
            one = Contestant(each.name, problems=each.problems)
            order = {**each.order, **call, "name": each.name}
            make: Callable[[], Caller] = (
                partial(caller, order)
                if plan.together
                else partial(ChildProcess, CHILD, order, each.name)
            )
            one.open(make)
            if one.caller is not None:
                opened.callback(one.caller.close)
            if not each.problems and _has_slip(one.problems):
                raise DiagnosticError(*one.problems)
            several.append(one)
        measure(several, plan.rounds, plan.seconds, plan.clients)
    return several


def _facts(several: "Sequence[Contestant]", asked: Mapping[str, int]) -> dict[str, Any]:
    """What is known of all contestants at some sizes, or at those that were asked for."""
    from tripybuild.workbench.latency.contestants import ratio  # noqa: PLC0415

    able = [each for each in several if not each.problems]
    facts = [each.facts() | {"ratio": ratio(each, able[0])} for each in able]
    failed = [each.name for each in several if each.problems]
    return {"sizes": _sizes(several) or dict(asked), "contestants": facts, "failed": failed}


def _sizes(several: "Sequence[Contestant]") -> dict[str, int]:
    """The sizes of the calls, which peers do not tell."""
    starts = (each.caller.start.sizes for each in several if each.caller is not None)
    return next((dict(each) for each in starts if each), {})


def _picture(several: "Sequence[Contestant]", asked: Mapping[str, int]) -> "Picture":
    from tripybuild.compiler.lowering.specialize import sizes_name  # noqa: PLC0415
    from tripybuild.workbench.latency.latency_picture import Picture  # noqa: PLC0415

    calls = [(each.name, [] if each.problems else each.calls) for each in several]
    return Picture(sizes_name(_sizes(several) or asked), calls)


def _check_sources(sources: Sequence[str], threaded: bool, how: SourceOptions) -> None:
    """Refuse options of specs where there is none."""
    flags = {"--set": how.sizes, "--weights": how.weights, "--config": how.config}
    given = [flag for flag, each in flags.items() if each] + ["--threads"] * threaded
    if given and all(is_executable(Path(each)) for each in sources):
        message = f"an executable is compiled already, and takes no `{given[0]}`"
        hint = "bench the spec that it was compiled from"
        raise conflict(message, hint, given[0])


def _compile(source: str, folder: Path, how: SourceOptions, common: Mapping[str, Any]) -> _Entrant:
    """An executable as it is, and a spec or a function compiled into one.

    Raises:
        DiagnosticError: It is not what can be measured, or not there.
    """
    text, named = split_source(source)
    if program(text) is None and is_executable(Path(text)):
        if named is not None:
            message = f"`{text}` is compiled already, and takes no target"
            raise wrong_argument(message, "name the spec that it was compiled from")
        return _Entrant(source, {**common, "source": source, "entry": how.entry})
    target = named or how.target
    if how.threads is not None:
        target = set_threads(target, how.threads)
    try:
        opened = open_source(text, how._replace(target=target))
        if opened.source is None:
            message = f"`{source}` is no spec and no executable"
            raise wrong_argument(message, f"measure it by `--compare {source}`")
        ranges = opened.source.entry.ranges
        made = opened.source.executable({name: each.opt for name, each in ranges.items()})
    except DiagnosticError as error:
        if _has_slip(error.diagnostics):
            raise
        return _Entrant(source, common, problems=tuple(map(hint_random, error.diagnostics)))
    path = folder / f"{len(list(folder.iterdir()))}.tpb"
    made.save(path)
    return _Entrant(source, {**common, "source": str(path), "entry": None}, opened.note)


def _has_slip(problems: Sequence[Diagnostic]) -> bool:
    """Whether there is a slip of the pen, which is told before anything is measured."""
    return any(each.code in {*CODES, "file-not-found"} for each in problems)


def _lines(run: Mapping[str, Any]) -> Iterator[str]:
    """The table of one set of sizes, and how the contestants compare."""
    from tripybuild.compiler.lowering.specialize import sizes_name  # noqa: PLC0415
    from tripybuild.workbench.latency.contestants import CONFIDENCE  # noqa: PLC0415

    facts = run["contestants"]
    yield sizes_name(run["sizes"])
    yield from number_table(HEAD, [_cells(each) for each in facts]) if facts else ()
    for name in run["failed"]:
        yield f"  {name} failed"
    for each in facts[1:]:
        ratio = each["ratio"]
        low, high = ratio["interval"]
        between = f"{low:.3f} to {high:.3f} in {CONFIDENCE:.0%} of resamples"
        line = f"{each['name']} takes {ratio['value']:.3f} times {ratio['to']} ({between})"
        yield from wrap(line, terminal_width(), initial_indent="  ", subsequent_indent="    ")


def _cells(each: Mapping[str, Any]) -> tuple[str, ...]:
    times = (format_seconds(each[name]) for name in ("p50", "p90", "p99"))
    rate = f"{each['calls_per_second']:.4g}"
    memory = "" if each["memory"] is None else format_bytes(each["memory"])
    rest = (format_seconds(each[name]) for name in ("first_call", "load"))
    return (each["name"], each["target"], *times, rate, *rest, memory)
