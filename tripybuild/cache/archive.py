"""Archives: entries of a cache in one file, for a machine that no network reaches.

An archive is a magic number, the count of entries, and their envelopes. It names no files. It is
read twice: the first time all of it is verified, and nothing is stored; the second time each
content is hashed again while it is copied, since the file may have changed in between.
"""

import contextlib
import io
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from tripybuild.artifact.manifest import MemberRecord
from tripybuild.artifact.members import FilePart, OpenFile, read_content
from tripybuild.artifact.zip_layout import ALIGNMENT
from tripybuild.cache.catalog import CacheEntry, verified_content
from tripybuild.cache.envelope import (
    MalformedEntryError,
    copy_content,
    envelope_pieces,
    read_record,
)
from tripybuild.cache.files import PlanCache
from tripybuild.cache.records import FILE, MAPPED, EntryRecord
from tripybuild.cache.store import Cache
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.atomic_write import atomic_write, temporary_path

MAGIC = b"tbcachex1\n"
COUNT = 8  # bytes of the number of entries


def is_archive(path: Path) -> bool:
    """Whether a file begins as an archive does."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def export_entries(cache: Cache, entries: Sequence[CacheEntry], path: Path) -> list[CacheEntry]:
    """Write entries to an archive, which appears when it is complete.

    An entry that has no record, or is damaged, is left out: nothing could verify it elsewhere. So
    is what native code maps as it is, which each machine makes for itself.

    Returns:
        The entries that are in it.

    Raises:
        DiagnosticError: It cannot be written.
    """
    held = []
    for each in entries:
        with contextlib.suppress(OSError):
            is_portable = each.record is not None and each.record.form != MAPPED
            if is_portable and verified_content(each, cache.limit) is not None:
                held.append(each)
    with atomic_write(path) as stream:
        stream.write(MAGIC + len(held).to_bytes(COUNT, "little"))
        for each in held:
            stream.writelines(_envelope(cache, each))
    return held


def _envelope(cache: Cache, entry: CacheEntry) -> Iterator[bytes | memoryview]:
    found = verified_content(entry, cache.limit)
    if found is None or entry.record is None or found[1] != entry.record.digest:
        message = f"the entry `{entry.key[:12]}` changed while it was read"
        raise DiagnosticError(Diagnostic("cache-archive", message, hint="export it again"))
    yield from envelope_pieces(entry.record, found[0])


def import_entries(cache: PlanCache, path: Path) -> tuple[list[EntryRecord], list[EntryRecord]]:
    """Take the entries of an archive into a cache, once all of them are verified.

    Returns:
        The records of those that are new, and of those that were there already.

    Raises:
        DiagnosticError: It cannot be read, or is not an archive that is whole; nothing is stored.
    """
    try:
        file = OpenFile(path)
        with io.FileIO(file.fileno(), "rb", closefd=False) as raw:
            stream = io.BufferedReader(raw)
            _read_entries(stream, cache.limit, Path(os.devnull), lambda *_: None)
            stream.seek(0)
            new: list[EntryRecord] = []
            known: list[EntryRecord] = []

            def keep(record: EntryRecord, partial: Path, checksum: int) -> None:
                is_there = cache.entry_path(record.key).exists()
                (known if is_there else new).append(record)
                if not is_there:
                    _publish(cache, record, partial, checksum)

            partial = temporary_path(cache.partial_folder(), "import")
            try:
                _read_entries(stream, cache.limit, partial, keep)
            finally:
                partial.unlink(missing_ok=True)
    except OSError as error:
        message = f"`{path}` cannot be read: {error.strerror or error}"
        raise DiagnosticError(Diagnostic("file-unreadable", message)) from error
    except MalformedEntryError as error:
        message = f"`{path}` is not a cache that was exported: {error}"
        hint = "nothing of it was stored; export it again"
        raise DiagnosticError(Diagnostic("cache-archive", message, hint=hint)) from error
    return new, known


def _read_entries(
    stream: BinaryIO, limit: int, partial: Path, keep: Callable[[EntryRecord, Path, int], None]
) -> None:
    """Hash each entry while it is copied to a file that nothing looks for, and hand it on."""
    if stream.read(len(MAGIC)) != MAGIC:
        raise MalformedEntryError("it begins as something else")
    count = int.from_bytes(stream.read(COUNT), "little")
    for _ in range(count):
        record = read_record(stream, None, limit)
        if record.form == MAPPED:
            raise MalformedEntryError("it holds what is for one machine")
        with partial.open("wb") as target:
            target.seek(ALIGNMENT)
            checksum = copy_content(stream, record, target)
        keep(record, partial, checksum)
    if stream.read(1):
        raise MalformedEntryError("more follows behind its last entry")


def _publish(cache: PlanCache, record: EntryRecord, partial: Path, checksum: int) -> None:
    """Make an entry of a content that was verified, in the form that its kind has.

    Raises:
        DiagnosticError: It cannot be stored.
    """
    place = cache.entry_path(record.key)
    cache.make_folder(place.parent)
    if record.form == FILE:
        member = MemberRecord(record.size, record.digest, checksum)
        found = cache.publish(record.key, OpenFile(partial), member, record)
    else:
        content = bytes(read_content(FilePart(OpenFile(partial), ALIGNMENT, record.size)))
        found = cache.store(record.key, content, record.digest, record)
    if found:
        raise DiagnosticError(*found)
