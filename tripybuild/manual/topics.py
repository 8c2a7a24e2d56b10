"""Topics of the manual that no declaration is: keys of files, families, functions of snippets.

Registries are searched as text, without parsing a file that is not shown.
"""

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePath
from typing import NamedTuple

from tripybuild.errors.codes import CODES
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.manual.functions import function_names, function_text, is_function
from tripybuild.schema.files import FamilyFile
from tripybuild.schema.keys import key_names, key_uses
from tripybuild.schema.registry_files import read_file
from tripybuild.schema.registry_folders import contents, roots, sources
from tripybuild.schema.registry_index import LazyMapping

_DECLARED = re.compile(r"^(op|module|family): *(\w+)", re.MULTILINE)
_BASE = re.compile(r"^(?:like|extends): *(\w+)", re.MULTILINE)
LONGEST_EXAMPLE = 88


class Mention(NamedTuple):
    """A line of a registry's file."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class RegistryText:
    """The files of the built-in registry, and of those that are added to it."""

    def __init__(self, added: Sequence[Path]) -> None:
        self.paths = {k: v for root in roots(added) for k, v in sources(root).items()}
        self.own = [shown for root in added for shown in sources(root)]
        self.texts = LazyMapping(
            self.paths, lambda shown: contents(self.paths[shown]).decode(errors="replace")
        )

    def declares(self, name: str) -> set[str]:
        """What files of a name declare under it: `op`, `module` or `family`."""
        files = [path for path in self.paths if PurePath(path).stem.lower() == name.lower()]
        files += self.own  # whose names are checked later
        found = (_DECLARED.search(self.texts[path]) for path in files)
        return {each[1] for each in found if each is not None and each[2] == name}

    @cached_property
    def declared(self) -> Mapping[str, Mapping[str, str]]:
        """The files of operators, modules and families, by the kind and the name."""
        found: dict[str, dict[str, str]] = {"op": {}, "module": {}, "family": {}}
        for path, text in self.texts.items():
            if declares := _DECLARED.search(text):
                found[declares[1]][declares[2]] = path
        return found

    @cached_property
    def _bases(self) -> Mapping[str, str]:
        """What each file refines, by its path."""
        found = ((path, _BASE.search(text)) for path, text in self.texts.items())
        return {path: base[1] for path, base in found if base is not None}

    def members(self, family: str) -> list[str]:
        """The operators of a family, also through families that refine it."""
        found = []
        for name, path in self.declared["op"].items():
            base = self._bases.get(path)
            while base is not None:
                if base == family:
                    found.append(name)
                    break
                base = self._bases.get(self.declared["family"].get(base, ""))
        return sorted(found)

    def like_line(self, operator: str) -> str:
        """What an operator's file says behind `like:`."""
        found = re.search(r"^like: *(.*)", self.texts[self.declared["op"][operator]], re.MULTILINE)
        return found[1] if found else ""

    def shortest_call(self, name: str) -> Mention | None:
        """The shortest line that calls a function."""
        return min(self._calls(name), key=lambda each: len(each.text), default=None)

    def _calls(self, name: str) -> Iterator[Mention]:
        call = re.compile(rf"(?<![\w.]){re.escape(name)}\(")
        for path, text in self.texts.items():
            if f"{name}(" in text:
                for number, line in enumerate(text.splitlines(), 1):
                    if call.search(line) and len(line.strip()) <= LONGEST_EXAMPLE:
                        yield Mention(path, number, line.strip().removeprefix("- "))


WIDTH = 96


class TopicText(NamedTuple):
    """What is said of a topic: for people, and as data."""

    text: str
    data: Mapping[str, object]


def key_topic(name: str, _: RegistryText) -> TopicText:
    """A key of files: what it means in each entry, with an example."""
    uses = key_uses()[name]
    lines = [f"{name}  key of files"]
    for use in uses:
        title = f"{use.entries} (in {_listed(use.files)} files)"
        lines += ["", *textwrap.wrap(title, WIDTH), *_indented(use.text.doc), ""]
        lines += [f"    {line}" for line in use.text.example.splitlines()]
    places = [
        {
            "entries": use.entries.split(", "),
            "files": list(use.files),
            "text": use.text.doc,
            "example": use.text.example,
        }
        for use in uses
    ]
    return TopicText("\n".join(lines), {"kind": "key", "key": name, "places": places})


def function_topic(name: str, registry: RegistryText) -> TopicText:
    """A function of snippets: its signature, what it gives, and a call of it in the registry."""
    found, call = function_text(name), registry.shortest_call(name)
    lines = [f"{name}  function {found.place}", "", *_indented(found.signature)]
    lines += ["", *_indented(found.doc)]
    if call is not None:
        lines += ["", f"example  {call}", f"  {call.text}"]
    data = {
        "kind": "function",
        "function": name,
        "place": found.place,
        "signature": found.signature,
        "parameters": [{"written": each, "text": text} for each, text in found.parameters],
        "result": found.result,
        "text": found.doc,
        "example": call.text if call else None,
    }
    return TopicText("\n".join(lines), data)


