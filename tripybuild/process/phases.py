"""Phases of long work: what does it names them, and what shows them listens.

Any room may begin a phase; only the command line shows it. A phase ends where the next begins.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[str], None]
END = ""
_listeners: list[Listener] = []


def begin_phase(name: str) -> None:
    """Say that a phase begins, by a few words for a reader: `build the engine`."""
    for listen in _listeners:
        listen(name)


def end_phase() -> None:
    """Say that the phase is over, and no other begins."""
    begin_phase(END)


def set_listener(listen: Listener | None) -> None:
    """Tell a listener of all phases from now on, or none."""
    _listeners[:] = [] if listen is None else [listen]


@contextmanager
def listening(listen: Listener) -> Iterator[None]:
    """Tell one more listener of the phases that begin in a `with` block."""
    _listeners.append(listen)
    try:
        yield
    finally:
        _listeners.remove(listen)
