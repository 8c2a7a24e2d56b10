"""The record of an engine: kept when it was built, checked before it is used, and described.

A record is read without a GPU, and without the library that built the engine.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tripybuild.artifact.manifest_schema import manifest_error, matches
from tripybuild.targets.executable_file import Description, ExecutableFile, Table
from tripybuild.targets.table import TARGETS

MOST_KINDS = 5
NAMED = re.compile(r'"(?P<name>[^"]*)"\((?P<at>.*)\)')

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


class EngineFile(ExecutableFile):
    """A file with an engine, its record and its module."""

    def required_members(self, manifest: Mapping[str, Any]) -> Sequence[str]:
        """The members that the manifest names for the engines of its entries."""
        found = []
        for entry in manifest["entries"]:
            engine = entry.get("engine", {})
            if not matches(engine, _ENGINE):
                raise manifest_error("its `engine` cannot be understood")
            found += [engine[key] for key in _ENGINE]
        return found

    def describe(
        self,
        entry: Mapping[str, Any],
        read: Callable[[str], memoryview],
        *,
        layers: bool,
    ) -> Description:
        """The engine, its profiles and its layers, from the record that it was built with."""
        found = read_record(bytes(read(entry["engine"]["record"])), entry)
        others = entry["engine"].get("others", ())
        portable = TARGETS[self.target].portable
        tables = engine_tables(found, portable=portable, layers=layers, others=others)
        return Description({"record": found}, tables, hidden=("engine", "arguments"))


def read_record(text: bytes, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Read the record of an engine, of which the manifest of its entry tells.

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


def engine_tables(
    record: Mapping[str, Any],
    *,
    portable: bool,
    layers: bool,
    others: Sequence[Mapping[str, Any]] = (),
) -> list[Table]:
    """Return what is shown of an engine, as titles and rows; `others` stand beside it."""
    library = f"{record['library']['name']} {record['library']['version']}"
    capabilities = sorted(record["compute_capabilities"], key=lambda name: (len(name), name))
    # Which GPUs an engine is for that names none.
    default = "any GPU that it knows" if portable else "GPUs like the one that it was built on"
    whole = {
        "built by": library,
        "runs on": ", ".join(each.upper() for each in capabilities) or default,
        "layers": _layer_summary(record["layers"]),
    }
    if others:
        whole["function"] = record["function"]
        whole["beside it"] = ", ".join(each["function"] for each in others)
    found: list[Table] = [("engine", whole)]
    found += _profiles(record["inputs"])
    if layers:
        found.append(("layers", _layer_rows(record["layers"])))
    return found


def _profiles(inputs: Sequence[Mapping[str, Any]]) -> Iterator[Table]:
    """One table for each optimization profile; an input with one range has it in all."""
    count = max((len(each["profiles"]) for each in inputs), default=0)
    for index in range(count):
        rows = {
            each["name"]: _range(each, index if len(each["profiles"]) > 1 else 0)
            for each in inputs
            if each["profiles"]
        }
        yield (f"profile {index}" if count > 1 else "profile"), rows


def _range(entry: Mapping[str, Any], index: int) -> str:
    profile = entry["profiles"][index]
    bounds = {key: _sizes(profile[key]) for key in ("min", "opt", "max")}
    what = "values " if entry.get("of_values") else ""
    if bounds["min"] == bounds["max"]:
        return what + bounds["min"]
    return what + ", ".join(f"{key} {sizes}" for key, sizes in bounds.items())


def _layer_summary(layers: Sequence[Mapping[str, Any]]) -> str:
    """How many there are, and of which kinds most."""
    kinds = Counter(_kind(each) for each in layers).most_common()
    shown = [f"{count} {kind}" for kind, count in kinds[:MOST_KINDS]]
    rest = sum(count for _, count in kinds[MOST_KINDS:])
    detail = ", ".join([*shown, *([f"{rest} others"] if rest else [])])
    return f"{len(layers):,}" + (f" ({detail})" if detail else "")


def _layer_rows(layers: Sequence[Mapping[str, Any]]) -> Mapping[str, str]:
    kinds = [_kind(each) for each in layers]
    types = [" ".join(map(_type, each["outputs"])) for each in layers]
    widths = max(map(len, kinds), default=0), max(map(len, types), default=0)
    return {
        str(index): f"{kind.ljust(widths[0])}  {type.ljust(widths[1])}  {_place(each)}"
        for index, (each, kind, type) in enumerate(zip(layers, kinds, types, strict=True))
    }


def _kind(layer: Mapping[str, Any]) -> str:
    return str(layer["op"]).removeprefix("tensorrt.")


def _place(layer: Mapping[str, Any]) -> str:
    """A location without MLIR's quotes: `pooled (minilm.yaml:37:11)`."""
    text = str(layer["location"])
    named = NAMED.fullmatch(text)
    return (text if named is None else f"{named['name']} ({named['at']})").replace('"', "")


def _type(output: Mapping[str, Any]) -> str:
    return f"{output['dtype']}{_sizes(output['shape'])}"


def _sizes(shape: Sequence[int | None]) -> str:
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"
