"""JSON schemas for editors, from the same models that the files are validated with.

The flavour is draft 7, which editors read: `definitions` instead of `$defs`, and no keyword beside
a `$ref`. The keys stand in reading order, so that an editor proposes them in it.
"""

import json
from typing import Any

from tripybuild.schema.files import (
    READING_ORDER,
    FamilyFile,
    ModelFile,
    ModuleFile,
    OperatorFile,
    PartEntry,
    Strict,
)

DRAFT = "http://json-schema.org/draft-07/schema#"
KINDS: dict[str, type[Strict]] = {
    "operator": OperatorFile,
    "family": FamilyFile,
    "module": ModuleFile,
    "model": ModelFile,
}


def schema_files() -> dict[str, str]:
    """The schema of each kind of file, by path."""
    return {f"schemas/{name}.json": schema_file(name) for name in KINDS}


def schema_file(kind: str) -> str:
    """One schema.

    ```json
    {
      "$schema": "http://json-schema.org/draft-07/schema#",
      "title": "tripybuild operator",
      "description": "One operator.",
      "type": "object",
      "properties": {"tripybuild": {"const": 1}, "op": {"type": "string"}, ...},
      "required": ["tripybuild", "op"],
      "additionalProperties": false,
      "definitions": {...}
    }
    ```
    """
    model = KINDS[kind]
    found = model.model_json_schema(ref_template="#/definitions/{model}")
    definitions = found.pop("$defs", {})
    ordered = _in_reading_order(found, model)
    if "PartEntry" in definitions:
        definitions["PartEntry"] = _in_reading_order(definitions["PartEntry"], PartEntry)
    whole = {
        "$schema": DRAFT,
        "title": f"tripybuild {kind}",
        "description": found.get("description", ""),
        "type": "object",
        "properties": ordered["properties"],
        "required": ordered.get("required", []),
        "additionalProperties": False,
        **({"definitions": dict(sorted(definitions.items()))} if definitions else {}),
    }
    return json.dumps(_draft7(whole), indent=2, ensure_ascii=False) + "\n"


def _in_reading_order(schema: dict[str, Any], model: type[Strict]) -> dict[str, Any]:
    properties = schema["properties"]
    order = READING_ORDER[model]
    return schema | {
        "properties": {key: properties[key] for key in order},
        "required": [key for key in order if key in schema.get("required", [])],
    }


def _draft7(node: Any, *, names: bool = False) -> Any:
    """The same in draft 7. `names`: the keys of the node are names of properties, not keywords."""
    if isinstance(node, list):
        return [_draft7(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node and len(node) > 1 and not names:
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _draft7({**beside, "allOf": [{"$ref": node["$ref"]}]})
    result = {}
    for key, value in node.items():
        if not names and key in ("title", "default") and not str(value).startswith("tripybuild "):
            continue
        if not names and key == "propertyNames" and not value:
            continue
        inner = key in ("properties", "definitions", "patternProperties") and not names
        result[key] = _draft7(value, names=inner)
    if "patternProperties" in result and not names:
        result["additionalProperties"] = False
    return result
