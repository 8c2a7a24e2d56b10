"""What `tripybuild build` and `test` answer: a plan, or a table of results, as text and as data."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripybuild.cli.command import FAILED, CommandResult
from tripybuild.cli.job_lines import WORDS, outcome_word
from tripybuild.errors.diagnostics import render, text_of
from tripybuild.process.memory import format_bytes
from tripybuild.process.quantities import format_seconds

if TYPE_CHECKING:
    from tripybuild.workspace.jobs import JobResult
    from tripybuild.workspace.plan import PlannedJob
    from tripybuild.workspace.session import BuildRun

CURRENT, STALE = "current", "stale"


def plan_result(run: "BuildRun", seconds: float) -> CommandResult:
    """What would be done, and why."""
    stale = [each for each in run.jobs if not each.is_current]
    lines = [f"{each.job.name}: {'; '.join(each.reasons)}" for each in stale]
    current = len(run.jobs) - len(stale)
    does = "test" if any(each.job.action == "test" for each in run.jobs) else "build"
    remark = f"Would {does} {len(stale)} of {len(run.jobs)}; {current} up to date"
    return CommandResult("\n".join(lines), remark, _data(run, seconds))


def build_result(run: "BuildRun", root: Path, seconds: float) -> CommandResult:
    """What was done, and what is wrong."""
    from tripybuild.workspace.session import merge_diagnostics  # noqa: PLC0415

    own = {n: each for n, each in run.results.items() if each.outcome != "canceled"}
    is_failed = any(each.diagnostics for each in own.values())
    # What was left out is in the table; why, only where nothing else says that something is wrong.
    found = merge_diagnostics(own if is_failed else run.results, root)
    warned = merge_diagnostics(run.results, root, of="warnings")
    warnings = [render(each, text_of, kind="warning") for each in warned]
    planned = {each.job.name: each for each in run.jobs}
    count = Counter(outcome_word(planned[n], each) for n, each in run.results.items())
    done = [each for each in run.results.values() if each.outcome == "done"]
    parts = [f"{count[each]} {each}" for each in WORDS if count[each]]
    parts += [f"{len(run.jobs) - len(run.results)} up to date"]
    peak = max((each.peak for each in done), default=0)
    more = f"; at most {format_bytes(peak)} for one" if peak else ""
    remark = f"{', '.join(parts)} in {seconds:.2f}s{more}"
    code = FAILED if any(each.outcome != "done" for each in run.results.values()) else None
    shown = "\n".join([*warnings, remark])
    text = "\n".join(_table(run)) if run.results else ""
    return CommandResult(text, shown, _data(run, seconds), tuple(found), code)


def _table(run: "BuildRun") -> Iterator[str]:
    """A row for each job that had to be done."""
    tests = any(each.job.action == "test" for each in run.jobs)
    first, last = ("test", "difference") if tests else ("executable", "size")
    rows = [(first, "outcome", "time", "memory", last)]
    for planned in run.jobs:
        if (result := run.results.get(planned.job.name)) is not None:
            took = format_seconds(result.seconds) if result.seconds else "-"
            peak = format_bytes(result.peak) if result.peak else "-"
            size = format_bytes(result.size) if result.size else "-"
            last = _worst(result) if tests else size
            name = planned.job.output or planned.job.name
            rows.append((name, outcome_word(planned, result), took, peak, last))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        left = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        right = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        yield "  ".join([*left, *right])


def _worst(result: "JobResult") -> str:
    """The largest difference of a test."""
    found = [each["difference"] for each in result.report.get("cases", ())]
    if None in found:
        return "infinite"
    return f"{max(found):.1e}" if found else "-"


def _data(run: "BuildRun", seconds: float) -> dict[str, Any]:
    """The answer for programs."""
    listed = []
    for planned in run.jobs:
        one, result = planned.combination, run.results.get(planned.job.name)
        report = result.report if result else {}
        listed.append(
            {
                "name": one.name,
                "build": one.build,
                "spec": planned.job.spec,
                "sizes": one.sizes,
                "dtype": one.dtype,
                "target": one.target,
                "output": planned.job.output,
                "key": planned.job.key,
                "reasons": list(planned.reasons),
                "outcome": outcome_of(planned, result),
                "seconds": result.seconds if result else 0.0,
                "memory": planned.job.needs.memory,
                "peak": result.peak if result else 0,
                "bytes": result.size if result else 0,
                "digest": result.digest if result else "",
                "cases": list(report.get("cases", ())),
                "skipped": str(report.get("skipped") or ""),
            }
        )
    return {"jobs": listed, "seconds": round(seconds, 3)}


def outcome_of(planned: "PlannedJob", result: "JobResult | None") -> str:
    """What became of a job, or has to."""
    if result is not None:
        return result.outcome
    return CURRENT if planned.is_current else STALE
