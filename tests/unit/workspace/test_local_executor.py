"""Jobs by processes of this machine: results, limits, and processes that are killed."""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from workspaces import VOLUMES

import tripybuild
from tripybuild.tensorrt.runtime import gpu
from tripybuild.workspace.jobs import Job, JobFile, JobResult, Needs
from tripybuild.workspace.local_executor import LocalExecutor


@pytest.fixture
def root(tmp_path, shared_cache):
    """A folder with a spec, and one that is wrong."""
    (tmp_path / "volumes.yaml").write_text(VOLUMES, encoding="utf-8")
    (tmp_path / "wrong.yaml").write_text(VOLUMES.replace("edges *", "edge *"), encoding="utf-8")
    return tmp_path


def job(name, **own):
    """A job of the spec."""
    own = {"spec": "volumes.yaml", "model": "m", "target": "reference", **own}
    return Job(name=name, key=f"key {name}", files=(), output=f"out/{name}.tpb", **own)


def results(executor, count):
    """The results of so many jobs."""
    found = []
    while len(found) < count:
        found += executor.completed(30.0)
    return {each.job: each for each in found}


def test_jobs_and_results_are_plain_data():
    """Both ways, by way of JSON's text."""
    needs = Needs(1 << 30, 2, ("tensorrt-rtx", "gpu:sm89"))
    files = (JobFile("volumes.yaml", "ab", 3),)
    own = {"sizes": {"F": "float16"}, "shapes": ({"B": 2},), "needs": needs}
    whole = Job("a", "k", "m", "volumes.yaml", files, "cpu", "a.tpb", registries=("ops",), **own)
    assert Job.from_json(json.loads(json.dumps(whole.to_json()))) == whole
    found = tripybuild.errors.diagnostics.Diagnostic("internal", "it")
    result = JobResult("a", "k", "failed", diagnostics=(found,), phases={"read": 0.5})
    assert JobResult.from_json(json.loads(json.dumps(result.to_json()))) == result


def test_a_job_is_done_or_says_why_not(root):
    """The output is an executable; what is wrong with a spec is said with its place."""
    with LocalExecutor(root, most=1) as executor:
        executor.submit(job("fine"))
        executor.submit(job("wrong", spec="wrong.yaml", model="n"))
        found = results(executor, 2)
    fine, wrong = found["fine"], found["wrong"]
    assert (fine.outcome, fine.size) == ("done", (root / "out/fine.tpb").stat().st_size)
    assert fine.peak > 1 << 24
    assert "write the executable" in fine.phases
    assert tripybuild.load(root / "out/fine.tpb").manifest["model"] == "volumes"
    assert (wrong.outcome, wrong.is_retryable) == ("failed", False)
    (diagnostic,) = wrong.diagnostics
    assert diagnostic.code == "unbound-name"
    assert (diagnostic.span.path, diagnostic.span.line) == ("wrong.yaml", 5)


def kill(executor, name):
    """Kill the process of a job, as soon as it does that."""
    while name not in {each.job for each in executor.running()}:
        executor.completed(0.01)
    (slot,) = (each for each in executor._slots if each.job and each.job.name == name)
    while (child := slot.process._process._child) is None:
        time.sleep(0.001)
    os.kill(child.pid, signal.SIGKILL)
    return child


def test_a_job_whose_process_is_killed_is_tried_again_alone(root):
    """By SIGKILL amid its work; the others go before, and the result says that there were two."""
    with LocalExecutor(root, most=2) as executor:
        for name in ("killed", "next", "last"):
            executor.submit(job(name))
        kill(executor, "killed")
        found, seen = [], []
        while len(found) < 3:
            found += executor.completed(0.01)
            seen.append([each.job for each in executor.running()])
    assert [each.outcome for each in found] == ["done"] * 3
    assert found[-1].job == "killed"
    assert ["killed"] in seen
    (warning,) = found[-1].warnings
    assert warning.code == "job-crashed"
    assert "by a second try" in warning.message
    assert (root / "out/killed.tpb").exists()


def test_a_process_that_is_killed_twice_costs_its_job_alone(root):
    """There is no third try; the next job has another process."""
    with LocalExecutor(root, most=1) as executor:
        executor.submit(job("killed"))
        first = kill(executor, "killed")
        while (slot := executor._slots[0]).job is not None and first.poll() is None:
            time.sleep(0.001)
        executor.completed(5.0)  # which begins it again
        assert slot.job is not None
        kill(executor, "killed")
        executor.submit(job("next"))
        found = results(executor, 2)
    assert (found["killed"].outcome, found["killed"].is_retryable) == ("crashed", True)
    (diagnostic,) = found["killed"].diagnostics
    assert diagnostic.code == "job-crashed"
    assert "tried twice" in diagnostic.notes[-1]
    assert not Path(root, "out/killed.tpb").exists()
    assert found["next"].outcome == "done"


def test_memory_and_cores_bound_what_runs(root):
    """What would not fit waits, and what fits nowhere runs alone."""
    with LocalExecutor(root, most=4, cores=3, size=1 << 30) as executor:
        for name, size, cores in (("a", 1 << 29, 1), ("b", 1 << 29, 1), ("c", 1, 1), ("d", 1, 1)):
            executor.submit(job(name, needs=Needs(size, cores)))
        executor.submit(job("large", needs=Needs(1 << 40, 9)))
        assert [each.job for each in executor.running()] == ["a", "b"]
        seen = set()
        found = []
        while len(found) < 5:
            found += executor.completed(0.01)
            seen.add(frozenset(each.job for each in executor.running()))
    assert {each.outcome for each in found} == {"done"}
    assert frozenset({"large"}) in seen
    assert not any("large" in each and len(each) > 1 for each in seen)


def test_canceled_jobs_have_results_too(root):
    """Those that run, and those that wait."""
    with LocalExecutor(root, most=1) as executor:
        for name in ("a", "b"):
            executor.submit(job(name))
        executor.cancel()
        found = results(executor, 2)
    assert {each.outcome for each in found.values()} == {"canceled"}
    said = [each.diagnostics[0] for _, each in sorted(found.items())]
    assert [each.code for each in said] == ["job-canceled"] * 2
    assert said[0].message.startswith("`a` was not done")


def test_what_this_machine_lacks_fails_its_job_alone(root, monkeypatch):
    """A GPU that is not here, or is another one, and what only a cluster has."""
    with LocalExecutor(root, most=1) as executor:
        for name in ("gpu", "gpu:sm89", "lab"):
            executor.submit(job(name, needs=Needs(0, 1, ("tensorrt-rtx", name))))
        monkeypatch.setattr(gpu, "find_gpu", lambda: gpu.Gpu("it", "sm89"))
        executor.submit(job("other", needs=Needs(0, 1, ("gpu:sm75",))))
        executor.submit(job("fine", needs=Needs(0, 1, ("gpu", "gpu:sm89"))))
        found = results(executor, 5)
    assert found.pop("fine").outcome == "done"
    said = {name: each.diagnostics[0].message for name, each in found.items()}
    assert {each.diagnostics[0].code for each in found.values()} == {"capability-missing"}
    assert said["other"] == "`other` requires `gpu:sm75`: this machine has `sm89`"
    assert "only workers of a cluster" in said["lab"]
