"""Validation against pydantic models: pydantic's errors become diagnostics with spans."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from typing_extensions import TypeAliasType

from tripybuild.documents.document import Document
from tripybuild.errors.diagnostics import Diagnostic, suggest
from tripybuild.schema.comparison_files import PEER_LIBRARIES
from tripybuild.schema.entries import StrictModel
from tripybuild.schema.files import FORMAT

Model = TypeVar("Model", bound=StrictModel)


def validate(document: Document, model: type[Model]) -> tuple[Model | None, list[Diagnostic]]:
    """Read a document as `model`.

    Returns:
        The model, or None where the data does not fit, and all that was found wrong.
    """
    try:
        result = model.model_validate(document.data)
    except ValidationError as problems:
        return None, _unique(_diagnostics(document, model, problems.errors(include_url=False)))
    return result, []


def _unique(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """A union reports once for each alternative: keep one diagnostic for each place."""
    by_place: dict[object, Diagnostic] = {}
    for diagnostic in diagnostics:
        by_place.setdefault(diagnostic.span, diagnostic)
    return list(by_place.values())


def _diagnostics(
    document: Document, model: type[BaseModel], errors: Sequence[ErrorDetails]
) -> Iterator[Diagnostic]:
    """A diagnostic for each error; all types that a place may have are one.

    Where one alternative of a union has the type of the value, and something else is wrong with
    it, the types of the others do not matter.
    """
    located = [(_data_location(document.data, error["loc"]), error) for error in errors]
    for location, error in located:
        inside = (
            other[: len(location)] == location and (other != location or each["type"] not in TYPES)
            for other, each in located
        )
        if error["type"] not in TYPES:
            yield _diagnostic(document, model, error)
        elif not any(inside):
            kinds = [TYPES[e["type"]] for at, e in located if at == location]
            subject = f"`{location[-1]}`" if location else "the file"
            message = f"{subject} must be {_alternatives(kinds)}, but this is "
            message += _kind(error["input"])
            is_type = location[-2:-1] == ("inputs",) and set(kinds) == {"a string"}
            hint = ALWAYS_GIVEN if is_type else None
            yield Diagnostic("wrong-type", message, document.span(location), hint=hint)


def _alternatives(kinds: Iterable[str]) -> str:
    *first, last = dict.fromkeys(kinds)
    return f"{', '.join(first)} or {last}" if first else last


# Of the inputs of a model and of an entry; those of a part can be more than a type.
ALWAYS_GIVEN = (
    "an input is written as its type, and always passed; a call without it is another one of "
    "`entries:`"
)
# The types of values, as pydantic names their errors.
TYPES = {
    "bool_type": "a boolean",
    "bool_parsing": "a boolean",
    "dict_type": "a mapping",
    "float_type": "a number",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "list_type": "a list",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "string_type": "a string",
}
NAMES = (
    "operators have names in snake_case, and laws in lower case with `-`; "
    "other names are ASCII letters, digits and `_`, of which a letter is the first"
)


def _diagnostic(document: Document, model: type[BaseModel], error: ErrorDetails) -> Diagnostic:
    location = _data_location(document.data, error["loc"])
    key = str(error["loc"][-1]) if error["loc"] else ""
    match error["type"]:
        case "extra_forbidden":
            return _unknown_key(document, model, error, location)
        case "missing":
            message, label = f"`{key}` is missing", f"needs `{key}`"
            return Diagnostic("missing-key", message, document.span(location), label)
        case "string_pattern_mismatch" | "keyword" | "dunder" as kind:
            why = "" if kind == "string_pattern_mismatch" else f": it is {error['msg']}"
            message = f"`{error['input']}` cannot be a name here{why}"
            span = document.span(location, key=key == "[key]")
            return Diagnostic("bad-name", message, span, hint=_names_hint(location))
        case "too_short" | "string_too_short" as kind:
            unit, count = "item" if kind == "too_short" else "character", error["ctx"]["min_length"]
            name = location[-1] if location else key
            message = f"`{name}` must have at least {count} {unit}{'s' if count != 1 else ''}"
            return Diagnostic("wrong-value", message, document.span(location))
        case "literal_error" if location == ("tripybuild",):
            return Diagnostic(
                "wrong-value",
                f"this tripybuild reads form {FORMAT} of its files, found `{error['input']}`",
                document.span(location),
                hint="another version of tripybuild reads it, or write the form of this one",
            )
        case "literal_error":
            return _choice_diagnostic(document, location, error)
    wanted = error["msg"][0].lower() + error["msg"][1:]
    return Diagnostic(
        "wrong-type", f"{wanted}, but this is {_kind(error['input'])}", document.span(location)
    )


def _names_hint(location: tuple[str | int, ...]) -> str:
    if location[-1:] in (("against",), ("published",)):
        return f"a peer is `LIBRARY.NAME`, and the libraries are {', '.join(PEER_LIBRARIES)}"
    return NAMES + ("; `rename:` maps them to a checkpoint's" if "weights" in location else "")


def _unknown_key(
    document: Document,
    model: type[BaseModel],
    error: ErrorDetails,
    location: tuple[str | int, ...],
) -> Diagnostic:
    """A key that does not exist at its place."""
    key = str(error["loc"][-1])
    known = _allowed_keys(model, error["loc"][:-1])
    near = suggest(key, known)
    hint = f"did you mean `{near}`?" if near else _keys_hint(known)
    if location[:-1] == ("weights",) and {"file", "tensors"} <= {*known}:
        hint = hint if near else "a weight of the model itself is declared below `tensors:`"
    elif location[:-1] and key in model.model_fields:
        hint = f"`{key}` is the whole file's: write it at the top"
    message, span = f"`{key}` is not a key here", document.span(location, key=True)
    return Diagnostic("unknown-key", message, span, "unknown key", hint=hint)


def _choice_diagnostic(
    document: Document, location: tuple[str | int, ...], error: ErrorDetails
) -> Diagnostic:
    """A key or a value that is none of those that there are."""
    choices = [each.strip("'") for each in re.split(", | or ", error["ctx"]["expected"])]
    is_key = error["loc"][-1] == "[key]"
    near = suggest(str(error["input"]), choices)
    hint = f"did you mean `{near}`?" if near else _keys_hint(choices) if is_key else None
    what = "a key here" if is_key else f"one of {', '.join(f'`{each}`' for each in choices)}"
    message = f"`{error['input']}` is not {what}"
    span = document.span(location, key=is_key)
    return Diagnostic("unknown-key" if is_key else "wrong-value", message, span, hint=hint)


def _data_location(data: Any, location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """The part of pydantic's location that exists in the data: it also names unions and models."""
    path: list[str | int] = []
    for part in location:
        within = isinstance(part, int) and isinstance(data, list) and part < len(data)
        if within or (isinstance(data, dict) and part in data):
            data = data[part]
            path.append(part)
    return tuple(path)


