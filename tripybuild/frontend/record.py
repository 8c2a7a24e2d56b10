"""Recording: a call of a public function becomes a graph operation, and `infer` is cached.

Models repeat themselves, layer by layer and turn by turn, and laws are costly to check. Invariant:
a cached result follows from its key alone, operand types and attributes. What looks at more of a
tensor than its type (`Check.static_tensor`), takes a graph, or introduces new symbolic sizes, is
inferred anew each time, as is a refusal.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from types import EllipsisType, NoneType
from typing import Any, TypeVar, cast

from tripybuild.errors.budget import spend
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.frontend.checks.argument_error import caller_diagnostic
from tripybuild.frontend.checks.check import Check
from tripybuild.frontend.checks.python_numbers import python_number
from tripybuild.frontend.tensor import PACKAGES as PACKAGES, Tensor  # noqa: PLC0414
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.constants import Constant, constant, dimension_of, number
from tripybuild.trace.location import Location, caller_location
from tripybuild.trace.operation import Declaration, DeferredLaw, TraceOp
from tripybuild.trace.region import LeakError, check_open
from tripybuild.trace.structural_key import exact_key
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import dtype

MOST = 4096  # forms of operations; a large model has some hundred
# Attributes that are equal only where they mean the same to `infer`, beside others of their class.
_PLAIN = frozenset({int, bool, str, NoneType, EllipsisType, Dim, dtype})
# What a generated function says that it gives: the Tensor class of its package, which is not known
# here. Type checkers take it from the function that returns it.
Given = TypeVar("Given")


def record(operation: type[TraceOp], *arguments: object) -> Given:  # type: ignore[type-var]
    """Record an operation that gives one tensor.

    Raises:
        DiagnosticError: Where a law of the declaration does not hold, at the caller's line.
    """
    result = _record(operation, arguments)
    if isinstance(result, Value):
        return cast("Given", _same_tensor(result, arguments))
    return cast("Given", Tensor.of(result.outputs[0]))


def _same_tensor(value: Value, arguments: Sequence[object]) -> Tensor:
    """The very tensor that was given, where an operator has nothing to do: `cast` to its dtype."""
    for argument in arguments:
        for each in argument if isinstance(argument, (list, tuple)) else (argument,):
            if isinstance(each, Tensor) and each.value is value:
                return each
    return Tensor.of(value)


def record_several(operation: type[TraceOp], *arguments: object) -> Given:  # type: ignore[type-var]
    """Record an operation that gives several tensors, as a tuple."""
    result = _record(operation, arguments)
    assert isinstance(result, TraceOp)
    return cast("Given", tuple(Tensor.of(output) for output in result.outputs))


def record_any(operation: type[TraceOp], *arguments: object) -> Given:  # type: ignore[type-var]
    """Record an operation that gives any number of tensors: one as itself, several as a tuple."""
    results: tuple[Tensor, ...] = record_several(operation, *arguments)
    return cast("Given", results[0] if len(results) == 1 else results)


def _record(operation: type[TraceOp], arguments: tuple[object, ...]) -> TraceOp | Value:
    package = operation.__module__.partition(".")[0]
    if package not in PACKAGES:
        PACKAGES.add(package)
    spend("operations")
    location = caller_location(PACKAGES, 3)  # above this function and the one that calls it
    values = [_value(argument) for argument in arguments]
    if regions := operation.region_fields():
        named = zip(operation.__dataclass_fields__, values, strict=False)
        values = [_body(v) if n in regions and callable(v) else v for n, v in named]
    kind = _checks.get()[0]
    if kind is Check:
        return infer(operation, values, location)
    return run_inference(operation, values, kind(operation.declaration, location))


def _value(argument: object) -> object:
    if isinstance(argument, Tensor):
        if argument.value.scope is not None:
            _check_usable(argument.value)
        return argument.value
    if isinstance(argument, list):
        return [_value(item) for item in argument]
    if isinstance(argument, tuple):  # also one with names, as libraries give shapes
        return tuple([_value(item) for item in argument])
    return python_number(argument)


def _body(function: Any) -> Callable[..., Sequence[object]]:
    """A function on tensors as one on values."""

    def body(*values: Value) -> Sequence[object]:
        given = _value(function(*map(Tensor.of, values)))
        return given if isinstance(given, (list, tuple)) else [given]

    return body


def _check_usable(value: Value) -> None:
    """Reject a tensor of a closed region, which is not visible outside."""
    try:
        check_open(value)
    except LeakError:
        message = "a tensor that was made inside of a region is used outside of it"
        hint = "return it from the function that makes it"
        raise DiagnosticError(caller_diagnostic("region-value", message, hint)) from None


def unwrap(tensors: Any) -> list[Value]:
    """The values that tensors stand for."""
    return [tensor.value for tensor in tensors]


class InlineCheck(Check):
    """The checks of a function that records no operation of its own."""

    def constant(self, value: float | bool, type: dtype) -> Tensor:
        """A number as a tensor."""
        return Tensor.of(number(value, type, self.location))

    def data(self, array: Any, type: dtype) -> Tensor:
        """An array as a tensor."""
        return Tensor.of(constant(array, type, self.location))

    def finish(self, result: Given) -> Given:
        """Hand the laws that are still open to an operation that the function recorded.

        They stand before its own: what breaks those is what the function was given.
        """
        first = result[0] if isinstance(result, tuple) else result
        producer = first.value.producer if isinstance(first, Tensor) else None
        if producer is not None and self.deferred:
            producer.with_location(producer.location, (*self.deferred, *producer.deferred))
        return result


def begin(declaration: Declaration) -> InlineCheck:
    """Begin the checks of an inline function, called at the user's line."""
    return _checks.get()[1](declaration, caller_location(PACKAGES))