def family_topic(name: str, registry: RegistryText) -> TopicText:
    """A family: its parameters, and the operators that are like it."""
    shown = registry.declared["family"][name]
    file = _family_file(shown, registry)
    members = registry.members(name)
    lines = [f"{name}  family, {shown}"]
    lines += ["", *_indented(file.doc)] if file.doc else []
    given = dict.fromkeys(file.parameters, "")
    defaults = {each: f"by default {value}" for each, value in file.defaults.items()}
    parameters = {**given, **defaults}
    if parameters:
        width = max(map(len, parameters))
        lines += ["", "parameters"]
        lines += [f"  {each.ljust(width)}  {text}".rstrip() for each, text in parameters.items()]
    lines += ["", "extends", f"  {file.extends}"] if file.extends else []
    lines += ["", "operators", *_columns(members)]
    example = next((t for t in map(registry.like_line, members) if t.startswith(name)), None)
    lines += ["", "example", f"  like: {example}"] if example else []
    data = {
        "kind": "family",
        "family": name,
        "path": shown,
        "doc": file.doc,
        "parameters": list(parameters),
        "extends": file.extends,
        "operators": members,
        "example": example,
    }
    return TopicText("\n".join(lines), data)


def _family_file(shown: str, registry: RegistryText) -> FamilyFile:
    found: list[Diagnostic] = []
    place = registry.paths[shown]
    root = next(each for each in place.parents if shown.startswith(f"{each.name}/"))
    file = read_file(root, place, shown, found)
    if file is None or found or not isinstance(file.model, FamilyFile):
        raise DiagnosticError(*found)
    return file.model


@dataclass(frozen=True)
class Manual:
    """All that can be asked for, by kind and name."""

    added: Sequence[Path] = ()
    kinds: Mapping[str, Callable[[str, RegistryText], TopicText]] = field(
        default_factory=lambda: {
            "family": family_topic,
            "key": key_topic,
            "function": function_topic,
        }
    )

    @cached_property
    def registry(self) -> RegistryText:
        """The registries as text."""
        return RegistryText(self.added)

    def names(self, kind: str) -> Iterable[str]:
        """The names of one kind."""
        if kind == "code":
            return CODES
        if kind == "key":
            return key_uses()
        if kind == "function":
            return function_names()
        return self.registry.declared[DECLARED_AS[kind]]

    def kinds_of(self, name: str) -> list[str]:
        """The kinds that have a name; no table is made for it that is not needed."""
        declared = self.registry.declares(name)
        found = [kind for kind in KINDS if DECLARED_AS.get(kind) in declared]
        found += ["key"] * (name in key_names()) + ["function"] * is_function(name)
        found += ["code"] * (name in CODES)
        return sorted(found, key=KINDS.index)

    def topic(self, kind: str, name: str) -> TopicText:
        """What is said of a key, a family or a function."""
        return self.kinds[kind](name, self.registry)

    def overview(self) -> TopicText:
        """All names, by kind: functions behind `np.` and the like are counted."""
        found = {kind: sorted(self.names(kind)) for kind in KINDS}
        lines = ["`tripybuild explain NAME` explains each of these:"]
        for kind, names in found.items():
            plain = [each for each in names if "." not in each]
            lines += ["", f"{PLURALS[kind]} ({len(names)})", *_columns(plain)]
            spaces = dict.fromkeys(each.partition(".")[0] for each in names if "." in each)
            counts = {s: sum(each.startswith(f"{s}.") for each in names) for s in spaces}
            lines += [f"  {space}.*  {count} more" for space, count in counts.items()]
        lines += [
            "",
            "A law or an argument is asked for as `softmax/dim`, and what has the name of",
        ]
        lines += ["something else, too, as `key:max`."]
        return TopicText("\n".join(lines), {"kind": "overview", **found})


PLURALS = {
    "operator": "operators",
    "module": "modules",
    "family": "families",
    "key": "keys of files",
    "function": "functions of snippets",
    "code": "error codes",
}
KINDS = tuple(PLURALS)
DECLARED_AS = {"operator": "op", "module": "module", "family": "family"}


def _indented(text: str) -> list[str]:
    wrapped = (
        textwrap.wrap(line, WIDTH, break_on_hyphens=False) or [""]
        for line in text.strip().splitlines()
    )
    return [f"  {line}".rstrip() for lines in wrapped for line in lines]


def _columns(names: Sequence[str]) -> list[str]:
    return _indented(", ".join(names)) if names else []


def _listed(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"
