"""Small graphs computed by the references of their operators, as generated: without a compiler.

A reference computes in float64 and is rounded once for each operation, so that its results are at
least as near as those of any engine.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tripybuild.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend.decompose import decomposed
from tripybuild.numerics.arrays import Array, rounded_quietly, working
from tripybuild.trace.constants import Constant
from tripybuild.trace.generated import decomposition, reference
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import Region
from tripybuild.trace.values import Value

Values = dict[Value, Array]


def computed(operations: Iterable[TraceOp], wanted: Sequence[Value]) -> list[Array]:
    """Compute operations in their order.

    Args:
        operations: What is to be computed, constants among it.
        wanted: The values that are asked for.

    Returns:
        Their arrays, in their dtypes and shapes.

    Raises:
        DiagnosticError: An operation has no meaning here, such as one of another's code.
    """
    values: Values = {}
    with np.errstate(all="ignore"):
        _run(operations, values)
    return [values[value] for value in wanted]


def _run(operations: Iterable[TraceOp], values: Values) -> None:
    """Each result is rounded to its dtype."""
    for operation in operations:
        if isinstance(operation, Constant):
            values[operation.outputs[0]] = operation.data.array
            continue
        for output, result in zip(operation.outputs, _results(operation, values), strict=True):
            values[output] = rounded_quietly(result, output.type.dtype)


def _results(operation: TraceOp, values: Mapping[Value, Array]) -> Sequence[Any]:
    """The outputs of an operation, not yet rounded."""
    function = reference(type(operation))
    if function is None:
        return _composed(operation, values)
    arguments = [_read(getattr(operation, name), values) for name in operation.tensor_fields()]
    if operation.region_fields():
        outside = [values[value] for value in operation.captured]
        arguments += [_body(region, outside) for region in operation.bodies()]
    try:
        if 0 not in [values[value].size for value in operation.reads()]:
            result = function(operation, *arguments)
        else:
            with unwarned():
                result = function(operation, *arguments)
    except (IndexError, ValueError) as error:  # of what is known only now: positions, for one
        message = f"`{operation.operator}` cannot be computed: {error}"
        found = Diagnostic("wrong-value", message, operation.location.span())
        raise DiagnosticError(found) from error
    return result if isinstance(result, (list, tuple)) else [result]


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


def _composed(operation: TraceOp, values: Mapping[Value, Array]) -> Sequence[Any]:
    """What an operation is made of, computed without rounding in between."""
    if decomposition(type(operation)) is None:
        message = f"`{operation.operator}` has no meaning outside of an engine"
        why = operation.declaration.refuses.get("reference", "")
        raise DiagnosticError(Diagnostic("target-unfit", message, operation.location.span(), why))
    inner = dict(values)
    steps, outputs = decomposed(operation)
    for step in steps:
        if isinstance(step, Constant):
            inner[step.outputs[0]] = step.data.array
        else:
            inner.update(zip(step.outputs, _results(step, inner), strict=True))
    return [inner[output] for output in outputs]


def _read(argument: Any, values: Mapping[Value, Array]) -> Any:
    if isinstance(argument, tuple):
        return [_read(item, values) for item in argument]
    return None if argument is None else working(values[argument])
