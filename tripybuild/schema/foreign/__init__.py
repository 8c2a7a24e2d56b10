"""Foreign operator tables: names and signatures of other systems' operators.

One line of a table is one operator: `softmax.int(self, dim, dtype?) -> 1`. What stands before `;`
is given by position or by name, what stands behind it by name; `?` may be left out, and so may what
has a value behind `=`; `*` is any number of tensors. The tables are those of PyTorch 2.13 (ATen's
functional overloads) and of ONNX 1.23 (the newest version of each operator of its own domain).
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tripybuild.types.dtypes import BY_NAME

SYSTEMS = ("onnx", "aten")
TITLES = {"onnx": "ONNX", "aten": "ATen"}
# Our dtypes that a system has no tensors of.
LACKING = {
    "aten": frozenset(each.name for each in BY_NAME.values() if each.torch is None),
    "onnx": frozenset[str](),
}
_LINE = re.compile(
    r"(?P<name>[\w.]+)\((?P<given>[^;)]*)(; (?P<named>[^)]*))?\) -> (?P<count>\d+|\*)"
)
_WORD = re.compile(r"\*?\w+(?:\?|=(?:\[[^\]]*\]|[^,]+))?")


@dataclass(frozen=True, slots=True)
class ForeignSignature:
    """What an operator of another system takes, in order, and how many results it gives.

    `several` is the parameter that takes any number of tensors. `results` is None for any number.
    `defaults` has what each parameter is that is left out.
    """

    name: str
    by_position: tuple[str, ...]
    by_name: tuple[str, ...]
    defaults: Mapping[str, Any]
    several: str | None
    results: int | None

    @property
    def parameters(self) -> tuple[str, ...]:
        """All parameters, in order."""
        return (*self.by_position, *self.by_name)

    @property
    def optional(self) -> frozenset[str]:
        """The parameters that may be left out."""
        return frozenset(self.defaults)

    def __str__(self) -> str:
        words = [f"{name}?" if name in self.optional else name for name in self.parameters]
        return f"{self.name}({', '.join(words)})"


class ForeignSignatures(Mapping[str, ForeignSignature]):
    """Signature table by name, parsed lazily."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = {line.partition("(")[0]: line for line in lines}

    def __getitem__(self, name: str) -> ForeignSignature:
        return _signature(self._lines[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


@cache
def signatures(system: str) -> ForeignSignatures:
    """The operators of a system by name; ATen's with their overloads."""
    text = (Path(__file__).parent / f"{system}.txt").read_text(encoding="utf-8")
    return ForeignSignatures(text.splitlines())


@cache
def _signature(line: str) -> ForeignSignature:
    found = _LINE.fullmatch(line)
    assert found is not None
    given, named = (_WORD.findall(found[part] or "") for part in ("given", "named"))
    optional = [word for word in (*given, *named) if word.endswith("?") or "=" in word]
    return ForeignSignature(
        name=found["name"],
        by_position=tuple(map(_name, given)),
        by_name=tuple(map(_name, named)),
        defaults=MappingProxyType({_name(word): _default(word) for word in optional}),
        several=next((word[1:] for word in given if word.startswith("*")), None),
        results=None if found["count"] == "*" else int(found["count"]),
    )


def _name(word: str) -> str:
    return word.strip("*?").partition("=")[0]


def _default(word: str) -> Any:
    _, given, text = word.partition("=")
    return ast.literal_eval(text) if given else None
