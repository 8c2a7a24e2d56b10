"""Size limits of engines: bytes of a tensor, and NumPy's number of dimensions.

Invariant: what one target refuses for its size, all refuse.
"""

from math import prod

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.trace.graph import Graph
from tripybuild.trace.location import Location
from tripybuild.trace.region import walk_operations
from tripybuild.trace.values import LARGEST, Value

MOST_DIMENSIONS = 64  # of NumPy, by which all that goes in and comes out passes


def check_graph_bytes(graph: Graph) -> None:
    """Refuse a graph for what is known of its sizes; symbols can be anything.

    Raises:
        DiagnosticError: At the first tensor that is too large.
    """
    for name, value in (*graph.weights.items(), *graph.inputs.items()):
        check_tensor_bytes(value, f"`{name}`")
    for operation in walk_operations(graph.operations):
        for output in operation.outputs:
            check_tensor_bytes(output, "this", operation.location)


def check_tensor_bytes(value: Value, name: str, location: Location | None = None) -> None:
    """Refuse a tensor whose bytes no engine can count.

    Raises:
        DiagnosticError: It says how large it would be.
    """
    sizes = [size for size in value.shape if isinstance(size, int)]
    if min(sizes, default=0) < 0:
        message = f"{name} would be {value.type}, of a negative size"
    elif prod(filter(None, sizes)) * max(value.dtype.bits // 8, 1) > LARGEST:
        message = f"{name} would be {value.type}, which no engine can hold"
    elif len(value.shape) > MOST_DIMENSIONS:
        found = f"{name} would have {len(value.shape)} dimensions"
        message = f"{found}, but a tensor has at most {MOST_DIMENSIONS}"
    else:
        return
    span = None if location is None else location.span()
    raise DiagnosticError(Diagnostic("size-out-of-range", message, span))
