"""Dense literals: tokens, shape and bytes of the list in `dense<...>`."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, Signedness

from tripybuild.tensorrt.mlir import elements

_SKIPPED = r"(?:\s++|//[^\n]*+)*+"
_NEXT = re.compile(
    rf"{_SKIPPED}(?:(?P<mark>[\[\],])|(?P<word>-?{_SKIPPED}"
    r"(?:0x[0-9a-fA-F]+|[0-9]+(?:\.[0-9]*(?:[eE][-+]?[0-9]+)?)?|true\b|false\b)))"
)
_MARKS = frozenset("[],")
_BOOLEANS = {"true": 1, "false": 0}
_INDEX_BITS = 64


class LiteralError(Exception):
    """Says why elements are none, and where, if that is known."""

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position


@dataclass(frozen=True, slots=True)
class Literal:
    """The words of elements in order, and the shape of their list: empty for one alone."""

    words: Sequence[str]
    shape: tuple[int, ...]
    end: int


def literal(content: str, start: int) -> Literal:
    """Read a list of elements, or one, that begins at a position."""
    reader = _LiteralReader(content, start)
    shape = reader.value(reader.next())
    return Literal(reader.words, shape, reader.position)


class _LiteralReader:
    """Goes through nested lists, and keeps their words."""

    def __init__(self, content: str, position: int) -> None:
        self.content, self.position = content, position
        self.words: list[str] = []

    def next(self) -> str:
        """Give the next mark or word."""
        found = _NEXT.match(self.content, self.position)
        if found is None:
            raise self._element_error()
        self.position = found.end()
        return found[found.lastgroup or 0]

    def value(self, word: str) -> tuple[int, ...]:
        """Read what a word begins, and give its shape."""
        if word not in _MARKS:
            self.words.append(word)
            return ()
        if word != "[":
            raise self._element_error()
        word = self.next()
        if word == "]":
            return (0,)
        shape, count = self.value(word), 1
        while (word := self.next()) == ",":
            if self.value(self.next()) != shape:
                message = "tensor literal is invalid; ranks are not consistent between elements"
                raise LiteralError(message, self.position - 1)
            count += 1
        if word != "]":
            raise self._element_error()
        return count, *shape

    def _element_error(self) -> LiteralError:
        return LiteralError("expected element literal of primitive type", self.position)


def encode(found: Literal, element: AnyFloat | IntegerType | IndexType) -> bytes:
    """Give the bytes of elements of a type."""
    words = ["".join(word.split()) if " " in word else word for word in found.words]
    if isinstance(element, IntegerType | IndexType):
        return _integers(words, element)
    return _floats(words, element)


def _floats(words: Sequence[str], element: AnyFloat) -> bytes:
    dtype = elements.known_dtype(element) if len(words) > 1 else None
    if dtype is not None and not any("0x" in word or "." not in word for word in words):
        with np.errstate(over="ignore"):
            return np.array(words, np.float64).astype(dtype).tobytes()
    size = elements.size_of(element)
    return b"".join(_float(word, element, size) for word in words)


def _float(word: str, element: AnyFloat, size: int) -> bytes:
    if "0x" in word:
        bits = int(word, 16)
        width = element.bitwidth
        if bits < 0 or bits.bit_length() > width:
            message = (
                "hexadecimal float literal with a leading minus"
                if bits < 0
                else ("hexadecimal float constant out of range for type")
            )
            raise LiteralError(f"{message}: `{word}`")
        return bits.to_bytes(size, "little")
    if word in _BOOLEANS:
        raise LiteralError("expected floating-point elements, but parsed a truth value")
    if "." not in word:
        raise LiteralError(
            f"unexpected decimal integer literal for a floating point value: `{word}` "
            f"needs a trailing dot"
        )
    try:
        return element.pack((float(word),))
    except OverflowError:
        return element.pack((math.copysign(math.inf, float(word)),))


def _integers(words: Sequence[str], element: IntegerType | IndexType) -> bytes:
    width = element.bitwidth if isinstance(element, IntegerType) else _INDEX_BITS
    low, high = _bounds(element, width)
    size = elements.size_of(element)
    parts = []
    for word in words:
        value = _integer(word, width)
        if not low <= value <= high:
            raise LiteralError(f"integer constant out of range for type: `{word}`")
        filled = value - (1 << width) if value >= 1 << (width - 1) and low < 0 else value
        parts.append(filled.to_bytes(size, "little", signed=filled < 0))
    return b"".join(parts)


def _integer(word: str, width: int) -> int:
    if word in _BOOLEANS:
        if width != 1:
            raise LiteralError("expected i1 type for 'true' or 'false' values")
        return _BOOLEANS[word]
    if "." in word:
        raise LiteralError(f"expected integer elements, but parsed floating-point: `{word}`")
    return int(word, 16 if "0x" in word else 10)


def _bounds(element: IntegerType | IndexType, width: int) -> tuple[int, int]:
    """Integers without a sign may be written as either kind."""
    sign = element.signedness.data if isinstance(element, IntegerType) else Signedness.SIGNED
    low = 0 if sign is Signedness.UNSIGNED else -(1 << (width - 1))
    return low, (1 << (width - 1)) - 1 if sign is Signedness.SIGNED else (1 << width) - 1
