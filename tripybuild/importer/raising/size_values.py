"""Values that follow from sizes alone: what they are for some sets of sizes.

What holds for these sets holds for all: behind the sizes that are tried stands no number in the
calls with which another size could be compared. Where such a set is too large, nothing is said.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from math import isfinite, prod
from typing import Any

import numpy as np

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.importer.call_program import (
    Call,
    CallGraph,
    CallProgram,
    CallValue,
    python_arguments,
)
from tripybuild.model.libraries import OperatorLibrary
from tripybuild.schema.operator.operator import Operator
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.values import LARGEST
from tripybuild.types.dtypes import dtype

Array = np.ndarray[Any, Any]
SAMPLES = 3  # sets of small sizes
MOST = 1 << 21  # elements of a value that is computed
_STEP = 2  # between the sizes of two sets, which keeps all sizes of one apart


class SizeValues:
    """Computes calls for some sets of sizes, by the public functions that they name.

    Args:
        program: The program whose sizes they are.
        operators: The declarations, by name.
        library: Where the public functions are.
    """

    def __init__(
        self, program: CallProgram, operators: Mapping[str, Operator], library: OperatorLibrary
    ) -> None:
        self.program, self.operators, self.library = program, operators, library
        self.sets = [self._sizes(3 + number * (len(program.ranges) + _STEP)) for number in range(3)]
        self._held: dict[tuple[int, int], Any] = {}
        self._refused: set[tuple[int, int]] = set()  # a refusal looks for its place in the source
        self._made_with: dict[int, frozenset[float] | None] = {}
        self._kept: list[object] = []  # an identity means a value as long as that is there
        self._tensor: Callable[[Array], Any] = import_module(library.package).Tensor

    def _sizes(self, first: int) -> dict[str, int]:
        """Sizes within their ranges from a number on, no two equal where that is possible."""
        sizes = {}
        for index, (name, each) in enumerate(self.program.ranges.items()):
            size = -(-max(first + index, each.min) // each.multiple_of) * each.multiple_of
            sizes[name] = size if each.max is None else min(size, each.max)
        return sizes

    # --- which sets say enough ---

    def numbers(self, *values: CallValue) -> list[int] | None:
        """The sets that say what values are for all sizes.

        None where one of them depends on more than sizes, or is too large.
        """
        literals: set[float] = set()
        for value in values:
            found = self._literals(value)
            if found is None:
                return None
            literals |= found
        last = self._sizes(int(min(2 * prod(literals) + 3, LARGEST)))
        if last not in self.sets:
            self.sets.append(last)
        chosen = [*range(SAMPLES), self.sets.index(last)]
        fits = all(self.is_small(value, number) for value in values for number in chosen)
        return list(dict.fromkeys(chosen)) if fits else None

    def _literals(self, value: CallValue) -> frozenset[float] | None:
        """The numbers that a value is made with; None if it depends on more than sizes.

        Their product is beyond each number that a size could be compared with.
        """
        if id(value) not in self._made_with:
            self._kept.append(value)
            self._made_with[id(value)] = None  # a value is not made of itself
            self._made_with[id(value)] = self._literals_of_call(value.call)
        return self._made_with[id(value)]

    def _literals_of_call(self, call: Call | None) -> frozenset[float] | None:
        if call is None or self.operators[call.operator].random:
            return None
        found: set[float] = set()
        for leaf in _leaves([*call.arguments.values()]):
            if isinstance(leaf, CallGraph):
                return None
            if isinstance(leaf, CallValue):
                literals = self._literals(leaf)
                if literals is None:
                    return None
                found |= literals
            elif isinstance(leaf, int | float) and isfinite(leaf) and abs(leaf) > 1:
                found.add(abs(leaf))
        return frozenset(found)

    def is_small(self, value: CallValue, number: int) -> bool:
        """Whether a value has few elements for a set of sizes."""
        return prod(self.shape(value.shape, number)) <= MOST

    # --- what values are ---

    def arrays(self, value: CallValue) -> list[Array] | None:
        """What a value is; None where it depends on more than sizes, or is none for these."""
        numbers = self.numbers(value)
        if numbers is None:
            return None
        try:
            return [np.asarray(self._tensor_of(value, each)) for each in numbers]
        except (DiagnosticError, LookupError):  # too large for a table of positions, for one
            return None

    def _tensor_of(self, value: CallValue, number: int) -> Any:
        if (id(value), number) not in self._held:
            call = value.call
            if call is None or not self.is_small(value, number):
                raise LookupError
            if (id(call), number) in self._refused:
                raise LookupError
            self._refused.add((id(call), number))  # until it gives its results
            self._kept.append(call)
            results = self.run(call, number, {})
            self._refused.discard((id(call), number))
            for result, tensor in zip(call.results, results, strict=True):
                self._kept.append(result)
                self._held[id(result), number] = tensor
        return self._held[id(value), number]

    def run(self, call: Call, number: int, given: Mapping[int, Array]) -> list[Any]:
        """The results of a call for one set of sizes.

        Args:
            call: The call.
            number: That of the set.
            given: Arrays in the place of tensors, by their identity.

        Raises:
            LookupError: One of its tensors is not known.
        """
        arguments = {n: self._argument(v, number, given) for n, v in call.arguments.items()}
        result = self.library.operator(call.operator)(**python_arguments(arguments))
        return list(result) if isinstance(result, (list, tuple)) else [result]

    def compute(self, call: Call, number: int, given: Mapping[int, Array]) -> Any:
        """The only result of a call, with all calls before it up to what is given.

        Raises:
            LookupError: It depends on a tensor that is not given.
        """
        known = dict(given)
        for value in list(_leaves([*call.arguments.values()])):
            if isinstance(value, CallValue) and id(value) not in known:
                if value.call is None or len(value.call.results) != 1:
                    raise LookupError
                known[id(value)] = np.asarray(self.compute(value.call, number, given))
        return self.run(call, number, known)[0]

    def _argument(self, value: Any, number: int, given: Mapping[int, Array]) -> Any:
        match value:
            case CallValue() if id(value) in given:
                return self._tensor(given[id(value)])
            case CallValue():
                return self._tensor_of(value, number)
            case CallGraph():
                raise LookupError
            case list() | tuple():
                return [self._argument(each, number, given) for each in value]
            case slice():
                parts = (value.start, value.stop, value.step)
                return slice(*(self._argument(each, number, given) for each in parts))
            case Dim():
                return value.substitute(self.sets[number])
        return value

    def shape(self, shape: Sequence[Any], number: int) -> list[int]:
        """A shape for one set of sizes."""
        sizes = self.sets[number]
        return [int(each.substitute(sizes)) if isinstance(each, Dim) else each for each in shape]

    def numbered(self, value: CallValue, number: int) -> Array:
        """An array of a value's shape in which all elements differ."""
        shape = self.shape(value.shape, number)
        return np.arange(prod(shape), dtype=np.int64).reshape(shape)

    def takes(self, operator: Operator, type: dtype) -> bool:
        """Whether all inputs of an operator can have a dtype."""
        return all(type in types for types in operator.types.values())


def _leaves(arguments: Any) -> Iterator[Any]:
    match arguments:
        case list() | tuple():
            for each in arguments:
                yield from _leaves(each)
        case slice():
            yield from _leaves([arguments.start, arguments.stop, arguments.step])
        case _:
            yield arguments
