"""Tests of large contents in the cache: written once, shared with executables, never believed."""

import os

import pytest

from tripybuild.artifact import container
from tripybuild.artifact.members import measure, read_content
from tripybuild.artifact.zip_layout import ALIGNMENT as START
from tripybuild.cache.files import PlanCache
from tripybuild.cache.keys import key
from tripybuild.cache.store import seal_path
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process.hashing import LARGE

KEY = key({"name": "a"})


@pytest.fixture
def cache(tmp_path):
    """Return an empty cache."""
    return PlanCache(tmp_path / "cache")


def entry(cache):
    """Return the file of the content."""
    return cache.entry_path(KEY)


def saved(found, path):
    """Put a content into an executable, and return what it holds then."""
    members = {"plan": found.part, "after": b"after", "zero": b"", "before": b"b"}
    container.write(path, {"model": "x"}, members, {"plan": found.member})
    with container.open(path) as opened:
        opened.verify()
        assert [bytes(opened.read(name)) for name in ("after", "before")] == [b"after", b"b"]
        return bytes(opened.read("plan"))


def unexpected(*_):
    """Fail: the content is there."""
    pytest.fail("it is there")


def written(content):
    """A writer of a content behind the bytes that are left free."""

    def write(path, start):
        with path.open("r+b") as file:
            file.seek(start)
            file.write(content)
        return measure(content)

    return write


@pytest.mark.parametrize("size", [0, 5, LARGE])
def test_large_contents_are_written_once_and_copied(cache, tmp_path, size):
    """What is made as a file is found as one, goes into a container, and is read back."""
    content = os.urandom(size)
    first = cache.get_or_write(KEY, written(content))
    again = cache.get_or_write(KEY, lambda *_: pytest.fail("it is there"))
    for found in (first, again):
        assert found.member == measure(content)
        assert read_content(found.part) == content
        path = tmp_path / "x.tpb"
        container.write(path, {}, {"a": found.part, "b": b"after"}, {"a": found.member})
        with container.open(path) as opened:
            assert opened.read("a") == content
            assert opened.read("b") == b"after"


def test_an_entry_that_is_removed_stays_readable(cache):
    """The sweep of another process may take the name, not the content."""
    found = cache.get_or_write(KEY, written(b"content"))
    next(cache.folder.glob("*/" + KEY[2:])).unlink()
    assert read_content(found.part) == b"content"


def test_a_damaged_large_entry_is_made_again(cache):
    """With a warning, and the new one is right."""
    cache.get_or_write(KEY, written(b"content"))
    place = next(cache.folder.glob("*/" + KEY[2:]))
    place.write_bytes(place.read_bytes()[:-1] + b"x")
    found = cache.get_or_write(KEY, written(b"content"))
    assert [each.code for each in found.warnings] == ["cache-damaged"]
    assert read_content(found.part) == b"content"
    assert not cache.get_or_write(KEY, lambda *_: pytest.fail("it is there")).warnings


def test_a_large_content_is_had_without_a_folder_to_keep_it(tmp_path):
    """The cache never decides whether a build succeeds."""
    (tmp_path / "file").write_text("")
    found = PlanCache(tmp_path / "file").get_or_write(KEY, written(b"content"))
    assert read_content(found.part) == b"content"
    assert [each.code for each in found.warnings] == ["cache-unwritable"]


def test_a_failure_leaves_no_part_of_a_file(cache):
    """What the writer raises goes on, and nothing stays."""

    def fail(path, start):
        path.write_bytes(b"half")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        cache.get_or_write(KEY, fail)
    assert [p for p in cache.folder.rglob("*") if p.is_file() and p.suffix != ".lock"] == []


def test_an_executable_is_the_file_that_was_written(cache, tmp_path):
    """A large content is on the disk once; the user's file has the mode of the user's files."""
    content = os.urandom(LARGE + 12345)
    found = cache.get_or_write(KEY, written(content))
    path = tmp_path / "one.tpb"
    assert saved(found, path) == content
    assert path.samefile(entry(cache))
    (tmp_path / "plain").touch()
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert read_content(found.part) == content
    again = cache.get_or_write(KEY, unexpected)
    assert read_content(again.part) == content
    for made in (found, again):  # nobody else may write into it
        assert saved(made, tmp_path / "two.tpb") == content
        assert not (tmp_path / "two.tpb").samefile(entry(cache))
        assert (tmp_path / "two.tpb").read_bytes() == path.read_bytes()


def test_small_contents_are_copied(cache, tmp_path):
    """They stand in the order of names, without a gap."""
    found = cache.get_or_write(KEY, written(b"content"))
    assert saved(found, tmp_path / "x.tpb") == b"content"
    assert not (tmp_path / "x.tpb").samefile(entry(cache))
    assert (tmp_path / "x.tpb").stat().st_size < START


