"""Default arguments: what a call is given and would do by itself is left out."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.importer.call_patterns import operators_by_method
from tripybuild.importer.call_program import Call, CallProgram, CallValue, needed_calls, read_values
from tripybuild.importer.raising.simplify import LOGICAL, with_results
from tripybuild.importer.raising.size_values import SAMPLES, SizeValues
from tripybuild.model.libraries import OperatorLibrary, builtin_library
from tripybuild.schema.operator.operator import Operator

_SEED = 21
_CLOSE = 1e-6  # the largest difference of calls with and without an argument, in part
_NEARBY = 1 + 2**-10


def drop_arguments(
    program: CallProgram,
    operators: Mapping[str, Operator],
    library: OperatorLibrary | None = None,
) -> CallProgram:
    """A program whose calls take no arguments that change nothing.

    These are masks that hide nothing, numbers that an operator has by itself, and what only repeats
    a mask, which the operator does. Where a declaration does not say what an argument is by itself,
    both calls are compared on random values for several sizes, and a number only where a nearby one
    would be seen: what changes no such value, as a bound beyond them all, may change others.

    Args:
        program: The program.
        operators: The declarations that its calls are of, by name.
        library: Where the public functions are; by default what tripybuild brings along.
    """
    work = _Arguments(program, operators, library or builtin_library())
    calls = [work.call(call) for call in program.graph.calls]
    outputs = [value for _, value in program.graph.outputs]
    calls = needed_calls(calls, [*outputs, *program.updates.values()])
    return replace(program, graph=replace(program.graph, calls=calls))


class _Arguments:
    def __init__(
        self, program: CallProgram, operators: Mapping[str, Operator], library: OperatorLibrary
    ) -> None:
        self.operators = operators
        self.values = SizeValues(program, operators, library)
        methods = operators_by_method(operators)
        self.neutral = {methods[sign]: value for sign, value in LOGICAL.items() if sign in methods}
        self.proofs: dict[object, bool] = {}
        self.kept: list[CallValue] = []  # an identity means a mask as long as that is there

    def call(self, call: Call) -> Call:
        """The call without what changes nothing in it."""
        if len(call.results) != 1 or not call.results[0].rank:
            return call
        operator = self.operators[call.operator]
        for name, value in list(call.arguments.items()):
            if isinstance(value, CallValue) and value.dtype.kind == "boolean":
                for narrow in self._narrow(value):
                    call = self._changed(call, {**call.arguments, name: narrow}, narrow, value)
            left = call.arguments[name]
            if self._is_optional(operator, name) and self._is_known(left):
                given = {n: v for n, v in call.arguments.items() if n != name}
                default = _number(operator, name)
                if default is not None:
                    call = with_results(replace(call, arguments=given)) if left == default else call
                elif isinstance(left, CallValue) or self._is_seen(call, name, left):
                    call = self._changed(call, given, None, left)
        return call

    def _is_seen(self, call: Call, name: str, number: float) -> bool:
        """Whether random values tell a number from the next one."""
        nearby = number * _NEARBY if number else _NEARBY - 1
        changed = replace(call, arguments={**call.arguments, name: nearby})
        return not self._holds(call, changed, None, None)

    @staticmethod
    def _is_optional(operator: Operator, name: str) -> bool:
        if name in operator.inputs:
            return operator.inputs[name].optional
        return name in operator.attributes and operator.attributes[name].default is not None

    def _is_known(self, value: Any) -> bool:
        """Whether a mask follows from sizes, or an argument is a number."""
        if isinstance(value, CallValue):
            return value.dtype.kind == "boolean" and self.values.numbers(value) is not None
        return isinstance(value, float)

    def _narrow(self, value: CallValue) -> Iterator[CallValue]:
        """What a mask only repeats: another one that is expanded, or is beside a neutral one."""
        if value.call is None:
            return
        given = [each for each in value.call.arguments.values() if isinstance(each, CallValue)]
        if value.call.operator in self.neutral and len(given) == len("lr"):
            neutral = self.neutral[value.call.operator]
            for narrow, other in (given, given[::-1]):
                arrays = self.values.arrays(other)
                if arrays is not None and all((each == neutral).all() for each in arrays):
                    yield narrow
        elif len(given) == 1 and self.operators[value.call.operator].moves:
            yield given[0]

    def _changed(
        self, call: Call, arguments: Mapping[str, Any], narrow: CallValue | None, old: Any
    ) -> Call:
        """The call with other arguments, if it gives the same."""
        changed = replace(call, arguments=arguments)
        return with_results(changed) if self._holds(call, changed, narrow, old) else call

    def _holds(self, call: Call, changed: Call, narrow: CallValue | None, old: Any) -> bool:
        key: tuple[object, ...] = _shown(call), _shown(changed)
        masks = [each for each in (narrow, old) if isinstance(each, CallValue)]
        if masks:  # of one type they may still be made of other numbers
            key = (*key, *map(id, masks))
        if key not in self.proofs:
            self.kept += masks
            try:
                self.proofs[key] = self._is_same(call, changed, narrow, old)
            except (LookupError, DiagnosticError):  # not known, or a call that is refused
                self.proofs[key] = False
        return self.proofs[key]

    def _is_same(self, call: Call, changed: Call, narrow: CallValue | None, old: Any) -> bool:
        random = np.random.default_rng(_SEED)
        masks = [each for each in read_values([call]) if self.values.numbers(each) is not None]
        for number in self.values.numbers(*masks) or range(SAMPLES):
            given = {}
            for value in {*read_values([call]), *([] if narrow is None else [narrow])} - {old}:
                if not self.values.is_small(value, number) or value.dtype.kind == "integer":
                    return False
                drawn = random.normal(size=self.values.shape(value.shape, number))
                is_mask = value.dtype.kind == "boolean"
                given[id(value)] = drawn > -1 if is_mask else drawn.astype(value.dtype.numpy)
            before = dict(given)
            if narrow is not None:
                before[id(old)] = np.asarray(self.values.run(old.call, number, given)[0])
            one = np.asarray(self.values.run(call, number, before)[0])
            other = np.asarray(self.values.run(changed, number, given)[0])
            near = _CLOSE * abs(one[np.isfinite(one)]).max(initial=0)
            if one.shape != other.shape or not np.allclose(one, other, 0, near):
                return False
        return True


def _number(operator: Operator, name: str) -> float | None:
    """The number that an argument is by itself, where the declaration says one."""
    attribute = operator.attributes.get(name)
    default = None if attribute is None else attribute.default
    match default.program.result if default is not None else None:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
    return None


def _shown(call: Call) -> object:
    """A call by its operator, the types of its tensors and its other arguments."""
    given = {
        name: str(value.type) if isinstance(value, CallValue) else repr(value)
        for name, value in call.arguments.items()
    }
    return call.operator, *given.items()
