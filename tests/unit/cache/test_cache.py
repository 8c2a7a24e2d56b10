"""Tests of the cache: it may forget, but it never lies and never fails a build."""

import errno
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import given, settings, strategies as st

from tripybuild.cache import store as module
from tripybuild.cache.keys import key
from tripybuild.cache.store import Cache
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process.paths import CACHE_VARIABLE, cache_folder

KEY = key({"name": "a"})
OTHER = key({"name": "b"})


@pytest.fixture
def cache(tmp_path):
    """Return an empty cache."""
    return Cache(tmp_path)


def entry(cache, name=KEY):
    """Return the file of a key's content."""
    return cache.entry_path(name)


def test_a_content_is_made_once(cache):
    """The second time, the content is there and nobody makes it."""
    made = []
    assert cache.get(KEY) is None
    for hit in (False, True):
        outcome = cache.get_or_make(KEY, lambda: made.append(1) or b"content")
        assert (outcome.content, outcome.hit, outcome.warnings) == (b"content", hit, ())
    assert made == [1]
    assert cache.get(KEY) == b"content"
    assert cache.get(OTHER) is None


@settings(deadline=None)
@given(st.dictionaries(st.text(), st.text() | st.binary(), max_size=4), st.data())
def test_different_parts_have_different_keys(parts, data):
    """A key tells apart every name, value, kind and border."""
    other = data.draw(st.dictionaries(st.text(), st.text() | st.binary(), max_size=4))
    assert (key(parts) == key(other)) == (parts == other)
    assert key(parts) == key(dict(reversed(parts.items())))


def test_borders_and_kinds_are_part_of_the_key():
    """Neighbouring parts cannot trade bytes, and text is not bytes."""
    digests = {
        key({"a": "bc"}),
        key({"ab": "c"}),
        key({"a": b"bc"}),
        key({"a": "b", "c": ""}),
        key({}),
    }
    assert len(digests) == 5


@pytest.mark.parametrize("damage", ["flip", "truncate", "empty", "longer", "renamed"])
def test_a_damaged_entry_is_put_aside_and_made_again(cache, damage):
    """Damage is one warning, and the next reader finds a whole entry."""
    cache.put(KEY, b"content")
    place = entry(cache)
    good = place.read_bytes()
    if damage == "renamed":
        cache.put(OTHER, b"another")
        entry(cache, OTHER).replace(place)
    else:
        flipped = good[:-1] + bytes([good[-1] ^ 1])
        bad = {"flip": flipped, "truncate": good[:-1], "empty": b"", "longer": good + b"x"}[damage]
        place.write_bytes(bad)
    assert cache.get_or_make(OTHER, lambda: b"other").warnings == ()
    outcome = cache.get_or_make(KEY, lambda: b"content")
    assert (outcome.content, outcome.hit) == (b"content", False)
    assert [warning.code for warning in outcome.warnings] == ["cache-damaged"]
    assert len(list((cache.folder / "damaged").iterdir())) == 1
    assert cache.get_or_make(KEY, lambda: b"never").hit


