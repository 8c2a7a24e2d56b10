"""Engine compatibility: checked before TensorRT reads the plan, all obstacles reported.

An engine is read by the version that wrote it, and runs on the GPUs that it was built for.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.tensorrt.runtime import gpu
from tripybuild.tensorrt.translation.library import Library

Record = Mapping[str, Any]


def check_compatibility(record: Record) -> tuple[Library, gpu.Gpu]:
    """Return the library and the GPU that an engine is run with.

    Raises:
        DiagnosticError: With all that is missing, or of another kind or version.
    """
    device = gpu.find_gpu()
    problems = list(_of_device(device, record["compute_capabilities"]))
    library: Library | None = None
    try:
        library = Library.find(record["library"]["name"])
        problems += _of_version(library, record["library"]["version"])
    except DiagnosticError as error:
        problems += error.diagnostics
    if problems or library is None or isinstance(device, gpu.Absence):
        raise DiagnosticError(*problems)
    return library, device


def _of_device(device: gpu.Gpu | gpu.Absence, capabilities: list[str]) -> Iterator[Diagnostic]:
    if isinstance(device, gpu.Absence):
        yield gpu.absence_diagnostic(device, capabilities)
    elif (problem := gpu.mismatch_diagnostic(device, capabilities)) is not None:
        yield problem


def _of_version(library: Library, version: str) -> Iterator[Diagnostic]:
    if library.version != version:
        message = f"the engine was built by {library.name} {version}; here is {library.version}"
        note = "an engine is read only by the version that wrote it"
        package = library.module.__name__
        hint = f"compile the model again, or install `{package}=={version}`"
        yield Diagnostic("executable-incompatible", message, notes=(note,), hint=hint)
