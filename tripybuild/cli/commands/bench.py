"""`tripybuild bench`: measures executables and specs beside each other."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.function_reference import program, record_program
from tripybuild.cli.interrupts import native_call
from tripybuild.cli.options import (
    Below,
    ConfigFile,
    InputFile,
    Registries,
    Seed,
    SizeSettings,
    WeightsPath,
)
from tripybuild.cli.sources import (
    Entry,
    InputValues,
    Shapes,
    Target,
    function_inputs,
    is_executable,
    pair_sources,
    set_threads,
    split_source,
)
from tripybuild.cli.usage_errors import conflict, wrong_argument
from tripybuild.process.memory import format_bytes
from tripybuild.process.phases import begin_phase
from tripybuild.process.quantities import format_seconds
from tripybuild.targets.table import DEFAULT

if TYPE_CHECKING:
    from tripybuild.workbench.latency import Caller, Contestant, Picture

ROUNDS, SECONDS = 10, 1.0
CHILD = "tripybuild.cli.bench_child"


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
    seconds: Annotated[
        float, typer.Option(metavar="S", min=0.01, help="How long each is measured, in all.")
    ] = SECONDS,
    seed: Seed = 0,
    below: Below = None,
    inputs: InputValues = None,
    together: Annotated[
        bool,
        typer.Option("--together", help="Measure all in one process, which shares its memory."),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE.svg", help="Draw the latencies, by Matplotlib."),
    ] = None,
    sizes: SizeSettings = None,
    weights: WeightsPath = None,
    config: ConfigFile = None,
    registry: Registries = None,
) -> CommandResult:
    """Measure executables and specs beside each other.

    `tripybuild bench model.yaml@cpu:xla @cpu:openvino --shapes B=1 --plot latency.svg`
    """
    own = {"sizes": {each.name: each.value for each in sizes or []}, "weights": weights}
    how = {**own, "config": config, "registry": registry, "threads": threads}
    sources = [pair_sources(sources[0], each)[1] for each in sources]
    _check_sources(sources, threads is not None and not compare, how)
    if plot is not None:
        from tripybuild.workbench.latency import check_picture, draw_picture  # noqa: PLC0415

        check_picture(plot)
    files = [each for each in inputs or [] if isinstance(each, InputFile)]
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        common = {
            "entry": entry,
            "threads": threads,
            "registry": [str(each) for each in registry or []],
            "seed": seed,
            "below": {name: bound for each in below or [] for name, bound in each.sizes.items()},
            "given": [(each.name, str(each.path)) for each in files],
        }
        orders = [
            {**common, "name": each, "source": _executable(each, folder, target, how, inputs or [])}
            for each in sources
        ]
        orders += [{**common, "name": each, "source": None} for each in compare or []]
        runs, pictures = [], []
        for number, asked in enumerate([each.sizes for each in shapes or []] or [{}]):
            shared = str(folder / f"inputs{number}.safetensors") if compare else None
            several = [{**each, "sizes": asked, "shared": shared} for each in orders]
            begin_phase("measure")
            run, picture = _run(several, together, rounds, seconds, clients)
            runs.append(run)
            pictures.append(picture)
    if plot is not None:
        draw_picture(pictures, plot)
    text = "\n\n".join("\n".join(_lines(each)) for each in runs)
    data = {"rounds": rounds, "clients": clients, "seed": seed, "together": together, "runs": runs}
    remark = "" if plot is None else f"Drew `{plot}`"
    return CommandResult(text, remark, data=data)


def _run(
    orders: Sequence[Mapping[str, Any]],
    together: bool,
    rounds: int,
    seconds: float,
    clients: int,
) -> "tuple[dict[str, Any], Picture]":
    """Measure all contestants at some sizes: the facts, and what a picture shows."""
    from tripybuild.cli.bench_child import caller  # noqa: PLC0415
    from tripybuild.compiler.lowering.specialize import sizes_name  # noqa: PLC0415
    from tripybuild.workbench import latency  # noqa: PLC0415

    with ExitStack() as opened, native_call():
        several: list[Contestant] = []
        for order in orders:
            name = order["name"]
            own: Caller = (
                caller(dict(order)) if together else latency.ChildProcess(CHILD, order, name)
            )
            opened.callback(own.close)
            several.append(latency.Contestant(name, own))
        latency.measure(several, rounds, seconds, clients)
    facts = [each.facts() | {"ratio": latency.ratio(each, several[0])} for each in several]
    sizes = next((dict(each.caller.start.sizes) for each in several if each.caller.start.sizes), {})
    picture = latency.Picture(sizes_name(sizes), [(each.name, each.calls) for each in several])
    return {"sizes": sizes, "contestants": facts}, picture


def _check_sources(sources: Sequence[str], threaded: bool, how: Mapping[str, Any]) -> None:
    """Refuse options of specs where there is none."""
    flags = {"sizes": "--set", "weights": "--weights", "config": "--config"}
    given = [flag for name, flag in flags.items() if how[name]] + ["--threads"] * threaded
    if given and all(is_executable(Path(each)) for each in sources):
        message = f"an executable is compiled already, and takes no `{given[0]}`"
        hint = "bench the spec that it was compiled from"
        raise conflict(message, hint, given[0])


def _executable(
    source: str, folder: Path, target: str, how: Mapping[str, Any], inputs: Sequence[Any]
) -> str:
    """The file of an executable; a spec or a function is compiled into one."""
    text, named = split_source(source)
    asked, path = program(text), Path(text)
    if asked is None and is_executable(path):
        if named is not None:
            message = f"`{text}` is compiled already, and takes no target"
            raise wrong_argument(message, "name the spec that it was compiled from")
        return source
    target = named or target
    if how["threads"] is not None:
        target = set_threads(target, how["threads"])
    made = str(folder / f"{len(list(folder.iterdir()))}.tpb")
    if asked is not None:
        from tripybuild.eager.compile.compile import compile_function  # noqa: PLC0415

        compile_function(record_program(asked, function_inputs(inputs)), target).save(made)
        return made
    from tripybuild.compiler.session import compile_spec  # noqa: PLC0415
    from tripybuild.packages.libraries import model_libraries  # noqa: PLC0415

    options = {name: how[name] for name in ("sizes", "weights", "config")}
    homes = model_libraries(how["registry"], path)
    compile_spec(path, target=target, homes=homes, **options).save(Path(made))
    return made


def _lines(run: Mapping[str, Any]) -> Iterator[str]:
    """The table of one set of sizes, and how the contestants compare."""
    from tripybuild.compiler.lowering.specialize import sizes_name  # noqa: PLC0415
    from tripybuild.workbench.latency import CONFIDENCE  # noqa: PLC0415

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
    times = (format_seconds(each[name]) for name in ("p50", "p90", "p99"))
    rate = f"{each['calls_per_second']:.4g}"
    memory = "" if each["memory"] is None else format_bytes(each["memory"])
    rest = (format_seconds(each[name]) for name in ("first_call", "load"))
    return (each["name"], each["target"], *times, rate, *rest, memory)
