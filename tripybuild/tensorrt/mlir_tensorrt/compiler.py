"""mlir-tensorrt compilation of a dialect module, in the worker process.

Attributes of ours are taken away (names of inputs stay in the record); a tensor on the host is said
as nvtripy says it, by its memory space; of several profiles the first is kept, which holds all.
What the compiler says of the module goes to standard error, which in that process is a file: it is
read from there, so that nothing is lost where the compiler aborts.
"""

import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.process.paths import cache_folder
from tripybuild.process.per_process import per_process
from tripybuild.tensorrt.dialect.base import element, sizes
from tripybuild.tensorrt.mlir import resources
from tripybuild.tensorrt.mlir.context import MemorySpaceAttr
from tripybuild.tensorrt.mlir.writing import printer
from tripybuild.tensorrt.mlir_tensorrt import library
from tripybuild.tensorrt.runtime.engine import port_record, select_function
from tripybuild.tensorrt.runtime.request import module_of, respond, run, weights_of
from tripybuild.tensorrt.translation.names import location_text
from tripybuild.tensorrt.translation.profiles import BOUNDS, SHAPES, read
from tripybuild.tensorrt.translation.translate import (
    HOST,
    NAME,
    SPACE,
    Port,
    inputs_of,
    outputs_of,
)
from tripybuild.types.dtypes import BY_MLIR

Record = dict[str, Any]
HOST_SPACE = MemorySpaceAttr(StringAttr("host"))
TASK = "tensorrt-to-executable"
PASS = "trtx-to-tensorrt"  # noqa: S105 - no password
TIMING_CACHE = "mlir-tensorrt.timing-cache"
_SAID = re.compile(r"(?P<place>.*?): (?P<level>error|warning|note|remark): (?P<text>.*)")
_PLACE = re.compile(r'"?(?P<path>[^"\s()]+)"?:(?P<line>\d+):(?P<column>\d+)')


def prepare(_target: str) -> Callable[[bytes, Mapping[str, Any]], bytes]:
    """Load the compiler, and return what compiles with it: for the compiler's process.

    Raises:
        DiagnosticError: It is not installed, or is another release.
    """
    library.interface("compiler")
    return compile_request


def function_record(function: FuncOp) -> Record:
    """Return the record of a function, as that of an engine."""
    body = [op for op in function.body.walk() if op.name.startswith("tensorrt.") and op.results]
    return {
        "function": function.sym_name.data,
        "inputs": [
            {**port_record(port, **_type(port.value)), **_ranges(port)}
            for port in inputs_of(function)
        ],
        "outputs": [port_record(port, **_type(port.value)) for port in outputs_of(function)],
        "layers": [_layer(op) for op in body],
    }


def _ranges(port: Port) -> Record:
    bounds = read(port, BOUNDS)
    found = bounds or read(port, SHAPES) or ()
    profiles = [each.to_json() for each in found[:1]]
    return {"profiles": profiles, "of_values": bounds is not None}


def _layer(op: Operation) -> Record:
    return {
        "name": op.name,
        "op": op.name,
        "location": location_text(op.location),
        "outputs": [_type(value) for value in op.results],
    }


def _type(value: SSAValue) -> Record:
    kind = str(element(value))
    return {"dtype": str(BY_MLIR.get(kind, kind)), "shape": list(sizes(value))}


def adapt(function: FuncOp) -> None:
    """Write a function's attributes as mlir-tensorrt reads them, in place."""
    function.arg_attrs = _attributes(function.arg_attrs)
    function.res_attrs = _attributes(function.res_attrs)


def _attributes(given: ArrayAttr[DictionaryAttr] | None) -> ArrayAttr[DictionaryAttr] | None:
    if given is None:
        return None
    return ArrayAttr([DictionaryAttr(dict(_named_attributes(each))) for each in given])


