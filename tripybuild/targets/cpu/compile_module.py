"""Specialization: a graph is lowered for fixed sizes, compiled in the worker, and cached.

Compilation is content-addressed over the module, the target, the compiler with its flags, and the
processor. Places and names are no part of the module here: it is compiled without them, so that a
model's file and the same model in Python share what was compiled, and a moved line changes nothing.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from tripybuild.cache.explanation import PART
from tripybuild.cache.keys import CacheKey, key
from tripybuild.cache.records import entry_origin
from tripybuild.cache.store import Cache
from tripybuild.compiler.lowering.footprint import check_footprint
from tripybuild.compiler.lowering.lower import Place, lower_stablehlo
from tripybuild.compiler.lowering.specialize import check_laws, sizes_name, specialize_graph
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.errors.logger import logger
from tripybuild.stablehlo import HloModule
from tripybuild.stablehlo.functions import CallPlan, call_plan, function_modules
from tripybuild.stablehlo.module import bytecode
from tripybuild.stablehlo.sharding import device_count
from tripybuild.targets.cpu.compile_clock import CompileClock
from tripybuild.targets.xla import pjrt
from tripybuild.trace.graph import Graph
from tripybuild.types.size_range import SizeRange

if TYPE_CHECKING:
    from tripybuild.model.model_graph import ModelGraph  # which reads specifications

REFUSED = "compiler-failed"


@dataclass(frozen=True, slots=True)
class LoweredModule:
    """A graph in StableHLO, as MLIR bytecode with places and names.

    Args:
        whole: The module.
        programs: What is compiled of it, without places and with them: the functions that `@main`
            calls, or the module.
        plan: How `@main` calls them, where it does nothing else.
        warnings: What may not fit into memory.
    """

    whole: bytes
    programs: tuple[tuple[bytes, bytes], ...]
    plan: CallPlan | None
    warnings: tuple[Diagnostic, ...]


def stablehlo_module(built: "ModelGraph", graph: Graph, sizes: Mapping[str, int]) -> HloModule:
    """The StableHLO of a model for given sizes, to read and not to compile.

    Raises:
        DiagnosticError: For these, a law does not hold, or a size is divided by zero.
    """
    check_laws(built, graph, [sizes])
    return lower_stablehlo(specialize_graph(graph, sizes), outline=True)


def padded_module(
    graph: Graph,
    ranges: Mapping[str, SizeRange],
    folder: Path | None = None,
    place: Place = lambda _: None,
) -> HloModule:
    """The StableHLO of a graph for all sizes in ranges.

    Args:
        graph: The graph.
        ranges: The sizes; some have several.
        folder: What places are relative to.
        place: Where arguments are declared.

    Raises:
        DiagnosticError: A size is divided by zero, or a result would be another one than for a
            size alone.
    """
    bounds = {name: each.opt for name, each in ranges.items() if not each.is_static()}
    sizes = {n: each.symbol(n) if n in bounds else each.opt for n, each in ranges.items()}
    known = specialize_graph(graph, sizes)
    return lower_stablehlo(known, folder, outline=True, bounds=bounds, place=place)


def lower_graph(
    graph: Graph,
    ranges: Mapping[str, SizeRange],
    folder: Path | None = None,
    place: Place = lambda _: None,
) -> LoweredModule:
    """The StableHLO of a graph for sizes, or for all in ranges, as `padded_module` takes them.

    Raises:
        DiagnosticError: For these, a size is divided by zero, a result does not fit into memory, or
            would be another one than for a size alone.
    """
    largest = {name: each.opt for name, each in ranges.items()}
    with logger.log_time(f"lower {graph.name}, {sizes_name(largest)}, to StableHLO"):
        known = specialize_graph(graph, largest)
        warnings = check_footprint(known)
        if all(each.is_static() for each in ranges.values()):
            module = lower_stablehlo(known, folder, outline=True)
        else:
            module = padded_module(graph, ranges, folder, place)
    logger.mlir(module.text)
    whole, bare = module.mlir.operation, module.bare()
    plan = call_plan(bare)
    if plan is None:
        programs = [(bytecode(bare), bytecode(whole))]
    else:
        programs = list(zip(function_modules(bare), function_modules(whole), strict=True))
    return LoweredModule(bytecode(whole), tuple(programs), plan, warnings)


def compile_lowered(
    lowered: LoweredModule, clock: CompileClock | None = None
) -> tuple[bytes, tuple[Diagnostic, ...]]:
    """The executable payload of a lowered graph, and what was wrong with the cache.

    Each program has a place of its own in the cache: models that share a block share that.

    Raises:
        DiagnosticError: As `compile_module`.
    """
    clock = clock or CompileClock()
    made, count = [], len(lowered.programs)
    for number, (bare, located) in enumerate(lowered.programs, 1):
        with entry_origin({PART: f"{number}/{count}"} if count > 1 else {}):
            made.append(compile_module(bare, clock, located))
    warnings = tuple(dict.fromkeys(each for _, found in made for each in found))
    payloads = [payload for payload, _ in made]
    return payloads[0] if lowered.plan is None else pjrt.link(lowered.plan, payloads), warnings


def compile_module(
    module: bytes,
    clock: CompileClock | None = None,
    located: bytes | None = None,
    *,
    foreign: bool = False,
) -> tuple[bytes, tuple[Diagnostic, ...]]:
    """The executable payload of a StableHLO module, and what was wrong with the cache.

    Args:
        module: StableHLO, as text or bytecode.
        clock: Counts the compiler's time for all modules of a model.
        located: The same module with places, which the compiler's refusal then says.
        foreign: Whether it comes from a file, and is compiled only if it does nothing but compute.

    Raises:
        DiagnosticError: Where the compiler refuses the module, crashes, hangs or runs out of
            memory.
    """
    clock = clock or CompileClock()

    def make() -> bytes:
        try:
            return clock.compile("portable" if foreign else "cpu", module)
        except DiagnosticError as error:
            if located is None or any(each.code != REFUSED for each in error.diagnostics):
                raise
            return clock.compile("cpu", located)

    with logger.log_time("compile by XLA"):
        # A program of a file that is not trusted is compiled by this machine.
        cache = Cache(patience=clock.timeout, shared=not foreign)
        outcome = cache.get_or_make(cache_key(module), make)
    how = "was compiled of the same module, flags and version before" if outcome.hit else "is new"
    logger.verbose(f"cache {'hit' if outcome.hit else 'miss'}: XLA's program {how}")
    return outcome.content, outcome.warnings


def cache_key(module: bytes) -> CacheKey:
    """The key under which the cache keeps the payload of a module."""
    parts: dict[str, str | bytes] = {
        "what": "XLA program",
        "target": "cpu:xla",
        "module": sha256(module).digest(),
        **toolchain(),
    }
    if (devices := device_count(module)) > 1:
        parts["devices"] = f"{devices} of a processor, by Shardy"
    return key(parts)


def toolchain() -> dict[str, str]:
    """What a payload depends on beside its module."""
    # XLA reads its flags wherever it runs.
    return {"flags": os.environ.get("XLA_FLAGS", ""), **pjrt.identity()}
