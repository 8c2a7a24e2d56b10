"""Engine inputs and outputs in the manifest, from the engine's build record.

A dynamic size is a symbol. Dimensions of one `tensorrt.dimension_names` are one size, as they are
to TensorRT; one without a name is a symbol of its own, called after its input: `arg0_0`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tripybuild.symbolic.dims import symbol
from tripybuild.types.size_range import SizeRange
from tripybuild.version import VERSION

LONGEST_LAW = 3000  # characters; a longer one is left to TensorRT, which asks the same
Entry = Mapping[str, Any]


def manifest_of_record(record: Mapping[str, Any], name: str, target: str) -> dict[str, Any]:
    """The manifest of an engine that no spec describes.

    Args:
        record: What was made with the engine.
        name: What the model is called.
        target: What runs it.
    """
    names = _names([*record["inputs"], *record["outputs"]])
    profiles = _profiles(record["inputs"], names)
    return {
        "kind": "model",
        "model": name,
        "doc": "",
        "target": target,
        "inputs": [_tensor(each, names) for each in record["inputs"]],
        "outputs": [_tensor(each, names) for each in record["outputs"]],
        "state": [],
        "ranges": {key: each.to_json() for key, each in _hull(profiles).items()},
        "sizes": {},
        "laws": _profile_law(profiles, name),
        "arguments": [],
        "specialisations": [],
        "shapes": [{key: each.opt for key, each in profile.items()} for profile in profiles],
        "versions": {"tripybuild": VERSION},
    }


def _names(ports: Sequence[Entry]) -> dict[tuple[str, int], str]:
    """The symbol of each dynamic dimension, by the input or output and its position."""
    dynamic = [
        (port, index) for port in ports for index, size in enumerate(port["shape"]) if size is None
    ]
    said = {(port["name"], index): _declared_name(port, index) for port, index in dynamic}
    taken = {each for each in said.values() if each is not None}
    names = {}
    for number, (port, index) in enumerate(dynamic):
        place = port["name"], index
        names[place] = said[place] or _unique_name(f"{port['name']}_{index}", number, taken)
        taken.add(names[place])
    return names


def _declared_name(port: Entry, index: int) -> str | None:
    name = port.get("dimension_names", {}).get(str(index))
    return name if name is not None and _is_symbol_name(name) else None


def _unique_name(wanted: str, number: int, taken: set[str]) -> str:
    """A name that no other dimension has."""
    name = wanted if _is_symbol_name(wanted) else f"size_{number}"
    while name in taken:
        name += "_"
    return name


def _is_symbol_name(name: str) -> bool:
    try:
        symbol(name)
    except ValueError:
        return False
    return True


def _tensor(port: Entry, names: Mapping[tuple[str, int], str]) -> dict[str, Any]:
    sizes = enumerate(port["shape"])
    shape = [names[port["name"], index] if size is None else size for index, size in sizes]
    return {"name": port["name"], "dtype": port["dtype"], "shape": shape}


def _profiles(
    inputs: Sequence[Entry], names: Mapping[tuple[str, int], str]
) -> list[dict[str, SizeRange]]:
    """What each optimization profile says of each symbol; what several inputs say holds at once."""
    count = max((len(each["profiles"]) for each in inputs), default=0)
    return [_intersect_limits(inputs, index, names) for index in range(count)]


def _intersect_limits(
    inputs: Sequence[Entry], index: int, names: Mapping[tuple[str, int], str]
) -> dict[str, SizeRange]:
    found: dict[str, SizeRange] = {}
    for port in inputs:
        for name, each in _limits(port, index, names):
            found[name] = found.setdefault(name, each).intersect(each)
    return found


def _limits(
    port: Entry, index: int, names: Mapping[tuple[str, int], str]
) -> Iterator[tuple[str, SizeRange]]:
    ranges = port["profiles"]
    if not ranges or port.get("of_values"):
        return
    profile = ranges[index if len(ranges) > 1 else 0]
    for position, size in enumerate(port["shape"]):
        if size is None:
            limits = (profile[key][position] for key in ("min", "opt", "max"))
            yield names[port["name"], position], SizeRange(*limits)


def _hull(profiles: Sequence[Mapping[str, SizeRange]]) -> dict[str, SizeRange]:
    """From the smallest `min` to the largest `max` of all profiles; `opt` is the first one's."""
    return {
        name: SizeRange(
            min(each[name].min for each in profiles),
            first.opt,
            max(each[name].max or 0 for each in profiles),
        )
        for name, first in (profiles[0] if profiles else {}).items()
    }


def _profile_law(profiles: Sequence[Mapping[str, SizeRange]], model: str) -> list[dict[str, Any]]:
    """Between several profiles there may be sizes that none of them takes."""
    hull, *spans = (
        {name: (each.min, each.max) for name, each in ranges.items()}
        for ranges in (_hull(profiles), *profiles)
    )
    if not profiles or hull in spans:
        return []
    text = " or ".join(f"({_profile_condition(each)})" for each in profiles)
    if len(text) > LONGEST_LAW:
        return []
    message = "no optimization profile of the engine takes these sizes"
    names = {name: {"size": name} for name in profiles[0]}
    law = {"code": "size-out-of-range", "that": text, "source": f"the profiles of `{model}`"}
    return [{**law, "line": 0, "message": message, "words": [], "names": names}]


def _profile_condition(profile: Mapping[str, SizeRange]) -> str:
    each = (f"{limits.min} <= {name} <= {limits.max}" for name, limits in profile.items())
    return " and ".join(each)
