"""Check counts: a check without any case is skipped with its reason, never passed.

Invariant: each check of a suite is a `suite_check`. It calls `count_check()` where it compares a
result with a declaration, and `report_absence(...)` where a distribution is missing that would have
to answer. A check that ends well without either is a fault of the suite.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from importlib.util import find_spec
from typing import Any, NoReturn

import pytest

from tripybuild.errors.diagnostics import DiagnosticError, concise

NOTHING = "nothing to ask"
# The modules of the distributions that answer, where they are installed.
MODULES = {
    "onnx": "onnx",
    "onnxruntime": "onnxruntime",
    "openvino": "openvino",
    "tensorrt-rtx": "tensorrt_rtx",
    "torch": "torch",
}


@dataclass
class _CheckCount:
    """Number of cases that a check ran, and missing dependencies of the others."""

    asked: int = 0
    lacking: set[str] = field(default_factory=set)


_current: ContextVar[_CheckCount | None] = ContextVar("question", default=None)


def suite_check(check: Callable[..., None]) -> Callable[..., None]:
    """Decorate a check: skipped if it ran in part, failed if it ran no case.

    What could be asked is asked before: a fault that is found is no skip.
    """

    @wraps(check)
    def put(*arguments: Any, **named: Any) -> None:
        current = _CheckCount()
        token = _current.set(current)
        try:
            with _declaration_context(*arguments):
                check(*arguments, **named)
        finally:
            _current.reset(token)
        for distribution in sorted(current.lacking):
            pytest.skip(f"{distribution} is not installed")
        if not current.asked:
            raise AssertionError(f"`{check.__name__}` checked nothing")

    put.__dict__["is_question"] = True
    return put


def _declaration_context(subject: Any = None, *_: Any) -> AbstractContextManager[None]:
    """Where calls are made: at the declaration that a suite is about."""
    found: AbstractContextManager[None] = getattr(subject, "location_context", nullcontext)()
    return found


def count_check() -> None:
    """Note that something was held against what a declaration says."""
    current = _current.get()
    if current is not None:
        current.asked += 1


def report_absence(distribution: str) -> None:
    """Note that a distribution is not here, which would have to answer."""
    current = _current.get()
    if current is not None:
        current.lacking.add(distribution)


def has_distribution(distribution: str) -> bool:
    """Whether a distribution that answers questions is here."""
    return find_spec(MODULES[distribution]) is not None


def require_distributions(*distributions: str) -> None:
    """Skip a question that only distributions could answer of which one is not here."""
    for distribution in distributions:
        if not has_distribution(distribution):
            pytest.skip(f"{distribution} is not installed")


def skip_empty(why: str) -> NoReturn:
    """Skip a question that a declaration leaves nothing to ask of."""
    pytest.skip(f"{NOTHING}: {why}")


def refuse(problems: Iterable[str]) -> None:
    """Fail where there are problems, with all of them."""
    found = list(problems)
    if found:
        raise AssertionError("\n".join(found))


def refuse_difference(what: str, found: object, wanted: object) -> None:
    """Fail where two values are not equal. An `assert` would be gone under `python -O`."""
    refuse([f"{what}: {found}, expected {wanted}"] if found != wanted else [])


def error_line(error: Exception) -> str:
    """An error in one line."""
    if isinstance(error, DiagnosticError):
        return "; ".join(map(concise, error.diagnostics))
    return f"{type(error).__name__}: {error}"
