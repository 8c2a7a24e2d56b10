"""Parser of dense constants: `dense<...>`, `dense_resource<...>`, and resources.

Invariant: the elements are MLIR's, bit by bit. `0x7F800000` among floats is a pattern of bits, and
a decimal integer is none of them; integers are in the range of their type. Long lists are read at
once, not token by token.
"""

from typing import Any, cast

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
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from tripybuild.tensorrt.mlir import elements
from tripybuild.tensorrt.mlir.reading.literals import Literal, LiteralError, encode, literal
from tripybuild.tensorrt.mlir.reading.location_reader import LocationReader

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
        self.slip(found.end)
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
        self.slip(end)
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
