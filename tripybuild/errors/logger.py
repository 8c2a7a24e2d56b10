"""`tp.logger`: compile-time and run-time logging to stderr or stdout.

```python
tp.logger.verbosity = "trace"  # one level, a set of them, or levels by path
tp.logger.verbosity = {"eager": {"trace", "timing"}, "build": "mlir"}
```

The environment says the same before a program begins: `TRIPYBUILD_LOG=trace,mlir`, or
`TRIPYBUILD_LOG=eager=trace,build=mlir`, and `TRIPYBUILD_LOG_OUTPUT=stdout`. A server listens by
`tp.logger.output = "logging"`: messages go to `logging.getLogger("tripybuild")`. Invariant: a text
that is not shown is not made.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from textwrap import indent
from time import perf_counter
from types import MappingProxyType
from typing import Any, Final, TextIO

from tripybuild.errors.diagnostics import HIDDEN, Diagnostic, DiagnosticError, suggest

VARIABLE, OUTPUT = "TRIPYBUILD_LOG", "TRIPYBUILD_LOG_OUTPUT"
OUTPUTS = ("stderr", "stdout", "logging")
LOGGING = "tripybuild"  # the name of the logger of Python's `logging`
MODES = ("each", "once")
PLAIN = "\x1b[0m"
# Data in a module that is too long to read: an array of more letters than this.
_DATA = re.compile(r"dense<[^<>]{200,}>")
Text = str | Callable[[], str]
Verbosity = str | Iterable[str] | Mapping[str, str | Iterable[str]]


@dataclass(frozen=True)
class Level:
    """A kind of message: what stands before it, in which color, and which others it brings."""

    prefix: str
    color: str
    enables: frozenset[str] = frozenset()


LEVELS: Final[Mapping[str, Level]] = MappingProxyType(
    {
        "verbose": Level("[V] ", "\x1b[95m", frozenset({"info", "warning", "error"})),
        "info": Level("[I] ", "", frozenset({"warning", "error"})),
        "warning": Level("[W] ", "\x1b[93m", frozenset({"error"})),
        "error": Level("[E] ", "\x1b[91m"),
        "trace": Level("==== Trace ====\n", "\x1b[35m"),
        "mlir": Level("==== MLIR ====\n", "\x1b[35m"),
        "ir": Level("", "", frozenset({"trace", "mlir"})),
        "timing": Level("==== Timing ====\n", "\x1b[36m"),
    }
)


class Logger:
    """The one logger of a program; each level is a method, too: `logger.info("text")`."""

    VERBOSITY_CONFIGS = LEVELS
    watched: bool
    """Whether any level shows how programs are computed, or how long that takes."""

    def __init__(self, verbosity: Verbosity = "info") -> None:
        self.enable_color = True
        self._indentation = 0
        self._said: set[tuple[str, str]] = set()
        self.verbosity = verbosity
        self._output: str | TextIO = OUTPUTS[0]

    @property
    def output(self) -> str | TextIO:
        """Where messages go: `stderr`, `stdout`, Python's `logging`, or any stream of text."""
        return self._output

    @output.setter
    def output(self, wanted: str | TextIO) -> None:
        if not hasattr(wanted, "write") or not hasattr(wanted, "flush"):
            _check_name(wanted, OUTPUTS, "an output of the logger")
        self._output = wanted

    @property
    def verbosity(self) -> Mapping[str, frozenset[str]]:
        """The levels that are shown, by path; those of `""` where no other path fits.

        A path names modules of tripybuild, `eager` or `build/session`, or the user's own. Levels
        come as one text, as several, or by path. `info` brings `warning` and `error`, `verbose`
        all three, `ir` brings `trace` and `mlir`.
        """
        return self._verbosity

    @verbosity.setter
    def verbosity(self, wanted: Verbosity) -> None:
        by_path = wanted if isinstance(wanted, Mapping) else {"": wanted}
        found = {path: _expand_levels(levels) for path, levels in {"": "info", **by_path}.items()}
        self._verbosity = MappingProxyType(found)
        self._anywhere = frozenset[str]().union(*found.values())
        self.watched = not self._anywhere.isdisjoint(LEVELS["ir"].enables | {"timing"})

    @contextmanager
    def use_verbosity(self, verbosity: Verbosity) -> Iterator[None]:
        """Show other levels inside of a `with` block."""
        before = self.verbosity
        self.verbosity = verbosity
        try:
            yield
        finally:
            self.verbosity = before

    @contextmanager
    def indent(self, level: int = 4) -> Iterator[None]:
        """Shift messages to the right inside of a `with` block, by so many spaces more."""
        self._indentation += level
        try:
            yield
        finally:
            self._indentation -= level

    def __repr__(self) -> str:
        levels = {path: sorted(each) for path, each in self.verbosity.items()}
        return f"Logger({levels})"

    def log(self, message: Text, verbosity: str, mode: str = "each", stack_depth: int = 2) -> None:
        """Show a message, if its level is shown.

        Args:
            message: The text, or what makes it when it is shown.
            verbosity: The level.
            mode: `each`, or `once` for a text that is shown the first time only.
            stack_depth: The frame whose path decides: 2 is the caller, 3 the caller's caller.

        Raises:
            DiagnosticError: There is no such level or mode.
        """
        if verbosity not in LEVELS or mode not in MODES:
            _check_name(verbosity, LEVELS, "a level of the logger")
            _check_name(mode, MODES, "a mode of the logger")
        if self.shows(verbosity, stack_depth):
            self._say(message if isinstance(message, str) else message(), verbosity, mode)

    def shows(self, verbosity: str, stack_depth: int = 1) -> bool:
        """Whether a level is shown where this is called."""
        if verbosity not in self._anywhere or len(self._verbosity) == 1:
            return verbosity in self._anywhere
        module = str(sys._getframe(stack_depth).f_globals.get("__name__", ""))  # noqa: SLF001 - the documented way to a frame
        path = module.removeprefix("tripybuild.").replace(".", "/") + "/"
        fitting = [each for each in self._verbosity if not each or path.startswith(f"{each}/")]
        return verbosity in self._verbosity[max(fitting, key=len)]

    def log_time(self, what: Text) -> AbstractContextManager[None]:
        """Say how long a `with` block took, at the level `timing`."""
        shown = "timing" in self._anywhere and self.shows("timing", 2)
        return self._time_block(what) if shown else nullcontext()

    @contextmanager
    def _time_block(self, what: Text) -> Iterator[None]:
        began = perf_counter()
        yield
        seconds = perf_counter() - began
        self._say(f"{what if isinstance(what, str) else what()}: {seconds:.4f} s", "timing", "each")

    def _say(self, message: str, verbosity: str, mode: str) -> None:
        if mode == "once":
            if (verbosity, message) in self._said:
                return
            self._said.add((verbosity, message))
        if verbosity == "mlir":
            message = _DATA.sub("dense<...>", message)
        level = LEVELS[verbosity]
        if self._output == OUTPUTS[-1]:
            _hand_over(message, verbosity)
            return
        shifted = indent(HIDDEN.sub("\ufffd", message.rstrip("\n")), " " * self._indentation)
        output = self._output
        stream = getattr(sys, output) if isinstance(output, str) else output
        color = level.color if self.enable_color and _uses_color(stream) else ""
        if stream is not None:  # a closed one is None
            stream.write(f"{color}{level.prefix}{shifted}{PLAIN if color else ''}\n")
            stream.flush()

    def verbose(self, message: Text, mode: str = "each") -> None:
        """Show what is seldom of use."""
        self.log(message, "verbose", mode, 3)

    def info(self, message: Text, mode: str = "each") -> None:
        """Show what happens."""
        self.log(message, "info", mode, 3)

    def warning(self, message: Text, mode: str = "each") -> None:
        """Show what may be wrong."""
        self.log(message, "warning", mode, 3)

    def error(self, message: Text, mode: str = "each") -> None:
        """Show what is wrong."""
        self.log(message, "error", mode, 3)

    def trace(self, message: Text, mode: str = "each") -> None:
        """Show operations as they were recorded."""
        self.log(message, "trace", mode, 3)

    def mlir(self, message: Text, mode: str = "each") -> None:
        """Show what a compiler is given, without the data of large constants."""
        self.log(message, "mlir", mode, 3)

    def ir(self, message: Text, mode: str = "each") -> None:
        """Show any form of a program."""
        self.log(message, "ir", mode, 3)

    def timing(self, message: Text, mode: str = "each") -> None:
        """Show how long something took."""
        self.log(message, "timing", mode, 3)


