"""`tripybuild reduce`: writes the smallest spec that still fails, to attach to a report."""

import platform
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.console import write_note
from tripybuild.cli.options import (
    Below,
    ConfigFile,
    Duration,
    Registries,
    Seed,
    SizeAssignment,
    SizeSettings,
    WeightsPath,
    seconds,
    shape,
)
from tripybuild.cli.sources import Absolute, Entry, Relative
from tripybuild.targets.table import DEFAULT, parse_target

if TYPE_CHECKING:
    from tripybuild.workbench.reduction.reducer import Reduction
    from tripybuild.workbench.reduction.trial import TrialRequest

LIMIT = 120.0  # seconds of one trial
TOTAL = 1800.0  # seconds of all
PACKAGES = ("tripybuild", "numpy", "jaxlib", "onnxruntime", "openvino", "tensorrt_rtx")


@command
def reduce_spec(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="The model's YAML file.")],
    *,
    target: Annotated[str, typer.Option(help="What it fails by.")] = DEFAULT,
    against: Annotated[
        str, typer.Option(metavar="TARGET", help="What gives the right outputs.")
    ] = "reference",
    nan: Annotated[
        bool,
        typer.Option(
            "--nan", help="NaN and infinity are failures, also where both sides have them."
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="The folder; by default NAME-reduced."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the folder.")] = False,
    shapes: Annotated[
        SizeAssignment | None,
        typer.Option(
            "--shapes", metavar="B=1,S=128", parser=shape, help="Sizes of the call that fails."
        ),
    ] = None,
    seed: Seed = 0,
    below: Below = None,
    atol: Absolute = None,
    rtol: Relative = None,
    entry: Entry = None,
    timeout: Annotated[
        Duration | None,
        typer.Option(metavar="SECONDS", parser=seconds, help="Limit of each trial: 120."),
    ] = None,
    total: Annotated[
        Duration | None,
        typer.Option(
            "--limit", metavar="SECONDS", parser=seconds, help="Limit of all trials: 1800."
        ),
    ] = None,
    sizes: SizeSettings = None,
    weights: WeightsPath = None,
    config: ConfigFile = None,
    registry: Registries = None,
) -> CommandResult:
    """Write the smallest spec that still fails by a target."""
    from tripybuild.importer.session import ImportRequest  # noqa: PLC0415
    from tripybuild.workbench.reduction.part_folder import PartFolder  # noqa: PLC0415
    from tripybuild.workbench.reduction.reducer import Reducer  # noqa: PLC0415
    from tripybuild.workbench.reduction.trial import TrialRequest, ask  # noqa: PLC0415
    from tripybuild.worker.compiler_process import CompilerProcess  # noqa: PLC0415

    request = TrialRequest(
        spec=str(spec),
        target=str(parse_target(target)),
        against=str(parse_target(against)),
        entry=entry,
        sizes={each.name: each.value for each in sizes or []},
        shapes=shapes.sizes if shapes else {},
        seed=seed,
        below={name: bound for each in below or [] for name, bound in each.sizes.items()},
        weights=None if weights is None else str(weights),
        config=None if config is None else str(config),
        registries=[str(each.absolute()) for each in registry or []],
        absolute=atol,
        relative=rtol,
        finite=nan,
    )
    folder = output or Path(f"{spec.stem}-reduced")
    PartFolder(folder).check(spec, force=force)
    known = ImportRequest(registries=registry).registry()
    limit = LIMIT if timeout is None else timeout.number
    with CompilerProcess(timeout=limit) as process:
        reducer = Reducer(request, folder, lambda each: ask(process, each), known, write_note)
        reducer.limit = TOTAL if total is None else total.number
        try:
            return _conclude(reducer.reduce(), folder, spec)
        except KeyboardInterrupt:
            if reducer.before:  # it is known to fail
                _conclude(reducer.stop("it was interrupted"), folder, spec)
                write_note(f"`{folder}` holds it")
            raise


def _conclude(found: "Reduction", folder: Path, spec: Path) -> CommandResult:
    """Write the report, and say what was found."""
    command_line = run_line(found.request, folder)
    from tripybuild.workbench.reduction.part_folder import REPORT  # noqa: PLC0415

    report = "\n".join(_report(found, command_line, spec))
    (folder / REPORT).write_text(report, encoding="utf-8")
    data = {
        "folder": folder.as_posix(),
        "outcome": found.outcome.kind,
        "code": found.outcome.code,
        "text": found.outcome.text,
        "before": found.before,
        "after": found.after,
        "trials": found.trials,
        "run": command_line,
        "steps": list(found.steps),
    }
    text = f"{found.before} operations to {found.after}, by {found.trials} trials: `{folder}`"
    return CommandResult(f"{text}\n{found.outcome.text}\nrun: {command_line}", data=data)


def run_line(request: "TrialRequest", folder: Path) -> str:
    """What shows the failure, said in the folder."""
    spec = Path(request.spec)
    name = spec.name if spec.is_relative_to(folder) else str(spec.absolute())
    words = ["tripybuild", "bisect" if request.finite else "compare", f"{name}@{request.target}"]
    words += ["--nan"] if request.finite else [f"@{request.against}"]
    words += [f"--seed {request.seed}"] if request.seed else []
    words += [f"--set {n}={v}" for n, v in request.sizes.items()]
    shapes = ",".join(f"{n}={v}" for n, v in request.shapes.items())
    words += [f"--shapes {shapes}"] if shapes else []
    words += [f"--below {n}={v}" for n, v in request.below.items()]
    words += [f"--entry {request.entry}"] if request.entry else []
    arrays = Path(request.arrays or "").name
    words += [f"--input {n}={arrays}" for n in _names(request)]
    words += [f"--atol {request.absolute:g}"] if request.absolute is not None else []
    words += [f"--rtol {request.relative:g}"] if request.relative is not None else []
    return " ".join([*words, *(f"--registry {each}" for each in request.registries)])


def _names(request: "TrialRequest") -> list[str]:
    """The inputs that a file gives."""
    from tripybuild.weights.array_files import array_names  # noqa: PLC0415

    return [] if request.arrays is None else array_names(Path(request.arrays))


def _report(found: "Reduction", command_line: str, spec: Path) -> Iterator[str]:
    """A page to attach to a report."""
    yield f"# `{spec.name}` fails by `{found.request.target}`"
    yield ""
    yield found.outcome.text or found.outcome.code
    yield ""
    yield "```console"
    yield f"$ {command_line}"
    yield "```"
    yield ""
    yield f"- outcome: {found.outcome.kind} {found.outcome.code}".rstrip()
    yield f"- operations: {found.after}, of {found.before}"
    yield f"- seed: {found.request.seed}"
    yield f"- against: `{found.request.against}`"
    yield f"- python: {platform.python_version()} on {platform.platform()}"
    yield f"- processor: {processor()}"
    for name, number in _versions():
        yield f"- {name}: {number}"
    yield ""
    yield f"Found by {found.trials} trials:"
    yield ""
    yield from (f"1. {each}" for each in found.steps)
    yield ""


def _versions() -> Iterator[tuple[str, str]]:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - slow

    for name in PACKAGES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue


def processor() -> str:
    """What this machine computes with, as the system calls it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = [each.partition(":")[2].strip() for each in lines if each.startswith("model name")]
    return named[0] if named else platform.machine()
