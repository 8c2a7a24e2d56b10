"""GPU support of the dtypes in a graph.

A dtype counts where an operation reads or gives a tensor of it, and where the engine gives one. An
input that nothing reads counts for nothing.
"""

from collections.abc import Iterator

from tripybuild.schema.target_files import CommonFactsEntry
from tripybuild.trace.graph import Graph
from tripybuild.trace.region import walk_operations
from tripybuild.trace.values import Value


def gated_dtypes(graph: Graph, known: CommonFactsEntry) -> list[str]:
    """The dtypes of a graph that not every GPU has."""
    types = {str(value.dtype) for value in _active_values(graph)}
    return [name for name in known.needs if name in types]


def missing_dtypes(graph: Graph, known: CommonFactsEntry, gpu: str) -> list[str]:
    """The dtypes of a graph for which a GPU is too old."""
    return [name for name in gated_dtypes(graph, known) if is_older(known, gpu, known.needs[name])]


def is_older(known: CommonFactsEntry, gpu: str, other: str) -> bool:
    """Whether a GPU came before another one."""
    return known.gpus.index(gpu) < known.gpus.index(other)


def _active_values(graph: Graph) -> Iterator[Value]:
    yield from graph.outputs.values()
    for operation in walk_operations(graph.operations):
        yield from operation.reads()
        yield from operation.outputs
