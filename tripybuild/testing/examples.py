"""Examples: calls of `examples:`, evaluated, with lists as tensors."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tripybuild.artifact.call_signature import law_violations
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.frontend import Tensor
from tripybuild.language.evaluate import evaluate
from tripybuild.reference.execute import execute
from tripybuild.reference.numerics.arrays import Array
from tripybuild.schema.operator.operator import Example, Input, Operator
from tripybuild.symbolic.dims import symbol
from tripybuild.testing.batch import Outcome
from tripybuild.testing.cases import constant_tensor, outputs
from tripybuild.testing.region_functions import call_vocabulary, region_function
from tripybuild.testing.target_facts import CPU, matches_refusal
from tripybuild.trace.graph import Graph
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import from_numpy
from tripybuild.types.patterns import ValuePattern, options
from tripybuild.types.vocabulary import SHAPE

Functions = Callable[[str], Callable[..., Any]]


@dataclass(frozen=True, eq=False)
class ExampleCase:
    """An example as a graph. Its literals are inputs, so that no compiler folds them."""

    label: str
    graph: Graph
    data: Mapping[str, Array]
    operator: str
    """The operator that was called last, which gives the example's result."""
    arguments: Mapping[str, Any]
    """What it was called with."""

    def array(self, value: Any) -> Any:
        """An argument with arrays for its tensors, which the references compute."""
        if isinstance(value, (list, tuple)):
            return [self.array(each) for each in value]
        if not isinstance(value, Tensor):
            return value
        whole = Graph(self.label, self.graph.inputs, {}, {"argument": value.value})
        return execute(whole, self.data)["argument"]


def format_example(example: Example) -> str:
    """An example as a test's name: the call on one line."""
    return " ".join(example.call.text.split())


def example_case(
    example: Example, operators: Mapping[str, Operator], functions: Functions
) -> ExampleCase:
    """Make the call of an example.

    Raises:
        DiagnosticError: Where the declaration refuses it, or a law that waited for its sizes.
    """
    literals = _Literals()
    words = {name: literals.caller(op, functions) for name, op in operators.items()}
    program = example.call.program
    told = replace(program, result=_RegionQuoter(operators).visit(deepcopy(program.result)))
    symbols = {name: symbol(name, 0, None) for name in example.sizes}
    result = evaluate(told, symbols, call_vocabulary(operators, words))
    graph = Graph("example", literals.values, {}, outputs(result))
    if found := law_violations(graph.open_laws, example.sizes) if example.sizes else []:
        raise DiagnosticError(*found)
    return ExampleCase(format_example(example), graph, literals.arrays, *literals.last)


class _RegionQuoter(ast.NodeTransformer):
    """Arguments that are regions are handed over as they are written."""

    def __init__(self, operators: Mapping[str, Operator]) -> None:
        self.operators = operators

    def visit_Call(self, node: ast.Call) -> ast.Call:
        operator = self.operators.get(node.func.id if isinstance(node.func, ast.Name) else "")
        regions = operator.regions() if operator is not None else {}
        if operator is None or not regions:
            self.generic_visit(node)
            return node
        named = [keyword.arg or "" for keyword in node.keywords]
        order = _order(operator, len(node.args), dict.fromkeys(named))
        for index, (name, each) in enumerate(zip(order, node.args, strict=False)):
            node.args[index] = _constant(each) if name in regions else self.visit(each)
        for keyword in node.keywords:
            value = keyword.value
            keyword.value = _constant(value) if keyword.arg in regions else self.visit(value)
        return node


def _constant(said: ast.expr) -> ast.Constant:
    """An expression as a value, evaluated by its consumer."""
    made = ast.Constant(None)
    made.value = said  # type: ignore[assignment]
    return made


