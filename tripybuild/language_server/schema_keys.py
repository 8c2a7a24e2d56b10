"""Keys of a file's schema: which may stand at a place, what they mean, what values they take."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo
from typing_extensions import TypeAliasType

from tripybuild.documents.composer import Location
from tripybuild.schema.entries import StrictModel
from tripybuild.schema.keys import KeyText, key_text
from tripybuild.schema.kinds import KINDS
from tripybuild.schema.reading_order import reading_order
from tripybuild.schema.size_entries import SizeEntry, SizeTree


@dataclass(frozen=True, slots=True)
class SchemaKey:
    """A key that may stand at a place.

    Args:
        name: The key.
        doc: What it means, as `tripybuild explain` says it.
        form: What stands behind it: a mapping, a list, words.
        is_required: Whether a file without it is refused.
        example: Lines of YAML with the key.
    """

    name: str
    doc: str
    form: str
    is_required: bool
    example: str = ""


Form = Any  # an annotation


def keys_at(kind: str | None, path: Location) -> list[SchemaKey]:
    """The keys that may stand below a path; none where names are free."""
    found: dict[str, SchemaKey] = {}
    for form in _forms_at(kind, path):
        if isinstance(form, type) and issubclass(form, StrictModel):
            found |= {each.name: each for each in _keys(form)}
        elif _origin(form) is dict:
            named = (get_args(each) for each in _options(get_args(form)[0]))
            found |= {n: SchemaKey(n, "", "", False) for each in named for n in map(str, each)}
    return list(found.values())


def describe_key(kind: str | None, path: Location) -> str:
    """What a key means, as Markdown; empty where the schema does not have it."""
    known = {each.name: each for each in keys_at(kind, path[:-1])}
    key = known.get(str(path[-1])) if path else None
    if key is None:
        return ""
    example = f"```yaml\n{key.example}\n```" if key.example else ""
    return f"**{key.name}:** {key.form}\n\n{key.doc}\n\n{example}".strip()


def values_at(kind: str | None, path: Location) -> list[str]:
    """The words that a value may be."""
    found: list[str] = []
    for form in _forms_at(kind, path):
        if form is bool:
            found += ["true", "false"]
        elif _origin(form) is Literal:
            found += [str(each) for each in get_args(form)]
    return found


@cache
def _keys(model: type[StrictModel]) -> tuple[SchemaKey, ...]:
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    order = [name for name in reading_order(model) if name in fields]
    return tuple(_key(key_text(model, name), name, fields[name]) for name in order)


def _key(text: KeyText, name: str, field: FieldInfo) -> SchemaKey:
    form = _spoken(field.annotation)
    return SchemaKey(name, text.doc, form, field.is_required(), text.example.strip())


def _spoken(form: Form) -> str:
    """What a value is, in a word or two."""
    kinds = dict.fromkeys(_kind(each) for each in _options(form))
    return " or ".join(each for each in kinds if each)


def _kind(form: Form) -> str:
    origin = _origin(form)
    if form is SizeTree:
        return "an expression or a mapping"
    if origin is dict or (isinstance(form, type) and issubclass(form, StrictModel)):
        return "a mapping"
    if origin is list:
        return "a list"
    if origin is Literal:
        return ", ".join(f"`{each}`" for each in get_args(form))
    names: Mapping[object, str] = {str: "text", bool: "true or false", int: "a number"}
    return names.get(form, "a number" if form is float else "")


def _options(form: Form) -> Iterator[Form]:
    """The alternatives of an annotation, without the wrappers."""
    if form is SizeTree:
        yield form
    elif isinstance(form, TypeAliasType):
        yield from _options(form.__value__)
    elif _origin(form) is UnionType or str(_origin(form)) == "typing.Union":
        for each in get_args(form):
            yield from _options(each)
    elif hasattr(form, "__metadata__"):
        yield from _options(form.__origin__)
    elif form is not NoneType:
        yield form


def _origin(form: Form) -> Any:
    return get_origin(form)


def _forms_at(kind: str | None, path: Location) -> list[Form]:
    forms: list[Form] = [KINDS[kind]] if kind in KINDS else []
    for step in path:
        forms = [inner for form in forms for inner in _inner(form, step)]
    return forms


def _inner(form: Form, step: str | int) -> Iterator[Form]:
    if form is SizeTree:
        yield from (
            _options(SizeEntry) if step not in SizeEntry.model_fields else _field(SizeEntry, step)
        )
    elif isinstance(form, type) and issubclass(form, StrictModel):
        yield from _field(form, step)
    elif _origin(form) is dict:
        yield from _options(get_args(form)[1])
    elif _origin(form) is list:
        items = list(_options(get_args(form)[0]))
        yield from items if isinstance(step, int) else (i for f in items for i in _inner(f, step))


def _field(model: type[StrictModel], step: str | int) -> Iterator[Form]:
    for name, field in model.model_fields.items():
        if step == (field.alias or name):
            yield from _options(field.annotation)
