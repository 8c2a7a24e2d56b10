"""Wire protocol between the session and the compiler process.

A message is a JSON object and raw bytes, both with their length in front. Nothing in it is code:
no pickle, no name to import.
"""

import json
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO

START = struct.Struct("<4sIQ")
MAGIC = b"tbm1"
LONGEST_HEADER = 1 << 27  # a model's weights are named in it, each with its place
LONGEST_BODY = 1 << 36
PIECE = 1 << 20
PHASE = "phase"  # the outcome of what is said while a request is worked on

Header = dict[str, Any]


class BrokenMessageError(Exception):
    """The other side did not send a whole, well-formed message."""


def send(stream: BinaryIO, header: Mapping[str, object], body: bytes | memoryview = b"") -> None:
    """Write one message."""
    text = json.dumps(header).encode()
    for content in (START.pack(MAGIC, len(text), len(body)) + text, body):
        rest = memoryview(content)
        while rest:
            rest = rest[stream.write(rest) :]
    stream.flush()


def receive(stream: BinaryIO) -> tuple[Header, bytes] | None:
    """Read one message, or return None where the stream ends before one begins.

    Raises:
        BrokenMessageError: The stream ends inside a message, or says something else.
    """
    start = _read(stream, START.size)
    if not start:
        return None
    magic, header_size, body_size = START.unpack(start) if len(start) == START.size else (b"", 0, 0)
    if magic != MAGIC or header_size > LONGEST_HEADER or body_size > LONGEST_BODY:
        raise BrokenMessageError("this is not a message")
    text, body = _read(stream, header_size), _read(stream, body_size)
    if len(text) != header_size or len(body) != body_size:
        raise BrokenMessageError("the message is incomplete")
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BrokenMessageError("the header is not JSON") from error
    if not isinstance(header, dict):
        raise BrokenMessageError("the header is not an object")
    return header, bytes(body)


def _read(stream: BinaryIO, size: int) -> bytearray:
    """Read so many bytes, or fewer where the stream ends; allocate only as they come."""
    content = bytearray()
    while len(content) < size:
        piece = stream.read(min(PIECE, size - len(content)))
        if not piece:
            break
        content += piece
    return content
