"""Compilation cache: content-addressed by the digest of everything the result depends on.

The cache never decides whether a build succeeds. An entry is checked as it is read, one that is
damaged is put aside and made again, and where nothing can be stored the made content is returned
all the same.

Beside each entry is a record of what made it (`cache.records`). A cache that is shared looks for
what it lacks in the remote one that the environment names (`cache.remote`), and adds there what it
makes where it may write; the remote decides as little as the cache does.
"""

import contextlib
import errno
import os
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import TypeGuard

from tripybuild.artifact.members import Content, NotRegularError, OpenFile
from tripybuild.cache.keys import CacheKey
from tripybuild.cache.lookups import LookupOutcome, note_lookup
from tripybuild.cache.records import (
    LONGEST_RECORD,
    EntryRecord,
    MalformedRecordError,
    decode_record,
    new_record,
)
from tripybuild.cache.remote import remote_cache
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.atomic_write import atomic_write, sweep_temporaries
from tripybuild.process.hashing import ALGORITHMS, algorithm
from tripybuild.process.paths import CACHE_VARIABLE, NOWHERE, cache_folder

MAGIC = b"tbcache2"
START = len(MAGIC) + 32
FIVE_GIBIBYTES = 5 << 30
KEPT_SHARE = 0.8  # of the limit, so that not every new entry starts a sweep
HALF_AN_HOUR = 1800.0
LOCK_SUFFIX, SEAL_SUFFIX = ".lock", ".seal"
PARTIAL = "partial"  # the folder of what is being written
RECORDS = "records"  # the folder of what is known of entries
LEDGER = "ledger"  # sizes: all that was there at the last look, and what was stored since
LONGEST_LEDGER = 1 << 24  # bytes
RECORD = 8  # bytes of a size in it, the lowest first


@dataclass(frozen=True, slots=True)
class CacheResult:
    """A content, whether it was there already, and what was wrong with the cache."""

    content: bytes
    hit: bool
    warnings: tuple[Diagnostic, ...] = ()


