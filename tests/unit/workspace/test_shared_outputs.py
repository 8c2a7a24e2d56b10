"""Outputs that machines share: built once, right wherever they are taken, never of other files."""

from pathlib import Path

import pytest
from workspaces import VOLUMES

import tripybuild
from tripybuild.cache.remote_settings import MODE, URL
from tripybuild.process.hashing import file_digest
from tripybuild.process.paths import CACHE_VARIABLE
from tripybuild.workspace.execution import do_job
from tripybuild.workspace.jobs import Job, JobFile


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Go to a machine: a workspace's folder and a cache of its own, and the remote of all."""

    def go(name, mode="read-write"):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        Path("volumes.yaml").write_text(VOLUMES, encoding="utf-8")
        places = {URL: tmp_path / "store", CACHE_VARIABLE: folder / "cache"}
        for variable, value in {**places, MODE: mode}.items():
            monkeypatch.setenv(variable, str(value))
        measured = file_digest(Path("volumes.yaml"))
        file = JobFile("volumes.yaml", measured.digest, measured.size)
        return Job("volumes", "k", "m", "volumes.yaml", (file,), "reference", "out/volumes.tpb")

    return go


def test_a_second_machine_builds_nothing(machine):
    """It has the same bytes, and they are an executable."""
    first = do_job(machine("one"))
    second = do_job(machine("two", "read"))
    assert (first.outcome, second.outcome) == ("done", "done")
    assert (first.digest, first.size) == (second.digest, second.size)
    assert "write the executable" in first.phases
    assert set(second.phases) == {"look for the executable", "digest the executable"}
    assert tripybuild.load("out/volumes.tpb").manifest["model"] == "volumes"


def test_a_file_that_changed_since_the_plan_misleads_no_other_machine(machine):
    """Its output is built, and kept from the others."""
    job = machine("one")
    Path("volumes.yaml").write_text(VOLUMES.replace("2.0", "3.0"), encoding="utf-8")
    assert do_job(job).outcome == "done"
    assert not [each for each in Path("../store").rglob("*") if each.is_file()]
    second = do_job(machine("two"))
    assert "write the executable" in second.phases


def test_without_a_remote_nothing_is_kept_twice(machine, monkeypatch):
    job = machine("one")
    monkeypatch.delenv(URL)
    assert do_job(job).outcome == "done"
    assert not Path("cache").exists() or not list(Path("cache").rglob("*.seal"))
