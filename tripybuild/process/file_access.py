"""Reading and writing at positions of an open file, where the system has it and where not.

Windows lacks `pread` and its like, and the flags of POSIX: there a lock keeps the position of a
descriptor and what is read or written together.
"""

import os
import threading
from typing import Any

_BINARY = getattr(os, "O_BINARY", 0)  # without it, Windows changes the ends of lines
_CLOSED_IN_CHILDREN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)
# A pipe is opened without waiting for its other end, and refused for what it is.
READ_FLAGS: int = os.O_RDONLY | _BINARY | _CLOSED_IN_CHILDREN | getattr(os, "O_NONBLOCK", 0)
WRITE_FLAGS: int = os.O_WRONLY | os.O_CREAT | _BINARY | _CLOSED_IN_CHILDREN
_position = threading.Lock()


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """Read at most so many bytes from an offset on; none where the file ends.

    Raises:
        OSError: The system refuses it.
    """
    if hasattr(os, "pread"):
        return os.pread(descriptor, size, offset)
    with _position:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, size)


def read_into(descriptor: int, space: memoryview, offset: int) -> int:
    """Fill memory from an offset of a file on, and give how many bytes came.

    Raises:
        OSError: The system refuses it.
    """
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, [space], offset)
    content = read_at(descriptor, len(space), offset)
    space[: len(content)] = content
    return len(content)


def write_at(descriptor: int, content: Any, offset: int) -> int:
    """Write bytes at an offset, and give how many were written.

    Raises:
        OSError: The system refuses it.
    """
    if hasattr(os, "pwrite"):
        return os.pwrite(descriptor, content, offset)
    with _position:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.write(descriptor, content)
