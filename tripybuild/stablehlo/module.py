"""MLIR module with one function `@main`: opened, filled by the builders, closed.

Invariant: a module owns its MLIR context (contexts keep every constant alive), result types are
computed here and verified once, at the end; asking MLIR to infer each would cost three times as
much.
"""

import io
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

from tripybuild.errors.diagnostics import portable_path
from tripybuild.stablehlo import bindings
from tripybuild.stablehlo.value import HloValue
from tripybuild.symbolic.dims import Dim
from tripybuild.types import dtypes

RESULT_NAME, SHARDING = "jax.result_info", "sdy.sharding"

TensorType = tuple[dtypes.dtype, tuple[int, ...]]
Region = tuple[Sequence[TensorType], Callable[..., Sequence[HloValue]]]


class SizeArray(NamedTuple):
    """An attribute that is a list of sizes, some of which may be symbolic."""

    sizes: tuple[Any, ...]
    mlir: Any


@dataclass(slots=True)
class Emission:
    """An operation that is about to be appended.

    Args:
        name: Its name in MLIR.
        operands: What it takes.
        results: The types of its results.
        attributes: Its attributes.
        regions: What its regions take, and what fills them.
    """

    name: str
    operands: list[HloValue]
    results: list[TensorType]
    attributes: dict[str, Any]
    regions: list[Region]

    def append(self) -> tuple[HloValue, ...]:
        """Append the operation, as it is, to the module that is being built."""
        module = current()
        types = [module.type(*each) for each in self.results]
        plain = {
            name: each.mlir if isinstance(each, SizeArray) else each
            for name, each in self.attributes.items()
        }
        given = [value.mlir for value in self.operands]
        made = module.create(self.name, types, given, plain, regions=len(self.regions))
        for region, (takes, fill) in zip(made.regions, self.regions, strict=True):
            fill_region(region, takes, fill)
        pairs = zip(made.results, self.results, strict=True)
        return tuple(HloValue(mlir, *each) for mlir, each in pairs)


class SizeBounds(Protocol):
    """How symbolic sizes stand in a module: the largest that they can be, and what they are."""

    symbols: tuple[str, ...]

    def largest(self, size: Any) -> int:
        """The number that stands in types for a size."""

    def scalar(self, size: Dim, dtype: dtypes.dtype) -> HloValue:
        """The size of a call, as a tensor of rank 0."""

    def emit(self, emission: Emission) -> tuple[HloValue, ...]:
        """Append an operation, or others for it, whose results are right below the true sizes."""


class _ActiveModule(threading.local):
    """The module that this thread is filling; MLIR's own stack of contexts is per thread too."""

    module: "HloModule | None" = None


_active = _ActiveModule()


def current() -> "HloModule":
    """The module that the builders write to."""
    if _active.module is None:
        raise RuntimeError("no module has begun: use builders inside `with Module(...)`")
    return _active.module


def donation_attributes(count: int, donated: Mapping[int, int]) -> Any:
    """The attributes of a function's arguments, of which the memory of some becomes a result's."""
    ir = bindings.ir
    kind = ir.IntegerType.get_signless(32)
    named = {at: {"tf.aliasing_output": ir.IntegerAttr.get(kind, n)} for at, n in donated.items()}
    return ir.ArrayAttr.get([ir.DictAttr.get(named.get(at, {})) for at in range(count)])


