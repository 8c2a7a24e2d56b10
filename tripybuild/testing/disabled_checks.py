"""Disabled checks: a declaration without its checks of dtypes, or without all laws but one.

Engines are asked what they do with calls that a declaration rejects. Dtypes are bound as ever,
whether or not they are allowed, so that a call has the types which the declaration would give it.
Sizes and attributes are checked, but for laws that are switched off.

Each law can be violated alone: it is asked with all others of the operator switched off, in the
generated code itself. One that cannot be asked, because a name that it reads cannot be computed for
the call, is not broken: it is stated only where the laws before it hold.
"""

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.testing.check_counts import count_check
from tripybuild.trace.operation import DeferredLaw
from tripybuild.types import dtypes
from tripybuild.types.vocabulary import SHAPE

EVERY = tuple(dtypes.BY_NAME.values())

# Makes the call of an example. Raises a DiagnosticError where the declaration refuses it.
Call = Callable[[Example], object]
# Which laws are switched off: a law by its code, with the names that it reads.
Off = Callable[[str, dict[str, object]], bool]


def is_dtype_law(code: str, names: dict[str, object]) -> bool:  # noqa: ARG001 - an `Off`
    """Switch off the laws that mention nothing but type variables."""
    return all(isinstance(value, dtypes.dtype) for value in names.values())


def any_law(code: str, names: dict[str, object]) -> bool:  # noqa: ARG001 - an `Off`
    """Switch off all laws."""
    return True


class _DisabledLaw:
    """A disabled law."""

    def __enter__(self) -> Self:
        return self

    def __call__(self, holds: object) -> None:
        """Take the answer, whatever it is."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        return kind is UndecidedSize


_off: ContextVar[Off] = ContextVar("off", default=is_dtype_law)


class _LenientCheck(Check):
    def element(
        self,
        variable: str,
        allowed: tuple[dtypes.dtype, ...],  # noqa: ARG002 - all are
        **tensors: object,
    ) -> dtypes.dtype:
        return super().element(variable, EVERY, **_one_dtype(tensors))

    def element_or_numbers(
        self,
        variable: str,
        allowed: tuple[dtypes.dtype, ...],  # noqa: ARG002 - all are
        **values: object,
    ) -> dtypes.dtype:
        return super().element_or_numbers(variable, EVERY, **_one_dtype(values))

    def dtype_of(self, name: str, tensor: Any, *allowed: dtypes.dtype) -> dtypes.dtype:  # noqa: ARG002 - all are
        return super().dtype_of(name, tensor, *EVERY)

    def dtype(self, name: str, value: object, *allowed: dtypes.dtype) -> dtypes.dtype:  # noqa: ARG002 - all are
        return super().dtype(name, value, *EVERY)

    def number_or_tensor(self, name: str, value: Any, type: dtypes.dtype) -> Any:
        if isinstance(value, (bool, int, float)):
            return self.constant(value, type)
        return super().number_or_tensor(name, value, type)

    def law(self, name: str, **names: object) -> Any:
        off = _off.get()(f"{self.declaration.name}/{name}", names)
        return _DisabledLaw() if off else super().law(name, **names)


class _LenientInlineCheck(_LenientCheck, InlineCheck):
    pass


def _one_dtype(tensors: dict[str, object]) -> dict[str, object]:
    """The tensors of the first one's dtype: others would have to be cast."""
    types = [t for v in tensors.values() for t in _dtypes(v)]
    return {
        name: value
        for name, value in tensors.items()
        if all(type is types[0] for type in _dtypes(value))
    }


def _dtypes(value: object) -> Iterator[dtypes.dtype]:
    several = value if isinstance(value, (list, tuple)) else [value]
    yield from (each.type.dtype for each in several if hasattr(each, "type"))


@contextmanager
def without_checks(off: Off = is_dtype_law) -> Iterator[None]:
    """Switch off the checks of dtypes in a `with` block, and the laws of which `off` says so."""
    before = _off.set(off)
    try:
        with use_checks(_LenientCheck, _LenientInlineCheck):
            yield
    finally:
        _off.reset(before)


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
            return _DisabledLaw()
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
            names = {**dtypes.BY_NAME, **types}
            if [n.name for n in laws if not evaluate(n.that.program, names, SHAPE)] == [name]:
                return True
    return False