def test_every_flipped_bit_of_an_entry_is_noticed(cache):
    """No bit of an entry is without meaning."""
    cache.put(KEY, b"content")
    place = entry(cache)
    good = place.read_bytes()
    for position in range(len(good) * 8):
        bad = bytearray(good)
        bad[position // 8] ^= 1 << position % 8
        place.write_bytes(bad)
        assert cache.get(KEY) is None


def test_a_full_disk_costs_the_entry_only(cache, monkeypatch):
    """The content is returned, with a warning that says why it was not stored."""

    def fail(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(module, "atomic_write", fail)
    outcome = cache.get_or_make(KEY, lambda: b"content")
    assert (outcome.content, outcome.hit) == (b"content", False)
    (warning,) = outcome.warnings
    assert warning.code == "cache-unwritable"
    assert "space" in warning.message


def test_a_folder_that_cannot_be_made_costs_the_entry_only(tmp_path):
    """Where nothing can be stored or locked, things are still made."""
    (tmp_path / "file").write_bytes(b"")
    outcome = Cache(tmp_path / "file").get_or_make(KEY, lambda: b"content")
    assert outcome.content == b"content"
    assert [warning.code for warning in outcome.warnings] == ["cache-unwritable"]


def test_what_fails_to_be_made_is_not_stored(cache):
    """An error passes through, and the lock is free again."""

    def fail():
        raise DiagnosticError

    with pytest.raises(DiagnosticError):
        cache.get_or_make(KEY, fail)
    assert cache.get_or_make(KEY, lambda: b"content").content == b"content"


def test_one_of_many_makes_the_content(tmp_path):
    """Those who come at the same time wait for the first one and take what it made."""
    made = []
    barrier = threading.Barrier(4)

    def work(_):
        barrier.wait()
        return Cache(tmp_path).get_or_make(KEY, lambda: made.append(1) or b"content").content

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(work, range(4))) == {b"content"}
    assert made == [1]


def test_waiting_for_another_has_an_end(tmp_path):
    """A lock that is never released delays the work but does not stop it."""
    cache = Cache(tmp_path, patience=0.1)
    cache.put(OTHER, b"")
    place = entry(cache)
    place.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(place.with_name(place.name + ".lock")):
        assert cache.get_or_make(KEY, lambda: b"content").content == b"content"


def test_a_killed_holder_of_the_lock_does_not_block(tmp_path):
    """The operating system releases the lock of a process that was killed."""
    code = (
        "import os, pathlib, sys; from tripybuild.cache.store import Cache\n"
        "die = lambda: os.kill(os.getpid(), 9)\n"
        "Cache(pathlib.Path(sys.argv[1])).get_or_make(sys.argv[2], die)"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path, KEY], check=False)
    assert done.returncode == -9
    assert Cache(tmp_path).get_or_make(KEY, lambda: b"content").content == b"content"


def test_the_least_recently_used_entries_go_first(tmp_path):
    """Over the limit, what nobody has read for longest is removed."""
    cache = Cache(tmp_path, limit=1000)
    keys = [key({"n": str(number)}) for number in range(5)]
    for age, each in enumerate(keys[:4]):
        cache.put(each, bytes(200))
        os.utime(entry(cache, each), (1000 + age, 1000 + age))
    assert cache.get(keys[0]) is not None  # used now
    cache.put(keys[4], bytes(200))
    assert [cache.get(each) is not None for each in keys] == [True, False, False, True, True]


def test_entries_are_looked_at_only_when_there_may_be_too_many(tmp_path, monkeypatch):
    """What other processes store counts, and a ledger that is lost or damaged is made anew."""
    looked = []
    monkeypatch.setattr(Cache, "entries", lambda self, f=Cache.entries: looked.append(1) or f(self))
    keys = [key({"n": str(number)}) for number in range(9)]
    for each in keys[:4]:
        Cache(tmp_path, limit=1000).put(each, bytes(200))
    assert len(looked) == 1, "the first entry of a folder"
    Cache(tmp_path, limit=1000).put(keys[4], bytes(200))
    assert len(looked) == 2
    held = [each for each in keys if Cache(tmp_path).get(each) is not None]
    assert len(held) in (3, 4)
    ledger = Cache(tmp_path).folder / module.LEDGER
    for lost in (b"", b"\xff" * 11, None):
        ledger.unlink() if lost is None else ledger.write_bytes(lost)
        Cache(tmp_path, limit=1000).put(keys[5], bytes(20))
        there = sum(each.stat().st_size for each in Cache(tmp_path).folder.glob("??/*"))
        assert int.from_bytes(ledger.read_bytes(), "little") == there
    assert len(looked) == 5


def test_what_is_larger_than_the_cache_is_not_stored(tmp_path):
    """A huge content does not sweep everything else away."""
    cache = Cache(tmp_path, limit=100)
    cache.put(KEY, b"small")
    outcome = cache.get_or_make(OTHER, lambda: bytes(101))
    assert (len(outcome.content), outcome.warnings) == (101, ())
    assert cache.get(KEY) == b"small"
    assert cache.get(OTHER) is None


def test_the_environment_names_the_folder(monkeypatch, tmp_path):
    """A variable moves the cache; empty, it means the user's own."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "here"))
    assert Cache().folder == tmp_path / "here" / "v2"
    monkeypatch.setenv(CACHE_VARIABLE, "")
    assert isinstance(cache_folder(), Path)
    assert "tripybuild" in str(cache_folder())
