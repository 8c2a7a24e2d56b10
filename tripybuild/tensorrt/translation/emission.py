"""Network under construction: the API of layer emitters, and the check after each layer.

Invariant: every layer and tensor has a unique name that leads back to the operation it came from,
since TensorRT names what it refuses. After an operation the log is drained, and the shape and dtype
of each of its results are those of its MLIR types; so an error names the operation that caused it.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.tensorrt.mlir import locations
from tripybuild.tensorrt.translation.constants import ConstantDataError, NetworkConstants
from tripybuild.tensorrt.translation.failing_op import DIFFERS, UNTYPED
from tripybuild.tensorrt.translation.library import DTYPES, Library
from tripybuild.tensorrt.translation.log import Log
from tripybuild.tensorrt.translation.names import LayerNames
from tripybuild.tensorrt.translation.plugin import plugin_of
from tripybuild.types.dtypes import BY_MLIR

TENSOR_SUFFIX = "_output"  # as TensorRT itself calls the outputs of a layer
EXPAND = "run the pass `tensorrt-expand-ops` first"

Tensors = Sequence[Any]


class ElementKind(NamedTuple):
    """An element type: as MLIR writes it, its name in tripybuild, and the library's data type."""

    element: str
    name: str
    dtype: Any


def kind_of(element: Any, library: Library) -> ElementKind:
    """Return what an element type is; quantized ones are their integers."""
    word = "i8" if element.name == "quant.uniform" else str(element)
    return ElementKind(word, str(BY_MLIR.get(word, word)), library.dtype(word))


def merge_shapes(expected: Sequence[int], found: Sequence[int]) -> list[int | None] | None:
    """Return the sizes that one of two shapes knows, or None if they contradict each other."""
    if len(expected) != len(found):
        return None
    sizes: list[int | None] = []
    for one, other in zip(expected, found, strict=True):
        if other < 0:
            sizes.append(None if one == DYNAMIC_INDEX else one)
        elif one in (DYNAMIC_INDEX, other):
            sizes.append(other)
        else:
            return None
    return sizes


def type_text(shape: Sequence[int], dtype: Any, library: Library) -> str:
    """Return TensorRT's type of a tensor as MLIR would write it."""
    sizes = "".join(f"{'?' if size < 0 else size}x" for size in shape)
    known = (word for word in DTYPES if library.dtype(word) == dtype)
    return f"tensor<{sizes}{next(known, str(dtype))}>"


