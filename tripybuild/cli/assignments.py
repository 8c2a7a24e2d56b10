"""Parsing of `name=value` flags before a command begins: errors are usage errors."""

import math
import re
from pathlib import Path
from typing import NamedTuple

import typer

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LARGEST = 1 << 62


class SizeSetting(NamedTuple):
    """A size and its value."""

    name: str
    value: object


class SizeAssignment(NamedTuple):
    """Sizes of a specialization."""

    sizes: dict[str, int]


class InputFile(NamedTuple):
    """An input and the file that holds it."""

    name: str
    path: Path


class Duration(NamedTuple):
    """A stretch of time."""

    number: float


def setting(text: str | SizeSetting) -> SizeSetting:
    """Read `depth=2`: a number, a boolean, or else a text."""
    return text if isinstance(text, SizeSetting) else SizeSetting(*value(*_split(text, "depth=2")))


def shape(text: str | SizeAssignment) -> SizeAssignment:
    """Read `B=1,S=128`."""
    if isinstance(text, SizeAssignment):
        return text
    sizes: dict[str, int] = {}
    for part in text.split(","):
        name, value = _split(part.strip(), "B=1,S=128")
        if not (value.isascii() and value.isdigit()) or len(value) > len(str(LARGEST)):
            raise typer.BadParameter(f"`{value}` is not a size")
        if name in sizes:
            raise typer.BadParameter(f"`{name}` is specified twice")
        sizes[name] = int(value)
    return SizeAssignment(sizes)


def source(text: str | InputFile) -> InputFile:
    """Read `tokens=tokens.npy`."""
    if isinstance(text, InputFile):
        return text
    name, path = _split(text, "tokens=tokens.npy")
    return InputFile(name, Path(path))


def seconds(text: str | Duration) -> Duration:
    """Read `90` or `0.5`."""
    if isinstance(text, Duration):
        return text
    from tripybuild.worker.failures import MOST_SECONDS  # noqa: PLC0415 - most have no limit

    try:
        count = float(text)
    except ValueError:
        count = math.nan
    if not 0 < count <= MOST_SECONDS:
        raise typer.BadParameter(f"`{text}` is not a number of seconds")
    return Duration(count)


def _split(text: str, example: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (equals and value and NAME.fullmatch(name)):
        raise typer.BadParameter(f"`{text}` is not of the form `{example}`")
    return name, value


def value(name: str, text: str) -> tuple[str, object]:
    """Read what stands behind `=`: a truth, a number, or else a text."""
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
