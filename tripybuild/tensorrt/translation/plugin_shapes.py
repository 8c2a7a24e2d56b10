"""`tensorrt-infer-plugin-shapes`: result sizes from the plugin's shape functions.

The plugin's `get_output_shapes` is called with the sizes of its inputs as expressions, and with a
builder of more of them; they become `arith` operations in the region of the `opaque_plugin`.
Invariant: a plugin without an answer is an error, since later passes need the sizes for bounds. The
Python bindings of TensorRT give the answers of plugins that are written in Python only.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.ir import Block, SSAValue

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.tensorrt.dialect import OpaquePluginOp, YieldOp
from tripybuild.tensorrt.dialect.base import sizes
from tripybuild.tensorrt.passes.rewriting.effects import walk_ops
from tripybuild.tensorrt.translation.constants import NetworkConstants
from tripybuild.tensorrt.translation.emission import Emission
from tripybuild.tensorrt.translation.library import Library
from tripybuild.tensorrt.translation.log import Log
from tripybuild.tensorrt.translation.plugin import plugin_of


class NoShapesError(Exception):
    """A plugin cannot say what sizes its results have."""


class Expression:
    """A size as TensorRT's `IDimensionExpr`: a number, or a 64-bit integer that is computed."""

    def __init__(self, value: SSAValue | int) -> None:
        self.value = value

    def is_constant(self) -> bool:
        """Tell whether the size is a number."""
        return isinstance(self.value, int)

    def get_constant_value(self) -> int:
        """Give the number."""
        if not isinstance(self.value, int):
            raise NoShapesError("it asks for the value of a size that is not known")
        return self.value

    def is_size_tensor(self) -> bool:
        """Tell whether the size is found when the plugin runs; none is, here."""
        return False


class Shape(list[Expression]):
    """Sizes as TensorRT's `DimsExprs`: made of a rank, or of expressions."""

    def __init__(self, given: Iterable[Expression] | int = 0) -> None:
        super().__init__([Expression(0)] * given if isinstance(given, int) else given)


def _comparison(predicate: str) -> Callable[[SSAValue, SSAValue], Any]:
    return lambda left, right: arith.CmpiOp(left, right, predicate)


_OPERATIONS: Mapping[str, Callable[[SSAValue, SSAValue], Any]] = {
    "SUM": arith.AddiOp,
    "PROD": arith.MuliOp,
    "MAX": arith.MaxSIOp,
    "MIN": arith.MinSIOp,
    "SUB": arith.SubiOp,
    "EQUAL": _comparison("eq"),
    "LESS": _comparison("slt"),
    "FLOOR_DIV": arith.FloorDivSIOp,
    "CEIL_DIV": arith.CeilDivSIOp,
}


class ExpressionBuilder:
    """TensorRT's `IExprBuilder` that writes `arith` operations to a block."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self._constants: dict[int, SSAValue] = {}

    def constant(self, number: int) -> Expression:
        """Make a size of a number."""
        return Expression(int(number))

    def operation(self, operation: Any, first: Expression, second: Expression) -> Expression:
        """Make the size that an operation gives of two."""
        name = str(operation).rpartition(".")[2]
        made = _OPERATIONS[name](self.materialize(first), self.materialize(second))
        self.block.add_op(made)
        if made.results[0].type != i64:
            made = arith.ExtUIOp(made.results[0], i64)
            self.block.add_op(made)
        return Expression(made.results[0])

    def declare_size_tensor(self, *_: object) -> Expression:
        """Refuse a size that depends on data."""
        raise NoShapesError("it declares a size tensor, which depends on data")

    def materialize(self, size: Expression) -> SSAValue:
        """Give a size as a value; a number is a constant, once."""
        if not isinstance(size.value, int):
            return size.value
        if size.value not in self._constants:
            made = arith.ConstantOp.from_int_and_width(size.value, 64)
            self.block.add_op(made)
            self._constants[size.value] = made.results[0]
        return self._constants[size.value]


def run(module: ModuleOp) -> bool:
    """Fill the regions that are empty, where a result has an unknown size.

    Raises:
        DiagnosticError: No plugin of that name is registered, or it does not say the sizes.
    """
    found = [op for op in walk_ops(module) if isinstance(op, OpaquePluginOp) and _is_open(op)]
    if found:
        library = _library()
        for op in found:
            _fill(op, library)
    return bool(found)


def _is_open(op: OpaquePluginOp) -> bool:
    unknown = any(None in sizes(kind) for kind in op.result_types)
    return unknown and not op.shapes_region.blocks


def _library() -> Library:
    """Give TensorRT, or TensorRT for RTX, which has a registry of plugins as well."""
    try:
        return Library.find("tensorrt")
    except DiagnosticError:
        return Library.find("tensorrt-rtx")


def _fill(op: OpaquePluginOp, library: Library) -> None:
    at = Emission(library, None, Log(), NetworkConstants(lambda *_: None, {}, lambda _: None))
    at.names.enter(op)
    shapes = [sizes(each) for each in op.inputs]
    block = Block(arg_types=[i64] * sum(map(len, shapes)))
    arguments = iter(block.args)
    inputs = [
        Shape([Expression(next(arguments) if n is None else _skip(arguments, n)) for n in shape])
        for shape in shapes
    ]
    builder = ExpressionBuilder(block)
    try:
        outputs = _outputs(at, plugin_of(at, op), inputs, builder)
        given = [builder.materialize(size) for shape in outputs for size in shape]
    except (NoShapesError, TypeError, AttributeError) as error:
        hint = "a plugin that is written in C++ does not answer Python; write its region by hand"
        message = f"The plugin `{op.value('plugin_name')}` does not implement its output shapes"
        at.refuse(message, notes=_first(error), hint=hint)
    block.add_op(YieldOp(operands=[given]))
    op.shapes_region.add_block(block)


def _skip(arguments: Iterator[SSAValue], number: object) -> int:
    """Give a size that is known; the region has an argument for it all the same."""
    next(arguments)
    assert isinstance(number, int)
    return number


def _first(error: Exception) -> Sequence[str]:
    return tuple(str(error).split("\n")[:1])


def _outputs(
    at: Emission, plugin: Any, inputs: list[Shape], builder: ExpressionBuilder
) -> Sequence[Sequence[Expression]]:
    build = plugin.get_capability_interface(at.member("PluginCapabilityType", "BUILD"))
    if build is None:
        raise NoShapesError("it has no interface for building")
    with _expressions(at.library.module):
        outputs: Sequence[Sequence[Expression]] = build.get_output_shapes(inputs, [], builder)
    for size in (size for shape in outputs for size in shape):
        if not isinstance(size, Expression):
            raise NoShapesError(f"it returns `{type(size).__name__}` for a size")
    return outputs


@contextmanager
def _expressions(module: Any) -> Iterator[None]:
    """Let a plugin make shapes of our expressions: the bindings' own class takes none from Python.

    Only TensorRT itself makes an `IDimensionExpr`, while it builds an engine.
    """
    original = module.DimsExprs
    module.DimsExprs = Shape
    try:
        yield
    finally:
        module.DimsExprs = original
