"""Files with what ONNX Runtime made of a model: the data of weights, and behind them the graph.

The library writes two files, and the graph names the other one. Its own format, which is one file,
lets weights begin anywhere: kernels that read them there take an eighth longer (ResNet-50), since
each of their loads touches two lines of the processor's cache.
"""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from mmap import mmap
from pathlib import Path
from typing import Any

import numpy as np

from tripybuild.onnx.model_files import StoredTensor, read_stored, repeats_names
from tripybuild.onnx.table import BY_CODE
from tripybuild.targets.onnx_runtime.arrays import Array
from tripybuild.types.dtypes import dtype

# How sessions write: smaller weights stay in the graph.
LARGE = 1 << 16  # bytes
ALIGNMENT = 64  # bytes of a line of the cache
_FILE_ENTRY = "session.optimized_model_external_initializers_file_name"
_SIZE_ENTRY = "session.optimized_model_external_initializers_min_size_in_bytes"
_COUNT = 8  # bytes at the end: how many the graph has
_GRAPH_PREFIX = ".graph"


@dataclass(frozen=True)
class OptimizedFile:
    """What is in a file, which is mapped as long as this is.

    Args:
        content: The file.

    Raises:
        ValueError: Of each property: the file has another form.
    """

    content: mmap

    @property
    def _graph(self) -> slice:
        end = len(self.content) - _COUNT
        count = int.from_bytes(self.content[end:], "little")
        if not 0 < count <= end:
            raise ValueError(count)
        return slice(end - count, end)

    @property
    def model(self) -> bytes:
        """The graph; the data of large weights are not in it."""
        return self.content[self._graph]

    @cached_property
    def weights(self) -> Mapping[str, tuple[dtype, Array]]:
        """The large weights with their dtypes, where kernels read them at once."""
        self.content.seek(self._graph.start)
        stored = list(read_stored(self.content, self._graph.stop))
        if not all(each.code in BY_CODE for each in stored):
            raise ValueError(stored)
        return {each.name: (BY_CODE[each.code], self._array(each)) for each in stored}

    def _array(self, stored: StoredTensor) -> Array:
        """The array of a weight: where it is in the file, or a copy that begins a line."""
        type, shape = BY_CODE[stored.code], stored.shape
        found: Array = np.frombuffer(self.content, np.uint8, stored.size, stored.offset)
        if type.itemsize < 1:  # the array has a byte for each, and the values are in its first ones
            space = np.empty(shape, np.uint8)
            space.reshape(-1)[: stored.size] = found
            return space
        if stored.offset % ALIGNMENT:
            found = _aligned_copy(found)
        return found.view(type.numpy).reshape(shape)


def _aligned_copy(octets: Array) -> Array:
    space = np.empty(octets.size + ALIGNMENT, np.uint8)
    begin = -space.ctypes.data % ALIGNMENT
    found = space[begin : begin + octets.size]
    found[:] = octets
    return found


def settings_of(output: Path) -> Mapping[str, str]:
    """The entries of a session's configuration with which it writes beside `graph_path`."""
    return {_FILE_ENTRY: output.name, _SIZE_ENTRY: str(LARGE)}


def graph_path(output: Path) -> Path:
    """Where a session writes the graph whose weights it writes to the output."""
    return output.with_name(_GRAPH_PREFIX + output.name)


def write_optimized(output: Path, stand_in: str, make: Callable[[], Any]) -> Any:
    """Have a session write both files, make one of them, and return the session.

    The output stays empty where the library would not load it: in bodies it may give what it lays
    out anew names that it has given outside.

    Args:
        output: The file, in whose place there may be an empty one.
        stand_in: The name of a file that is there wherever this one is loaded, since the library
            looks for what the graph names, and then reads the arrays that it is given.
        make: Makes the session.

    Raises:
        Exception: What the session raises, or an `OSError`; the output is empty then.
    """
    graph = graph_path(output)
    try:
        made = make()
        content = graph.read_bytes()
        if repeats_names(BytesIO(content), len(content)):
            output.write_bytes(b"")
        else:
            _append_graph(output, content, stand_in)
    except BaseException:
        with contextlib.suppress(OSError):
            output.write_bytes(b"")
        raise
    finally:
        with contextlib.suppress(OSError):
            graph.unlink()
    return made


def _append_graph(output: Path, content: bytes, stand_in: str) -> None:
    """Put the graph behind the data, and the number of its bytes behind that."""
    # A path of as many bytes, so that no length around it changes.
    surplus = len(output.name) - len(stand_in)
    path = "./" * (surplus // 2) + "/" * (surplus % 2) + stand_in
    content = content.replace(output.name.encode(), path.encode())
    with output.open("ab") as file:
        file.write(content + len(content).to_bytes(_COUNT, "little"))
