"""Call programs: calls of our operators that say what a foreign program does, with its structure.

They stand between translation and the spec's text. A call is one of a public function, so what is
`inline` is still there, and its arguments are those that a person would write.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tripybuild.importer.foreign_program import ForeignNode, ForeignWeight
from tripybuild.trace.values import Shape, TensorType
from tripybuild.types.dtypes import dtype
from tripybuild.types.size_range import SizeRange


@dataclass(eq=False, slots=True)
class CallValue:
    """A tensor: the result of a call, an input or a weight.

    Expressions over it read `dtype`, `shape` and `rank`, as those over a public tensor do.

    Attributes:
        type: Its dtype and shape; sizes are over the symbols of the program.
        name: What the source calls it, as a hint.
        call: The call that gives it; None for inputs and weights.
        index: Which result of the call it is.
        weight: The weight that it is.
        data: Its elements, where they are known: integers, or an array of objects with sizes.
    """

    type: TensorType
    name: str = ""
    call: "Call | None" = field(default=None, repr=False)
    index: int = 0
    weight: ForeignWeight | None = field(default=None, repr=False)
    data: np.ndarray[Any, Any] | None = None

    @property
    def dtype(self) -> dtype:
        """The dtype of its elements."""
        return self.type.dtype

    @property
    def shape(self) -> Shape:
        """Its sizes."""
        return self.type.shape

    @property
    def rank(self) -> int:
        """How many dimensions it has."""
        return self.type.rank


@dataclass(eq=False, slots=True)
class Call:
    """A call of an operator by name.

    Attributes:
        operator: Its name in the registry.
        arguments: By parameter, in the order of the declaration, without those that have their
            default. Tensors are `CallValue`, sizes `Size`, dtypes `dtype`, lists lists; numbers,
            words and slices are Python's; a region of control flow is a `CallGraph`.
        results: Its tensors.
        is_list: Whether it gives a list of tensors, or several by position.
        node: What it was read from. All calls of one node stand together, in order.
    """

    operator: str
    arguments: Mapping[str, Any]
    results: Sequence[CallValue] = ()
    is_list: bool = False
    node: ForeignNode | None = field(default=None, repr=False)


@dataclass(eq=False, slots=True)
class CallGraph:
    """Calls in an order in which each stands behind what it reads."""

    inputs: Sequence[CallValue]
    calls: Sequence[Call]
    outputs: Sequence[tuple[str, CallValue]]


@dataclass(eq=False, slots=True)
class CallProgram:
    """A whole program.

    Attributes:
        name: For the spec's `model:`.
        system: That of the source, `aten` or `onnx`.
        weights: Those that a call or an output reads, by path.
        ranges: The range of each dynamic size.
        updates: What a state is after a call, by the path of its weight.
        tied: Further paths of a weight, by path.
        config: The values of the model's `config.json`.
        examples: An array for each input, to compare both programs with.
        notes: What was dropped or folded, one sentence each.
    """

    name: str
    system: str
    graph: CallGraph
    weights: Mapping[str, CallValue] = field(default_factory=dict)
    ranges: Mapping[str, SizeRange] = field(default_factory=dict)
    updates: Mapping[str, CallValue] = field(default_factory=dict)
    tied: Mapping[str, str] = field(default_factory=dict)
    config: Mapping[str, object] = field(default_factory=dict)
    examples: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    notes: Sequence[str] = ()


def python_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as a call in Python has them: an index of several parts is a tuple there."""
    return {name: tuple(v) if isinstance(v, list) else v for name, v in arguments.items()}


def needed_calls(calls: Sequence[Call], outputs: Iterable[CallValue]) -> list[Call]:
    """The calls that outputs need, in order; arithmetic on shapes that became sizes is dropped."""
    read = set(outputs)
    found = []
    for call in reversed(calls):
        if any(result in read for result in call.results):
            found.append(call)
            read.update(_argument_values(call.arguments.values()))
    return found[::-1]


def read_values(calls: Iterable[Call]) -> Iterator[CallValue]:
    """All values that calls read, those inside of regions among them."""
    for call in calls:
        yield from _argument_values(call.arguments.values())


def _argument_values(arguments: Iterable[Any]) -> Iterator[CallValue]:
    for each in arguments:
        if isinstance(each, CallValue):
            yield each
        elif isinstance(each, list | tuple):
            yield from _argument_values(each)
        elif isinstance(each, slice):
            yield from _argument_values((each.start, each.stop, each.step))
        elif isinstance(each, CallGraph):
            yield from read_values(each.calls)
            yield from (value for _, value in each.outputs)
