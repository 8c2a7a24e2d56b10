"""Executor of references: the `reference` target, the oracle of suites, and small eager graphs.

An operator's reference is generated NumPy code. It computes floats in float64, and its results are
rounded once to their dtypes, so that they are at least as near as those of any engine. An operator
without a reference is what it decomposes into, computed without rounding in between.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

import numpy as np

from tripybuild.errors.budget import spend
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend.decompose import cached_decomposition
from tripybuild.process.memory import memory_error
from tripybuild.reference.numerics.arrays import Array, round_cast_quiet, widen
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.constants import Constant
from tripybuild.trace.generated_code import reference_function
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import Region, copy_operations, substitution
from tripybuild.trace.values import Size, TensorType, Value

STEPS, BYTES_OF_STEP = 20, 1 << 12  # what an operation in a loop costs a file's budget
MUCH = 1 << 20  # bytes of a tensor that is moved without a copy in float64


def execute(graph: Graph, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Run a graph without symbols.

    Args:
        graph: The graph, substituted.
        arrays: The inputs and weights by name.

    Returns:
        The outputs by name, each rounded to its dtype.

    Raises:
        DiagnosticError: An operation cannot be computed.
    """
    named = (*graph.inputs.items(), *graph.weights.items())
    computed = _Arrays({value: arrays[name] for name, value in named if name in arrays}, {})
    outputs = set(graph.outputs.values())
    with np.errstate(all="ignore"):
        _run(_release_after_use(graph.operations, computed, outputs), computed)
    found = {name: computed.held_array(value) for name, value in graph.outputs.items()}
    return {name: np.asarray(array) for name, array in found.items()}


def reference_run(
    graph: Graph, weights: Mapping[str, Any]
) -> Callable[[Sequence[Array]], list[Array]]:
    """A function from the inputs of a graph, in order, to its outputs."""

    def run(arrays: Sequence[Array]) -> list[Array]:
        given = {**weights, **dict(zip(graph.inputs, arrays, strict=True))}
        # A result can be an input or a weight as it is: the caller gets memory of its own.
        return [np.array(each) for each in execute(graph, given).values()]

    return run


def run_operation(operation: TraceOp, arrays: Mapping[Value, Array]) -> list[Array]:
    """The results of one operation on arrays, not yet rounded."""
    if isinstance(operation, Constant):
        return [operation.data.array]
    with np.errstate(all="ignore"):
        return _results(operation, _Arrays(dict(arrays), {}), operation)


# NumPy says nothing of overflows in it. To copy it takes a tenth of the time of `np.errstate`.
_QUIET = copy_context()
_QUIET.run(np.seterr, all="ignore")


def compute(operations: Iterable[TraceOp], wanted: Sequence[Value]) -> list[Array]:
    """The arrays of some values, after operations that read nothing but constants."""
    arrays = _Arrays({}, {})
    _QUIET.copy().run(_run, operations, arrays)
    return [arrays.held[value] for value in wanted]


class _Arrays:
    """What values hold, and the same as references compute on it, made once for all readers.

    `sizes` are the sizes that depend on data, by their symbols, and `known` are values of those
    sizes in the place of values whose types have the symbols.
    """

    __slots__ = ("held", "known", "sizes", "wide")

    def __init__(self, held: dict[Value, Array], wide: dict[Value, Array]) -> None:
        self.held, self.wide = held, wide
        self.sizes: dict[str, int] | None = None  # most have none
        self.known: dict[Value, Value] = {}

    def held_array(self, value: Value) -> Array:
        """What a value holds: it was computed before, or it is a constant."""
        found = self.held.get(value)
        if found is None:
            assert isinstance(value.producer, Constant), "all else was computed before"
            found = value.producer.data.array
        return found

    def read(self, value: Value) -> Array:
        """What a reference is given: it cannot write to it, whatever words it finds for that."""
        array = self.wide.get(value)
        if array is None:
            held = self.held.get(value)
            if held is None:  # as `held_array`, without a call for each operand
                assert isinstance(value.producer, Constant)
                held = value.producer.data.array
            array = widen(held)
            if array is held:
                array = array.view()
            array.setflags(write=False)
            self.wide[value] = array
        return array

    def release(self, value: Value) -> None:
        """Let the memory of a value go."""
        self.held.pop(value, None)
        self.wide.pop(value, None)

    def specialize(self, operation: TraceOp) -> TraceOp:
        """An operation with numbers for the sizes that are known by now."""
        (copy,) = copy_operations([operation], dict(self.known), *substitution(self.sizes or {}))
        return copy

    def learn_sizes(self, value: Value, array: Array) -> None:
        """Keep the sizes that an array has where the type of its value has symbols."""
        pairs = zip(value.shape, array.shape, strict=True)
        found = {str(size): number for size, number in pairs if isinstance(size, Dim)}
        self.sizes = (self.sizes or {}) | found
        fixed = Value(TensorType(value.dtype, array.shape), name=value.name)
        self.known[value] = fixed
        self.held[fixed] = array
        if value in self.wide:
            self.wide[fixed] = self.wide[value]


