"""The plan of a build: a job for each combination, and why it has to be done.

What a job depends on is said part by part: files by their content, options, the target, and the
versions of what compiles. The key is the digest of all parts, made as those of the cache are. A job
is done where the last record of it has the same key and its output is as the record says.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from tripybuild.cache.keys import KIND, key
from tripybuild.schema.model.model import DEFAULT_VARIABLE
from tripybuild.schema.workspace_files import SizeSetEntry, WorkspaceBuildEntry
from tripybuild.targets.table import DEFAULT, parse_target
from tripybuild.workspace.inputs import InputFiles, SpecChoice
from tripybuild.workspace.jobs import Job, JobFile, Needs
from tripybuild.workspace.matrix import Combination
from tripybuild.workspace.state import JobRecord
from tripybuild.workspace.versions import (
    OPERATORS,
    REFERENCE,
    built_in_operators,
    job_versions,
    toolchain_versions,
)
from tripybuild.workspace.workspace_file import BuildWorkspace

BASE = 400_000_000  # bytes of a process that compiles a small model
FACTOR = 3  # bytes for each byte of weights
MOST_REASONS = 4
VERSION_OF, FILE = "version of ", "file "


@dataclass(frozen=True, slots=True)
class PlannedJob:
    """A job, what its key is of, and why it has to be done; without reasons it is done.

    Args:
        combination: What it is for.
        job: The job.
        parts: What the key is of, by names for a reader.
        reasons: Why it has to be done: what changed, or is not there.
        expected: The seconds that it took the last time; 0 where it was never done.
    """

    combination: Combination
    job: Job
    parts: Mapping[str, str]
    reasons: tuple[str, ...] = ()
    expected: float = 0.0

    @property
    def is_current(self) -> bool:
        """Whether nothing has to be done."""
        return not self.reasons

    def record(self, **measured: Any) -> JobRecord:
        """The record of the job when it is done."""
        return JobRecord(self.job.name, self.job.key, dict(self.parts), **measured)


def plan(
    workspace: BuildWorkspace,
    made: Sequence[Combination],
    files: InputFiles,
    records: Mapping[str, JobRecord],
) -> list[PlannedJob]:
    """A job for each combination, in their order.

    Args:
        workspace: The workspace.
        made: The combinations.
        files: Its files.
        records: The last record of each job.
    """
    peaks: dict[str, int] = {}
    for each in made:
        record = records.get(each.name)
        if record is not None:
            peaks[each.spec] = max(peaks.get(each.spec, 0), record.peak)
    return [_planned(workspace, each, files, records.get(each.name), peaks) for each in made]


def _planned(
    workspace: BuildWorkspace,
    one: Combination,
    files: InputFiles,
    record: JobRecord | None,
    peaks: Mapping[str, int],
) -> PlannedJob:
    entry = workspace.file.builds.get(one.build) if one.action == "compile" else None
    entry = entry or WorkspaceBuildEntry()
    sizes = workspace.file.sizes.get(one.sizes or "", SizeSetEntry())
    choice = SpecChoice(
        workspace.specs[one.spec].path, entry.weights, entry.config, tuple(entry.registry)
    )
    read = files.read_by(choice)
    own = {DEFAULT_VARIABLE: one.dtype} if one.dtype is not None else {}
    settings = {**sizes.set, **own}
    versions = toolchain_versions(one.target, one.action)
    before = _model_parts(one, choice, settings, read)
    parts = before | {
        "target": one.target,
        "shapes": _text(sizes.shapes),
        "buckets": _text(sizes.buckets),
        **{f"{VERSION_OF}{name}": each for name, each in versions.items()},
    }
    known = (record.peak if record else 0) or peaks.get(one.spec, 0) or _estimate(read)
    job = Job(
        name=one.name,
        key=str(key({KIND: "job", **parts})),
        model=str(key({KIND: "model", **before})),
        spec=choice.spec,
        files=tuple(read),
        target=one.target,
        output=one.output,
        action=one.action,
        sizes=settings,
        shapes=tuple(dict(each) for each in sizes.shapes),
        buckets=dict(sizes.buckets),
        weights=choice.weights,
        config=choice.config,
        registries=choice.registries,
        timeout=entry.timeout,
        needs=Needs(entry.memory or known, 1, _capabilities(one.target, entry.requires)),
        versions=job_versions(one.target, one.action),
    )
    reasons = tuple(_reasons(job, parts, record, files))
    return PlannedJob(one, job, parts, reasons, record.seconds if record else 0.0)


def _estimate(read: Sequence[JobFile]) -> int:
    """Bytes of memory that a job may need that was never done."""
    return BASE + FACTOR * sum(each.size for each in read if each.path.endswith(".safetensors"))


def _model_parts(
    one: Combination, choice: SpecChoice, settings: Mapping[str, Any], read: Sequence[JobFile]
) -> dict[str, str]:
    """What a model depends on before a target is asked."""
    return {
        "action": one.action,
        "specification": choice.spec,
        "sizes": _text(settings),
        "weights": choice.weights or "",
        "config": choice.config or "",
        "registry": _text(choice.registries),
        OPERATORS: built_in_operators(),
        **{f"{FILE}{each.path}": each.digest for each in read},
    }


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True) if value else ""


@cache
def _base_target(target: str) -> str:
    return parse_target(target).name


def _capabilities(target: str, required: Sequence[str]) -> tuple[str, ...]:
    """What a machine must have: the library of a target, but for that which all have."""
    name = _base_target(target)
    own = [] if name.partition(":")[0] in (DEFAULT, REFERENCE) else [name]
    return tuple(dict.fromkeys([*own, *required]))


def _reasons(
    job: Job, parts: Mapping[str, str], record: JobRecord | None, files: InputFiles
) -> Iterator[str]:
    """Why a job has to be done; none where it is."""
    if record is None:
        yield "it was never done" if job.action == "test" else "it was never built"
        return
    if record.key != job.key:
        changes = list(_changes(record.parts, parts))
        yield from changes[:MOST_REASONS]
        if len(changes) > MOST_REASONS:
            yield f"{len(changes) - MOST_REASONS} more inputs changed"
        return
    if skipped := record.report.get("skipped"):
        yield f"it was left out the last time: {skipped}"
    if job.output:
        there = files.look(job.output)
        if there is None:
            yield f"`{job.output}` is not there"
        elif there.digest != record.digest:
            yield f"`{job.output}` is not what was built"


def _changes(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """The parts that differ, for a reader."""
    for name in sorted(before.keys() | now.keys()):
        old, new = before.get(name, ""), now.get(name, "")
        if old == new:
            continue
        if name.startswith(FILE):
            path = name.removeprefix(FILE)
            if not old or not new:
                yield f"`{path}` {'is read, too' if new else 'is not read any more'}"
            else:
                yield f"`{path}` changed"
        elif name.startswith(VERSION_OF):
            what = name.removeprefix(VERSION_OF)
            yield f"`{what}` was `{old or 'none'}`, and is `{new or 'none'}`"
        elif name == OPERATORS:
            yield "the built-in operators changed"
        else:
            yield f"its {name} was `{old or 'none'}`, and is `{new or 'none'}`"
