"""Module verifier: problems in MLIR's words and order.

Invariant: every operation is looked at, and each says the first thing that is wrong with it: the
operations of our dialects by `problems`, others by xDSL's own checks. Regions and symbols are
checked after what is in them; whether values are defined before they are used, last of all.
`first_problems` looks no further than the first operation that fails, as MLIR does.
"""

from collections.abc import Iterator
from typing import Any

from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.tensorrt.mlir import structure
from tripybuild.tensorrt.mlir.locations import span_of

CODE = "mlir-invalid"


def problems(module: ModuleOp) -> list[Diagnostic]:
    """Give all that is wrong with a module; nothing, if it is well formed."""
    found = list(_within(module))
    return found or [diagnostic(*each) for each in structure.dominance_problems(module)]


def first_problems(module: ModuleOp) -> list[Diagnostic]:
    """Give what MLIR says: an operation as such, what is in it, and then how that fits."""
    return (
        _first(module) or [diagnostic(*each) for each in structure.dominance_problems(module)][:1]
    )


def diagnostic(operation: Operation, message: str, notes: tuple[str, ...] = ()) -> Diagnostic:
    """Say that something is wrong with an operation, at its place."""
    return Diagnostic(CODE, message, span_of(operation.location), notes=notes)


def _within(operation: Operation) -> Iterator[Diagnostic]:
    own = list(_own_diagnostics(operation))
    yield from own
    for each in structure.child_ops(operation):
        yield from _within(each)
    if not own:
        yield from (diagnostic(*found) for found in structure.problems(operation))


def _first(operation: Operation) -> list[Diagnostic]:
    ours: Any = operation
    has_inside = hasattr(operation, "own_problems")
    found = list(
        _problem_diagnostics(operation, ours.own_problems())
        if has_inside
        else _own_diagnostics(operation)
    )
    if found:
        return found
    for each in sorted(structure.child_ops(operation), key=_has_isolated_scope):
        if found := _first(each):
            return found
    fitting = list(_own_diagnostics(operation)) if has_inside else []
    return fitting or [diagnostic(*each) for each in structure.problems(operation)][:1]


def _has_isolated_scope(operation: Operation) -> bool:
    """Whether MLIR looks at the operation after its neighbors."""
    return bool(operation.regions) and operation.has_trait(
        IsolatedFromAbove, value_if_unregistered=False
    )


def _own_diagnostics(operation: Operation) -> Iterator[Diagnostic]:
    """Give what an operation itself says, without what is in it."""
    ours: Any = operation
    if isinstance(operation, UnregisteredOp | ModuleOp):
        return
    if hasattr(operation, "problems"):
        yield from _problem_diagnostics(operation, ours.problems())
    elif isinstance(operation, ReturnOp):
        for message in structure.return_problems(operation):
            yield diagnostic(operation, message)
    elif isinstance(operation, FuncOp):
        yield from _message_diagnostics(operation, structure.function_problems(operation))
        yield from _problem_diagnostics(operation, _argument_problems(operation))
    elif ends := list(structure.implicit_terminators(operation)):
        for message, notes in ends:
            yield diagnostic(operation, f"'{operation.name}' op {message}", notes)
    else:
        yield from _message_diagnostics(operation, _xdsl_problems(operation))


def _problem_diagnostics(operation: Operation, found: Iterator[Any]) -> Iterator[Diagnostic]:
    for each in found:
        yield diagnostic(each.at or operation, each.text(operation.name), each.notes)


def _argument_problems(function: FuncOp) -> Iterator[Any]:
    """Look at what arguments say about an engine, where they say something."""
    if any(name.startswith("tensorrt.") for each in function.arg_attrs or () for name in each.data):
        from tripybuild.tensorrt.dialect.functions import function_problems  # noqa: PLC0415

        yield from function_problems(function)


def _xdsl_problems(operation: Operation) -> Iterator[str]:
    """Give what xDSL says about an operation; its own checks of regions are left out."""
    try:
        operation.verify_()
    except (VerifyException, ValueError, AssertionError, AttributeError, TypeError) as error:
        yield " ".join(str(error).split()) or type(error).__name__


def _message_diagnostics(operation: Operation, messages: Iterator[str]) -> Iterator[Diagnostic]:
    for message in messages:
        yield diagnostic(operation, f"'{operation.name}' op {message}")
