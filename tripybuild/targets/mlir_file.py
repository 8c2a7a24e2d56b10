"""Files of MLIR's text in the place of specs: how they are told apart, and what they lack."""

from pathlib import Path

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError

SUFFIX = ".mlir"


def is_mlir(path: Path) -> bool:
    """Whether a file is a module, and no spec."""
    return path.suffix == SUFFIX


def refuse_sizes(path: Path, *, sizes: object, shapes: object) -> None:
    """A module says its sizes and ranges itself.

    Raises:
        DiagnosticError: Others are asked for.
    """
    found = []
    if sizes:
        message = f"`{path}` is a module, and has no sizes that can be set"
        hint = "`--set` is for specs; write the sizes into the module's types"
        found.append(Diagnostic("unknown-size", message, hint=hint))
    if shapes:
        message = f"`{path}` is a module, and declares the sizes that it is compiled for"
        hint = "`--shapes` is for specs; give arguments a `tensorrt.shape_profile`"
        found.append(Diagnostic("unknown-size", message, hint=hint))
    if found:
        raise DiagnosticError(*found)
