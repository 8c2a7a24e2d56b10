"""Trace mode: whether a function is being recorded, when sizes are tensors as in nvtripy."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_tracing: ContextVar[bool] = ContextVar("tracing", default=False)


@contextmanager
def trace_mode() -> Iterator[None]:
    """What runs inside is recorded to be compiled."""
    token = _tracing.set(True)
    try:
        yield
    finally:
        _tracing.reset(token)


def in_trace() -> bool:
    """Whether a function is being recorded now."""
    return _tracing.get()
