"""Envelopes: an entry as one object, as it lies in a remote cache and in an archive.

An envelope is a magic number, the length of the record, the record's digest, the record as JSON,
and the content. It names no file and no place. A reader takes nothing for granted: the record's key
is computed from its parts, its length is bounded before memory is taken, and the content is hashed
while it is copied to where nothing looks for it yet.

A signature would be one of the record's bytes: they hold the key and the content's digest.
"""

import zlib
from collections.abc import Iterator
from hashlib import sha256
from typing import BinaryIO, Protocol

from tripybuild.artifact.members import PIECE, Content, pieces
from tripybuild.cache.records import (
    LONGEST_RECORD,
    EntryRecord,
    MalformedRecordError,
    decode_record,
)
from tripybuild.process.hashing import ALGORITHMS, algorithm

MAGIC = b"tbentry1"
LENGTH, DIGEST = 4, 32  # bytes of the record's length and of its digest


class Source(Protocol):
    """What can be read piece by piece."""

    def read(self, size: int, /) -> bytes:
        """At most so many bytes; none at the end."""
        ...


class MalformedEntryError(ValueError):
    """What was read is not the envelope of an entry, or not of the entry that was asked for."""


class LocalWriteError(Exception):
    """The copy could not be written; its cause is the operating system's error."""


def envelope_pieces(record: EntryRecord, content: Content) -> Iterator[bytes | memoryview]:
    """The bytes of an envelope, piece by piece.

    Raises:
        DiagnosticError: The content is in a file that cannot be read.
    """
    encoded = record.encode()
    yield MAGIC + len(encoded).to_bytes(LENGTH, "little") + sha256(encoded).digest() + encoded
    yield from pieces(content)


def read_record(stream: Source, key: str | None, limit: int) -> EntryRecord:
    """Read an envelope up to its content.

    Args:
        stream: What is read; it may give less than it is asked for.
        key: The key that it must have; any, where that is None.
        limit: The most bytes that the content may have.

    Raises:
        MalformedEntryError: It is no envelope or another entry's, or its content is too large.
        Exception: What the stream raises.
    """
    begin = _read_exactly(stream, len(MAGIC) + LENGTH + DIGEST)
    if begin[: len(MAGIC)] != MAGIC:
        raise MalformedEntryError("it is not an entry of a cache")
    length = int.from_bytes(begin[len(MAGIC) :][:LENGTH], "little")
    if length > LONGEST_RECORD:
        raise MalformedEntryError("its record is too long")
    encoded = _read_exactly(stream, length)
    if sha256(encoded).digest() != begin[-DIGEST:]:
        raise MalformedEntryError("its record was changed")
    try:
        record = decode_record(encoded)
    except MalformedRecordError as error:
        raise MalformedEntryError(str(error)) from error
    if key is not None and record.key != key:
        raise MalformedEntryError("it is the entry of another key")
    if record.size > limit:
        raise MalformedEntryError(f"its content has {record.size:,} bytes")
    return record


def copy_content(stream: Source, record: EntryRecord, target: BinaryIO) -> int:
    """Copy the content of an envelope whose record was read, and return its CRC-32.

    Raises:
        MalformedEntryError: It is shorter, or not what the record says.
        LocalWriteError: The target cannot be written.
        Exception: What the stream raises.
    """
    digest, checksum, left = ALGORITHMS[algorithm(record.size)](), 0, record.size
    while left:
        piece = stream.read(min(left, PIECE))
        if not piece:
            raise MalformedEntryError("its content ends early")
        digest.update(piece)
        checksum = zlib.crc32(piece, checksum)
        left -= len(piece)
        try:
            target.write(piece)
        except OSError as error:
            raise LocalWriteError from error
    if digest.hexdigest() != record.digest:
        raise MalformedEntryError("its content is not what its record says")
    return checksum


def _read_exactly(stream: Source, size: int) -> bytes:
    found = b""
    while len(found) < size:
        piece = stream.read(size - len(found))
        if not piece:
            raise MalformedEntryError("it ends early")
        found += piece
    return found
