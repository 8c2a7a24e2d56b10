"""A graph for given sizes: lowered, compiled in the child process, and remembered.

Compilation is content-addressed over the module, the target, the compiler with
its flags, and the processor.
"""

import os
from collections.abc import Mapping
from hashlib import sha256

from tripybuild.build.cache import Cache, key
from tripybuild.build.lower import lower_stablehlo
from tripybuild.diagnostics import Diagnostic
from tripybuild.logger import logger
from tripybuild.targets import child, pjrt
from tripybuild.trace.graph import Graph


def sizes_name(sizes: Mapping[str, int]) -> str:
    """`B=8,S=64`, or `static` where there are no symbols: the name of a specialisation."""
    return ",".join(f"{name}={sizes[name]}" for name in sorted(sizes)) or "static"


def lowered(graph: Graph, sizes: Mapping[str, int]) -> bytes:
    """The StableHLO of a graph for given sizes, as MLIR bytecode with locations."""
    with logger.timed(f"lower {graph.name}, {sizes_name(sizes)}, to StableHLO"):
        module = lower_stablehlo(graph.substituted(sizes))
    logger.mlir(module.text)
    return module.bytecode()


def compiled(module: bytes, timeout: float | None = None) -> tuple[bytes, tuple[Diagnostic, ...]]:
    """The executable payload of a StableHLO module, and what was wrong with the cache.

    Args:
        module: StableHLO, as text or bytecode.
        timeout: Seconds that the compiler may take.

    Raises:
        DiagnosticError: Where the compiler refuses the module, crashes, hangs or runs out of
            memory.
    """
    parts: dict[str, str | bytes] = {
        "target": "cpu",
        "module": sha256(module).digest(),
        "flags": os.environ.get("XLA_FLAGS", ""),  # XLA reads them wherever it runs
        **pjrt.identity(),
    }
    session = child.session()
    with logger.timed("compile by XLA"):
        outcome = Cache(patience=timeout).get_or_make(
            key(parts), lambda: session.compile("cpu", module, timeout=timeout)
        )
    return outcome.content, outcome.warnings
