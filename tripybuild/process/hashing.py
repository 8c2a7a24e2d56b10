"""Digests: SHA-256, and BLAKE3 for large contents; of what native code depends on.

Invariant: which of the two a member has follows from its size, so equal contents have equal
manifests. SHA-256 reads a few hundred megabytes a second without the processor's help, and an
engine of GPT-2 has 650: compiling and loading it would take longer than building it. BLAKE3 is ten
times faster.
"""

import hashlib
import json
import platform
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import blake3

LARGE = 1 << 25  # bytes
PIECE = 1 << 22  # bytes that are read at once
SHA256, BLAKE3 = "sha256", "blake3"


class Digest(Protocol):
    """A digest that is being computed."""

    def update(self, data: Any, /) -> object:
        """Go on with more bytes."""

    def hexdigest(self) -> str:
        """The digest of all bytes so far."""


ALGORITHMS: dict[str, Callable[[], Digest]] = {SHA256: hashlib.sha256, BLAKE3: blake3.blake3}


def algorithm(size: int) -> str:
    """The name of the algorithm for a content of so many bytes."""
    return BLAKE3 if size >= LARGE else SHA256


class ContentDigest(NamedTuple):
    """What is known of a content."""

    size: int
    digest: str
    crc32: int


class StreamingDigest:
    """The size and the digests of a content that comes in pieces.

    Which algorithm it has is known when it is large, or at its end: until then, pieces wait.
    """

    def __init__(self) -> None:
        self._size = self._checksum = 0
        self._waiting: list[Any] = []
        self._digest: Digest | None = None

    def update(self, piece: Any) -> None:
        """Go on with more bytes, which must not change while they wait."""
        self._size += len(piece)
        self._checksum = zlib.crc32(piece, self._checksum)
        self._waiting.append(piece)
        if self._size >= LARGE:
            self._absorb()

    def result(self) -> ContentDigest:
        """What was measured of all pieces."""
        return ContentDigest(self._size, self._absorb().hexdigest(), self._checksum)

    def _absorb(self) -> Digest:
        if self._digest is None:
            self._digest = ALGORITHMS[algorithm(self._size)]()
        for piece in self._waiting:
            self._digest.update(piece)
        self._waiting = []
        return self._digest


def file_digest(path: Path) -> ContentDigest:
    """The size and the digests of a file.

    Raises:
        OSError: It cannot be read.
    """
    measured = StreamingDigest()
    with path.open("rb", buffering=0) as file:
        while piece := file.read(PIECE):
            measured.update(piece)
    return measured.result()


def processor_identity() -> str:
    """The processor's model and a digest of its features, on which native code depends."""
    wanted = ("vendor_id", "cpu family", "model", "model name", "flags", "Features", "CPU part")
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n\n")[0]
    except OSError:
        lines = f"model name: {platform.processor()}"
    found = dict(line.split(":", 1) for line in lines.splitlines() if ":" in line)
    facts = {name.strip(): value.strip() for name, value in found.items() if name.strip() in wanted}
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]
    return f"{facts.get('model name', platform.machine())} {digest}"
