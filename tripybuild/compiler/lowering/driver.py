"""Driver of lowerings: operations to a dialect, one at a time, in their order.

Each operation lowers from itself. What has no lowering for the engine, or a lowering that declines
it, is decomposed; nothing is matched back together afterwards.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend.decompose import decompose_operation
from tripybuild.model.size_limits import check_tensor_bytes
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.constants import Constant
from tripybuild.trace.generated_code import decomposition_function, lowering_function
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import Region
from tripybuild.trace.values import Size, TensorType, Value
from tripybuild.types.dtypes import dtype


class Builder(Protocol):
    """What the functions of a dialect build into."""

    def location(
        self, name: str, file: str, line: int, column: int, /
    ) -> AbstractContextManager[None]:
        """What is built inside comes from this place of this file."""
        ...


Changes = Mapping[Value, Callable[[Any], Any]]
Judge = Callable[[Any, TensorType], str | None]


def _undeclined(operation: TraceOp, declined: Exception) -> Diagnostic:
    raise AssertionError(operation) from declined


@dataclass(frozen=True, slots=True)
class LoweringDialect:
    """What graphs are lowered to by the snippets of `lower:`.

    Args:
        name: The key of the snippets in declarations.
        fill: Repeats a number, or a symbolic size, to a shape of a dtype.
        constant: Takes an array.
        judge: Compares what a lowering gives with the declared type; None where all is well.
        bounded: Whether all sizes are numbers, which have a bound.
        declines: Raised by a lowering where the engine cannot say the operation.
        diagnose: The diagnostic where one is declined that has no decomposition.
        empty: Makes a tensor without elements, which then stands for what no sizes give elements
            to: engines refuse such operations, or crash; None where they are lowered as others.
    """

    name: str
    fill: Callable[..., Any]
    constant: Callable[..., Any]
    judge: Judge | None = None
    bounded: bool = False
    declines: tuple[type[Exception], ...] = ()
    diagnose: Callable[[TraceOp, Exception], Diagnostic] = _undeclined
    empty: Callable[[dtype, Sequence[Size]], Any] | None = None


def same_type(given: Any, type: TensorType) -> str | None:
    """What is wrong with a value whose type is not the declared one."""
    if getattr(given, "shape", None) == tuple(type.shape) and given.dtype is type.dtype:
        return None
    return f"it gave {given!r}, declared as {type}"


class Lowering:
    """Lowers operations into a module.

    Args:
        module: What is built.
        dialect: What it is made of.
        values: What stands for the values of the graph.
        changes: What becomes of some values once they are built.
    """

    def __init__(
        self,
        module: Builder,
        dialect: LoweringDialect,
        values: dict[Value, Any],
        changes: Changes = MappingProxyType({}),
    ) -> None:
        self.module, self.dialect, self.values = module, dialect, values
        self.changes = changes
        self.replaced: dict[Value, Value] = {}

    def results(self, operations: Iterable[TraceOp], gives: Iterable[Value]) -> list[Any]:
        """Lower operations; what stands for the values that they give."""
        for operation in operations:
            self._lower(operation)
            for each in operation.outputs if self.changes else ():
                if each in self.changes:
                    built = self.replaced.get(each, each)
                    self.values[built] = self.changes[each](self.values[built])
        return [self.values[self.replaced.get(value, value)] for value in gives]

    def _lower(self, operation: TraceOp) -> None:
        replaced = self.replaced
        if replaced and any(value in replaced for value in operation.reads()):
            operation = _with_operands(operation, replaced)
        if isinstance(operation, Constant):
            try:
                self._build(operation, self._constant)
            except self.dialect.declines as declined:
                raise self._decline(operation, declined) from declined
            return
        function = lowering_function(type(operation), self.dialect.name)
        if self.dialect.empty is not None and _gives_nothing(operation):
            function = partial(_empty_results, self.dialect.empty)
        if function is not None:
            try:
                self._build(operation, lambda each: self._call(function, each))
            except self.dialect.declines as declined:
                if decomposition_function(type(operation)) is None:
                    raise self._decline(operation, declined) from declined
            else:
                return
        try:
            steps, outputs = decompose_operation(operation, self.dialect.name)
        except self.dialect.declines as declined:
            raise self._decline(operation, declined) from declined
        for step in steps:
            self._lower(step)
        for old, new in zip(operation.outputs, outputs, strict=True):
            replaced[old] = replaced.get(new, new)

    def _decline(self, operation: TraceOp, declined: Exception) -> DiagnosticError:
        return DiagnosticError(self.dialect.diagnose(operation, declined))

    def _build(self, operation: TraceOp, build: Callable[[Any], Sequence[Any]]) -> None:
        """Build what stands for the outputs, at the place of the operation."""
        span = operation.location.span()
        with self.module.location(operation.location.label, span.path, span.line, span.column):
            results = build(operation)
        self.values.update(zip(operation.outputs, results, strict=True))

    def _call(self, function: Callable[..., Any], operation: TraceOp) -> Sequence[Any]:
        """What the lowering of an operation gives, which must be what its outputs are."""
        for output in operation.outputs if self.dialect.bounded else ():
            check_tensor_bytes(output, "this", operation.location)
        operands = [self._read(getattr(operation, name)) for name in operation.tensor_fields()]
        bodies = [self._body(operation, each) for each in operation.bodies()]
        try:
            result = function(operation, *operands, *bodies)
        except self.dialect.declines:
            raise
        except (ValueError, TypeError, IndexError, KeyError, ZeroDivisionError) as error:
            raise DiagnosticError(self._failure(operation, error)) from error
        results = result if isinstance(result, (tuple, list)) else [result]
        if self.dialect.judge is not None:
            for output, given in zip(operation.outputs, results, strict=True):
                problem = self.dialect.judge(given, output.type)
                if problem is not None:
                    raise DiagnosticError(self._failure(operation, problem))
        return results

    def _body(self, operation: TraceOp, region: Region) -> Callable[..., Sequence[Any]]:
        """What builds the inside of a region; it sees what the operation reads from outside."""
        outside = [self.values[value] for value in operation.captured]

        def build(*taken: Any) -> Sequence[Any]:
            inner = dict(zip(region.parameters, (*taken, *outside), strict=True))
            inside = Lowering(self.module, self.dialect, inner, self.changes)
            return inside.results(region.operations, region.results)

        return build

    def _constant(self, operation: Constant) -> Sequence[Any]:
        type, data = operation.outputs[0].type, operation.data
        if isinstance(data.value, Dim | bool | int | float):
            return [self.dialect.fill(data.value, type.dtype, tuple(type.shape))]
        return [self.dialect.constant(data.array, type.dtype)]

    def _read(self, argument: Any) -> Any:
        if isinstance(argument, tuple):
            return [self.values[value] for value in argument]
        return None if argument is None else self.values[argument]

    def _failure(self, operation: TraceOp, problem: object) -> Diagnostic:
        return Diagnostic(
            "lowering-failed",
            f"the lowering of `{operation.operator}` to {self.dialect.name} failed: {problem}",
            operation.location.span(),
            notes=(f"declared in {operation.declaration.source}",),
            hint="this is a fault of the declaration, not of your model",
        )


def arguments_of(graph: Graph) -> tuple[dict[str, Any], dict[str, Any]]:
    """The weights and the inputs of a graph, as modules declare them."""
    return (
        {name: (value.dtype, value.shape) for name, value in graph.weights.items()},
        {name: (value.dtype, value.shape) for name, value in graph.inputs.items()},
    )


def argument_values(module: Any, graph: Graph) -> dict[Value, Any]:
    """What stands in a module for the weights and the inputs of a graph."""
    values: dict[Value, Any] = {v: module.weights[name] for name, v in graph.weights.items()}
    return values | {v: module.inputs[name] for name, v in graph.inputs.items()}


def lower_all(
    module: Any,
    graph: Graph,
    dialect: LoweringDialect,
    values: dict[Value, Any],
    changes: Changes = MappingProxyType({}),
) -> dict[str, Any]:
    """The outputs of a graph, for what its inputs and weights are."""
    found = Lowering(module, dialect, values, changes).results(
        graph.operations, graph.outputs.values()
    )
    return dict(zip(graph.outputs, found, strict=True))


def _gives_nothing(operation: TraceOp) -> bool:
    """Whether no output has elements, whatever symbols stand for."""
    return all(
        any(isinstance(size, int) and size == 0 for size in output.shape)
        for output in operation.outputs
    )


def _empty_results(
    empty: Callable[[dtype, Sequence[Size]], Any], operation: TraceOp, *_operands: Any
) -> Sequence[Any]:
    """A lowering of what gives nothing."""
    return [empty(output.dtype, output.shape) for output in operation.outputs]


def _with_operands(operation: TraceOp, replaced: Mapping[Value, Value]) -> TraceOp:
    """The same operation and outputs, reading what its operands were replaced by."""

    def substitute(argument: Any) -> Any:
        if isinstance(argument, Value):
            return replaced.get(argument, argument)
        if isinstance(argument, tuple):
            return tuple(substitute(item) for item in argument)
        return argument

    copy = operation.rebuild(substitute, lambda kept: kept)
    return copy.with_outputs(operation.outputs, copy.serial)
