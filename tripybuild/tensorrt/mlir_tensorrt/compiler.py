"""mlir-tensorrt compilation of a dialect module, in the worker process.

What it says of the module goes to standard error, which in that process is a file: it is read from
there, so that nothing is lost where the compiler aborts.
"""

import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.process.paths import cache_folder
from tripybuild.process.per_process import per_process
from tripybuild.tensorrt.mlir import resources
from tripybuild.tensorrt.mlir.writing import printer
from tripybuild.tensorrt.mlir_tensorrt import NAME, import_module_of, installed_version
from tripybuild.tensorrt.mlir_tensorrt.module import adapt, function_record
from tripybuild.tensorrt.runtime.engine import select_function
from tripybuild.tensorrt.runtime.request import module_of, respond, run, weights_of

TASK = "tensorrt-to-executable"
PASS = "trtx-to-tensorrt"  # noqa: S105 - no password
TIMING_CACHE = "mlir-tensorrt.timing-cache"
_SAID = re.compile(r"(?P<place>.*?): (?P<level>error|warning|note|remark): (?P<text>.*)")
_PLACE = re.compile(r'"?(?P<path>[^"\s()]+)"?:(?P<line>\d+):(?P<column>\d+)')


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
        "library": {"name": NAME, "version": installed_version("compiler")},
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
    api = import_module_of("compiler.api")
    client, context = _client()
    start = _stderr_end()
    try:
        module = import_module_of("compiler.ir").Module.parse(text, context)
        task = client.get_compilation_task(TASK, _options())
        task.run(module.operation)
        executable = api.translate_mlir_to_executable(module.operation)
        return bytes(executable.serialize())
    except Exception as error:  # its classes differ from release to release
        raise DiagnosticError(*_diagnostics(_stderr_since(start), str(error))) from error


@per_process
def _client() -> tuple[Any, Any]:
    """The one compiler of this process and its context."""
    context = import_module_of("compiler.ir").Context()
    context.enable_multithreading(False)
    return import_module_of("compiler.api").CompilerClient(context), context


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
