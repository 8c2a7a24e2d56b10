"""The `reference` target: runs a graph by the references of its declarations."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process.paths import registry
from tripybuild.reference.execute import execute
from tripybuild.reference.numerics.arrays import Array
from tripybuild.schema.load import Registry, load
from tripybuild.trace.graph import Graph


@cache
def declarations() -> Registry:
    """The built-in registry, read once."""
    result, found = load([registry()])
    if found:
        raise DiagnosticError(*found)
    return result


def reference_run(
    graph: Graph, weights: Mapping[str, Any], registry: Registry | None = None
) -> Callable[[list[Array]], list[Array]]:
    """A function from the inputs of a graph, in order, to its outputs.

    The operators are those of a registry, which is the built-in one by default.
    """
    operators = (registry or declarations()).operators

    def run(arrays: list[Array]) -> list[Array]:
        given = {**weights, **dict(zip(graph.inputs, arrays, strict=True))}
        # A result can be an input or a weight as it is: the caller gets memory of its own.
        return [np.array(each) for each in execute(graph, operators, given).values()]

    return run
