"""What is in a cache, whether it is whole, what may go, and archives: all or nothing of them."""

import os
import sys
import time

import pytest

from tripybuild.artifact.members import measure, read_content
from tripybuild.cache import archive
from tripybuild.cache.archive import export_entries, import_entries
from tripybuild.cache.catalog import (
    entries_to_prune,
    find_entries,
    find_entry,
    remove_entries,
    remove_leftovers,
    verify_entries,
)
from tripybuild.cache.files import PlanCache
from tripybuild.cache.keys import key
from tripybuild.cache.records import MAPPED, decode_record, entry_origin, new_record
from tripybuild.cache.store import RECORDS, Cache
from tripybuild.cli.main import main
from tripybuild.errors.diagnostics import DiagnosticError

SMALL, FILE = key({"what": "program", "n": "1"}), key({"what": "engine", "n": "2"})
NEVER = key({"what": "program", "n": "9"})


def write(path, start):
    """Write an engine."""
    path.write_bytes(bytes(start) + b"engine" * 100)
    return measure(b"engine" * 100)


@pytest.fixture
def cache(tmp_path):
    """A cache with an entry of each form that travels."""
    found = PlanCache(tmp_path / "cache")
    with entry_origin({"spec": "digits.yaml", "late": lambda: "computed \x1b[0m"}):
        found.put(SMALL, b"program", 1.5)
    found.get_or_write(FILE, write)
    return found


def use(cache, of, seconds):
    """Let an entry have been used so many seconds ago."""
    place = cache.entry_path(of)
    seal = place.with_name(f"{place.name}.seal")
    moment = time.time() - seconds
    os.utime(seal if seal.exists() else place, (moment, moment))


def test_entries_say_what_made_them(cache):
    """By their keys, kinds and origins; one of an earlier version only that it is there."""
    use(cache, SMALL, 100)
    cache.put("0" * 64, b"old")
    use(cache, "0" * 64, 200)
    engine, program, old = find_entries(cache)
    assert [each.kind for each in (engine, program, old)] == ["engine", "program", "unknown"]
    assert program.record.seconds == 1.5
    assert program.record.origin == {"spec": "digits.yaml", "late": "computed \ufffd[0m"}
    assert find_entry(cache, str(FILE)[:10]) == engine
    for wrong in ("", "0", "../x", str(NEVER), "*"):
        with pytest.raises(DiagnosticError) as caught:
            find_entry(cache, wrong)
        assert caught.value.diagnostics[0].code == "cache-entry"


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"x" * 400_000, b"{" * 9000])
def test_a_damaged_record_costs_the_record_only(cache, content):
    cache.record_path(SMALL).write_bytes(content)
    assert cache.find_record(SMALL) is None
    assert cache.get(SMALL) == b"program"
    cache.record_path(SMALL).write_bytes(new_record(NEVER, 7, "0" * 64).encode())
    assert cache.find_record(SMALL) is None, "the record of another"


def test_records_read_back(cache):
    record = cache.find_record(FILE)
    assert decode_record(record.encode()) == record
    assert record.key.parts == FILE.parts


def test_damaged_entries_are_found_and_put_aside(cache):
    assert verify_entries(cache) == (2, [])
    for each in (SMALL, FILE):
        with cache.entry_path(each).open("r+b") as file:
            file.seek(-3, os.SEEK_END)
            file.write(b"!")
    count, damaged = verify_entries(cache)
    assert (count, {each.key for each in damaged}) == (2, {SMALL, FILE})
    assert verify_entries(cache) == (0, [])
    for path in cache.folder.glob("??/*"):
        os.utime(path, (1, 1))
    assert remove_leftovers(cache) > 3
    assert [p for p in cache.folder.rglob("*") if p.is_file() and p.name != "ledger"] == []


