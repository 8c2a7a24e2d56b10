"""Fast path of xDSL's parser: quick tokens, memoized types, and aliases that cost what they name.

Invariant: it accepts what xDSL's parser accepts. A type that is written again in the same way is
the same object, so that what is looked up by it is found at once.
"""

import re
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, TypeAttribute
from xdsl.parser import Parser
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.lexer import Input, Token
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING as PUNCTUATION,
    MLIRTokenKind as Kind,
    PunctuationSpelling,
)

from tripybuild.errors.budget import spend
from tripybuild.tensorrt.mlir.reading.lexer import Lexer, LexerToken


class Expansions(dict[str, Attribute]):
    """Attributes and types by alias; what is named while one is defined is a part of it."""

    def __init__(self) -> None:
        super().__init__()
        self._lengths: dict[str, int] = {}
        self._open: int | None = None

    def begin(self) -> None:
        """Begin to measure a definition."""
        self._open = 0

    def end(self, name: str, written: int) -> None:
        """End a definition, whose own text has so many characters."""
        length = written + (self._open or 0)
        self._open = None
        self._lengths[name] = length
        spend("expansion", length)

    def __getitem__(self, name: str) -> Attribute:
        """What an alias stands for, where it is written in full; it is there."""
        if self._open is None:
            spend("expansion", self._lengths.get(name, 0))
        else:
            self._open += self._lengths.get(name, 0)
        return super().__getitem__(name)

    def location(self, name: str) -> Attribute | None:
        """Size of a location alias: locations are referenced, never expanded."""
        if self._open is not None:
            self._open += self._lengths.get(name, 0)
        return self.get(name)


# A tensor whose text names nothing that another text could mean otherwise.
WIDEST = (1 << 24) - 1  # bits of an integer, as MLIR has it
_TENSOR = re.compile(r"tensor<(?:(?:[0-9]+|\?)x)*[a-zA-Z][a-zA-Z0-9]*>")


_DIMENSIONS = re.compile(r"(?:(?:[0-9]++|\?)x)++")
MOST_DIMENSIONS = 1024


class TokenReader(Parser):
    """A parser of MLIR's text; `lexer` is ours."""

    def __init__(self, context: Context, text: str, path: str) -> None:
        super().__init__(context, "", path)
        self.lines = Lexer(Input(text, path))
        self._types: dict[str, TypeAttribute] = {}
        self.aliases = Expansions()
        self.attribute_aliases = self.aliases
        self._parser_state = ParserState(self.lines)

    @property
    def token(self) -> LexerToken:
        """The token that is read next."""
        return cast("LexerToken", self._parser_state.current_token)

    def _consume_token(self, expected_kind: Kind | None = None) -> Token[Kind]:
        state = self._parser_state
        token = state.current_token
        if expected_kind is not None and token.kind is not expected_kind:
            self.raise_error("unexpected token")
        state.current_token = state.lexer.lex()
        return token

    def _parse_optional_token(self, expected_kind: Kind) -> Token[Kind] | None:
        state = self._parser_state
        token = state.current_token
        if token.kind is not expected_kind:
            return None
        state.current_token = state.lexer.lex()
        return token

    def parse_optional_characters(self, text: str) -> str | None:
        """Read a token of this text, if it is the next."""
        state = self._parser_state
        if state.current_token.text != text:
            return None
        state.current_token = state.lexer.lex()
        return text

    def parse_optional_keyword(self, keyword: str) -> str | None:
        """Read a word, if it is the next."""
        token = self._parser_state.current_token
        if token.kind is not Kind.BARE_IDENT or token.text != keyword:
            return None
        self._consume_token()
        return keyword

    def parse_optional_punctuation(
        self, punctuation: PunctuationSpelling
    ) -> PunctuationSpelling | None:
        """Read punctuation, if it is the next."""
        if self._parse_optional_token(PUNCTUATION[punctuation]) is None:
            return None
        return punctuation

    def parse_punctuation(
        self, punctuation: PunctuationSpelling, context_msg: str = ""
    ) -> PunctuationSpelling:
        """Read punctuation."""
        if self._parse_optional_token(PUNCTUATION[punctuation]) is None:
            context = context_msg if context_msg.startswith(" ") else f": {context_msg}"
            self.raise_error(f"expected '{punctuation}'{context if context_msg else ''}")
        return punctuation

    def parse_optional_type(self) -> TypeAttribute | None:
        """Read a type, if one follows."""
        token = self.token
        if token.text != "tensor":
            made = super().parse_optional_type()
            if isinstance(made, IntegerType) and made.bitwidth > WIDEST:
                self.raise_error(f"an integer has at most {WIDEST:,} bits", token.start)
            return made
        found = _TENSOR.match(token.input.content, token.start)
        if found is None:
            return super().parse_optional_type()
        text = found.group()
        known = self._types.get(text)
        if known is None:
            known = self._types[text] = cast("TypeAttribute", super().parse_optional_type())
        else:
            self._resume_from(found.end())
        return known

    def parse_dimension_list(self) -> list[int]:
        """Read `4x?x8`: to cut one number after the other off a long one takes long."""
        token = self.token
        found = _DIMENSIONS.match(token.input.content, token.start)
        if found is not None and found.group().count("x") > MOST_DIMENSIONS:
            self.raise_error(f"a type has at most {MOST_DIMENSIONS:,} dimensions", token)
        return super().parse_dimension_list()
