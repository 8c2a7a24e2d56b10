"""MLIR lexer: one regular expression per token, and one object as token and span.

Invariant: it gives the tokens that xDSL's own lexer gives; only faster, and UTF-8 in escapes is
text.
"""

import re
from bisect import bisect_right
from typing import Any, cast

from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span, Token
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRLexer,
    MLIRTokenKind as Kind,
    StringLiteral,
)

_SUFFIX = r"(?:\d+|[a-zA-Z$._-][\w$.-]*)"
# Possessive: a string without an end is given up at once.
_STRING = r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"'
_PIECES: tuple[tuple[str, Kind | None], ...] = (
    (r"[a-zA-Z_][\w$.]*", Kind.BARE_IDENT),
    (rf"%{_SUFFIX}", Kind.PERCENT_IDENT),
    (r"->|\.\.\.|\{-\#|\#-\}|[:,=<>(){}\[\]?+*/|-]", None),
    (r"(?!0x[0-9a-fA-F])[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?", Kind.FLOAT_LIT),
    (r"0x[0-9a-fA-F]+|[0-9]+", Kind.INTEGER_LIT),
    (_STRING, Kind.STRING_LIT),
    (rf"\#{_SUFFIX}", Kind.HASH_IDENT),
    (rf"!{_SUFFIX}", Kind.EXCLAMATION_IDENT),
    (rf"\^{_SUFFIX}", Kind.CARET_IDENT),
    (rf"@(?:[a-zA-Z_][\w$.]*|{_STRING})", Kind.AT_IDENT),
    (r"\Z", Kind.EOF),
)
SPACE = r"(?:\s++|//[^\n]*+)*+"
_NEXT = re.compile(SPACE + f"(?:{'|'.join(f'({p})' for p, _ in _PIECES)}|())", re.ASCII)
_KINDS = (None, *(kind for _, kind in _PIECES))
_NOTHING = len(_KINDS)
_STRINGS = _KINDS.index(Kind.STRING_LIT)
_PUNCTUATION: dict[str, Kind] = {**KIND_BY_PUNCTUATION_SPELLING}


class LexerToken(Token[Kind, str], Span[str]):
    """A token that is its own span; `text` is cut once."""

    __slots__ = ("end", "input", "kind", "start", "text")
    __setattr__ = object.__setattr__  # a span is frozen, and slow to make

    def __init__(self, kind: Kind, text: str, start: int, end: int, input: Input) -> None:
        self.kind = kind
        self.text = text  # type: ignore[misc]
        self.start = start  # type: ignore[misc]
        self.end = end  # type: ignore[misc]
        self.input = input  # type: ignore[misc]

    @property
    def span(self) -> Span[str]:  # type: ignore[override]
        """The token itself."""
        return self

    __eq__ = object.__eq__
    __hash__ = object.__hash__


class Lexer(MLIRLexer):
    """The lexer of a text, which also knows where its lines begin."""

    def __init__(self, input: Input) -> None:
        super().__init__(input)
        self._content = input.content
        self._starts: list[int] | None = None

    def place(self, position: int) -> tuple[int, int]:
        """Give line and column of a position, both from one."""
        if self._starts is None:
            self._starts = [0, *(each.end() for each in re.finditer("\n", self._content))]
        line = bisect_right(self._starts, position)
        return line, position - self._starts[line - 1] + 1

    def lex(self) -> Any:
        """Give the token at the lexer's place, and go behind it."""
        found = cast("re.Match[str]", _NEXT.match(self._content, self.pos))
        index = cast("int", found.lastindex)
        start, end = found.span(index)
        self.pos = end
        if index == _NOTHING:
            raise self._character_error(start)
        text = found[index]
        kind = _KINDS[index] or _PUNCTUATION[text]
        if index == _STRINGS and "\\" in text and not _is_text(start, end, self.input):
            kind = Kind.BYTES_LIT
        return LexerToken(kind, text, start, end, self.input)

    def _character_error(self, start: int) -> ParseError:
        character = self._content[start]
        span = Span(start, start + 1, self.input)
        if character == '"':
            return ParseError(span, "the string has no end on its line, or an unknown escape")
        return ParseError(span, f"unexpected character `{character}`")


def _is_text(start: int, end: int, input: Input) -> bool:
    """Whether a literal is UTF-8; its bytes are an attribute of their own kind otherwise."""
    try:
        StringLiteral(start, end, input).bytes_contents.decode()
    except UnicodeDecodeError:
        return False
    return True
