"""Lazy bindings of jaxlib and NumPy: nothing is imported before the first module begins.

Invariant: no other file of this package names either, so signatures can be inspected, and snippets
checked, in a process that never loads a compiler.
"""

from typing import Any

MODULES = frozenset({"chlo", "ir", "numpy", "passmanager", "registry", "sdy", "stablehlo"})


def __getattr__(name: str) -> Any:
    """Load the bindings at their first use; afterwards they are plain module globals."""
    if name not in MODULES:
        raise AttributeError(name)
    if name == "sdy":  # of few modules: 12 ms
        from jaxlib.mlir.dialects import sdy  # noqa: PLC0415

        globals().update(sdy=sdy)
        return sdy
    import numpy  # noqa: ICN001, PLC0415 - its name here is its name there
    from jaxlib.mlir import ir, passmanager  # noqa: PLC0415 - heavy: loaded when something is lowered
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext as registry  # noqa: PLC0415
    from jaxlib.mlir.dialects import chlo, stablehlo  # noqa: PLC0415

    globals().update(chlo=chlo, ir=ir, numpy=numpy, registry=registry, stablehlo=stablehlo)
    globals().update(passmanager=passmanager)
    return globals()[name]
