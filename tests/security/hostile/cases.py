"""Cases: registries of a stranger, made of right ones and a seed.

Law: a case follows from its seed and its number alone.
"""

import copy
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from hostile import attacks
from hostile.bases import BASES
from hostile.snippets import grafted, read
from hostile.texts import CANARY, name, spliced, text
from tripybuild.process import paths

CODE_KEYS = frozenset(
    {
        "reference", "decompose", "shortcut", "on_sizes", "stablehlo", "tensorrt", "default",
        "that", "when", "flops", "bytes", "call", "gives", "constant", "optional",
    }
)  # fmt: skip
PROGRAMS = frozenset({"like", "reference", "decompose", "stablehlo", "tensorrt"})
PROGRAMS |= {"steps", "outputs"}
CODE_BELOW = frozenset({"infer", "requires", "sample", "reads", "steps", "parts", "outputs"})
CODE_BELOW |= {"constants", "refuses", "builds"}
Location = tuple[str | int, ...]
# Operators and modules that need much of what there is.
WARMING = (
    "nn/softmax.yaml", "nn/convolution.yaml", "control/while_loop.yaml", "shape/gather.yaml",
    "math/add.yaml", "create/iota.yaml", "nn/resize.yaml", "modules/linear.yaml",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A registry: its files by path, the name of its folder, and what was done to it."""

    label: str
    folder: str
    files: dict[str, str]
    done: tuple[str, ...] = ()

    def shown(self) -> str:
        """All that is needed to see it again."""
        files = "\n".join(f"--- {self.folder}/{p}\n{t}" for p, t in self.files.items())
        return "\n".join([f"case {self.label}", *map("  {}".format, self.done), files])


def case(seed: int, number: int) -> Case:
    """The case of a number."""
    pick = random.Random(f"{seed}:{number}")
    path, declared = _base(pick)
    done: list[str] = []
    folder = "mine"
    for _ in range(pick.choice([1, 1, 1, 2, 3])):
        kind = pick.random()
        if kind < 0.94:
            done.append(
                _change(pick, declared[path] if kind < 0.8 else pick.choice(_all(declared)))
            )
        elif kind < 0.98:
            before, path = path, _moved(pick, path)
            declared[path] = declared.pop(before)
            done.append(f"moved to {path!r}")
        else:
            folder = _name_of_folder(name(pick)) or folder
            done.append(f"the registry's folder is {folder!r}")
    files = {place: written(data) for place, data in declared.items()}
    return Case(f"{seed}:{number}", folder, files, tuple(done))


def written(data: Any) -> str:
    """A declaration as YAML: a key and a flow for each part, so that any text can stand there."""
    if not isinstance(data, dict):
        return json.dumps(data) + "\n"
    return "".join(f"{_key(key)}: {json.dumps(value)}\n" for key, value in data.items())


def _key(key: object) -> str:
    return key if isinstance(key, str) and key.isidentifier() and key.isascii() else json.dumps(key)


def _all(declared: dict[str, Any]) -> list[Any]:
    return list(declared.values())


@cache
def _registry() -> dict[str, Any]:
    """The declarations of the built-in registry, by path."""
    root = paths.registry()
    found = {}
    for path in paths.list_files(root, ".yaml"):
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        found[path] = yaml.load(Path(root, path).read_text(encoding="utf-8"), loader)
    return found


def _base(pick: random.Random) -> tuple[str, dict[str, Any]]:
    """A right registry, and which of its files is the one to change most."""
    known = _registry()
    operators = [path for path, data in known.items() if "op" in data]
    modules = [path for path, data in known.items() if "module" in data]
    kind = pick.random()
    if kind < 0.4:
        path = pick.choice([each for each in sorted(BASES) if "family" not in BASES[each]])
        declared = copy.deepcopy({place: BASES[place] for place in _with_family(path, BASES)})
        return path, declared | {"targets.yaml": copy.deepcopy(known["targets.yaml"])}
    path = pick.choice(operators if kind < 0.82 else modules)
    places = [*_with_family(path, known), "targets.yaml"]
    declared = copy.deepcopy({place: known[place] for place in places})
    return ("targets.yaml" if kind > 0.98 else path), declared


def _with_family(path: str, known: dict[str, Any]) -> list[str]:
    like = known[path].get("like") or known[path].get("extends") or ""
    families = [place for place, data in known.items() if "family" in data]
    used = [p for p in families if like.partition("(")[0] == known[p]["family"]]
    return [path, *(each for place in used for each in _with_family(place, known))]


def _change(pick: random.Random, data: dict[str, Any]) -> str:
    """Change one place of a declaration, and say what was done."""
    keys, values = [], []
    for location, value in _places(data):
        if location[0] != "tripybuild":
            keys.append(location)
            if isinstance(value, str | int | float | list | None):
                values.append(location)
    if pick.random() < 0.15:
        location = pick.choice([each for each in keys if isinstance(each[-1], str)])
        parent = _at(data, location[:-1])
        new = pick.choice([name, name, name, attacks.target, text])(pick)
        entries = [(new if key == location[-1] else key, v) for key, v in parent.items()]
        parent.clear()
        parent.update(entries)
        return f"key {location} is {new!r}"
    location = _chosen(pick, values)
    old, parent = _at(data, location), _at(data, location[:-1])
    parent[location[-1]] = new = _new(pick, old, location)
    return f"{location} is {new!r}"


def _chosen(pick: random.Random, locations: list[Location]) -> Location:
    """One of some places: most often one of what becomes code as a whole, else of any kind."""
    kinds: dict[object, list[Location]] = {}
    for each in locations:
        name = next(step for step in reversed(each) if isinstance(step, str))
        kinds.setdefault(name if name in {*CODE_KEYS, "type", "like"} else each[0], []).append(each)
    whole = [kind for kind in kinds if kind in PROGRAMS]
    if whole and pick.random() < 0.5:
        return pick.choice(kinds[pick.choice(whole)])
    return pick.choice(pick.choice(list(kinds.values())))


def _new(pick: random.Random, old: Any, location: Location) -> Any:
    if isinstance(old, list):
        return [*old, text(pick)]
    written, code = str(old), _is_code(location)
    if location == ("like",) and pick.random() < 0.9:
        return attacks.parameters(pick, written)
    if code and pick.random() < 0.8:
        kind = pick.random()
        if kind < 0.45:
            return attacks.snippet(pick, read(written), str(location[-1]))
        return attacks.quoted(pick) if kind < 0.55 else grafted(pick, written)
    kind = pick.random()
    if kind < 0.08:
        return pick.choice(
            [None, True, 0, -1, 2**40, 10**30, 1e300, [], {}, [text(pick)], {"x": 1}]
        )
    if kind < 0.3:
        return name(pick)
    if kind < 0.5 and "[" in written:  # a type: an expression inside of it
        before, _, after = written.rpartition("]")[0].partition("[")
        inside = attacks.quoted(pick) if pick.random() < 0.5 else grafted(pick, after or "N")
        return f"{before}[{pick.choice([f'{after}, ', ''])}{inside}]"
    return spliced(pick, written)


def _is_code(location: Location) -> bool:
    return location[-1] in CODE_KEYS or any(each in CODE_BELOW for each in location[:-1])


def _places(data: Any, location: Location = ()) -> Iterator[tuple[Location, Any]]:
    entries = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in entries:
        yield (*location, key), value
        if isinstance(value, dict | list):
            yield from _places(value, (*location, key))


def _at(data: Any, location: Location) -> Any:
    for step in location:
        data = data[step]
    return data


def _moved(pick: random.Random, path: str) -> str:
    """A file in another folder, or with another name."""
    folder, _, file = path.rpartition("/")
    made = _name_of_folder(pick.choice([name, text])(pick)) or "x"
    return f"{made}/{file}" if pick.random() < 0.6 else f"{folder}/{made}.yaml".lstrip("/")


def _name_of_folder(given: str) -> str:
    """What a file system takes as one name."""
    kept = given.replace("/", "\\").replace("\x00", "")
    kept = kept.encode(errors="replace").decode()[:60]
    return "" if kept in {".", ".."} else kept


def with_canary(given: Case, canary: str) -> Case:
    """The case with the path that is to be touched."""
    files = {path: text.replace(CANARY, canary) for path, text in given.files.items()}
    return Case(given.label, given.folder, files, given.done)


def right() -> Iterator[dict[str, str]]:
    """Right registries, of which each says much: nothing may be wrong with them."""
    known = _registry()
    given = [path for path, data in BASES.items() if "family" not in data]
    for path in given:
        found = {place: BASES[place] for place in _with_family(path, BASES)}
        yield {p: written(d) for p, d in ({"targets.yaml": known["targets.yaml"]} | found).items()}
    for path in WARMING:
        places = [*_with_family(path, known), "targets.yaml"]
        yield {place: written(known[place]) for place in places}
