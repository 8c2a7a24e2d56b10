"""Keys of the YAML files: what each means, with an example, for `explain` and for editors.

The texts stand in `keys.yaml`, by the titles of entries: those of `RefusalEntry` under `Refusal`.
An entry has its own texts, those of entries that it extends, and those of `Any`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple, get_args

import yaml

from tripybuild.schema.entries import StrictModel
from tripybuild.schema.kinds import KINDS

FILE = Path(__file__).with_name("keys.yaml")
ANY = "Any"
# What a file is called after the key that names its declaration.
KIND_NAMES = {"op": "operator", "define": "definitions"}
FILE_MODELS = {KIND_NAMES.get(kind, kind): model for kind, model in KINDS.items()}


class KeyText(NamedTuple):
    """What a key means: a description, and lines of YAML with the key."""

    doc: str
    example: str

    def example_value(self) -> object:
        """What the example says of the key."""
        return next(iter(yaml.safe_load(self.example).values()))


class KeyUse(NamedTuple):
    """A key where it stands: the entries, the kinds of their files, and what it means there."""

    entries: str
    files: tuple[str, ...]
    text: KeyText


def title(model: type[StrictModel]) -> str:
    """The words for an entry: those of `StockRefusalEntry` are `Stock refusal`."""
    name = re.sub("(Entry|File|Body|Point)$", "", model.__name__)
    return re.sub("(?<=[a-z])(?=[A-Z])", " ", name).capitalize()


def models(root: type[StrictModel]) -> list[type[StrictModel]]:
    """A file's model and those of all that can stand in it."""
    found: dict[type[StrictModel], bool] = {}
    wanted: list[object] = [root]
    while wanted:
        each = wanted.pop(0)
        if isinstance(each, type) and issubclass(each, StrictModel):
            if each not in found:
                found[each] = True
                wanted += [field.annotation for field in each.model_fields.values()]
        else:
            wanted += get_args(getattr(each, "__value__", each))
    return list(found)


def keys(model: type[StrictModel]) -> Iterator[str]:
    """The keys of an entry, as files write them."""
    for name, field in model.model_fields.items():
        yield field.alias or name


@cache
def _texts() -> Mapping[str, Mapping[str, KeyText]]:
    # What stands here is ours: the loader of C takes 3 ms for it.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    data = yaml.load(FILE.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506 - a safe loader
    return {
        entry: {key: KeyText(text["doc"], text["example"]) for key, text in texts.items()}
        for entry, texts in data.items()
    }


def key_text(model: type[StrictModel], key: str) -> KeyText:
    """What a key of an entry means."""
    titles = [title(each) for each in model.__mro__ if issubclass(each, StrictModel)]
    known = _texts()
    return next(known[each][key] for each in [*titles, ANY] if key in known.get(each, ()))


def key_names() -> frozenset[str]:
    """All keys that have a text."""
    return frozenset(key for texts in _texts().values() for key in texts)


@cache
def key_uses() -> Mapping[str, tuple[KeyUse, ...]]:
    """All keys, each with the entries that it stands in; entries of one text are one use."""
    files: dict[tuple[str, str, KeyText], list[str]] = {}
    for kind, root in FILE_MODELS.items():
        for model in models(root):
            for key in keys(model):
                place = key, title(model), key_text(model, key)
                files.setdefault(place, []).append(kind)
    found: dict[str, dict[KeyText, tuple[list[str], list[str]]]] = {}
    for (key, entry, text), kinds in files.items():
        entries, all_kinds = found.setdefault(key, {}).setdefault(text, ([], []))
        entries.append(entry.lower())
        all_kinds += kinds
    return {
        key: tuple(
            KeyUse(", ".join(dict.fromkeys(entries)), tuple(dict.fromkeys(kinds)), text)
            for text, (entries, kinds) in uses.items()
        )
        for key, uses in sorted(found.items())
    }
