"""The only benchmark module that touches tripybuild: adapt it here when the interface moves."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

import tripybuild
from tripybuild.compiler import session
from tripybuild.model.graph_builder import build
from tripybuild.targets.cpu.compile_module import stablehlo_module as stablehlo_of_graph

Array = NDArray[Any]
CACHE_VARIABLE = "TRIPYBUILD_CACHE_DIR"  # where compiled payloads are kept

Executable = Callable[..., Mapping[str, Array]]


def executable(spec: Path, output: Path, sizes: Mapping[str, int]) -> Path:
    """Compile a spec for the CPU, with the given sizes ahead of time."""
    tripybuild.compile(spec, target="cpu", output=output, shapes=[dict(sizes)])
    return output


def load(path: Path) -> Executable:
    """Load an executable: a callable from named arrays to named arrays."""
    return tripybuild.load(path)


def stablehlo(spec: Path, sizes: Mapping[str, int]) -> str:
    """Return the StableHLO text of a spec at concrete sizes, from the text of its file."""
    return tripybuild.emit(spec, "stablehlo", shapes=[dict(sizes)])


def stablehlo_module(spec: Path, sizes: Mapping[str, int]) -> object:
    """Build the verified StableHLO module of a spec from its file, without printing."""
    built = build(spec)
    (wanted,) = session.sizes_to_compile(built, [dict(sizes)]).values()
    return stablehlo_of_graph(built, built.graph, wanted[-1])


def module_arguments(path: Path, inputs: Mapping[str, Array]) -> list[Array]:
    """Return the arrays that `main` takes, in its order: weights, then inputs."""
    loaded = tripybuild.load(path)
    weights = [loaded.weights[name] for name in loaded.entry().graph.weights]
    return [*weights, *(inputs[name] for name in loaded.inputs)]
