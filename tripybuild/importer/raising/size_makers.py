"""Tensors that sizes alone say: rows of numbers, and tensors that are one number everywhere.

Which operators make them is declared: they take no tensor, and need nothing but one size or a
shape. What a chain of calls or a buffer of the source holds is compared with what they give.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tripybuild.importer.call_patterns import operators_by_method
from tripybuild.importer.call_program import Call, CallProgram, CallValue, read_values
from tripybuild.model.libraries import OperatorLibrary, builtin_library
from tripybuild.schema.operator.operator import Operator
from tripybuild.schema.registry_index import SIZED, operator_entries
from tripybuild.trace.values import TensorType
from tripybuild.types.patterns import ValuePattern, options

MOST = 1 << 16  # elements of a buffer that is compared
_SUBSCRIPT = "__getitem__"
_WIDE = 4  # bytes of an integer that is no quantized weight


class SizeMakers:
    """The operators that make tensors of sizes alone, and calls of them.

    Args:
        operators: The declarations, by name.
        library: Where the public functions are.
    """

    def __init__(self, operators: Mapping[str, Operator], library: OperatorLibrary) -> None:
        self.library = library
        entries = operator_entries(operators).items()
        self.operators = [operators[name] for name, entry in entries if SIZED in entry.roles]
        subscript = operators[operators_by_method(operators)[_SUBSCRIPT]]
        self.subscript = subscript.name
        self.parameters = [each.name for each in subscript.arguments()]
        self.names = {each.name for each in self.operators}

    def calls(self, type: TensorType) -> Iterator[Call]:
        """Calls that give tensors of a type with at most one size that is not 1, or of any."""
        longer = _longer(type)
        ordered = sorted(self.operators, key=_takes_shape)
        for operator in ordered:
            needed = [each for each in operator.attributes.values() if each.default is None]
            kind = next(e for e in operator.attributes.values() if e.variable is not None)
            if not (len(longer) == 1 or _takes_shape(operator)):
                continue
            if kind.variable is None or type.dtype not in operator.types[kind.variable]:
                continue
            given: dict[str, Any] = {
                needed[0].name: list(type.shape) if _takes_shape(operator) else longer[0]
            }
            if kind.default is None or kind.default.text.strip() != type.dtype.name:
                given[kind.name] = type.dtype
            yield Call(operator.name, given)

    def run(self, call: Call) -> np.ndarray[Any, Any]:
        """What a call of sizes that are numbers gives."""
        return np.asarray(self.library.operator(call.operator)(**call.arguments))

    def shaped(self, call: Call, type: TensorType) -> list[Call]:
        """A call with its result, and the one that gives a row its outer dimensions."""
        has_shape = any(isinstance(each, list) for each in call.arguments.values())
        if has_shape or len(type.shape) == 1:
            return [_with_result(call, type)]
        _with_result(call, TensorType(type.dtype, tuple(_longer(type))))
        index = [None if str(size) == "1" else slice(None) for size in type.shape]
        while index[-1] is not None:
            index.pop()
        given = dict(zip(self.parameters, (call.results[0], index), strict=False))
        return [call, _with_result(Call(self.subscript, given, node=call.node), type)]


def _longer(type: TensorType) -> list[Any]:
    """The sizes that are not 1."""
    return [size for size in type.shape if str(size) != "1"]


def _takes_shape(operator: Operator) -> bool:
    """Whether what an operator needs is a shape, not one size."""
    needed = next(each for each in operator.attributes.values() if each.default is None)
    patterns = [each for each in options(needed.pattern) if isinstance(each, ValuePattern)]
    return any(each.lengths is not None for each in patterns)


def _with_result(call: Call, type: TensorType) -> Call:
    call.results = [CallValue(type, call=call)]
    return call


def make_buffers(
    program: CallProgram,
    operators: Mapping[str, Operator],
    library: OperatorLibrary | None = None,
) -> CallProgram:
    """A program in which buffers that sizes say are calls, in the modules that read them.

    Args:
        program: The program.
        operators: The declarations that its calls are of, by name.
        library: Where the public functions are; by default what tripybuild brings along.
    """
    held = {id(v): v for p, v in program.weights.items() if p not in program.updates}
    held = {key: value for key, value in held.items() if _is_buffer(value)}
    if not held:
        return program
    makers = SizeMakers(operators, library or builtin_library())
    made = {key: call for key, value in held.items() if (call := _maker(makers, value))}
    calls: list[Call] = []
    for call in program.graph.calls:
        read = {id(each): each for each in read_values([call]) if id(each) in made}
        instead: dict[int, CallValue] = {}
        for key, value in read.items():
            if any(each is value for each in call.arguments.values()):
                chain = makers.shaped(replace(made[key], node=call.node), value.type)
                calls += chain
                instead[key] = chain[-1].results[0]
        if instead:
            given = {n: instead.get(id(v), v) for n, v in call.arguments.items()}
            calls.append(_over(call, given))
        else:
            calls.append(call)
    graph = replace(program.graph, calls=calls)
    return replace(program, graph=graph)


def _over(call: Call, arguments: Mapping[str, Any]) -> Call:
    """The call over other arguments."""
    found = replace(call, arguments=arguments)
    for value in found.results:
        value.call = found
    return found


def _is_buffer(value: CallValue) -> bool:
    """Whether a weight is no parameter: a few whole numbers that no checkpoint has."""
    weight, type = value.weight, value.type
    assert weight is not None
    sizes: Sequence[Any] = type.shape
    is_small = all(isinstance(each, int) for each in sizes) and np.prod(sizes) <= MOST
    is_whole = type.dtype.kind == "boolean" or (
        type.dtype.kind == "integer" and np.dtype(type.dtype.numpy).itemsize >= _WIDE
    )
    return weight.place is None and len(sizes) > 0 and bool(is_small) and is_whole


def _maker(makers: SizeMakers, value: CallValue) -> Call | None:
    """The call that gives what a weight holds."""
    assert value.weight is not None
    array = np.asarray(value.weight.load())
    for call in makers.calls(value.type):
        found = makers.run(call)
        same = (found.dtype, found.size) == (array.dtype, array.size)
        if same and np.array_equal(found.ravel(), array.ravel()):
            return call
    return None
