"""Hints for what other systems' programs write: by its meaning, and else by its spelling.

`habits.json` has what is no operator (`no_grad`, `detach`, `eval`); the names that operators have
elsewhere are the aliases of their declarations. What is near in spelling alone is named only where
a slip of the fingers explains it: `sofmax`, and not `floor` for `foo`.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from tripybuild.errors.diagnostics import suggest
from tripybuild.frontend.checks.messages import OTHER_DTYPES, PYTHON
from tripybuild.types.dtypes import BY_NAME

_CODE = re.compile(r"`[^`]*`")
# A name that is called, or a dtype that is meant as one; no attribute, and no word of a text.
_NAME = re.compile(rf"(?<![\w.\"'])(?:\w+(?=\()|(?:{'|'.join(BY_NAME)})\b(?![\w=(]))")
# Classes of other systems say how many dimensions they are for: `Conv2d`.
_DIMENSIONS = re.compile(r"_?[123]d$")
SHORTEST, LONG = 4, 6  # letters: a shorter name is not guessed, and a longer one may have two slips


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, Mapping[str, str]]:
    found = json.loads(Path(__file__).with_name("habits.json").read_text(encoding="utf-8"))
    return {
        place: {name: hint for names, hint in table.items() for name in names.split()}
        for place, table in found.items()
        if place != "//"
    }


def habit(place: str, name: str, known: Iterable[str] | None = None) -> str | None:
    """What to do in the place of a name that another system has.

    Args:
        place: Where it stands: `package`, `tensor`, `module`, `spec`, `spec tensor` or `index`.
        name: The name.
        known: The names of the package, before which it stands in Python; None in a spec.
    """
    hint = _tables()[place].get(name)
    if hint is None or known is None:
        return hint
    own = {*known, *BY_NAME}
    return _CODE.sub(lambda code: _NAME.sub(lambda name: _qualified(name[0], own), code[0]), hint)


def spec_habit(name: str) -> str | None:
    """What to do in a spec in the place of a tensor's attribute that another system has."""
    return habit("spec tensor", name) or habit("tensor", name)


def _qualified(name: str, own: Iterable[str]) -> str:
    return f"{PYTHON}.{name}" if name in own else name


def meant_name(
    name: str, known: Iterable[str], translate: Callable[[str], str | None], own: Iterable[str] = ()
) -> str | None:
    """The name that is meant: what another system calls so, a module of another rank, or a slip.

    Args:
        name: A name that stands for nothing.
        known: The names of the package.
        translate: Gives the operator that another system calls so, in small letters.
        own: Names that the user gave; there are few, so that the nearest of them is meant.
    """
    names = {*known}
    if name in names:
        return None  # it is there, and stands for nothing here
    shorter = _DIMENSIONS.sub("", name)
    if name[:1].isupper() and (
        found := _same_letters(shorter, [each for each in names if each[:1].isupper()])
    ):
        return found
    for each in (name, _separated(name), shorter, name.rstrip("_")):
        if each in names:
            return each
        if found := translate(each.lower()):
            return found
    found = _same_letters(shorter, names) or suggest(name, own)
    return found or _misspelled(name, names)


def _same_letters(name: str, names: Iterable[str]) -> str | None:
    """The name that differs in capitals and underscores alone: `logsoftmax`, `LeakyReLU`."""
    letters = name.replace("_", "").casefold()
    return next((each for each in sorted(names) if _letters(each) == letters), None)


def _letters(name: str) -> str:
    return name.replace("_", "").casefold()


def _separated(name: str) -> str:
    """`MaxPool2d` as functions are written: `max_pool2d`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _misspelled(name: str, names: Iterable[str]) -> str | None:
    """The name that one slip of the fingers leads to, or two in a long one."""
    if len(name) < SHORTEST:
        return None
    most = 2 if len(name) >= LONG else 1
    close = ((distance(name, each, most), each) for each in names)
    return min((each for each in close if each[0] <= most), default=(0, None))[1]


def distance(one: str, other: str, most: int) -> int:
    """How many letters are changed, left out, put in or swapped with their neighbors.

    The optimal string alignment distance; more than `most` is not told apart.
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    before, row = list(range(len(other) + 1)), list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        last, before, row = before, row, [i]
        for j, against in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != against))
            swapped = i > 1 and j > 1 and letter + one[i - 2] == other[j - 2 : j]
            row.append(min(cost, last[j - 2] + 1) if swapped else cost)
    return row[-1]


def dtype_method(name: str) -> str | None:
    """The dtype that a method of another system casts to: `half`, `bfloat16`."""
    meant = OTHER_DTYPES.get(name, name)
    return meant if meant in BY_NAME else None
