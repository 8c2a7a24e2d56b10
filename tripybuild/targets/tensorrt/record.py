"""The record of an engine: what was kept of it when it was built, checked before it is used."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tripybuild.artifact.manifest_schema import manifest_error, matches

_ENGINE = {"plan": str, "record": str, "module": str}
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


def engine_members(manifest: Mapping[str, Any]) -> Sequence[str]:
    """The members that a manifest names for its engine.

    Raises:
        DiagnosticError: It does not name them as it should.
    """
    engine = manifest.get("engine", {})
    if not matches(engine, _ENGINE):
        raise manifest_error("its `engine` cannot be understood")
    return [engine[key] for key in _ENGINE]


def read_record(text: bytes, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Read the record of an engine.

    Raises:
        DiagnosticError: It is malformed, or of another model.
    """
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise manifest_error("its engine's record is not JSON") from error
    if not isinstance(record, dict):
        raise manifest_error("its engine's record is not an object")
    if not matches(record, _RECORD):
        raise manifest_error("its engine's record cannot be understood")
    for key in ("inputs", "outputs"):
        built = {each["name"]: each["dtype"] for each in record[key]}
        if built != {each["name"]: each["dtype"] for each in manifest[key]}:
            raise manifest_error("its engine is that of another model")
    return record