def test_what_was_used_last_stays(cache):
    """By age, by number, by size; a clock that was put back makes nothing old."""
    use(cache, SMALL, 1000)
    use(cache, FILE, -5000)
    entries = find_entries(cache)
    asked = [{"older": 500}, {"keep": 1}, {"size": entries[0].size}, {"older": 2000}, {}]
    gone = [[each.key for each in entries_to_prune(entries, **how)] for how in asked]
    assert gone == [[SMALL], [SMALL], [SMALL], [], []]
    assert len(entries_to_prune(entries, keep=0)) == 2
    remove_entries(cache, entries_to_prune(entries, older=500))
    assert remove_leftovers(cache) == 0, "locks may be held, and a seal belongs to its entry"
    assert [each.key for each in find_entries(cache)] == [FILE]
    assert not cache.record_path(SMALL).exists()
    assert cache.get(SMALL) is None


def test_an_archive_brings_entries_to_another_machine(cache, tmp_path):
    """Once; with their records; what one machine maps stays where it is."""
    mapped = key({"what": "optimized model"})
    cache.put(mapped, b"mapped")
    cache.keep_record(new_record(mapped, 6, measure(b"mapped").digest, form=MAPPED))
    cache.put("0" * 64, b"without a record")
    path, other = tmp_path / "a.tbcache", PlanCache(tmp_path / "other")
    held = export_entries(cache, find_entries(cache), path)
    assert {each.key for each in held} == {SMALL, FILE}
    new, known = import_entries(other, path)
    assert ({each.key for each in new}, known) == ({SMALL, FILE}, [])
    assert import_entries(other, path)[0] == []
    assert other.get(SMALL) == b"program"
    found = other.get_or_write(FILE, lambda *_: pytest.fail("it is there"))
    assert bytes(read_content(found.part)) == b"engine" * 100
    assert other.find_record(SMALL).origin["spec"] == "digits.yaml"
    assert list((other.folder / "partial").iterdir()) == []


def test_nothing_of_a_damaged_archive_is_stored(cache, tmp_path):
    """Whatever is wrong with it, and wherever."""
    path, other = tmp_path / "a.tbcache", PlanCache(tmp_path / "other")
    export_entries(cache, find_entries(cache), path)
    good = path.read_bytes()
    wrong = [good[:end] for end in range(0, len(good), 97)]
    for bit in range(0, len(good) * 8, 411):
        flipped = bytearray(good)
        flipped[bit // 8] ^= 1 << bit % 8
        wrong.append(bytes(flipped))
    wrong += [good + b"x", b"PK\x03\x04", good.replace(b"program", b"mapped!")]
    for bad in wrong:
        path.write_bytes(bad)
        with pytest.raises(DiagnosticError) as caught:
            import_entries(other, path)
        assert caught.value.diagnostics[0].code == "cache-archive"
    assert find_entries(other) == []
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(DiagnosticError):
        import_entries(other, path)


def test_an_archive_that_changes_while_it_is_read_stores_no_lie(cache, tmp_path, monkeypatch):
    """What was verified first is hashed again when it is stored."""
    path, other = tmp_path / "a.tbcache", PlanCache(tmp_path / "other")
    export_entries(cache, [find_entry(cache, str(SMALL))], path)
    read, good = archive._read_entries, path.read_bytes()

    def change(*given):
        read(*given)
        path.write_bytes(good[:-1] + b"!")

    monkeypatch.setattr(archive, "_read_entries", change)
    with pytest.raises(DiagnosticError):
        import_entries(other, path)
    assert Cache(other.folder.parent).get(SMALL) is None


def test_the_sweep_takes_records_along(tmp_path):
    cache = Cache(tmp_path, limit=1000)
    keys = [key({"what": "x", "n": str(number)}) for number in range(8)]
    for each in keys:
        cache.put(each, bytes(200))
    left = {each for each in keys if cache.get(each) is not None}
    assert {p.parent.name + p.stem for p in (cache.folder / RECORDS).glob("??/*")} == left
    assert 0 < len(left) < 5


def test_a_name_that_nothing_was_made_for_exports_nothing(tmp_path, monkeypatch, capfd):
    """An archive of no entries would look as if it had them."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "boxes.tbcache"
    words = ["tripybuild", "cache", "export", str(path), "--spec", "boxen.yaml"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    said = capfd.readouterr().err
    assert said.startswith("error[cache-entry]: no entry of the cache is made for `boxen.yaml`")
    assert not path.exists()
