"""The remote cache: entries that several machines share, at any address that `fsspec` reads.

A remote decides nothing. What it gives is used only if its record has the key that was asked for
and its content the digest of the record; whatever else it does, does not do in its time, or refuses
costs one warning in the life of a process. One that fails is left alone for some minutes, so that a
hundred lookups do not wait a hundred times; one that lies is believed no more after three lies.

Invariant: a digest says that nothing changed on the way, not which machine made it. Entries hold
native code, so that writing to the remote is running code here (SECURITY.md).
"""

import contextlib
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeVar

from tripybuild.artifact.members import Content
from tripybuild.cache.envelope import (
    LocalWriteError,
    MalformedEntryError,
    copy_content,
    envelope_pieces,
    read_record,
)
from tripybuild.cache.keys import CacheKey
from tripybuild.cache.records import EntryRecord
from tripybuild.cache.remote_settings import RemoteSettings, remote_settings
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.errors.logger import logger
from tripybuild.process.atomic_write import atomic_write, temporary_path
from tripybuild.process.native_work import OvertimeError, run_native
from tripybuild.process.per_process import per_process

LAYOUT = "v1"  # a folder of the remote, so that other layouts can lie beside it
SLOWEST = 1 << 20  # bytes a second, below which it is not worth to wait
MOST_SECONDS = 300.0  # that a content may take, whatever its size
BLOCK = 8 << 20  # bytes of one request
MOST_LIES = 3
COOLDOWN = 300.0  # seconds in which a remote that failed is not asked
CODE = "cache-remote"
HTTP = frozenset({"http", "https"})
# Where an object appears when all of it is there. Elsewhere it gets its name afterwards.
OBJECT_STORES = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oci", "memory"})
PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "http": "aiohttp", "https": "aiohttp"}
PACKAGES |= {"gs": "gcsfs", "gcs": "gcsfs", "abfs": "adlfs", "abfss": "adlfs", "az": "adlfs"}
Given = TypeVar("Given")


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a remote gave: the record of the content, if it did, and the content's CRC-32."""

    record: EntryRecord | None = None
    checksum: int = 0
    warnings: tuple[Diagnostic, ...] = ()