def _hand_over(message: str, verbosity: str) -> None:
    """Give a message to Python's `logging`; its record has the level's own name, too."""
    import logging  # noqa: PLC0415 - most programs need none

    known = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
    number = known.get(verbosity, logging.DEBUG)
    logging.getLogger(LOGGING).log(number, "%s", message, extra={"verbosity": verbosity})


def _expand_levels(levels: str | Iterable[str]) -> frozenset[str]:
    """The levels with those that they bring."""
    if isinstance(levels, str) or not isinstance(levels, Iterable):
        levels = [levels]
    names = list(levels)
    for name in names:
        _check_name(name, LEVELS, "a level of the logger")
    return frozenset(names).union(*[LEVELS[name].enables for name in names])


def _check_name(name: Any, names: Iterable[str], what: str) -> None:
    if not isinstance(name, str) or name not in names:
        near = suggest(str(name), names)
        hint = f"did you mean `{near}`?" if near else None
        message = f"`{name}` is not {what}; there are {', '.join(f'`{each}`' for each in names)}"
        raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint))


def _uses_color(stream: object) -> bool:
    """Whether a stream shows color."""
    shown = getattr(stream, "isatty", bool)()
    return shown and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def from_environment(text: str) -> Verbosity:
    """The levels that the environment asks for: `trace,mlir`, or `eager=trace,build=mlir`."""
    found: dict[str, set[str]] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        path, equals, level = part.partition("=")
        found.setdefault(path if equals else "", set()).add(level if equals else path)
    return found


def _of_program(environment: Mapping[str, str]) -> Logger:
    """Initial logger; unknown levels are reported, not raised.

    A mistyped variable only affects what is logged, so the program runs all the same.
    """
    found = Logger()
    for variable, name, read in (OUTPUT, "output", str), (VARIABLE, "verbosity", from_environment):
        if text := environment.get(variable):
            try:
                setattr(found, name, read(text))
            except DiagnosticError as error:
                found.warning(f"`{variable}` is passed over\n{error}")
    return found


logger = _of_program(os.environ)
