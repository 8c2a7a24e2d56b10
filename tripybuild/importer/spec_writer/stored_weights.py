"""Where the weights of a spec are: in a checkpoint as it is, or in a file that is written."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tripybuild.importer.call_program import CallValue
from tripybuild.importer.foreign_program import ForeignWeight
from tripybuild.weights.safetensors import read_index

FEW = 12  # names in a checkpoint that a spec renames or leaves over, each with a line


@dataclass(frozen=True)
class StoredWeights:
    """Where the weights of a spec are.

    Attributes:
        section: What stands below `weights:`.
        stored: The name of the file that is written; None where none is needed.
        arrays: What is in that, by name.
        checkpoints: The files that are used as they are; they have to be beside the spec.
    """

    section: Mapping[str, object] | str = ""
    stored: str | None = None
    arrays: Mapping[str, ForeignWeight] = field(default_factory=dict)
    checkpoints: Sequence[Path] = ()


def weight_files(weights: Mapping[str, CallValue], name: str, *, by_name: bool) -> StoredWeights:
    """Where the weights are.

    Args:
        weights: The weights, by their paths in the spec.
        name: The name of a file that is written.
        by_name: Whether those of a checkpoint are named there.
    """
    held = {path: value.weight for path, value in weights.items() if value.weight is not None}
    places = {path: w.place for path, w in held.items() if w.place is not None} if by_name else {}
    prefix = _prefix({path: place.name for path, place in places.items()})
    renamed = {p: place.name for p, place in places.items() if place.name != prefix + p}
    if prefix and renamed:
        prefix, renamed = "", {p: each.name for p, each in places.items() if each.name != p}
    renamed = _patterns(renamed, held)
    used = dict.fromkeys(place.file for place in places.values())
    left = _left_over(used, {place.name for place in places.values()})
    if not places or len(renamed) > FEW or left is None or (prefix and len(places) < len(held)):
        return StoredWeights(name if held else "", name if held else None, held)
    arrays = {path: weight for path, weight in held.items() if path not in places}
    files = [*(file.name for file in used), *([name] if arrays else [])]
    section: dict[str, object] = {"file": files[0] if len(files) == 1 else files}
    section |= {"prefix": prefix} if prefix else {}
    section |= {"rename": renamed} if renamed else {}
    section |= {"unused": left} if left else {}
    whole = files[0] if len(section) == len(files) == 1 else section
    return StoredWeights(whole, name if arrays else None, arrays, tuple(used))


def _prefix(names: Mapping[str, str]) -> str:
    """What stands before all names of a checkpoint; empty where they do not agree."""
    found = {name.removesuffix(path) for path, name in names.items() if name.endswith(path)}
    agree = len(found) == 1 and all(name.endswith(path) for path, name in names.items())
    return next(iter(found)) if agree else ""


def _patterns(renamed: Mapping[str, str], every: Iterable[str]) -> dict[str, str]:
    """Renames of whole parts, once for those that repeat: `h.*: layers.*.dense`."""
    groups: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for path, name in renamed.items():
        (stem, _, end), (other, _, last) = path.rpartition("."), name.rpartition(".")
        pair = (stem, other) if end == last and stem and other else (path, name)
        is_alike = _numbers(path) == _numbers(name)
        groups[(_starred(pair[0]), _starred(pair[1])) if is_alike else pair][path] = name
    found: dict[str, str] = {}
    for (pattern, wanted), members in groups.items():
        covered = {p for p in every if f"{_starred(p)}.".startswith(f"{pattern}.")}
        found |= {pattern: wanted} if covered == members.keys() else members
    return found


def _numbers(path: str) -> list[str]:
    return [each for each in path.split(".") if each.isdigit()]


def _starred(path: str) -> str:
    """A path with `*` for numbers of lists."""
    return ".".join("*" if each.isdigit() else each for each in path.split("."))


def _left_over(files: Iterable[Path], used: set[str]) -> list[str] | None:
    """Patterns for what no weight of the spec is; None where there are too many."""
    every = {name for file in files for name in read_index(file)}
    left = sorted(every - used)
    by_end: dict[str, list[str]] = defaultdict(list)
    for name in left:
        by_end[name.rpartition(".")[2]].append(name)
    ends = {name.rpartition(".")[2] for name in used}
    found: list[str] = []
    for end, names in by_end.items():
        found += [f"**.{end}"] if end not in ends and len(names) > 1 else names
    return found if len(found) <= FEW else None
