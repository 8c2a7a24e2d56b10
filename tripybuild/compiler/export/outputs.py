"""What an export may write over: models of ONNX, the data of those, and nothing that it reads."""

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.onnx.model_files import looks_like_model, read_locations
from tripybuild.process.output_files import check_overwrite
from tripybuild.weights.safetensors import LONGEST_HEADER, START

SUFFIX, DATA_SUFFIX = ".onnx", ".data"
_ELSEWHERE = "name another file with `-o`"


def model_paths(entries: Iterable[str], output: Path) -> Iterator[tuple[str, Path]]:
    """The file of each entry: `model.onnx`, or `model.encode.onnx` where there are several."""
    names = list(entries)
    for name in names:
        several = f"{output.stem}.{name}{output.suffix or SUFFIX}"
        yield name, output if len(names) == 1 else output.with_name(several)


def data_path(output: Path) -> Path:
    """The file of weights beside models."""
    return output.with_name(f"{output.name}{DATA_SUFFIX}")


def check_model_file(path: Path) -> None:
    """Refuse a file that would replace anything but a model of ONNX.

    Raises:
        DiagnosticError: Another file is there, or none can be.
    """
    check_overwrite(path, looks_like_model, "a model of ONNX")


def check_data_file(path: Path, models: Collection[Path]) -> None:
    """Refuse data that would replace anything but those of a model that is replaced as well.

    Raises:
        DiagnosticError: Another file is there, or models cannot name this one.
    """
    if not is_location(path.name):
        message = f"`{path}` cannot be written: models cannot name it, as it is not UTF-8"
        hint = f"{_ELSEWHERE}, or put the weights into the model with `--embed`"
        raise DiagnosticError(Diagnostic("output-unwritable", message, hint=hint))
    if path in models:
        message = f"`{path}` cannot be written: a model and its data would have this name"
        raise DiagnosticError(Diagnostic("output-unwritable", message, hint=_ELSEWHERE))

    def is_own(found: Path) -> bool:
        if _looks_like_safetensors(found):
            return False
        empty = not found.stat().st_size
        return empty or any(found.name in read_locations(model) for model in models)

    check_overwrite(path, is_own, "the data of a model that is replaced")


def check_inputs_stay(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Refuse to write over what is read, under whichever names.

    Raises:
        DiagnosticError: One of the outputs is one of the inputs.
    """
    inputs = list(inputs)
    for path in outputs:
        if any(_is_same(path, each) for each in inputs):
            message = f"`{path}` cannot be written: the export reads it"
            raise DiagnosticError(Diagnostic("output-unwritable", message, hint=_ELSEWHERE))


def is_location(name: str) -> bool:
    """Whether a model can name a file like this: its texts are UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except (OSError, ValueError):  # one of them is not there
        return os.path.realpath(path) == os.path.realpath(other)


def _looks_like_safetensors(path: Path) -> bool:
    """Whether a file begins as those of weights do, whole or not: such stay."""
    try:
        with path.open("rb") as file:
            head = file.read(START + 1)
    except OSError:
        return True
    return head[START:] == b"{" and int.from_bytes(head[:START], "little") <= LONGEST_HEADER
