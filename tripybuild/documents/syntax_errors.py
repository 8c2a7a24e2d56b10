"""YAML syntax errors: parser messages mapped to diagnostics for authors.

Invariant: every complaint becomes one diagnostic at an exact place; one without a rule here keeps
the parser's own words. The rules fit the words of both libyaml and PyYAML's own parser.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import yaml

from tripybuild.errors.diagnostics import Diagnostic, Span


@dataclass(frozen=True, slots=True)
class _ParserProblem:
    """A parser's complaint: its words, where it stumbled, and where what it was reading began."""

    words: str
    path: str
    lines: list[str]
    place: tuple[int, int]
    opening: tuple[int, int]

    @property
    def before(self) -> str:
        """The text of the line before the place."""
        return self._line(self.place)[: self.place[1]]

    @property
    def character(self) -> str:
        """The character at the place, empty at the end of a line."""
        return self._line(self.place)[self.place[1] : self.place[1] + 1]

    @property
    def open_character(self) -> str:
        """The character that began what the parser was reading."""
        return self._line(self.opening)[self.opening[1] : self.opening[1] + 1]

    def _line(self, place: tuple[int, int]) -> str:
        return self.lines[place[0]] if place[0] < len(self.lines) else ""

    def here(self, message: str, hint: str | None = None, code: str = "yaml-syntax") -> Diagnostic:
        """Report at the place where the parser stumbled."""
        return Diagnostic(code, message, self._span(self.place), hint=hint)

    def there(self, message: str, hint: str | None = None, code: str = "yaml-syntax") -> Diagnostic:
        """Report where what the parser was reading began."""
        return Diagnostic(code, message, self._span(self.opening), hint=hint)

    def _span(self, place: tuple[int, int]) -> Span:
        line, column = place[0] + 1, place[1] + 1
        return Span(self.path, line, column, line, column + 1)


def explain(error: Exception, lines: list[str], path: str) -> Diagnostic:
    """Turn the exception of a YAML parser into a diagnostic."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        message = "the text is not YAML: a character or an escape is out of range"
        return Diagnostic("yaml-syntax", message, Span(path, 1, 1, 1, 1))
    mark, context = error.problem_mark, error.context_mark or error.problem_mark
    complaint = _ParserProblem(
        words=f"{error.context or ''}: {error.problem or ''}",
        path=path,
        lines=lines,
        place=_inside(lines, mark.line, mark.column),
        opening=_inside(lines, context.line, context.column),
    )
    if complaint.character == "\t" and not complaint.before.strip():
        return complaint.here("a tab indents this line", "indent with spaces")
    for pattern, rule in _RULES:
        if pattern.search(complaint.words):
            return rule(complaint)
    return complaint.here(error.problem or "the text is not YAML")


def _inside(lines: list[str], line: int, column: int) -> tuple[int, int]:
    """Move a place that is past the last line to the end of the text."""
    last = len(lines) - 1
    while last > 0 and not lines[last]:
        last -= 1
    return (line, column) if line <= last else (last, len(lines[last]))


def _unclosed_quote(complaint: _ParserProblem) -> Diagnostic:
    quote = complaint.open_character
    return complaint.there("this quoted string is never closed", f"close it with `{quote}`")


def _unclosed_bracket(complaint: _ParserProblem) -> Diagnostic:
    bracket = complaint.open_character
    closing = "]" if bracket == "[" else "}"
    if complaint.place[0] > complaint.opening[0] or not complaint.character:
        return complaint.there(f"`{bracket}` is never closed", f"close it with `{closing}`")
    message = f"`,` or `{closing}` is expected, found `{complaint.character}`"
    return complaint.here(message, "quote a string that contains `,`, `:`, `[`, `]`, `{` or `}`")


def _nested_value(complaint: _ParserProblem) -> Diagnostic:
    message = "`:` begins a value where none can begin"
    return complaint.here(message, "quote a string that contains `: `")


def _nested_key(complaint: _ParserProblem) -> Diagnostic:
    message = "`?` begins a key where none can begin"
    return complaint.here(message, "quote a string that contains `? `")


def _missing_colon(complaint: _ParserProblem) -> Diagnostic:
    hint = "add `:`, or indent the line to go on with the text above"
    return complaint.there("this is neither `key: value` nor part of the value above", hint)


def _extra_text(complaint: _ParserProblem) -> Diagnostic:
    before = complaint.before.rstrip()
    if not before:
        return complaint.here(
            "this line fits nothing above it",
            "indent it like its neighbors; they are all `key: value` or all `- item`",
        )
    if before[-1] in "'\"":
        hint = "quote the whole string; inside single quotes, write `''` for `'`"
        return complaint.here("text follows a closing quote", hint)
    return complaint.here("text follows a complete value", "quote the whole string")


def _bad_start(complaint: _ParserProblem) -> Diagnostic:
    names = {"`": "a backtick", "\t": "a tab"}
    found = names.get(complaint.character, f"`{complaint.character}`")
    return complaint.here(
        f"{found} cannot begin a value", f"quote a string that begins with {found}"
    )


def _misplaced_item(complaint: _ParserProblem) -> Diagnostic:
    message = "`-` begins a list item where none can begin"
    return complaint.here(message, "begin the list on a line of its own")


def _no_value(complaint: _ParserProblem) -> Diagnostic:
    if complaint.character:
        return complaint.here(f"a value is expected, found `{complaint.character}`")
    return complaint.here(
        "a value is expected, found the end of the text", "close every `[` and `{`"
    )


def _bad_escape(complaint: _ParserProblem) -> Diagnostic:
    message = "this escape is not one of YAML's"
    return complaint.here(message, r"write `\\` for a backslash, or use single quotes")


def _bad_header(complaint: _ParserProblem) -> Diagnostic:
    message = f"text follows `{complaint.open_character}` on its line"
    return complaint.here(message, "begin the text on the next line")


def _star(complaint: _ParserProblem) -> Diagnostic:
    message = f"`{complaint.open_character}` would name an anchor, and anchors are refused"
    return complaint.there(message, "quote a string that begins with it", "yaml-anchor")


def _tag(complaint: _ParserProblem) -> Diagnostic:
    return complaint.here("tags are refused", "quote a string that begins with `!`", "yaml-tag")


def _directive(complaint: _ParserProblem) -> Diagnostic:
    return complaint.there("directives are refused", "remove the line", "yaml-directive")


def _after_document(complaint: _ParserProblem) -> Diagnostic:
    line = complaint.place[0]
    if any(text.startswith("%") for text in complaint.lines[:line]):
        return _directive(complaint)
    return _extra_text(complaint)


_Rule = Callable[[_ParserProblem], Diagnostic]
_RULES: tuple[tuple[re.Pattern[str], _Rule], ...] = tuple(
    (re.compile(pattern), rule)
    for pattern, rule in (
        ("quoted scalar: found unexpected (end of stream|document)", _unclosed_quote),
        ("quoted scalar: ", _bad_escape),
        (r"expected ',' or", _unclosed_bracket),
        ("mapping values are not allowed", _nested_value),
        ("could not find expected ':'", _missing_colon),
        ("expected key|expected '-' indicator|expected <block end>", _extra_text),
        ("cannot start any token", _bad_start),
        ("sequence entries are not allowed", _misplaced_item),
        ("anchor|alias", _star),
        ("tag", _tag),
        ("directive|incompatible YAML", _directive),
        ("<document start>", _after_document),
        ("mapping keys are not allowed", _nested_key),
        ("unexpected ':'", _nested_value),
        ("scanning a block scalar: ", _bad_header),
        ("node content", _no_value),
    )
)
