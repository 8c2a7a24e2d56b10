"""Case snippets: `cases:` selects one of several by dtypes, attributes and sizes.

The texts of one choice are read as one program, in which their lines are numbered through: a node
so knows its own place in the file.
"""

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from tripybuild.documents.document import Document
from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.grammar import Program, SnippetError, parse
from tripybuild.language.names import free_names
from tripybuild.language.program import Choice, choice
from tripybuild.schema.entries import CasesEntry
from tripybuild.schema.operator.operator import Location, Operator, Snippet
from tripybuild.schema.snippets.expressions import expression_text
from tripybuild.schema.snippets.snippet_scope import choice_words
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.patterns import ChoicePattern, ValuePattern, options
from tripybuild.types.vocabulary import SHAPE

_MOST: Final = 4096  # combinations of values: beyond, a case is taken to be reached


def read_cases(
    entry: CasesEntry,
    document: Document,
    location: Location,
    syntax: Callable[[SnippetError, Document, Location], Diagnostic],
    *,
    functions: bool = False,
) -> tuple[Snippet | None, list[Diagnostic]]:
    """The snippet of some cases, or None, and all that is wrong with it.

    `functions` is whether its lines may define some.
    """
    reader = _Reader(document, syntax, functions=functions)
    shared = None
    if entry.let is not None:
        shared = reader.lines(entry.let, (*location, "let"))
    cases: list[tuple[ast.expr | None, Program]] = []
    for index, case in enumerate(entry.cases):
        at = (*location, "cases", index)
        test = None
        if "when" in case.model_fields_set:
            program = reader.read(case.when, (*at, "when"))
            test = program.result
            if program.assignments:
                reader.wrong("bad-case", "`when` is one expression", (*at, "when"))
        cases.append((test, reader.read(case.then, (*at, "then"))))
    reader.found += _order(cases, document, (*location, "cases"))
    if reader.found:
        return None, reader.found
    return Snippet(choice(shared, cases), document, location, tuple(reader.parts)), []


class _Reader:
    """Reads the texts of a choice, each behind the lines of those before it."""

    def __init__(
        self,
        document: Document,
        syntax: Callable[[SnippetError, Document, Location], Diagnostic],
        *,
        functions: bool,
    ) -> None:
        self.document, self.syntax, self.functions = document, syntax, functions
        self.found: list[Diagnostic] = []
        self.parts: list[tuple[int, Location]] = []
        self._lines = 0

    def read(self, value: object, location: Location) -> Program:
        """One text."""
        text = expression_text(value)
        before = self._lines
        self.parts.append((before, location))
        self._lines += text.rstrip().count("\n") + 1
        try:
            return parse("\n" * before + text, functions=self.functions)
        except SnippetError as error:
            error.line, error.end_line = error.line - before, error.end_line - before
            self.found.append(self.syntax(error, self.document, location))
            return Program((), ast.Constant(None), "None")

    def lines(self, text: str, location: Location) -> Program:
        """Lines that assign names, and give nothing by themselves."""
        program = self.read(f"{text.rstrip()}\nreturn None", location)
        if not program.assignments and not self.found:
            self.wrong("bad-case", "`let` is lines of `name = expression`", location)
        return program

    def wrong(self, code: str, message: str, location: Location, hint: str | None = None) -> None:
        self.found.append(Diagnostic(code, message, self.document.span(location), hint=hint))


def _order(
    cases: Sequence[tuple[ast.expr | None, Program]], document: Document, location: Location
) -> Iterator[Diagnostic]:
    """There are two cases at least, and the last one alone is for all other calls."""
    if len(cases) < 2:
        message, hint = "one case is not a choice", "write the snippet itself in place of `cases`"
        yield Diagnostic("bad-case", message, document.span(location), hint=hint)
        return
    if cases[-1][0] is not None:
        message = "no case is left where none of the conditions holds"
        hint = "the last case has no `when`"
        span = document.span((*location, len(cases) - 1, "when"))
        yield Diagnostic("bad-case", message, span, hint=hint)
    for index, (test, _) in enumerate(cases[:-1]):
        if test is None:
            message = "the cases behind this one can never be reached"
            hint = "add `when`, or put it last"
            span = document.span((*location, index))
            yield Diagnostic("unreached-case", message, span, hint=hint)


def unreachable_cases(operator: Operator) -> Iterator[Diagnostic]:
    """A diagnostic for each case that no call can reach, as far as dtypes and words decide."""
    domains = _domains(operator)
    for _, snippet in operator.snippets():
        tests, last = [], snippet.result
        while isinstance(last, Choice):
            tests.append(last.test)
            last = last.orelse
        if not tests:
            continue
        reached = _reachable_cases(tests, domains)
        for index, test in enumerate(tests):
            if index not in reached:
                yield _unreachable(snippet, test, "it never holds where those before it do not")
        if len(tests) not in reached:
            yield _unreachable(snippet, last, "one of those before it always holds")


def _unreachable(snippet: Snippet, node: ast.expr, label: str) -> Diagnostic:
    return Diagnostic("unreached-case", "no call reaches this case", snippet.span(node), label)


def _domains(operator: Operator) -> Mapping[str, Sequence[Any]]:
    """The values of each name that has few of them: dtypes, words, booleans."""
    found: dict[str, Sequence[Any]] = {word: [word] for word in choice_words(operator)}
    found |= operator.types
    for attribute in operator.attributes.values():
        forms = options(attribute.pattern)
        if all(isinstance(form, ChoicePattern) for form in forms):
            found[attribute.name] = sorted(choice_words(operator))
        elif all(isinstance(form, ValuePattern) and str(form) == "bool" for form in forms):
            found[attribute.name] = [False, True]
    return found


def _reachable_cases(tests: Sequence[ast.expr], domains: Mapping[str, Sequence[Any]]) -> set[int]:
    """The cases that come first for some values; what else a condition reads may be anything."""
    names = {name for test in tests for name in free_names(test) if name in domains}
    readable = {*domains, *BY_NAME, *SHAPE.words}
    known = [test for test in tests if readable.issuperset(free_names(test))]
    others = {ast.dump(test) for test in tests if test not in known}
    axes = {**{name: domains[name] for name in names}, **{key: [False, True] for key in others}}
    count = 1
    for values in axes.values():
        count *= len(values)
    everything = set(range(len(tests) + 1))
    if count > _MOST:
        return everything
    found: set[int] = set()
    for combination in itertools.product(*axes.values()):
        chosen = {**BY_NAME, **dict(zip(axes, combination, strict=True))}
        try:
            holds = (
                chosen[dump] if (dump := ast.dump(t)) in chosen else evaluate(t, chosen, SHAPE)
                for t in tests
            )
            found.add(next((i for i, held in enumerate(holds) if held), len(tests)))
        except EvaluationError:
            return everything
    return found
