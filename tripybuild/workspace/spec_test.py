"""The test of a spec on a target: the small model of its `test:` section beside its references.

The weights are drawn, the inputs are those that the section describes, and the oracle is the target
`reference`: what each operator declares, in NumPy. The peer that `against:` names is code of
another library, which data must not run: `tests/test_specs.py` compares with that.
"""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tripybuild.documents.document import Document, read
from tripybuild.documents.plain_json import read_object
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.model.config import merge_values
from tripybuild.model.model_graph import EntryGraph
from tripybuild.packages.libraries import model_libraries
from tripybuild.schema.comparison_files import TestEntry
from tripybuild.schema.files import ModelFile
from tripybuild.schema.model.model import DEFAULT_VARIABLE
from tripybuild.schema.validate import validate
from tripybuild.workbench.comparison import CallDifference, CallInputs, compare_call, pair_tolerance
from tripybuild.workbench.programs import Program, open_spec
from tripybuild.workspace.jobs import Job, JobResult, Outcome
from tripybuild.workspace.spec_inputs import draw_entry, entry_section, named_bound, shape_of

REFERENCE, EXACT = "reference", {DEFAULT_VARIABLE: "float32"}  # whatever the target computes in
# What a machine lacks, and no model can mend.
ABSENT = frozenset({"no-gpu", "target-unavailable"})


def run_test(job: Job) -> JobResult:
    """Test a spec in the current folder.

    Raises:
        DiagnosticError: With what is wrong with the spec, or what the target refuses.
    """
    path = Path(job.spec)
    document, file = _read(path)
    assert file.test is not None  # else there is no such job
    cases: list[dict[str, Any]] = []
    found: list[Diagnostic] = []
    try:
        for name, one, other in _programs(job, path, file):
            for call in _calls(name, one, file, document):
                cases.append(_case(name, one, other, call))
                found += _problems(job, document, cases[-1])
    except DiagnosticError as error:
        if cases or not all(each.code in ABSENT for each in error.diagnostics):
            raise
        report = {"skipped": error.diagnostics[0].message, "cases": []}
        return JobResult(job.name, job.key, "done", report=report)
    outcome: Outcome = "failed" if found else "done"
    measured = {"cases": cases}
    return JobResult(job.name, job.key, outcome, diagnostics=tuple(found), report=measured)


def _read(path: Path) -> tuple[Document, ModelFile]:
    document, found = read(path)
    file = None
    if document is not None and not found:
        file, found = validate(document, ModelFile)
    if document is None or file is None:
        raise DiagnosticError(*found)
    return document, file


def _programs(job: Job, path: Path, file: ModelFile) -> Iterator[tuple[str, Program, Program]]:
    """Each entry that is tested, by the target and by the references, with the same weights."""
    section = file.test or TestEntry(against="torch.nn")
    names = list(section.entries or file.entries) or [""]
    for name in names:
        one, other = (
            open_spec(
                path,
                target,
                entry=name or None,
                sizes={**section.sizes, **job.sizes, **exact},
                homes=model_libraries([Path(each) for each in job.registries], path),
                config=_config(path, file, section),
                seed=section.seed,
                draws=True,
            )
            for target, exact in ((job.target, {}), (REFERENCE, EXACT))
        )
        yield name, one, other


def _config(path: Path, file: ModelFile, section: TestEntry) -> Mapping[str, Any] | None:
    """The configuration of the small model; what the section does not say is the spec's own."""
    if file.config is None:
        return None
    if isinstance(file.config, str):
        return merge_values(read_object(path.parent / file.config)[0], section.config)
    return merge_values(file.config, section.config)


def _calls(
    name: str, program: Program, file: ModelFile, document: Document
) -> Iterator[CallInputs]:
    """The inputs of each call: states are zeros, all else is as the section says."""
    assert file.test is not None
    assert program.source is not None
    section, entry = entry_section(file.test, name), program.source.entry
    config = _config(Path(document.path), file, file.test) or {}
    known = program.source.built.sizes
    inputs = {n: each for n, each in entry.graph.inputs.items() if n not in entry.states}
    usual = {n: each.opt for n, each in entry.ranges.items()}
    for number, asked in enumerate(section.shapes or [{}]):
        sizes = usual | {n: each for n, each in asked.items() if n in usual}
        try:
            arrays = draw_entry(
                section,
                inputs,
                sizes,
                [file.test.seed, number],
                lambda below: named_bound(below, known, config),
            )
            arrays |= _zeros(entry, sizes)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            message = f"the test does not say all that a call needs: {error}"
            span = document.span(("test",), key=True)
            raise DiagnosticError(Diagnostic("wrong-value", message, span)) from error
        ordered = {each: arrays[each] for each in entry.graph.inputs}
        yield CallInputs(sizes, number, ordered)


def _zeros(entry: EntryGraph, sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    states = {name: entry.graph.inputs[name] for name in entry.states if name in entry.graph.inputs}
    return {n: np.zeros(shape_of(each, sizes), each.dtype.numpy) for n, each in states.items()}


def _case(name: str, one: Program, other: Program, call: CallInputs) -> dict[str, Any]:
    """Compare one call, as data."""
    began = time.perf_counter()
    within = pair_tolerance(one, other)
    found: CallDifference = compare_call(one, other, call, within)
    worst = max((each.scaled for each in found.outputs), default=0.0)
    return {
        "entry": name,
        "sizes": dict(call.sizes),
        "agrees": found.agrees,
        "difference": worst if np.isfinite(worst) else None,
        "tolerance": within.relative,
        "outputs": [each.name for each in found.outputs if not each.agrees],
        "seconds": round(time.perf_counter() - began, 3),
    }


def _problems(job: Job, document: Document, case: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """That a call differs."""
    if case["agrees"]:
        return
    sizes = ", ".join(f"{name}={size}" for name, size in case["sizes"].items())
    at = f" at {sizes}" if sizes else ""
    entry = f" of `{case['entry']}`" if case["entry"] else ""
    outputs = ", ".join(f"`{each}`" for each in case["outputs"])
    far = "infinitely" if case["difference"] is None else f"by {case['difference']:.1e}"
    message = f"{outputs}{entry} differs {far} from the references{at}"
    limit = f"the tolerance is {case['tolerance']:g}, as a part of the root mean square"
    hint = f"`tripybuild bisect {job.spec}@{job.target} @{REFERENCE}` finds the step"
    span = document.span(("test",), key=True)
    yield Diagnostic("test-differs", message, span, notes=(limit,), hint=hint)
