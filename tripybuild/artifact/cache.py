"""Compilation cache: content-addressed by the digest of everything the result depends on.

The cache never decides whether a build succeeds. An entry is checked as it is read, one that is
damaged is put aside and made again, and where nothing can be stored the made content is returned
all the same.

Large contents are files, written by other processes and published as executables unchanged. Such a
content lies behind a space that is left free, at the place that it has in an executable. So the
file in which the compiler's process wrote an engine gets a second name, the user's, and what
belongs around the engine is written there: the entry and the executable share their bytes on the
disk. The seal of such an entry is a file of its own, since the rest of its file may be anything.
"""

import contextlib
import errno
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tripybuild.artifact.manifest import MemberRecord
from tripybuild.artifact.members import FilePart, NotRegularError, OpenFile, measure
from tripybuild.artifact.zip_layout import ALIGNMENT
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.atomic_write import SUFFIX, atomic_write, sweep_temporaries, temporary_path
from tripybuild.process.hashing import ALGORITHMS, algorithm
from tripybuild.process.paths import CACHE_VARIABLE, NOWHERE, cache_folder

MAGIC, FILE_MAGIC = b"tbcache2", b"tbcache3"
LONGEST_SEAL = 4096
START = len(MAGIC) + 32
FIVE_GIBIBYTES = 5 << 30
KEPT_SHARE = 0.8  # of the limit, so that not every new entry starts a sweep
HALF_AN_HOUR = 1800.0
LOCK_SUFFIX, SEAL_SUFFIX = ".lock", ".seal"
PARTIAL = "partial"  # the folder of what is being written
LEDGER = "ledger"  # sizes: all that was there at the last look, and what was stored since
LONGEST_LEDGER = 1 << 24  # bytes
RECORD = 8  # bytes of a size in it, the lowest first


@dataclass(frozen=True, slots=True)
class CacheResult:
    """A content, whether it was there already, and what was wrong with the cache."""

    content: bytes
    hit: bool
    warnings: tuple[Diagnostic, ...] = ()


def key(parts: Mapping[str, str | bytes]) -> str:
    """Return the digest of named parts; neither their order nor a shifted border can confuse it."""
    digest = sha256()
    for name in sorted(parts):
        part = parts[name]
        kind, content = (b"s", part.encode()) if isinstance(part, str) else (b"b", part)
        for field in (name.encode(), kind, content):
            digest.update(len(field).to_bytes(8, "little"))
            digest.update(field)
    return digest.hexdigest()


class Cache:
    """A folder of contents by key, of a limited size."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        limit: int = FIVE_GIBIBYTES,
        patience: float | None = None,
    ) -> None:
        self.folder = (folder or cache_folder()) / "v2"
        self.limit = limit
        # Seconds to wait for another process that makes the same.
        self.patience = HALF_AN_HOUR if patience is None else patience

    def get(self, key: str) -> bytes | None:
        """Return the content of a key, or None where there is none that is whole."""
        return self._read(key)[0]

    def put(self, key: str, content: bytes) -> tuple[Diagnostic, ...]:
        """Store a content; what is wrong is returned, not raised."""
        if len(content) > self.limit:
            return ()
        place = self.entry_path(key)
        try:
            self.make_folder(place.parent)
            with atomic_write(place, durable=False, folder=self.partial_folder()) as stream:
                stream.write(MAGIC)
                stream.write(_digest(key, content))
                stream.write(content)
        except (OSError, DiagnosticError) as error:
            return (unwritable_warning(self.folder, error),)
        self.record_size(len(content))
        return ()

    def get_or_make(self, key: str, make: Callable[[], bytes]) -> CacheResult:
        """Return the content of a key, made now if it must be, and by one process only."""
        content, warnings = self._read(key)
        if content is not None:
            return CacheResult(content, hit=True)
        with self.lock(key):
            content, more = self._read(key)
            if content is not None:
                return CacheResult(content, hit=True, warnings=(*warnings, *more))
            content = make()
            failures = self.put(key, content)
        return CacheResult(content, hit=False, warnings=(*warnings, *more, *failures))

    def entry_path(self, key: str) -> Path:
        """Where the entry of a key is."""
        if len(key) != 64 or not key.isalnum():  # so that it cannot lead out of the folder
            raise ValueError(f"`{key}` is not a key of the cache")
        return self.folder / key[:2] / key[2:]

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
        if stored[:START] != MAGIC + _digest(key, content):
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
        for each in (self.folder.parent, self.folder, folder):
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
        entries = list(self._entries())
        total = sum(size for _, size, _ in entries)
        excess = total + left > self.limit
        for _, size, place in sorted(entries) if excess else ():
            with contextlib.suppress(OSError):
                place.unlink()
                total -= size
            with contextlib.suppress(OSError):
                seal_path(place).unlink()
            if total + left <= self.limit * KEPT_SHARE:
                break
        with (
            contextlib.suppress(OSError, DiagnosticError),
            atomic_write(
                self.folder / LEDGER, durable=False, folder=self.partial_folder()
            ) as ledger,
        ):
            ledger.write(total.to_bytes(RECORD, "little"))

    def _entries(self) -> Iterator[tuple[int, int, Path]]:
        """When each entry was used, its size and its place.

        One with a seal may be a file of the user's, whose time is his: it was used when its seal
        was.
        """
        with contextlib.suppress(OSError):
            for folder in os.scandir(self.folder):
                found: dict[str, os.stat_result] = {}
                if folder.name == PARTIAL:
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


def _digest(key: str, content: bytes) -> bytes:
    digest = ALGORITHMS[algorithm(len(content))]()
    digest.update(content)
    return seal_digest(key, digest.hexdigest())


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
        if found is not None:
            return found
        with self.lock(key):
            found, _ = self._open(key)
            if found is not None:
                return found
            return self._write(key, write, warnings)

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
            member = write(partial, ALIGNMENT)
            file = OpenFile(partial, spare=True)
            if partial.parent == self.folder / PARTIAL and member.size <= self.limit:
                warnings += self.publish(key, file, member)
        finally:
            with contextlib.suppress(OSError):
                partial.unlink()
        return CachedFile(FilePart(file, ALIGNMENT, member.size), member, warnings)

    def publish(self, key: str, file: OpenFile, member: MemberRecord) -> tuple[Diagnostic, ...]:
        """Make an entry of a file that was written; what is wrong is returned, not raised."""
        place = self.entry_path(key)
        try:
            with atomic_write(
                seal_path(place), durable=False, folder=self.partial_folder()
            ) as stream:
                stream.write(FILE_MAGIC + member.size.to_bytes(8, "little"))
                stream.write(seal_digest(key, member.digest))
            file.rename(place)
        except (OSError, DiagnosticError) as error:
            return (unwritable_warning(self.folder, error),)
        self.record_size(member.size)
        return ()


def read_seal(place: Path) -> tuple[int, bytes]:
    """The size and the seal of an entry.

    Raises:
        OSError: There is no seal, or it is none.
    """
    content = read_file(place, LONGEST_SEAL)
    if content[: len(FILE_MAGIC)] != FILE_MAGIC or len(content) != len(FILE_MAGIC) + 8 + 32:
        raise FileNotFoundError(place)
    return int.from_bytes(content[len(FILE_MAGIC) :][:8], "little"), content[-32:]
