"""A network while it is made: what emitters of layers see, and what is checked after each.

Law: every layer and tensor has a unique name that leads back to the operation it came from, since
TensorRT names what it refuses. After an operation the log is drained, and the shape and dtype of
each of its results are those of its MLIR types; so whatever is wrong is said of who did it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tripybuild.diagnostics import Diagnostic, DiagnosticError
from tripybuild.dialects.mlir import locations
from tripybuild.targets.tensorrt import places
from tripybuild.targets.tensorrt.constants import Constants, UnfitConstantError
from tripybuild.targets.tensorrt.library import DTYPES, Library
from tripybuild.targets.tensorrt.log import Log
from tripybuild.types.dtypes import BY_NAME

LONGEST_NAME = 2042
TENSOR_SUFFIX = "_output"  # as TensorRT itself calls the outputs of a layer
EXPAND = "run the pass `tensorrt-expand-ops` first"

# Element types as MLIR writes them, under the names that they have in tripybuild.
DTYPE_NAMES = {each.mlir: name for name, each in BY_NAME.items()}

Tensors = Sequence[Any]
Emitter = Callable[["Emission", Any], Tensors]


class Kind(NamedTuple):
    """An element type: as MLIR writes it, its name in tripybuild, and the library's data type."""

    element: str
    name: str
    dtype: Any


