"""ZIP framing of an executable: uncompressed, with exactly one valid byte layout.

Names, sizes and checksums decide every byte. The reader does not parse these bytes but compares
them, so there is nothing that two programs could read differently.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

LOCAL = struct.Struct("<4s5H3L2H")
CENTRAL = struct.Struct("<4s6H3L5H2L")
END = struct.Struct("<4s4H2LH")
END_64 = struct.Struct("<4sQ2H2L4Q")
LOCATOR = struct.Struct("<4sLQL")

LARGE = 0xFFFFFFFF  # this and more do not fit into 32 bits
MOST_MEMBERS = 0xFFFF - 1
# The first date of DOS, and not the real one, so that equal inputs give equal bytes.
NEW_YEAR_1980 = 1 << 5 | 1
READABLE = 0o100644 << 16  # a regular file, in the words of Unix
UNIX = 3 << 8
# Where the content of a large member begins: whole pages, so that it can be written past the
# system's memory, and a file system that shares blocks can share them.
ALIGNMENT = 1 << 20
SIZE_OFFSET = 22  # of a member's size in its header


@dataclass(frozen=True, slots=True)
class Entry:
    """What the layout must know of a member."""

    name: str
    size: int
    crc32: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Each member's header and the offset of its content, and the end of the file."""

    headers: tuple[bytes, ...]
    offsets: tuple[int, ...]
    tail: bytes
    tail_offset: int

    @property
    def size(self) -> int:
        """The size of the whole file."""
        return self.tail_offset + len(self.tail)


def lay_out(entries: Sequence[Entry]) -> Layout:
    """Place the members one after the other, without gaps."""
    headers, offsets, directory = [], [], []
    position = 0
    for entry in entries:
        header = local_header(entry)
        directory.append(_central_header(entry, position))
        headers.append(header)
        offsets.append(position + len(header))
        position += len(header) + entry.size
    listing = b"".join(directory)
    tail = listing + _end(len(entries), len(listing), position)
    return Layout(tuple(headers), tuple(offsets), tail, position)


def local_header(entry: Entry) -> bytes:
    """Return the bytes before a member's content."""
    name = entry.name.encode("ascii")
    large = entry.size >= LARGE
    size = LARGE if large else entry.size
    extra = struct.pack("<2H2Q", 1, 16, entry.size, entry.size) if large else b""
    fields = (_version(large), 0, 0, 0, NEW_YEAR_1980, entry.crc32, size, size)
    return LOCAL.pack(b"PK\x03\x04", *fields, len(name), len(extra)) + name + extra


def _central_header(entry: Entry, position: int) -> bytes:
    name = entry.name.encode("ascii")
    large, far = entry.size >= LARGE, position >= LARGE
    size = LARGE if large else entry.size
    numbers = ([entry.size] * 2 if large else []) + ([position] if far else [])
    extra = struct.pack(f"<2H{len(numbers)}Q", 1, 8 * len(numbers), *numbers) if numbers else b""
    version = _version(large or far)
    fields = (UNIX | version, version, 0, 0, 0, NEW_YEAR_1980, entry.crc32, size, size)
    lengths = (len(name), len(extra), 0, 0, 0)
    place = LARGE if far else position
    return CENTRAL.pack(b"PK\x01\x02", *fields, *lengths, READABLE, place) + name + extra


def _end(count: int, size: int, position: int) -> bytes:
    end = END.pack(b"PK\x05\x06", 0, 0, count, count, size, min(position, LARGE), 0)
    if position < LARGE:
        return end
    version = _version(large=True)
    numbers = (UNIX | version, version, 0, 0, count, count, size, position)
    end_64 = END_64.pack(b"PK\x06\x06", END_64.size - 12, *numbers)
    return end_64 + LOCATOR.pack(b"PK\x06\x07", 0, position + size, 1) + end


def _version(large: bool) -> int:
    return 45 if large else 20
