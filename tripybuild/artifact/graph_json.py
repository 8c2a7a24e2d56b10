"""Graph serialization to JSON and back, so that an executable can be respecialized.

Reading is data only: an operation is looked up by its operator's name in a generated package that
the process knows (`catalog`), never by anything else that a file says. A package is identified by
the digest of its declarations: operators that were declared anew may compute something else.
"""

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tripybuild.errors.budget import spend
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, portable_path
from tripybuild.frontend.checks.check import Check
from tripybuild.process import package_catalog
from tripybuild.process.law_lines import line_of
from tripybuild.process.package_catalog import Package, package_of
from tripybuild.symbolic.dims import Dim, Size, parse_dim, same
from tripybuild.trace.constants import Constant, Data
from tripybuild.trace.graph import Graph
from tripybuild.trace.location import StoredLocation, UnknownLocation
from tripybuild.trace.mesh import check_ranks, mesh_data, read_mesh
from tripybuild.trace.operation import DeferredLaw, Law, TraceOp
from tripybuild.trace.region import Region
from tripybuild.trace.values import TensorType, Value, is_static
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.shapes import fresh_symbols

Arrays = Mapping[str, Any]
Find = Callable[[str, Package | None], type[TraceOp]]
_UNKNOWN = re.compile(r"\b_([0-9]{1,9})\b")
LARGEST_LINE = 1 << 31  # MLIR's
_LONGEST_NAME = 200
_DIGITS = frozenset("0123456789abcdef")