class Cache:
    """A folder of contents by key, of a limited size."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        limit: int = FIVE_GIBIBYTES,
        patience: float | None = None,
        shared: bool = False,
    ) -> None:
        """A cache.

        Args:
            folder: Where it is; the user's by default.
            limit: The most bytes that it holds.
            patience: Seconds to wait for another process that makes the same.
            shared: Whether it takes what it lacks from the remote cache, and adds to that.
        """
        self.folder = (folder or cache_folder()) / "v2"
        self.limit = limit
        self.patience = HALF_AN_HOUR if patience is None else patience
        self.remote = remote_cache() if shared else None

    def get(self, key: str) -> bytes | None:
        """Return the content of a key, or None where there is none that is whole."""
        content = self._read(key)[0]
        outcome = LookupOutcome.HIT
        if content is None:
            content, outcome = self._fetch(key)[0], LookupOutcome.FETCHED
        note_lookup(key, LookupOutcome.MISS if content is None else outcome)
        return content

    def put(self, key: str, content: bytes, seconds: float = 0.0) -> tuple[Diagnostic, ...]:
        """Store a content; what is wrong is returned, not raised.

        Args:
            key: Its key; one that is a `CacheKey` gets a record beside the content.
            content: The content.
            seconds: How long it took to make it.
        """
        digest = _digest(content)
        known = new_record(key, len(content), digest, seconds) if is_recorded(key) else None
        warnings = self.store(key, content, digest, known)
        return warnings if known is None else warnings + self.upload(known, content)

    def get_or_make(self, key: str, make: Callable[[], bytes]) -> CacheResult:
        """Return the content of a key, made now if it must be, and by one process only."""
        content, warnings = self._read(key)
        outcome = LookupOutcome.HIT
        if content is None:
            with self.lock(key):
                content, more = self._read(key)
                warnings += more
                if content is None:
                    content, more = self._fetch(key)
                    outcome, warnings = LookupOutcome.FETCHED, warnings + more
                if content is None:
                    note_lookup(key, LookupOutcome.MISS)
                    start = time.perf_counter()
                    content = make()
                    warnings += self.put(key, content, time.perf_counter() - start)
                    return CacheResult(content, hit=False, warnings=warnings)
        note_lookup(key, outcome)
        return CacheResult(content, hit=True, warnings=warnings)

    def upload(self, record: EntryRecord, content: Content) -> tuple[Diagnostic, ...]:
        """Add a content to the remote cache, if there is one; what is wrong is returned."""
        return () if self.remote is None else self.remote.upload(record, content)

    def _fetch(self, key: str) -> tuple[bytes | None, tuple[Diagnostic, ...]]:
        """Take a content from the remote cache into this one."""
        if self.remote is None or not is_recorded(key):
            return None, ()
        stream = BytesIO()
        found = self.remote.fetch(key, stream, self.limit)
        if found.record is None:
            return None, found.warnings
        content = stream.getvalue()
        return content, found.warnings + self.store(key, content, found.record.digest, found.record)

    def entry_path(self, key: str) -> Path:
        """Where the entry of a key is."""
        if len(key) != 64 or not key.isalnum():  # so that it cannot lead out of the folder
            raise ValueError(f"`{key}` is not a key of the cache")
        return self.folder / key[:2] / key[2:]

    def record_path(self, key: str) -> Path:
        """Where the record of a key's entry is."""
        place = self.entry_path(key)
        return self.folder / RECORDS / place.parent.name / f"{place.name}.json"

    def find_record(self, key: str) -> EntryRecord | None:
        """What is known of a key's entry; None where that is nothing, or damaged."""
        try:
            found = decode_record(read_file(self.record_path(key), LONGEST_RECORD))
        except (OSError, MalformedRecordError):
            return None
        return found if found.key == key else None

    def keep_record(self, record: EntryRecord) -> None:
        """Store the record of an entry, which is not missed where that fails."""
        place = self.record_path(record.key)
        with contextlib.suppress(OSError, DiagnosticError):
            self.make_folder(place.parent)
            with atomic_write(place, durable=False, folder=self.partial_folder()) as stream:
                stream.write(record.encode())

    def store(
        self, key: str, content: bytes, digest: str, record: EntryRecord | None
    ) -> tuple[Diagnostic, ...]:
        """Store a content whose digest is known, in this folder alone."""
        if len(content) > self.limit:
            return ()
        place = self.entry_path(key)
        try:
            self.make_folder(place.parent)
            with atomic_write(place, durable=False, folder=self.partial_folder()) as stream:
                stream.write(MAGIC)
                stream.write(seal_digest(key, digest))
                stream.write(content)
        except (OSError, DiagnosticError) as error:
            return (unwritable_warning(self.folder, error),)
        if record is not None:
            self.keep_record(record)
        self.record_size(len(content))
        return ()

    def _read(self, key: str) -> tuple[bytes | None, tuple[Diagnostic, ...]]:
        place = self.entry_path(key)
        try:
            stored = read_file(place, self.limit + START)
        except NotRegularError:
            self.quarantine(place)
            return None, (damage_warning(place),)
        except OSError:
            return None, ()
        content = stored[START:]
        if stored[:START] != MAGIC + seal_digest(key, _digest(content)):
            self.quarantine(place)
            return None, (damage_warning(place),)
        with contextlib.suppress(OSError):
            os.utime(place)  # the sweep takes the least recently used
        return content, ()

    def partial_folder(self) -> Path:
        """Make the folder of what is being written: one, so that what is left there is found.

        Raises:
            OSError: It cannot be made.
        """
        return self.make_folder(self.folder / PARTIAL)

    def make_folder(self, folder: Path) -> Path:
        """Create a cache folder with user-only permissions: its contents are executed.

        Raises:
            OSError: It cannot be made.
        """
        for each in (self.folder.parent, self.folder, folder.parent, folder):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def quarantine(self, place: Path) -> None:
        """Move a damaged entry aside, for later inspection."""
        aside = self.folder / "damaged" / f"{place.parent.name}{place.name}.{secrets.token_hex(4)}"
        with contextlib.suppress(OSError):
            aside.parent.mkdir(mode=0o700, exist_ok=True)
        for found, target in ((place, aside), (seal_path(place), seal_path(aside))):
            try:
                found.replace(target)
            except FileNotFoundError:
                continue
            except OSError:
                with contextlib.suppress(OSError):
                    found.unlink()

    @contextlib.contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Hold the key's lock, or go on without: twice the work is better than none."""
        from filelock import FileLock, Timeout  # noqa: PLC0415 - most caches are read alone

        place = self.entry_path(key)
        lock = FileLock(place.with_name(place.name + LOCK_SUFFIX))
        with contextlib.ExitStack() as held:
            with contextlib.suppress(OSError, Timeout, NotImplementedError):
                self.make_folder(place.parent)
                held.enter_context(lock.acquire(timeout=self.patience))
            yield

    def record_size(self, size: int) -> None:
        """Sweep if there may be too much now: a look at thousands of entries takes a while."""
        left = sweep_temporaries(self.folder / PARTIAL)
        ledger, known = self.folder / LEDGER, b""
        try:
            with contextlib.suppress(FileNotFoundError):
                known = read_file(ledger, LONGEST_LEDGER)
            with ledger.open("ab") as stream:  # concurrent appends lose nothing
                stream.write(size.to_bytes(RECORD, "little"))
        except NotRegularError:
            with contextlib.suppress(OSError):
                ledger.unlink()
        except OSError:
            known = b""
        sizes = [known[at : at + RECORD] for at in range(0, len(known), RECORD)]
        total = sum(int.from_bytes(each, "little") for each in sizes) + size + left
        if not known or total > self.limit:
            self.sweep(left)

    def sweep(self, left: int = 0) -> None:
        """Remove the least recently used entries when there is too much.

        Args:
            left: The size of what is being written, or was by a process that was killed.
        """
        entries = list(self.entries())
        total = sum(size for _, size, _ in entries)
        excess = total + left > self.limit
        for _, size, place in sorted(entries) if excess else ():
            with contextlib.suppress(OSError):
                place.unlink()
                total -= size
            self.forget(place)
            if total + left <= self.limit * KEPT_SHARE:
                break
        with (
            contextlib.suppress(OSError, DiagnosticError),
            atomic_write(
                self.folder / LEDGER, durable=False, folder=self.partial_folder()
            ) as ledger,
        ):
            ledger.write(total.to_bytes(RECORD, "little"))

    def forget(self, place: Path) -> None:
        """Remove what stands beside an entry that is gone: its seal and its record."""
        record = self.folder / RECORDS / place.parent.name / f"{place.name}.json"
        for each in (seal_path(place), record):
            with contextlib.suppress(OSError):
                each.unlink()

    def entries(self) -> Iterator[tuple[int, int, Path]]:
        """When each entry was used, its size and its place.

        One with a seal may be a file of the user's, whose time is his: it was used when its seal
        was.
        """
        with contextlib.suppress(OSError):
            for folder in os.scandir(self.folder):
                found: dict[str, os.stat_result] = {}
                if folder.name in {PARTIAL, RECORDS}:
                    continue
                with contextlib.suppress(OSError):  # also what is no folder
                    for each in os.scandir(folder):
                        with contextlib.suppress(OSError):  # another process may have removed it
                            found[each.name] = each.stat()
                for name, status in found.items():
                    if not name.endswith(SEAL_SUFFIX):
                        used = found.get(name + SEAL_SUFFIX, status).st_mtime_ns
                        yield used, status.st_size, Path(folder.path, name)


