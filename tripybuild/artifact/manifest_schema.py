"""Manifest schema: everything is validated before any entry is used.

Digests say that nothing was damaged, not that it makes sense. What is checked here, nobody else
looks at again. A later version may add keys, never change these.
"""

from collections.abc import Collection, Mapping
from typing import Any

from tripybuild.errors.budget import spend
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.language.grammar import SnippetError, parse
from tripybuild.schema.target_names import ENGINES, TARGETS
from tripybuild.types.dtypes import BY_NAME

GRAPH = "trace.json"
_TENSOR = {"name": str, "dtype": str, "shape": [(int, str)]}
_SIZE = (int, None)
_ENGINE = {"plan": str, "record": str, "module": str}
_FORM: Mapping[str, Any] = {
    "model": str,
    "doc": str,
    "target": str,
    "inputs": [_TENSOR],
    "outputs": [_TENSOR],
    "state": [str],
    "ranges": {...: {"min": int, "opt": int, "max": _SIZE, "multiple_of": int}},
    "sizes": {},
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
    "versions": {"tripybuild": str},
}

_PORT = {"name": str, "dtype": str, "shape": [(int, None)], "host": bool}
_PROFILE = {"min": [int], "opt": [int], "max": [int]}
_RECORD: Mapping[str, Any] = {
    "library": {"name": str, "version": str},
    "compute_capabilities": [str],
    "inputs": [{**_PORT, "profiles": [_PROFILE]}],
    "outputs": [_PORT],
    "layers": [
        {
            "name": str,
            "op": str,
            "location": str,
            "outputs": [{"dtype": str, "shape": [(int, None)]}],
        }
    ],
}


def check_content(content: Mapping[str, Any], members: Collection[str]) -> None:
    """Refuse a manifest that does not describe a model.

    Raises:
        DiagnosticError: It says at which key.
    """
    if content.get("kind") != "model":
        raise DiagnosticError(Diagnostic("executable-not-recognized", "the file holds no model"))
    for key, form in _FORM.items():
        if key not in content or not _matches(content[key], form):
            raise manifest_error(f"its `{key}` cannot be understood")
    if content["target"] not in TARGETS:
        message = f"the executable is for the target `{content['target']}`, which is not one here"
        hint = f"compile the model again for one of {', '.join(f'`{each}`' for each in TARGETS)}"
        raise DiagnosticError(Diagnostic("unknown-target", message, hint=hint))
    for key in ("inputs", "outputs"):
        entries = content[key]
        known = all(entry["dtype"] in BY_NAME for entry in entries)
        if not known or len({entry["name"] for entry in entries}) != len(entries):
            raise manifest_error(f"its `{key}` cannot be understood")
    for law in content["laws"]:
        spend("characters", len(law["that"]))
        try:
            parse(law["that"])
        except SnippetError as error:
            raise manifest_error("its `laws` cannot be understood") from error
    for member in _required_members(content):
        if member not in members:
            raise manifest_error(f"it has no `{member}`")


def _required_members(content: Mapping[str, Any]) -> list[str]:
    """The members that a target runs: an engine, or a graph and what was compiled of it."""
    if content["target"] in ENGINES:
        engine = content.get("engine", {})
        if not _matches(engine, _ENGINE):
            raise manifest_error("its `engine` cannot be understood")
        return [engine[key] for key in _ENGINE]
    parts = [each[key] for each in content["specialisations"] for key in ("stablehlo", "payload")]
    return [GRAPH, *parts]


def check_record(record: Mapping[str, Any], content: Mapping[str, Any]) -> None:
    """Refuse an engine's record that is malformed, or that is of another model.

    Raises:
        DiagnosticError: It says what is wrong.
    """
    if not _matches(record, _RECORD):
        raise manifest_error("its engine's record cannot be understood")
    for key in ("inputs", "outputs"):
        built = {each["name"]: each["dtype"] for each in record[key]}
        if built != {each["name"]: each["dtype"] for each in content[key]}:
            raise manifest_error("its engine is that of another model")


def manifest_error(found: str) -> DiagnosticError:
    """An executable whose digests are right and whose content is not."""
    message = f"the executable does not describe its model as it should: {found}"
    hint = "do not run it; compile the model again"
    return DiagnosticError(Diagnostic("executable-altered", message, hint=hint))


def _matches(value: Any, form: Any) -> bool:
    """Whether a value has a form: `[one]` is a list, `(one, other)` a choice, `{...: one}` any."""
    match form:
        case None:
            return value is None
        case tuple():
            return any(_matches(value, each) for each in form)
        case list():
            return isinstance(value, list) and all(_matches(each, form[0]) for each in value)
        case dict() if ... in form:
            return isinstance(value, dict) and all(_matches(v, form[...]) for v in value.values())
        case dict():
            return isinstance(value, dict) and all(
                key in value and _matches(value[key], inner) for key, inner in form.items()
            )
    return isinstance(value, form) and not (form is int and isinstance(value, bool))