class Remote:
    """A remote cache, as one process sees it.

    Args:
        settings: Where it is, and what may be done there.
    """

    def __init__(self, settings: RemoteSettings) -> None:
        self.settings = settings
        self._lies = 0
        self._has_warned = False
        self._asleep = {"read": 0.0, "write": 0.0}  # until when, by the process's own clock

    def fetch(self, key: CacheKey, stream: BinaryIO, limit: int) -> Fetched:
        """Copy the content of a key to where the stream stands.

        What is there after a failure means nothing.

        Args:
            key: The key that is asked for.
            stream: Where the content goes.
            limit: The most bytes that it may have.

        Raises:
            OSError: The stream cannot be written.
        """
        if not self._is_awake("read"):
            return Fetched()
        try:
            with self._open(key) as source:
                record = read_record(source, key, limit)
                source.allow(record.size)
                return Fetched(record, copy_content(source, record, stream))
        except FileNotFoundError:
            return Fetched()
        except LocalWriteError as error:
            raise error.__cause__ or OSError from error
        except MalformedEntryError as error:
            return Fetched(warnings=self._count_lie(key, error))
        except Exception as error:  # noqa: BLE001 - of any library, for any address
            return Fetched(warnings=self._sleep("read", "be read", error))

    def upload(self, record: EntryRecord, content: Content) -> tuple[Diagnostic, ...]:
        """Add an entry, all of it or nothing; what is wrong is returned, not raised."""
        if not self.settings.can_write or not self._is_awake("write"):
            return ()
        try:
            limit = self.settings.timeout + _seconds_of(record.size)
            run_timed(partial(self._upload, record, content), limit)
        except Exception as error:  # noqa: BLE001 - of any library, for any address
            return self._sleep("write", "be written to", error)
        return ()

    def probe(self) -> str | None:
        """Ask for an entry that is not there; the reason why that fails, or None."""
        try:
            with self._open(CacheKey({})) as source:
                read_record(source, None, 0)
        except (FileNotFoundError, MalformedEntryError):
            return None
        except Exception as error:  # noqa: BLE001 - of any library, for any address
            hint = f"; {self._hint(error)}" if isinstance(error, ImportError) else ""
            return f"{self._reason(error)}{hint}"
        return None

    @cached_property
    def _filesystem(self) -> tuple[Any, str]:
        """What reads the address, and the path of its root there."""
        import fsspec  # noqa: PLC0415 - an extra

        protocol, url = self.settings.protocol, self.settings.url
        if protocol in HTTP:
            # A redirect is not followed: the store is what the address names, and no other machine.
            # What is compressed on the way is not what was stored, and could be of any size.
            options: dict[str, Any] = {"allow_redirects": False, "skip_instance_cache": True}
            options["client_kwargs"] = {"auto_decompress": False}
            return fsspec.filesystem(protocol, **options), url
        filesystem, root = fsspec.core.url_to_fs(url, skip_instance_cache=True)
        return filesystem, str(root)

    def _place(self, key: str) -> str:
        """The path of an entry: of a key, nothing but hexadecimal digits."""
        if len(key) != 64 or not key.isalnum():
            raise ValueError(f"`{key}` is not a key")
        root, mark, query = self._filesystem[1], "", ""
        if self.settings.protocol in HTTP:
            root, mark, query = root.partition("#")[0].partition("?")
        return f"{root.rstrip('/')}/{LAYOUT}/{key[:2]}/{key[2:]}{mark}{query}"

    def _open(self, key: CacheKey) -> "TimedStream":
        """Open the object of a key.

        Raises:
            Exception: There is none, or the address cannot be read.
        """

        def start() -> BinaryIO:
            filesystem, root = self._filesystem
            options: dict[str, Any] = {"block_size": BLOCK}
            if self.settings.protocol in HTTP:
                options = {"block_size": 0, "size": 1}  # one request, and nothing is asked before
            elif self._is_folder and not self.settings.can_write and not Path(root).is_dir():
                raise NotADirectoryError(0, f"there is no folder `{root}`")
            return filesystem.open(self._place(key), "rb", **options)  # type: ignore[no-any-return]

        return TimedStream(run_timed(start, self.settings.timeout), self.settings.timeout)

    @property
    def _is_folder(self) -> bool:
        return self.settings.protocol in {"file", "local"}

    def _upload(self, record: EntryRecord, content: Content) -> None:
        filesystem = self._filesystem[0]
        place, protocol = self._place(record.key), self.settings.protocol
        if self._is_folder:
            Path(place).parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(Path(place)) as stream:
                stream.writelines(envelope_pieces(record, content))
            return
        with tempfile.NamedTemporaryFile() as whole:
            whole.writelines(envelope_pieces(record, content))
            whole.flush()
            if protocol in HTTP:
                filesystem.put_file(whole.name, place, method="put")
            elif protocol in OBJECT_STORES:
                filesystem.put_file(whole.name, place)
            else:
                partial_place = str(temporary_path(Path(place).parent, Path(place).name))
                filesystem.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH120 - remote
                filesystem.put_file(whole.name, partial_place)
                filesystem.mv(partial_place, place)

    def _is_awake(self, way: str) -> bool:
        return self._lies < MOST_LIES and time.monotonic() >= self._asleep[way]

    def _count_lie(self, key: CacheKey, error: MalformedEntryError) -> tuple[Diagnostic, ...]:
        self._lies += 1
        text = f"The entry `{key[:12]}` of the remote cache `{self.settings.shown}` is not used"
        return self._warn(f"{text}: {error}", "it is made again; look at what else writes there")

    def _sleep(self, way: str, verb: str, error: Exception) -> tuple[Diagnostic, ...]:
        """Leave the remote alone for a while: one that is full is read all the same."""
        until = time.monotonic() + COOLDOWN
        self._asleep["write"] = until
        if way == "read":
            self._asleep["read"] = until
        message = f"The remote cache `{self.settings.shown}` cannot {verb}: {self._reason(error)}"
        return self._warn(message, self._hint(error))

    def _reason(self, error: Exception) -> str:
        if isinstance(error, ImportError):
            return f"`{self._package(error)}` is not installed"
        if isinstance(error, DiagnosticError):
            return error.diagnostics[0].message
        return self.settings.reason(error)

    def _hint(self, error: Exception) -> str:
        if isinstance(error, ImportError):
            beside = PACKAGES.get(self.settings.protocol)
            packages = " ".join(filter(None, ["'tripybuild[remote]'", beside]))
            return f"`pip install {packages}`"
        return "everything is made here meanwhile"

    def _package(self, error: ImportError) -> str:
        own = PACKAGES.get(self.settings.protocol, self.settings.protocol)
        return "fsspec" if error.name == "fsspec" else own

    def _warn(self, message: str, hint: str) -> tuple[Diagnostic, ...]:
        logger.verbose(message)
        if self._has_warned:
            return ()
        self._has_warned = True
        return (Diagnostic(CODE, message, hint=hint),)


class TimedStream:
    """A stream of a remote, each read of which has its time, as all of them together have.

    Args:
        stream: What is read.
        timeout: Seconds for each read, and for all until more is allowed.
    """

    def __init__(self, stream: BinaryIO, timeout: float) -> None:
        self._stream, self._timeout = stream, timeout
        self._end = time.monotonic() + timeout

    def allow(self, size: int) -> None:
        """Let so many bytes more take their time."""
        self._end += _seconds_of(size)

    def read(self, size: int) -> bytes:
        """Read at most so many bytes; none where the stream ends.

        Raises:
            TimeoutError: They do not come in time.
            Exception: What the stream raises.
        """
        left = self._end - time.monotonic()
        return run_timed(partial(self._stream.read, size), max(0.0, min(left, self._timeout)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(Exception):
            self._stream.close()


def run_timed(work: Callable[[], Given], seconds: float) -> Given:
    """Do work in so many seconds.

    Raises:
        TimeoutError: It is not done; a thread that nothing waits for goes on with it.
        Exception: What the work raises.
    """
    try:
        return run_native(work, seconds)
    except OvertimeError as error:
        raise TimeoutError from error


def _seconds_of(size: int) -> float:
    """The time that a content may take."""
    return min(size / SLOWEST, MOST_SECONDS)


@per_process
def _remote_of(settings: RemoteSettings) -> Remote:
    return Remote(settings)


def remote_cache() -> Remote | None:
    """The remote cache that the environment names, one object for each in a process.

    Raises:
        DiagnosticError: The environment says what cannot be.
    """
    settings = remote_settings()
    return None if settings is None else _remote_of(settings)