def read_file(place: Path, most: int) -> bytes:
    """Read a file of the cache.

    Raises:
        NotRegularError: It is a pipe, a device or a folder, or longer than any file of its kind.
        OSError: It cannot be read.
    """
    file = OpenFile(place)
    if os.fstat(file.fileno()).st_size > most:
        raise NotRegularError(errno.EFBIG, os.strerror(errno.EFBIG))
    with os.fdopen(file.fileno(), "rb", closefd=False) as stream:
        return stream.read()


def seal_path(place: Path) -> Path:
    """Where the seal of an entry is that does not hold it itself."""
    return place.with_name(place.name + SEAL_SUFFIX)


def seal_digest(key: str, digest: str) -> bytes:
    """Return the seal of an entry; with the key in it, a renamed entry is a damaged one."""
    return sha256(key.encode() + bytes.fromhex(digest)).digest()


def _digest(content: bytes) -> str:
    digest = ALGORITHMS[algorithm(len(content))]()
    digest.update(content)
    return digest.hexdigest()


def is_recorded(key: str) -> TypeGuard[CacheKey]:
    """Whether the parts of a key are known."""
    return isinstance(key, CacheKey)


def damage_warning(place: Path) -> Diagnostic:
    """Warning about a corrupted cache entry."""
    message = f"The cache entry `{place}` was damaged and is made again"
    return Diagnostic("cache-damaged", message)


def unwritable_warning(folder: Path, error: OSError | DiagnosticError) -> Diagnostic:
    """Warning about a cache that is not writable."""
    hint = f"set `{CACHE_VARIABLE}` to a folder that can be written"
    if folder.is_relative_to(NOWHERE):
        message = "The result could not be stored in a cache: there is no home folder to have it in"
        return Diagnostic("cache-unwritable", message, hint=hint)
    reason = error.strerror if isinstance(error, OSError) else error.diagnostics[0].message
    return Diagnostic(
        "cache-unwritable",
        f"The result could not be stored in the cache `{folder}`: {reason}",
        hint=hint,
    )