def to_data(
    graph: Graph, folder: Path | None = None, names: dict[Data, str] | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The graph as JSON data, and its array constants by name.

    Args:
        graph: The graph.
        folder: What places are relative to.
        names: The array constants of graphs before, to which those of this one are added.
    """
    return _GraphWriter(graph, folder, {} if names is None else names).write()


def from_data(
    data: Mapping[str, Any],
    arrays: Arrays,
    symbols: Mapping[str, Dim],
    operation: Find,
) -> Graph:
    """The graph that `to_data` wrote.

    Args:
        data: The JSON data.
        arrays: The array constants.
        symbols: The dynamic sizes by name, with their ranges.
        operation: Finds the class of an operator of a package, of the built-in one for None.

    Raises:
        DiagnosticError: For an operator or a package that is not here, or data that is not a graph.
    """
    try:
        return _GraphReader(arrays, symbols, operation).graph(data)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        message = f"the executable's graph cannot be read: {type(error).__name__}: {error}"
        raise DiagnosticError(Diagnostic("executable-altered", message)) from error


def law_data(law: DeferredLaw, folder: Path | None = None) -> dict[str, Any]:
    """A deferred law as JSON data; its place is relative to a folder."""
    names = {name: encode_value(value) for name, value in law.names.items()}
    line = law.law.line or line_of(law.source, law.name)
    facts = {"code": law.code, "that": law.law.text, "source": law.source, "line": line}
    if law.place is not None and not isinstance(law.place, UnknownLocation):
        span = law.place.span()
        path = portable_path(span.path, folder)
        facts["place"] = {"label": law.place.label, "path": path, "at": [span.line, span.column]}
    return {
        **facts,
        "message": law.law.message,
        "hint": law.law.hint,
        "words": list(law.law.words),
        "names": names,
    }


def read_law(data: Mapping[str, Any], symbols: Mapping[str, Dim]) -> DeferredLaw:
    """The deferred law that `law_data` wrote."""
    names = {name: decode_value(value, symbols) for name, value in data["names"].items()}
    words = tuple(str(word) for word in data["words"])
    law = Law(
        str(data["that"]),
        data["message"],
        words=words,
        hint=data.get("hint"),
        line=int(data["line"]),
    )
    place = None
    if "place" in data:
        line, column = data["place"]["at"]
        place = _place(data["place"]["label"], data["place"]["path"], line, column, line, column)
    return DeferredLaw(str(data["code"]), law, names, str(data["source"]), place)


def encode_value(value: object) -> Any:
    """A number, size, dtype, word or nested sequence as JSON data."""
    if isinstance(value, Dim):
        return {"size": str(value)}
    if isinstance(value, dtype):
        return {"dtype": str(value)}
    if isinstance(value, float) and not math.isfinite(value):  # JSON has no word for it
        return {"float": str(value)}
    if isinstance(value, (tuple, list, range)):
        return [encode_value(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return {"text": str(getattr(value, "type", value))}


def decode_value(data: Any, symbols: Mapping[str, Dim]) -> Any:
    """The value that `encoded` wrote; sequences come back as tuples."""
    if isinstance(data, list):
        return tuple(decode_value(item, symbols) for item in data)
    if isinstance(data, dict):
        ((kind, text),) = data.items()
        match kind:
            case "size":
                return parse_dim(text, symbols)
            case "dtype":
                return BY_NAME[text]
            case "float":
                return float(text)
        return str(text)
    return data


def _type(type: TensorType) -> list[Any]:
    return [str(type.dtype), [encode_value(size) for size in type.shape]]


class _GraphWriter:
    def __init__(self, graph: Graph, folder: Path | None, names: dict[Data, str]) -> None:
        self.graph, self.folder, self.names = graph, folder, names
        self.numbers: dict[Value, int] = {}
        self.arrays: dict[str, Any] = {}
        self.places: dict[tuple[Any, ...], int] = {}
        self.packages: dict[Package, int] = {}

    def write(self) -> tuple[dict[str, Any], dict[str, Any]]:
        graph = self.graph
        inputs = [[name, *self.declare(value)] for name, value in graph.inputs.items()]
        weights = [[name, *self.declare(value)] for name, value in graph.weights.items()]
        operations = [self.operation(operation) for operation in graph.operations]
        outputs = [[name, self.numbers[value]] for name, value in graph.outputs.items()]
        data: dict[str, Any] = {
            "name": graph.name, "inputs": inputs, "weights": weights,
            "operations": operations, "outputs": outputs, "places": [*map(list, self.places)],
        }  # fmt: skip
        if graph.mesh is not None:
            data["mesh"] = mesh_data(graph.mesh)
        if self.packages:
            data["packages"] = [package_data(each) for each in self.packages]
        return data, self.arrays

    def declare(self, value: Value) -> list[Any]:
        self.numbers[value] = len(self.numbers)
        return _type(value.type)

    def operation(self, operation: TraceOp) -> dict[str, Any]:
        span = operation.location.span()
        path = portable_path(span.path, self.folder)
        columns = (span.line, span.column, span.end_line, span.end_column)
        place = (operation.location.label, path, *columns, operation.location.part)
        at = self.places.setdefault(place, len(self.places))
        arguments = {name: self.argument(value) for name, value in operation.arguments().items()}
        types = []
        for output in operation.outputs:
            self.numbers[output] = len(self.numbers)
            types.append(_type(output.type))
        entry = {"op": operation.operator, "arguments": arguments, "types": types, "at": at}
        if package := package_of(type(operation).__module__):
            entry["of"] = self.packages.setdefault(package, len(self.packages))
        return entry

    def argument(self, value: object) -> Any:
        if isinstance(value, Value):
            return {"value": self.numbers[value]}
        if isinstance(value, tuple) and value and isinstance(value[0], Value):
            return {"values": [self.numbers[item] for item in value]}
        if isinstance(value, Region):
            return {"region": self.region(value)}
        if isinstance(value, Data):
            if value.number is not None or isinstance(value.value, Dim):
                return {"number": encode_value(value.value)}
            name = self.names.setdefault(value, f"constant.{len(self.names)}")
            self.arrays[name] = value.array
            return {"array": name}
        return encode_value(value)

    def region(self, region: Region) -> dict[str, Any]:
        """A graph inside of an operation; its values are counted for themselves."""
        outer, self.numbers = self.numbers, {}
        takes = [[*self.declare(value), is_static(value)] for value in region.parameters]
        operations = [self.operation(operation) for operation in region.operations]
        gives = [self.numbers[value] for value in region.results]
        self.numbers = outer
        return {"takes": takes, "operations": operations, "gives": gives}


class _GraphReader:
    def __init__(
        self,
        arrays: Arrays,
        symbols: Mapping[str, Dim],
        operation: Find,
    ) -> None:
        self.arrays, self.symbols, self.find = arrays, dict(symbols), operation
        self.sizes: dict[str, Size] = {}
        self.values: list[Value] = []
        self.places: list[StoredLocation] = []
        self.packages: list[Package] = []

    def graph(self, data: Mapping[str, Any]) -> Graph:
        self.places = [_place(*place) for place in data["places"]]
        self.packages = [read_package(each) for each in data.get("packages", ())]
        inputs = {name: self.declare(name, *rest) for name, *rest in data["inputs"]}
        weights = {name: self.declare(name, *rest, weight=True) for name, *rest in data["weights"]}
        for entry in data["operations"]:
            self.operation(entry)
        outputs = {name: self.values[number] for name, number in data["outputs"]}
        mesh = read_mesh(data["mesh"]) if "mesh" in data else None
        graph = Graph(str(data["name"]), inputs, weights, outputs, mesh=mesh)
        if mesh is not None:
            check_ranks(mesh, {**weights, **inputs, **outputs}, graph.operations)
        return graph

    def read_type(self, element: str, shape: list[Any]) -> TensorType:
        return TensorType(BY_NAME[element], tuple(map(self.read_size, shape)))

    def read_size(self, stored: Any) -> Any:
        """A size; a graph has few texts of sizes, many times over."""
        text = stored.get("size") if isinstance(stored, dict) and len(stored) == 1 else None
        if not isinstance(text, str):
            return decode_value(stored, self.symbols)
        if text not in self.sizes:
            self.sizes[text] = parse_dim(text, self.symbols)
        return self.sizes[text]

    def declare(
        self, name: str | None, element: str, shape: list[Any], *, weight: bool = False
    ) -> Value:
        value = Value(self.read_type(element, shape), name=name, weight=weight)
        self.values.append(value)
        return value

    def region(self, takes: list[Any], operations: list[Any], gives: list[int]) -> Region:
        outer, self.values = self.values, []
        taken = tuple([self.declare(None, *type, weight=known) for *type, known in takes])
        made = tuple([self.operation(entry) for entry in operations])
        region = Region(taken, made, tuple([self.values[number] for number in gives]))
        self.values = outer
        return region

    def operation(self, entry: Mapping[str, Any]) -> TraceOp:
        spend("operations")
        place = self.places[entry["at"]]
        if entry["op"] == Constant.declaration.name:
            type = self.read_type(*entry["types"][0])
            data = self.data(entry["arguments"]["data"], type)
            made: TraceOp = Constant(data).with_types(type).with_location(place)
        else:
            found = self.find(entry["op"], self.packages[entry["of"]] if "of" in entry else None)
            with fresh_symbols(self.first_unknown(entry["types"])):
                made = self.infer_operation(found, place, entry["arguments"])
        self.learn(made)
        types = [self.read_type(*type) for type in entry["types"]]
        given = [(output.dtype, output.shape) for output in made.outputs]
        if not same(given, [(type.dtype, type.shape) for type in types]):
            raise ValueError(f"`{made.operator}` does not give {', '.join(map(str, types))}")
        self.values += made.outputs
        return made

    def first_unknown(self, types: list[Any]) -> int:
        """The number of the first size that data decides here, from which inference counts."""
        found = (int(number) for number in _UNKNOWN.findall(str(types)))
        return min((n for n in found if f"_{n}" not in self.symbols), default=0)

    def learn(self, made: TraceOp) -> None:
        """Later operations speak of the sizes that data decides here."""
        for size in (size for output in made.outputs for size in output.shape):
            if isinstance(size, Dim) and _UNKNOWN.fullmatch(str(size)):
                self.symbols[str(size)] = size
                self.sizes.clear()

    def infer_operation(
        self, operation: type[TraceOp], place: StoredLocation, arguments: Mapping[str, Any]
    ) -> TraceOp:
        """An operation, checked as when it was recorded: lowerings rely on it."""
        check = Check(operation.declaration, place)
        read = {name: self.argument(value) for name, value in arguments.items()}
        try:
            made = operation.infer(check, **read)
        except DiagnosticError as error:
            raise ValueError(error.diagnostics[0].message) from error
        if not isinstance(made, TraceOp):
            raise TypeError(f"`{operation.declaration.name}` is not an operation here")
        return made.with_location(place, tuple(check.deferred))

    def argument(self, data: Any) -> Any:
        if isinstance(data, dict) and "value" in data:
            return self.values[data["value"]]
        if isinstance(data, dict) and "values" in data:
            return tuple(self.values[number] for number in data["values"])
        if isinstance(data, dict) and "region" in data:
            return self.region(**data["region"])
        return decode_value(data, self.symbols)

    def data(self, data: Mapping[str, Any], type: TensorType) -> Data:
        if "array" in data:
            return Data(self.arrays[data["array"]], type)
        value = decode_value(data["number"], self.symbols)
        if not isinstance(value, (bool, int, float, Dim)):
            raise TypeError(f"{value!r} is not a number")
        return Data(value, type)


def _place(
    label: str, path: str, line: int, column: int, end_line: int, end_column: int, part: str = ""
) -> StoredLocation:
    if not all(isinstance(each, str) for each in (label, path, part)):
        raise TypeError("a place has a label, a path and a part")
    first, last = (int(line), int(column)), (int(end_line), int(end_column))
    if not all(0 <= number < LARGEST_LINE for number in (*first, *last)):
        raise ValueError("a place is out of bounds")
    return StoredLocation(label, path, *first, *last, part)


def package_data(package: Package) -> dict[str, str]:
    """A package as JSON data."""
    return {"name": package.name, "digest": package.digest}


def read_package(data: Mapping[str, Any]) -> Package:
    """The package that `package_data` wrote, if this process knows it.

    Raises:
        DiagnosticError: It does not, or knows one with other declarations.
    """
    name, digest = data["name"], data["digest"]
    if not (isinstance(name, str) and name.isprintable() and 0 < len(name) <= _LONGEST_NAME):
        raise ValueError("a package has a name")
    if not (isinstance(digest, str) and len(digest) == 64 and _DIGITS.issuperset(digest)):
        raise ValueError("a package has a digest")
    found = package_catalog.find_packages(name, digest)
    if not found:
        raise DiagnosticError(_missing_package(name))
    if found[0].digest != digest:
        raise DiagnosticError(_changed_package(name))
    return found[0]


def _missing_package(name: str) -> Diagnostic:
    return Diagnostic(
        "missing-package",
        f"this needs the operators of `{name}`, which this process does not know",
        notes=("an executable compiles sizes that it was not compiled for from its operators",),
        hint=f"`import {name}` first if it is a package; if it is a registry, name its folder: "
        f"`tripybuild run --registry {name}`, or `tripybuild.load(..., registry=...)`",
    )


def _changed_package(name: str) -> Diagnostic:
    return Diagnostic(
        "package-changed",
        f"`{name}` declares its operators otherwise than when this was compiled",
        notes=("an executable compiles sizes that it was not compiled for from its operators",),
        hint="compile the model again, or bring back the declarations that it was compiled with",
    )
