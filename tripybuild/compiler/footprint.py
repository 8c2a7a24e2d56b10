"""How much memory a graph of known sizes needs at least, compared with what there is.

What a graph gives must be in memory, and so must its weights: one of those that is larger than all
memory is refused before anything is compiled. A compiler may never hold as a whole what is computed
in between, so that a large one is a warning. The references hold each result as it is.
"""

from collections.abc import Iterable, Iterator, Mapping
from math import prod

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process import memory
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import walked
from tripybuild.trace.values import LARGEST, Value


def check_footprint(graph: Graph, *, dense: bool = False) -> tuple[Diagnostic, ...]:
    """Compare a graph with the limits of this process; sizes that are not known count for nothing.

    Args:
        graph: The graph.
        dense: Whether each result is held as a whole.

    Returns:
        Warnings of what may not fit.

    Raises:
        DiagnosticError: A tensor cannot fit.
    """
    operations = list(walked(graph.operations))
    largest = max(_results(operations), key=lambda each: _size(each[0]), default=None)
    held = _together(graph.weights) + _together(graph.inputs) + _together(graph.outputs)
    between = 0 if largest is None else _size(largest[0])
    met = memory.limit() if held + between > _LITTLE else None
    if met is None or not met.size < held + between <= LARGEST:  # beyond that, none can count it
        return ()
    for name, value in (*graph.weights.items(), *graph.outputs.items()):
        if _size(value) > met.size:
            raise DiagnosticError(_large(f"`{name}`", value, met, value.producer))
    if largest is not None and between > met.size:
        found = _large(f"the result of `{largest[1].operator}`", largest[0], met, largest[1])
        if dense:
            raise DiagnosticError(found)
        return (found,)
    sizes = f"{memory.spelled(held)}, and the largest result between {memory.spelled(between)}"
    message = f"the weights, inputs and outputs of `{graph.name}` take {sizes}"
    return (memory.exhausted(message, at=met),)


_LITTLE = 1 << 28  # bytes that are not worth a look at the limits


def _large(name: str, value: Value, met: memory.Limit, maker: TraceOp | None) -> Diagnostic:
    message = f"{name} is {value.type}, which takes {memory.spelled(_size(value))}"
    span = None if maker is None else maker.location.span()
    return memory.exhausted(message, span=span, at=met)


def _results(operations: Iterable[TraceOp]) -> Iterator[tuple[Value, TraceOp]]:
    for operation in operations:
        yield from ((output, operation) for output in operation.outputs)


def _together(values: Mapping[str, Value]) -> int:
    return sum(map(_size, values.values()))


def _size(value: Value) -> int:
    """The bytes of a tensor; none where a size is not known."""
    sizes = [size for size in value.shape if isinstance(size, int)]
    return prod(sizes) * value.dtype.bits // 8 if len(sizes) == len(value.shape) else 0
