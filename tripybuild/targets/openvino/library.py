"""OpenVINO's library: imported without telemetry, and one core for each process.

`import openvino` also imports `openvino.tools.ovc`, which sends a message over the network, starts
threads and a process, and writes files into the user's home folder. It is an optional part: where
its import fails, OpenVINO goes on without. So its import fails here.
"""

import sys
from importlib import import_module
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.per_process import per_process

TELEMETRY = "openvino.tools.ovc"
DEVICE = "CPU"


@per_process
def library() -> Any:
    """The module `openvino`.

    Raises:
        DiagnosticError: It is not installed, or what is installed cannot be used.
    """
    absent = TELEMETRY not in sys.modules
    if absent:
        sys.modules[TELEMETRY] = None  # type: ignore[assignment]  # Python's way to bar an import
    try:
        return import_module("openvino")
    except (ImportError, OSError, RuntimeError) as error:
        message = "OpenVINO cannot be used"
        hint = "install it: `pip install 'tripybuild[openvino]'`"
        notes = (str(error),)
        diagnostic = Diagnostic("target-unavailable", message, notes=notes, hint=hint)
        raise DiagnosticError(diagnostic) from error
    finally:
        if absent:  # a program may use the tool for itself
            del sys.modules[TELEMETRY]


@per_process
def core() -> Any:
    """What reads and compiles models in this process.

    Raises:
        DiagnosticError: OpenVINO is not installed, or cannot be used.
    """
    return library().Core()


def version() -> str:
    """The version of the library, such as `2026.4.1`.

    Raises:
        DiagnosticError: OpenVINO is not installed, or cannot be used.
    """
    return str(library().__version__).partition("-")[0]
