"""YAML composer: parser events to plain data with spans.

Invariant: what could mislead a reader is refused (duplicate keys, anchors, aliases, merge keys,
tags, look-alike scalars, hidden characters), and every limit is checked before memory is spent on
it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml

from tripybuild.documents.scalars import ScalarError, describe, resolve
from tripybuild.documents.syntax_errors import explain
from tripybuild.errors.budget import spend
from tripybuild.errors.diagnostics import HIDDEN, LINE_BREAK, Diagnostic, DiagnosticError, Span

Location = tuple[str | int, ...]
Place = tuple[int, int, int, int]  # line, column, end line, end column; all from zero

DEEPEST = 64
LONGEST_SCALAR = 100_000
MOST_VALUES = 100_000
MOST_PROBLEMS = 100

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_LONGEST_SHOWN = 40
_WORD = re.compile(r"[^\s,\[\]{}]+")
_COLON = re.compile(r"(?:\s|#[^\r\n]*+)*+:")


@dataclass(frozen=True, slots=True)
class Tree:
    """The data of one document, and where its keys and values stand."""

    data: object
    values: dict[Location, Place] = field(default_factory=dict)
    keys: dict[Location, Place] = field(default_factory=dict)
    start: Place = (0, 0, 0, 0)


def compose(text: str, path: str) -> tuple[list[Tree], list[Diagnostic]]:
    """Read every document of a text, and every problem that reading can go on from."""
    composer = _Composer(text, path)
    trees: list[Tree] = []
    try:
        composer.check_characters()
        for tree in composer.trees():
            trees.append(tree)  # noqa: PERF402 - those before an error are kept
        spend("values", composer.count)
    except DiagnosticError as error:
        composer.problems.extend(error.diagnostics)
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        composer.problems.append(explain(error, LINE_BREAK.split(text), path))
    return trees, composer.problems


class _Composer:
    """Reads the events of one text, once."""

    def __init__(self, text: str, path: str) -> None:
        self.problems: list[Diagnostic] = []
        self.count = 0
        self._text = text
        self._path = path
        self._events: Iterator[Any] = iter(())
        self._values: dict[Location, Place] = {}
        self._keys: dict[Location, Place] = {}

    def check_characters(self) -> None:
        """Refuse a text with characters that a reader cannot see, before any parser sees it."""
        if not HIDDEN.search(self._text):
            return
        for line, text in enumerate(LINE_BREAK.split(self._text)):
            for match in HIDDEN.finditer(text):
                message = f"the text holds the hidden character U+{ord(match.group()):04X}"
                place = (line, match.start(), line, match.end())
                self._report("hidden-character", message, place, "remove it")
        raise DiagnosticError

    def trees(self) -> Iterator[Tree]:
        """Read one document after the other; each ends where what follows can be read."""
        self._events = yaml.parse(self._text, Loader=LOADER)
        next(self._events)  # the start of the stream
        event = next(self._events)
        while isinstance(event, yaml.DocumentStartEvent):
            place = _place(event)
            if event.version or event.tags:
                hint = "remove the lines that begin with `%`"
                self._report("yaml-directive", "directives are refused", place, hint)
            self._values, self._keys = {}, {}
            data, _ = self._value(next(self._events), (), 0)
            next(self._events)  # the end of the document
            event = next(self._events)
            yield Tree(data, self._values, self._keys, place)

    def _value(self, event: Any, location: Location | None, depth: int) -> tuple[object, Place]:
        """Read one value; where the location is None, leave no trace of it."""
        self.count += 1
        place = _place(event)
        if self.count > MOST_VALUES:
            self._stop("yaml-too-large", f"a file has at most {MOST_VALUES:,} values", place)
        data: object = None
        if isinstance(event, yaml.AliasEvent):
            self._refuse_alias(event, place)
        else:
            self._refuse_properties(event)
            if isinstance(event, yaml.ScalarEvent):
                data = self._scalar(event, place)
            elif depth == DEEPEST:
                self._stop("yaml-too-deep", f"values nest at most {DEEPEST} deep", place)
            elif isinstance(event, yaml.MappingStartEvent):
                data, place = self._mapping(event, location, depth + 1)
            else:
                data, place = self._sequence(event, location, depth + 1)
        if location is not None:
            self._values[location] = place
        return data, place

    def _sequence(
        self, start: Any, location: Location | None, depth: int
    ) -> tuple[list[object], Place]:
        items: list[object] = []
        last = _place(start)
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            inner = None if location is None else (*location, len(items))
            item, last = self._value(event, inner, depth)
            items.append(item)
        return items, _around(start, event, last)

    def _mapping(
        self, start: Any, location: Location | None, depth: int
    ) -> tuple[dict[str, object], Place]:
        entries: dict[str, object] = {}
        lines: dict[str, int] = {}
        last = _place(start)
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event, depth)
            if key in lines:
                self._refuse_duplicate(key, lines[key], _place(event))
                key = None
            inner = None if location is None or key is None else (*location, key)
            value, last = self._value(next(self._events), inner, depth)
            if (
                value is None
                and isinstance(event, yaml.ScalarEvent)
                and (event.value or event.style)
            ):
                self._check_colon(event)
            if key is not None:
                entries[key] = value
                lines[key] = event.start_mark.line + 1
            if inner is not None:
                self._keys[inner] = _place(event)
        return entries, _around(start, event, last)

    def _key(self, event: Any, depth: int) -> str | None:
        """Read a key; None for what cannot be one, which is reported."""
        place = _place(event)
        if not isinstance(event, yaml.ScalarEvent):
            if not isinstance(event, yaml.AliasEvent):
                message = "a key is a string, found a list or a mapping"
                self._report("yaml-key", message, place, "quote it if it is a string")
            self._value(event, None, depth)
            return None
        self._refuse_properties(event)
        text = self._scalar_text(event, place)
        if event.style:  # quoted or a block, so text as it stands
            return text
        if text == "<<":
            hint = "write the keys out, or quote it if it is a string"
            self._report("yaml-anchor", "merge keys are refused", place, hint)
            return None
        try:
            value = resolve(text)
        except ScalarError as error:
            self._report(error.code, error.message, place, error.hint)
            return text
        if not isinstance(value, str):
            found = f"{describe(value)}: `{text}`" if text else "nothing"
            hint = f'write `"{text}"` if it is a string'
            self._report("yaml-implicit-type", f"a key is a string, found {found}", place, hint)
        return text

    def _scalar(self, event: Any, place: Place) -> object:
        text = self._scalar_text(event, place)
        if event.style:  # quoted or a block, so text as it stands
            return text
        try:
            return resolve(text)
        except ScalarError as error:
            self._report(error.code, error.message, place, error.hint)
            return error.value

    def _scalar_text(self, event: Any, place: Place) -> str:
        """Give the text of a scalar, cut where it is too long."""
        text: str = event.value
        if len(text) > LONGEST_SCALAR:
            message = f"a string has at most {LONGEST_SCALAR:,} characters, found {len(text):,}"
            self._report("yaml-too-large", message, place)
            return text[:LONGEST_SCALAR]
        if event.style == '"' and (HIDDEN.search(text) or "\r" in text):
            message = "an escape gives a control or invisible character"
            self._report("hidden-character", message, place, "remove it")
        return text

    def _refuse_duplicate(self, key: str, first: int, place: Place) -> None:
        name = key[:_LONGEST_SHOWN]
        message = f"the key `{name}` occurs twice, on lines {first} and {place[0] + 1}"
        self._report("duplicate-key", message, place, "keep one of them")

    def _refuse_alias(self, event: Any, place: Place) -> None:
        name = f"*{event.anchor[:_LONGEST_SHOWN]}"
        hint = f'write the value out, or `"{name}"` if it is a string'
        self._report("yaml-anchor", f"aliases are refused, found `{name}`", place, hint)

    def _refuse_properties(self, event: Any) -> None:
        """Report the anchor and the tag of a value, if it has them."""
        if event.anchor is not None:
            place, name = self._token("&", event.start_mark)
            hint = "remove it, and write the value out where it is used"
            self._report("yaml-anchor", f"anchors are refused, found `{name}`", place, hint)
        if event.tag is not None:
            place, name = self._token("!", event.start_mark)
            hint = "remove it, or quote the whole string if it is a string"
            self._report("yaml-tag", f"tags are refused, found `{name}`", place, hint)

    def _token(self, sign: str, mark: Any) -> tuple[Place, str]:
        """Find the anchor or tag that begins with a sign, at or soon after a mark."""
        start = max(mark.index, self._text.find(sign, mark.index))
        found = _WORD.match(self._text, start)
        name = found.group() if found else sign
        before = LINE_BREAK.split(self._text[mark.index : start])
        line = mark.line + len(before) - 1
        column = len(before[-1]) + (mark.column if len(before) == 1 else 0)
        return (line, column, line, column + len(name)), name[:_LONGEST_SHOWN]

    def _check_colon(self, key: Any) -> None:
        """Refuse an entry without a colon: most often a comma in a text made it."""
        if not _COLON.match(self._text, key.end_mark.index):
            hint = "add `: value`, or quote the string if its comma is part of it"
            message = f"`{key.value[:_LONGEST_SHOWN]}` is an entry without a `:`"
            self._report("yaml-missing-colon", message, _place(key), hint)

    def _report(self, code: str, message: str, place: Place, hint: str | None = None) -> None:
        self.problems.append(Diagnostic(code, message, self._span(place), hint=hint))
        if len(self.problems) == MOST_PROBLEMS:
            message = f"reading stops here, after {MOST_PROBLEMS} problems"
            self._stop("yaml-too-large", message, place)

    def _stop(self, code: str, message: str, place: Place) -> NoReturn:
        raise DiagnosticError(Diagnostic(code, message, self._span(place)))

    def _span(self, place: Place) -> Span:
        line, column, end_line, end_column = place
        return Span(self._path, line + 1, column + 1, end_line + 1, end_column + 1)


def _place(event: Any) -> Place:
    start, end = event.start_mark, event.end_mark
    return start.line, start.column, end.line, end.column


def _around(start: Any, end: Any, last: Place) -> Place:
    """Give the place of a collection; one in block style ends where its last value ends."""
    begin = start.start_mark
    if start.flow_style:
        return begin.line, begin.column, end.end_mark.line, end.end_mark.column
    return begin.line, begin.column, last[2], last[3]
