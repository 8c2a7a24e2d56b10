"""Run a whole graph with the references of its operators: the `reference` target."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tripybuild.frontend.decompose import decomposed
from tripybuild.numerics.arrays import Array, rounded, working
from tripybuild.schema.operator import Operator
from tripybuild.schema.scope import region_names
from tripybuild.semantics.reference import run_reference
from tripybuild.trace.constants import Constant
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import Region
from tripybuild.trace.values import Size, Value
from tripybuild.types.dims import Dim
from tripybuild.types.patterns import LikePattern, RegionPattern


def execute(
    graph: Graph, operators: Mapping[str, Operator], arrays: Mapping[str, Array]
) -> dict[str, Array]:
    """Run a graph without symbols.

    Args:
        graph: The graph, substituted.
        operators: The declarations by name.
        arrays: The inputs and weights by name.

    Returns:
        The outputs by name, each rounded to its dtype.
    """
    values: dict[Value, Any] = {}
    for name, value in (*graph.inputs.items(), *graph.weights.items()):
        values[value] = arrays.get(name)
    _run(graph.operations, operators, values)
    return {name: np.asarray(values[value]) for name, value in graph.outputs.items()}


def _run(
    operations: Sequence[TraceOp], operators: Mapping[str, Operator], values: dict[Value, Any]
) -> None:
    """Run operations in their order; each result is rounded to its dtype."""
    for operation in operations:
        results = run_operation(operation, operators, values)
        for output, result in zip(operation.outputs, results, strict=True):
            values[output] = rounded(result, output.dtype)


def _given(pattern: RegionPattern, operation: TraceOp, region: Region) -> dict[str, object]:
    """The names of the dtypes and shapes that a region gives at its end."""
    before = 0
    for given in pattern.gives[:-1]:
        like = getattr(operation, given.name) if isinstance(given, LikePattern) else None
        before += len(like) if isinstance(like, tuple) else 1
    rest = region.gives[before:]
    facts = ([value.dtype for value in rest], [list(value.shape) for value in rest])
    names = zip(region_names(pattern), facts, strict=True)
    return {name: fact for name, fact in names if name is not None}


def _body(
    region: Region, outside: Sequence[Array], operators: Mapping[str, Operator]
) -> Callable[..., list[Array]]:
    """What a reference calls to run a region."""

    def run(*taken: Array) -> list[Array]:
        given = zip(region.takes, (*taken, *outside), strict=True)
        values = {value: rounded(array, value.dtype) for value, array in given}
        _run(region.operations, operators, values)
        return [working(values[value]) for value in region.gives]

    return run


def run_operation(
    operation: TraceOp, operators: Mapping[str, Operator], values: Mapping[Value, Any]
) -> list[Array]:
    """Run one operation; the results are not yet rounded.

    An operation without a `reference` is what it decomposes into, computed without rounding in
    between.
    """
    if isinstance(operation, Constant):
        return [working(operation.data.array)]
    operator = operators[operation.operator]
    if operator.reference is None:
        inner: dict[Value, Any] = dict(values)
        steps, outputs = decomposed(operation)
        for step in steps:
            inner.update(zip(step.outputs, run_operation(step, operators, inner), strict=True))
        return [inner[output] for output in outputs]
    arguments = operation.arguments()
    inputs = {name: _read(arguments[name], values) for name in operator.inputs}
    attributes = {name: arguments[name] for name in operator.attributes}
    outside = [values[value] for value in operation.captured]
    for name, pattern in operator.regions().items():
        attributes |= _given(pattern, operation, arguments[name])
        attributes[name] = _body(arguments[name], outside, operators)
    results = run_reference(operator, inputs, attributes)
    for output, result in zip(operation.outputs, results, strict=True):
        if not _fits(result.shape, output.shape):
            gave = f"the reference of `{operator.name}` gave shape {result.shape}"
            message = f"{gave}, declared {output.shape}"
            raise AssertionError(message)
    return results


def _fits(shape: Sequence[int], declared: Sequence[Size]) -> bool:
    """Whether a shape is the declared one; a size that depends on data has bounds alone."""
    return len(shape) == len(declared) and all(
        (size.low or 0) <= found <= (found if size.high is None else size.high)
        if isinstance(size, Dim)
        else found == size
        for found, size in zip(shape, declared, strict=True)
    )


def _read(argument: Any, values: Mapping[Value, Any]) -> Any:
    """The arrays of an operand; in a decomposition they are float64 whatever is declared."""
    if isinstance(argument, tuple):
        return [_read(item, values) for item in argument]
    return None if argument is None else values[argument]
