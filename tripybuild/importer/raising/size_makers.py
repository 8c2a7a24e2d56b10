"""Tensors that sizes alone say: rows of numbers, and tensors that are one number everywhere.

Which operators make them is declared: they take no tensor, and need nothing but one size or a
shape. What a chain of calls or a buffer of the source holds is compared with what they give.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.importer.call_patterns import operators_by_method
from tripybuild.importer.call_program import (
    Call,
    CallProgram,
    CallValue,
    python_arguments,
    read_values,
)
from tripybuild.model.libraries import OperatorLibrary, builtin_library
from tripybuild.schema.operator.operator import Operator
from tripybuild.schema.registry_index import SIZED, operator_entries
from tripybuild.trace.values import TensorType
from tripybuild.types.patterns import ValuePattern, options

MOST = 1 << 16  # elements of a buffer that is compared
_SUBSCRIPT = "__getitem__"
_FEWEST = 4  # frequencies
_WIDE = 4  # bytes of an integer that is no quantized weight


class SizeMakers:
    """The operators that make tensors of sizes alone, and calls of them.

    Args:
        operators: The declarations, by name.
        library: Where the public functions are.
    """

    def __init__(self, operators: Mapping[str, Operator], library: OperatorLibrary) -> None:
        self.library, self.declared = library, operators
        self.methods = operators_by_method(operators)
        entries = operator_entries(operators).items()
        self.operators = [operators[name] for name, entry in entries if SIZED in entry.roles]
        subscript = operators[self.methods[_SUBSCRIPT]]
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
        return np.asarray(self.library.operator(call.operator)(**python_arguments(call.arguments)))

    def frequencies(self, base: float, type: TensorType) -> list[Call]:
        """Calls that give the frequencies of a rotation: `1 / base ** (row / n)`."""
        size = type.shape[0]
        rows = (call for call in self.calls(type) if np.array_equal(self.run(call), range(size)))
        chain = [_with_result(row, type) for row in [*rows][:1]]
        for sign, number, is_left in (
            ("__truediv__", float(size), False),
            ("__pow__", base, True),
            ("__truediv__", 1.0, True),
        ):
            if chain:
                operands = (number, chain[-1].results[0])[:: 1 if is_left else -1]
                operator = self.declared[self.methods[sign]]
                names = [each.name for each in operator.arguments()]
                given = dict(zip(names, operands, strict=False))
                chain.append(_with_result(Call(operator.name, given), type))
        return chain

    def gives(self, chain: Sequence[Call], array: np.ndarray[Any, Any]) -> bool:
        """Whether calls give an array, bit for bit but for its dimensions of one."""
        made: dict[int, Any] = {}
        for call in chain:
            given = {
                n: made[id(v)] if isinstance(v, CallValue) else v for n, v in call.arguments.items()
            }
            try:
                tensor = self.library.operator(call.operator)(**python_arguments(given))
            except DiagnosticError:  # what is given has another shape than a row
                return False
            made[id(call.results[0])] = tensor
        found = np.asarray(tensor) if chain else np.empty(0)
        same = (found.dtype, found.size) == (array.dtype, array.size)
        return same and found.tobytes() == array.tobytes()

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
    made = {key: chain for key, value in held.items() if (chain := _chain(makers, value))}
    calls: list[Call] = []
    for call in program.graph.calls:
        read = {id(each): each for each in read_values([call]) if id(each) in made}
        instead: dict[int, CallValue] = {}
        for key, value in read.items():
            if any(each is value for each in call.arguments.values()):
                chain = _copy(made[key], call)
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


def _copy(chain: Sequence[Call], reader: Call) -> list[Call]:
    """Calls once more, which stand where another one does."""
    made: dict[int, CallValue] = {}
    copies = []
    for call in chain:
        given = {n: made.get(id(v), v) for n, v in call.arguments.items()}
        (result,) = call.results
        copy = _with_result(Call(call.operator, given, node=reader.node), result.type)
        made[id(result)] = copy.results[0]
        copies.append(copy)
    return copies


def _is_buffer(value: CallValue) -> bool:
    """Whether a weight is no parameter: few elements that no checkpoint has."""
    weight, type = value.weight, value.type
    assert weight is not None
    sizes: Sequence[Any] = type.shape
    is_small = all(isinstance(each, int) for each in sizes) and 0 < np.prod(sizes) <= MOST
    return weight.place is None and len(sizes) > 0 and bool(is_small)


def _chain(makers: SizeMakers, value: CallValue) -> list[Call]:
    """Calls that give what a weight holds; none where there are none."""
    assert value.weight is not None
    type = value.type
    if type.dtype.kind == "float":
        array = np.asarray(value.weight.load()) if len(type.shape) == 1 else np.empty(0)
        options = (makers.frequencies(base, type) for base in _bases(array))
    elif type.dtype.kind == "boolean" or np.dtype(type.dtype.numpy).itemsize >= _WIDE:
        array = np.asarray(value.weight.load())
        options = (makers.shaped(call, type) for call in makers.calls(type))
    else:
        return []
    return next((chain for chain in options if makers.gives(chain, array)), [])


def _bases(array: np.ndarray[Any, Any]) -> list[float]:
    """The bases that frequencies can have: round numbers near to what the last one says."""
    count = array.size
    if count < _FEWEST or array[0] != 1 or not 0 < array[-1] < 1:
        return []
    base = float(array[-1]) ** (count / (1 - count))
    options = [float(f"{base:.{digits}g}") for digits in (1, 2, 3)] + [float(round(base))]
    return [*dict.fromkeys(each for each in options if each > 1)]
