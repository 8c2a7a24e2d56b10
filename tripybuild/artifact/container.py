"""Executable container: one file with one valid encoding, every byte verified before use.

An uncompressed zip, so that any tool can look inside. `open` checks everything but the members'
contents, whose digests are checked as they are read. Members are read into memory, since a mapped
file that shrinks kills the process.
"""

import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Self

from tripybuild.artifact.array_bytes import aligned_buffer
from tripybuild.artifact.file_errors import (
    container_error,
    other_format_error,
    refuse_pipe,
    unreadable_error,
)
from tripybuild.artifact.manifest import (
    DIGEST,
    DIGEST_SIZE,
    MANIFEST,
    MalformedManifestError,
    Manifest,
    MemberRecord,
    OtherFormatError,
    container_layout,
    decode,
    encode,
    member_order,
    pad_manifest,
)
from tripybuild.artifact.members import (
    PIECE,
    Content,
    FilePart,
    changed_error,
    copy_range,
    measure,
    pieces,
)
from tripybuild.artifact.zip_layout import (
    LOCAL,
    MOST_MEMBERS,
    SIZE_OFFSET,
    Entry,
    Layout,
    local_header,
)
from tripybuild.documents.json_reader import count_entries
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.atomic_write import atomic_write
from tripybuild.process.file_access import read_into
from tripybuild.process.hashing import ALGORITHMS, LARGE

NAME = re.compile(r"[A-Za-z0-9_=,+-][A-Za-z0-9_.=,+-]*(/[A-Za-z0-9_=,+-][A-Za-z0-9_.=,+-]*)*")
LONGEST_NAME = 200
LARGEST_MANIFEST = 1 << 24
READERS = 2  # threads that read a large member
MOST_ENTRIES = 1_000_000  # of a manifest; the largest real ones have some thousands


def write(
    path: Path,
    content: Mapping[str, Any],
    members: Mapping[str, Content],
    measured: Mapping[str, MemberRecord] | None = None,
) -> None:
    """Write an executable; equal arguments give equal bytes.

    Args:
        path: Where to. What is there is replaced when the new file is complete.
        content: The manifest but for `format` and `members`.
        members: The contents by name.
        measured: What `measure` found for members whose memory has not changed since.

    Raises:
        DiagnosticError: A file cannot be read, or the executable cannot be written.
        ValueError: A name is not allowed, or JSON cannot say the content.
    """
    _check_names(members)
    known = measured or {}
    measured = {name: known.get(name) or measure(members[name]) for name in sorted(members)}
    text = pad_manifest(encode(Manifest(measured, content)), measured)
    if _is_too_large(text):
        message = f"the manifest of `{path}` would be too large to be read again"
        raise DiagnosticError(Diagnostic("over-budget", message))
    digest = sha256(text).hexdigest().encode() + b"\n"
    layout = container_layout(text, digest, measured)
    names = member_order(measured)
    with atomic_write(path, given=_first_member_link(members, names, layout)) as stream:
        there = os.fstat(stream.fileno()).st_size > 0  # the first member is
        stream.write(layout.headers[0] + text + layout.headers[1] + digest)
        for header, name in zip(layout.headers[2:], names, strict=True):
            stream.write(header)
            if there and name == names[0]:
                stream.seek(measured[name].size, os.SEEK_CUR)
            else:
                _copy(stream, members[name], measured[name])
        stream.write(layout.tail)
        stream.truncate()


def _first_member_link(
    members: Mapping[str, Content], names: Sequence[str], layout: Layout
) -> Callable[[Path], bool]:
    """Give away the file in which the first member stands at its place, if there is one."""
    first = members[names[0]] if names else b""
    if isinstance(first, FilePart) and first.offset == layout.offsets[2]:
        return first.file.link_to
    return lambda _: False


def _is_too_large(manifest: bytes) -> bool:
    return len(manifest) > LARGEST_MANIFEST or count_entries(manifest) > MOST_ENTRIES


def _decode_manifest(text: bytes) -> Manifest:
    """Read a manifest with the blanks that are behind it, and no others."""
    own = text[: text.rfind(b"\n") + 1]  # it ends with a line
    found = decode(own)
    if pad_manifest(own, found.members) != text:
        raise MalformedManifestError("it is not in canonical form")
    return found


def _check_names(names: Mapping[str, object]) -> None:
    """Allow names that are safe to extract on every system."""
    folded = {name.lower() for name in names} | {MANIFEST, DIGEST}
    if len(folded) != len(names) + 2 or len(folded) > MOST_MEMBERS:
        raise ValueError("two members have the same name, or there are too many of them")
    for name in names:
        if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
            raise ValueError(f"a member cannot be named {name!r}")


def _copy(stream: BinaryIO, content: Content, expected: MemberRecord) -> None:
    if isinstance(content, FilePart) and copy_range(content, stream):
        return
    if not isinstance(content, FilePart) and memoryview(content).readonly:
        stream.write(content)  # it is what was measured
        return
    checksum = size = 0
    for piece in pieces(content):
        checksum = zlib.crc32(piece, checksum)
        size += stream.write(piece)
    if (checksum, size) != (expected.crc32, expected.size):
        raise changed_error(content)


def looks_like_container(path: Path) -> bool:
    """Whether a file is empty, or begins as executables do, whole or not: such may be replaced."""
    try:
        with path.open("rb") as file:
            head = file.read(2 * LONGEST_NAME)
    except OSError:
        return True  # writing will say what is wrong with it
    return not head or MANIFEST.encode() in head


