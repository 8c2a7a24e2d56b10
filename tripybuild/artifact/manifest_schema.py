"""Manifest schema: everything is validated before any entry is used.

Digests say that nothing was damaged, not that it makes sense. What is checked here is
not checked again. A later version may add keys, never change these.
"""

import re
from collections.abc import Mapping
from typing import Any

from tripybuild.errors.budget import spend
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.language.grammar import SnippetError, parse
from tripybuild.schema.model.entry_points import UNNAMED
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.size_range import SizeRange

_TENSOR = {"name": str, "dtype": str, "shape": [(int, str)]}
_SIZE = (int, None)
_PLACE = (None, {"label": str, "path": str, "at": [int]})
_FORM: Mapping[str, Any] = {
    "model": str,
    "doc": str,
    "target": str,
    "sizes": {},
    "versions": {"tripybuild": str},
    "entries": [{"name": str}],
}
_ENTRY: Mapping[str, Any] = {
    "doc": str,
    "inputs": [_TENSOR],
    "outputs": [_TENSOR],
    "state": [str],
    "ranges": {...: {"min": int, "opt": int, "max": _SIZE, "multiple_of": int}},
    "laws": [
        {
            "code": str,
            "that": str,
            "source": str,
            "line": int,
            "message": (str, None),
            "words": [str],
            "names": {},
        }
    ],
    "arguments": [str],
    "specialisations": [
        {"name": str, "sizes": {...: int}, "stablehlo": str, "payload": str, "identity": {}}
    ],
    "shapes": [{...: int}],
}
_WORDS = [{"float": word} for word in ("inf", "-inf", "nan")]  # numbers that JSON does not have
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def check_content(content: Mapping[str, Any]) -> None:
    """Refuse a manifest that does not describe a model.

    Raises:
        DiagnosticError: It says at which key.
    """
    if content.get("kind") != "model":
        raise DiagnosticError(Diagnostic("executable-not-recognized", "the file holds no model"))
    _check_keys(content, _FORM)
    if not matches(content.get("tied", {}), {...: str}):
        raise manifest_error("its `tied` cannot be understood")
    if not isinstance(content.get("asked", False), bool):
        raise manifest_error("its `asked` cannot be understood")
    names = [entry["name"] for entry in content["entries"]]
    if names != [UNNAMED] and not (names and all(map(_NAME.fullmatch, names))):
        raise manifest_error("its `entries` cannot be understood")
    if len({name.lower() for name in names}) != len(names):
        raise manifest_error("its `entries` cannot be understood")
    for entry in content["entries"]:
        _check_entry(entry)


def _check_entry(entry: Mapping[str, Any]) -> None:
    _check_keys(entry, _ENTRY)
    if not isinstance(entry.get("first", {}), dict):
        raise manifest_error("its `first` cannot be understood")
    meshes = matches(entry.get("mesh", {}), {...: int})
    if not meshes or not all(map(_is_partitioned, entry["specialisations"])):
        raise manifest_error("its `mesh` cannot be understood")
    if not _are_buckets(entry.get("buckets", {}), entry["ranges"]):
        raise manifest_error("its `buckets` cannot be understood")
    for key in ("inputs", "outputs"):
        tensors = entry[key]
        known = all(each["dtype"] in BY_NAME for each in tensors)
        if not known or len({each["name"] for each in tensors}) != len(tensors):
            raise manifest_error(f"its `{key}` cannot be understood")
    for number in entry.get("first", {}).values():
        if number not in _WORDS and not matches(number, (bool, int, float)):
            raise manifest_error("its `first` cannot be understood")
    for law in entry["laws"]:
        if not matches(law.get("place"), _PLACE):
            raise manifest_error("its `laws` cannot be understood")
        spend("characters", len(law["that"]))
        try:
            parse(law["that"])
        except SnippetError as error:
            raise manifest_error("its `laws` cannot be understood") from error


def _is_partitioned(compiled: Mapping[str, Any]) -> bool:
    """Whether what is said of a program over a mesh can be understood; of others it is not said."""
    if not {"collectives", "costs"} & compiled.keys():
        return True
    form = {"collectives": {...: [int]}, "costs": {"flops": int, "memory": int}}
    return matches(compiled, form) and all(len(e) == 2 for e in compiled["collectives"].values())


def _are_buckets(buckets: Any, ranges: Mapping[str, Any]) -> bool:
    """Whether each size in a range has a bucket, which is in the range itself."""
    if not matches(buckets, {...: [int]}) or not buckets.keys() <= ranges.keys():
        return False
    known = {name: SizeRange.from_json(ranges[name]) for name in buckets}
    return all(
        sizes == sorted(set(sizes))
        and sizes[-1:] == [known[name].max]
        and all(map(known[name].contains, sizes))
        for name, sizes in buckets.items()
    )


def _check_keys(content: Mapping[str, Any], forms: Mapping[str, Any]) -> None:
    for key, form in forms.items():
        if key not in content or not matches(content[key], form):
            raise manifest_error(f"its `{key}` cannot be understood")


def manifest_error(found: str) -> DiagnosticError:
    """An executable whose digests are right and whose content is not."""
    message = f"the executable does not describe its model as it should: {found}"
    hint = "do not run it; compile the model again"
    return DiagnosticError(Diagnostic("executable-altered", message, hint=hint))


def tensor_text(entry: Mapping[str, Any]) -> str:
    """An input or an output of a manifest as a type: `float32[B, 4]`, `float32[()]`."""
    return f"{entry['dtype']}[{', '.join(map(str, entry['shape'])) or '()'}]"


def matches(value: Any, form: Any) -> bool:
    """Whether a value has a form: `[one]` is a list, `(one, other)` a choice, `{...: one}` any."""
    match form:
        case None:
            return value is None
        case tuple():
            return any(matches(value, each) for each in form)
        case list():
            return isinstance(value, list) and all(matches(each, form[0]) for each in value)
        case dict() if ... in form:
            return isinstance(value, dict) and all(matches(v, form[...]) for v in value.values())
        case dict():
            return isinstance(value, dict) and all(
                key in value and matches(value[key], inner) for key, inner in form.items()
            )
    return isinstance(value, form) and not (form is int and isinstance(value, bool))
