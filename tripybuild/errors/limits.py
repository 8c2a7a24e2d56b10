"""Diagnostic limits per file: the first problems, the number of others, and the stop reason.

Invariant: what a file of a stranger makes us say is bounded, and what is left out is counted.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from tripybuild.errors.budget import Budget, BudgetError, use_budget
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span

MOST_PROBLEMS: Final = 100


def first_problems(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Keep the first problems of a file, and say how many more there are."""
    kept: list[Diagnostic] = []
    more = 0
    for each in found:
        if len(kept) < MOST_PROBLEMS:
            kept.append(each)
        else:
            more += 1
    if more:
        message = f"{more:,} more {'problem is' if more == 1 else 'problems are'} not shown"
        hint = "mend those that are shown first"
        kept.append(Diagnostic("more-problems", message, hint=hint))
    return kept


def budget_diagnostic(error: BudgetError, span: Span | None) -> Diagnostic:
    """That a file asks for more than its budget has, as a problem of the file."""
    return Diagnostic("over-budget", error.message, span, hint=error.hint)


@contextmanager
def within_budget(span: Span | None = None, budget: Budget | None = None) -> Iterator[Budget]:
    """Work on a file, within this budget, or that of the file that it is a part of.

    Raises:
        DiagnosticError: The file asks for more than the budget has.
    """
    with use_budget(budget) as current:
        try:
            yield current
        except BudgetError as error:
            raise DiagnosticError(budget_diagnostic(error, span)) from error
