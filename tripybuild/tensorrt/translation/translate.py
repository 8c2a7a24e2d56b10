"""Translator: a function of the `tensorrt` dialect to a network, with origins of its layers.

Names are `arg0`, `result0` and so on, as mlir-tensorrt's are, unless an argument or a result has
the attribute `tripybuild.name`. An engine cannot give back an input, nor one tensor twice, so those
go through an identity.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseResourceAttr,
    DictionaryAttr,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.tensorrt.mlir import locations
from tripybuild.tensorrt.translation.constants import Array, NetworkConstants
from tripybuild.tensorrt.translation.emission import Emission
from tripybuild.tensorrt.translation.library import Library
from tripybuild.tensorrt.translation.log import Log
from tripybuild.types.dtypes import BY_NAME

NAME = "tripybuild.name"
DIMENSION_NAMES = "tensorrt.dimension_names"
HOST = "tensorrt.host_tensor"
SPACE = "plan.memory_space"  # nvtripy's way of saying the same
# What an engine may have as inputs; the others live only between layers.
INPUTS = frozenset(each.mlir for each in BY_NAME.values() if each.tensorrt)


@dataclass(frozen=True)
class Port:
    """An input or output of an engine, and the value that it is of."""

    index: int
    name: str
    value: SSAValue
    attributes: dict[str, Attribute]

    @property
    def type(self) -> TensorType[Any]:
        """The tensor type of the value."""
        type = self.value.type
        assert isinstance(type, TensorType)
        return type

    @property
    def is_dynamic(self) -> bool:
        """Whether a size is not known."""
        return DYNAMIC_INDEX in self.type.get_shape()

    @property
    def on_host(self) -> bool:
        """Whether the values, and not only the sizes, are known when an engine is prepared."""
        space = self.attributes.get(SPACE)
        return HOST in self.attributes or (space is not None and "host" in str(space))


def inputs_of(function: FuncOp) -> list[Port]:
    """Return the inputs that a function's arguments become."""
    return _ports("arg", function.body.block.args, function.arg_attrs)


def outputs_of(function: FuncOp) -> list[Port]:
    """Return the outputs that a function's results become."""
    last = function.body.block.last_op
    values = () if last is None else last.operands
    return _ports("result", values, function.res_attrs)


def _ports(
    word: str, values: Sequence[SSAValue], attributes: ArrayAttr[DictionaryAttr] | None
) -> list[Port]:
    given = list(attributes or ())
    ports = []
    for index, value in enumerate(values):
        data = given[index].data if index < len(given) else {}
        name = data.get(NAME)
        text = name.data if isinstance(name, StringAttr) else f"{word}{index}"
        ports.append(Port(index, text, value, dict(data)))
    return ports


def add_inputs(at: Emission, ports: Sequence[Port], function: Operation) -> None:
    """Add the inputs of a network."""
    at.names.enter(function)
    for port in ports:
        if not isinstance(port.value.type, TensorType):
            at.refuse(f"argument #{port.index} is a `{port.value.type}`, and not a ranked tensor")
        if at.element(port.value) not in INPUTS:
            at.refuse(f"argument #{port.index} cannot be a `{port.type}`: no engine takes those")
        shape = [-1 if size == DYNAMIC_INDEX else size for size in port.type.get_shape()]
        tensor = None
        if port.name not in at.names.owners:
            tensor = at.network.add_input(port.name, at.dtype(port.value), shape)
        if tensor is None:
            at.refuse(f"TensorRT refuses the input `{port.name}`, a `{port.type}`")
        at.names.owners[port.name] = function
        _name_dimensions(at, port, tensor)
        at.values[port.value] = tensor


def _name_dimensions(at: Emission, port: Port, tensor: Any) -> None:
    """Equal names are equal sizes to TensorRT, from when the names are given."""
    names = port.attributes.get(DIMENSION_NAMES)
    for index, name in names.data.items() if isinstance(names, DictionaryAttr) else ():
        if not index.isdigit() or int(index) >= len(port.type.get_shape()):
            at.refuse(f"argument #{port.index}, a `{port.type}`, has no dimension `{index}`")
        if isinstance(name, StringAttr):
            tensor.set_dimension_name(int(index), name.data)


def mark_outputs(
    at: Emission, ports: Sequence[Port], function: Operation
) -> list[list[int | None]]:
    """Mark the outputs of a network, and return their sizes."""
    at.names.enter(function)
    if not ports:
        at.refuse("An engine has at least one output")
    shapes: list[list[int | None]] = []
    given: set[int] = set()  # of tensors: two operations may have given the same one
    for port in ports:
        tensor = at.tensor(port.value)
        if tensor.is_network_input or id(tensor) in given:
            tensor = at.add("identity", tensor).get_output(0)
        given.add(id(tensor))
        if port.name in at.names.owners:
            at.refuse(f"two inputs or outputs are called `{port.name}`")
        tensor.name = port.name
        owner = port.value.owner
        at.names.owners[port.name] = owner if isinstance(owner, Operation) else function
        at.network.mark_output(tensor)
        shapes.append(at.reconcile_type(port.value, tensor)[1])
    said = at.log.drain()
    if said:
        at.refuse("TensorRT refuses the outputs", notes=said)
    return shapes


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
