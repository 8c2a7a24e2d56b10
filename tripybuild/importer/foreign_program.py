"""Foreign programs: graphs of another system as data, before any of it is read as a call of ours.

An adapter of each system makes one. What is done to sizes is done there, so that an argument that
is a size is a `Size` over the symbols of the program's dynamic dimensions.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from tripybuild.trace.values import TensorType
from tripybuild.types.dtypes import dtype
from tripybuild.types.size_range import SizeRange


@dataclass(frozen=True, slots=True)
class ModuleCall:
    """A call of a module of the source, within which a node stands.

    `path` is that of the module, as `encoder.layer.0`, and `class_name` its class without the
    package. `call` counts the calls of this very module. `origin` is the class with its package, or
    a function with its domain.
    """

    path: str
    class_name: str
    call: int = 0
    origin: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """Where a node comes from: a line of the model's Python file, or a node's name in ONNX.

    `file` is for messages and never written to a spec, since it can name a user's folders.
    """

    text: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file else self.text


@dataclass(frozen=True, slots=True)
class SourceStatement:
    """A statement of the model's Python that a node is part of; it is data, and never run.

    Attributes:
        file: The path of the file behind the folder that imports find it in.
        line: Its first line.
        module: The path of the module in whose `forward` it is, or in a function called there; None
            where that is not certain.
        is_forward: Whether it stands in `forward` itself.
        targets: The names that it assigns, in order.
        reads: The names that it reads.
        parameters: Those of the function that it stands in.
        class_name: The class that it stands in; empty in none.
        class_line: The line of that class.
    """

    file: str
    line: int
    module: str | None = None
    is_forward: bool = False
    targets: tuple[str, ...] = ()
    reads: frozenset[str] = frozenset()
    parameters: tuple[str, ...] = ()
    class_name: str = ""
    class_line: int = 0


@dataclass(eq=False, slots=True)
class ForeignValue:
    """A tensor of the source.

    Attributes:
        name: What the source calls it.
        type: As the source states it; None where it states none.
        unsupported: The dtype's name there, where no dtype of ours is that; `type` is None then.
    """

    name: str
    type: TensorType | None = None
    unsupported: str = ""


@dataclass(frozen=True, slots=True)
class CheckpointPlace:
    """Where a weight is as it is: a safetensors file, and its name there."""

    file: Path
    name: str


@dataclass(eq=False, slots=True)
class ForeignWeight(ForeignValue):
    """A tensor that is part of the program: a parameter, a buffer or a constant.

    Attributes:
        load: Its data, of the dtype of `type`; memory is used when it is called.
        is_constant: Whether it has no name of its own, as a literal in the model's code.
        place: Where it is, if that is a safetensors file.
    """

    load: Callable[[], np.ndarray[Any, Any]] = field(kw_only=True)
    is_constant: bool = False
    place: CheckpointPlace | None = None


@dataclass(eq=False, slots=True)
class ForeignNode:
    """One call of an operator of the source.

    Attributes:
        operator: Its name, as the signatures of the system have it: `add.Tensor`, `Softmax`.
        arguments: By parameter; what is left out has its default. Tensors are `ForeignValue`, sizes
            `Size`, dtypes `dtype`; lists are lists, and control flow's graphs are `ForeignGraph`.
        results: Its tensors, in order. One that nothing reads can be None.
        is_list: Whether its result is one list of tensors, as that of `split`.
        modules: The calls of modules that it stands in, outermost first.
        domain: That of an ONNX operator, where it is not ONNX's own.
        opset: The version of ONNX's operators that is in force where it stands.
        expand: What gives the graph that the source says the operator is, for the types of values;
            None where it says none. The graph reads the values of `arguments`, and its outputs are
            in the order of `results`.
        result_dtypes: What gives the dtypes of results by those of the inputs, as far as the
            source's operator says them; None where it says none.
        gives_one: Whether the operator always gives one result, which may be a list.
        statements: The statements that it is part of, those of the outer functions first.
    """

    operator: str
    arguments: Mapping[str, Any]
    results: Sequence[ForeignValue | None]
    place: SourcePlace
    is_list: bool = False
    modules: tuple[ModuleCall, ...] = ()
    domain: str = ""
    opset: int | None = None
    expand: "Expansion | None" = None
    result_dtypes: "ResultDtypes | None" = None
    gives_one: bool = False
    statements: tuple[SourceStatement, ...] = ()


TypeOf: TypeAlias = Callable[[ForeignValue], TensorType | None]
Expansion: TypeAlias = "Callable[[TypeOf], ForeignGraph | None]"
ResultDtypes: TypeAlias = Callable[[TypeOf], Sequence[dtype | None]]


@dataclass(eq=False, slots=True)
class ForeignGraph:
    """Nodes in an order in which each stands behind what it reads."""

    inputs: Sequence[ForeignValue]
    nodes: Sequence[ForeignNode]
    outputs: Sequence[tuple[str, ForeignValue]]

    def walk(self) -> Iterator[ForeignNode]:
        """All nodes, those of inner graphs behind the node that has them."""
        for node in self.nodes:
            yield node
            for argument in node.arguments.values():
                if isinstance(argument, ForeignGraph):
                    yield from argument.walk()


@dataclass(eq=False, slots=True)
class ForeignProgram:
    """A whole program of another system.

    Attributes:
        name: For the spec's `model:`.
        system: `aten` or `onnx`; its operators are those of `schema.foreign.signatures`.
        opset: The version of ONNX's operators.
        weights: By path, as the source names them.
        ranges: The range of each symbol of the sizes.
        updates: What a buffer is after a call, by the path of the weight.
        tied: Further paths of a weight, by path.
        config: The values of the model's `config.json`, if it has one.
        examples: An array for each input, to compare both programs with.
        run: Gives what the source gives for the examples, by output.
        stated_from: The smallest dynamic size for which the types are stated: `torch.export` takes
            none for 0 or 1.
        has_examples: Whether a number may be stated for a size that varies: exporters to ONNX write
            that of their example, which runtimes pass over.
        notes: What was dropped or folded, one sentence each, for the report.
        advice: What helps where operators are not read.
        input_names: What the source calls inputs, where that is no identifier.
        spec_names: What the spec calls inputs, where that is another name.
        break_up: Gives the program with calls of some operators in the terms of others, if the
            source can say them; None where it cannot.
    """

    name: str
    system: str
    graph: ForeignGraph
    weights: Mapping[str, ForeignWeight] = field(default_factory=dict)
    ranges: Mapping[str, SizeRange] = field(default_factory=dict)
    updates: Mapping[str, ForeignValue] = field(default_factory=dict)
    tied: Mapping[str, str] = field(default_factory=dict)
    config: Mapping[str, object] = field(default_factory=dict)
    examples: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    opset: int | None = None
    stated_from: int = 0
    has_examples: bool = False
    run: Callable[[], Mapping[str, np.ndarray[Any, Any]]] | None = None
    notes: list[str] = field(default_factory=list)
    advice: str = ""
    input_names: Mapping[str, str] = field(default_factory=dict)
    spec_names: Mapping[str, str] = field(default_factory=dict)
    break_up: "Callable[[AbstractSet[str]], ForeignProgram | None] | None" = None

    def without(self, operators: AbstractSet[str]) -> "ForeignProgram | None":
        """This program where operators are said with others, as far as the source can; or None."""
        found = None if self.break_up is None else self.break_up(operators)
        if found is None:
            return None
        for path, weight in found.weights.items():
            if path in self.weights:
                weight.place = self.weights[path].place
        return replace(
            self,
            graph=found.graph,
            weights=found.weights,
            updates=found.updates,
            break_up=found.break_up,
        )


def example_sizes(program: ForeignProgram) -> list[dict[str, int]]:
    """Sizes to compare both programs with, the best ones first.

    Sizes that differ tell more than those that are equal, and those more than the usual ones, which
    may be 1; but a program may have sizes that must be equal, under two names.
    """
    usual = {name: max(each.opt, 1) for name, each in program.ranges.items()}
    if program.examples or not usual:
        return [usual]
    apart = {name: size * (2 + index) for index, (name, size) in enumerate(usual.items())}
    double = {name: 2 * size for name, size in usual.items()}
    fits = {
        name: {size for size in (apart[name], double[name]) if each.contains(size)}
        for name, each in program.ranges.items()
    }
    options = [{n: v if v in fits[n] else usual[n] for n, v in e.items()} for e in (apart, double)]
    return [*options, usual]
