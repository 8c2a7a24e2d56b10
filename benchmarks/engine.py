"""The only benchmark module that touches tripybuild: adapt it here when the interface moves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

import tripybuild
from tripybuild.compiler import session
from tripybuild.compiler.lowering.lower import lower_stablehlo
from tripybuild.compiler.lowering.specialize import specialize_graph
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.graph_builder import build
from tripybuild.stablehlo.functions import call_plan, function_modules
from tripybuild.stablehlo.module import bytecode
from tripybuild.targets.cpu.compile_module import stablehlo_module as stablehlo_of_graph
from tripybuild.targets.xla import pjrt
from tripybuild.trace.graph import Graph

Array = NDArray[Any]
CACHE_VARIABLE = "TRIPYBUILD_CACHE_DIR"  # where compiled payloads are kept

Refusal = DiagnosticError
Executable = Callable[..., Mapping[str, Array]]


def executable(spec: Path, output: Path, sizes: Mapping[str, int], target: str = "cpu:xla") -> Path:
    """Compile a spec for the CPU, with the given sizes ahead of time."""
    tripybuild.compile(spec, target=target, output=output, shapes=[dict(sizes)])
    return output


def load(path: Path) -> Executable:
    """Load an executable: a callable from named arrays to named arrays."""
    return tripybuild.load(path)


def compile_model(
    spec: Path,
    target: str,
    sizes: Mapping[str, object],
    weights: Path,
    config: Mapping[str, object] | None,
    output: Path,
    shapes: Sequence[Mapping[str, int]] = (),
) -> None:
    """Compile a spec with the weights of a checkpoint into a file, ahead for some dynamic sizes."""
    tripybuild.compile(
        spec,
        target=target,
        sizes=sizes,
        weights=weights,
        config=config,
        output=output,
        shapes=shapes,
    )


def load_executable(path: Path) -> Any:
    """Load an executable with its entries and sessions."""
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


def compile_programs(
    spec: Path, settings: Mapping[str, object], sizes: Mapping[str, int], *, outline: bool
) -> Callable[[], bytes]:
    """Lower a spec for fixed sizes; return what compiles it in this process, past all caches.

    Args:
        spec: The model's file.
        settings: Sizes to put in the place of its own.
        sizes: Its dynamic sizes.
        outline: Whether a repeated block is compiled once.
    """
    module = lower_stablehlo(specialize_graph(graph_of(spec, settings), sizes), outline=outline)
    bare = module.bare()
    plan = call_plan(bare)
    if plan is None:
        whole = bytecode(bare)
        return lambda: pjrt.compile(whole)
    functions = function_modules(bare)
    return lambda: pjrt.link(plan, [pjrt.compile(each) for each in functions])


def graph_of(spec: Path, settings: Mapping[str, object]) -> Graph:
    """The graph of a spec with its dynamic sizes, and the weights that it needs."""
    graph = build(spec, settings).entry().graph
    used = {name: graph.weights[name] for name in graph.used_weights()}
    return replace(graph, weights=used)


def load_programs(payload: bytes, weights: Sequence[Array]) -> Callable[..., list[Array]]:
    """What calls a payload of `compile_programs` with arrays in the order of the inputs."""
    return pjrt.load(payload, weights)


def compile_decoder(
    spec: Path, checkpoint: Path, shapes: Sequence[Mapping[str, int]], output: Path, target: str
) -> None:
    """Compile a decoder for the CPU with the weights and the configuration of a folder."""
    tripybuild.compile(spec, weights=checkpoint, shapes=shapes, output=output, target=target)


def generator(path: Path, prompts: Sequence[Sequence[int]]) -> Callable[[int], Any]:
    """Load a decoder; return what generates so many tokens greedily, step by step."""
    loaded = tripybuild.load(path)
    return lambda count: tripybuild.generate(loaded, prompts, max_tokens=count)
