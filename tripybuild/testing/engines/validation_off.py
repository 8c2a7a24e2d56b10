"""Checks disabled: what engines do with calls that a declaration rejects.

Dtypes are bound as ever, whether or not they are allowed, so that a call has the types which the
declaration would give it. Sizes and attributes are checked, but for laws that are switched off.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self

from tripybuild.frontend.checks.check import Check
from tripybuild.frontend.record import InlineCheck, use_checks
from tripybuild.symbolic.dims import UndecidedSize
from tripybuild.types import dtypes

EVERY = tuple(dtypes.BY_NAME.values())

# Which laws are switched off: a law by its code, with the names that it reads.
Off = Callable[[str, dict[str, object]], bool]


def is_dtype_law(code: str, names: dict[str, object]) -> bool:  # noqa: ARG001 - an `Off`
    """Switch off the laws that mention nothing but type variables."""
    return all(isinstance(value, dtypes.dtype) for value in names.values())


def any_law(code: str, names: dict[str, object]) -> bool:  # noqa: ARG001 - an `Off`
    """Switch off all laws."""
    return True


class DisabledLaw:
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
        return DisabledLaw() if off else super().law(name, **names)


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
