"""Doing a job, in a process of its own: the service `job` of the compiler's process.

The process stands in the workspace's folder, so that places and digests are the same wherever the
folder is.
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tripybuild.artifact.draft import Draft
from tripybuild.compiler import session
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.model.model_graph import ModelGraph
from tripybuild.packages.libraries import model_libraries
from tripybuild.process import phases
from tripybuild.process.hashing import file_digest
from tripybuild.process.memory import peak_bytes, reset_peak
from tripybuild.weights.source import WeightSource
from tripybuild.workspace.jobs import Job, JobResult
from tripybuild.workspace.shared_outputs import SharedOutputs, output_place

ReadModel = tuple[ModelGraph, WeightSource]
_last_model: dict[tuple[Path, str], ReadModel] = {}  # of a folder and a job's model


def run_job(module: bytes, options: Mapping[str, Any]) -> bytes:
    """What `JobProcess.run` asks for, in this process; the module is empty."""
    del module
    os.chdir(options["root"])
    return json.dumps(do_job(Job.from_json(options["job"])).to_json()).encode()


def do_job(job: Job) -> JobResult:
    """Do a job in the current folder; what is wrong with it is its result."""
    began = time.perf_counter()
    before = reset_peak()
    with _phase_seconds() as taken:
        try:
            found = _test(job) if job.action == "test" else compile_job(job)
        except DiagnosticError as error:
            found = JobResult(job.name, job.key, "failed", diagnostics=error.diagnostics)
    seconds = round(time.perf_counter() - began, 3)
    return replace(found, seconds=seconds, peak=peak_bytes(before) or 0, phases=taken)


def _test(job: Job) -> JobResult:
    from tripybuild.workspace.spec_test import run_test  # noqa: PLC0415 - most jobs compile

    phases.begin_phase("run the test")
    return run_test(job)


def compile_job(job: Job) -> JobResult:
    """Compile a spec into the job's output.

    Raises:
        DiagnosticError: With all that is wrong with it.
    """
    spec, path = Path(job.spec), output_place(Path(), job)
    shared, began = SharedOutputs(), time.perf_counter()
    phases.begin_phase("look for the executable")
    if shared.restore(job):
        return _result(job, shared.warnings)
    known: dict[str, Any] = {
        "sizes": job.sizes,
        "homes": model_libraries([Path(each) for each in job.registries], spec),
        "weights": None if job.weights is None else Path(job.weights),
        "config": None if job.config is None else Path(job.config),
    }
    model = _model(job, lambda: session.read_spec(spec, **known))
    with Draft(path) as draft:
        made = session.compile_spec(
            spec,
            target=job.target,
            shapes=job.shapes,
            timeout=job.timeout,
            buckets=job.buckets or None,
            draft=draft,
            known=model,
            **known,
        )
        phases.begin_phase("write the executable")
        made.save(path, draft)
    shared.keep(job, time.perf_counter() - began)
    return _result(job, [*made.warnings, *shared.warnings])


def _result(job: Job, warnings: Sequence[Diagnostic]) -> JobResult:
    """The result of a job whose output is there."""
    phases.begin_phase("digest the executable")
    measured = file_digest(Path(job.output))
    phases.end_phase()
    digest, size = measured.digest, measured.size
    return JobResult(job.name, job.key, "done", digest, size, warnings=tuple(warnings))


def _model(job: Job, read: Callable[[], ReadModel]) -> ReadModel:
    """The model that was read last, if it is that of the job; else it is read now."""
    place = Path.cwd(), job.model
    if place not in _last_model:
        _last_model.clear()  # before another one takes its memory
        _last_model[place] = read()
    return _last_model[place]


@contextmanager
def _phase_seconds() -> Iterator[dict[str, float]]:
    """Measure the phases that begin in a `with` block, beside what listens to them already."""
    taken: dict[str, float] = {}
    current, since = "", time.perf_counter()

    def listen(phase: str) -> None:
        nonlocal current, since
        now = time.perf_counter()
        if current:
            taken[current] = round(taken.get(current, 0.0) + now - since, 3)
        current, since = phase, now

    with phases.listening(listen):
        yield taken
        listen(phases.END)
