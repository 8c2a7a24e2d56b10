"""MLIR context: the dialects that a text may use.

Invariant: a context has its own `builtin`, so that the resources of one module are no other's.
"""

from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Dialect

from tripybuild.tensorrt.mlir.plan import Plan
from tripybuild.tensorrt.mlir.quant import Quant
from tripybuild.tensorrt.mlir.resources import Resources


def new_context(*, allow_unregistered: bool = False) -> Context:
    """Make a context; a dialect is loaded when a text first uses it.

    Args:
        allow_unregistered: Whether a text may hold operations and attributes that nobody knows.
    """
    context = Context(allow_unregistered=allow_unregistered)
    context.load_dialect(own_builtin())
    for name, dialect in _dialects().items():
        context.register_dialect(name, dialect)
    return context


def own_builtin() -> Dialect:
    """Make a `builtin` with resources of its own."""
    operations, attributes = list(Builtin.operations), list(Builtin.attributes)
    return Dialect("builtin", operations, attributes, [Resources()])


def _dialects() -> dict[str, Callable[[], Dialect]]:
    known = {name: make for name, make in get_all_dialects().items() if name != "builtin"}
    ours: dict[str, Callable[[], Dialect]] = {
        "quant": lambda: Quant,
        "plan": lambda: Plan,
        "tensorrt": _tensorrt,
        "trtx": _trtx,
    }
    return {**known, **ours}


def _tensorrt() -> Dialect:
    from tripybuild.tensorrt.dialect import Tensorrt  # noqa: PLC0415  # it takes a while

    return Tensorrt


def _trtx() -> Dialect:
    from tripybuild.tensorrt.dialect import Trtx  # noqa: PLC0415  # it takes a while

    return Trtx