class _Literals:
    """The lists of a call, as inputs of a graph and as arrays."""

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}
        self.arrays: dict[str, Array] = {}
        self.last: tuple[str, Mapping[str, Any]] = ("", {})

    def caller(self, operator: Operator, functions: Functions) -> Callable[..., Any]:
        """The public function, taking lists for tensors; looked up when it is called."""

        def call(*arguments: Any, **named: Any) -> Any:
            order = _order(operator, len(arguments), named)
            bound = {**dict(zip(order, arguments, strict=False)), **named}
            counts = {n: len(v) for n, v in bound.items() if isinstance(v, (list, tuple))}
            taken = {n: self.public_argument(operator, n, v, counts) for n, v in bound.items()}
            given = [taken[name] for name in order[: len(arguments)]]
            given += arguments[len(given) :]
            self.last = (operator.name, taken)
            return functions(operator.name)(*given, **{name: taken[name] for name in named})

        return call

    def public_argument(
        self, operator: Operator, name: str, value: Any, counts: Mapping[str, int]
    ) -> Any:
        """An argument as the public function takes it."""
        if isinstance(value, ast.expr):
            return region_function(operator, name, value, {}, counts)
        return self.argument(operator.inputs.get(name), value)

    def argument(self, input: Input | None, value: Any) -> Any:
        """A list as a tensor, or as several, where an input stands for it."""
        if input is None or not isinstance(value, (list, tuple)) or _takes_lists(input):
            return value
        if input.several:
            return [self._tensor(each) for each in value]
        if input.constant is not None:
            return constant_tensor(_array(value))
        return self.tensor(_array(value))

    def _tensor(self, value: Any) -> Any:
        return value if isinstance(value, Tensor) else self.tensor(_array(value))

    def tensor(self, array: Array) -> Tensor:
        """A tensor that an array will be given for."""
        name = f"literal{len(self.values)}"
        self.arrays[name] = array
        self.values[name] = Value(
            TensorType(from_numpy(array.dtype), tuple(array.shape)), name=name
        )
        return Tensor.of(self.values[name])


def _takes_lists(input: Input) -> bool:
    """Whether numbers may be given as lists, as in `T[*S] | number[...]`."""
    values = (o for o in options(input.pattern) if isinstance(o, ValuePattern))
    return any(value.kind == "number" and value.lengths is not None for value in values)


def _order(operator: Operator, count: int, named: Mapping[str, object]) -> list[str]:
    """The names of the arguments that are given by position."""
    for signature in operator.signatures:
        if len(signature) >= count and set(named) <= set(signature[count:]):
            return list(signature[:count])
    return [argument.name for argument in operator.arguments()]


def _array(value: Any) -> Array:
    """A literal with the dtype that its numbers suggest."""
    array = np.asarray(value)
    narrow = {"f": np.float32, "i": np.int32, "b": np.bool_}.get(array.dtype.kind)
    return array if narrow is None else array.astype(narrow)


def differences(example: Example, engines: Mapping[str, Sequence[Array]]) -> Iterator[str]:
    """What engines give instead of what an example says."""
    assert example.gives is not None
    wanted = evaluate(example.gives.program, {}, SHAPE)
    for engine, results in engines.items():
        for got, want in zip(results, [wanted] if len(results) == 1 else wanted, strict=True):
            array = np.asarray(want, dtype=np.float64)
            if array.shape != got.shape and array.size + got.size > 0:
                yield f"{engine}: got shape {list(got.shape)}, want {list(array.shape)}"
            elif not np.allclose(
                got.astype(np.float64), array.reshape(got.shape), 1e-4, 1e-4, equal_nan=True
            ):
                yield f"{engine}: got {got.tolist()}, want {want}"


def wrong_results(
    operator: Operator,
    example: Example,
    found: tuple[ExampleCase, Outcome],
) -> Iterator[str]:
    """What differs from what an example says: of the reference, and of what ran on `cpu`."""
    case, outcome = found
    engines = {"reference": list(execute(case.graph, case.data).values())}
    if not isinstance(outcome, str):
        engines["cpu"] = outcome
    elif not matches_refusal(operator, CPU, outcome):
        yield outcome
    yield from differences(example, engines)
