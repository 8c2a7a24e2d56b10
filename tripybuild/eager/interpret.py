"""Small graphs computed by the references of their operators, as generated: without a compiler.

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

from tripybuild.diagnostics import Diagnostic, DiagnosticError
from tripybuild.eager.compositions import composition
from tripybuild.numerics.arrays import Array, rounded_quietly, working
from tripybuild.trace.constants import Constant
from tripybuild.trace.generated import decomposition, reference
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import Region
from tripybuild.trace.values import Value

Values = dict[Value, Array]
# NumPy says nothing of overflows in it. To copy it takes a tenth of the time of `np.errstate`.
_QUIET = copy_context()
_QUIET.run(np.seterr, all="ignore")


def computed(operations: Iterable[TraceOp], wanted: Sequence[Value]) -> list[Array]:
    """Compute operations in their order.

    Args:
        operations: What is to be computed.
        wanted: The values that are asked for.

    Returns:
        Their arrays, in their dtypes and shapes.

    Raises:
        DiagnosticError: An operation has no meaning here, such as one of another's code.
    """
    values: Values = {}
    _QUIET.copy().run(_run, operations, values)
    return [values[value] for value in wanted]


def _run(operations: Iterable[TraceOp], values: Values) -> None:
    """Each result is rounded to its dtype."""
    for operation in operations:
        if isinstance(operation, Constant):
            values[operation.outputs[0]] = operation.data.array
            continue
        results = _results(operation, values, operation)
        for output, result in zip(operation.outputs, results, strict=True):
            values[output] = rounded_quietly(result, output.type.dtype)


def _results(operation: TraceOp, values: Values, asked: TraceOp) -> Sequence[Any]:
    """The outputs of an operation, not yet rounded; it is a part of what was asked for."""
    empty = _read(operation, values)
    meaning = _meaning(type(operation))
    if meaning.function is None:
        return _composed(operation, values, asked)
    arguments = [_argument(getattr(operation, name), values) for name in meaning.tensors]
    if meaning.has_regions:
        outside = [values[value] for value in operation.captured]
        arguments += [_body(region, outside) for region in operation.bodies()]
    try:
        if not empty:
            result = meaning.function(operation, *arguments)
        else:
            with unwarned():
                result = meaning.function(operation, *arguments)
    except (IndexError, ValueError) as error:  # of what is known only now: positions, for one
        message = f"`{asked.operator}` cannot be computed: {error}"
        found = Diagnostic("wrong-value", message, asked.location.span())
        raise DiagnosticError(found) from error
    return result if isinstance(result, (list, tuple)) else [result]


def _read(operation: TraceOp, values: Values) -> bool:
    """Put constants that an operation reads among the values; tell whether it reads nothing."""
    empty = False
    for value in operation.reads():
        if (array := values.get(value)) is None:
            array = values[value] = _held(value)
        if not array.size:
            empty = True
    return empty


def _held(value: Value) -> Array:
    assert isinstance(value.producer, Constant), "all else was computed before"
    return value.producer.data.array


@dataclass(frozen=True, slots=True)
class _Meaning:
    """How operations of a class are computed: all that is asked for each one."""

    function: Callable[..., Any] | None
    tensors: tuple[str, ...]
    has_regions: bool


_meanings: dict[type[TraceOp], _Meaning] = {}


def _meaning(operation: type[TraceOp]) -> _Meaning:
    found = _meanings.get(operation)
    if found is None:
        has_regions = bool(operation.region_fields())
        found = _Meaning(reference(operation), operation.tensor_fields(), has_regions)
        _meanings[operation] = found
    return found


@contextmanager
def unwarned() -> Iterator[None]:
    """The mean of nothing is nan, of which NumPy warns in a way that is costly to stop."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def _body(region: Region, outside: Sequence[Array]) -> Callable[..., list[Array]]:
    """What a reference calls to run a region."""

    def run(*taken: Array) -> list[Array]:
        given = zip(region.takes, (*taken, *outside), strict=True)
        values = {value: rounded_quietly(array, value.dtype) for value, array in given}
        _run(region.operations, values)
        return [working(values[value]) for value in region.gives]

    return run


def _composed(operation: TraceOp, values: Values, asked: TraceOp) -> Sequence[Any]:
    """What an operation is made of, computed without rounding in between."""
    if decomposition(type(operation)) is None:
        message = f"`{operation.operator}` has no meaning outside of an engine"
        why = operation.declaration.refuses.get("reference", "")
        raise DiagnosticError(Diagnostic("target-unfit", message, asked.location.span(), why))
    made_of = composition(operation)
    inner = {
        value: values[read]
        for value, read in zip(made_of.reads, dict.fromkeys(operation.reads()), strict=True)
    }
    for step in made_of.steps:
        if not isinstance(step, Constant):
            inner.update(zip(step.outputs, _results(step, inner, asked), strict=True))
    return [inner[each] if each in inner else _held(each) for each in made_of.gives]


def _argument(argument: Any, values: Values) -> Any:
    """What a reference is given for an argument of an operation."""
    if isinstance(argument, Value):
        return working(values[argument])
    return None if argument is None else [working(values[each]) for each in argument]
