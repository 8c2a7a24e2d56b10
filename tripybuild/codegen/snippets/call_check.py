"""Call check of operators in snippets: names, number and kinds of arguments.

What is compared is plain data, so that it can be kept with what a declaration gives: a change of
one declaration is held against the calls in all others without reading them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tripybuild.errors.diagnostics import suggest

# One way to call an operator: `input:t`, `dim:p?`, `**fields`. Behind the colon stands what a
# parameter takes, and a question mark where it may be left out.
Way = Sequence[str]
Accepted = Mapping[str, Sequence[Way]]
# What a parameter takes and an argument is: a tensor, several, a Python value, or either.
ONE, SEVERAL, VALUE, REGION, ANY = "t", "s", "p", "f", "?"
_REST = "**"
_SPOKEN = {
    ONE: "a tensor",
    SEVERAL: "a list of tensors",
    VALUE: "not a tensor",
    REGION: "a function",
}
_CLASHES = frozenset({(ONE, SEVERAL), (ONE, VALUE), (SEVERAL, ONE), (VALUE, ONE), (VALUE, SEVERAL)})
_CLASHES |= {(each, REGION) for each in (ONE, SEVERAL, VALUE)}
_CLASHES |= {(REGION, each) for each in (ONE, SEVERAL)}


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call: the operator, and what its arguments are.

    What is behind a star may be any number of arguments.
    """

    name: str
    given: str = ""
    named: Mapping[str, str] = field(default_factory=dict)
    starred: bool = False

    def data(self) -> list[Any]:
        """The call as JSON holds it."""
        return [self.name, self.given, dict(self.named), self.starred]


@dataclass(frozen=True, slots=True)
class ArgumentMismatch:
    """Why a call does not fit, and which of its arguments is at fault, if it is one."""

    message: str
    argument: int | str | None = None


def find_mismatch(used: CallRecord, ways: Sequence[Way]) -> ArgumentMismatch | None:
    """Why a call fits none of the ways, or None where it fits one."""
    found = [_way_mismatch(used, way) for way in ways]
    if None in found:
        return None
    if len(found) == 1:
        return found[0]
    return ArgumentMismatch(f"`{used.name}` has no way to be called like this")


def usage_hint(name: str, ways: Sequence[Way]) -> str:
    """The ways to call an operator, for a hint: `one_hot(indices, depth, values, dim=...)`."""
    spellings = (f"`{name}({', '.join(map(_parameter, way))})`" for way in ways)
    return f"it is called as {' or '.join(spellings)}"


def _parameter(text: str) -> str:
    name, _, rest = text.partition(":")
    return f"{name}=..." if rest.endswith("?") else name


def _way_mismatch(used: CallRecord, way: Way) -> ArgumentMismatch | None:
    name = used.name
    parts = [part.partition(":") for part in way if not part.startswith(_REST)]
    parameters = {part: rest for part, _, rest in parts}
    names = list(parameters)
    if not used.starred and len(used.given) > len(names):
        most = f"{len(names)} positional argument{'' if len(names) == 1 else 's'}"
        message = f"`{name}` takes at most {most}, and {len(used.given)} are given"
        return ArgumentMismatch(message, len(names))
    by_place = {} if used.starred else dict(zip(names, used.given, strict=False))
    for each in used.named:
        if each in by_place:
            return ArgumentMismatch(f"`{each}` of `{name}` is passed twice", each)
        if each not in parameters and len(parts) == len(way):
            near = suggest(each, names)
            meant = f"; did you mean `{near}`?" if near else ""
            return ArgumentMismatch(f"`{name}` has no argument `{each}`{meant}", each)
    given = {**by_place, **used.named}
    missing = [n for n, rest in parameters.items() if n not in given and not rest.endswith("?")]
    if missing and not used.starred:
        return ArgumentMismatch(f"`{name}` needs `{missing[0]}`")
    for index, (each, kind) in enumerate(given.items()):
        takes = parameters.get(each, ANY)[0]
        if (takes, kind) in _CLASHES:
            message = f"`{each}` of `{name}` is {_SPOKEN[takes]}, and this is {_SPOKEN[kind]}"
            return ArgumentMismatch(message, index if each in by_place else each)
    return None
