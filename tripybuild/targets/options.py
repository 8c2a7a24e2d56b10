"""Options of targets: `cpu:onnxruntime,threads=2` sets one of those that the table lists."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest

Value = int | str


class TargetOption(Protocol):
    """The values that an option has."""

    def __str__(self) -> str:
        """The values in words."""

    def read(self, text: str) -> Value | None:
        """The value that a text says; None where it says none."""

    def accepts(self, value: object) -> bool:
        """Whether it is one of the values."""


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number in a range."""

    least: int
    most: int

    def __str__(self) -> str:
        return f"a number from {self.least} to {self.most}"

    def read(self, text: str) -> Value | None:
        """The number that digits write."""
        digits = (
            text if text.isascii() and text.isdigit() and len(text) <= len(str(self.most)) else ""
        )
        return int(digits) if digits and self.accepts(int(digits)) else None

    def accepts(self, value: object) -> bool:
        """Whether it is a number in the range."""
        return type(value) is int and self.least <= value <= self.most


@dataclass(frozen=True, slots=True)
class WordChoice:
    """One of some words."""

    words: tuple[str, ...]

    def __str__(self) -> str:
        return " or ".join(f"`{each}`" for each in self.words)

    def read(self, text: str) -> Value | None:
        """The word."""
        return text if text in self.words else None

    def accepts(self, value: object) -> bool:
        """Whether it is one of the words."""
        return isinstance(value, str) and value in self.words


def read_options(target: str, known: Mapping[str, TargetOption], text: str) -> dict[str, Value]:
    """The options that `NAME=VALUE,NAME=VALUE` sets, in the order of the target's own.

    Raises:
        DiagnosticError: The target has no such option, or the option no such value.
    """
    found: dict[str, Value] = {}
    problems = []
    for item in text.split(","):
        name, _, written = (part.strip() for part in item.partition("="))
        value = known[name].read(written) if name in known else None
        if name not in known:
            problems.append(_unknown(target, known, name))
        elif value is None:
            message = f"`{name}` of `{target}` is {known[name]}, and not `{written}`"
            problems.append(Diagnostic("unknown-target", message))
        elif name in found:
            message = f"`{name}` of `{target}` is set twice"
            problems.append(Diagnostic("unknown-target", message))
        else:
            found[name] = value
    if problems:
        raise DiagnosticError(*problems)
    return {name: found[name] for name in known if name in found}


def _unknown(target: str, known: Mapping[str, TargetOption], name: str) -> Diagnostic:
    near = suggest(name, known)
    listed = ", ".join(f"`{each}`" for each in known)
    hint = f"did you mean `{near}`?" if near else f"its options are {listed}" if known else None
    message = f"`{target}` has no option `{name}`" if known else f"`{target}` takes no options"
    return Diagnostic("unknown-target", message, hint=hint)
