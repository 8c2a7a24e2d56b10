"""Optimization profile selection: the profile that contains the sizes of a call.

Invariant: of those that hold them the best is the one whose `opt` is nearest, then the narrowest,
then the first; an engine without dynamic sizes has one, which holds what there is.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError

Numbers = tuple[int, ...]
Profile = Mapping[str, Sequence[int]]
Record = Mapping[str, Any]


def select_profile(inputs: Sequence[Record], numbers: Mapping[str, Numbers]) -> int:
    """Return the index of the best profile.

    Args:
        inputs: The inputs of an engine's record.
        numbers: The sizes of each input, or its values where its profiles are of values.

    Raises:
        DiagnosticError: No profile holds them.
    """
    ranged = [each for each in inputs if each["profiles"]]
    count = max((len(each["profiles"]) for each in ranged), default=0)
    if count == 0:
        return 0
    costs = {
        index: cost for index in range(count) if (cost := _cost(ranged, numbers, index)) is not None
    }
    if not costs:
        raise DiagnosticError(_none_holds(ranged, numbers))
    return min(costs, key=lambda index: (*costs[index], index))


def _cost(
    inputs: Sequence[Record], numbers: Mapping[str, Numbers], index: int
) -> tuple[int, int] | None:
    """Return how far `opt` is from the numbers, and how wide the profile is, if it holds them."""
    far = wide = 0
    for each in inputs:
        profile = _at(each, index)
        for number, minimum, optimum, maximum in zip(
            numbers[each["name"]], profile["min"], profile["opt"], profile["max"], strict=True
        ):
            if not minimum <= number <= maximum:
                return None
            far, wide = far + abs(number - optimum), wide + maximum - minimum
    return far, wide


def _at(entry: Record, index: int) -> Profile:
    profiles: Sequence[Profile] = entry["profiles"]
    return profiles[index if len(profiles) > 1 else 0]


def _none_holds(inputs: Sequence[Record], numbers: Mapping[str, Numbers]) -> Diagnostic:
    notes = []
    for each in inputs:
        ranges = " or ".join(
            f"{list(one['min'])} to {list(one['max'])}" for one in each["profiles"]
        )
        what = "values" if each.get("of_values") else "sizes"
        notes.append(f"`{each['name']}` has {what} {list(numbers[each['name']])}, within {ranges}")
    message = "no optimization profile of the engine holds these sizes together"
    hint = "compile the model for them with `--shapes`, or widen its `ranges:`"
    return Diagnostic("size-out-of-range", message, notes=tuple(notes), hint=hint)
