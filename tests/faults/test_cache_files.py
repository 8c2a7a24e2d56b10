"""The cache among pipes, devices, killed processes and users without a home: a build succeeds."""

import os
import pwd
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import written

import tripybuild
from tripybuild.artifact.members import measure, read_content
from tripybuild.cache import store as module
from tripybuild.cache.files import PlanCache
from tripybuild.cache.keys import key
from tripybuild.cache.store import Cache, seal_path
from tripybuild.process.atomic_write import STALE_AFTER, temporary_path
from tripybuild.process.paths import CACHE_VARIABLE, NOWHERE, cache_folder
from tripybuild.tensorrt.mlir_tensorrt.compiler import _timing_cache

KEY, OTHER = key({"name": "a"}), key({"name": "b"})
TEXT = """
inputs:
  x: float32[2]
outputs:
  y: x + x
"""


@pytest.fixture(autouse=True)
def limit():
    """Whoever waits is ended: a read without an end would hold up all tests."""

    def end(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def content(path, start):
    """Write an engine, as the compiler's process does."""
    with path.open("r+b") as file:
        file.seek(start)
        file.write(b"content")
    return measure(b"content")


def unexpected(*_):
    """Fail: the content is there."""
    pytest.fail("it is there")


def pipe(place):
    """Put a pipe into a place."""
    os.mkfifo(place)


def endless(place):
    """Put a link to a device into a place, which can be read without an end."""
    place.symlink_to("/dev/zero")


def folder(place):
    """Put a folder into a place."""
    place.mkdir()


SPECIAL = pytest.mark.parametrize("special", [pipe, endless, folder])


@SPECIAL
def test_an_entry_that_is_no_file_is_made_again(tmp_path, special):
    """With a warning, once, and nobody waits for a writer."""
    cache = Cache(tmp_path)
    cache.put(KEY, b"content")
    cache.entry_path(KEY).unlink()
    special(cache.entry_path(KEY))
    made = cache.get_or_make(KEY, lambda: b"content")
    assert [each.code for each in made.warnings] == ["cache-damaged"]
    assert cache.get_or_make(KEY, unexpected).content == b"content"


@SPECIAL
@pytest.mark.parametrize("which", [lambda place: place, seal_path], ids=["content", "seal"])
def test_an_engine_that_is_no_file_is_built_again(tmp_path, special, which):
    """Neither its content nor its seal is waited for."""
    cache = PlanCache(tmp_path)
    cache.get_or_write(KEY, content)
    which(cache.entry_path(KEY)).unlink()
    special(which(cache.entry_path(KEY)))
    made = cache.get_or_write(KEY, content)
    assert [each.code for each in made.warnings] == ["cache-damaged"]
    assert read_content(cache.get_or_write(KEY, unexpected).part) == b"content"


@SPECIAL
def test_a_ledger_that_is_no_file_is_made_anew(tmp_path, special):
    """And what is there is counted again."""
    cache = Cache(tmp_path)
    cache.put(KEY, b"content")
    ledger = cache.folder / module.LEDGER
    ledger.unlink()
    special(ledger)
    assert cache.put(OTHER, b"content") == ()
    assert cache.get(OTHER) == b"content"
    if special is not folder:
        there = sum(each.stat().st_size for each in cache.folder.glob("??/*"))
        assert int.from_bytes(ledger.read_bytes(), "little") == there


KILLED = """
import os, sys
from pathlib import Path
from tripybuild.cache.files import PlanCache

def write(path, start):
    path.write_bytes(bytes(1000))
    os.kill(os.getpid(), int(sys.argv[3]))

PlanCache(Path(sys.argv[1])).get_or_write(sys.argv[2], write)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_partial_engines_of_killed_processes_are_removed(tmp_path, number):
    """After a day, by whoever stores anything, also under another key."""
    command = [sys.executable, "-c", KILLED, tmp_path, KEY, str(int(number))]
    assert subprocess.run(command, check=False).returncode == -number
    cache = PlanCache(tmp_path)
    (partial,) = (cache.folder / module.PARTIAL).iterdir()
    cache.put(OTHER, b"other")
    assert partial.exists(), "its writer may be at work"
    long_ago = time.time() - STALE_AFTER - 1
    os.utime(partial, (long_ago, long_ago))
    cache.put(OTHER, b"other")
    assert not partial.exists()
    cache.get_or_write(KEY, content)
    assert list((cache.folder / module.PARTIAL).iterdir()) == []


def test_what_killed_processes_left_counts(tmp_path):
    """It takes the place of entries, and is no entry that could be swept while it is written."""
    cache = Cache(tmp_path, limit=1000)
    cache.put(KEY, bytes(200))
    os.utime(cache.entry_path(KEY), (1, 1))
    partial = temporary_path(cache.partial_folder(), KEY)
    partial.write_bytes(bytes(700))
    os.utime(partial, (time.time() - 3600,) * 2)
    cache.put(OTHER, bytes(200))
    assert partial.exists()
    assert cache.get(KEY) is None
    ledger = (cache.folder / module.LEDGER).read_bytes()
    there = sum(each.stat().st_size for each in cache.folder.glob("??/*"))
    assert int.from_bytes(ledger, "little") == there


@pytest.fixture(params=[None, ""], ids=["unset", "empty"])
def homeless(monkeypatch, request):
    """A user without a home folder and without an entry, as in many containers."""

    def missing(uid):
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", missing)
    for name in (CACHE_VARIABLE, "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    if request.param is not None:
        monkeypatch.setenv("HOME", request.param)


@pytest.mark.usefixtures("homeless")
def test_a_user_without_a_home_compiles(tmp_path):
    """Nothing is kept, which is said in words; the executable is complete."""
    path = written.write(tmp_path, TEXT)
    made = tripybuild.compile(path, target="cpu:xla", output=tmp_path / "a.tpb")
    (warning,) = made.warnings
    assert warning.code == "cache-unwritable"
    assert "there is no home folder" in warning.message
    assert CACHE_VARIABLE in warning.hint
    found = tripybuild.load(tmp_path / "a.tpb")(x=np.ones(2, np.float32))
    assert found["y"].tolist() == [2, 2]


@pytest.mark.usefixtures("homeless")
def test_nowhere_is_nowhere():
    """No folder can be made there, not even by an administrator."""
    assert cache_folder() == NOWHERE
    with pytest.raises(OSError, match="Not a directory"):
        NOWHERE.mkdir(parents=True)
    made = PlanCache().get_or_write(KEY, content)
    assert read_content(made.part) == b"content"
    assert [each.code for each in made.warnings] == ["cache-unwritable"]
    assert Cache().get(KEY) is None
    assert _timing_cache() == []
