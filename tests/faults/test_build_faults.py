"""Builds of a workspace that are killed, run at once, or may not write."""

import os
import signal
import time
from pathlib import Path

import pytest
import workspaces

import tripybuild

NAMES = [f"s{number}" for number in range(6)]
ALL = {f"plain/{name}-reference" for name in NAMES}


@pytest.fixture
def root(tmp_path, shared_cache):
    """A workspace of six specs."""
    return workspaces.write(tmp_path, names=NAMES)


def finish(process):
    """The code of a process, and what it said."""
    out, errors = process.communicate(timeout=60)
    return process.returncode, out, errors


def children(process):
    """The processes that one has started."""
    found = Path(f"/proc/{process.pid}/task").glob("*/children")
    return [int(each) for path in found for each in path.read_text().split()]


def outputs(root):
    """The executables that are there, all of which are whole."""
    found = sorted((root / "build").rglob("*.tpb"))
    for each in found:
        assert tripybuild.load(each).manifest["model"] in NAMES
    return found


def test_a_killed_build_goes_on_where_it_was(root):
    """By SIGKILL after the first output: nothing is torn, and what was done is kept."""
    process = workspaces.start(root, "build", "-j", "1")
    log = root / "build/.tripybuild/log.jsonl"
    while not log.exists():
        time.sleep(0.005)
    started = children(process)
    process.kill()
    process.communicate()
    assert started
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{each}").exists() for each in started):  # they end with their parent
        assert time.monotonic() < deadline
        time.sleep(0.01)
    outputs(root)
    code, said, _ = finish(workspaces.start(root, "build", "--json"))
    found = workspaces.outcomes(said)
    assert (code, set(found)) == (0, ALL)
    assert set(found.values()) == {"current", "done"}
    assert len(outputs(root)) == len(NAMES)
    assert not workspaces.temporaries(root)


def test_a_killed_job_is_done_again_and_said(root):
    """Its process ends amid; the others are done first, and it is alone after them."""
    process = workspaces.start(root, "build", "-j", "1", "-k", "--json")
    while not (started := children(process)):
        time.sleep(0.002)
    os.kill(started[0], signal.SIGKILL)
    code, said, shown = finish(process)
    assert (code, workspaces.codes(said)) == (0, [])
    assert [*workspaces.outcomes(said).values()] == ["done"] * 6
    assert "warning[job-crashed]" in shown


def test_a_failure_ends_what_waits(root):
    """Without `--keep-going`; what was done stays so."""
    path = root / "specs/s1.yaml"
    path.write_text(path.read_text().replace("edges *", "edge *"))
    code, said, _ = finish(workspaces.start(root, "build", "-j", "1", "--json"))
    found = list(workspaces.outcomes(said).values())
    assert (code, found) == (1, ["done", "failed", *["canceled"] * 4])
    assert workspaces.codes(said)[0] == "unbound-name"


def test_two_builds_at_once_do_nothing_twice(root):
    """One waits for the other, and finds all of it done."""
    both = [workspaces.start(root, "build", "--json") for _ in range(2)]
    found = []
    for process in both:
        code, said, _ = finish(process)
        assert code == 0
        found.append(set(workspaces.outcomes(said).values()))
    assert sorted(found, key=str) == [{"current"}, {"done"}]


def test_outputs_that_cannot_be_written_are_said(root):
    """Before anything is compiled."""
    (root / "build").mkdir(mode=0o500)
    drops = "-dac_override" if os.geteuid() == 0 else ""
    code, said, _ = finish(workspaces.start(root, "build", "--json", drops=drops))
    assert (code, workspaces.codes(said)) == (1, ["output-unwritable"])


def test_outputs_below_a_file_are_said(root):
    """A file has the name of their folder, or of a folder in it."""
    (root / "build").write_text("mine")
    code, said, _ = finish(workspaces.start(root, "build", "--json"))
    assert (code, workspaces.codes(said)) == (1, ["output-unwritable"])
    (root / "build").unlink()
    (root / "build").mkdir()
    (root / "build/plain").write_text("mine")
    code, said, _ = finish(workspaces.start(root, "build", "s1", "--json"))
    assert (code, workspaces.codes(said)) == (1, ["output-unwritable"])
    assert (root / "build/plain").read_text() == "mine"
