"""Options of commands, read before one begins: errors are usage errors.

A tensor that a Python function takes is `x=float32[2,N=1:4:8]`: a size is a number, a range
`min:opt:max`, a range with a name, or the name of one again.
"""

import contextlib
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from tripybuild.documents.plain_json import parse_object
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.types.size_range import SizeRange

if TYPE_CHECKING:
    from tripybuild.eager.compile.infos import Info

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
INPUT = re.compile(r"[A-Za-z_]\w*(\.\w+)*", re.ASCII)  # a state of a block is `layers.0.keys`
LARGEST = 1 << 62
EXAMPLE = "x=float32[2,N=1:4:8]"
HELP = (
    "What a Python function takes: a tensor, x=float32[2,3] or x=float32[1:2:4,N=1:8:64] with "
    "ranges min:opt:max; a size, n=1:2:4; or a constant, p=0.5."
)
TENSOR = re.compile(r"([A-Za-z]\w*)\[(.*)\]", re.ASCII)
RANGE = re.compile(r"(\d{1,18}):(\d{1,18}):(\d{1,18})", re.ASCII)
NUMBER = re.compile(r"\d{1,18}", re.ASCII)


Registries = Annotated[
    list[Path] | None,
    typer.Option("--registry", metavar="DIR", help="A registry of yours; may be repeated."),
]


Rebuild = Annotated[
    bool,
    typer.Option(
        "--rebuild",
        help="Recompile its programs from StableHLO without loading its native code: "
        "for untrusted executables.",
    ),
]


class SizeSetting(NamedTuple):
    """A size and its value."""

    name: str
    value: object


class SizeAssignment(NamedTuple):
    """Sizes of a specialization."""

    sizes: dict[str, int]


class BucketSizes(NamedTuple):
    """A size and those that programs are for."""

    name: str
    sizes: list[int] | str


class InputFile(NamedTuple):
    """An input and the file that holds it."""

    name: str
    path: Path


class Duration(NamedTuple):
    """A stretch of time."""

    number: float


def setting(text: str) -> SizeSetting:
    """Read `depth=2` or `text.depth=2`: a number, a boolean, a list, or else a text."""
    return SizeSetting(*value(*_split(text, "depth=2", PATH)))


SizeSettings = Annotated[
    list[SizeSetting] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        parser=setting,
        help="Override a size, a dtype, or weights.convert, which converts floats of weights.",
    ),
]


WeightsPath = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH",
        help="Safetensors file, index of shards or folder with either, instead of the spec's.",
    ),
]


ConfigFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="JSON instead of the spec's `config:`; else config.json in the weights' folder.",
    ),
]


def shape(text: str) -> SizeAssignment:
    """Read `B=1,S=128`."""
    sizes: dict[str, int] = {}
    for part in text.split(","):
        name, value = _split(part.strip(), "B=1,S=128")
        if not (value.isascii() and value.isdigit()) or len(value) > len(str(LARGEST)):
            raise typer.BadParameter(f"`{value}` is not a size")
        if name in sizes:
            raise typer.BadParameter(f"`{name}` is specified twice")
        sizes[name] = int(value)
    return SizeAssignment(sizes)


Seed = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, help="Where random numbers begin.")
]
Below = Annotated[
    list[SizeAssignment] | None,
    typer.Option(
        "--below",
        metavar="NAME=N",
        parser=shape,
        help="Draw this input of integers from 0 to N - 1, as tokens are.",
    ),
]


def buckets(text: str) -> BucketSizes:
    """Read `S=16,64,256` or `S=powers`."""
    name, value = _split(text, "S=16,64,256")
    if value == "powers":
        return BucketSizes(name, value)
    sizes = value.split(",")
    for each in sizes:
        if NUMBER.fullmatch(each.strip()) is None:
            raise typer.BadParameter(f"`{each}` is not a size")
    return BucketSizes(name, [int(each) for each in sizes])


