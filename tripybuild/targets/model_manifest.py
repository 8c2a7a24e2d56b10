"""Graph entries of the manifest, and the member that stores the graph."""

import json
import math
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tripybuild.artifact.graph_json import encode_value, from_data, law_data, to_data
from tripybuild.documents.json_reader import parse_json
from tripybuild.errors.budget import Budget
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.errors.limits import within_budget
from tripybuild.language.records import Record
from tripybuild.model.model_graph import EntryGraph, ModelGraph
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.constants import Data
from tripybuild.trace.generated_code import operation_class
from tripybuild.trace.graph import Graph
from tripybuild.trace.values import Value
from tripybuild.version import VERSION


def manifest_of_model(
    built: ModelGraph, target: str, shapes: Mapping[str, Sequence[Mapping[str, int]]]
) -> dict[str, Any]:
    """The manifest of a model, without specializations.

    Args:
        built: The model, with the weights that the outputs of its entries need.
        target: What it is compiled for.
        shapes: The sizes to compile each entry for.
    """
    folder = Path(built.document.path).parent
    return {
        "kind": "model",
        "model": built.name,
        "doc": built.doc,
        "target": target,
        "sizes": {name: _size_entry(value) for name, value in built.sizes.items()},
        # Lists, since JSON objects have no order and the order is that of the file.
        "entries": [
            entry_manifest(name, entry, shapes[name], folder)
            for name, entry in built.entries.items()
        ],
        "weights": len(built.declared_weights),
        "versions": {"tripybuild": VERSION, "jaxlib": version("jaxlib"), "numpy": version("numpy")},
    }


def entry_manifest(
    name: str,
    entry: EntryGraph,
    shapes: Sequence[Mapping[str, int]],
    folder: Path | None = None,
) -> dict[str, Any]:
    """What the manifest says of one entry, with places relative to a folder."""
    graph = entry.graph
    return {
        "name": name,
        "doc": entry.doc,
        "inputs": tensor_entries(graph.inputs),
        "outputs": tensor_entries(graph.outputs),
        "state": list(entry.states),
        "first": {name: encode_value(number) for name, number in entry.first.items()},
        "ranges": {name: each.to_json() for name, each in entry.ranges.items()},
        "laws": [law_data(law, folder) for law in graph.deferred_laws],
        "operations": len(graph.operations),
        "arguments": list(graph.weights),  # of the compiled module, before the inputs
        "specialisations": [],
        "shapes": [dict(sizes) for sizes in shapes],
    }


def _size_entry(value: object) -> Any:
    """A size as the manifest shows it: a record is an object."""
    if isinstance(value, Record):
        return {name: _size_entry(value[name]) for name in value}
    if isinstance(value, (list, tuple)):
        return [_size_entry(each) for each in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    is_number = isinstance(value, float) and math.isfinite(value)
    return value if is_number else str(value)  # JSON has no word for infinity, nor for dtypes


def tensor_entries(values: Mapping[str, Value]) -> list[dict[str, Any]]:
    """The inputs or the outputs of a graph, as the manifest says them."""
    return [_tensor_entry(name, value) for name, value in values.items()]


def _tensor_entry(name: str, value: Value) -> dict[str, Any]:
    shape = [str(size) if isinstance(size, Dim) else size for size in value.shape]
    return {"name": name, "dtype": str(value.dtype), "shape": shape}


def graph_text(graph: Graph, folder: Path, names: dict[Data, str]) -> tuple[bytes, dict[str, Any]]:
    """The member `trace.json`, and the array constants that it names; entries share names."""
    data, arrays = to_data(graph, folder, names)
    return json.dumps(data, sort_keys=True, separators=(",", ":")).encode(), arrays


def read_graph(text: memoryview, arrays: Mapping[str, Any], symbols: Mapping[str, Dim]) -> Graph:
    """The graph that `graph_text` wrote."""
    with within_budget(budget=Budget()):
        try:
            data = parse_json(bytes(text))
        except (ValueError, RecursionError) as error:
            message = "the executable's graph cannot be read: it is not JSON"
            raise DiagnosticError(Diagnostic("executable-altered", message)) from error
        return from_data(data, arrays, symbols, operation_class)