class HloModule:
    """A module under construction; use it as a context manager.

    The arguments of `@main` are the weights, then the inputs, each in the order given. Sizes are
    numbers, or have bounds; `scalar` arguments that a caller adds then say what they are.
    """

    def __init__(
        self,
        weights: Mapping[str, TensorType],
        inputs: Mapping[str, TensorType],
        folder: Path | None = None,
        bounds: SizeBounds | None = None,
    ) -> None:
        ir = bindings.ir
        self._folder = folder
        self.bounds = bounds
        self.context = context()
        self.constants: dict[tuple[object, ...], HloValue] = {}
        self.functions: dict[tuple[object, ...], Any] = {}
        self.depth = 0
        self.create = ir.Operation.create
        self._types: dict[TensorType, Any] = {}
        self._parsed: dict[str, Any] = {}
        self._locations: dict[tuple[str, str, int, int], Any] = {}
        self.arrays: dict[tuple[int, ...], Any] = {}
        self._stack = ExitStack()
        with self.context, ir.Location.unknown():
            self.mlir = ir.Module.create()
            self.function = create_function(self.mlir.body, "main", "public")
            self._block = ir.Block.create_at_start(self.function.regions[0], [])
            self.weights = {name: self._argument(name, *type_) for name, type_ in weights.items()}
            self.inputs = {name: self._argument(name, *type_) for name, type_ in inputs.items()}
            symbols = () if bounds is None else bounds.symbols
            # What the symbols are in a call; a function has arguments of its own for them.
            self.true_sizes = [self._argument(name, dtypes.int64, ()) for name in symbols]

    def _argument(self, name: str, dtype: dtypes.dtype, shape: Sequence[int]) -> HloValue:
        location = bindings.ir.Location.name(name)
        argument = self._block.add_argument(self.type(dtype, tuple(shape)), location)
        return HloValue(argument, dtype, tuple(shape))

    def __enter__(self) -> Self:
        if _active.module is not None:
            raise RuntimeError("another module is being built in this thread")
        self._stack.enter_context(self.context)
        self._stack.enter_context(bindings.ir.Location.unknown())
        self._stack.enter_context(bindings.ir.InsertionPoint(self._block))
        _active.module = self
        return self

    def __exit__(self, *failure: object) -> None:
        _active.module = None
        self._stack.close()

    def type(self, dtype: dtypes.dtype, shape: tuple[int, ...]) -> Any:
        """The MLIR type of a tensor; made once per module."""
        kind = self._types.get((dtype, shape))
        if kind is None:
            element = bindings.ir.Type.parse(dtype.mlir, self.context)
            sizes = shape if self.bounds is None else map(self.bounds.largest, shape)
            kind = bindings.ir.RankedTensorType.get(list(sizes), element)
            self._types[dtype, shape] = kind
        return kind

    def parse_attribute(self, text: str) -> Any:
        """An MLIR attribute by its spelling; parsed once per module."""
        attribute = self._parsed.get(text)
        if attribute is None:
            attribute = self._parsed[text] = bindings.ir.Attribute.parse(text, self.context)
        return attribute

    def location(self, name: str, file: str, line: int, column: int) -> Any:
        """A context manager: what is built inside comes from this place of this file."""
        key = (name, file, line, column)
        found = self._locations.get(key)
        if found is None:
            path = portable_path(file, self._folder)
            where = bindings.ir.Location.file(path, line, column, context=self.context)
            found = bindings.ir.Location.name(name, where, context=self.context)
            self._locations[key] = found
        return found

    def finish(
        self,
        outputs: Mapping[str, HloValue],
        updates: Mapping[str, str] | None = None,
    ) -> None:
        """Return the outputs from `@main` and verify the whole module.

        Args:
            outputs: What it gives.
            updates: The inputs whose memory may become that of an output.
        """
        ir = bindings.ir
        results = [value.mlir for value in outputs.values()]
        ir.Operation.create("func.return", operands=results)
        takes = [argument.type for argument in self._block.arguments]
        gives = [value.type for value in results]
        names = [ir.DictAttr.get({RESULT_NAME: ir.StringAttr.get(name)}) for name in outputs]
        self.function.attributes["function_type"] = function_type(takes, gives)
        self.function.attributes["res_attrs"] = ir.ArrayAttr.get(names)
        if updates:
            index = {name: at for at, name in enumerate(outputs)}
            places = {name: at for at, name in enumerate(self.inputs, len(self.weights))}
            donated = {places[name]: index[output] for name, output in updates.items()}
            attributes = donation_attributes(len(takes), donated)
            self.function.attributes["arg_attrs"] = attributes
        try:
            self.mlir.operation.verify()
        except ir.MLIRError as error:
            raise ValueError(f"the module is not valid StableHLO: {error}") from error

    def text(self, *, locations: bool = False) -> str:
        """The module as MLIR assembly."""
        return str(self.mlir.operation.get_asm(enable_debug_info=locations))

    def bytecode(self, *, locations: bool = True) -> bytes:
        """The module as MLIR bytecode.

        Args:
            locations: Whether it says where each operation comes from, and what results are called.
                Without, equal computations have equal modules.
        """
        return bytecode(self.mlir.operation if locations else self.bare())

    def bare(self) -> Any:
        """The module's operation, copied without places and names."""
        with self.context:
            copy = self.mlir.operation.clone()
            bindings.passmanager.PassManager.parse("builtin.module(strip-debuginfo)").run(copy)
            for function in copy.regions[0].blocks[0]:
                if "res_attrs" in function.attributes:
                    _drop_names(function)
        return copy