def source(text: str) -> InputFile:
    """Read `tokens=tokens.npy` or `layers.0.keys=keys.npy`."""
    name, path = _split(text, "tokens=tokens.npy", INPUT)
    return InputFile(name, Path(path))


def seconds(text: str) -> Duration:
    """Read `90` or `0.5`."""
    from tripybuild.worker.failures import (  # noqa: PLC0415 - most have no limit
        MOST_SECONDS,
        check_timeout,
    )

    try:
        return Duration(check_timeout(text, text))
    except DiagnosticError as error:
        message = f"`{text}` is not a number of seconds above 0 and up to {MOST_SECONDS}"
        raise typer.BadParameter(message) from error


def tolerance(text: str) -> float:
    """Read `1e-5`."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise typer.BadParameter(f"`{text}` is not a number of at least 0")
    return number


def _split(text: str, example: str, names: re.Pattern[str] = NAME) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (equals and value and names.fullmatch(name)):
        raise typer.BadParameter(f"`{text}` is not of the form `{example}`")
    return name, value


def value(name: str, text: str) -> tuple[str, object]:
    """Read what stands behind `=`: a truth, a number, a list of such in JSON, or else a text."""
    if text.startswith("["):
        with contextlib.suppress(DiagnosticError):
            return name, parse_object(f'{{"list": {text}}}'.encode(), text)["list"]
    if text in {"true", "false"}:
        return name, text == "true"
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if isinstance(number, float) and not math.isfinite(number):
            continue
        return name, number
    return name, text


class SizeSpec(NamedTuple):
    """A size of a tensor: a name, a range, or both."""

    name: str | None
    bounds: SizeRange | None


class TensorSpec(NamedTuple):
    """A tensor: the name of a dtype, and sizes."""

    dtype: str
    shape: tuple[SizeSpec, ...]


class ArgumentSpec(NamedTuple):
    """An argument: a tensor, a size with its range, or a constant."""

    name: str
    what: object


def argument(text: str) -> ArgumentSpec:
    """Read `x=float32[2,3]`; errors are those of usage."""
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
        bounds = SizeRange.of(int(rest))
    if bounds is None or (equals and not NAME.fullmatch(name)):
        message = (
            f"`{text.strip()}` is not a size: a number, `1:2:4`, `N=1:2:4`, or the name of one"
        )
        raise ValueError(message)
    return SizeSpec(name or None, bounds)


def _bounds(text: str) -> SizeRange | None:
    match = RANGE.fullmatch(text)
    if match is None:
        return None
    found = SizeRange(*map(int, match.groups()))
    if found.problem(text):
        raise ValueError(f"`{text}` is not a range: write `min:opt:max`")
    return found


def infos(given: Iterable[ArgumentSpec]) -> dict[str, Any]:
    """What `tp.compile` takes for each argument.

    Raises:
        DiagnosticError: There is no such dtype, a size's name has no range, or one is no range.
    """
    several = list(given)
    named: dict[str, SizeRange] = {}
    for each in several:
        shape = each.what.shape if isinstance(each.what, TensorSpec) else ()
        named |= {size.name: size.bounds for size in shape if size.name and size.bounds}
    return {each.name: _info(each.what, named) for each in several}


def _info(what: object, named: dict[str, SizeRange]) -> "Info | object":
    from tripybuild.eager.compile.infos import DimensionInputInfo, InputInfo, NamedDimension  # noqa: PLC0415
    from tripybuild.types.dtypes import BY_NAME  # noqa: PLC0415

    if isinstance(what, SizeSpec):
        assert what.bounds is not None  # `argument` makes no other
        return DimensionInputInfo(_numbers(what.bounds))
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
        numbers = _numbers(bounds)
        shape.append(NamedDimension(size.name, *numbers) if size.name else numbers)
    return InputInfo(shape, BY_NAME[what.dtype])


def _numbers(bounds: SizeRange) -> tuple[int, int, int]:
    return bounds.min, bounds.opt, bounds.max or 0