def _release_after_use(
    operations: Sequence[TraceOp], arrays: _Arrays, kept: set[Value]
) -> Iterator[TraceOp]:
    """Operations, executed one by one; values are released after their last use."""
    last = {value: operation for operation in operations for value in operation.reads()}
    dead: dict[TraceOp, list[Value]] = {}
    for value, operation in last.items():
        if value not in kept:
            dead.setdefault(operation, []).append(value)
    for operation in operations:
        yield operation
        for value in dead.get(operation, ()):
            arrays.release(value)


def _run(operations: Iterable[TraceOp], arrays: _Arrays, composite: TraceOp | None = None) -> None:
    """Run operations in their order.

    Each result is rounded to its dtype, except in what a composite operation is made of.
    """
    held = arrays.held
    for operation in operations:
        known = arrays.specialize(operation) if arrays.sizes else operation
        if isinstance(known, Constant):
            held[operation.outputs[0]] = known.data.array
            continue
        if composite is None and _moves_much(known, arrays):
            results = _move(known, arrays)
        else:
            results = _results(known, arrays, composite or known)
        for output, result in zip(operation.outputs, results, strict=True):
            type = output.type
            if composite is None:
                held[output] = array = round_cast_quiet(result, type.dtype)
            else:
                arrays.wide[output] = array = widen(result)
                array.setflags(write=False)
            try:
                expected = array.shape == type.shape
            except UndecidedSize:
                expected = False
            if not expected:
                if not _fits(array.shape, type.shape):
                    problem = f"it gave the shape {list(array.shape)}, declared is {type}"
                    raise DiagnosticError(_failure(known, composite or known, problem))
                arrays.learn_sizes(output, array)


def _moves_much(operation: TraceOp, arrays: _Arrays) -> bool:
    """Whether an operation takes many elements elsewhere, and computes nothing."""
    return operation.declaration.moves and any(
        arrays.held_array(value).nbytes >= MUCH for value in operation.reads()
    )


def _move(operation: TraceOp, arrays: _Arrays) -> list[Array]:
    """The results of an operation that computes nothing, on the bits of elements as they are.

    In float64, weights would take two to eight times their memory.
    """
    bits = {value: _bits(arrays.held_array(value)) for value in operation.reads()}
    results = _results(operation, _Arrays({}, bits), operation)
    types = [output.dtype.numpy for output in operation.outputs]
    pairs = zip(results, types, strict=True)
    return [each if type.kind in "iub" else each.view(type) for each, type in pairs]


def _bits(array: Array) -> Array:
    """Elements that NumPy may not know as integers of their size."""
    found = array if array.dtype.kind in "iub" else array.view(f"u{array.dtype.itemsize}")
    found = found.view()
    found.setflags(write=False)
    return found


