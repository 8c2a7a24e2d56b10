"""Scalar resolution: YAML 1.2 core schema for unquoted scalars.

Invariant: a text that YAML 1.1 and YAML 1.2 read differently is refused rather than guessed.
"""

import math
import re

from tripybuild.errors.diagnostics import Diagnostic, Span

LONGEST_INTEGER = 40

_WORDS: dict[str, bool | None] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_OLD_WORDS: dict[str, bool] = {
    **dict.fromkeys(("yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("no", "No", "NO", "off", "Off", "OFF"), False),
}
_NUMBER_STARTS = frozenset("0123456789+-.")
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL_FLOAT = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")
_BASE_SIXTY = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9:.Zz+ \t-]*)?")
_OLD_NUMBER = re.compile(
    r"[-+]?(?:0b[01_]+|[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?)|[-+]0x[0-9a-fA-F_]+"
    r"|0x[0-9a-fA-F_]+"
)


class ScalarError(Exception):
    """A scalar that is refused, with the value to go on with."""

    def __init__(self, code: str, message: str, hint: str, value: object) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.value = value

    def at(self, span: Span) -> Diagnostic:
        """Give the problem as a diagnostic on the scalar's place."""
        return Diagnostic(self.code, self.message, span, hint=self.hint)


def resolve(text: str) -> str | int | float | bool | None:
    """Give the value of a plain scalar; raise `ScalarError` where a reader may misjudge it."""
    if text in _WORDS:
        return _WORDS[text]
    if text in _OLD_WORDS:
        meant = "true" if _OLD_WORDS[text] else "false"
        raise _ambiguous(text, "a boolean", f"write `{meant}`", _OLD_WORDS[text])
    if text[0] not in _NUMBER_STARTS:
        return text
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if _LEADING_ZERO.fullmatch(text):
        value = int(text) if len(text) <= LONGEST_INTEGER else 0
        raise _ambiguous(text, "an octal integer", f"write `{value}`", value)
    if _FLOAT.fullmatch(text):
        return _float(text)
    if _SPECIAL_FLOAT.fullmatch(text):
        return float(text.replace(".", "").lower())
    _refuse_old_forms(text)
    return text


def describe(value: object) -> str:
    """Name the type of a scalar's value in words."""
    if value is None:
        return "null"
    return {bool: "a boolean", int: "an integer", float: "a float"}.get(type(value), "text")


def _refuse_old_forms(text: str) -> None:
    """Refuse the numbers and dates that only YAML 1.1 has."""
    if _BASE_SIXTY.fullmatch(text):
        raise _ambiguous(text, "a number in base sixty", "write the number", text)
    if _DATE.fullmatch(text):
        raise _ambiguous(text, "a date", "", text)
    if _OLD_NUMBER.fullmatch(text):
        raise _ambiguous(text, "a number", "write it without `_`, `0b` or a sign on `0x`", text)


def _ambiguous(text: str, kind: str, instead: str, value: object) -> ScalarError:
    """Make the error for a text that older YAML readers take for something else."""
    quoted = f'`"{text}"`' if len(text) <= LONGEST_INTEGER else "the string in quotes"
    hint = (
        f"{instead}, or {quoted} if it is a string"
        if instead
        else f"write {quoted} if it is a string"
    )
    message = f"YAML readers differ on unquoted `{_shorten(text)}`: some take it for {kind}"
    return ScalarError("yaml-implicit-type", message, hint, value)


def _integer(text: str) -> int:
    digits = text.lstrip("+-").removeprefix("0x").removeprefix("0o")
    if len(digits) > LONGEST_INTEGER:
        message = f"an integer has at most {LONGEST_INTEGER} digits, found {len(digits)}"
        raise ScalarError("yaml-too-large", message, "quote it if it is a string", 0)
    return int(text, 0)


def _float(text: str) -> float:
    value = float(text)
    mantissa = re.split("[eE]", text, maxsplit=1)[0]
    if math.isinf(value) or (value == 0 and re.search("[1-9]", mantissa)):
        message = f"`{_shorten(text)}` is outside the range of a float"
        raise ScalarError("yaml-too-large", message, "write `.inf` or `0.0` if it is meant", 0.0)
    return value


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST_INTEGER else f"{text[:LONGEST_INTEGER]}..."
