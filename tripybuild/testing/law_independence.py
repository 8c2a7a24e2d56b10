"""Law independence: each law of a declaration can be violated alone.

A law is asked with all others of the operator switched off, in the generated code itself. One that
cannot be asked, because a name that it reads cannot be computed for the call, is not broken: it is
stated only where the laws before it hold.
"""

import ast
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from tripybuild.artifact.call_signature import law_violations
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.frontend.checks.check import Check
from tripybuild.frontend.record import InlineCheck, use_checks
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.schema.operator.dtype_combinations import dtype_laws, illegal_tuples, slots
from tripybuild.schema.operator.operator import Example, Operator
from tripybuild.symbolic.dims import UndecidedSize
from tripybuild.testing.check_counts import count_check
from tripybuild.testing.engines.validation_off import DisabledLaw
from tripybuild.trace.operation import DeferredLaw
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.vocabulary import SHAPE

# Makes the call of an example. Raises a DiagnosticError where the declaration refuses it.
Call = Callable[[Example], object]


def check_independence(operator: Operator, law: str, call: Call) -> Iterator[str]:
    """Why nothing breaks a law, or what breaks others beside it.

    A law about dtypes alone is broken by tuples, which the suite tries; others by examples.
    """
    examples = [each for each in operator.examples if each.fails == law]
    if not examples and not _by_dtypes(operator, law):
        yield f"no example breaks `{law}`"
    count_check()
    for example in examples:
        others = [n for n in operator.laws if n != law and _breaks(operator, n, example, call)]
        if others:
            text = " ".join(example.call.text.split())
            yield f"`{text}` breaks `{law}`, and beside it: {', '.join(others)}"


class _LawOutcome(Exception):  # noqa: N818 - no error: the question that was asked is answered
    def __init__(self, *, holds: bool) -> None:
        super().__init__(holds)
        self.holds = holds


@dataclass
class _LawProbe:
    """Probe of a law, evaluated in the last call of an example."""

    operator: str
    law: str
    example: Example
    calls: int


_asked: ContextVar[_LawProbe] = ContextVar("asked")


class _SingleLawCheck(Check):
    def law(self, name: str, **names: object) -> Any:
        question = _asked.get()
        if self.declaration.name != question.operator:
            return super().law(name, **names)
        if name != question.law:
            return DisabledLaw()
        question.calls -= 1
        if question.calls > 0:
            return super().law(name, **names)
        law = self.declaration.laws[name]
        return _LawUnderTest(
            DeferredLaw(name, law, names, self.declaration.source), question.example
        )


class _InlineSingleLawCheck(_SingleLawCheck, InlineCheck):
    pass


class _LawUnderTest:
    """The law under test: later laws are not evaluated."""

    def __init__(self, law: DeferredLaw, example: Example) -> None:
        self.law, self.example = law, example

    def __enter__(self) -> Self:
        return self

    def __call__(self, holds: object) -> None:
        raise _LawOutcome(holds=bool(holds))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is UndecidedSize:
            raise _LawOutcome(holds=not law_violations([self.law], self.example.sizes)) from error


def _breaks(operator: Operator, law: str, example: Example, call: Call) -> bool:
    """Whether an example breaks a law, too, were it the only one."""
    token = _asked.set(_LawProbe(operator.name, law, example, _calls(operator, example)))
    try:
        with use_checks(_SingleLawCheck, _InlineSingleLawCheck):
            call(example)
    except EvaluationError as error:
        return isinstance(error.__cause__, _LawOutcome) and not error.__cause__.holds
    except DiagnosticError:
        return False  # what comes before the law cannot be computed without the others
    finally:
        _asked.reset(token)
    return False


def _calls(operator: Operator, example: Example) -> int:
    """How often an example calls the operator itself."""
    nodes = (node for node in ast.walk(example.call.result) if isinstance(node, ast.Call))
    return sum(ast.unparse(node.func) == operator.name for node in nodes)


def _by_dtypes(operator: Operator, name: str) -> bool:
    """Whether a tuple of dtypes breaks a law alone."""
    laws = dtype_laws(operator)
    for types, _ in illegal_tuples(operator) if name in {law.name for law in laws} else ():
        if all(slot.allows(types) for slot in slots(operator)):
            names = {**BY_NAME, **types}
            if [n.name for n in laws if not evaluate(n.that.program, names, SHAPE)] == [name]:
                return True
    return False