def _drop_names(function: Any) -> None:
    """Leave out what results are called, and keep how they are split."""
    ir = bindings.ir
    said = [ir.DictAttr(each) for each in function.attributes["res_attrs"]]
    kept = [{SHARDING: each[SHARDING]} if SHARDING in each else {} for each in said]
    del function.attributes["res_attrs"]
    if any(kept):
        attributes = [ir.DictAttr.get(each) for each in kept]
        function.attributes["res_attrs"] = ir.ArrayAttr.get(attributes)


def bytecode(module: Any) -> bytes:
    """The operation of a module as MLIR bytecode."""
    buffer = io.BytesIO()
    module.write_bytecode(buffer)
    return buffer.getvalue()


def context() -> Any:
    """A context of MLIR with the dialects of lowerings."""
    context = bindings.ir.Context()
    context.enable_multithreading(False)
    registry = bindings.ir.DialectRegistry()
    bindings.registry.register_dialects(registry)
    context.append_dialect_registry(registry)
    bindings.stablehlo.register_dialect(context)
    bindings.chlo.register_dialect(context)
    context.get_dialect_descriptor("func")  # loads the dialect
    return context


def create_function(body: Any, name: str, visibility: str) -> Any:
    """Append a function without arguments to the body of a module; its type is to be set."""
    ir = bindings.ir
    attributes = {
        "sym_name": ir.StringAttr.get(name),
        "sym_visibility": ir.StringAttr.get(visibility),
        "function_type": function_type([], []),
    }
    with ir.InsertionPoint(body):
        return ir.Operation.create("func.func", attributes=attributes, regions=1)


def function_type(takes: Sequence[Any], gives: Sequence[Any]) -> Any:
    """The attribute that says what a function takes and gives."""
    ir = bindings.ir
    return ir.TypeAttr.get(ir.FunctionType.get(takes, gives))


def emit(
    name: str,
    operands: Sequence[HloValue],
    dtype: dtypes.dtype,
    shape: tuple[int, ...],
    attributes: dict[str, Any] | None = None,
) -> HloValue:
    """Append one operation with one result."""
    module = current()
    if module.bounds is not None:
        plain = Emission(name, list(operands), [(dtype, shape)], attributes or {}, [])
        return module.bounds.emit(plain)[0]
    kind = module.type(dtype, shape)
    operation = module.create(name, [kind], [value.mlir for value in operands], attributes)
    return HloValue(operation.result, dtype, shape)


def integers(values: Sequence[int]) -> Any:
    """An attribute of type `array<i64: ...>`; made once per module."""
    module, key = current(), tuple(values)
    attribute = module.arrays.get(key)
    if attribute is None:
        known = key if module.bounds is None else tuple(map(module.bounds.largest, key))
        attribute = bindings.ir.DenseI64ArrayAttr.get(known, module.context)
        module.arrays[key] = attribute
    return attribute if module.bounds is None else SizeArray(key, attribute)


def integer(value: int) -> Any:
    """An attribute of type `i64`."""
    i64 = bindings.ir.IntegerType.get_signless(64, current().context)
    return bindings.ir.IntegerAttr.get(i64, value)


def padding_pairs(edges: Sequence[Sequence[int]]) -> Any:
    """An attribute of type `dense<...> : tensor<Nx2xi64>`, one row for each dimension."""
    bounds = current().bounds
    known = edges if bounds is None else [list(map(bounds.largest, each)) for each in edges]
    rows = bindings.numpy.array(known, bindings.numpy.int64).reshape(-1, 2)
    made = bindings.ir.DenseElementsAttr.get(rows, context=current().context)
    return made if bounds is None else SizeArray(tuple(map(tuple, edges)), made)


def fill_region(
    region: Any, takes: Sequence[TensorType], fill: Callable[..., Sequence[HloValue]]
) -> None:
    """Build the inside of a region from its arguments."""
    ir = bindings.ir
    kinds = [current().type(*take) for take in takes]
    locations = [ir.Location.current] * len(kinds)
    block = ir.Block.create_at_start(region, kinds, locations)
    arguments = [HloValue(mlir, *take) for mlir, take in zip(block.arguments, takes, strict=True)]
    with inside(block):
        gives = [value.mlir for value in fill(*arguments)]
        ir.Operation.create("stablehlo.return", operands=gives)


@contextmanager
def inside(block: Any) -> Iterator[None]:
    """Append to a block of a region; what is built there cannot be used outside."""
    module = current()
    module.depth += 1
    try:
        with bindings.ir.InsertionPoint(block):
            yield
    finally:
        module.depth -= 1