MakeCheck = Callable[[Declaration, Location], InlineCheck]
_checks: ContextVar[tuple[type[Check], MakeCheck]] = ContextVar(
    "checks", default=(Check, InlineCheck)
)


@contextmanager
def use_checks(operation: type[Check], inline: MakeCheck) -> Iterator[None]:
    """Let other classes check the calls in a `with` block: operations, and inline functions."""
    before = _checks.set((operation, inline))
    try:
        yield
    finally:
        _checks.reset(before)


class _Mark(Enum):
    """What is kept of an argument that is no attribute."""

    GIVEN = "the tensor, or the tensors, that the call gives"
    FLEETING = "what nothing but the call tells"


@dataclass(frozen=True, slots=True)
class _ConstantNumber:
    """An argument that is a constant: the number that the call gives, in a dtype."""

    type: dtype


@dataclass(frozen=True, slots=True)
class _CachedOperation:
    """An operation without its tensors and its place.

    Args:
        arguments: Its attributes, and what stands for its tensors.
        types: Those of its outputs.
        deferred: The laws that sizes leave open.
    """

    arguments: tuple[object, ...]
    types: tuple[TensorType, ...]
    deferred: tuple[DeferredLaw, ...]

    def instantiate(
        self, operation: type[TraceOp], given: Sequence[Any], place: Location
    ) -> TraceOp:
        """The operation with the tensors of a call."""
        arguments = [
            each if kept is _GIVEN and isinstance(each, Value) else _argument(kept, each, place)
            for kept, each in zip(self.arguments, given, strict=True)
        ]
        return operation(*arguments).with_types(*self.types).with_location(place, self.deferred)


_GIVEN = _Mark.GIVEN  # each argument asks, and looking it up takes longer than asking
_found: dict[object, _CachedOperation] = {}


def infer(operation: type[TraceOp], given: Sequence[Any], location: Location) -> TraceOp | Value:
    """Check the call of an operator.

    Args:
        operation: The class of what is recorded.
        given: Its arguments as `infer` takes them, in the order of the fields.
        location: The place of the call.

    Returns:
        The operation, or a value that is its result already.

    Raises:
        DiagnosticError: A law does not hold.
    """
    key = _key(operation, given)
    if (known := _found.get(key)) is not None:
        return known.instantiate(operation, given, location)
    check = Check(operation.declaration, location)
    result = run_inference(operation, given, check)
    if key is not None and check.lasting and not isinstance(result, Value):
        _store(key, result, given)
    return result


