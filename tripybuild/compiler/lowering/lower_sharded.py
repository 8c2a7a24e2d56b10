"""Lowering over a mesh: a graph to StableHLO whose tensors say how they are split."""

from collections.abc import Callable
from functools import partial
from typing import Any

from tripybuild.compiler.lowering.driver import LoweringDialect, argument_values, lower_all
from tripybuild.stablehlo import HloModule
from tripybuild.stablehlo.sharding import constrain, declare_mesh, sharding_attribute, split_main
from tripybuild.stablehlo.value import HloValue
from tripybuild.trace.graph import Graph, next_name
from tripybuild.trace.mesh import Mesh, all_dimensions, result_places
from tripybuild.trace.values import Value


def fill_sharded(module: HloModule, graph: Graph, mesh: Mesh, dialect: LoweringDialect) -> None:
    """Lower a graph into a module with a mesh.

    Arguments and results that `sharding:` does not name are whole on each device; values between
    are split as XLA finds best, but for those of steps that it names. What a state will be is split
    as the state is. No argument gives its memory away: its pieces are the caller's.
    """
    declare_mesh(module, mesh.axes)
    values = argument_values(module, graph)
    states = {next_name(name): name for name in graph.inputs}

    def split(name: str, value: Value) -> Any:
        axes = mesh.dimensions(states.get(name, name), len(value.shape))
        return sharding_attribute(module, axes)

    with module:
        module.finish(lower_all(module, graph, dialect, values, _constraints(graph, mesh)))
    arguments = [split(*each) for each in (*graph.weights.items(), *graph.inputs.items())]
    split_main(module, arguments, [split(*each) for each in graph.outputs.items()])


def _constraints(graph: Graph, mesh: Mesh) -> dict[Value, Callable[[HloValue], HloValue]]:
    """What splits the results of the steps that `sharding:` names."""
    return {
        value: partial(constrain, axes=all_dimensions(mesh.steps[place], len(value.shape)))
        for value, place in result_places(graph.operations).items()
        if place in mesh.steps
    }
