"""Refusal stage: how far a network gets before TensorRT rejects it, and the message.

A layer is not added (`builder`), its result has no type (`shape`), or the network of layers that
TensorRT has typed is not built (`build`).
"""

from typing import Literal

Level = Literal["builder", "shape", "build"]

UNTYPED = "TensorRT refuses the types of"
DIFFERS = "in TensorRT, and not"
UNBUILT = "TensorRT cannot build"
GATED = "cannot compute with"
UNCOMPUTED = "has nothing that computes"

_WORDS: tuple[tuple[str, Level], ...] = (
    (UNTYPED, "shape"),
    (DIFFERS, "shape"),
    (UNBUILT, "build"),
    (GATED, "build"),
    (UNCOMPUTED, "build"),
)


def level(message: str) -> Level:
    """Return how far a network came, from the message of the diagnostic."""
    return next((level for words, level in _WORDS if words in message), "builder")