def run_inference(operation: type[TraceOp], given: Sequence[Any], check: Check) -> TraceOp | Value:
    """The same by checks that may be of another kind; nothing is kept."""
    result: TraceOp | Value = operation.infer(check, *given)
    if isinstance(result, Value):
        return result
    return result.with_location(check.location, tuple(check.deferred))


def _key(operation: type[TraceOp], given: Iterable[object]) -> object:
    """All that `infer` may look at; None where that is more than types and attributes."""
    parts: list[object] = [operation]
    for each in given:
        if isinstance(each, Value):  # not its type, since Python would ask that for its hash
            parts += (each.type.dtype, each.type.shape)
        elif (part := _part(each)) is not None:
            parts.append(part)
        else:
            return None
    return tuple(parts)


def _part(argument: object) -> object:
    """An attribute, or tensors in a list, with the classes of all that is in it."""
    kind = type(argument)
    if kind in _PLAIN or isinstance(argument, float):
        return exact_key(argument)
    if isinstance(argument, Value):  # in a list of sizes, the size itself
        size = dimension_of(argument)
        known = size if size is not argument else None
        return argument.type.dtype, argument.type.shape, known
    if isinstance(argument, slice):
        argument = (argument.start, argument.stop, argument.step)
    if isinstance(argument, (list, tuple)):
        parts = [_part(each) for each in argument]
        return None if None in parts else (kind, *parts)
    return None


def _store(key: object, made: TraceOp, given: Sequence[object]) -> None:
    """Keep what was found, unless something of it is of this call alone."""
    fields = [getattr(made, name) for name in made.__dataclass_fields__]
    types = tuple([each.type for each in made.outputs])
    kept = [_cache_field(field, each) for field, each in zip(fields, given, strict=False)]
    read = [list(law.names.values()) for law in made.deferred]
    fleeting = any(each is _Mark.FLEETING for each in kept)
    if len(kept) < len(fields) or fleeting or _tensors(read):
        return
    if _symbols([each.shape for each in types]) <= _symbols([*given, *fields]):
        if len(_found) >= MOST:
            _found.clear()
        _found[key] = _CachedOperation(tuple(kept), types, made.deferred)


def _cache_field(field: object, given: object) -> object:
    """What stands for a field that an argument became."""
    if isinstance(field, Value):
        if field is given:
            return _Mark.GIVEN
        constant = isinstance(field.producer, Constant) and given is not None
        return (
            _ConstantNumber(field.dtype) if constant and field.number is given else _Mark.FLEETING
        )
    several = isinstance(given, (list, tuple))
    if _tensors(field):
        same = several and [*map(id, _leaves(field))] == [*map(id, given)]  # type: ignore[call-overload]
        return _Mark.GIVEN if same else _Mark.FLEETING
    offered = _tensors(given)
    sized = several and all(dimension_of(each) is not each for each in offered)
    return _Mark.FLEETING if offered and not sized else field


def _tensors(argument: object) -> list[Value]:
    return [each for each in _leaves(argument) if isinstance(each, Value)]


def _symbols(arguments: object) -> set[str]:
    """The names that sizes depend on, those of tensors and those of attributes."""
    leaves = _leaves([_shapes(each) for each in _leaves(arguments)])
    return {name for each in leaves if isinstance(each, Dim) for name in each.symbols}


def _shapes(argument: object) -> object:
    return argument.shape if isinstance(argument, Value) else argument


def _leaves(argument: object) -> Iterator[object]:
    """What is in nested lists, or an argument itself."""
    if isinstance(argument, (list, tuple)):
        for each in argument:
            yield from _leaves(each)
    elif isinstance(argument, slice):
        yield from _leaves((argument.start, argument.stop, argument.step))
    else:
        yield argument


def _argument(kept: object, given: Any, place: Location) -> object:
    """An argument of an operation that is made from what is kept."""
    if kept is _Mark.GIVEN:
        return given if isinstance(given, Value) else tuple(given)
    return number(given, kept.type, place) if isinstance(kept, _ConstantNumber) else kept
