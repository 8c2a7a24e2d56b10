"""The only benchmark module that touches tripybuild: adapt it here when the interface moves."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tripybuild

Array = NDArray[Any]
CACHE_VARIABLE = "TRIPYBUILD_CACHE"  # where compiled payloads are kept

Executable = Callable[..., Mapping[str, Array]]


class MissingError(RuntimeError):
    """This build of tripybuild does not have what a benchmark asks for."""


def _public(name: str) -> Any:
    if not hasattr(tripybuild, name):
        raise MissingError(f"`tripybuild.{name}` is not there yet")
    return getattr(tripybuild, name)


def executable(spec: Path, output: Path, sizes: Mapping[str, int]) -> Path:
    """Compile a spec for the CPU, with the given sizes ahead of time."""
    _public("compile")(spec, target="cpu", output=output, shapes=[dict(sizes)])
    return output


def load(path: Path) -> Executable:
    """Load an executable: a callable from named arrays to named arrays."""
    loaded: Executable = _public("load")(path)
    return loaded


def stablehlo(spec: Path, sizes: Mapping[str, int]) -> str:
    """Return the StableHLO text of a spec at concrete sizes, from the text of its file."""
    text: str = _public("compile")(spec, target="cpu", emit="stablehlo", shapes=[dict(sizes)])
    return text


def module_arguments(spec: Path, inputs: Mapping[str, Array]) -> list[Array]:
    """Return the arrays that the `main` of `stablehlo` takes, in its order."""
    return [np.asarray(array) for array in _public("module_arguments")(spec, inputs)]