def _named_attributes(attributes: DictionaryAttr) -> Iterator[tuple[str, Attribute]]:
    for name, value in attributes.data.items():
        if name == HOST and isinstance(value, UnitAttr):
            yield SPACE, HOST_SPACE
        elif name in {SHAPES, BOUNDS} and isinstance(value, ArrayAttr):
            yield name, value.data[0]
        elif name != NAME:
            yield name, value


def compile_request(content: bytes, options: Mapping[str, Any]) -> bytes:
    """Compile the module of a request; mlir-tensorrt runs its own passes.

    Raises:
        DiagnosticError: The module is wrong, has layers that NVIDIA's dialect lacks, or the
            compiler refuses it.
    """
    module = module_of(content, options)
    run(module, (PASS,))
    function = select_function(module, options.get("function"))
    record = {
        **function_record(function),
        "library": {"name": library.NAME, "version": library.installed_version("compiler")},
        "compute_capabilities": [],
    }
    resources.of(module).add_arrays(weights_of(options))
    adapt(function)
    text = printer.text(module, locations=True, data=True)

    def make(take: Callable[[Any], bool]) -> Mapping[str, Any]:
        take(_compile_text(text))
        return record

    return respond(make, options)


def _compile_text(text: str) -> bytes:
    """Hand a text to the compiler; its words are diagnostics."""
    api = library.import_module_of("compiler.api")
    client, context = _client()
    start = _stderr_end()
    try:
        module = library.import_module_of("compiler.ir").Module.parse(text, context)
        task = client.get_compilation_task(TASK, _options())
        task.run(module.operation)
        executable = api.translate_mlir_to_executable(module.operation)
        return bytes(executable.serialize())
    except Exception as error:  # its classes differ from release to release
        raise DiagnosticError(*_diagnostics(_stderr_since(start), str(error))) from error


@per_process
def _client() -> tuple[Any, Any]:
    """The one compiler of this process and its context."""
    context = library.import_module_of("compiler.ir").Context()
    context.enable_multithreading(False)
    return library.import_module_of("compiler.api").CompilerClient(context), context


def _options() -> list[str]:
    return [
        *_timing_cache(),
        "--tensorrt-builder-opt-level=3",
        "--tensorrt-strongly-typed=True",
        "--force-entrypoints-return-allocs",
    ]


def _timing_cache() -> list[str]:
    """Where times of layers are kept; nowhere, if the user has no folder that can be written."""
    folder = cache_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return []
    return [f"--tensorrt-timing-cache-path={folder / TIMING_CACHE}"]


def _stderr_end() -> int | None:
    """Where standard error ends, if it is a file."""
    sys.stderr.flush()
    status = os.fstat(2)
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _stderr_since(start: int | None) -> str:
    if start is None:
        return ""
    end = os.fstat(2).st_size
    return os.pread(2, end - start, start).decode(errors="replace")


def _diagnostics(said: str, reason: str) -> Iterator[Diagnostic]:
    """The compiler's errors with their notes, or else the reason of its exit."""
    errors: list[tuple[str, Span | None, list[str]]] = []
    for line in said.splitlines():
        spoken = _SAID.match(line)
        if spoken is not None and spoken["level"] == "error":
            errors.append((spoken["text"], _span(spoken["place"]), []))
        elif errors and line.strip():
            errors[-1][2].append(line.strip() if spoken is None else spoken["text"])
    if not errors:
        lines = tuple(line for line in (*said.splitlines(), *reason.splitlines()) if line.strip())
        message = "mlir-tensorrt does not compile the module"
        yield Diagnostic("tensorrt-refused", message, notes=lines)
    for text, span, notes in errors:
        yield Diagnostic("tensorrt-refused", text, span, notes=tuple(notes))


def _span(place: str) -> Span | None:
    """The innermost place that a location names: the last one in it."""
    places = list(_PLACE.finditer(place))
    if not places or places[-1]["path"] == "-":
        return None
    line, column = int(places[-1]["line"]), int(places[-1]["column"])
    return Span(places[-1]["path"], line, column, line, column + 1)
