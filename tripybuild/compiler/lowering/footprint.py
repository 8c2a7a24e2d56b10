"""Memory footprint: a lower bound for a graph of fixed sizes, compared with available memory.

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
from tripybuild.trace.region import walk_operations
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
    operations = list(walk_operations(graph.operations))
    largest = max(_results(operations), key=lambda each: byte_size(each[0]), default=None)
    held = _total_bytes(graph.weights) + _total_bytes(graph.inputs) + _total_bytes(graph.outputs)
    between = 0 if largest is None else byte_size(largest[0])
    met = memory.limit() if held + between > _LITTLE else None
    if met is None or not met.size < held + between <= LARGEST:  # beyond that, none can count it
        return ()
    for name, value in (*graph.weights.items(), *graph.outputs.items()):
        if byte_size(value) > met.size:
            raise DiagnosticError(_memory_diagnostic(f"`{name}`", value, met, value.producer))
    if largest is not None and between > met.size:
        found = _memory_diagnostic(
            f"the result of `{largest[1].operator}`", largest[0], met, largest[1]
        )
        if dense:
            raise DiagnosticError(found)
        return (found,)
    most = memory.format_bytes(between)
    sizes = f"{memory.format_bytes(held)}, and the largest result between {most}"
    message = f"the weights, inputs and outputs of `{graph.name}` take {sizes}"
    return (memory.memory_diagnostic(message, at=met),)


_LITTLE = 1 << 28  # bytes that are not worth a look at the limits


def _memory_diagnostic(
    name: str, value: Value, met: memory.MemoryLimit, maker: TraceOp | None
) -> Diagnostic:
    message = f"{name} is {value.type}, which takes {memory.format_bytes(byte_size(value))}"
    span = None if maker is None else maker.location.span()
    return memory.memory_diagnostic(message, span=span, at=met)


def _results(operations: Iterable[TraceOp]) -> Iterator[tuple[Value, TraceOp]]:
    for operation in operations:
        yield from ((output, operation) for output in operation.outputs)


def _total_bytes(values: Mapping[str, Value]) -> int:
    return sum(map(byte_size, values.values()))


def byte_size(value: Value) -> int:
    """The bytes of a tensor; none where a size is not known."""
    sizes = [size for size in value.shape if isinstance(size, int)]
    return prod(sizes) * value.dtype.bits // 8 if len(sizes) == len(value.shape) else 0
