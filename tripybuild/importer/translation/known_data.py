"""Known data: the elements of small tensors that follow from numbers and sizes alone.

ONNX computes shapes with tensors, and programs of PyTorch hold lists and numbers as tensors. What
an operator gives for known elements, its reference computes: on numbers, or on an array of objects
among which are sizes. What that cannot say stays unknown, which is never wrong.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.frontend import Tensor
from tripybuild.importer.call_program import CallValue
from tripybuild.importer.foreign_program import ForeignWeight
from tripybuild.reference.execute import run_operation
from tripybuild.reference.numerics.arrays import Array, convert, round_cast
from tripybuild.reference.numerics.numpy_guard import allow_symbols
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.constants import Constant
from tripybuild.trace.generated_code import reference_function
from tripybuild.trace.graph import operations_between
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.values import Value

TensorOf = Callable[[CallValue], Tensor]
# What a reference raises that cannot compute with sizes.
_UNSAID = (
    *(DiagnosticError, UndecidedSize, ArithmeticError, LookupError),
    *(AttributeError, TypeError, ValueError),
)
MOST = 256  # elements; shapes, axes and paddings have some


class KnownData:
    """The elements of values, where they are known.

    Those of weights are no literals: a file has them, and a number in their place would be wrong
    with the next one. What follows from integers of a file is arithmetic on shapes.
    """

    def __init__(self) -> None:
        self._of_file: set[CallValue] = set()

    def data(self, value: CallValue) -> Array | None:
        """The elements of a value."""
        return value.data

    def literal(self, value: CallValue) -> Any:
        """The one element of a value that no file has, as a Python number or a size; or None."""
        if value.data is None or value in self._of_file:
            return None
        found = value.data.item()
        if isinstance(found, bool | int | Dim):
            return found
        return _shortest(value.data) if isinstance(found, float) else None

    def learn_weight(self, value: CallValue, weight: ForeignWeight) -> None:
        """Read the elements of a small weight."""
        if not _is_small(value):
            return
        if value.dtype.kind == "float" and not weight.is_constant:
            return
        value.data = np.asarray(weight.load())
        if not weight.is_constant:
            self._of_file.add(value)

    def learn_conversion(self, value: CallValue, result: CallValue) -> None:
        """Give elements in another dtype; sizes are whole numbers in each but `bool`."""
        data = value.data
        if data is None:
            return
        if data.dtype != object:
            with np.errstate(all="ignore"):
                result.data = round_cast(convert(data, result.dtype), result.dtype)
        elif result.dtype.kind != "boolean":
            result.data = data
        if value in self._of_file and result.dtype.kind == "float":
            self._of_file.add(result)

    def learn(
        self, arguments: Iterable[Any], results: Sequence[CallValue], tensor: TensorOf
    ) -> None:
        """Compute the elements of what a call gives, if they follow from what is known."""
        read = [each for argument in arguments for each in _values(argument)]
        if any(each.data is None for each in read) or not all(map(_is_small, results)):
            return
        held = {tensor(each).value: each.data for each in read if each.data is not None}
        found = self._compute(held, [tensor(each).value for each in results])
        of_file = any(one in self._of_file for one in read)
        for each, array in zip(results, found or (), strict=False):
            each.data = array
            if of_file and each.dtype.kind == "float":
                self._of_file.add(each)

    def _compute(self, held: dict[Value, Array], wanted: Sequence[Value]) -> list[Array] | None:
        for operation in operations_between(held.keys(), wanted):
            if operation.region_fields():
                return None
            found = _results(operation, held)
            if found is None:
                return None
            held.update(zip(operation.outputs, found, strict=True))
        return [held[value] for value in wanted]


def _values(argument: Any) -> Iterator[CallValue]:
    if isinstance(argument, CallValue):
        yield argument
    elif isinstance(argument, list | tuple):
        for each in argument:
            yield from _values(each)


def _is_small(value: CallValue) -> bool:
    count = 1
    for size in value.shape:
        if isinstance(size, Dim):
            return False
        count *= size
    return count <= MOST


def _results(operation: TraceOp, held: Mapping[Value, Array]) -> list[Array] | None:
    """What an operation gives; None where that cannot be said of sizes."""
    if isinstance(operation, Constant):
        value = operation.data.value
        return [_object(value)] if isinstance(value, Dim) else [operation.data.array]
    read = {value: held[value] for value in operation.reads()}
    try:
        if not any(each.dtype == object for each in read.values()):
            pairs = zip(run_operation(operation, read), operation.outputs, strict=True)
            return [round_cast(array, value.dtype) for array, value in pairs]
        return _results_on_sizes(operation, read)
    except _UNSAID:
        return None  # it is not known, then


def _results_on_sizes(operation: TraceOp, read: Mapping[Value, Array]) -> list[Array] | None:
    """The reference on arrays of objects, if what it gives are numbers and sizes."""
    function = reference_function(type(operation))
    if function is None:
        return None
    whole = {value: _whole(array) for value, array in read.items()}
    arguments = []
    for name in operation.tensor_fields():
        given = getattr(operation, name)
        several = isinstance(given, tuple)
        arguments.append(
            [whole[each] for each in given] if several else None if given is None else whole[given]
        )
    with allow_symbols(Dim):
        result = function(operation, *arguments)
    gives = result if isinstance(result, list | tuple) else [result]
    found = [np.asarray(each) for each in gives]
    pairs = zip(found, operation.outputs, strict=True)
    fits = all(a.shape == v.shape and _are_sizes(a) for a, v in pairs)
    return found if fits else None


def _whole(array: Array) -> Array:
    """Floats that are integers as such: sizes are multiplied by no others."""
    if array.dtype.kind != "f" or not (np.isfinite(array) & (array == np.trunc(array))).all():
        return array
    return array.astype(np.int64).astype(object)


def _are_sizes(array: Array) -> bool:
    return all(isinstance(each, int | float | Dim | np.generic) for each in array.flat)


def _object(value: Dim) -> Array:
    made = np.empty((), object)
    made[()] = value
    return made


def _shortest(array: Array) -> float:
    """The shortest number that is this element in its dtype."""
    exact = float(array.item())
    if array.dtype.kind != "f":  # one of ml_dtypes
        return exact
    near = float(str(array.reshape(())[()]))
    return near if array.dtype.type(near) == array.item() else exact
