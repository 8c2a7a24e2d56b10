"""Types of sizes: what a declared size may be, and what may stand in the place of a plain one."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from tripybuild.errors.diagnostics import suggest
from tripybuild.frontend.checks.messages import found_text
from tripybuild.language.records import ChoiceWord, Record
from tripybuild.symbolic.dims import Dim
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import ChoicePattern, Pattern, UnionPattern, ValuePattern


class SizeTypeError(ValueError):
    """A value is not of the type of its size; the text says `must be an integer, but is ...`."""

    def __init__(self, wanted: str, value: object, hint: str | None = None) -> None:
        super().__init__(f"must be {wanted}, but is {_shown(value)}")
        self.hint = hint


def fit_size(pattern: Pattern | None, value: Any) -> Any:
    """A value as its type has it: a float for an integer where floats are wanted, and the like.

    One value may stand for a list of a known length, which laws and modules look at.

    Raises:
        SizeTypeError: It is of another type.
    """
    match pattern:
        case ChoicePattern(options=options):
            return _choice(options, value)
        case UnionPattern(options=options):
            return _any_of(options, value)
        case ValuePattern(lengths=None, fields=(), kind=kind):
            return _fit_kind(kind, value)
        case ValuePattern(lengths=(), alone=False):
            if not isinstance(value, (list, tuple)):
                raise SizeTypeError("a list", value)
    return value


def pattern_of(value: object) -> Pattern | None:
    """The type that a plain size has by its value; None for what may become anything."""
    if isinstance(value, bool):
        return ValuePattern("bool")
    for kind, name in ((int, "int"), (float, "float"), (str, "string"), (Record, "record")):
        if isinstance(value, kind):
            return ValuePattern(name)
    if isinstance(value, dtype):
        return ValuePattern("dtype")
    return ValuePattern("any", None, ()) if isinstance(value, (list, tuple)) else None


def _fit_kind(kind: str, value: Any) -> Any:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    match kind:
        case "int" | "size":
            if isinstance(value, float) and value.is_integer():
                return int(value)  # what `/` gives
            if isinstance(value, float):
                raise SizeTypeError("an integer", value, "`//` divides integers")
            if isinstance(value, Integral) and not isinstance(value, bool):
                return int(value)
            if not isinstance(value, Dim):
                raise SizeTypeError("an integer", value)
        case "float":
            if not number:
                raise SizeTypeError("a number", value)
            return float(value)
        case "number":
            if not number and not isinstance(value, bool):
                raise SizeTypeError("a number", value)
        case "bool":
            if not isinstance(value, bool):
                raise SizeTypeError("true or false", value)
        case "string":
            if not isinstance(value, str):
                raise SizeTypeError("a string", value)
        case "record":
            if not isinstance(value, Record):
                raise SizeTypeError("a record", value)
        case "dtype":
            return _dtype(value)
    return value


def _choice(options: tuple[str, ...], value: object) -> ChoiceWord:
    if isinstance(value, str) and value in options:
        return ChoiceWord.of(str(value), options)
    near = suggest(value, options) if isinstance(value, str) else None
    hint = f"did you mean `{near}`?" if near else None
    raise SizeTypeError(f"one of {', '.join(f'`{each}`' for each in options)}", value, hint)


def _any_of(options: Sequence[Pattern], value: object) -> Any:
    first: SizeTypeError | None = None
    for each in options:
        try:
            return fit_size(each, value)
        except SizeTypeError as error:
            first = first or error
    assert first is not None  # a union has options
    raise first


def _dtype(value: object) -> dtype:
    found = BY_NAME.get(value) if isinstance(value, str) else value
    if isinstance(found, dtype):
        return found
    near = suggest(value, BY_NAME) if isinstance(value, str) else None
    raise SizeTypeError("a dtype", value, f"did you mean `{near}`?" if near else None)


def _shown(value: object) -> str:
    return f"`{value[:60]}`" if isinstance(value, str) else found_text(value)
