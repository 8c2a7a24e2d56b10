"""Layout engine for Python source: its output is stable under the formatter.

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
class IfBreak:
    """Text that is there only where its group breaks, such as a last comma."""

    text: str
    flat: str = ""


class Indent:
    """A part that stands four columns further in. `flat` is its text on one line."""

    __slots__ = ("flat", "inner")

    def __init__(self, inner: "Doc") -> None:
        self.inner = inner
        self.flat: str = _flat(inner)


class Group:
    """A part that breaks as a whole or not at all. `flat` is its text on one line.

    That is asked for again and again, of a group and of those around it, and made once.
    """

    __slots__ = ("flat", "inner")

    def __init__(self, inner: "Doc") -> None:
        self.inner = inner
        self.flat: str = _flat(inner)


Doc = str | Line | IfBreak | Indent | Group | list["Doc"]

SOFT = Line("")
SPACE = Line(" ")


def intersperse(parts: Iterable[Doc], between: Doc) -> list[Doc]:
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
    last: Doc = IfBreak(",") if len(arguments) > 1 else ""
    inner = Group([*intersperse(arguments, [",", SPACE]), last])
    return Group([function, "(", Indent([SOFT, inner]), SOFT, ")"])


def bracket_list(left: Doc, items: Sequence[Doc], right: Doc, *, comma: bool = False) -> Doc:
    """`[a, b]`: on one line, or each item on its own.

    Args:
        left: The opening bracket.
        items: What stands between the brackets.
        right: The closing bracket.
        comma: Whether a single item keeps its comma, as that of a tuple does.
    """
    if not items:
        return [left, right]
    last: Doc = "," if comma and len(items) == 1 else IfBreak(",")
    return Group([left, Indent([SOFT, *intersperse(items, [",", SPACE]), last]), SOFT, right])


def optional_parentheses(inner: Doc) -> Doc:
    """Parentheses that are there only where the inside breaks."""
    return Group([IfBreak("("), Indent([SOFT, inner]), SOFT, IfBreak(")")])


def enclose(left: str, inner: Doc, right: str) -> Doc:
    """Brackets that are always there, around an inside that may stand on lines of its own."""
    return Group([left, Indent([SOFT, inner]), SOFT, right])


def render(doc: Doc, indent: int = 0, width: int = WIDTH) -> str:
    """The text of a document, its first line without indentation."""
    line = _flat(doc)
    if len(line) <= width - indent:
        return line
    output: list[str] = []
    column = indent
    stack: list[tuple[int, bool, Doc]] = [(indent, True, doc)]
    while stack:
        level, broken, part = stack.pop()
        if type(part) is list:
            stack += [(level, broken, each) for each in reversed(part)]
            continue
        if type(part) is Indent:
            stack.append((level + 4, broken, part.inner))
            continue
        if type(part) is Group:
            fits = _fits(width - column - len(part.flat), stack)
            if fits or _receiver_fits(part.inner, width - column):
                stack.append((level, not fits, part.inner))
            elif isinstance(part.inner, list):
                # The receiver breaks, and what is behind it where that is too long, too.
                receiver, *behind = part.inner
                stack += [(level, False, Group(behind)), (level, False, receiver)]
            continue
        if broken and type(part) is Line:
            output.append("\n" + " " * level)
            column = level
            continue
        text = part.text if broken and type(part) is IfBreak else _flat(part)
        output.append(text)
        column += len(text)
    return "".join(output)


def _receiver_fits(call_parts: Doc, space: int) -> bool:
    """Whether the call before the dot of `f(...).g(...)` fits; if not, it breaks and not `g`."""
    if not isinstance(call_parts, list) or not isinstance(call_parts[0], list):
        return True
    receiver, *arguments = call_parts
    return _fits(space - len(_flat(receiver)), [(0, True, arguments)])


def _flat(doc: Doc) -> str:
    """The text of a document on one line, however long."""
    if type(doc) is str:
        return doc
    if type(doc) is list:
        return "".join(map(_flat, doc))
    return doc.flat  # type: ignore[union-attr]  # a string and a list are none of these


def _fits(space: int, behind: Sequence[tuple[int, bool, Doc]]) -> bool:
    """Whether what is behind a flat part reaches the next line break within the space."""
    stack: list[Doc] = []
    left = len(behind)
    while space >= 0:
        if stack:
            part = stack.pop()
        elif left:
            left -= 1
            _, broken, part = behind[left]
            if not broken:
                space -= len(_flat(part))
                continue
        else:
            return True
        if isinstance(part, Line):
            return True
        if isinstance(part, (str, Group)):
            space -= len(_flat(part))
        elif isinstance(part, IfBreak):
            space -= len(part.text)
        elif isinstance(part, Indent):
            stack.append(part.inner)
        else:
            stack += part[::-1]
    return False
