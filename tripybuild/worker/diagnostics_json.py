"""Diagnostics as JSON, between the worker and the session.

Invariant: what a compiler of ours finds wrong reaches the user as it was said, with its place in a
file. A message's header is bounded, so words beyond that are cut.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, Related, Span, as_json

MOST = 100  # diagnostics
MOST_NOTES = 40
LONGEST_TEXT = 2000  # characters; a header has room for what remains


def to_json(diagnostics: Iterable[Diagnostic]) -> list[dict[str, object]]:
    """Return diagnostics as JSON can say them."""
    return [_cut(as_json(each)) for each in list(diagnostics)[:MOST]]


def from_json(data: object) -> tuple[Diagnostic, ...]:
    """Return the diagnostics in a reply; nothing where it has none, or malformed ones."""
    entries = data if isinstance(data, list) else []
    try:
        return tuple(_diagnostic(each) for each in entries)
    except (KeyError, TypeError, ValueError):
        return ()


def _diagnostic(entry: Mapping[str, Any]) -> Diagnostic:
    span, hint = entry["span"], entry["hint"]
    return Diagnostic(
        code=str(entry["code"]),
        message=str(entry["message"]),
        span=None if span is None else _span(span),
        label=str(entry["label"]),
        notes=tuple(map(str, entry["notes"])),
        hint=None if hint is None else str(hint),
        related=tuple(Related(str(r["message"]), _span(r["span"])) for r in entry["related"]),
    )


def _span(span: Mapping[str, Any]) -> Span:
    numbers = (int(span[key]) for key in ("line", "column", "end_line", "end_column"))
    return Span(str(span["path"]), *numbers)


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT else value[:LONGEST_TEXT] + "..."
    if isinstance(value, dict):
        return {key: _cut(each) for key, each in value.items()}
    return [_cut(each) for each in value[:MOST_NOTES]] if isinstance(value, list) else value
