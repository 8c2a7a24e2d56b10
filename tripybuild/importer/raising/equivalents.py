"""Equivalents: compositions that operators declare as theirs become calls of those.

A composition that has the form of one is compared with the operator on random values, for several
sets of sizes, before it is replaced.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.frontend import Tensor
from tripybuild.frontend.sizes import trace_mode
from tripybuild.importer.call_arguments import default_of
from tripybuild.importer.call_chains import ChainPattern
from tripybuild.importer.call_patterns import UnboundError, operators_by_method, same
from tripybuild.importer.call_program import (
    Call,
    CallGraph,
    CallProgram,
    CallValue,
    needed_calls,
    python_arguments,
)
from tripybuild.importer.raising.size_values import SAMPLES, SizeValues
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.names import free_names
from tripybuild.model.libraries import OperatorLibrary, builtin_library
from tripybuild.schema.operator.operator import Operator, Snippet
from tripybuild.schema.registry_index import EQUIVALENTS, operator_entries
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.patterns import TensorPattern, options
from tripybuild.types.vocabulary import SHAPE

CLOSE = 1e-4  # the largest difference, as a part of the largest value
_SEED = 20


def raise_compositions(
    program: CallProgram,
    operators: Mapping[str, Operator],
    library: OperatorLibrary | None = None,
) -> CallProgram:
    """A program with operators in the place of what they declare as the same.

    Args:
        program: The program.
        operators: The declarations that its calls are of, by name.
        library: Where the public functions are; by default what tripybuild brings along.
    """
    work = _Raising(program, operators, library or builtin_library())
    work.find_mixed(program.graph.calls)
    calls = [each for call in program.graph.calls for each in work.calls(call)]
    outputs = [value for _, value in program.graph.outputs]
    kept = needed_calls(calls, [*outputs, *program.updates.values()])
    return replace(program, graph=replace(program.graph, calls=kept))


class _Raising:
    def __init__(
        self, program: CallProgram, operators: Mapping[str, Operator], library: OperatorLibrary
    ) -> None:
        self.operators, self.library = operators, library
        self.values = SizeValues(program, operators, library)
        self.added: list[Call] = []
        self.made: dict[int, Call] = {}
        self.kind = ""  # the class of the module whose call is looked at
        self.mixed: set[str] = set()
        self.methods = operators_by_method(operators)
        entries = operator_entries(operators).items()
        named = [operators[name] for name, entry in entries if EQUIVALENTS in entry.roles]
        self.declared = [(operator, each) for operator in named for each in operator.equivalents]
        self.by_head: dict[str, list[tuple[Operator, Snippet]]] = {}
        self.proofs: dict[object, bool] = {}

    def find_mixed(self, calls: Sequence[Call]) -> None:
        """Find the classes of which some modules have a tensor that sizes say, and some another.

        They stay as they are, so that their modules are one definition.
        """
        closed: dict[str, Sequence[tuple[Operator, Snippet]]] = {}
        for call in calls:
            if call.operator not in closed:
                declared = self._declared(call.operator)
                closed[call.operator] = [each for each in declared if self._has_closed(*each)]
            for operator, snippet in closed[call.operator] if len(call.results) == 1 else ():
                pattern, result = self._pattern(operator, snippet)
                self.kind = _kind(call)
                pattern.match(_both(result)[0], call.results[0])

    def _has_closed(self, operator: Operator, snippet: Snippet) -> bool:
        pattern, result = self._pattern(operator, snippet)
        return pattern.has_closed(_both(result)[0])

    def calls(self, call: Call) -> list[Call]:
        """The call, or that of an operator with those that make its arguments."""
        self.added = []
        last = self.call(call)
        return [*map(self.call, [*self.added]), last]

    def call(self, call: Call) -> Call:
        """The call, or that of the operator that it is the last part of."""
        if len(call.results) != 1:
            return call
        for operator, snippet in self._declared(call.operator):
            made = self._as(operator, snippet, call)
            if made is not None:
                for value in call.results:
                    value.call = made
                return self.call(made)  # which can be a part of another one
        return call

    def _declared(self, head: str) -> Sequence[tuple[Operator, Snippet]]:
        """The equivalents whose last call can be one of an operator."""
        if head not in self.by_head:
            self.by_head[head] = [
                (operator, snippet)
                for operator, snippet in self.declared
                for pattern, result in [self._pattern(operator, snippet)]
                for heads in [pattern.heads(_both(result)[0])]
                if heads is None or head in heads
            ]
        return self.by_head[head]

    def _pattern(self, operator: Operator, snippet: Snippet) -> tuple[ChainPattern, ast.expr]:
        inputs = {each.name: True for each in operator.inputs.values()}
        names = {**inputs, **dict.fromkeys(operator.attributes, False)}
        names |= dict.fromkeys(operator.types, False)
        pattern = ChainPattern(self.operators, self.methods, names, owner=operator, says=self._says)
        return pattern, pattern.add_lines(snippet.program)

    def _as(self, operator: Operator, snippet: Snippet, call: Call) -> Call | None:
        pattern, result = self._pattern(operator, snippet)
        composition, made_by = _both(result)
        self.kind = _kind(call)
        if not pattern.match(composition, call.results[0]):
            return None
        if not all(self._is_beside(each, call) for each in pattern.calls):
            return None  # it goes on in another module
        added: list[Call] = []
        names = [each.name for each in operator.arguments()]
        arguments = {name: pattern.bound.get(name) for name in names}
        if made_by is not None:
            try:
                arguments = self._written(pattern, operator, made_by, call, added)
            except (UnboundError, DiagnosticError):
                return None
        given = {
            name: arguments[name]
            for name in names
            if arguments.get(name) is not None
            and not same(arguments[name], default_of(operator, name))
        }
        made = Call(operator.name, given, call.results, False, call.node)
        if call.operator == made.operator and _is_same(call.arguments, given):
            return None
        if not self._fits(operator, made) or not self._is_equal(call, made):
            return None
        self.added += added
        return made

    def _is_beside(self, part: Call, call: Call) -> bool:
        """Whether a part of a composition is in the same module, or only moves elements."""
        if part.node is None or self.operators[part.operator].moves:
            return part.node is not None
        return part.node.modules == (() if call.node is None else call.node.modules)

    def _written(
        self,
        pattern: ChainPattern,
        operator: Operator,
        node: ast.Call,
        call: Call,
        added: list[Call],
    ) -> dict[str, Any]:
        """The arguments of a call that an expression writes, over what is bound.

        Args:
            pattern: Has bound the names.
            operator: What is called.
            node: The expression.
            call: In whose place it stands.
            added: Takes the calls that make arguments.
        """
        names = [each.name for each in operator.arguments()]
        written = {**dict(zip(names, node.args, strict=False))}
        written |= {each.arg: each.value for each in node.keywords if each.arg}
        return {n: self._argument(pattern, each, call, added) for n, each in written.items()}

    def _argument(
        self, pattern: ChainPattern, node: ast.expr, call: Call, added: list[Call]
    ) -> Any:
        match node:
            case ast.Name(id=name) if name in pattern.names:
                return pattern.bound.get(name)
            case ast.Call(func=ast.Name(id=name)) if name in self.operators:
                operator = self.operators[name]
                given = self._written(pattern, operator, node, call, added)
                made = Call(name, given, node=call.node)
                made.results = [CallValue(self._type(made), call=made)]
                self.made[id(made)] = made
                added.append(made)
                return made.results[0]
        return pattern.value(node)

    def _type(self, call: Call) -> TensorType:
        """What a call gives."""
        given = {
            name: Tensor.of(Value(each.type)) if isinstance(each, CallValue) else each
            for name, each in call.arguments.items()
        }
        with trace_mode():
            result = self.library.operator(call.operator)(**python_arguments(given))
        return TensorType(result.dtype, tuple(result.value.type.shape))

    def _says(self, pattern: ChainPattern, node: ast.expr, value: CallValue) -> bool:
        """Whether an expression of sizes alone gives what a tensor is, but for broadcasting."""
        wanted, numbers = self.values.arrays(value), self.values.numbers(value)
        if wanted is None or numbers is None or self.kind in self.mixed:
            return False
        for array, number in zip(wanted, numbers, strict=True):
            names: dict[str, Any] = dict(BY_NAME)
            for name in free_names(node):
                if name in self.operators:
                    names[name] = self.library.operator(name)
                elif name not in names:
                    read = ast.copy_location(ast.Name(name, ast.Load()), node)
                    (names[name],) = self.values.shape([pattern.value(read)], number)
            try:
                found = np.broadcast_to(np.asarray(evaluate(node, names, SHAPE)), array.shape)
            except (EvaluationError, DiagnosticError, ValueError):
                return False
            if not np.array_equal(found, array):
                self.mixed |= {self.kind} - {""}
                return False
        return True

    @staticmethod
    def _fits(operator: Operator, made: Call) -> bool:
        """Whether the operator takes what it would be given."""
        for name, input in operator.inputs.items():
            value = made.arguments.get(name)
            if value is None:
                if not input.optional:
                    return False
                continue
            patterns = [p for p in options(input.pattern) if isinstance(p, TensorPattern)]
            if not isinstance(value, CallValue) or not any(
                _takes(operator, pattern, value) for pattern in patterns
            ):
                return False
        return True

    def _is_equal(self, call: Call, made: Call) -> bool:
        """Whether both give the same for random values; equal compositions are run once."""
        known = {id(value): f"{value.type}" for value in self._leaves(made)}
        key = _structure(made, known), _structure(call, known)
        if key not in self.proofs:
            self.proofs[key] = self._run_equal(call, made)
        return self.proofs[key]

    def _run_equal(self, call: Call, made: Call) -> bool:
        (result,) = call.results
        leaves = {id(v): v for v in self._leaves(made)}
        random = np.random.default_rng(_SEED)
        is_finite = False
        for number in range(SAMPLES):
            if not all(self.values.is_small(v, number) for v in (*leaves.values(), result)):
                return False
            given = {key: self._draw(random, v, number) for key, v in leaves.items()}
            try:
                wanted = np.asarray(self.values.compute(call, number, given))
                found = np.asarray(self.values.compute(made, number, given))
            except (LookupError, DiagnosticError):  # the operator may not take what it is given
                return False
            if not _are_close(wanted, found):
                return False
            is_finite = is_finite or bool(np.isfinite(wanted).any())
        return is_finite

    def _leaves(self, made: Call) -> list[CallValue]:
        """What a call, with those that were made for it, reads of the program."""
        found: list[CallValue] = []
        for value in _tensors(made):
            is_made = value.call is not None and id(value.call) in self.made
            found += self._leaves(value.call) if is_made and value.call else [value]
        return list(dict.fromkeys(found))

    def _draw(self, random: np.random.Generator, value: CallValue, number: int) -> Any:
        """Values of both signs, or those that roots are taken of."""
        shape = self.values.shape(value.shape, number)
        if value.dtype.kind != "float":
            return random.integers(0, 2, shape).astype(value.dtype.numpy)
        drawn = random.uniform(0.1, 2, shape) if number % 2 else random.normal(size=shape)
        return drawn.astype(value.dtype.numpy)


def _kind(call: Call) -> str:
    """The class of the module that a call is in."""
    modules = call.node.modules if call.node is not None else ()
    return modules[-1].class_name if modules else ""


def _is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)


def _both(result: ast.expr) -> tuple[ast.expr, ast.Call | None]:
    """A composition, and the call that gives the same where that is more than its names."""
    match result:
        case ast.Tuple(elts=[composition, ast.Call() as call]):
            return composition, call
    return result, None


def _are_close(wanted: Any, found: Any) -> bool:
    """Whether arrays are equal within what rounding explains."""
    if wanted.shape != found.shape:
        return False
    finite = np.isfinite(wanted)
    limit = CLOSE * max(float(np.abs(wanted[finite]).max(initial=0)), 1e-3)
    return np.allclose(wanted, found, CLOSE, limit, equal_nan=True)


def _takes(operator: Operator, pattern: TensorPattern, value: CallValue) -> bool:
    known = operator.types.get(pattern.element)
    is_type = value.dtype in known if known is not None else value.dtype.name == pattern.element
    return is_type and (pattern.shape is None or pattern.match(value.shape) is not None)


def _structure(value: object, known: Mapping[int, str]) -> str:
    """What is computed of tensors that are known, as a text that only equal ones have.

    Tensors are numbered in their order, first those in `known`: their types, by identity.
    """
    numbers = {key: number for number, key in enumerate(known)}
    lines = [*known.values()]

    def text(value: object) -> str:
        match value:
            case Call():
                parts = [f"{name}={text(each)}" for name, each in value.arguments.items()]
                return f"{value.operator}({', '.join(parts)})"
            case CallValue():
                if id(value) not in numbers:
                    made = "given" if value.call is None else text(value.call)
                    numbers[id(value)] = len(lines)
                    lines.append(f"{value.type} {value.index} {made}")
                return f"%{numbers[id(value)]}"
            case list() | tuple():
                return f"[{', '.join(map(text, value))}]"
            case slice():
                return f"slice{text([value.start, value.stop, value.step])}"
            case CallGraph():
                return f"graph {id(value)}"
        return f"{type(value).__name__} {value!r}"

    last = text(value)
    return "\n".join([*lines, last])


def _tensors(call: Call) -> Iterator[CallValue]:
    return (each for each in call.arguments.values() if isinstance(each, CallValue))
