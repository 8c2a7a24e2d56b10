"""Safetensors files as module parameters."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tripybuild.eager.evaluate.evaluate import array_of
from tripybuild.eager.tensor.tensor import Tensor
from tripybuild.process.atomic_write import atomic_write
from tripybuild.trace.constants import constant
from tripybuild.types.dtypes import from_numpy
from tripybuild.weights import safetensors


def save(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Write tensors to a file, each under its name.

    Raises:
        DiagnosticError: A tensor has no elements yet, or the file cannot be written.
    """
    content = safetensors.encode({name: array_of(tensor.value) for name, tensor in tensors.items()})
    with atomic_write(path) as stream:
        stream.write(content)


def tensors(path: Path) -> dict[str, Tensor]:
    """Read all tensors of a file.

    Raises:
        DiagnosticError: There is no such file, or it is malformed.
    """
    found: dict[str, Any] = {}
    for name, array in safetensors.read(path).items():
        found[name] = Tensor.of(constant(array, from_numpy(array.dtype)))
    return found
