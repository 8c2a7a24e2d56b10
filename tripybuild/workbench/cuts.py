"""Cuts: what is live in a graph between two of its operations, as a graph of its own.

A cut has the inputs and the weights of its graph. Its outputs are the values that are computed
before it and read behind it, so that all else is fused as in the whole.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Self

import numpy as np

from tripybuild.artifact.call_signature import Array
from tripybuild.compiler.lowering.specialize import specialize_graph
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.schema.files import ToleranceEntry
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.constants import Constant
from tripybuild.trace.graph import Graph, operations_between
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import copy_operations
from tripybuild.trace.values import Value
from tripybuild.workbench.differences import ArrayDifference, compare_arrays
from tripybuild.workbench.programs import GraphSource, Program

OUTPUT = "value"  # the stem of the names of a cut's outputs


@dataclass(frozen=True)
class OperationChain:
    """A graph as the operations that some of its outputs need, in the order of recording.

    Constants are no operations here: they are written where they are read.

    Args:
        graph: The graph, with those outputs alone.
        operations: The operations.
    """

    graph: Graph
    operations: Sequence[TraceOp]

    @classmethod
    def of(cls, graph: Graph, outputs: Sequence[str]) -> "OperationChain":
        """The operations that these outputs need."""
        part = replace(graph, outputs={name: graph.outputs[name] for name in outputs})
        return cls(part, [each for each in part.operations if not isinstance(each, Constant)])

    def frontier(self, position: int) -> list[Value]:
        """The values that the first operations compute and that are read behind them."""
        made = {out: None for each in self.operations[:position] for out in each.outputs}
        read = {value for each in self.operations[position:] for value in each.reads()}
        read |= set(self.graph.outputs.values())
        return [value for value in made if value in read]

    def at(self, values: Sequence[Value]) -> Graph:
        """The graph with these values as its outputs."""
        outputs = {f"{OUTPUT}{number}": value for number, value in enumerate(values)}
        return replace(self.graph, outputs=outputs)


def align_operations(one: OperationChain, other: OperationChain) -> list[tuple[int, int]]:
    """The operations that are the same step on both sides, as positions in order.

    The same step has the same operator and shapes: dtypes, attributes and constants may differ,
    and so may what stands between, such as casts.
    """
    keys = [[_key(each) for each in chain.operations] for chain in (one, other)]
    if keys[0] == keys[1]:
        return [(number, number) for number in range(len(keys[0]))]
    blocks = SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_matching_blocks()
    return [(each.a + n, each.b + n) for each in blocks for n in range(each.size)]


def _key(operation: TraceOp) -> str:
    shapes = (f"[{', '.join(map(str, each.shape))}]" for each in operation.outputs)
    return f"{operation.operator} {' '.join(shapes)}"


def computed_operands(operation: TraceOp) -> list[Value]:
    """What an operation reads that is no constant, each once."""
    return [v for v in dict.fromkeys(operation.reads()) if not isinstance(v.producer, Constant)]


def operation_alone(
    graph: Graph, operation: TraceOp, sizes: Mapping[str, int]
) -> tuple[Graph, list[Value]]:
    """An operation as a graph of its own, for sizes, and the values that its inputs stand for.

    Its weights and constants stay what they are; all else that it reads is an input.
    """
    weights = set(graph.weights.values())
    read = [value for value in computed_operands(operation) if value not in weights]
    fixed = specialize_graph(
        replace(
            graph,
            outputs={f"{OUTPUT}{n}": v for n, v in enumerate((*read, *operation.outputs))},
        ),
        sizes,
    )
    found = list(fixed.outputs.values())
    held, given = found[: len(read)], found[len(read) :]
    fresh = {value: Value(value.type, name=f"input{n}") for n, value in enumerate(held)}
    leaves = {*fresh, *fixed.weights.values()}
    inside = operations_between(leaves, given)
    values = dict(fresh)
    for _ in copy_operations(inside, values):
        pass
    outputs = {f"{OUTPUT}{n}": values.get(v, v) for n, v in enumerate(given)}
    inputs = {str(value.name): value for value in fresh.values()}
    return Graph(graph.name, inputs, fixed.weights, outputs), read


@dataclass
class CutRuns:
    """Runs cuts of one program on the inputs of a call."""

    source: GraphSource
    arrays: Mapping[str, Array]

    def __call__(self, graph: Graph) -> list[Array]:
        """The outputs of a cut, in order."""
        compiled = self.source.compile(self.sizes, graph)
        return [np.asarray(each) for each in compiled.run(dict(self.arrays)).values()]

    @property
    def sizes(self) -> Mapping[str, int]:
        """The dynamic sizes of the program."""
        signature = self.source.signature
        return signature.bind(signature.arrays(self.arrays))

    def alone(self, operation: TraceOp, given: Mapping[Value, Array]) -> list[Array]:
        """What an operation gives by itself for what it reads."""
        graph, read = operation_alone(self.source.entry.graph, operation, self.sizes)
        compiled = self.source.compile({}, graph)
        kinds = zip(graph.inputs.items(), read, strict=True)
        arrays = {n: given[each].astype(v.dtype.numpy) for (n, v), each in kinds}
        return [np.asarray(each) for each in compiled.run(arrays).values()]


def program_source(program: Program) -> GraphSource:
    """What a program is compiled from.

    Raises:
        DiagnosticError: It has no graph of ours.
    """
    if program.source is None:
        message = f"`{program.name}` has no steps that can be compiled one by one"
        hint = (
            f"name what it is imported as by two targets: `{program.name}@cpu` and `@reference`; "
            "specs, executables and functions of Python files with our operators have steps, too"
        )
        raise DiagnosticError(Diagnostic("target-unfit", message, hint=hint))
    return program.source


@dataclass
class ChainPair:
    """Two chains whose operations are matched, and what is compared at their cuts.

    Args:
        one: A.
        other: B.
        pairs: The operations that are the same step, as positions in order.
        runs: Runs cuts of both.
        within: The tolerance.
    """

    one: OperationChain
    other: OperationChain
    pairs: Sequence[tuple[int, int]]
    runs: Sequence[CutRuns]
    within: ToleranceEntry

    def __post_init__(self) -> None:
        self.partner: dict[Value, Value] = {}
        for a, b in self.pairs:
            outputs = self.one.operations[a].outputs, self.other.operations[b].outputs
            self.partner |= dict(zip(*outputs, strict=False))

    @classmethod
    def of(
        cls,
        programs: Sequence[Program],
        chains: Sequence[OperationChain],
        arrays: Mapping[str, Array],
        within: ToleranceEntry,
    ) -> Self:
        """The chains of two programs, for the inputs of a call.

        Raises:
            DiagnosticError: They have no step in common.
        """
        first, second = chains
        pairs = align_operations(first, second)
        if not pairs:
            message = f"`{programs[0].name}` and `{programs[1].name}` have no step in common"
            hint = "the same operators with the same shapes are the same step"
            raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint))
        runs = [CutRuns(program_source(each), each.arguments(arrays)) for each in programs]
        return cls(first, second, pairs, runs, within)

    def live(self, position: int) -> list[Value]:
        """What is live in A after so many of its operations, and is in B, too."""
        return [value for value in self.one.frontier(position) if value in self.partner]

    def compare(self, values: Sequence[Value]) -> list[ArrayDifference]:
        """Compare values that one cut gives, on both sides."""
        others = [self.partner[value] for value in values]
        found = [
            run(chain.at(own))
            for run, chain, own in zip(
                self.runs, (self.one, self.other), (values, others), strict=True
            )
        ]
        rows = zip(values, *found, strict=True)
        return [
            compare_arrays(value_name(v, self.one.graph), a, b, self.within) for v, a, b in rows
        ]


def value_name(value: Value, graph: Graph) -> str:
    """What a value is called: as an input, a weight or an output, or by the step that gives it."""
    named = (*graph.inputs.items(), *graph.weights.items(), *graph.outputs.items())
    found = next((name for name, each in named if each is value), None)
    if found is None and value.producer is not None:
        found = f"{value.producer.operator} of {value.producer.location.label}"
    return found or "constant"


def known_array(value: Value, source: GraphSource) -> Array | None:
    """The elements of a weight or of a constant; None for what a call computes."""
    if isinstance(value.producer, Constant):
        data = value.producer.data
        is_size = isinstance(data.value, Dim) or any(isinstance(n, Dim) for n in data.type.shape)
        return None if is_size else np.asarray(data.array)
    names = [name for name, each in source.entry.graph.weights.items() if each is value]
    if not names:
        return None
    if names[0] in source.built.prepared:
        return np.asarray(dict(source.weights.compute(names))[names[0]])
    return np.asarray(source.weights(names)[names[0]])
