"""Memory footprint: a lower bound for a graph of fixed sizes, compared with available memory.

What a graph gives must be in memory, and so must its weights: one of those that is larger than all
memory is refused before anything is compiled. A compiler may never hold as a whole what is computed
in between, so that a large one is a warning. The references hold each result as it is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

from tripybuild.compiler.lowering.specialize import specialize_graph
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.model.size_limits import check_graph_bytes
from tripybuild.process import memory
from tripybuild.symbolic.dims import Dim
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


def check_results(graph: Graph, sizes: Mapping[str, int], numbers: Mapping[Dim, int]) -> None:
    """Compare all results of a graph for the sizes of a call with the limits of this process.

    It is for engines that hold each as a whole.

    Args:
        graph: The graph, with symbols.
        sizes: The sizes.
        numbers: What its sizes are then (`GraphSizes.evaluate`).

    Raises:
        DiagnosticError: One cannot fit or be counted, as is said of the specialized graph.
    """
    results = [each for each, _ in _results(walk_operations(graph.operations))]
    values = (*graph.inputs.values(), *results)
    largest = max((_bytes_for(each, numbers) for each in values), default=0)
    met = memory.limit() if largest > _LITTLE else None
    if largest > (LARGEST if met is None else met.size):
        known = specialize_graph(graph, sizes)
        check_graph_bytes(known)
        check_footprint(known, dense=True)


def _bytes_for(value: Value, numbers: Mapping[Dim, int]) -> int:
    """The bytes of a tensor for known sizes; none where data tells one."""
    sizes = [numbers.get(each) if isinstance(each, Dim) else each for each in value.shape]
    known = [each for each in sizes if each is not None]
    return prod(known) * value.dtype.bits // 8 if len(known) == len(sizes) else 0


def check_together(recipes: Mapping[str, Graph]) -> None:
    """Compare what is held while weights are computed, one after the other, with the limits.

    Args:
        recipes: How each is computed, in their order; the references hold each result as it is.

    Raises:
        DiagnosticError: At the first one that does not fit beside what is held for later ones.
    """
    from tripybuild.weights.prepared import last_readers, recipe_span  # noqa: PLC0415 - it computes

    last = last_readers(recipes)
    met: memory.MemoryLimit | None = None
    held = 0
    for name, recipe in recipes.items():
        read = sum(byte_size(v) for each, v in recipe.weights.items() if each not in recipes)
        between = _peak_bytes(recipe.operations, recipe.outputs.values())
        total = held + read + between
        if met is None and total > _LITTLE:
            met = memory.limit()
        if met is not None and total > met.size:
            sizes = [memory.format_bytes(each) for each in (total, held, read + between)]
            message = f"to compute the prepared weight `{name}` takes {sizes[0]}"
            note = f"{sizes[1]} of prepared weights that are read again, and {sizes[2]} of its own"
            span = recipe_span(recipe)
            raise DiagnosticError(memory.memory_diagnostic(message, [note], span, met))
        if name in last:
            held += byte_size(recipe.outputs[name])
        held -= sum(
            byte_size(recipes[each].outputs[each])
            for each in recipe.weights
            if each in recipes and last[each] == name
        )


def _peak_bytes(operations: Sequence[TraceOp], kept: Iterable[Value]) -> int:
    """The most bytes of results that are held at once, each until its last reader."""
    last = {value: operation for operation in operations for value in operation.reads()}
    last = {value: reader for value, reader in last.items() if value.producer is not None}
    for value in kept:
        last.pop(value, None)
    dead: dict[TraceOp, int] = {}
    for value, reader in last.items():
        dead[reader] = dead.get(reader, 0) + byte_size(value)
    held = most = 0
    for operation in operations:
        held += sum(map(byte_size, operation.outputs))
        inside = (_peak_bytes(body.operations, body.results) for body in operation.bodies())
        most = max(most, held + max(inside, default=0))
        held -= dead.get(operation, 0)
    return most


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
