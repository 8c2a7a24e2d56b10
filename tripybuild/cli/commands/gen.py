"""`tripybuild gen`: generates code from the registry, or checks the generated code for drift."""

import keyword
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.console import count_files
from tripybuild.cli.options import Registries
from tripybuild.codegen.package.fragment import BUILT_IN
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.process import paths
from tripybuild.process.gc_pause import pause_gc
from tripybuild.process.paths import display_path
from tripybuild.process.phases import begin_phase

if TYPE_CHECKING:
    from tripybuild.codegen.package.sync import FileDifference

GENERATED = Path("generated")
MOST_SHOWN = 5
MARKS = {"missing": "+", "different": "~", "stale": "-"}
RESERVED = frozenset({BUILT_IN, "tripybuild"})


@command
def generate(
    *,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail on drift.")] = False,
    registry: Registries = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Output folder: `generated` by default."),
    ] = None,
    package: Annotated[
        str | None,
        typer.Option("--package", metavar="NAME", help="Required with `--registry`."),
    ] = None,
) -> CommandResult:
    """Generate the Python package of a registry."""
    start = time.perf_counter()
    added = registry or []
    name = _package(package, added)
    from tripybuild.codegen.incremental.package_files import package_files  # noqa: PLC0415
    from tripybuild.codegen.package.sync import differences, write  # noqa: PLC0415

    place = _place(out, added)
    begin_phase("read the registry")
    plan = package_files(added, name)
    begin_phase("compare the files" if check else "write the files")
    files = plan.files
    with pause_gc():
        found = (differences if check else write)(place, files, name)
    seconds = time.perf_counter() - start
    data = {
        "files": len(files),
        "differences": [{"path": (place / d.path).as_posix(), "kind": d.kind} for d in found],
        **({"unformatted": plan.unformatted} if check else {}),
    }
    if check and (found or plan.unformatted):
        return _refusal(place, found, plan.unformatted, ["tripybuild fmt", *map(str, added)], data)
    said = [_summary(place, found, len(files), seconds)]
    if name != BUILT_IN and not check:
        path = place.as_posix()
        said.append(
            f"`python -m pytest {path}/suites` proves it; `{name}` is imported from `{path}`"
        )
    return CommandResult(remark="\n".join(said), data=data)


def _package(given: str | None, added: Sequence[Path]) -> str:
    """Give the package's name, which may be the built-in one only for the built-in registry."""
    hint = "give a name of your own, such as `--package my_operators`"
    if given is None:
        if not added:
            return BUILT_IN
        message = "`--registry` needs a `--package`, since `tripyapi` is the built-in one's"
        raise DiagnosticError(Diagnostic("package-name", message, hint=hint))
    fits = given.isascii() and given.isidentifier() and not keyword.iskeyword(given)
    if not fits or (given in RESERVED and (added or given != BUILT_IN)):
        reason = "is taken" if fits else "cannot be the name of a Python package"
        raise DiagnosticError(Diagnostic("package-name", f"`{given}` {reason}", hint=hint))
    return given


def _place(given: Path | None, added: Sequence[Path]) -> Path:
    """Give the folder of the package: the built-in one's is in the checkout, wherever one is."""
    if given is not None or added:
        return given or GENERATED
    if paths.in_installed_package():
        message = "the built-in package is installed with all of its code"
        hint = "name a registry of yours: `--registry DIR --package NAME`; or a folder: `--out DIR`"
        raise DiagnosticError(Diagnostic("registry-read-only", message, hint=hint))
    return display_path(paths.registry().parent / GENERATED)


def _refusal(
    out: Path,
    drift: Sequence["FileDifference"],
    unformatted: Sequence[str],
    formatter: Sequence[str],
    data: Mapping[str, object],
) -> CommandResult:
    """What `--check` finds, and what mends it."""
    formats = f"`{' '.join(formatter)}`"
    diagnostics = [_drift(out, each) for each in drift]
    said = [f"{count_files(len(drift))} out of date; `tripybuild gen` mends that"] if drift else []
    for path in unformatted:
        message = f"`{path}` would be reformatted"
        diagnostics.append(Diagnostic("not-formatted", message, hint=f"{formats} does it"))
    if unformatted:
        said.append(f"{count_files(len(unformatted))} would be reformatted; {formats} does that")
    return CommandResult(remark="\n".join(said), data=data, diagnostics=tuple(diagnostics))


def _drift(out: Path, difference: "FileDifference") -> Diagnostic:
    path = (out / difference.path).as_posix()
    if difference.kind == "missing":
        return Diagnostic("out-of-date", f"`{path}` is missing")
    if difference.kind == "stale":
        return Diagnostic("out-of-date", f"`{path}` is left over: nothing declares it any more")
    found, wanted = difference.found, difference.wanted.strip()
    pairs = zip(found, difference.wanted, strict=False)
    same = next((at for at, (a, b) in enumerate(pairs) if a != b), 0)
    line, column = difference.line, same + 1
    return Diagnostic(
        "out-of-date",
        f"`{path}` is not up to date with its declaration",
        Span(path, line, column, line, column + 1),
        label=f"would be `{wanted}`" if wanted else "would not be there",
    )


def _summary(out: Path, changed: Sequence["FileDifference"], count: int, seconds: float) -> str:
    if not changed:
        where = "" if out == GENERATED else f" of `{out}`"
        return f"Up to date: {count_files(count)}{where} in {seconds:.2f}s"
    lines = [f"Generated {count_files(len(changed))} of {count} in {seconds:.2f}s"]
    lines += [f" {MARKS[d.kind]} {(out / d.path).as_posix()}" for d in changed[:MOST_SHOWN]]
    if len(changed) > MOST_SHOWN:
        lines.append(f" ... and {len(changed) - MOST_SHOWN} more")
    return "\n".join(lines)
