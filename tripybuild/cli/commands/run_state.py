"""The state of `tripybuild run --state FILE`: read before a call, and written after it."""

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
    from tripybuild.compiler.state_session import start_for_inputs  # noqa: PLC0415

    if path.suffix not in KINDS:
        message = f"`{path}` cannot hold the state of a model"
        hint = f"give a file that ends in {' or '.join(KINDS)}"
        raise DiagnosticError(Diagnostic("array-unknown-kind", message, hint=hint))
    if not path.exists():
        return start_for_inputs(model, entry, given)
    try:
        return model.start(state=_read(path, model))
    except DiagnosticError as error:
        note = f"the state is read from `{path}`"
        found = [replace(each, notes=(*each.notes, note)) for each in error.diagnostics]
        raise DiagnosticError(*found) from error


def _read(path: Path, model: "Executable") -> dict[str, "Array"]:
    from tripybuild.compiler.state_session import declared_state  # noqa: PLC0415
    from tripybuild.types.dtypes import BY_NAME  # noqa: PLC0415
    from tripybuild.weights.array_files import array_names, read  # noqa: PLC0415
    from tripybuild.weights.names import join_names  # noqa: PLC0415

    tensors, names = declared_state(model).tensors, array_names(path)
    dtypes = {name: BY_NAME[each["dtype"]].numpy for name, each in tensors.items()}
    if missing := [name for name in tensors if name not in names]:
        message = f"`{path}` lacks the state {', '.join(f'`{n}`' for n in join_names(missing))}"
        hint = "without the file, the state begins anew"
        raise DiagnosticError(Diagnostic("array-missing", message, hint=hint))
    return {name: read(path, name, dtypes.get(name)) for name in names}
