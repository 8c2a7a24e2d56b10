"""`tripybuild gen`: the registry becomes code, or is compared with the code that is there."""

import keyword
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tripybuild.cli.answer import Answer
from tripybuild.cli.command import command
from tripybuild.cli.registry import Registries
from tripybuild.diagnostics import Diagnostic, DiagnosticError, Span

if TYPE_CHECKING:
    from tripybuild.codegen.sync import Difference

BUILT_IN = "tripyapi"
MOST_SHOWN = 5
MARKS = {"missing": "+", "different": "~", "stale": "-"}
RESERVED = frozenset({BUILT_IN, "tripybuild"})


@command
def generate(
    *,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail on a drift.")] = False,
    registry: Registries = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where the package's folder is.")
    ] = Path("generated"),
    package: Annotated[
        str | None,
        typer.Option("--package", metavar="NAME", help="Required with `--registry`."),
    ] = None,
) -> Answer:
    """Generate the Python package of a registry."""
    start = time.perf_counter()
    added = registry or []
    name = _package(package, added)
    from tripybuild.packages.planned import planned  # noqa: PLC0415

    files = planned(added, name)
    found = _sync(out, files, name, check=check)
    seconds = time.perf_counter() - start
    data = {
        "files": len(files),
        "differences": [{"path": (out / d.path).as_posix(), "kind": d.kind} for d in found],
    }
    if check and found:
        drift = tuple(_drift(out, each) for each in found)
        text = f"{_files(len(found))} out of date; `tripybuild gen` mends that"
        return Answer(remark=text, data=data, diagnostics=drift)
    return Answer(remark=_summary(out, found, len(files), seconds), data=data)


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


def _sync(out: Path, files: Mapping[str, str], package: str, *, check: bool) -> list["Difference"]:
    from tripybuild.codegen.sync import apply, differences, neighbours  # noqa: PLC0415

    if others := neighbours(out, package):
        message = f"`{out}` holds the generated package `{others[0]}`, and would hold `{package}`"
        hint = "give each package a folder of its own with `--out`"
        raise DiagnosticError(Diagnostic("not-generated", message, hint=hint))
    owned = tuple(sorted({path.split("/")[0] for path in files if "/" in path}))
    found = differences(out, files, owned)
    if foreign := [each for each in found if each.kind == "foreign"]:
        raise DiagnosticError(*(_foreign(out, each) for each in foreign))
    if not check:
        apply(out, files, found)
    return found


def _foreign(out: Path, difference: "Difference") -> Diagnostic:
    message = f"`{(out / difference.path).as_posix()}` was not generated, and stays as it is"
    hint = "choose another `--out` or `--package`, or remove the file"
    return Diagnostic("not-generated", message, hint=hint)


def _drift(out: Path, difference: "Difference") -> Diagnostic:
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
        f"`{path}` is not what its declaration gives",
        Span(path, line, column, line, column + 1),
        label=f"would be `{wanted}`" if wanted else "would not be there",
    )


def _summary(out: Path, changed: Sequence["Difference"], count: int, seconds: float) -> str:
    if not changed:
        return f"Up to date: {_files(count)} in {seconds:.2f}s"
    lines = [f"Generated {_files(len(changed))} of {count} in {seconds:.2f}s"]
    lines += [f" {MARKS[d.kind]} {(out / d.path).as_posix()}" for d in changed[:MOST_SHOWN]]
    if len(changed) > MOST_SHOWN:
        lines.append(f" ... and {len(changed) - MOST_SHOWN} more")
    return "\n".join(lines)


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"
