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

from tripybuild.artifact.cache import Cache, key
from tripybuild.compiler.footprint import check_footprint
from tripybuild.compiler.lower import lower_stablehlo
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.errors.logger import logger
from tripybuild.targets.xla import pjrt
from tripybuild.trace.graph import Graph
from tripybuild.worker import compiler_process

REFUSED = "compiler-failed"


def sizes_name(sizes: Mapping[str, int]) -> str:
    """`B=8,S=64`, or `static` where there are no symbols: the name of a specialization."""
    return ",".join(f"{name}={sizes[name]}" for name in sorted(sizes)) or "static"


@dataclass(frozen=True, slots=True)
class LoweredModule:
    """A graph in StableHLO, as MLIR bytecode: with places and names, and without."""

    located: bytes
    bare: bytes
    warnings: tuple[Diagnostic, ...]


def specialize_graph(graph: Graph, sizes: Mapping[str, int]) -> Graph:
    """The graph with numbers for symbols.

    Raises:
        DiagnosticError: For these, a size is divided by zero.
    """
    try:
        return graph.substitute(sizes)
    except ZeroDivisionError as error:
        message = f"a size is divided by zero for {sizes_name(sizes)}"
        raise DiagnosticError(Diagnostic("size-out-of-range", message)) from error


def lower_graph(
    graph: Graph, sizes: Mapping[str, int], folder: Path | None = None
) -> LoweredModule:
    """The StableHLO of a graph for given sizes; places are relative to a folder.

    Raises:
        DiagnosticError: For these, a size is divided by zero, or a result does not fit into memory.
    """
    with logger.log_time(f"lower {graph.name}, {sizes_name(sizes)}, to StableHLO"):
        known = specialize_graph(graph, sizes)
        warnings = check_footprint(known)
        module = lower_stablehlo(known, folder)
    logger.mlir(module.text)
    return LoweredModule(module.bytecode(), module.bytecode(locations=False), warnings)


def compile_module(
    module: bytes,
    timeout: float | None = None,
    located: bytes | None = None,
    *,
    foreign: bool = False,
) -> tuple[bytes, tuple[Diagnostic, ...]]:
    """The executable payload of a StableHLO module, and what was wrong with the cache.

    Args:
        module: StableHLO, as text or bytecode.
        timeout: Seconds that the compiler may take.
        located: The same module with places, which the compiler's refusal then says.
        foreign: Whether it comes from a file, and is compiled only if it does nothing but compute.

    Raises:
        DiagnosticError: Where the compiler refuses the module, crashes, hangs or runs out of
            memory.
    """

    def make() -> bytes:
        session = compiler_process.session()
        try:
            return session.compile("portable" if foreign else "cpu", module, timeout=timeout)
        except DiagnosticError as error:
            if located is None or any(each.code != REFUSED for each in error.diagnostics):
                raise
            return session.compile("cpu", located, timeout=timeout)

    with logger.log_time("compile by XLA"):
        outcome = Cache(patience=timeout).get_or_make(cache_key(module), make)
    return outcome.content, outcome.warnings


def cache_key(module: bytes) -> str:
    """The key under which the cache keeps the payload of a module."""
    parts: dict[str, str | bytes] = {
        "target": "cpu",
        "module": sha256(module).digest(),
        "flags": os.environ.get("XLA_FLAGS", ""),  # XLA reads them wherever it runs
        **pjrt.identity(),
    }
    return key(parts)
