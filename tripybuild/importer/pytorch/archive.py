"""Archives of `.pt2` files: their directory, their JSON and their tensors, checked before use.

Invariant: nothing is read outside of the bounds that the archive and the file state, no tensor
before it is wanted, and nothing that is pickled.
"""

import json
import mmap
import struct
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np

from tripybuild.artifact.file_errors import unreadable_error
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.types.dtypes import dtype

_LARGEST_JSON = 1 << 30
_MOST_DIMENSIONS, _MOST_ELEMENTS = 64, 1 << 56
_SIGNATURE = b"PK\x03\x04"
_LOCAL_HEADER = struct.Struct("<26xHH")


def malformed(path: Path, reason: str, hint: str | None = None) -> DiagnosticError:
    """The error of a file that is not as it should be."""
    return DiagnosticError(
        Diagnostic("import-malformed", f"`{path}` cannot be read: {reason}", hint=hint)
    )


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive whose directory is read and checked."""

    path: Path
    members: Mapping[str, ZipInfo]
    size: int

    @classmethod
    def open(cls, path: Path) -> "Archive":
        """Read the directory of a file.

        Raises:
            DiagnosticError: It is no archive of an exported program.
        """
        try:
            size = path.stat().st_size
            with ZipFile(path) as archive:
                entries = archive.infolist()
        except FileNotFoundError as error:
            message = f"there is no file `{path}`"
            raise DiagnosticError(Diagnostic("file-not-found", message)) from error
        except OSError as error:
            raise unreadable_error(path, error) from error
        except (BadZipFile, ValueError, NotImplementedError, struct.error) as error:
            raise malformed(path, f"it is no whole archive ({error})") from error
        names = [entry.filename for entry in entries]
        if len(set(names)) != len(names):
            again = next(each for each in names if names.count(each) > 1)
            raise malformed(path, f"two of its files are called `{again}`")
        if any(name.endswith("serialized_exported_program.json") for name in names):
            message = (
                f"`{path}` holds pickled weights, as versions of PyTorch before 2.8 wrote them"
            )
            hint = "`torch.export.save(torch.export.load('model.pt2'), 'model.pt2')` writes it anew"
            raise DiagnosticError(Diagnostic("import-pickled", message, hint=hint))
        short = {entry.filename.partition("/")[2]: entry for entry in entries}
        if short.keys() >= {"byteorder", "archive_format"} or "models/model.json" in short:
            return cls(path, short, size)
        hint = "`torch.export.save(program, 'model.pt2')` writes what is read"
        raise malformed(path, "it holds no exported program", hint)

    def member(self, name: str) -> ZipInfo:
        """Give a file by its path below the archive's folder."""
        found = self.members.get(name)
        if found is None:
            models = [each for each in self.members if each.startswith("models/")]
            others = f": it has {', '.join(models)}" if models else ""
            raise malformed(self.path, f"it has no `{name}`{others}")
        return found

    def json(self, entry: ZipInfo) -> dict[str, Any]:
        """Read a file of JSON that is an object."""
        if entry.file_size > _LARGEST_JSON:
            raise malformed(self.path, f"`{entry.filename}` has {entry.file_size:,} bytes")
        try:
            with ZipFile(self.path) as archive, archive.open(entry) as member:
                found = json.loads(member.read(_LARGEST_JSON), object_pairs_hook=_unique)
        except (BadZipFile, OSError, ValueError, RecursionError, NotImplementedError) as error:
            raise malformed(self.path, f"`{entry.filename}` is damaged ({error})") from error
        if not isinstance(found, dict):
            raise malformed(self.path, f"`{entry.filename}` holds no object")
        return found

    def check_byte_order(self) -> None:
        """Refuse weights of a machine whose numbers begin with the other end."""
        if "byteorder" in self.members:
            start, size = self.octets(self.members["byteorder"])
            with self.path.open("rb") as file:
                file.seek(start)
                order = file.read(min(size, 16))
            if order != sys.byteorder.encode():
                raise malformed(self.path, f"its byte order is {order!r}")

    def octets(self, entry: ZipInfo) -> tuple[int, int]:
        """Where the bytes of a file are, and how many; it is not compressed."""
        name = entry.filename
        if entry.compress_type != ZIP_STORED or entry.flag_bits & 1:
            raise malformed(self.path, f"`{name}` is compressed")
        if entry.header_offset not in range(self.size):
            raise malformed(self.path, f"`{name}` is not within the file")
        with self.path.open("rb") as file:
            file.seek(entry.header_offset)
            header = file.read(_LOCAL_HEADER.size)
        if len(header) < _LOCAL_HEADER.size or not header.startswith(_SIGNATURE):
            raise malformed(self.path, f"`{name}` is not where the archive says")
        start = entry.header_offset + _LOCAL_HEADER.size + sum(_LOCAL_HEADER.unpack(header))
        if start + entry.file_size > self.size:
            raise malformed(self.path, f"`{name}` ends behind the end of the file")
        return start, entry.file_size


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        again = next(each for each in names if names.count(each) > 1)
        raise ValueError(f"`{again}` is there twice")
    return found


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor within an uncompressed file of an archive; `steps` and `offset` count elements."""

    path: Path
    start: int
    size: int
    dtype: dtype
    shape: Sequence[int]
    steps: Sequence[int]
    offset: int

    def problem(self) -> str | None:
        """Say what is wrong with its layout, if anything is: it may read its own bytes only."""
        numbers = [*self.shape, *self.steps, self.offset]
        if len(self.shape) != len(self.steps) or any(type(n) is not int or n < 0 for n in numbers):
            return "has a layout that is none"
        if len(self.shape) > _MOST_DIMENSIONS or prod(self.shape) > _MOST_ELEMENTS:
            return "has more elements or dimensions than an array can have"
        spans = ((n - 1) * step for n, step in zip(self.shape, self.steps, strict=True))
        elements = self.offset + sum(spans) + 1
        if prod(self.shape) and elements * self.dtype.itemsize > self.size:
            return "has more elements than bytes for them"
        return None

    def load(self) -> np.ndarray[Any, Any]:
        """Map its bytes; what is not in order is copied."""
        kind = self.dtype.numpy
        if not prod(self.shape):
            return np.zeros(self.shape, kind)
        before = self.start % mmap.ALLOCATIONGRANULARITY
        with self.path.open("rb") as file:
            mapped = mmap.mmap(
                file.fileno(),
                self.size + before,
                access=mmap.ACCESS_READ,
                offset=self.start - before,
            )
        count = self.size // kind.itemsize
        plain = np.frombuffer(mapped, kind, count, before)[self.offset :]
        steps = [step * kind.itemsize for step in self.steps]
        strided = np.lib.stride_tricks.as_strided(plain, self.shape, steps, writeable=False)
        return np.ascontiguousarray(strided).reshape(self.shape)
