"""Translator: a function of the `tensorrt` dialect to a network, with origins of its layers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import DenseResourceAttr
from xdsl.dialects.func import FuncOp

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.tensorrt.mlir import locations
from tripybuild.tensorrt.translation.constants import Array, NetworkConstants
from tripybuild.tensorrt.translation.emission import Emission
from tripybuild.tensorrt.translation.library import Library
from tripybuild.tensorrt.translation.log import Log
from tripybuild.tensorrt.translation.signature import (
    Port,
    add_inputs,
    inputs_of,
    mark_outputs,
    outputs_of,
)

Stored = Callable[[DenseResourceAttr], Array | None]


@dataclass(frozen=True)
class Translation:
    """A whole network, its inputs and outputs; `emission` keeps its constants alive."""

    emission: Emission
    function: FuncOp
    inputs: list[Port]
    outputs: list[Port]
    output_shapes: list[list[int | None]]

    @property
    def network(self) -> Any:
        """The network definition."""
        return self.emission.network


def translate(
    library: Library,
    builder: Any,
    log: Log,
    function: FuncOp,
    named: Mapping[str, Array] | None = None,
    stored: Stored = lambda _: None,
) -> Translation:
    """Make a network of a function.

    Args:
        library: The TensorRT library to make it with.
        builder: A builder of the library, which says everything to the log.
        log: Where the library says what is wrong.
        function: A function of operations that are layers, in one block.
        named: The data of `dense_resource<name>` constants.
        stored: Gives the data of those that the module holds itself.

    Raises:
        DiagnosticError: TensorRT refuses an operation, or sees another type than the module does.
    """
    if len(function.body.blocks) != 1:
        where = locations.span_of(function.location)
        message = f"`{function.sym_name.data}` has {len(function.body.blocks)} blocks, and not one"
        raise DiagnosticError(Diagnostic("tensorrt-unsupported", message, where))
    network = library.network(builder)
    network.name = function.sym_name.data  # or a counter, which would make engines differ
    constants = NetworkConstants(_weights_of(library), named or {}, stored)
    emission = Emission(library, network, log, constants)
    inputs, outputs = inputs_of(function), outputs_of(function)
    add_inputs(emission, inputs, function)
    emission.block(function.body.block)
    shapes = mark_outputs(emission, outputs, function)
    return Translation(emission, function, inputs, outputs, shapes)


def _weights_of(library: Library) -> Callable[[str, int, int], Any]:
    weights = library.module.Weights

    def make(element: str, address: int, count: int) -> Any:
        return weights(library.dtype(element), address, count)

    return make
