"""Graph executor of the `reference` target: runs a graph by its operators' references.

An operator whose declaration is not at hand, since it is of another registry, runs on the reference
that was generated from it: suites prove that both are one.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tripybuild.frontend.decompose import decompose_operation
from tripybuild.reference.interpreter import reference_argument, run_reference
from tripybuild.reference.numerics.arrays import Array, round_cast, widen
from tripybuild.schema.operator.operator import Operator
from tripybuild.schema.snippets.snippet_scope import region_names
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.constants import Constant
from tripybuild.trace.generated_code import reference_function
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import Region
from tripybuild.trace.values import Size, Value
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
            values[output] = round_cast(result, output.dtype)


def _result_names(pattern: RegionPattern, operation: TraceOp, region: Region) -> dict[str, object]:
    """The names of the dtypes and shapes that a region gives at its end."""
    before = 0
    for given in pattern.results[:-1]:
        like = getattr(operation, given.name) if isinstance(given, LikePattern) else None
        before += len(like) if isinstance(like, tuple) else 1
    rest = region.results[before:]
    facts = ([value.dtype for value in rest], [list(value.shape) for value in rest])
    names = zip(region_names(pattern), facts, strict=True)
    return {name: fact for name, fact in names if name is not None}


def _body(
    region: Region, outside: Sequence[Array], operators: Mapping[str, Operator]
) -> Callable[..., list[Array]]:
    """What a reference calls to run a region."""

    def run(*taken: Array) -> list[Array]:
        given = zip(region.parameters, (*taken, *outside), strict=True)
        values = {value: round_cast(array, value.dtype) for value, array in given}
        _run(region.operations, operators, values)
        return [widen(values[value]) for value in region.results]

    return run


def run_operation(
    operation: TraceOp, operators: Mapping[str, Operator], values: Mapping[Value, Any]
) -> list[Array]:
    """Run one operation; the results are not yet rounded.

    An operation without a `reference` is what it decomposes into, computed without rounding in
    between.
    """
    if isinstance(operation, Constant):
        return [widen(operation.data.array)]
    operator = operators.get(operation.operator)
    if operator is not None and operator.path != operation.declaration.source:
        operator = None  # the operation is of another registry
    compute = reference_function(type(operation)) if operator is None else None
    if compute is None and (operator is None or operator.reference is None):
        inner: dict[Value, Any] = dict(values)
        steps, outputs = decompose_operation(operation)
        for step in steps:
            inner.update(zip(step.outputs, run_operation(step, operators, inner), strict=True))
        return [inner[output] for output in outputs]
    if operator is None:
        assert compute is not None
        results = _call_reference(compute, operation, operators, values)
    else:
        results = _interpret_reference(operator, operation, operators, values)
    for output, result in zip(operation.outputs, results, strict=True):
        if not _fits(result.shape, output.shape):
            gave = f"the reference of `{operation.operator}` gave shape {result.shape}"
            message = f"{gave}, declared {output.shape}"
            raise AssertionError(message)
    return results


def _interpret_reference(
    operator: Operator,
    operation: TraceOp,
    operators: Mapping[str, Operator],
    values: Mapping[Value, Any],
) -> list[Array]:
    """The results of an operation by the reference of its declaration."""
    arguments = operation.arguments()
    inputs = {name: _read(arguments[name], values) for name in operator.inputs}
    attributes = {name: arguments[name] for name in operator.attributes}
    outside = [values[value] for value in operation.captured]
    for name, pattern in operator.regions().items():
        attributes |= _result_names(pattern, operation, arguments[name])
        attributes[name] = _body(arguments[name], outside, operators)
    return run_reference(operator, inputs, attributes)


def _call_reference(
    compute: Callable[..., Any],
    operation: TraceOp,
    operators: Mapping[str, Operator],
    values: Mapping[Value, Any],
) -> list[Array]:
    """The results of an operation by the reference that was generated."""
    read = [_read(getattr(operation, name), values) for name in operation.tensor_fields()]
    given: list[Any] = [None if each is None else reference_argument(each) for each in read]
    outside = [values[value] for value in operation.captured]
    given += [_body(region, outside, operators) for region in operation.bodies()]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the mean of nothing is nan
        result = compute(operation, *given)
    return [
        np.asarray(each) for each in (result if isinstance(result, (list, tuple)) else [result])
    ]


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
