"""`tripybuild doctor`: diagnoses which targets work on this machine and why others do not.

Invariant: what is said was tried. A target works if a model was compiled for it just now, in a
process of its own; so a library that crashes is a fact like any other.
"""

import platform
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.options import Duration, seconds
from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.targets.table import DEFAULT, TARGETS
from tripybuild.version import VERSION

PATIENCE = 120.0  # seconds for each trial
TRIED = tuple(name for name, entry in TARGETS.items() if not entry.chooses)
WIDTH = max(map(len, TRIED))


@command
def doctor(
    *,
    timeout: Annotated[
        Duration | None,
        typer.Option(
            metavar="SECONDS", parser=seconds, help="Time limit of a trial: 120 by default."
        ),
    ] = None,
) -> CommandResult:
    """Check which targets work here, and why others do not."""
    from tripybuild.cli.commands import doctor_trial  # noqa: PLC0415

    limit = PATIENCE if timeout is None else timeout.number
    found = doctor_trial.run_trials((*TRIED, doctor_trial.ENGINES), limit)
    data = {
        "tripybuild": VERSION,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "targets": {name: found[name] for name in TRIED},
        doctor_trial.ENGINES: found[doctor_trial.ENGINES],
    }
    broken = () if found[DEFAULT]["works"] else (_default_failure(found[DEFAULT]),)
    return CommandResult("\n".join(_lines(data)), data=data, diagnostics=broken)


def _lines(data: Mapping[str, Any]) -> Iterator[str]:
    yield f"tripybuild {data['tripybuild']}, Python {data['python']}, {data['platform']}"
    yield "\nTargets, each of which was tried just now"
    for name, found in data["targets"].items():
        yield from _entry(name, found)
    yield "\nRunning on a GPU"
    yield from _entry("GPU", data["engines"])


def _entry(name: str, found: Mapping[str, Any]) -> Iterator[str]:
    said = [_fact(*fact) for fact in found["facts"].items() if fact[1]]
    said = [", ".join(said)] if said else []
    for problem in found["problems"]:
        said += _problem(problem)
    head = f"  {name.ljust(WIDTH)}  {'works' if found['works'] else 'no':5}  "
    for line in said or [""]:
        yield f"{head}{line}".rstrip()
        head = " " * len(head)


def _fact(name: str, value: Any) -> str:
    match name:
        case "gpus":
            return f"builds for {', '.join(value)}"
        case "gpu":
            return str(value)
        case "capability":
            return f"compute capability {value}"
    return f"{name} {value}"


def _problem(problem: Mapping[str, Any]) -> Iterator[str]:
    notes = problem["notes"]
    if problem["code"] != "target-unavailable" or not notes:  # what is missing is in its note
        yield problem["message"]
    yield from notes
    if problem["hint"] is not None:
        yield f"hint: {problem['hint']}"


def _default_failure(found: Mapping[str, Any]) -> Diagnostic:
    notes = tuple(line for each in found["problems"] for line in _problem(each))
    message = f"the target `{DEFAULT}` does not work here, and everything else rests on it"
    hint = f"install tripybuild again: it needs no GPU and no other package for `{DEFAULT}`"
    return Diagnostic("target-unavailable", message, notes=notes, hint=hint)
