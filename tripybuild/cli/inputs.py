"""Trace inputs parsed from flags: `x=float32[2,N=1:4:8]`, `rows=1:2:4`, `p=0.5`.

A size is a number, a range `min:opt:max`, a range with a name, or the name of one again.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from tripybuild.cli.assignments import NAME, value

if TYPE_CHECKING:
    from tripybuild.eager.compile.infos import Info

EXAMPLE = "x=float32[2,N=1:4:8]"
HELP = (
    "What a Python function takes: a tensor, x=float32[2,3] or x=float32[1:2:4,N=1:8:64] with "
    "ranges min:opt:max; a size, n=1:2:4; or a constant, p=0.5."
)
TENSOR = re.compile(r"([A-Za-z]\w*)\[(.*)\]", re.ASCII)
RANGE = re.compile(r"(\d{1,18}):(\d{1,18}):(\d{1,18})", re.ASCII)
NUMBER = re.compile(r"\d{1,18}", re.ASCII)


class SizeSpec(NamedTuple):
    """A size of a tensor: a name, the min, opt and max value, or both."""

    name: str | None
    bounds: tuple[int, int, int] | None


class TensorSpec(NamedTuple):
    """A tensor: the name of a dtype, and sizes."""

    dtype: str
    shape: tuple[SizeSpec, ...]


class ArgumentSpec(NamedTuple):
    """An argument: a tensor, a size with its range, or a constant."""

    name: str
    what: object


def argument(text: str | ArgumentSpec) -> ArgumentSpec:
    """Read `x=float32[2,3]`; errors are those of usage."""
    if isinstance(text, ArgumentSpec):
        return text
    name, equals, rest = text.partition("=")
    if not (equals and rest and NAME.fullmatch(name)):
        raise typer.BadParameter(f"`{text}` is not of the form `{EXAMPLE}`")
    try:
        found = tensor(rest)
        bounds = None if found is not None else _bounds(rest)
    except ValueError as error:
        raise typer.BadParameter(f"`{text}`: {error}") from error
    if found is not None:
        return ArgumentSpec(name, found)
    return ArgumentSpec(name, SizeSpec(None, bounds) if bounds else value(name, rest)[1])


Inputs = Annotated[
    list[ArgumentSpec] | None,
    typer.Option("--input", metavar="NAME=TYPE", parser=argument, help=HELP),
]


def tensor(text: str) -> TensorSpec | None:
    """Read `float32[2,3]`; None for what has no brackets behind a word.

    Raises:
        ValueError: A size is none.
    """
    match = TENSOR.fullmatch(text.strip())
    if match is None:
        return None
    sizes = match[2].strip().removeprefix("()")
    return TensorSpec(match[1], tuple(map(_size, sizes.split(","))) if sizes else ())


def _size(text: str) -> SizeSpec:
    name, equals, rest = text.strip().rpartition("=")
    if not equals and NAME.fullmatch(rest):
        return SizeSpec(rest, None)
    bounds = _bounds(rest)
    if bounds is None and NUMBER.fullmatch(rest) and not equals:
        bounds = (int(rest),) * 3
    if bounds is None or (equals and not NAME.fullmatch(name)):
        message = (
            f"`{text.strip()}` is not a size: a number, `1:2:4`, `N=1:2:4`, or the name of one"
        )
        raise ValueError(message)
    return SizeSpec(name or None, bounds)


def _bounds(text: str) -> tuple[int, int, int] | None:
    match = RANGE.fullmatch(text)
    if match is None:
        return None
    minimum, optimum, maximum = int(match[1]), int(match[2]), int(match[3])
    if not minimum <= optimum <= maximum:
        raise ValueError(f"`{text}` is not a range: write `min:opt:max`")
    return minimum, optimum, maximum


def infos(given: Iterable[ArgumentSpec]) -> dict[str, Any]:
    """What `tp.compile` takes for each argument.

    Raises:
        DiagnosticError: There is no such dtype, a size's name has no range, or one is no range.
    """
    several = list(given)
    named: dict[str, tuple[int, int, int]] = {}
    for each in several:
        shape = each.what.shape if isinstance(each.what, TensorSpec) else ()
        named |= {size.name: size.bounds for size in shape if size.name and size.bounds}
    return {each.name: _info(each.what, named) for each in several}


def _info(what: object, named: dict[str, tuple[int, int, int]]) -> "Info | object":
    from tripybuild.eager.compile.infos import DimensionInputInfo, InputInfo, NamedDimension  # noqa: PLC0415
    from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest  # noqa: PLC0415
    from tripybuild.types.dtypes import BY_NAME  # noqa: PLC0415

    if isinstance(what, SizeSpec):
        assert what.bounds is not None  # `argument` makes no other
        return DimensionInputInfo(what.bounds)
    if not isinstance(what, TensorSpec):
        return what
    if what.dtype not in BY_NAME:
        near = suggest(what.dtype, BY_NAME)
        hint = f"did you mean `{near}`?" if near else f"there are {', '.join(BY_NAME)}"
        raise DiagnosticError(
            Diagnostic("unknown-dtype", f"there is no dtype `{what.dtype}`", hint=hint)
        )
    shape: list[Any] = []
    for size in what.shape:
        bounds = size.bounds or named.get(size.name or "")
        if bounds is None:
            message = f"the size `{size.name}` has no range"
            hint = f"write it where it is first used: `{size.name}=1:2:4`"
            raise DiagnosticError(Diagnostic("unknown-size", message, hint=hint))
        shape.append(NamedDimension(size.name, *bounds) if size.name else bounds)
    return InputInfo(shape, BY_NAME[what.dtype])
