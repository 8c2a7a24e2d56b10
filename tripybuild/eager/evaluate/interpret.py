"""Interpreter for small graphs: generated references, without a compiler.

A reference computes in float64 and is rounded once for each operation, so that its results are at
least as near as those of any engine.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

import numpy as np

from tripybuild.eager.evaluate.decomposition_cache import cached_decomposition
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.memory import memory_error
from tripybuild.reference.numerics.arrays import Array, round_cast_quiet, widen
from tripybuild.trace.constants import Constant
from tripybuild.trace.generated_code import decomposition_function, reference_function
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import Region
from tripybuild.trace.values import Value


class _Arrays:
    """What values hold, and the same as references compute on it, made once for all readers."""

    __slots__ = ("held", "wide")

    def __init__(self, held: dict[Value, Array], wide: dict[Value, Array]) -> None:
        self.held, self.wide = held, wide

    def read(self, value: Value) -> Array:
        """What a reference is given."""
        array = self.wide.get(value)
        if array is None:
            held = self.held.get(value)
            array = self.wide[value] = widen(_constant(value) if held is None else held)
        return array


# NumPy says nothing of overflows in it. To copy it takes a tenth of the time of `np.errstate`.
_QUIET = copy_context()
_QUIET.run(np.seterr, all="ignore")


def compute(operations: Iterable[TraceOp], wanted: Sequence[Value]) -> list[Array]:
    """Compute operations in their order.

    Args:
        operations: What is to be computed.
        wanted: The values that are asked for.

    Returns:
        Their arrays, in their dtypes and shapes.

    Raises:
        DiagnosticError: An operation has no meaning here, such as one of another's code.
    """
    arrays = _Arrays({}, {})
    _QUIET.copy().run(_run, operations, arrays)
    return [arrays.held[value] for value in wanted]


def _run(operations: Iterable[TraceOp], arrays: _Arrays) -> None:
    """Each result is rounded to its dtype."""
    held = arrays.held
    for operation in operations:
        if isinstance(operation, Constant):
            held[operation.outputs[0]] = operation.data.array
            continue
        results = _results(operation, arrays, operation)
        for output, result in zip(operation.outputs, results, strict=True):
            held[output] = round_cast_quiet(result, output.type.dtype)


def _results(operation: TraceOp, arrays: _Arrays, asked: TraceOp) -> Sequence[Any]:
    """The outputs of an operation, not yet rounded; it is a part of what was asked for."""
    meaning = _reference_of(type(operation))
    if meaning.function is None:
        return _compute_decomposition(operation, arrays, asked)
    arguments = [_argument(getattr(operation, name), arrays) for name in meaning.tensors]
    if meaning.has_regions:
        outside = [arrays.read(value) for value in operation.captured]
        arguments += [_body(region, outside) for region in operation.bodies()]
    try:
        if 0 not in [arrays.wide[value].size for value in operation.reads()]:
            result = meaning.function(operation, *arguments)
        else:
            with ignore_warnings():
                result = meaning.function(operation, *arguments)
    except MemoryError as error:
        message = f"`{asked.operator}` needs more memory than there is"
        types = [f"it gives {each.type}" for each in asked.outputs]
        raise memory_error(message, types, error, asked.location.span()) from error
    except (IndexError, ValueError) as error:  # of what is known only now: positions, for one
        message = f"`{asked.operator}` cannot be computed: {error}"
        found = Diagnostic("wrong-value", message, asked.location.span())
        raise DiagnosticError(found) from error
    return result if isinstance(result, (list, tuple)) else [result]


def _constant(value: Value) -> Array:
    assert isinstance(value.producer, Constant), "all else was computed before"
    return value.producer.data.array


@dataclass(frozen=True, slots=True)
class _OperationReference:
    """How operations of a class are computed: all that is asked for each one."""

    function: Callable[..., Any] | None
    tensors: tuple[str, ...]
    has_regions: bool


_meanings: dict[type[TraceOp], _OperationReference] = {}


def _reference_of(operation: type[TraceOp]) -> _OperationReference:
    found = _meanings.get(operation)
    if found is None:
        has_regions = bool(operation.region_fields())
        found = _OperationReference(
            reference_function(operation), operation.tensor_fields(), has_regions
        )
        _meanings[operation] = found
    return found


@contextmanager
def ignore_warnings() -> Iterator[None]:
    """The mean of nothing is nan, of which NumPy warns in a way that is costly to stop."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def _body(region: Region, outside: Sequence[Array]) -> Callable[..., list[Array]]:
    """What a reference calls to run a region."""

    def run(*taken: Array) -> list[Array]:
        given = zip(region.parameters, (*taken, *outside), strict=True)
        arrays = _Arrays({v: round_cast_quiet(array, v.dtype) for v, array in given}, {})
        _run(region.operations, arrays)
        return [arrays.read(value) for value in region.results]

    return run


def _compute_decomposition(operation: TraceOp, arrays: _Arrays, asked: TraceOp) -> Sequence[Any]:
    """What an operation is made of, computed without rounding in between."""
    if decomposition_function(type(operation)) is None:
        message = f"`{operation.operator}` has no meaning outside of an engine"
        why = operation.declaration.refuses.get("reference", "")
        raise DiagnosticError(Diagnostic("target-unfit", message, asked.location.span(), why))
    made_of = cached_decomposition(operation)
    read = map(arrays.read, dict.fromkeys(operation.reads()))
    inner = _Arrays({}, dict(zip(made_of.reads, read, strict=True)))
    for step in made_of.steps:
        if not isinstance(step, Constant):
            inner.held.update(zip(step.outputs, _results(step, inner, asked), strict=True))
    return [inner.read(each) for each in made_of.gives]


def _argument(argument: Any, arrays: _Arrays) -> Any:
    """What a reference is given for an argument of an operation."""
    if isinstance(argument, Value):
        return arrays.read(argument)
    return None if argument is None else [arrays.read(each) for each in argument]
