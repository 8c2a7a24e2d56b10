"""Name suggestions: the closest known name to an unknown one."""

import difflib
from collections.abc import Iterable

from tripybuild.errors.budget import try_spend

_LONGEST_NAME = 100


def suggest(name: str, known: Iterable[str]) -> str | None:
    """Find the known name that `name` was most likely meant to be."""
    names = sorted(set(known) - {name})
    if len(name) > _LONGEST_NAME or not try_spend("suggestions", len(names)):
        return None  # to compare many names with many takes minutes; the first ones have hints
    folded = name.casefold()
    for candidate in names:
        if candidate.casefold() == folded:
            return candidate
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return close[0]
    related = [known for known in names if known and _begins_other(known, name)]
    return min(related, key=lambda known: (abs(len(known) - len(name)), known), default=None)


def pair_names(names: Iterable[str], others: Iterable[str]) -> dict[str, str]:
    """Find which of the others each name was most likely meant to be, none of them twice.

    Two that are nearest to each other belong together, then two of what is left.
    """
    left, free = list(dict.fromkeys(names)), list(dict.fromkeys(others))
    found: dict[str, str] = {}
    while left and free:
        near = {name: suggest(name, free) for name in left}
        new = {n: other for n, other in near.items() if other and suggest(other, left) == n}
        if not new:
            break
        found |= new
        left = [name for name in left if name not in new]
        free = [other for other in free if other not in new.values()]
    return found


def _begins_other(one: str, other: str) -> bool:
    """Tell whether one name is the other and more: `Cin` for `C`, `dim` for `dimension`."""
    return bool(one and other) and (one.startswith(other) or other.startswith(one))
