"""ONNX Runtime's binding: imported when it is used, silent, and its errors as diagnostics."""

import os
import re
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process import memory
from tripybuild.process.per_process import per_process

REQUIREMENT = "onnxruntime>=1.30,<2"
# What is wrong is raised, too, so nothing is written to stderr.
FATAL_ONLY = 4
# From 1.29 on, it sends what it runs to Microsoft, from the import on, unless this is set. Its
# thread also keeps forked processes from ending.
TELEMETRY = "ORT_DISABLE_TELEMETRY"
_ERRORS = (
    *("EPFail", "EngineError", "Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf"),
    *("NoSuchFile", "NotImplemented", "RuntimeException"),
)
_EXHAUSTED = "Failed to allocate memory"
_PREFIX = re.compile(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ")
_NODE = re.compile(r"node with name '([^']*)'|Name:'([^']*)'|\(node (\S+?)\)")


@per_process
def runtime() -> Any:
    """The package of ONNX Runtime, silent and without telemetry.

    Raises:
        DiagnosticError: It is not installed, or cannot be loaded.
    """
    os.environ.setdefault(TELEMETRY, "1")
    try:
        import onnxruntime  # noqa: PLC0415 - heavy
    except (ImportError, OSError, RuntimeError) as error:
        message = "ONNX Runtime cannot be used"
        hint = f"install it: `pip install '{REQUIREMENT}'`"
        found = Diagnostic("target-unavailable", message, notes=(str(error),), hint=hint)
        raise DiagnosticError(found) from error
    onnxruntime.set_default_logger_severity(FATAL_ONLY)
    return onnxruntime


def version() -> str:
    """The version of the package, such as `1.32.0`.

    Raises:
        DiagnosticError: It is not installed, or cannot be loaded.
    """
    return str(runtime().__version__)


@per_process
def binding() -> Any:
    """The native module below the package, whose calls take half of the time.

    Raises:
        DiagnosticError: It is not installed, or cannot be loaded.
    """
    runtime()
    from onnxruntime.capi import onnxruntime_pybind11_state  # noqa: PLC0415 - heavy

    return onnxruntime_pybind11_state


def errors() -> tuple[type[Exception], ...]:
    """The exceptions that it raises: its own, and Python's for what C++ throws."""
    native = binding()
    return (*(getattr(native, each) for each in _ERRORS), RuntimeError, MemoryError)


def is_out_of_memory(error: Exception) -> bool:
    """Whether it could not allocate."""
    return _EXHAUSTED in str(error) or memory.is_out_of_memory(error)


def error_words(error: Exception) -> str:
    """Its message in a line, without its own places and numbers."""
    line = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return _PREFIX.sub("", line)


def error_node(error: Exception) -> str | None:
    """The name of the node that it speaks of."""
    found = _NODE.search(str(error))
    return next(filter(None, found.groups()), None) if found else None
