"""Array files: inputs and outputs of a run as `.npy`, `.npz` and safetensors.

Nothing is unpickled. NumPy's own formats cannot say `bfloat16`, `float8` or `int4`: such tensors
are raw bytes in them, which are read only where the caller states the dtype.
"""

import contextlib
import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from tokenize import TokenError  # of headers: NumPy mends those of Python 2
from typing import IO, Any

import numpy as np

from tripybuild.artifact.array_bytes import Array, DType
from tripybuild.artifact.file_errors import refuse_pipe, unreadable_error
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.process.atomic_write import atomic_write
from tripybuild.weights import safetensors

REGISTERED = 2  # what NumPy says of the dtypes of ml_dtypes
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
READERS = (".npy", ".npz", ".safetensors")
WRITERS = (".npz", ".safetensors")
NPY_HEADERS: Mapping[tuple[int, int], Callable[..., Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
UNREADABLE = (
    *(ValueError, EOFError, MemoryError, OverflowError, RecursionError, SyntaxError, TypeError),
    *(KeyError, NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error, TokenError),
)


def read(path: Path, name: str, dtype: DType | None = None) -> Array:
    """Read one tensor, in this machine's byte order and row by row.

    Args:
        path: A `.npy` file, or a `.npz` or safetensors file with one tensor or one of that name.
        name: The tensor's name.
        dtype: What raw bytes stand for; an array with a dtype of its own keeps that.

    Raises:
        DiagnosticError: There is no such file or tensor, or it is malformed.
    """
    found = _load_array(path, name)
    own = found.dtype.isbuiltin == REGISTERED or found.dtype.kind in "biufc"
    if not own and found.dtype.kind == "V" and found.dtype.names is None:
        return _from_raw_bytes(found, path, name, dtype)
    if not own:
        raise _malformed_error(
            path, f"`{name}` holds `{found.dtype}`, which is not a tensor's dtype"
        )
    native = found.astype(found.dtype.newbyteorder("="), copy=False)
    return native if native.flags.c_contiguous else np.ascontiguousarray(native)


def _load_array(path: Path, name: str) -> Array:
    with _report_errors(path):
        refuse_pipe(path)
    match path.suffix:
        case ".safetensors":
            known = safetensors.read_index(path)
            chosen = _choose_name(path, name, list(known))
            return safetensors.read(path, [chosen])[chosen]
        case ".npy":
            with _report_errors(path), path.open("rb") as file:
                return np.lib.format.read_array(file, allow_pickle=False)
        case ".npz":
            with _report_errors(path), zipfile.ZipFile(path) as archive:
                names = [each.removesuffix(".npy") for each in archive.namelist()]
                with archive.open(f"{_choose_name(path, name, names)}.npy") as member:
                    return np.lib.format.read_array(member, allow_pickle=False)
    message = f"`{path}` is not of a kind that can be read"
    hint = f"give a file that ends in {', '.join(READERS)}"
    raise DiagnosticError(Diagnostic("array-unknown-kind", message, hint=hint))


def array_names(path: Path) -> list[str]:
    """The names of the tensors in a `.npz` or safetensors file.

    Raises:
        DiagnosticError: There is no such file, or it is malformed or of another kind.
    """
    with _report_errors(path):
        refuse_pipe(path)
    if path.suffix == ".safetensors":
        return list(safetensors.read_index(path))
    with _report_errors(path), zipfile.ZipFile(path) as archive:
        return [each.removesuffix(".npy") for each in archive.namelist()]


def read_types(path: Path, names: Iterable[str], dtypes: Mapping[str, DType]) -> dict[str, Array]:
    """Arrays that are like tensors of a `.npz` or safetensors file, and take no memory.

    Only headers are read. An array has the dtype and the shape of the tensor that `read` gives.

    Args:
        path: The file.
        names: Tensors that it has.
        dtypes: What raw bytes stand for, by the names of tensors.

    Raises:
        DiagnosticError: There is no such file, or it is malformed or of another kind.
    """
    if path.suffix == ".safetensors":
        index = safetensors.read_index(path)
        return {name: _like(*index[name]) for name in names}
    found = {}
    with _report_errors(path), zipfile.ZipFile(path) as archive:
        for name in names:
            with archive.open(f"{name}.npy") as member:
                dtype, shape = _read_npy_header(member)
            is_raw = dtype.kind == "V" and dtype.names is None
            if is_raw and name in dtypes and dtype.itemsize == dtypes[name].itemsize:
                dtype = dtypes[name]
            found[name] = _like(dtype.newbyteorder("="), shape)
    return found


def _read_npy_header(member: IO[bytes]) -> tuple[DType, tuple[int, ...]]:
    version = np.lib.format.read_magic(member)
    if version not in NPY_HEADERS:
        raise ValueError(f"its format {version} is for dtypes that no tensor has")
    shape, _, dtype = NPY_HEADERS[version](member)
    return dtype, shape


def _like(dtype: DType, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(np.empty((), dtype), shape)


def _choose_name(path: Path, name: str, known: list[str]) -> str:
    if name in known:
        return name
    if len(known) == 1:
        return known[0]
    near = suggest(name, known)
    hint = f"did you mean `{near}`?" if near else None
    message = f"`{path}` has {len(known)} tensors, and none is `{name}`"
    raise DiagnosticError(Diagnostic("array-missing", message, hint=hint))


def _from_raw_bytes(raw: Array, path: Path, name: str, dtype: DType | None) -> Array:
    if dtype is None:
        message = f"`{path}` holds raw bytes, and the dtype of `{name}` is not declared"
        hint = "use a safetensors file"
        raise DiagnosticError(Diagnostic("array-raw", message, hint=hint))
    if raw.dtype.itemsize != dtype.itemsize:
        found = f"elements of {raw.dtype.itemsize} bytes"
        raise _malformed_error(path, f"`{name}` is `{dtype}`, and the file holds {found}")
    return np.frombuffer(raw.tobytes(), dtype).reshape(raw.shape).copy()


def check_output(path: Path) -> None:
    """Refuse a name that reads as a file's of another kind, before there is anything to write.

    Raises:
        DiagnosticError: It has another suffix, and is no folder.
    """
    suffix = path.suffix[1:]
    if path.suffix in WRITERS or path.is_dir() or not (suffix.isalpha() or path.is_file()):
        return
    message = f"`{path}` cannot be written: it is not of a kind that can be"
    hint = f"name a file that ends in {' or '.join(WRITERS)}, or a folder, for a .npy file each"
    raise DiagnosticError(Diagnostic("output-unwritable", message, hint=hint))


def write(path: Path, arrays: Mapping[str, Array]) -> tuple[str, ...]:
    """Write tensors to a `.npz` or safetensors file, or each to a `.npy` file in a folder.

    Returns:
        The names of those that NumPy's formats hold as raw bytes.

    Raises:
        DiagnosticError: The format cannot hold a tensor, or the disk does not take it.
    """
    if path.suffix == ".safetensors":
        try:
            content = safetensors.encode(arrays)
        except ValueError as error:
            message = f"`{path}` cannot be written: {error}"
            raise DiagnosticError(Diagnostic("output-unwritable", message)) from error
        _write_file(path, content)
        return ()
    check_output(path)
    raw = tuple(name for name, array in arrays.items() if array.dtype.isbuiltin == REGISTERED)
    for name in arrays:
        if not NAME.fullmatch(name):  # an executable from elsewhere may name its outputs so
            message = f"`{path}` cannot be written: `{name}` is not a valid file name"
            raise DiagnosticError(Diagnostic("output-unwritable", message))
    if path.suffix == ".npz":
        _write_file(path, _npz(arrays))
        return raw
    _make_folder(path)
    for name, array in arrays.items():
        stream = io.BytesIO()
        np.lib.format.write_array(stream, _to_npy_dtype(array), allow_pickle=False)
        _write_file(path / f"{name}.npy", stream.getbuffer())
    return raw


def _npz(arrays: Mapping[str, Array]) -> memoryview:
    """Write arrays as `np.savez` does, but without the time and with all names allowed."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy")
            with archive.open(info, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, _to_npy_dtype(array), allow_pickle=False)
    return stream.getbuffer()


def _to_npy_dtype(array: Array) -> Array:
    """Return what NumPy's formats can say: a dtype of ml_dtypes becomes raw bytes."""
    if array.dtype.isbuiltin != REGISTERED:
        return array
    plain: Array = np.ascontiguousarray(array).view(f"V{array.dtype.itemsize}")
    return plain.reshape(array.shape)


def _write_file(path: Path, content: memoryview) -> None:
    with atomic_write(path) as stream:
        stream.write(content)


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"`{path}` cannot be made a folder: {error.strerror or error}"
        raise DiagnosticError(Diagnostic("output-unwritable", message)) from error


@contextlib.contextmanager
def _report_errors(path: Path) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's, on files from Python 2
            yield
    except FileNotFoundError as error:
        message = f"there is no file `{path}`"
        raise DiagnosticError(Diagnostic("file-not-found", message)) from error
    except OSError as error:
        raise unreadable_error(path, error) from error
    except UNREADABLE as error:
        raise _malformed_error(path, _first_line(error)) from error


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__


def _malformed_error(path: Path, reason: str) -> DiagnosticError:
    message = f"`{path}` cannot be read as tensors: {reason}"
    return DiagnosticError(Diagnostic("array-malformed", message))
