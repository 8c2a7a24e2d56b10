"""The library `mlir_tensorrt`: its interfaces, its release, and where its wheels are."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError

NAME = "mlir-tensorrt"
RELEASE = "0.1.43"
# A class and a method of it that other releases have not.
TOLD_BY = {
    "compiler": ("CompilerClient", "get_compilation_task"),
    "runtime": ("RuntimeClient", "create_stream"),
}
HINT = (
    f"install `mlir-tensorrt-compiler` and `mlir-tensorrt-runtime` {RELEASE}; their wheels are not "
    "on PyPI: docs/targets.md says where they are"
)


def import_module_of(name: str) -> Any:
    """Import a module of `mlir_tensorrt`, such as `runtime.api`.

    Raises:
        DiagnosticError: It is not installed.
    """
    try:
        return import_module(f"mlir_tensorrt.{name}")
    except (ImportError, OSError, RuntimeError) as error:
        message = f"The target `{NAME}` needs a library that cannot be used here"
        raise DiagnosticError(
            Diagnostic("target-unavailable", message, notes=(str(error),), hint=HINT)
        ) from error


def interface(package: str) -> Any:
    """Return the interface of `compiler` or of `runtime`.

    Raises:
        DiagnosticError: It is not installed, or is another release, which has another interface.
    """
    api = import_module_of(f"{package}.api")
    kind, method = TOLD_BY[package]
    if not hasattr(getattr(api, kind, None), method):
        message = (
            f"The target `{NAME}` needs release {RELEASE}, and here is {installed_version(package)}"
        )
        note = f"`mlir_tensorrt.{package}.api.{kind}` has no `{method}`"
        raise DiagnosticError(Diagnostic("target-unavailable", message, notes=(note,), hint=HINT))
    return api


def installed_version(package: str) -> str:
    """Return the version of `compiler` or `runtime`, without what says which CUDA it is for."""
    try:
        return version(f"mlir-tensorrt-{package}").partition("+")[0]
    except PackageNotFoundError:
        return "unknown"
