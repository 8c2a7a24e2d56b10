"""The state of `tripybuild run --state FILE`: read before a call, and written after it."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError

if TYPE_CHECKING:
    from tripybuild.artifact.array_bytes import Array
    from tripybuild.compiler.executable import Executable, ExecutableEntry
    from tripybuild.compiler.state_session import Session

KINDS = (".npz", ".safetensors")  # what holds several tensors


def session_of_file(
    path: Path, model: "Executable", entry: "ExecutableEntry", given: Mapping[str, "Array"]
) -> "Session":
    """A session that goes on where the file is; where there is none, one that begins.

    Raises:
        DiagnosticError: The file is no state of the model, or the model has none to begin with.
    """
    from tripybuild.compiler.state_session import (  # noqa: PLC0415
        declared_state,
        sizes_of_inputs,
        start_for_inputs,
        start_session,
    )

    if path.suffix not in KINDS:
        message = f"`{path}` cannot hold the state of a model"
        hint = f"give a file that ends in {' or '.join(KINDS)}"
        raise DiagnosticError(Diagnostic("array-unknown-kind", message, hint=hint))
    if not _exists(path):
        return start_for_inputs(model, entry, given)
    # The file has all states. A size that is only in expressions, such as `2 * N`, is an input's.
    sizes = sizes_of_inputs(model, entry, given, declared_state(model).tensors)
    try:
        return start_session(model, _read(path, model, sizes), sizes)
    except DiagnosticError as error:
        note = f"the state is read from `{path}`"
        found = [replace(each, notes=(*each.notes, note)) for each in error.diagnostics]
        raise DiagnosticError(*found) from error


def check_files(state: Path | None, output: Path | None) -> None:
    """Refuse names of files before there is anything to write into them.

    Raises:
        DiagnosticError: Outputs cannot be in such a file, or the state is to be in the same one.
    """
    from tripybuild.weights.array_files import check_output  # noqa: PLC0415

    if output is not None:
        check_output(output)
    if state is not None:
        check_other_file(state, output)


def check_other_file(state: Path, output: Path | None) -> None:
    """Refuse to write the outputs and the state to one file, which would lose the outputs.

    Raises:
        DiagnosticError: They are one file.
    """
    if output is not None and os.path.realpath(output) == os.path.realpath(state):
        message = f"`{state}` cannot hold both the outputs and the state"
        hint = "give `--output` and `--state` files of their own"
        raise DiagnosticError(Diagnostic("output-unwritable", message, hint=hint))


def _exists(path: Path) -> bool:
    from tripybuild.artifact.file_errors import unreadable_error  # noqa: PLC0415

    try:
        return path.exists()
    except OSError as error:  # a name that is too long, a folder that is closed
        raise unreadable_error(path, error) from error


def _read(path: Path, model: "Executable", sizes: Mapping[str, int]) -> dict[str, "Array"]:
    """The tensors of the file. A small file can hold large ones: first their types are checked."""
    from tripybuild.compiler.state_session import check_state, declared_state  # noqa: PLC0415
    from tripybuild.types.dtypes import BY_NAME  # noqa: PLC0415
    from tripybuild.weights.array_files import array_names, read, read_types  # noqa: PLC0415
    from tripybuild.weights.names import join_names  # noqa: PLC0415

    tensors, names = declared_state(model).tensors, array_names(path)
    dtypes = {name: BY_NAME[each["dtype"]].numpy for name, each in tensors.items()}
    if missing := [name for name in tensors if name not in names]:
        message = f"`{path}` lacks the state {', '.join(f'`{n}`' for n in join_names(missing))}"
        hint = "without the file, the state begins anew"
        raise DiagnosticError(Diagnostic("array-missing", message, hint=hint))
    check_state(model, read_types(path, names, dtypes), sizes)
    return {name: read(path, name, dtypes.get(name)) for name in names}
