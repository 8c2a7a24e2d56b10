"""Digests of contents, such as the members of an executable: SHA-256, and BLAKE3 for large ones.

Law: which of the two a member has follows from its size, so equal contents have equal manifests.
SHA-256 reads a few hundred megabytes a second without the processor's help, and an engine of GPT-2
has 650: compiling and loading it would take longer than building it. BLAKE3 is ten times faster.
"""

import hashlib
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import blake3

LARGE = 1 << 25  # bytes
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


def measured(content: Any) -> tuple[int, str, int]:
    """Give the size of a content in memory, its digest and its CRC-32, computed side by side."""
    view = memoryview(content).cast("B")
    digest = ALGORITHMS[algorithm(len(view))]()
    with ThreadPoolExecutor(1) as worker:  # both let go of Python's lock
        checksum = worker.submit(zlib.crc32, view)
        digest.update(view)
        return len(view), digest.hexdigest(), checksum.result()
