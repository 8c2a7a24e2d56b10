"""The target `mlir-tensorrt`: NVIDIA's own compiler, where it is installed.

It is looked for and not driven: its wheels are not on PyPI, need a GPU to build an engine, and
their Python interface differs from release to release. What it would be given is what
`tripybuild compile SPEC --emit tensorrt` prints.
"""

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, NoReturn

from tripybuild.diagnostics import Diagnostic, DiagnosticError

MODULE = "mlir_tensorrt"


def prepare() -> Callable[[bytes, Mapping[str, Any]], bytes]:
    """Refuse in words.

    Raises:
        DiagnosticError: Always, with what can be done instead.
    """
    return _refuse()


def _refuse() -> NoReturn:
    if find_spec(MODULE) is None:
        message = "The target `mlir-tensorrt` needs a library that cannot be used here"
        note = f"No module named '{MODULE}'"
        hint = "its wheels are not on PyPI: docs/targets.md says where they are"
    else:
        message = "The target `mlir-tensorrt` is not driven by this version of tripybuild"
        note = "its compiler takes what `--emit tensorrt` prints"
        hint = "`tensorrt-rtx` builds engines of the same module"
    raise DiagnosticError(Diagnostic("target-unavailable", message, notes=(note,), hint=hint))
