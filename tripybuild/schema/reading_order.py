"""Canonical key order of a file: the order of the model's fields."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo

from tripybuild.documents.composer import Location
from tripybuild.schema.comparison_files import EntryTestEntry, TestEntry
from tripybuild.schema.entries import StrictModel
from tripybuild.schema.files import FamilyFile, ModuleFile, OperatorBody, OperatorFile, PartEntry
from tripybuild.schema.size_entries import SizeEntry, SizeTree, declares_size
from tripybuild.schema.snippets.expressions import Expression

# Those whose own keys stand before the ones that they inherit.
_ORDERS: dict[type[StrictModel], tuple[str, ...]] = {
    OperatorFile: ("tripybuild", "op", "like", *OperatorBody.model_fields),
    FamilyFile: (
        *("tripybuild", "family", "extends", "parameters", "defaults"),
        *OperatorBody.model_fields,
    ),
    ModuleFile: ("tripybuild", "module", "extends", *PartEntry.model_fields, "sample", "examples"),
    TestEntry: (
        *("against", "published", "config", "arguments", "sizes", "seed"),
        *EntryTestEntry.model_fields,
        *("entries", "tolerance", "invariant"),
    ),
}


def reading_order(model: type[StrictModel]) -> tuple[str, ...]:
    """The keys of a mapping in their order."""
    return _ORDERS.get(model) or tuple(_fields(model))


def _fields(model: type[StrictModel]) -> Mapping[str, FieldInfo]:
    """The fields of a model by the keys that a file has for them."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


@dataclass(frozen=True, slots=True)
class _Form:
    """What a value may be: an entry, values by name or in a list, an expression, or a size."""

    entry: type[StrictModel] | None = None
    named: "_Form | None" = None
    listed: "_Form | None" = None
    is_expression: bool = False
    is_size: bool = False

    def inner(self, key: str) -> "_Form | None":
        """What the value of a key may be."""
        if self.is_size and key not in SizeEntry.model_fields:
            return self  # a size of a record
        if self.is_size:
            return _inner(SizeEntry).get(key)
        return _inner(self.entry).get(key) if self.entry else self.named


_EXPRESSION = _Form(is_expression=True)
_SIZE = _Form(is_expression=True, is_size=True)


def is_expression(model: type[StrictModel], location: Location) -> bool:
    """Tell whether a value of a file is an expression, or in a list that is one."""
    form: _Form | None = _Form(entry=model)
    for step in location:
        if form is None:
            return False
        if isinstance(step, int):
            form = form.listed or (form if form.is_expression else None)
        else:
            form = form.inner(step)
    return form is not None and form.is_expression


def entries(
    data: object, model: type[StrictModel]
) -> Iterator[tuple[Location, list[str], list[str]]]:
    """Each entry of a file: where it stands, its keys, and its keys in reading order.

    A key that is unknown stays behind the one that it follows.
    """
    return _entries(data, _Form(entry=model), ())


def _entries(
    data: object, form: _Form, at: Location
) -> Iterator[tuple[Location, list[str], list[str]]]:
    if isinstance(data, list):
        if form.listed:
            for index, value in enumerate(data):
                yield from _entries(value, form.listed, (*at, index))
    elif isinstance(data, dict):
        entry = SizeEntry if form.is_size and declares_size(data) else form.entry
        if entry:
            keys = list(data)
            yield at, keys, _in_order(keys, entry)
        for key, value in data.items():
            inner = form.inner(key) if isinstance(value, dict | list) else None
            if inner:
                yield from _entries(value, inner, (*at, key))


def _in_order(keys: list[str], model: type[StrictModel]) -> list[str]:
    known = _ranks(model)
    ranks: dict[str, int] = {}
    rank = -1
    for key in keys:
        rank = ranks[key] = known.get(key, rank)
    return sorted(keys, key=ranks.__getitem__)


@cache
def _ranks(model: type[StrictModel]) -> Mapping[str, int]:
    return {key: rank for rank, key in enumerate(reading_order(model))}


@cache
def _inner(model: type[StrictModel]) -> Mapping[str, _Form]:
    """The forms of the fields that may hold entries or expressions."""
    forms = {key: _form(field.annotation) for key, field in _fields(model).items()}
    return {key: form for key, form in forms.items() if form is not None}


def _form(annotation: Any) -> _Form | None:
    """The form of a field, or None where neither an entry nor an expression is in it."""
    if annotation is SizeTree:
        return _SIZE
    if annotation is Expression:
        return _EXPRESSION
    if isinstance(annotation, type) and issubclass(annotation, StrictModel):
        return _Form(entry=annotation)
    found = [form for each in get_args(annotation) if (form := _form(each)) is not None]
    if not found:
        return None
    if get_origin(annotation) is dict:
        return _Form(named=found[0])
    if get_origin(annotation) is list:
        return _Form(listed=found[0])
    kinds = ("entry", "named", "listed", "is_expression")
    return _Form(**{kind: v for kind in kinds for f in found if (v := getattr(f, kind))})
