"""Graph entries of the manifest, and the member that stores the graph."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripybuild.artifact.graph_json import encode_value, from_data, law_data, to_data
from tripybuild.documents.json_reader import parse_json
from tripybuild.errors.budget import Budget
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.errors.limits import within_budget
from tripybuild.language.records import Record
from tripybuild.model.model_graph import EntryGraph, ModelGraph
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.constants import Data
from tripybuild.trace.generated_code import operation_class
from tripybuild.trace.graph import Graph
from tripybuild.trace.values import Value
from tripybuild.version import VERSION

if TYPE_CHECKING:  # whose compiled models read what is here
    from tripybuild.targets.protocol import Target


# The sizes that programs are for, by the names of dynamic sizes, or `powers` of two.
Buckets = Mapping[str, Sequence[int] | str]


def manifest_of_model(
    built: ModelGraph, target: str, shapes: Mapping[str, Sequence[Mapping[str, int]]]
) -> dict[str, Any]:
    """The manifest of a model, without specializations.

    Args:
        built: The model, with the weights that the outputs of its entries need.
        target: What it is compiled for.
        shapes: The sizes to compile each entry for.
    """
    from importlib.metadata import version  # noqa: PLC0415 - slow, and no load needs it

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
    mesh = {} if graph.mesh is None else {"mesh": dict(graph.mesh.axes)}
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
        **mesh,
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


def check_range(built: ModelGraph, name: str, size: object) -> None:
    """Refuse a size that the model has not, or not of this number.

    Raises:
        DiagnosticError: It says which sizes there are.
    """
    if name not in built.ranges:
        near = suggest(name, built.ranges)
        hint = (
            f"did you mean `{near}`?"
            if near
            else f"the dynamic sizes are {', '.join(built.ranges) or 'none'}"
        )
        message = f"`{built.name}` has no dynamic size `{name}`"
        raise DiagnosticError(Diagnostic("unknown-size", message, hint=hint))
    if size is not None:
        built.ranges[name].check(name, size, built.document.span(("ranges", name)))


def add_buckets(
    manifest: dict[str, Any], built: ModelGraph, target: "Target", buckets: Buckets
) -> None:
    """Note, for each entry, the sizes that its programs are for; each in a range has one.

    Raises:
        DiagnosticError: The target has no program for each size, no entry has a size, one is out of
            its range or beyond all buckets, or is that of a state; or these are no buckets.
    """
    if not isinstance(buckets, Mapping):
        message = f"buckets are sizes by the names of dynamic sizes, and not {buckets!r}"
        raise DiagnosticError(Diagnostic("wrong-value", message, hint='`{"B": [4, 16]}`'))
    if not target.takes_buckets:
        message = f"`{target}` takes no buckets: they are for engines with a program for each size"
        hint = "leave out `--buckets`, or take `--target cpu:xla`"
        raise DiagnosticError(Diagnostic("target-unfit", message, hint=hint))
    found = {str(name): _bucket_sizes(built, str(name), each) for name, each in buckets.items()}
    for entry in manifest["entries"]:
        graph = built.entries[entry["name"]].graph
        for state in entry["state"]:
            for name in found:
                sizes = [each for each in graph.inputs[state].shape if isinstance(each, Dim)]
                if any(name in each.symbols for each in sizes):
                    raise DiagnosticError(_state_refusal(built, name, state))
        entry["buckets"] = {name: each for name, each in found.items() if name in entry["ranges"]}


def _bucket_sizes(built: ModelGraph, name: str, asked: Sequence[int] | str) -> list[int]:
    check_range(built, name, None)
    powers = isinstance(asked, str) and asked == "powers"
    if not powers and (isinstance(asked, str) or not isinstance(asked, Iterable)):
        message = f"the buckets of `{name}` are a list of sizes or `powers`, and not {asked!r}"
        raise DiagnosticError(Diagnostic("wrong-value", message))
    span, known = built.document.span(("ranges", name)), built.ranges[name]
    listed: list[Any] = [] if powers else list(asked)
    for size in listed:
        known.check(name, size, span)
    hint = None
    if known.max is None:
        message = f"`{name}` has buckets, and its range has no `max`"
    else:
        sizes = known.powers_of_two(known.max) if powers else sorted(set(listed))
        if sizes[-1:] == [known.max]:
            return sizes
        message = (
            f"`{name}` goes up to {known.max}, and its largest bucket is {max(sizes, default=0)}"
        )
        hint = f"add {known.max} to its buckets, or set a lower `max`"
    raise DiagnosticError(Diagnostic("size-out-of-range", message, span, hint=hint))


def _state_refusal(built: ModelGraph, name: str, state: str) -> Diagnostic:
    message = f"`{name}` is a size of the state `{state}`, which is kept and not padded"
    span = built.document.span(("ranges", name))
    return Diagnostic("bucket-changes-result", message, span, hint=f"leave out `{name}`")
