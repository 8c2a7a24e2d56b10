"""Models of ONNX as foreign programs."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.importer.foreign_program import (
    ForeignGraph,
    ForeignProgram,
    ForeignValue,
    ForeignWeight,
)
from tripybuild.importer.onnx_model.files import OnnxFile, read_file
from tripybuild.importer.onnx_model.graphs import (
    GraphReader,
    Surroundings,
    ValueScope,
    domain_of,
    stated_types,
)
from tripybuild.importer.onnx_model.names import (
    UniqueNames,
    identifier,
    json_metadata,
    place_unnamed,
    weight_paths,
)
from tripybuild.importer.onnx_model.sizes import DimensionNames
from tripybuild.onnx.table import NEWEST, OLDEST
from tripybuild.trace.values import TensorType
from tripybuild.types.size_range import SizeRange

if TYPE_CHECKING:
    from onnx import ModelProto

Array = np.ndarray[Any, Any]
_LARGEST = 1 << 31  # beyond versions of domains, which are numbers of 32 bits to ONNX


def load_file(path: Path, constants: Mapping[str, Array] | None = None) -> ForeignProgram:
    """Read a model's file.

    Args:
        path: The file. Other files that it names are in its folder.
        constants: The values of inputs that are parameters in truth, by name.

    Raises:
        DiagnosticError: The file is damaged or missing, or is a model that cannot be imported.
    """
    require_onnx()
    return _read(read_file(path), identifier(path.stem, "model"), constants or {})


def load_model(model: "ModelProto", constants: Mapping[str, Array] | None = None) -> ForeignProgram:
    """Read a model that is in memory.

    Raises:
        DiagnosticError: It is damaged, or cannot be imported.
    """
    name = identifier(model.graph.name, "model")
    return _read(OnnxFile(model, "the model"), name, constants or {})


def require_onnx() -> None:
    """Raise what says how to install what reads the files, if it is not there."""
    try:
        import onnx  # noqa: F401, PLC0415 - an extra
    except ImportError as error:
        message = "models of ONNX are read by the package `onnx`, which is not installed"
        hint = "install it: `pip install 'tripybuild[onnx]'`"
        raise DiagnosticError(Diagnostic("missing-package", message, hint=hint)) from error


def _read(file: OnnxFile, name: str, constants: Mapping[str, Array]) -> ForeignProgram:
    model = file.model
    _check_texts(file, model)
    opsets = {domain_of(each.domain): each.version for each in model.opset_import}
    _check_opsets(file)
    said = {each.key: each.value for each in model.metadata_props}
    ranges = _stated_ranges(json_metadata(said, "tripybuild.ranges"))
    sizes = DimensionNames(ranges, [each.type for each in model.graph.input])
    reader = GraphReader(file, sizes)
    notes: list[str] = []
    renamed: dict[str, str] = {}
    graph = _read_graph(file, reader, opsets, constants, notes, renamed)
    weights = weight_paths(reader.weights, graph.walk())
    return ForeignProgram(
        name=name,
        system="onnx",
        graph=graph,
        weights=weights,
        ranges=sizes.ranges,
        opset=min(opsets.get("", NEWEST), NEWEST),
        has_examples=True,
        notes=notes,
        input_names=renamed,
    )


def _check_texts(file: OnnxFile, message: Any) -> None:
    """Refuse names that are no UTF-8, which Protocol Buffers give as bytes."""
    for each, value in message.ListFields():
        if each.type == each.TYPE_STRING:
            for text in (value,) if isinstance(value, str | bytes) else value:
                if isinstance(text, bytes):
                    raise file.malformed(f"the {each.name} {text[:40]!r} is not UTF-8")
        elif each.type == each.TYPE_MESSAGE:
            for inner in (value,) if hasattr(value, "ListFields") else value:
                _check_texts(file, inner)


def _check_opsets(file: OnnxFile) -> None:
    """Refuse versions that are older than those that are read, or newer than what is known."""
    from onnx import defs  # noqa: PLC0415 - an extra

    newest = defs.onnx_opset_version()
    for said in (
        opset for each in (file.model, *file.model.functions) for opset in each.opset_import
    ):
        hint = None
        if domain_of(said.domain):
            if said.version in range(_LARGEST):
                continue
            message = f"{file.name} is of version {said.version} of `{said.domain}`, which is none"
        elif said.version < OLDEST:
            message = (
                f"{file.name} is of opset {said.version}; models of {OLDEST} and later are read"
            )
            hint = f"convert it: `onnx.version_converter.convert_version(model, {OLDEST})`"
        elif said.version > newest:
            message = f"{file.name} is of opset {said.version}; the package `onnx` knows {newest}"
            hint = "install a newer version of the package `onnx`"
        else:
            continue
        raise DiagnosticError(Diagnostic("onnx-unsupported", message, hint=hint))


def _read_graph(
    file: OnnxFile,
    reader: GraphReader,
    opsets: Mapping[str, int],
    constants: Mapping[str, Array],
    notes: list[str],
    renamed: dict[str, str],
) -> ForeignGraph:
    graph = file.model.graph
    scope = ValueScope()
    reader.read_initializers(graph, scope, outermost=True)
    free = [each for each in graph.input if each.name not in scope.values]
    _check_constants(constants, [each.name for each in free])
    if not all(each.name for each in graph.input):
        raise file.malformed("one of its inputs has no name")
    if not graph.output:
        raise file.malformed("it has no outputs")
    names = UniqueNames("input")
    inputs = []
    for each in free:
        value = reader.sizes.input(each.name, each.type)
        if each.name in constants:
            value = reader.keep(_bound(value, constants[each.name]))
            notes.append(f"the input `{each.name}` is a constant")
        else:
            inputs.append(value)
        reader.bind(scope, each.name, value)
        if value in inputs and (own := names.find(each.name)) != each.name:
            notes.append(f"the input `{each.name}` is called `{own}`")
            value.name, renamed[own] = own, each.name
    nodes = reader.read_nodes(graph.node, scope, Surroundings(opsets, types=stated_types(graph)))
    place_unnamed(nodes)
    outputs = reader.outputs_of(graph.output, scope)
    return ForeignGraph(inputs, nodes, [*_named_outputs(outputs, names, notes)])


def _named_outputs(
    outputs: list[tuple[str, ForeignValue]], names: UniqueNames, notes: list[str]
) -> Iterator[tuple[str, ForeignValue]]:
    for name, value in outputs:
        own = names.make(name, "output")
        if own != name:
            notes.append(f"the output `{name}` is called `{own}`")
        yield own, value


def _check_constants(constants: Mapping[str, Array], inputs: list[str]) -> None:
    for name in constants:
        if name not in inputs:
            near = suggest(name, inputs)
            hint = f"did you mean `{near}`?" if near else None
            message = f"the model has no input `{name}`"
            raise DiagnosticError(Diagnostic("onnx-input", message, hint=hint))


def _bound(value: ForeignValue, array: Array) -> ForeignWeight:
    """An input that is a constant of this value."""
    assert value.type is not None
    wanted = value.type
    sizes = zip(wanted.shape, array.shape, strict=False)
    fits = len(wanted.shape) == array.ndim and all(
        not isinstance(said, int) or said == found for said, found in sizes
    )
    if not fits or array.dtype != wanted.dtype.numpy:
        said = f"{wanted.dtype}[{', '.join(map(str, wanted.shape))}]"
        found = f"{array.dtype}{list(array.shape)}"
        message = f"the input `{value.name}` is {said}, and the constant for it is {found}"
        raise DiagnosticError(Diagnostic("onnx-input", message))
    type = TensorType(wanted.dtype, array.shape)
    return ForeignWeight(value.name, type, load=lambda: array, is_constant=True)


def _stated_ranges(said: Any) -> dict[str, SizeRange]:
    """The ranges that a file of ours states; those that are none are left out."""
    found = {}
    for name, each in said.items() if isinstance(said, dict) else ():
        try:
            given = SizeRange.from_json(each)
            wrong = given.problem(name)
        except (KeyError, TypeError, AttributeError):
            continue
        if wrong is None:
            found[name] = given
    return found
