"""Whole output files in the cache, such as executables: what a build makes is made once.

The key is the caller's: the digest of all that the file depends on (`cache.keys.key`), with a part
`what` that says what it is. A machine that has neither the file nor its parts takes it from the
remote cache, verified, in one step.
"""

import contextlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tripybuild.artifact.members import FilePart, OpenFile, copy_range, measure, pieces
from tripybuild.artifact.zip_layout import ALIGNMENT
from tripybuild.cache.files import PlanCache
from tripybuild.cache.keys import CacheKey
from tripybuild.cache.lookups import LookupOutcome, note_lookup
from tripybuild.cache.records import FILE, entry_origin, new_record
from tripybuild.cache.store import PARTIAL, unwritable_warning
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.atomic_write import atomic_write, temporary_path


@dataclass(frozen=True, slots=True)
class RestoredFile:
    """What came of a look for a file: where it came from, and what was wrong with the cache."""

    outcome: LookupOutcome
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def is_there(self) -> bool:
        """Whether the file was written."""
        return self.outcome is not LookupOutcome.MISS


class OutputCache(PlanCache):
    """The cache, for files that stand elsewhere; of a `shared` one, in the remote cache, too."""

    def restore(self, key: CacheKey, path: Path) -> RestoredFile:
        """Write the file of a key to its place, atomically, if it is known here or remotely.

        Raises:
            DiagnosticError: The place cannot be written.
        """
        found, warnings = self._open(key)
        outcome = LookupOutcome.HIT
        if found is None:
            with self.lock(key):
                found, more = self._open(key)
                if found is None:
                    found, more = self._fetch_file(key)
                    outcome = LookupOutcome.FETCHED
            warnings += more
        if found is None:
            note_lookup(key, LookupOutcome.MISS)
            return RestoredFile(LookupOutcome.MISS, warnings)
        note_lookup(key, outcome)
        with atomic_write(path) as stream:
            if not copy_range(found.part, stream):
                stream.writelines(pieces(found.part))
        return RestoredFile(outcome, warnings)

    def keep(
        self,
        key: CacheKey,
        path: Path,
        seconds: float = 0.0,
        origin: Mapping[str, str] | None = None,
    ) -> tuple[Diagnostic, ...]:
        """Store a file that was made, here and remotely; what is wrong is returned, not raised.

        Args:
            key: Its key.
            path: The file, which stays where it is.
            seconds: How long it took to make.
            origin: What it was made for, as texts by name.
        """
        partial = temporary_path(self.folder / PARTIAL, self.entry_path(key).name)
        try:
            self.make_folder(self.entry_path(key).parent)
            self.partial_folder()
            with path.open("rb") as source, partial.open("xb") as stream:
                stream.seek(ALIGNMENT)
                shutil.copyfileobj(source, stream, 1 << 20)
                size = stream.tell() - ALIGNMENT
            file = OpenFile(partial)
            part = FilePart(file, ALIGNMENT, size)
            member = measure(part)
            with entry_origin(origin or {}):
                record = new_record(key, size, member.digest, seconds, FILE)
            stored = self.publish(key, file, member, record) if size <= self.limit else ()
            return stored + self.upload(record, part)
        except OSError as error:
            return (unwritable_warning(self.folder, error),)
        except DiagnosticError as error:
            return error.diagnostics
        finally:
            with contextlib.suppress(OSError):
                partial.unlink()
