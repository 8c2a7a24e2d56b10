"""Catalog of a cache: what is in it, whether it is whole, and what may go.

Invariant: what is removed was seen to be an entry, by its name in the cache's own folder; nothing
else there, and nothing that a link leads to, is touched.
"""

import contextlib
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tripybuild.artifact.members import Content, FilePart, NotRegularError, OpenFile, measure
from tripybuild.artifact.zip_layout import ALIGNMENT
from tripybuild.cache.files import read_seal
from tripybuild.cache.records import EntryRecord
from tripybuild.cache.store import (
    LOCK_SUFFIX,
    MAGIC,
    RECORDS,
    SEAL_SUFFIX,
    START,
    Cache,
    read_file,
    seal_digest,
    seal_path,
)
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.atomic_write import STALE_AFTER

FOLDER, NAME = re.compile(r"[0-9a-f]{2}"), re.compile(r"[0-9a-f]{62}")
PREFIX = re.compile(r"[0-9a-f]{4,64}")
UNKNOWN = "unknown"  # the kind of an entry without a record


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """An entry as it lies in the folder.

    Args:
        key: Its key.
        path: Its file.
        size: Bytes of that.
        used: When it was used last, in seconds since 1970 by the clock of this machine.
        record: What made it, where that is known.
    """

    key: str
    path: Path
    size: int
    used: float
    record: EntryRecord | None

    @property
    def kind(self) -> str:
        """What kind of content it is."""
        return UNKNOWN if self.record is None else self.record.key.kind

    def age(self, now: float) -> float:
        """Seconds since it was used; none where the clock says that this is yet to come."""
        return max(0.0, now - self.used)


def find_entries(cache: Cache) -> list[CacheEntry]:
    """The entries of a cache; the one that was used last comes first."""
    found = []
    for used, size, path in cache.entries():
        if FOLDER.fullmatch(path.parent.name) and NAME.fullmatch(path.name):
            key = path.parent.name + path.name
            found.append(CacheEntry(key, path, size, used / 1e9, cache.find_record(key)))
    return sorted(found, key=lambda each: (-each.used, each.key))


def find_entry(cache: Cache, prefix: str) -> CacheEntry:
    """The entry whose key begins so.

    Raises:
        DiagnosticError: There is none, or there are several.
    """
    found = []
    if PREFIX.fullmatch(prefix):
        found = [each for each in find_entries(cache) if each.key.startswith(prefix)]
    if len(found) == 1:
        return found[0]
    count = f"{len(found)} entries have" if found else "no entry of the cache has"
    message = f"{count} a key that begins with `{prefix}`"
    hint = "`tripybuild cache list` shows the keys; 4 and more of the digits name an entry"
    raise DiagnosticError(Diagnostic("cache-entry", message, hint=hint))


def verified_content(entry: CacheEntry, limit: int) -> tuple[Content, str] | None:
    """The content of an entry and its digest; None where it is not what was stored.

    Raises:
        OSError: It is not there any more, or cannot be read.
    """
    try:
        if not seal_path(entry.path).exists():
            stored = read_file(entry.path, limit + START)
            content: Content = memoryview(stored)[START:]
            digest = measure(content).digest
            is_whole = stored[:START] == MAGIC + seal_digest(entry.key, digest)
            return (content, digest) if is_whole else None
        size, seal = read_seal(seal_path(entry.path))
        # A file that is mapped begins with its content; one that can become an executable does not.
        content = FilePart(
            OpenFile(entry.path), 0 if entry.path.stat().st_size == size else ALIGNMENT, size
        )
        digest = measure(content).digest
    except (NotRegularError, FileNotFoundError, DiagnosticError):
        return None
    return (content, digest) if seal_digest(entry.key, digest) == seal else None


def verify_entries(cache: Cache) -> tuple[int, list[CacheEntry]]:
    """Hash every entry; one that is damaged is put aside, and made again when it is needed.

    Returns:
        How many there were, and the damaged ones.
    """
    entries, damaged = find_entries(cache), []
    for each in entries:
        with contextlib.suppress(PermissionError):
            is_whole = verified_content(each, cache.limit) is not None
            if not is_whole and os.path.lexists(each.path):  # else another process removed it
                damaged.append(each)
                cache.quarantine(each.path)
    return len(entries), damaged


def entries_to_prune(
    entries: Sequence[CacheEntry],
    *,
    older: float | None = None,
    size: int | None = None,
    keep: int | None = None,
) -> list[CacheEntry]:
    """The entries that a limit leaves no room for; those used least recently go first.

    Args:
        entries: All entries, the one that was used last first.
        older: Seconds; an entry that was not used for so long goes.
        size: Bytes that all that stays may have together.
        keep: How many may stay.
    """
    now, total, gone = time.time(), 0, []
    for number, each in enumerate(entries):
        total += each.size
        is_late = older is not None and each.age(now) > older
        is_above = (size is not None and total > size) or (keep is not None and number >= keep)
        if is_late or is_above:
            gone.append(each)
    return gone


def remove_entries(cache: Cache, entries: Sequence[CacheEntry]) -> None:
    """Remove entries with what stands beside them; a program that uses one goes on with it."""
    for each in entries:
        with contextlib.suppress(OSError):
            each.path.unlink()
        cache.forget(each.path)
    cache.sweep()


def remove_leftovers(cache: Cache) -> int:
    """Remove damaged entries that were put aside, records of what is gone, old locks and seals.

    Returns:
        How many files that were.
    """
    count = 0
    for path in _leftovers(cache):
        with contextlib.suppress(OSError):
            path.unlink()
            count += 1
    return count


def _leftovers(cache: Cache) -> Iterator[Path]:
    yield from _files(cache.folder / "damaged")
    for folder in _folders(cache.folder):
        for each in _files(folder):
            is_lone = each.suffix == SEAL_SUFFIX and not each.with_suffix("").exists()
            if (is_lone or each.suffix == LOCK_SUFFIX) and _is_old(each):
                yield each
    for folder in _folders(cache.folder / RECORDS):
        for each in _files(folder):
            if not (cache.folder / folder.name / each.stem).exists():
                yield each


def _is_old(path: Path) -> bool:
    """Whether no process uses it any more: a lock is held, and a seal lone, for a while only."""
    with contextlib.suppress(OSError):
        return time.time() - path.lstat().st_mtime > STALE_AFTER
    return False


def _folders(root: Path) -> list[Path]:
    with contextlib.suppress(OSError):
        return [each for each in root.iterdir() if FOLDER.fullmatch(each.name)]
    return []


def _files(folder: Path) -> list[Path]:
    with contextlib.suppress(OSError):
        return [each for each in folder.iterdir() if each.is_file() or each.is_symlink()]
    return []