class Emission:
    """One network, and what its layers came from.

    Args:
        library: The TensorRT library that the network is one of.
        network: An empty network definition.
        log: Where the library says what is wrong.
        constants: Where the data of constants is.
    """

    def __init__(
        self,
        library: Library,
        network: Any,
        log: Log,
        constants: NetworkConstants,
    ) -> None:
        self.library = library
        self.network = network
        self.log = log
        self.constants = constants
        self.values: dict[SSAValue, Any] = {}
        self.shapes: dict[SSAValue, Any] = {}
        self.names = LayerNames()
        self.records: list[dict[str, Any]] = []
        self._kinds: dict[Attribute, ElementKind] = {}

    # What emitters use.

    def tensor(self, value: SSAValue) -> Any:
        """Return the tensor that a value has become."""
        return self.values[value]

    def add(self, kind: str, *arguments: Any) -> Any:
        """Add a layer, or whatever else networks add, and name it after the operation."""
        method = getattr(self.network, f"add_{kind}", None)
        if method is None:
            message = (
                f"`{self.names.op.name}` needs a layer that this release of "
                f"`{self.library.name}` does not have"
            )
            self.refuse(message, "tensorrt-unsupported")
        try:
            layer = method(*arguments)
        except TypeError as error:
            self.refuse(notes=(str(error).split("\n", maxsplit=1)[0],))
        return self.name_layer(layer)

    def name_layer(self, layer: Any) -> Any:
        """Name a layer after the operation that is being added, unless it was refused."""
        if layer is None:
            self.refuse()
        layer.name = self.names.unique()
        if self.names.metadata is not None and hasattr(layer, "metadata"):
            layer.metadata = self.names.metadata
        return layer

    def set(self, layer: Any, **fields: Any) -> Any:
        """Set the fields of a layer that are not None."""
        for name, value in fields.items():
            if value is not None:
                try:
                    setattr(layer, name, value)
                except (TypeError, AttributeError) as error:
                    first = str(error).split("\n", maxsplit=1)[0]
                    self.refuse(notes=(f"`{name}` cannot be {value!r}: {first}",))
        return layer

    def member(self, kind: str, name: str) -> Any:
        """Return the library's member of an enumeration."""
        found = self.library.member(kind, name)
        if found is None:
            message = f"`{self.library.name}` {self.library.version} has no `{kind}.{name}`"
            self.refuse(message, "tensorrt-unsupported")
        return found

    def kind(self, element: Any) -> ElementKind:
        """Return what an element type is here and in the library."""
        found = self._kinds.get(element)
        if found is None:
            found = kind_of(element, self.library)
            if found.dtype is None:
                message = f"`{self.library.name}` has no data type for `{found.element}`"
                self.refuse(message, "tensorrt-unsupported")
            self._kinds[element] = found
        return found

    def element(self, value: Any) -> str:
        """Return a value's element type as MLIR writes it; quantized ones are their integers."""
        return self.kind(value.type.element_type).element

    def dtype(self, value: Any) -> Any:
        """Return the library's data type of a value."""
        return self.kind(value.type.element_type).dtype

    def weights(self, attribute: Any | None) -> Any:
        """Return the weights of a constant attribute; without one, none."""
        try:
            if attribute is None:
                return None
            return self.constants.weights(attribute, self.element(attribute))
        except ConstantDataError as error:
            wrong = error.diagnostic
            self.refuse(wrong.message, wrong.code, wrong.notes, wrong.hint)

    def integer_array(self, numbers: Sequence[int]) -> Any:
        """Return integers as an array, which stays valid while the network is made."""
        return self._keep(np.array(numbers, np.int64))

    def integer_weights(self, number: int) -> Any:
        """Return an integer as the weights of a scalar."""
        return self.library.module.Weights(self._keep(np.array(number, np.int32)))

    def _keep(self, array: NDArray[Any]) -> NDArray[Any]:
        self.constants.kept.append(array)
        return array

    def plugin(self, op: Any) -> Any:
        """Return the plugin that an operation names."""
        return plugin_of(self, op)

    def refuse(
        self,
        message: str | None = None,
        code: str = "tensorrt-refused",
        notes: Sequence[str] = (),
        hint: str | None = None,
    ) -> NoReturn:
        """Raise what is wrong with the operation that is being added, in TensorRT's words."""
        said = message or f"TensorRT refuses `{self.names.op.name}`"
        where = locations.span_of(self.names.op.location)
        words = (*notes, *self.log.drain())
        raise DiagnosticError(Diagnostic(code, said, where, notes=words, hint=hint))

    # The way through a function.

    def block(self, block: Block) -> None:
        """Add the operations of a block, but for its last, which is its parent's."""
        outer = self.names.current()
        for op in block.ops:
            if op.next_op is not None:
                self.operation(op)
        self.names.resume(outer)

    def operation(self, op: Operation) -> None:
        """Add one operation, and compare its results with its types."""
        self.names.enter(op)
        tensors = self.translate(op)
        if self.log:  # a setter that was ignored comes before what follows from it
            self._complain()
        for result, tensor in zip(op.results, tensors, strict=True):
            self.values[result] = tensor
        self._check(op, tensors)

    def translate(self, op: Operation) -> Tensors:
        """Add an operation by its own method, which gives a layer or the tensors of results."""
        add: Callable[[Emission], Any] | None = getattr(op, "translate", None)
        if add is None:
            self._unknown(op.name)
        found = add(self)
        if isinstance(found, list | tuple):
            return found
        return [found.get_output(index) for index in range(len(op.results))]

    def _unknown(self, name: str) -> NoReturn:
        hint = None
        message = f"`{name}` is not an operation that becomes TensorRT layers"
        if name.startswith("tensorrt."):
            message, hint = f"`{name}` has no TensorRT layer of its own", EXPAND
        self.refuse(message, "tensorrt-unsupported", hint=hint)

    def _check(self, op: Operation, tensors: Tensors) -> None:
        names, outputs = self.names.given, []
        for index, (result, tensor) in enumerate(zip(op.results, tensors, strict=True)):
            if names:
                tensor.name = f"{names[-1]}{TENSOR_SUFFIX}{index or ''}"
            kind, shape = self.reconcile_type(result, tensor)
            outputs.append({"dtype": kind.name, "shape": shape})
        if self.log:
            self._complain(f"{UNTYPED} `{self.names.op.name}`")
        if names:
            name, place = names[-1], self.names.place
            record = {"name": name, "op": op.name, "location": place, "outputs": outputs}
            if len(names) > 1:
                record["others"] = names[:-1]
            self.records.append(record)

    def _complain(self, message: str | None = None) -> None:
        said = self.log.drain()
        if said:
            self.refuse(message, notes=said)

    def reconcile_type(self, value: SSAValue, tensor: Any) -> tuple[ElementKind, list[int | None]]:
        """Return a tensor's type; MLIR's and TensorRT's must not differ in what both know."""
        type: Any = value.type
        kind = self.kind(type.element_type)
        expected = type.get_shape()
        try:
            shape = tensor.shape
            same = shape == expected
            found = expected if same else tuple(shape[:])
        except (RuntimeError, ValueError, TypeError):
            self.refuse(f"{UNTYPED} `{self.names.op.name}`")
        if tensor.dtype != kind.dtype:
            self._differs(type, found, tensor)
        if same:
            return kind, list(expected)
        sizes = merge_shapes(expected, found)
        if sizes is None:
            self._differs(type, found, tensor)
        return kind, sizes

    def _differs(self, type: Attribute, shape: Sequence[int], tensor: Any) -> NoReturn:
        theirs = type_text(shape, tensor.dtype, self.library)
        self.refuse(f"`{self.names.op.name}` gives `{theirs}` {DIFFERS} `{type}`")
