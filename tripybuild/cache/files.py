"""Contents of the cache that are files, written by other processes and published unchanged.

Such a content lies behind a space that is left free, at the place that it has in an executable. So
the file in which the compiler's process wrote an engine gets a second name, the user's, and what
belongs around the engine is written there: the entry and the executable share their bytes on the
disk. The seal of such an entry is a file of its own, since the rest of its file may be anything.
"""

import contextlib
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tripybuild.artifact.manifest import MemberRecord
from tripybuild.artifact.members import FilePart, NotRegularError, OpenFile, measure
from tripybuild.artifact.zip_layout import ALIGNMENT
from tripybuild.cache.lookups import LookupOutcome, note_lookup
from tripybuild.cache.records import FILE, EntryRecord, new_record
from tripybuild.cache.store import (
    PARTIAL,
    Cache,
    damage_warning,
    is_recorded,
    read_file,
    seal_digest,
    seal_path,
    unwritable_warning,
)
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.atomic_write import SUFFIX, atomic_write, sweep_temporaries, temporary_path

MAGIC = b"tbcache3"
LONGEST_SEAL = 4096


@dataclass(frozen=True, slots=True)
class CachedFile:
    """A content as a part of an open file, which stays readable when the cache drops the entry."""

    part: FilePart
    member: MemberRecord
    warnings: tuple[Diagnostic, ...] = ()


class PlanCache(Cache):
    """The cache, for contents that are files."""

    def get_or_write(self, key: str, write: Callable[[Path, int], MemberRecord]) -> CachedFile:
        """Return the content of a key as a file; where there is none, have it written.

        Args:
            key: The digest of all that the content depends on.
            write: Writes the content into a new file, behind so many bytes that it leaves free,
                and returns what it measured of it.
        """
        found, warnings = self._open(key)
        outcome = LookupOutcome.HIT
        if found is None:
            with self.lock(key):
                found, _ = self._open(key)
                if found is None:
                    found, more = self._fetch_file(key)
                    outcome, warnings = LookupOutcome.FETCHED, warnings + more
                if found is None:
                    note_lookup(key, LookupOutcome.MISS)
                    return self._write(key, write, warnings)
        note_lookup(key, outcome)
        return replace(found, warnings=warnings + found.warnings)

    def _fetch_file(self, key: str) -> tuple[CachedFile | None, tuple[Diagnostic, ...]]:
        """Take a content from the remote cache into this one."""
        if self.remote is None or not is_recorded(key):
            return None, ()
        partial = temporary_path(self.folder / PARTIAL, self.entry_path(key).name)
        try:
            self.make_folder(self.entry_path(key).parent)
            self.partial_folder()
            with partial.open("xb") as stream:
                stream.seek(ALIGNMENT)
                found = self.remote.fetch(key, stream, self.limit)
            if found.record is None:
                return None, found.warnings
            file = OpenFile(partial, spare=True)
            member = MemberRecord(found.record.size, found.record.digest, found.checksum)
            warnings = found.warnings + self.publish(key, file, member, found.record)
        except OSError as error:
            return None, (unwritable_warning(self.folder, error),)
        finally:
            with contextlib.suppress(OSError):
                partial.unlink()
        return CachedFile(FilePart(file, ALIGNMENT, member.size), member), warnings

    def _open(self, key: str) -> tuple[CachedFile | None, tuple[Diagnostic, ...]]:
        place = self.entry_path(key)
        try:
            size, expected = read_seal(seal_path(place))
            part = FilePart(OpenFile(place), ALIGNMENT, size)
        except NotRegularError:
            self.quarantine(place)
            return None, (damage_warning(place),)
        except OSError:
            return None, ()
        try:
            measured = measure(part)
        except DiagnosticError:
            measured = None
        if measured is None or seal_digest(key, measured.digest) != expected:
            self.quarantine(place)
            return None, (damage_warning(place),)
        with contextlib.suppress(OSError):
            os.utime(seal_path(place))  # the sweep takes the least recently used
        return CachedFile(part, measured), ()

    def _write(
        self,
        key: str,
        write: Callable[[Path, int], MemberRecord],
        warnings: tuple[Diagnostic, ...],
    ) -> CachedFile:
        place = self.entry_path(key)
        partial = temporary_path(self.folder / PARTIAL, place.name)
        try:
            self.make_folder(place.parent)
            sweep_temporaries(self.partial_folder())
            partial.touch(mode=0o600, exist_ok=False)
        except OSError as error:
            warnings = (*warnings, unwritable_warning(self.folder, error))
            handle, name = tempfile.mkstemp(suffix=SUFFIX)
            os.close(handle)
            partial = Path(name)
        try:
            start = time.perf_counter()
            member = write(partial, ALIGNMENT)
            took = time.perf_counter() - start
            file = OpenFile(partial, spare=True)
            part, record = FilePart(file, ALIGNMENT, member.size), None
            if is_recorded(key):
                record = new_record(key, member.size, member.digest, took, FILE)
            if partial.parent == self.folder / PARTIAL and member.size <= self.limit:
                warnings += self.publish(key, file, member, record)
            if record is not None:
                warnings += self.upload(record, part)
        finally:
            with contextlib.suppress(OSError):
                partial.unlink()
        return CachedFile(part, member, warnings)

    def publish(
        self, key: str, file: OpenFile, member: MemberRecord, record: EntryRecord | None = None
    ) -> tuple[Diagnostic, ...]:
        """Make an entry of a file that was written; what is wrong is returned, not raised."""
        place = self.entry_path(key)
        try:
            with atomic_write(
                seal_path(place), durable=False, folder=self.partial_folder()
            ) as stream:
                stream.write(MAGIC + member.size.to_bytes(8, "little"))
                stream.write(seal_digest(key, member.digest))
            file.rename(place)
        except (OSError, DiagnosticError) as error:
            return (unwritable_warning(self.folder, error),)
        if record is not None:
            self.keep_record(record)
        self.record_size(member.size)
        return ()


def read_seal(place: Path) -> tuple[int, bytes]:
    """The size and the seal of an entry.

    Raises:
        OSError: There is no seal, or it is none.
    """
    content = read_file(place, LONGEST_SEAL)
    if content[: len(MAGIC)] != MAGIC or len(content) != len(MAGIC) + 8 + 32:
        raise FileNotFoundError(place)
    return int.from_bytes(content[len(MAGIC) :][:8], "little"), content[-32:]
