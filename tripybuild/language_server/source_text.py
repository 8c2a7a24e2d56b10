"""Source text: lines of a file in an editor, and positions in the units of its client.

Lines and columns of this package count from zero in characters, as those of `Span` count from one.
A client counts in UTF-16 unless both sides agree on another encoding.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from lsprotocol.types import Position, PositionEncodingKind, Range

from tripybuild.documents.composer import Location
from tripybuild.errors.diagnostics import LINE_BREAK, Span

UTF16 = PositionEncodingKind.Utf16
_UNITS: Mapping[str, tuple[str, int]] = MappingProxyType(
    {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
)
_KEY = re.compile(r"(?P<indent>[ ]*(?:-[ ]+)*)(?P<key>[^\s#'\"\[\]{},:][^:#{}\[\]]*?)[ ]*:(?=\s|$)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_FLOW_KEY = re.compile(r"[{,]\s*([A-Za-z_][\w-]*)\s*:[^{},]*$")
_BLOCK = re.compile(r":\s*[|>][+-]?\s*(#.*)?$")


class SourceText:
    """A version of a file's text.

    Args:
        text: All of it.
        encoding: What the client counts in: `utf-16`, `utf-8` or `utf-32`.
    """

    def __init__(self, text: str, encoding: str = UTF16) -> None:
        self.text, self.encoding = text, encoding
        self.lines = LINE_BREAK.split(text.removeprefix("\ufeff"))
        self._bom = text.startswith("\ufeff")

    def position(self, line: int, column: int) -> Position:
        """The client's position of a character; what is behind the end of a line is its end."""
        line = min(max(line, 0), len(self.lines) - 1)
        before = self.lines[line][: max(column, 0)]
        return Position(line, self._units(before) + (self._bom and line == 0))

    def range(self, span: Span) -> Range:
        """The client's range of a span."""
        return Range(
            self.position(span.line - 1, span.column - 1),
            self.position(span.end_line - 1, span.end_column - 1),
        )

    def place(self, position: Position) -> tuple[int, int]:
        """The line and column of a client's position, within the text."""
        line = min(max(position.line, 0), len(self.lines) - 1)
        text = self.lines[line]
        wanted = position.character - (self._bom and line == 0)
        if wanted <= 0 or position.line > line:
            return line, 0 if position.line <= line else len(text)
        if text.isascii():
            return line, min(wanted, len(text))
        counted = 0
        for column, character in enumerate(text):
            if counted >= wanted:
                return line, column
            counted += self._units(character)
        return line, len(text)

    def whole(self) -> Range:
        """The range of all of the text."""
        last = len(self.lines) - 1
        return Range(Position(0, 0), self.position(last, len(self.lines[last])))

    def slice(self, span: Span) -> str:
        """What is written in a span of one line, or an empty text."""
        if span.line != span.end_line or not 1 <= span.line <= len(self.lines):
            return ""
        return self.lines[span.line - 1][span.column - 1 : span.end_column - 1]

    def word(self, line: int, column: int) -> tuple[str, int, int]:
        """The word that a place is in or behind, with its columns; empty where there is none."""
        for match in _WORD.finditer(self.lines[line]):
            if match.start() <= column <= match.end():
                return match.group(), match.start(), match.end()
        return "", column, column

    def outline_path(self, line: int, column: int) -> "OutlinePlace":
        """Where a place stands by the indentation of the lines, whether or not they are YAML.

        It is for completion: what is being typed rarely parses.
        """
        text = self.lines[line][:column]
        match = _KEY.match(self.lines[line])
        indent = len(text) - len(text.lstrip(" "))
        if not self.lines[line].strip():
            indent = column
        is_block, above = self._above(line, indent)
        if is_block or match is None or column <= match.end():
            typed = text.strip() if not is_block else text
            if match is None and not is_block and self._continues(line, indent):
                return OutlinePlace(tuple(above), text, is_value=True)
            return OutlinePlace(tuple(above), typed.removeprefix("- "), is_value=is_block)
        path = (*above, match["key"].strip())
        value = text[match.end() :].lstrip()
        if value.startswith("{"):
            inner = _FLOW_KEY.search(value)
            if inner is not None:
                path, value = (*path, inner[1]), value[inner.end(1) + 1 :].lstrip(" :")
            else:
                return OutlinePlace(path, re.split(r"[{,]\s*", value)[-1], is_value=False)
        return OutlinePlace(path, value, is_value=True)

    def _continues(self, line: int, indent: int) -> bool:
        """Whether a line without a key goes on with the value of the line above."""
        before = next((t for t in reversed(self.lines[:line]) if t.strip()), "")
        match = _KEY.match(before)
        if match is None:
            return False
        return bool(before[match.end() :].strip()) and indent > len(match["indent"])

    def _above(self, line: int, indent: int) -> tuple[bool, list[str]]:
        """The keys that a line of this indentation is below, and whether it is a block's text."""
        keys: list[str] = []
        is_block = False
        for text in reversed(self.lines[:line]):
            match = _KEY.match(text)
            if match is None or not text.strip():
                continue
            depth = len(match["indent"])
            if depth < indent:
                is_block = is_block or bool(_BLOCK.search(text))
                keys = [match["key"].strip()] if is_block else [match["key"].strip(), *keys]
                indent = depth
            if indent == 0:
                break
        return is_block, keys

    def _units(self, text: str) -> int:
        if text.isascii():
            return len(text)
        codec, size = _UNITS[self.encoding]
        return len(text.encode(codec, "surrogatepass")) // size


class OutlinePlace:
    """Where something is typed: the keys above it, and what stands before it.

    Args:
        path: The keys from the outermost one on.
        typed: What is written of the key, or of the value, up to the place.
        is_value: Whether it is a value, not a key.
    """

    def __init__(self, path: Location, typed: str, *, is_value: bool) -> None:
        self.path, self.typed, self.is_value = path, typed, is_value
