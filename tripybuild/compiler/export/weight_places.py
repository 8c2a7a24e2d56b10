"""Where an exported model has its weights: in the files that hold them, beside it, or inside.

A file of weights is used as it is where ONNX can name it: below the model's folder, by no link, and
with the elements as ONNX has them. What is left is written into one file beside the model.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from tripybuild.compiler.export.outputs import is_location
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.onnx.constants import element_bytes
from tripybuild.onnx.model import ExternalData
from tripybuild.process.memory import format_bytes
from tripybuild.targets.graph_model import read_in_order
from tripybuild.trace.values import Value
from tripybuild.weights.safetensors import FileEntry
from tripybuild.weights.source import WeightSource

# Protocol Buffers count the bytes of a message with 31 bits.
LARGEST_FILE = 2**31 - 1
# Weights that fill pages begin at one, so that a runtime can map them.
PAGE, ALIGNMENT = 1 << 12, 64


@dataclass(frozen=True, slots=True)
class WeightPlaces:
    """Where the weights of a model are.

    Args:
        external: Those that stay where they are.
        files: The files that hold them.
        others: Those that have to be written, in the order of the model.
    """

    external: Mapping[str, ExternalData]
    files: tuple[Path, ...]
    others: Mapping[str, Value]


def find_places(weights: Mapping[str, Value], read: WeightSource, folder: Path) -> WeightPlaces:
    """Find the weights that a model in this folder can name where they are."""
    external: dict[str, ExternalData] = {}
    files = []
    for path, entries in read.file_entries(weights).items():
        location = _location(path, folder)
        fitting = {n: e for n, e in entries.items() if location and _fits(weights[n], e)}
        if location is not None and fitting:
            files.append(path)
            external |= {
                name: ExternalData(location, each.begin, each.end - each.begin)
                for name, each in fitting.items()
            }
    others = {name: value for name, value in weights.items() if name not in external}
    return WeightPlaces(external, tuple(files), others)


def _location(path: Path, folder: Path) -> str | None:
    """The path of a file as ONNX can have it: relative, downward, no link, and UTF-8."""
    try:
        real = path.resolve(strict=True)
        relative = real.relative_to(folder.resolve(strict=True))
        linked = real.stat().st_nlink > 1  # ONNX's own checker refuses both kinds of links
    except (OSError, RuntimeError, ValueError):
        return None
    location = relative.as_posix()
    return None if linked or not is_location(location) else location


def _fits(weight: Value, entry: FileEntry) -> bool:
    """Whether the file has the bytes that ONNX wants, where elements can be read as they are."""
    aligned = entry.begin % max(1, int(weight.dtype.itemsize)) == 0
    return aligned and 0 < entry.end - entry.begin == weight_bytes(weight)


def weight_bytes(weight: Value) -> int:
    """The bytes of a weight in a file of ONNX: two elements of 4 bits share one."""
    return math.ceil(math.prod(map(int, weight.shape)) * weight.dtype.bits / 8)


def read_bytes(
    weights: Mapping[str, Value], read: WeightSource, prepared: Iterable[str]
) -> Iterator[tuple[str, Any]]:
    """The bytes of weights, of which few are in memory at a time."""
    computed = [name for name in prepared if name in weights]
    stored = [name for name in weights if name not in computed]
    for name, array in read_in_order([*computed, *stored], weights, read, frozenset(computed)):
        yield name, element_bytes(array, weights[name].dtype)


def write_data(
    stream: BinaryIO,
    location: str,
    weights: Mapping[str, Value],
    contents: Iterable[tuple[str, Any]],
) -> dict[str, ExternalData]:
    """Write weights into a file of this name, and say where each is."""
    found: dict[str, ExternalData] = {}
    end = 0
    for name, content in contents:
        size = weight_bytes(weights[name])
        begin = end + -end % (PAGE if size >= PAGE else ALIGNMENT)
        stream.write(bytes(begin - end))
        stream.write(content)
        found[name] = ExternalData(location, begin, size)
        end = begin + size
    return found


def check_embedded(weights: Mapping[str, Value]) -> None:
    """Refuse to put more into one file than it can hold.

    Raises:
        DiagnosticError: The weights alone are larger.
    """
    total = sum(map(weight_bytes, weights.values()))
    if total > LARGEST_FILE:
        raise DiagnosticError(_too_large(total, "leave out `--embed`: weights are beside it then"))


def check_file_size(size: int) -> None:
    """Refuse a file that nothing could read.

    Raises:
        DiagnosticError: It has more bytes than Protocol Buffers can count.
    """
    if size > LARGEST_FILE:
        hint = "make weights of its large constants: those are beside it"
        raise DiagnosticError(_too_large(size, hint))


def _too_large(size: int, hint: str) -> Diagnostic:
    limit = format_bytes(LARGEST_FILE + 1)
    message = f"the file would have {format_bytes(size)}, and a file of ONNX has less than {limit}"
    return Diagnostic("onnx-too-large", message, hint=hint)