def _allowed_keys(model: type[BaseModel], location: tuple[str | int, ...]) -> list[str]:
    """The keys that may stand at a location."""
    here: object = model
    for part in location:
        if isinstance(here, type) and issubclass(here, BaseModel) and part in here.model_fields:
            here = _models(here.model_fields[str(part)].annotation)
        if isinstance(here, tuple):
            here = here[0] if here else model
    if not (isinstance(here, type) and issubclass(here, BaseModel)):
        return []
    return [field.alias or name for name, field in here.model_fields.items()]


def _models(annotation: object) -> tuple[type[BaseModel], ...]:
    """The models inside an annotation such as `dict[str, A | B] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return (annotation,)
    if isinstance(annotation, TypeAliasType):  # one that holds itself: its models are found once
        annotation = annotation.__value__
    arguments = getattr(annotation, "__args__", ())
    return tuple(model for argument in arguments for model in _models(argument))


def _keys_hint(known: list[str]) -> str | None:
    return "the keys here are " + ", ".join(f"`{k}`" for k in known) if known else None


def _kind(value: object) -> str:
    names = {
        dict: "a mapping",
        list: "a list",
        str: "a string",
        bool: "a boolean",
        int: "an integer",
    }
    if value is None:
        return "empty"
    return names.get(type(value), f"a {type(value).__name__}")