class Emission:
    """One network, and what its layers came from.

    Args:
        library: The TensorRT library that the network is one of.
        network: An empty network definition.
        log: Where the library says what is wrong.
        emitters: How each operation is added, by its name.
        constants: Where the data of constants is.
    """

    def __init__(
        self,
        library: Library,
        network: Any,
        log: Log,
        emitters: Mapping[str, Emitter],
        constants: Constants,
    ) -> None:
        self.library = library
        self.network = network
        self.log = log
        self.constants = constants
        self.values: dict[SSAValue, Any] = {}
        self.shapes: dict[SSAValue, Any] = {}
        self.names: dict[str, Operation] = {}
        self.records: list[dict[str, Any]] = []
        self._emitters = emitters
        self._kinds: dict[Attribute, Kind] = {}
        self._op: Any = None
        self._layers: list[str] = []
        self._place = self._base = ""
        self._metadata: str | None = None
        self._counts: dict[str, int] = {}

    # What emitters use.

    def tensor(self, value: SSAValue) -> Any:
        """Return the tensor that a value has become."""
        return self.values[value]

    def add(self, kind: str, *arguments: Any) -> Any:
        """Add a layer, or whatever else networks add, and name it after the operation."""
        method = getattr(self.network, f"add_{kind}", None)
        if method is None:
            self.refuse(_no_layer(self._op.name, self.library.name), "tensorrt-unsupported")
        try:
            layer = method(*arguments)
        except TypeError as error:
            self.refuse(notes=(str(error).split("\n", maxsplit=1)[0],))
        return self.named(layer)

    def named(self, layer: Any) -> Any:
        """Name a layer after the operation that is being added, unless it was refused."""
        if layer is None:
            self.refuse()
        layer.name = self._unique()
        if self._metadata is not None and hasattr(layer, "metadata"):
            layer.metadata = self._metadata
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

    def kind(self, of: SSAValue | Attribute) -> Kind:
        """Return what an element type, or that of a value, is here and in the library."""
        element = of.type.element_type if isinstance(of, SSAValue) else of  # type: ignore[attr-defined]
        found = self._kinds.get(element)
        if found is None:
            word = "i8" if element.name == "quant.uniform" else str(element)
            dtype = self.library.dtype(word)
            if dtype is None:
                message = f"`{self.library.name}` has no data type for `{word}`"
                self.refuse(message, "tensorrt-unsupported")
            found = Kind(word, DTYPE_NAMES.get(word, word), dtype)
            self._kinds[element] = found
        return found

    def element(self, of: SSAValue | Attribute) -> str:
        """Return an element type as MLIR writes it; quantized ones are their integers."""
        return self.kind(of).element

    def dtype(self, of: SSAValue | Attribute) -> Any:
        """Return the library's data type."""
        return self.kind(of).dtype

    def weights(self, attribute: Any | None) -> Any:
        """Return the weights of a constant attribute; without one, none."""
        try:
            return (
                None
                if attribute is None
                else self.constants.weights(attribute, self.element(attribute.type.element_type))
            )
        except UnfitConstantError as error:
            self.refuse(error.diagnostic.message, error.diagnostic.code, error.diagnostic.notes)

    def refuse(
        self,
        message: str | None = None,
        code: str = "tensorrt-refused",
        notes: Sequence[str] = (),
        hint: str | None = None,
    ) -> NoReturn:
        """Raise what is wrong with the operation that is being added, in TensorRT's words."""
        said = message or f"TensorRT refuses `{self._op.name}`"
        where = locations.span_of(self._op.location)
        words = (*notes, *self.log.drain())
        raise DiagnosticError(Diagnostic(code, said, where, notes=words, hint=hint))

    # The way through a function.

    def block(self, block: Block) -> None:
        """Add the operations of a block, but for its last, which is its parent's."""
        for op in block.ops:
            if op.next_op is not None:
                self.operation(op)

    def operation(self, op: Operation) -> None:
        """Add one operation, and compare its results with its types."""
        outer = self._op, self._layers, self._place, self._base, self._metadata
        self.enter(op)
        emitter = self._emitters.get(op.name)
        if emitter is None:
            self._unknown(op.name)
        tensors = emitter(self, op)
        if self.log:  # a setter that was ignored comes before what follows from it
            self._complain()
        for result, tensor in zip(op.results, tensors, strict=True):
            self.values[result] = tensor
        self._check(op, tensors)
        self._op, self._layers, self._place, self._base, self._metadata = outer

    def enter(self, op: Operation) -> None:
        """Let what is added from now on be an operation's."""
        self._op, self._layers = op, []
        self._place = places.text(op.location)
        place = self._place.replace('"', "")
        self._base = f"[{op.name}] loc({place})"[:LONGEST_NAME]
        self._metadata = places.metadata(op.location)

    def _unknown(self, name: str) -> NoReturn:
        hint = None
        message = f"`{name}` is no operation that becomes TensorRT layers"
        if name.startswith("tensorrt."):
            message, hint = f"`{name}` has no TensorRT layer of its own", EXPAND
        self.refuse(message, "tensorrt-unsupported", hint=hint)

    def _unique(self) -> str:
        count = self._counts.get(self._base, 0)
        name = self._base if count == 0 else f"{self._base}_{count}"
        while name in self.names:
            count += 1
            name = f"{self._base}_{count}"
        self._counts[self._base] = count + 1
        self.names[name] = self._op
        self._layers.append(name)
        return name

    def _check(self, op: Operation, tensors: Tensors) -> None:
        names = self._layers
        outputs = []
        for index, (result, tensor) in enumerate(zip(op.results, tensors, strict=True)):
            if names:
                tensor.name = f"{names[-1]}{TENSOR_SUFFIX}{index or ''}"
            outputs.append(
                {"dtype": self.kind(result).name, "shape": self.compared(result, tensor)}
            )
        if self.log:
            self._complain()
        if names:
            name, place = names[-1], self._place
            record = {"name": name, "op": op.name, "location": place, "outputs": outputs}
            if len(names) > 1:
                record["others"] = names[:-1]
            self.records.append(record)

    def _complain(self) -> None:
        said = self.log.drain()
        if said:
            self.refuse(notes=said)

    def compared(self, value: SSAValue, tensor: Any) -> list[int | None]:
        """Return a tensor's sizes, as known by TensorRT or else by MLIR; they must not differ."""
        type = value.type
        assert isinstance(type, TensorType)
        expected = type.get_shape()
        try:
            shape = tensor.shape
            same = shape == expected
            found = expected if same else tuple(shape[:])
        except (RuntimeError, ValueError, TypeError):
            self.refuse()
        if tensor.dtype != self.dtype(value):
            self._differs(type, found, tensor)
        if same:
            return list(expected)
        merged = _merged(expected, found)
        if merged is None:
            self._differs(type, found, tensor)
        return merged

    def _differs(self, type: TensorType[Any], shape: Sequence[int], tensor: Any) -> NoReturn:
        sizes = "".join(f"{'?' if size < 0 else size}x" for size in shape)
        element = tensor.dtype
        known = (word for word in DTYPES if self.library.dtype(word) == element)
        word = next(known, str(element))
        said = f"`{self._op.name}` gives `tensor<{sizes}{word}>` in TensorRT, and not `{type}`"
        self.refuse(said)


def _merged(expected: Sequence[int], found: Sequence[int]) -> list[int | None] | None:
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


def _no_layer(op: str, library: str) -> str:
    return f"`{op}` needs a layer that this release of `{library}` does not have"