def test_what_the_user_does_to_the_file_is_noticed(cache, tmp_path):
    """It shares its bytes with the entry, which is made again then."""
    content = bytes(LARGE)
    saved(cache.get_or_write(KEY, written(content)), tmp_path / "x.tpb")
    with (tmp_path / "x.tpb").open("r+b") as file:
        file.seek(START + 5)
        file.write(b"x")
    found = cache.get_or_write(KEY, written(content))
    assert [each.code for each in found.warnings] == ["cache-damaged"]
    assert read_content(found.part) == content


def test_the_time_of_the_users_file_stays(cache, tmp_path):
    """An entry is marked as used in its seal."""
    saved(cache.get_or_write(KEY, written(bytes(LARGE))), tmp_path / "x.tpb")
    for place in (tmp_path / "x.tpb", seal_path(entry(cache))):
        os.utime(place, (1e9, 1e9))
    cache.get_or_write(KEY, unexpected)
    assert (tmp_path / "x.tpb").stat().st_mtime == 1e9
    assert seal_path(entry(cache)).stat().st_mtime > 1e9


def test_a_file_that_cannot_have_two_names_is_copied(cache, tmp_path, monkeypatch):
    """As on another disk, or when the sweep took the entry."""
    content = os.urandom(LARGE)
    found = cache.get_or_write(KEY, written(content))

    def fail(*_):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", fail)
    assert saved(found, tmp_path / "x.tpb") == content
    assert not (tmp_path / "x.tpb").samefile(entry(cache))


def test_a_file_that_took_the_name_is_not_taken_for_it(cache, tmp_path):
    """The name of the entry may be another's by now."""
    content = os.urandom(LARGE)
    found = cache.get_or_write(KEY, written(content))
    entry(cache).unlink()
    entry(cache).write_bytes(b"other")
    assert saved(found, tmp_path / "x.tpb") == content
    assert entry(cache).read_bytes() == b"other"


def test_a_failed_save_harms_nothing(cache, tmp_path, monkeypatch):
    """The content stays, what stood in the place stays, and nothing else is left."""
    content = os.urandom(LARGE)
    found = cache.get_or_write(KEY, written(content))
    path = tmp_path / "out" / "x.tpb"
    path.parent.mkdir()
    path.write_bytes(b"before")

    def fail(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(DiagnosticError, match="No space"):
            saved(found, path)
    assert path.read_bytes() == b"before"
    assert list(path.parent.iterdir()) == [path]
    assert read_content(cache.get_or_write(KEY, unexpected).part) == content
    assert saved(found, path) == content


@pytest.mark.parametrize("damage", [b"", b"tbcache2", b"tbcache3" + bytes(39)])
def test_an_entry_without_its_seal_is_none(cache, damage):
    """And is made again without a word: it may never have been complete."""
    cache.get_or_write(KEY, written(b"content"))
    seal_path(entry(cache)).write_bytes(damage)
    found = cache.get_or_write(KEY, written(b"content"))
    assert read_content(found.part) == b"content"


def test_a_seal_of_another_entry_is_noticed(cache):
    """An entry that was renamed is a damaged one."""
    other = key({"name": "b"})
    cache.get_or_write(other, written(b"other"))
    cache.get_or_write(KEY, written(b"content"))
    for place, by in ((entry(cache), cache.entry_path(other)),):
        place.write_bytes(by.read_bytes())
        seal_path(place).write_bytes(seal_path(by).read_bytes())
    found = cache.get_or_write(KEY, written(b"content"))
    assert [each.code for each in found.warnings] == ["cache-damaged"]
    assert read_content(found.part) == b"content"


def test_the_sweep_takes_both_files(tmp_path):
    """An entry goes with its seal; it is readable for who has it."""
    cache = PlanCache(tmp_path, limit=3 * START)
    made = {name: cache.get_or_write(key({"n": name}), written(bytes(START))) for name in "abc"}
    left = sorted(p.suffix for p in cache.folder.glob("??/*") if p.suffix != ".lock")
    assert left == ["", ".seal"]
    assert len(list(cache.folder.glob("records/??/*"))) == 1
    assert all(read_content(each.part) == bytes(START) for each in made.values())


def test_a_gap_behind_the_manifest_holds_blanks_only(cache, tmp_path):
    """No byte of the executable is without meaning, and none is missing."""
    path = tmp_path / "x.tpb"
    saved(cache.get_or_write(KEY, written(bytes(LARGE))), path)
    good = path.read_bytes()
    for position in (2000, START - 200):
        assert good[position] == ord(" ")
        path.write_bytes(good[:position] + b"\n" + good[position + 1 :])
        with pytest.raises(DiagnosticError, match="altered"), container.open(path):
            pass
    path.write_bytes(good[:-1])
    with pytest.raises(DiagnosticError, match="truncated"), container.open(path):
        pass


def test_a_long_manifest_moves_the_content(cache, tmp_path):
    """Then the content is copied behind it."""
    content = bytes(LARGE)
    found = cache.get_or_write(KEY, written(content))
    path = tmp_path / "x.tpb"
    container.write(path, {"a": "x" * START}, {"plan": found.part}, {"plan": found.member})
    with container.open(path) as opened:
        assert opened.read("plan") == content
    assert not path.samefile(entry(cache))
