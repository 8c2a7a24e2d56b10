"""What is wrong with a module, in MLIR's words and order.

Law: every operation is looked at, and each says the first thing that is wrong with it: the
operations of our dialects by `problems`, others by xDSL's own checks. Regions and symbols are
checked after what is in them; whether values are defined before they are used, last of all.
"""

from collections.abc import Iterator
from typing import Any

from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from tripybuild.diagnostics import Diagnostic
from tripybuild.dialects.mlir import structure
from tripybuild.dialects.mlir.locations import span_of

CODE = "mlir-invalid"


def problems(module: ModuleOp) -> list[Diagnostic]:
    """Give all that is wrong with a module; nothing, if it is well formed."""
    found = list(_within(module))
    return found or [
        diagnostic(operation, message, notes)
        for operation, message, notes in structure.undominated(module)
    ]


def diagnostic(operation: Operation, message: str, notes: tuple[str, ...] = ()) -> Diagnostic:
    """Say that something is wrong with an operation, at its place."""
    return Diagnostic(CODE, message, span_of(operation.location), notes=notes)


def _within(operation: Operation) -> Iterator[Diagnostic]:
    own = list(_own(operation))
    yield from own
    for region in operation.regions:
        for block in region.blocks:
            for each in block.ops:
                yield from _within(each)
    if not own:
        for message in structure.problems(operation):
            yield diagnostic(operation, message)


def _own(operation: Operation) -> Iterator[Diagnostic]:
    """Give what an operation itself says, without what is in it."""
    if isinstance(operation, UnregisteredOp):
        return
    ours: Any = operation
    if hasattr(operation, "problems"):
        for each in ours.problems():
            at = each.at or operation
            yield diagnostic(at, each.text(operation.name), each.notes)
        return
    if isinstance(operation, ReturnOp):
        yield from _spoken(operation, structure.returned(operation))
        return
    if isinstance(operation, FuncOp):
        yield from _spoken(operation, structure.function(operation))
        for each in _described(operation):
            yield diagnostic(operation, each.text(operation.name), each.notes)
        return
    try:
        operation.verify(verify_nested_ops=False)
    except (VerifyException, ValueError, AssertionError, AttributeError, TypeError) as error:
        text = (str(error) or type(error).__name__).splitlines()
        yield diagnostic(operation, f"'{operation.name}' op {' '.join(text)}")


def _described(function: FuncOp) -> Iterator[Any]:
    """Look at what arguments say about an engine, where they say something."""
    if any(name.startswith("tensorrt.") for each in function.arg_attrs or () for name in each.data):
        from tripybuild.dialects.tensorrt.ops.functions import (  # noqa: PLC0415  # it takes a while
            function_problems,
        )

        yield from function_problems(function)


def _spoken(operation: Operation, messages: Iterator[str]) -> Iterator[Diagnostic]:
    for message in messages:
        yield diagnostic(operation, f"'{operation.name}' op {message}")