def _results(operation: TraceOp, arrays: _Arrays, asked: TraceOp) -> list[Array]:
    """Outputs of an operation, not yet rounded, for use inside another one."""
    meaning = _reference_of(type(operation))
    if meaning.function is None:
        return _decomposition_results(operation, arrays, asked)
    arguments = []
    empty = False
    for name in meaning.tensors:  # a loop, since each small eager operation comes here
        argument = getattr(operation, name)
        if isinstance(argument, Value):
            argument = arrays.read(argument)
            empty = empty or argument.size == 0
        elif argument is not None:
            argument = [arrays.read(each) for each in argument]
            empty = empty or 0 in [each.size for each in argument]
        arguments.append(argument)
    if meaning.has_regions:
        outside = [arrays.read(value) for value in operation.captured]
        arguments += [_body(region, outside) for region in operation.bodies()]
        empty = empty or 0 in [each.size for each in outside]
    try:
        if not empty:
            result = meaning.function(operation, *arguments)
        else:
            with _ignore_warnings():
                result = meaning.function(operation, *arguments)
    except MemoryError as error:
        message = f"`{asked.operator}` needs more memory than available"
        types = [f"it returns {each.type}" for each in asked.outputs]
        raise memory_error(message, types, error, asked.location.span()) from error
    except (IndexError, ValueError) as error:  # of what is known only now: positions, for one
        message = f"`{asked.operator}` cannot be computed: {error}"
        found = Diagnostic("wrong-value", message, asked.location.span())
        raise DiagnosticError(found) from error
    except (TypeError, ArithmeticError, LookupError, AttributeError) as error:
        raise DiagnosticError(_failure(operation, asked, str(error))) from error
    if isinstance(result, np.ndarray):
        return [result]
    return [np.asarray(each) for each in (result if isinstance(result, list | tuple) else [result])]


def _fits(shape: Sequence[int], declared: Sequence[Size]) -> bool:
    """Whether a shape is the declared one, where sizes that depend on data have bounds alone."""
    return len(shape) == len(declared) and all(
        (size.low or 0) <= found <= (found if size.high is None else size.high)
        if isinstance(size, Dim)
        else found == size
        for found, size in zip(shape, declared, strict=True)
    )


def _failure(operation: TraceOp, asked: TraceOp, problem: str) -> Diagnostic:
    return Diagnostic(
        "reference-failed",
        f"the reference of `{operation.operator}` failed: {problem}",
        asked.location.span(),
        notes=(f"declared in {operation.declaration.source}",),
    )


@dataclass(frozen=True, slots=True)
class _OperationReference:
    """Reference of an operation class, prepared once."""

    function: Callable[..., Any] | None
    tensors: tuple[str, ...]
    has_regions: bool


_meanings: dict[type[TraceOp], _OperationReference] = {}


def _reference_of(operation: type[TraceOp]) -> _OperationReference:
    found = _meanings.get(operation)
    if found is None:
        has_regions = bool(operation.region_fields())
        found = _OperationReference(
            reference_function(operation), operation.tensor_fields(), has_regions
        )
        _meanings[operation] = found
    return found


@contextmanager
def _ignore_warnings() -> Iterator[None]:
    """The mean of nothing is nan, of which NumPy warns in a way that is costly to stop."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def _body(region: Region, outside: Sequence[Array]) -> Callable[..., list[Array]]:
    """What a reference calls to run a region; what a file makes us compute is bounded."""
    octets = [
        math.prod(size for size in value.shape if isinstance(size, int)) * value.dtype.itemsize
        for operation in region.operations
        for value in operation.outputs
    ]
    work = sum(STEPS + int(size) // BYTES_OF_STEP for size in octets) + STEPS

    def run(*taken: Array) -> list[Array]:
        spend("steps", work)
        given = zip(region.parameters, (*taken, *outside), strict=True)
        arrays = _Arrays({v: round_cast_quiet(array, v.dtype) for v, array in given}, {})
        _run(region.operations, arrays)
        return [arrays.read(value) for value in region.results]

    return run


def _decomposition_results(operation: TraceOp, arrays: _Arrays, asked: TraceOp) -> list[Array]:
    """What an operation is made of, computed without rounding in between."""
    made_of = cached_decomposition(operation)
    read = map(arrays.read, dict.fromkeys(operation.reads()))
    inner = _Arrays({}, dict(zip(made_of.reads, read, strict=True)))
    _run(made_of.steps, inner, asked)
    return [inner.read(each) for each in made_of.gives]
