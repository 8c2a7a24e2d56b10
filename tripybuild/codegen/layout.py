"""Expressions and statements as text that a formatter leaves alone.

A small pretty printer (Wadler's): a document is text with possible line breaks in groups, and a
group breaks as a whole when it does not fit. The groups are those of ruff and black, so that
generated code reads as formatted code without either being installed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WIDTH = 100


@dataclass(frozen=True, slots=True)
class Line:
    """A line break where its group breaks, else `flat`."""

    flat: str = " "


@dataclass(frozen=True, slots=True)
class IfBroken:
    """Text that is there only where its group breaks, such as a last comma."""

    text: str


@dataclass(frozen=True, slots=True)
class Indent:
    """A part that stands four columns further in."""

    inner: "Doc"


@dataclass(frozen=True, slots=True)
class Group:
    """A part that breaks as a whole or not at all."""

    inner: "Doc"


Doc = str | Line | IfBroken | Indent | Group | Sequence["Doc"]

SOFT = Line("")
SPACE = Line(" ")


def joined(parts: Iterable[Doc], between: Doc) -> list[Doc]:
    """The parts with `between` between them."""
    result: list[Doc] = []
    for part in parts:
        if result:
            result.append(between)
        result.append(part)
    return result


def call(function: Doc, arguments: Sequence[Doc]) -> Doc:
    """`f(a, b)`: all arguments on a line of their own, or each of them."""
    if not arguments:
        return [function, "()"]
    last: Doc = IfBroken(",") if len(arguments) > 1 else ""
    inner = Group([*joined(arguments, [",", SPACE]), last])
    return Group([function, "(", Indent([SOFT, inner]), SOFT, ")"])


def bracketed(left: Doc, items: Sequence[Doc], right: Doc, *, comma: bool = False) -> Doc:
    """`[a, b]`: on one line, or each item on its own.

    Args:
        left: The opening bracket.
        items: What stands between the brackets.
        right: The closing bracket.
        comma: Whether a single item keeps its comma, as that of a tuple does.
    """
    if not items:
        return [left, right]
    last: Doc = "," if comma and len(items) == 1 else IfBroken(",")
    return Group([left, Indent([SOFT, *joined(items, [",", SPACE]), last]), SOFT, right])


def parenthesized(inner: Doc) -> Doc:
    """Parentheses that are there only where the inside breaks."""
    return Group([IfBroken("("), Indent([SOFT, inner]), SOFT, IfBroken(")")])


def enclosed(left: str, inner: Doc, right: str) -> Doc:
    """Brackets that are always there, around an inside that may stand on lines of its own."""
    return Group([left, Indent([SOFT, inner]), SOFT, right])


def render(doc: Doc, indent: int = 0, width: int = WIDTH) -> str:
    """The text of a document, its first line without indentation."""
    line = _flat(doc, width - indent)
    if line is not None:
        return line
    output: list[str] = []
    column = indent
    stack: list[tuple[int, bool, Doc]] = [(indent, True, doc)]
    while stack:
        level, broken, part = stack.pop()
        if isinstance(part, str):
            output.append(part)
            column += len(part)
        elif isinstance(part, Line):
            if broken:
                output.append("\n" + " " * level)
                column = level
            else:
                output.append(part.flat)
                column += len(part.flat)
        elif isinstance(part, IfBroken):
            if broken:
                output.append(part.text)
                column += len(part.text)
        elif isinstance(part, Indent):
            stack.append((level + 4, broken, part.inner))
        elif isinstance(part, Group):
            fits = _fits(width - column, part.inner, stack)
            stack.append((level, not fits, part.inner))
        else:
            stack += [(level, broken, each) for each in reversed(part)]
    return "".join(output)


def _flat(doc: Doc, space: int) -> str | None:
    """The text of a document on one line, which most need, or None where there is no space."""
    words: list[str] = []
    stack: list[Doc] = [doc]
    while stack:
        part = stack.pop()
        text = part if isinstance(part, str) else part.flat if isinstance(part, Line) else None
        if text is not None:
            words.append(text)
            space -= len(text)
            if space < 0:
                return None
        elif isinstance(part, (Group, Indent)):
            stack.append(part.inner)
        elif isinstance(part, (list, tuple)):
            stack += part[::-1]
    return "".join(words)


def _fits(space: int, part: Doc, behind: Sequence[tuple[int, bool, Doc]]) -> bool:
    """Whether a flat part, and what is behind it, reach the next line break within the space."""
    stack: list[tuple[bool, Doc]] = [(False, part)]
    left = len(behind)
    while space >= 0:
        if stack:
            broken, part = stack.pop()
        elif left:
            left -= 1
            _, broken, part = behind[left]
        else:
            return True
        if isinstance(part, str):
            space -= len(part)
        elif isinstance(part, Line):
            if broken:
                return True
            space -= len(part.flat)
        elif isinstance(part, Indent):
            stack.append((broken, part.inner))
        elif isinstance(part, Group):
            stack.append((False, part.inner))
        elif isinstance(part, IfBroken):
            space -= len(part.text) if broken else 0
        else:
            stack.extend((broken, each) for each in reversed(part))
    return False
