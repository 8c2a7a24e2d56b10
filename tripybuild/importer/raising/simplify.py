"""Simplification: calls that change nothing are left out, and what sizes alone say is said so."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.importer.call_chains import is_number
from tripybuild.importer.call_patterns import operators_by_method
from tripybuild.importer.call_program import (
    Call,
    CallGraph,
    CallProgram,
    CallValue,
    needed_calls,
    read_values,
)
from tripybuild.importer.raising.size_makers import SizeMakers
from tripybuild.importer.raising.size_values import SAMPLES, SizeValues
from tripybuild.model.libraries import OperatorLibrary, builtin_library
from tripybuild.schema.operator.operator import Operator
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.values import TensorType
from tripybuild.types.dtypes import int64

# What changes no operand, by the method of a sign, and whether that may stand on the left, too.
_NEUTRAL = {
    "__add__": (0, True),
    "__sub__": (0, False),
    "__mul__": (1, True),
    "__truediv__": (1, False),
    "__floordiv__": (1, False),
    "__pow__": (1, False),
}
_ADDITIVE = ("__add__", "__sub__")
LOGICAL = {"__and__": True, "__or__": False}
_SUBSCRIPT = "__getitem__"


def simplify(
    program: CallProgram,
    operators: Mapping[str, Operator],
    library: OperatorLibrary | None = None,
) -> CallProgram:
    """A program that gives the same with fewer calls.

    Args:
        program: The program.
        operators: The declarations that its calls are of, by name.
        library: Where the public functions are; by default what tripybuild brings along.
    """
    work = _Simplification(program, operators, library or builtin_library())
    calls = [kept for call in program.graph.calls for kept in work.calls(call)]
    outputs = [(name, work.value(value)) for name, value in program.graph.outputs]
    updates = {path: work.value(value) for path, value in program.updates.items()}
    calls = needed_calls(calls, [*(value for _, value in outputs), *updates.values()])
    graph = CallGraph(program.graph.inputs, calls, outputs)
    read = set(map(id, [*read_values(calls), *(value for _, value in outputs)]))
    weights = {
        path: value
        for path, value in program.weights.items()
        if id(value) in read or path in updates
    }
    return replace(program, graph=graph, updates=updates, weights=weights)


class _Simplification:
    def __init__(
        self, program: CallProgram, operators: Mapping[str, Operator], library: OperatorLibrary
    ) -> None:
        self.operators = operators
        self.values = SizeValues(program, operators, library)
        self.methods = operators_by_method(operators)
        self.signs = {name: method for method, name in self.methods.items()}
        self.makers = SizeMakers(operators, library)
        self.instead: dict[int, CallValue] = {}
        self.seen: dict[object, Call] = {}
        self.rules: Sequence[Callable[[Call], CallValue | Call | None]] = (
            self._neutral,
            self._logical,
            self._made,
            self._once,
            self._moved,
            self._equal,
        )

    def value(self, value: CallValue) -> CallValue:
        """What stands for a value now."""
        return self.instead.get(id(value), value)

    def calls(self, call: Call) -> list[Call]:
        """What stands in the place of a call."""
        self.before: list[Call] = []
        kept = self.call(call)
        return [*self.before, *([] if kept is None else [kept])]

    def call(self, call: Call) -> Call | None:
        """The call over what stands for its arguments, or another one; None where it is gone."""
        arguments = {name: self._argument(each) for name, each in call.arguments.items()}
        if any(
            a is not b for a, b in zip(arguments.values(), call.arguments.values(), strict=True)
        ):
            call = with_results(replace(call, arguments=arguments))
        if len(call.results) != 1 or any(isinstance(v, CallGraph) for v in arguments.values()):
            return call
        for rule in self.rules:
            found = rule(call)
            if isinstance(found, CallValue):
                self.instead[id(call.results[0])] = found
                return None
            if found is not None:
                call = found
        return call

    def _argument(self, value: Any) -> Any:
        match value:
            case CallValue():
                return self.value(value)
            case list() | tuple():
                found = [self._argument(each) for each in value]
                changed = any(a is not b for a, b in zip(found, value, strict=True))
                return found if changed else value
            case CallGraph():
                return self._graph(value)
        return value

    def _graph(self, graph: CallGraph) -> CallGraph:
        """A region over what stands for what it reads from outside; inside nothing changes."""
        calls = []
        for call in graph.calls:
            arguments = {name: self._argument(each) for name, each in call.arguments.items()}
            calls.append(with_results(replace(call, arguments=arguments)))
        outputs = [(name, self.value(value)) for name, value in graph.outputs]
        return CallGraph(graph.inputs, calls, outputs)

    # --- rules ---

    def _neutral(self, call: Call) -> CallValue | None:
        """`x * 1`; `x + 0` of floats would make 0 of -0."""
        sign, given = self.signs.get(call.operator, ""), list(call.arguments.values())
        if sign not in _NEUTRAL or len(given) != len("lr"):
            return None
        number, either = _NEUTRAL[sign]
        for tensor, other in (given, given[::-1])[: 1 + either]:
            if isinstance(tensor, CallValue) and is_number(other) and other == number:
                exact = sign not in _ADDITIVE or tensor.dtype.kind == "integer"
                return tensor if exact and _is_same_type(tensor, call) else None
        return None

    def _logical(self, call: Call) -> CallValue | None:
        """A condition beside one that holds everywhere."""
        neutral = LOGICAL.get(self.signs.get(call.operator, ""))
        given = list(call.arguments.values())
        if neutral is None or not all(isinstance(each, CallValue) for each in given):
            return None
        for tensor, other in (given, given[::-1]):
            if _is_same_type(tensor, call):
                arrays = self.values.arrays(other)
                if arrays is not None and all((each == neutral).all() for each in arrays):
                    return tensor  # type: ignore[no-any-return]
        return None

    def _made(self, call: Call) -> Call | None:
        """What several calls make of sizes alone, as one that makes it at once."""
        (result,) = call.results
        is_chain = any(each.call is not None for each in _tensors(call))
        numbers = self.values.numbers(result) if result.rank and is_chain else None
        for made in self.makers.calls(result.type) if numbers else ():
            chain = self.makers.shaped(replace(made, node=call.node), result.type)
            is_shorter = _count(call) > len(chain) - (call.operator != chain[-1].operator)
            if is_shorter and self._gives(made, result):
                *before, last = chain
                self.before += before
                last.results = call.results
                return with_results(last)
        return None

    def _gives(self, made: Call, value: CallValue) -> bool:
        """Whether a call that sizes alone say gives a value, but for dimensions of one."""
        wanted = self.values.arrays(value)
        numbers = self.values.numbers(value)
        if wanted is None or numbers is None:
            return False
        for array, number in zip(wanted, numbers, strict=True):
            try:
                found = np.asarray(self.values.run(made, number, {})[0])
            except DiagnosticError:  # sizes that it does not take
                return False
            if found.size != array.size or found.tobytes() != array.tobytes():
                return False
        return True

    def _once(self, call: Call) -> Call | None:
        """What is computed of a tensor that repeats another one is computed of that one."""
        tensors = [*_tensors(call)]
        repeat = tensors[0].call if len(tensors) == 1 else None
        if repeat is None or self.operators[call.operator].moves:
            return None
        name, parts = _repeated(repeat)
        if not parts or not self.operators[repeat.operator].moves:
            return None
        (source,), (result,), (part, *_) = tensors, call.results, parts
        if list(map(str, result.shape)) != list(map(str, source.shape)):
            return None
        given = {each: part if v is source else v for each, v in call.arguments.items()}
        one = CallValue(TensorType(result.dtype, part.shape), name=result.name)
        once = with_results(replace(call, arguments=given, results=[one]))
        given = {**repeat.arguments, name: [one] * len(parts)}
        whole = replace(repeat, arguments=given, results=call.results, node=call.node)
        if not self._is_repeated(call, once, whole):
            return None
        self.before.append(once)
        return with_results(whole)

    def _is_repeated(self, call: Call, once: Call, whole: Call) -> bool:
        """Whether a call on a tensor that repeats a part gives what the call on the part gives."""
        (source,), (part,) = _tensors(call), _tensors(once)
        assert source.call is not None
        random = np.random.default_rng(0)
        for number in range(SAMPLES):
            if not self.values.is_small(source, number) or part.dtype.kind != "float":
                return False
            shape = self.values.shape(part.shape, number)
            drawn = random.normal(size=shape).astype(part.dtype.numpy)
            repeated = self.values.run(source.call, number, {id(part): drawn})[0]
            wanted = self.values.run(call, number, {id(source): np.asarray(repeated)})[0]
            one = np.asarray(self.values.run(once, number, {id(part): drawn})[0])
            found = self.values.run(whole, number, {id(once.results[0]): one})[0]
            if not np.array_equal(np.asarray(wanted), np.asarray(found), equal_nan=True):
                return False
        return True

    def _moved(self, call: Call) -> CallValue | Call | None:
        """Elements that are taken in their order: only the shape has new dimensions of one."""
        operator = self.operators[call.operator]
        first = next(iter(call.arguments.values()), None)
        if not isinstance(first, CallValue) or not self._only_moves(operator):
            return None
        base = self._base(first)
        index = _insertion(base, call.results[0])
        indexed = len(list(_tensors(call))) > 1
        if index is None or not (indexed or base is not first):
            return None
        if not self._keeps_order(call, first):
            return None
        if None not in index:
            return base
        while index[-1] is not None:
            index.pop()
        name = self.methods[_SUBSCRIPT]
        parameters = [each.name for each in self.operators[name].arguments()]
        arguments = dict(zip(parameters, (base, index), strict=True))
        return with_results(replace(call, operator=name, arguments=arguments))

    def _keeps_order(self, call: Call, source: CallValue) -> bool:
        """Whether the elements of the result are those of one tensor, in their order."""
        others = [value for value in _tensors(call) if value is not source]
        numbers = self.values.numbers(*others)
        (result,) = call.results
        for number in numbers or ():
            if not self.values.is_small(source, number):
                return False
            given = self.values.numbered(source, number)
            wanted = given.reshape(self.values.shape(result.shape, number))
            try:
                found = self.values.run(call, number, {id(source): given})
            except (LookupError, DiagnosticError):  # not known, or beside a tensor of another dtype
                return False
            if not np.array_equal(np.asarray(found[0]), wanted):
                return False
        return bool(numbers)

    def _only_moves(self, operator: Operator) -> bool:
        """Whether an operator takes elements elsewhere and computes nothing."""
        return operator.moves and self.values.takes(operator, int64)

    def _base(self, value: CallValue) -> CallValue:
        """What a value is that only has more dimensions of one."""
        call = value.call
        while call is not None and call.operator == self.methods[_SUBSCRIPT]:
            source, index = list(call.arguments.values())
            if not isinstance(index, list) or any(i not in (None, slice(None)) for i in index):
                break
            value, call = source, source.call
        return value

    def _equal(self, call: Call) -> CallValue | None:
        """A call that another one of the same module has made."""
        if self.operators[call.operator].random:
            return None
        modules = call.node.modules if call.node is not None else ()
        key = (call.operator, modules, *((n, _key(v)) for n, v in call.arguments.items()))
        other = self.seen.setdefault(key, call)
        return None if other is call else other.results[0]


def with_results(call: Call) -> Call:
    """A call whose results are its own."""
    for value in call.results:
        value.call = call
    return call


def _repeated(call: Call) -> tuple[str, list[CallValue]]:
    """The argument of a call that is one tensor several times, by name."""
    for name, value in call.arguments.items():
        if isinstance(value, list) and len(value) > 1 and isinstance(value[0], CallValue):
            return (name, value) if all(each is value[0] for each in value) else ("", [])
    return "", []


def _is_same_type(value: CallValue, call: Call) -> bool:
    result = call.results[0]
    return value.dtype is result.dtype and list(map(str, value.shape)) == list(
        map(str, result.shape)
    )


def _tensors(call: Call) -> Iterator[CallValue]:
    return iter(set(read_values([call])))


def _count(call: Call) -> int:
    """How many calls a call is made of, itself included."""
    found, waiting = {call}, [call]
    while waiting:
        read = {v.call for v in _tensors(waiting.pop()) if v.call is not None} - found
        found |= read
        waiting += read
    return len(found)


def _insertion(value: CallValue, result: CallValue) -> list[Any] | None:
    """The index that puts dimensions of one in; None where the shapes differ in more."""
    sizes = list(map(str, value.shape))
    index: list[Any] = []
    for size in map(str, result.shape):
        if sizes and size == sizes[0]:
            index.append(slice(None))
            sizes.pop(0)
        elif size == "1":
            index.append(None)
        else:
            return None
    return index if index and not sizes else None


def _key(value: Any) -> object:
    match value:
        case CallValue():
            return ("value", id(value))
        case list() | tuple():
            return tuple(map(_key, value))
        case slice():
            return ("slice", *map(_key, (value.start, value.stop, value.step)))
        case Dim():
            return ("size", str(value))
    return (type(value).__name__, repr(value))
