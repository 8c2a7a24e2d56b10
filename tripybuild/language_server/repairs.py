"""Repairs: problems as a client shows them, and edits that mend what a hint names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsprotocol.types import (
    CodeAction,
    CodeActionKind,
    Diagnostic as ShownProblem,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    Location as FilePlace,
    Position,
    Range,
    TextEdit,
    WorkspaceEdit,
)

from tripybuild.documents.composer import Location
from tripybuild.documents.document import parse
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.language_server.source_text import SourceText
from tripybuild.language_server.workspace import EditedFile, uri_of
from tripybuild.schema.files import FORMAT
from tripybuild.schema.formatting import format_document

SOURCE = "tripybuild"
_MEANT = re.compile(r"did you mean (?:the function )?`([^`]+?)(?:\(\.\.\.\))?`\?")
_CONVERT = re.compile(r"`convert: true`")
_MISSING = re.compile(r"`([a-z_]+)` is missing")


def shown_problems(file: EditedFile) -> list[ShownProblem]:
    """All that was found in the text that was built, as the client shows it."""
    if file.findings is None:
        return []
    source = SourceText(file.findings.text, file.analysis.source.encoding)
    found = [
        *((each, DiagnosticSeverity.Error) for each in file.findings.diagnostics),
        *((each, DiagnosticSeverity.Warning) for each in file.findings.warnings),
    ]
    return [_shown(each, severity, source) for each, severity in found]


def _shown(each: Diagnostic, severity: DiagnosticSeverity, source: SourceText) -> ShownProblem:
    lines = [each.message, *([each.label] if each.label else []), *each.notes]
    lines += [f"hint: {each.hint}"] if each.hint else []
    place = source.range(each.span) if each.span else Range(Position(0, 0), Position(0, 0))
    if place.start == place.end:  # an empty range cannot be seen
        place = Range(place.start, Position(place.end.line, place.end.character + 1))
    related = [
        DiagnosticRelatedInformation(_related_place(other.span), other.message)
        for other in each.related
    ]
    message = "\n".join(lines)
    return ShownProblem(
        place, message, severity, each.code, source=SOURCE, related_information=related or None
    )


def _related_place(span: Span) -> FilePlace:
    start = Position(span.line - 1, span.column - 1)
    end = Position(span.end_line - 1, span.end_column - 1)
    return FilePlace(uri_of(Path(span.path)), Range(start, end))


def code_actions(file: EditedFile, first: int, last: int) -> Iterator[CodeAction]:
    """What mends the problems between two lines."""
    if file.findings is None or not file.is_current():
        return
    for each in (*file.findings.diagnostics, *file.findings.warnings):
        span = each.span
        if span is None or span.line - 1 > last or span.end_line - 1 < first:
            continue
        for title, edits in _edits(file, each, span):
            shown = _shown(each, DiagnosticSeverity.Error, file.analysis.source)
            yield CodeAction(
                title,
                CodeActionKind.QuickFix,
                [shown],
                is_preferred=True,
                edit=WorkspaceEdit(changes={file.uri: edits}),
            )


def _edits(
    file: EditedFile, problem: Diagnostic, span: Span
) -> Iterator[tuple[str, Sequence[TextEdit]]]:
    source = file.analysis.source
    hint = problem.hint or ""
    meant = _MEANT.search(hint)
    if meant is not None and (place := _wrong_word(source, problem, span)) is not None:
        yield f"Replace with `{meant[1]}`", [TextEdit(source.range(place), meant[1])]
    if _CONVERT.search(hint):
        yield from _below_weights(file, "convert", "true")
    missing = _MISSING.search(problem.message) if problem.code == "missing-key" else None
    if missing is not None:
        yield from _missing_keys(file, span, missing[1])


def _wrong_word(source: SourceText, problem: Diagnostic, span: Span) -> Span | None:
    """The word of a span that a hint is about: all of it, or the quoted word of the message."""
    written = source.slice(span)
    wrong = re.search(r"`([^`]+)`", problem.message)
    word = wrong[1] if wrong else written
    if written == word:
        return span
    at = [m.start() for m in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", written)]
    if len(at) != 1:
        return None
    column = span.column + at[0]
    return Span(span.path, span.line, column, span.line, column + len(word))


def _below_weights(file: EditedFile, key: str, value: str) -> Iterator[tuple[str, list[TextEdit]]]:
    """Add a key to `weights:`, which may be only a file's name so far."""
    document, source = file.analysis.document, file.analysis.source
    weights = document.at(("weights",))
    title = f"Add `{key}: {value}` to `weights:`"
    if isinstance(weights, str):
        span = document.span(("weights",))
        new = f"\n  file: {source.slice(span)}\n  {key}: {value}"
        start = source.range(document.span(("weights",), key=True)).end
        place = Range(Position(start.line, start.character + 1), source.range(span).end)
        yield title, [TextEdit(place, new)]
    elif isinstance(weights, dict) and key not in weights and not document.is_flow(("weights",)):
        first = document.span(("weights", next(iter(weights))), key=True)
        start = source.range(first).start
        indent = " " * (first.column - 1)
        yield title, [TextEdit(Range(start, start), f"{key}: {value}\n{indent}")]


def _missing_keys(file: EditedFile, span: Span, name: str) -> Iterator[tuple[str, list[TextEdit]]]:
    """Add the key that a mapping needs; what stands behind it is for its author."""
    document, source = file.analysis.document, file.analysis.source
    for at, value in _mappings(document.data, ()):
        if document.span(at) != span or name in value or not value or document.is_flow(at):
            continue
        first = document.span((*at, next(iter(value))), key=True)
        indent = " " * (first.column - 1)
        if name == "tripybuild":
            place, text = source.range(first).start, f"{name}: {FORMAT}\n{indent}"
        else:
            place = source.range(document.span(at)).end
            text = f"\n{indent}{name}:"
            if source.place(place)[1] == 0:  # the mapping ends with the line before
                text = f"{indent}{name}:\n"
        yield f"Add `{name}:`", [TextEdit(Range(place, place), text)]
        return


def _mappings(data: object, at: Location) -> Iterator[tuple[Location, Mapping[Any, Any]]]:
    """All mappings of a file."""
    if isinstance(data, dict):
        yield at, data
        for key, value in data.items():
            yield from _mappings(value, (*at, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _mappings(value, (*at, index))


def formatting(file: EditedFile) -> list[TextEdit]:
    """The edit that gives the file its one form; none where it has it, or cannot be read.

    Raises:
        DiagnosticError: The text is no YAML that can be read.
    """
    text = file.analysis.text
    document, problems = parse(text, file.path.as_posix())
    if document is None or problems:
        raise DiagnosticError(*problems)
    after = format_document(document)
    if after is None or after == document.text:
        return []
    before = text[: len(text) - len(document.text)]
    return [TextEdit(file.analysis.source.whole(), before + after)]
