"""Operation templates: emitted operations are cloned for equal forms.

A network says the same for each of its layers. A clone of MLIR's costs as much as one operation
that is made anew, with its regions and without what builders do to find types and attributes.

Invariant: a clone is what the builders would have emitted. They see the dtypes and shapes of
operands, and constants that the module has once; all else that they see is in the key, which the
caller owes.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from tripybuild.stablehlo import bindings
from tripybuild.stablehlo.module import HloModule
from tripybuild.stablehlo.value import HloValue

# An operation, which of its operands are which numbers, and whether it holds regions.
Step = tuple[Any, list[tuple[int, int]], bool]


def build_or_clone(
    module: HloModule,
    form: object,
    operands: Sequence[HloValue],
    build: Callable[[], Sequence[HloValue]],
) -> Sequence[HloValue]:
    """What `build` gives; where it was asked for the same before, a clone of what it emitted then.

    Args:
        module: The module, which is being filled outside of any region.
        form: All that decides what is built beside the operands.
        operands: All values that `build` reads.
        build: Calls builders.
    """
    key = (form, *_key(module, operands))
    pattern = module.patterns.get(key)
    if pattern is None:
        module.emitted = []
        results = build()
        module.patterns[key] = OperationTemplate(module, operands, module.emitted, results)
        return results
    return build() if pattern.steps is None else pattern.clone(operands)


def _key(module: HloModule, operands: Sequence[HloValue]) -> list[Hashable]:
    """What operands are to builders: dtypes, shapes, and which of them are the same.

    A constant of the module is itself: builders may use it, too, so that a clone could not tell
    what of it was an operand.
    """
    shared, numbers, found = module.shared, dict[Any, int](), list[Hashable]()
    for each in operands:
        mlir = each.mlir
        found.append(mlir if mlir in shared else numbers.setdefault(mlir, len(numbers)))
        found += (each.dtype, each.shape)
    return found


class OperationTemplate:
    """The operations that were emitted for some operands."""

    def __init__(
        self,
        module: HloModule,
        operands: Sequence[HloValue],
        emitted: Sequence[Any],
        results: Sequence[HloValue],
    ) -> None:
        self.shared = module.shared
        self.operands, self.emitted, self.results = operands, emitted, results

    @cached_property
    def numbers(self) -> dict[Any, int]:
        """The operands, then the results of each operation."""
        made = [result for each in self.emitted for result in each.results]
        values = enumerate([*[each.mlir for each in self.operands], *made])
        return {value: number for number, value in values if value not in self.shared}

    @cached_property
    def steps(self) -> list[Step] | None:
        """The operations to clone; None where one holds a region that reads what is outside."""
        known = self.shared.union(self.numbers)
        if all(
            _captured_values(e) <= self.shared and known.issuperset(e.operands)
            for e in self.emitted
        ):
            return [_step(each, self.numbers) for each in self.emitted]
        return None

    @cached_property
    def result_numbers(self) -> list[tuple[int | None, HloValue]]:
        """The results, those that are constants of the module without a number."""
        return [(self.numbers.get(each.mlir), each) for each in self.results]

    def clone(self, operands: Sequence[HloValue]) -> list[HloValue]:
        """The same operations on other operands, at the current place."""
        assert self.steps is not None
        values = [each.mlir for each in operands]
        location = bindings.ir.Location.current
        for operation, places, holds in self.steps:
            copy = operation.clone().operation
            copy.location = location
            if holds:
                _set_location(copy, location)
            own = copy.operands
            for place, number in places:
                own[place] = values[number]
            values += copy.results
        return [
            kept if number is None else HloValue(values[number], kept.dtype, kept.shape)
            for number, kept in self.result_numbers
        ]


def _step(operation: Any, numbers: Mapping[Any, int]) -> Step:
    reads = enumerate(operation.operands)
    places = [(place, numbers[operand]) for place, operand in reads if operand in numbers]
    return operation, places, len(operation.regions) > 0


def _captured_values(operation: Any) -> set[Any]:
    """What the regions of an operation read from outside."""
    made, read = set(_arguments(operation)), set()
    for inner in _nested_operations(operation):
        made |= {*inner.results, *_arguments(inner)}
        read |= set(inner.operands)
    return read - made


def _nested_operations(operation: Any) -> Iterator[Any]:
    """The operations within, each before those that it holds itself."""
    for region in operation.regions:
        for block in region:
            for inner in block:
                yield inner.operation
                yield from _nested_operations(inner.operation)


def _arguments(operation: Any) -> Iterator[Any]:
    for region in operation.regions:
        for block in region:
            yield from block.arguments


def _set_location(operation: Any, location: Any) -> None:
    """Say where all that is within an operation comes from."""
    for argument in _arguments(operation):
        argument.set_location(location)
    for inner in _nested_operations(operation):
        inner.location = location
        for argument in _arguments(inner):
            argument.set_location(location)
