"""The cache holds programs: what is made of it is the user's alone, whatever the umask says."""

import os
import stat

import pytest

from tripybuild.artifact.members import measure
from tripybuild.cache.files import PlanCache
from tripybuild.cache.keys import key
from tripybuild.cache.store import Cache
from tripybuild.process.paths import CACHE_VARIABLE
from tripybuild.tensorrt.mlir_tensorrt.compiler import _timing_cache

KEY = key({"name": "a"})


@pytest.fixture(autouse=True)
def open_umask():
    """Whoever made files now would make them for all."""
    before = os.umask(0)
    yield
    os.umask(before)


def written(path, start):
    """Write an engine."""
    path.write_bytes(bytes(start) + b"content")
    return measure(b"content")


@pytest.mark.parametrize(
    "store",
    [
        lambda folder: Cache(folder).put(KEY, b"content"),
        lambda folder: Cache(folder).get_or_make(KEY, lambda: b"content"),
        lambda folder: PlanCache(folder).get_or_write(KEY, written),
        lambda folder: _timing_cache() and Cache(folder).put(KEY, b"content"),
    ],
    ids=["put", "make", "write", "times"],
)
def test_no_folder_of_the_cache_is_for_others(tmp_path, store, monkeypatch):
    """Also where the cache's own folder was not there, whoever is the first to need it."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    store(tmp_path / "cache")
    folders = [tmp_path / "cache", *(p for p in (tmp_path / "cache").rglob("*") if p.is_dir())]
    assert len(folders) > 2
    assert {stat.S_IMODE(each.stat().st_mode) for each in folders} == {0o700}
