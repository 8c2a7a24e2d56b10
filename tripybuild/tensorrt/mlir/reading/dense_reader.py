"""Parser of dense constants: `dense<...>`, `dense_resource<...>`, and resources.

Invariant: the elements are MLIR's, bit by bit. `0x7F800000` among floats is a pattern of bits, and
a decimal integer is none of them; integers are in the range of their type. Long lists are read at
once, not token by token.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyDenseElement,
    AnyFloat,
    BytesAttr,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    MemRefType,
    RankedStructure,
    Signedness,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from tripybuild.tensorrt.mlir import elements
from tripybuild.tensorrt.mlir.reading.lexer import SPACE
from tripybuild.tensorrt.mlir.reading.location_reader import LocationReader

_NEXT = re.compile(
    rf"{SPACE}(?:(?P<mark>[\[\],])|(?P<word>-?{SPACE}"
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


MOST_ELEMENTS = 1 << 48  # no array has many more
MOST_COMPLEX = 1 << 20


class DenseReader(LocationReader):
    """A parser that knows all constants."""

    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> DenseIntOrFPElementsAttr:
        """Read what follows `dense`, and the type if it is not given."""
        start = self.pos
        if self.token.text != "<":
            self.raise_error("expected '<' after 'dense'")
        if self._is_complex(start):
            if type is not None:
                self._check_complex(type, self.token)
            return super().parse_dense_int_or_fp_elements_attr(type)
        self._consume_token()
        content = self._dense_content()
        end = self.pos
        self.parse_punctuation(">", " after the elements")
        if type is None:
            self.parse_punctuation(":", " and a type after a dense constant")
            type = self._parse_dense_literal_type()
        try:
            data = self._data(content, cast("Any", type))
        except LiteralError as error:
            place = start if error.position is None else error.position
            self.raise_error(str(error), place, end if error.position is None else place + 1)
        return DenseIntOrFPElementsAttr(type, BytesAttr(data))

    def _parse_dense_literal_type(self) -> Any:
        place = self.token
        type = self.parse_type()
        if not isinstance(type, TensorType | VectorType | MemRefType) or not isinstance(
            type.element_type, IntegerType | IndexType | AnyFloat | ComplexType
        ):
            self.raise_error("elements literal must be a shaped type of numbers", place)
        if DYNAMIC_INDEX in type.get_shape():
            self.raise_error("elements literal type must have static shape", place)
        if isinstance(type.element_type, ComplexType):
            self._check_complex(type, place)
        return type

    def _check_complex(self, type: Any, place: Any) -> None:
        """Complex numbers are read by xDSL, one by one, and a splat in full."""
        if elements.count_of(type.get_shape()) > MOST_COMPLEX:
            message = f"a constant has at most {MOST_COMPLEX:,} complex elements"
            self.raise_error(message, place)

    def _is_complex(self, start: int) -> bool:
        """Whether the elements are pairs, which xDSL reads."""
        return self.lines.input.content[start + 1 : start + 100].lstrip(" \n[").startswith("(")

    def _dense_content(self) -> bytes | Literal | None:
        """Read hexadecimal data, a list of elements or one, or nothing."""
        token = self.token
        if token.kind is Kind.GREATER:
            return None
        if token.kind is Kind.STRING_LIT:
            self._consume_token()
            return self._hexadecimal(token.text[1:-1], token)
        try:
            found = literal(token.input.content, token.start)
        except LiteralError as error:
            place = token.start if error.position is None else error.position
            self.raise_error(str(error), place, place + 1)
        self._resume_from(found.end)
        return found

    def _hexadecimal(self, text: str, token: Any) -> bytes:
        if not text.startswith("0x"):
            self.raise_error("elements hex string should start with '0x'", token)
        try:
            return bytes.fromhex(text[2:])
        except ValueError:
            self.raise_error("elements hex string only contains hex digits", token)

    @staticmethod
    def _data(content: bytes | Literal | None, type: Any) -> bytes:
        shape, element = tuple(type.get_shape()), type.element_type
        count = elements.count_of(shape)
        if count > MOST_ELEMENTS:
            raise LiteralError(f"a constant has at most {MOST_ELEMENTS:,} elements")
        if isinstance(content, bytes):
            data = elements.from_mlir_bytes(content, element, count)
            if data is None:
                raise LiteralError(f"elements hex data size is invalid for provided type: '{type}'")
            return data
        if content is None:
            if count:
                raise LiteralError(f"parsed zero elements, but type ('{type}') expected at least 1")
            return b""
        if isinstance(element, ComplexType):
            raise LiteralError("expected element literal of a complex number: '(1.0, 2.0)'")
        if content.shape and content.shape != shape:
            found, wanted = (", ".join(map(str, each)) for each in (content.shape, shape))
            raise LiteralError(
                f"inferred shape of elements literal ([{found}]) does not match type ([{wanted}])"
            )
        data = encode(content, cast("AnyFloat | IntegerType | IndexType", element))
        return data if content.shape else elements.splat_bytes(data, count)

    def _parse_builtin_densearray_attr(self) -> DenseArrayBase | None:
        place = self.pos
        self.parse_punctuation("<", " in array")
        element = self.parse_type()
        if not isinstance(element, IntegerType | AnyFloat):
            self.raise_error("expected integer or floating point type", place)
        words: Literal | None = None
        if self.parse_optional_punctuation(":") is not None:
            try:
                words = literal(f"[{self._array_body()}]", 0)
                data = encode(words, element)
            except LiteralError as error:
                self.raise_error(str(error), place)
        self.parse_punctuation(">", " in array")
        return DenseArrayBase(element, BytesAttr(b"" if words is None else data))

    def _array_body(self) -> str:
        """Take the text up to the `>` that ends an array."""
        content, start = self.token.input.content, self.token.start
        end = content.find(">", start)
        if end < 0:
            self.raise_error("expected '>' in array")
        self._resume_from(end)
        return content[start:end]

    def _parse_dialect_resource_handle(
        self, dialect_name: str, interface: OpAsmDialectInterface
    ) -> str:
        key = self.parse_identifier_or_str_literal(" for a resource")
        self.dialect_resources.add((dialect_name, key))
        return interface.declare_resource(key)

    def _parse_external_resources(self) -> None:
        """Pass over what other tools keep in a text, such as a pipeline to reproduce a crash."""
        braces = self.Delimiter.BRACES
        self.parse_comma_separated_list(braces, lambda: self._skip_entry(nested=True))

    def _skip_entry(self, *, nested: bool) -> None:
        self.parse_identifier_or_str_literal()
        self.parse_punctuation(":")
        if nested:
            braces = self.Delimiter.BRACES
            self.parse_comma_separated_list(braces, lambda: self._skip_entry(nested=False))
        else:
            self.parse_attribute()

    def _parse_optional_builtin_parametrized_attr(self) -> Attribute | None:
        if self.token.text == "sparse" and self.token.kind is Kind.BARE_IDENT:
            self.raise_error("sparse constants are not supported; write a `dense` one")
        return super()._parse_optional_builtin_parametrized_attr()
