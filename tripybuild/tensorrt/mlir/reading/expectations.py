"""Expected diagnostics in comments: `// expected-error @+1 {{message}}`.

Invariant: it is MLIR's `--verify-diagnostics`. A message is a part of the diagnostic's; in
`expected-error-re` what stands in `{{}}` inside of it is a regular expression. What is expected and
not given, or given and not expected, is a mismatch. Notes have no place of their own, so that one
may be expected anywhere, and need not be.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tripybuild.errors.diagnostics import Diagnostic, Span

CODE = "mlir-expectation"
_BEGIN = re.compile(r"expected-(?:error|note|remark|warning)")
_EXPECTED = re.compile(
    r"expected-(?P<kind>error|note|remark|warning)(?P<re>-re)? *"
    r"(?:@(?P<where>[+-][0-9]+|above|below|unknown))? *(?P<message>\{\{.*\}\})"
)
_INNER = re.compile(r"\{\{(.*?)\}\}")


@dataclass(slots=True)
class Expectation:
    """A diagnostic that is expected: in a line, or (0) without a place."""

    kind: str
    line: int
    pattern: re.Pattern[str]
    message: str
    span: Span
    met: bool = False

    def fits(self, message: str) -> bool:
        """Whether a message is the one that is expected."""
        return self.pattern.search(message) is not None


def expectations(text: str, path: str) -> list[Expectation]:
    """Find what the comments of a text expect."""
    found: list[Expectation] = []
    waiting: list[Expectation] = []  # for the next line without an expectation
    plain = 0  # the last line without one
    for number, line in enumerate(text.split("\n"), 1):
        in_line = list(_in_line(line, number, path))
        if not in_line:
            for each in waiting:
                each.line = number
            waiting.clear()
            plain = number
        for each, where in in_line:
            found.append(each)
            if where == "below":
                waiting.append(each)
            elif where == "above":
                each.line = plain
            elif where == "unknown":
                each.line = 0
            elif where:
                each.line += int(where)
    return found


def _in_line(line: str, number: int, path: str) -> Iterator[tuple[Expectation, str]]:
    starts = [each.start() for each in _BEGIN.finditer(line)]
    for start, end in pairwise([*starts, len(line)]):
        found = _EXPECTED.match(line[start:end])
        if found is not None:
            message = found["message"][2:-2]
            span = Span(path, number, start + 1, number, start + found.end() + 1)
            pattern = _pattern(message, regular=found["re"] is not None)
            yield Expectation(found["kind"], number, pattern, message, span), found["where"] or ""


def _pattern(message: str, *, regular: bool) -> re.Pattern[str]:
    if not regular:
        return re.compile(re.escape(message))
    parts = _INNER.split(message)
    return re.compile(
        "".join(part if index % 2 else re.escape(part) for index, part in enumerate(parts))
    )


def mismatches(expected: Sequence[Expectation], given: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Compare what is expected with what was given; equal, if nothing comes out."""
    found = [unexpected for each in given for unexpected in _match_diagnostic(expected, each)]
    for each in expected:
        if not each.met:
            message = f'expected {each.kind} "{each.message}" was not produced'
            found.append(Diagnostic(CODE, message, each.span))
    return found


def _match_diagnostic(expected: Sequence[Expectation], given: Diagnostic) -> Iterator[Diagnostic]:
    for note in given.notes:
        for each in expected:
            each.met = each.met or (each.kind == "note" and each.fits(note))
    line = 0 if given.span is None else given.span.line
    fitting = [each for each in expected if each.line == line and each.fits(given.message)]
    errors = sorted((each for each in fitting if each.kind == "error"), key=lambda each: each.met)
    if errors:
        errors[0].met = True
    elif fitting:
        message = f"'error' diagnostic emitted when expecting a '{fitting[0].kind}'"
        yield Diagnostic(CODE, message, fitting[0].span)
    else:
        yield Diagnostic(CODE, f"unexpected error: {given.message}", given.span)