def open(path: Path) -> "Container":
    """Open an executable and check all of it but the contents of its members.

    Raises:
        DiagnosticError: There is no such file, or it is not one that `write` has written.
    """
    try:
        refuse_pipe(path)
        file = path.open("rb", buffering=0)
    except FileNotFoundError as error:
        message = f"there is no file `{path}`"
        raise DiagnosticError(Diagnostic("file-not-found", message)) from error
    except OSError as error:
        raise unreadable_error(path, error) from error
    try:
        return Container(path, file)
    except OSError as error:
        file.close()
        raise unreadable_error(path, error) from error
    except BaseException:
        file.close()
        raise


class Container:
    """An open executable."""

    manifest: Manifest

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self._file = file
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise self._refusal("not-recognized", "it is not a regular file")
        self._size = status.st_size
        text, digest = self._read_manifest()
        self.manifest = self._decode(text)
        try:
            _check_names(self.manifest.members)
        except ValueError as error:
            raise self._refusal("altered", str(error)) from error
        layout = container_layout(text, digest, self.manifest.members)
        self._check_layout(layout)
        self._offsets = dict(
            zip(member_order(self.manifest.members), layout.offsets[2:], strict=True)
        )

    def read(self, name: str) -> memoryview:
        """Read a member into memory, at an address that is a multiple of 64.

        Raises:
            KeyError: There is no such member.
            DiagnosticError: Its content is not the one that was written.
        """
        member, offset = self.manifest.members[name], self._offsets[name]
        content = aligned_buffer(member.size).data
        digest = ALGORITHMS[member.algorithm]()
        try:
            for piece in self._pieces(content, offset):
                digest.update(piece)
        except OSError as error:
            raise unreadable_error(self.path, error) from error
        if digest.hexdigest() != member.digest:
            raise self._refusal("altered", f"the content of `{name}` is corrupted")
        return content.toreadonly()

    def _pieces(self, content: memoryview, offset: int) -> Iterator[memoryview]:
        """Read memory piece by piece, and what is large by several threads: it is new memory.

        Its pieces are large, since each of them waits for Python, which others may be running.
        """
        size = PIECE if len(content) < LARGE else LARGE

        def read(begin: int) -> memoryview:
            piece = content[begin : begin + size]
            self._fill(piece, offset + begin)
            return piece

        begins = range(0, len(content), size)
        if len(begins) < READERS or size == PIECE:
            yield from map(read, begins)
            return
        with ThreadPoolExecutor(READERS) as readers:
            yield from readers.map(read, begins)

    def verify(self) -> None:
        """Check every member's content.

        Raises:
            DiagnosticError: One of them is not what was written.
        """
        for name in self.manifest.members:
            self.read(name)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read_manifest(self) -> tuple[bytes, bytes]:
        """Read the manifest and its digest, which stand first in every format."""
        start = self._read_at(0, LOCAL.size + len(MANIFEST))
        size = int.from_bytes(start[SIZE_OFFSET : SIZE_OFFSET + 4], "little")
        if start[:4] != b"PK\x03\x04" or start[LOCAL.size :] != MANIFEST.encode():
            raise self._refusal("not-recognized", "it does not begin with a manifest")
        if size > LARGEST_MANIFEST:
            raise self._refusal("altered", "its manifest is too large")
        text = self._read_at(len(start), size)
        expected = sha256(text).hexdigest().encode() + b"\n"
        entry = Entry(DIGEST, DIGEST_SIZE, zlib.crc32(expected))
        header = local_header(entry)
        found = self._read_at(len(start) + size, len(header) + DIGEST_SIZE)
        if found != header + expected:
            raise self._refusal("altered", "its manifest is corrupted")
        return text, expected

    def _decode(self, text: bytes) -> Manifest:
        if _is_too_large(text):
            raise self._refusal("altered", "its manifest is too large")
        try:
            return _decode_manifest(text)
        except OtherFormatError as error:
            raise other_format_error(self.path, error.args[0]) from error
        except MalformedManifestError as error:
            raise self._refusal("altered", f"its manifest is malformed: {error}") from error

    def _check_layout(self, layout: Layout) -> None:
        if self._size < layout.size:
            raise self._refusal(
                "truncated", f"it has {self._size} bytes and should have {layout.size}"
            )
        if self._size > layout.size:
            raise self._refusal("altered", f"{self._size - layout.size} bytes follow its end")
        for header, offset in zip(layout.headers, layout.offsets, strict=True):
            if self._read_at(offset - len(header), len(header)) != header:
                raise self._refusal("altered", "a member's header is corrupted")
        if self._read_at(layout.tail_offset, len(layout.tail)) != layout.tail:
            raise self._refusal("altered", "its directory is corrupted")

    def _read_at(self, offset: int, size: int) -> bytes:
        if offset + size > self._size:
            found = f"it has {self._size} bytes and should have more"
            raise self._refusal("truncated", found)
        content = bytearray(size)
        self._fill(memoryview(content), offset)
        return bytes(content)

    def _fill(self, space: memoryview, offset: int) -> None:
        while space:
            count = read_into(self._file.fileno(), space, offset)
            if not count:
                raise self._refusal("truncated", "it became shorter while it was read")
            space, offset = space[count:], offset + count

    def _refusal(self, what: str, found: str) -> DiagnosticError:
        return container_error(self.path, what, found)
