"""Nodes of a foreign graph as calls: read, recorded, and compared with what the source states.

What cannot be said is kept, and nodes that read it are passed over: one run finds all of it.
"""

import linecache
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span, concise
from tripybuild.frontend import Tensor
from tripybuild.importer.call_program import Call, CallValue
from tripybuild.importer.foreign_program import (
    ForeignGraph,
    ForeignNode,
    ForeignProgram,
    ForeignValue,
    ForeignWeight,
)
from tripybuild.importer.reading.readings import CallReading, Reading, Readings
from tripybuild.importer.reading.values import INDEX_WORDS, UnknownDataError
from tripybuild.importer.translation.compositions import Compositions
from tripybuild.importer.translation.recorder import Recorder, SkipNode, UntranslatableError
from tripybuild.importer.translation.types import StatedSizes, TypeDisagreement, items_of
from tripybuild.schema.load import Registry
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.trace.location import at
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import dtype

# Why a reading, which was found, cannot be recorded.
REFUSALS = (
    DiagnosticError,
    TypeDisagreement,
    UndecidedSize,
    UnknownDataError,
    UntranslatableError,
)


@dataclass(frozen=True, slots=True)
class Failure:
    """A node that could not be said, with the reason of each alias and composition.

    It `disagrees` where what one of them gives is of another type than the source states.
    """

    node: ForeignNode
    reasons: tuple[str, ...]
    disagrees: bool = False


class InnerFailureError(Exception):
    """Nodes of a graph inside of another node could not be said."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        super().__init__(*failures)
        self.failures = failures


class UnreadNodeError(Exception):
    """No alias and no composition says a node."""

    def __init__(self, reasons: Sequence[str], *, disagrees: bool = False) -> None:
        super().__init__(*reasons)
        self.reasons, self.disagrees = reasons, disagrees


def refusal_reasons(error: BaseException) -> list[str]:
    """Why a reading cannot be recorded, each reason without its period."""
    if isinstance(error, DiagnosticError):
        return [concise(each) for each in error.diagnostics]
    if isinstance(error, UndecidedSize):
        return [f"whether `{error.condition}` holds is known only when the model runs"]
    return [str(error)]


@dataclass(frozen=True, slots=True)
class NodeLocation:
    """The place of a node, as recorded operations have it."""

    node: ForeignNode
    part: str = ""

    @property
    def label(self) -> str:
        """The operator of the source."""
        return self.node.operator

    def span(self) -> Span:
        """The line of the model's file."""
        return place_span(self.node)


def place_span(node: ForeignNode) -> Span:
    """The line that a node comes from; the node's name stands for it where there is none."""
    place = node.place
    if not place.file:
        return Span(f"<{place.text or node.operator}>", 1, 1, 1, 2)
    text = linecache.getline(place.file, place.line)
    first = len(text) - len(text.lstrip()) + 1
    return Span(place.file, place.line, first, place.line, max(len(text.rstrip()), first) + 1)


@dataclass(slots=True)
class NodeTranslation:
    """Translates the nodes of one program, in order.

    Attributes:
        program: The program.
        registry: What operators are.
        recorder: Takes the calls.
        add_weight: Makes a value of a weight that a body of an operator has.
        failures: What could not be said.
    """

    program: ForeignProgram
    registry: Registry
    recorder: Recorder
    add_weight: Callable[[ForeignWeight], None]
    compositions: Compositions = field(init=False)
    sizes: StatedSizes = field(init=False)
    failures: list[Failure] = field(default_factory=list)
    _values: dict[ForeignValue, Any] = field(default_factory=dict)
    _read: set[ForeignValue] = field(default_factory=set)
    _readings: dict[int | None, Readings] = field(default_factory=dict)
    _lost: set[CallValue] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.compositions = Compositions(
            self.recorder, INDEX_WORDS, (InnerFailureError, SkipNode, UnreadNodeError)
        )
        self.sizes = StatedSizes(
            self.program.ranges,
            self.program.stated_from,
            has_examples=self.program.has_examples,
        )
        self.recorder.run_graph = self.run_inner

    # --- values ---

    def bind(self, foreign: ForeignValue, value: CallValue | list[CallValue]) -> None:
        """Say what a value of the source is: a tensor, or a list of known length."""
        self._values[foreign] = value
        if isinstance(value, CallValue) and not value.name:
            value.name = foreign.name

    def value(self, foreign: ForeignValue) -> Any:
        """What a value of the source is.

        Raises:
            SkipNode: It could not be given.
        """
        found = self._values.get(foreign)
        if found is not None:
            return found
        if isinstance(foreign, ForeignWeight) and foreign.type is not None:
            self.add_weight(foreign)
            return self._values[foreign]
        if foreign.unsupported:
            why = f"`{foreign.name}` is {foreign.unsupported}, which no dtype is"
            raise UnreadNodeError([why])
        raise SkipNode

    def result(self, foreign: ForeignValue) -> Any:
        """What an output of the program is: a tensor, or a list of them.

        Raises:
            DiagnosticError: It is an input or a weight of a dtype that we have not.
        """
        try:
            return self.value(foreign)
        except UnreadNodeError as error:
            message = f"the output {error.reasons[0]}"
            raise DiagnosticError(Diagnostic("import-unsupported", message)) from error

    def argument(self, argument: Any) -> Any:
        """An argument with our values, and with the sizes that are known by now."""
        if isinstance(argument, ForeignValue):
            return self.value(argument)
        if isinstance(argument, list | tuple):
            return [self.argument(each) for each in argument]
        return self.sizes.substitute(argument)

    # --- graphs ---

    def run(self, graph: ForeignGraph, others: Sequence[ForeignValue] = ()) -> list[Call]:
        """Translate the nodes of a graph that its outputs need, and other values."""
        self._read.update(others)
        for node in self._needed(graph):
            self._translate(node)
        return self.recorder.calls

    def run_inner(self, graph: ForeignGraph, given: Sequence[Any]) -> list[Any]:
        """Translate a graph inside of a node, for what it is given; the calls join the others.

        Raises:
            InnerFailureError: Some of it could not be said.
        """
        if len(given) != len(graph.inputs):
            takes = f"a graph takes {len(graph.inputs)} tensors, and is given {len(given)}"
            raise UntranslatableError(takes)
        for foreign, value in zip(graph.inputs, given, strict=True):
            self.bind(foreign, value)
        self._run_inner_nodes(graph)
        return [self.value(foreign) for _, foreign in graph.outputs]

    def _run_inner_nodes(self, graph: ForeignGraph) -> None:
        node, failures = self.recorder.node, len(self.failures)
        for each in self._needed(graph):
            self._translate(each)
        self.recorder.node = node
        if inner := self.failures[failures:]:
            del self.failures[failures:]
            raise InnerFailureError(inner)

    def _needed(self, graph: ForeignGraph) -> list[ForeignNode]:
        """The nodes that outputs need; checks and metadata give nothing."""
        self._read.update(value for _, value in graph.outputs)
        needed = []
        for node in reversed(graph.nodes):
            if any(result in self._read for result in node.results if result is not None):
                needed.append(node)
                self._read.update(_foreign_values(node.arguments.values()))
        return needed[::-1]

    # --- one node ---

    def _translate(self, node: ForeignNode) -> None:
        """Say one node, or keep why nothing says it."""
        recorder = self.recorder
        recorder.node = node
        count = len(recorder.calls)
        try:
            with at(NodeLocation(node)):
                for foreign, value in self._results(node):
                    self.bind(foreign, value)
        except SkipNode:
            del recorder.calls[count:]
        except UnreadNodeError as error:
            del recorder.calls[count:]
            if not self._follows_failure(node):
                self.failures.append(Failure(node, tuple(error.reasons), error.disagrees))
            self._stand_in(node)

    def _follows_failure(self, node: ForeignNode) -> bool:
        """Whether a node reads integers that could not be given, and may want to know them."""
        read = (self._values.get(each) for each in _foreign_values(node.arguments.values()))
        return any(one in self._lost for each in read for one in items_of(each) if one is not None)

    def _stand_in(self, node: ForeignNode) -> None:
        """Let what reads the results of a node be looked at, too, where their types are stated."""
        for each in node.results:
            if each is not None and each.type is not None and each in self._read:
                made = self.recorder.add(Tensor.of(Value(each.type, name=each.name)))
                self.bind(each, made)
                if each.type.dtype.kind != "float" and each.type.rank <= 1:
                    self._lost.add(made)

    def _results(self, node: ForeignNode) -> list[tuple[ForeignValue, Any]]:
        """What is read of a node's results, as values of ours."""
        arguments = {name: self.argument(each) for name, each in node.arguments.items()}
        for result in node.results:
            if result is not None and result.unsupported and result in self._read:
                raise UnreadNodeError([f"its result is {result.unsupported}, which no dtype is"])
        stated = [None if each is None else each.type for each in node.results]
        count, reasons = len(self.recorder.calls), list[str]()
        inner: Sequence[Failure] = ()
        disagrees = False
        for reading in self._candidates(node, arguments, stated):
            if isinstance(reading, str):
                reasons.append(reading)
                continue
            try:
                return list(self._read_results(node, self._evaluate(node, reading, stated)))
            except InnerFailureError as error:
                del self.recorder.calls[count:]
                inner = error.failures
            except REFUSALS as error:
                del self.recorder.calls[count:]
                disagrees |= isinstance(error, TypeDisagreement)
                reasons += [f"{reading_text(reading)}: {each}" for each in refusal_reasons(error)]
        if inner:  # what is missing is not the node, but what a graph of it calls
            self.failures += inner
            raise SkipNode
        try:
            return self._expanded(node, reasons)
        except UnreadNodeError as error:
            error.disagrees = disagrees
            raise

    def _candidates(
        self, node: ForeignNode, arguments: Mapping[str, Any], stated: Sequence[TensorType | None]
    ) -> Iterable[Reading | str]:
        """The readings of a node in its opset; no registry speaks of other domains."""
        if node.domain:
            return ()
        opset = self.program.opset if node.opset is None else node.opset
        if opset not in self._readings:
            self._readings[opset] = Readings(self.registry, self.program.system, opset)
        return self._readings[opset].candidates(node.operator, arguments, stated)

    def _expanded(
        self, node: ForeignNode, reasons: Sequence[str]
    ) -> list[tuple[ForeignValue, Any]]:
        """The results of what the source itself says that an operator is."""
        graph = None if node.expand is None else node.expand(self._type)
        if graph is None:
            raise UnreadNodeError(reasons)
        try:
            self._run_inner_nodes(graph)
            return list(self._read_results(node, dict(self._given(graph))))
        except InnerFailureError as error:
            raise UnreadNodeError([*reasons, *_inner_reasons(error.failures)]) from error
        except REFUSALS as error:
            raise UnreadNodeError([*reasons, *refusal_reasons(error)]) from error

    def _given(self, graph: ForeignGraph) -> Iterator[tuple[int, Any]]:
        """The outputs of a graph that its nodes give, by their places."""
        for index, (_, foreign) in enumerate(graph.outputs):
            with suppress(SkipNode):  # a function may give less than it could
                yield index, self.value(foreign)

    def _type(self, foreign: ForeignValue) -> TensorType | None:
        """The type of a value of the source as it is here."""
        found = self._values.get(foreign)
        return found.type if isinstance(found, CallValue) else foreign.type

    def _read_results(
        self, node: ForeignNode, found: Mapping[int, Any]
    ) -> Iterator[tuple[ForeignValue, Any]]:
        """The results that are read, of the types that the source states."""
        dtypes = () if node.result_dtypes is None else node.result_dtypes(self._type)
        for index, foreign in enumerate(node.results):
            if foreign is None or foreign not in self._read:
                continue
            value = found.get(index)
            if not isinstance(value, CallValue | list):
                raise UntranslatableError(f"it gives no result {index}, which the model reads")
            if isinstance(value, CallValue) and index < len(dtypes):
                value = self._of_dtype(value, dtypes[index])
            yield foreign, self._compared(value, foreign)

    def _of_dtype(self, value: CallValue, wanted: dtype | None) -> CallValue:
        """A value of the dtype that the source's operator gives; integers are only widened."""
        if wanted is None or value.dtype is wanted:
            return value
        if {value.dtype.kind, wanted.kind} == {"integer"} and value.dtype.bits < wanted.bits:
            return self.recorder.cast(value, wanted)
        raise TypeDisagreement(f"it is read as {value.dtype}, and the source gives {wanted}")

    def _compared(self, value: Any, foreign: ForeignValue) -> Any:
        """A value of the type that the source states."""
        if foreign.type is None or not isinstance(value, CallValue):
            return value
        self.sizes.compare(value.type, foreign.type)
        return self.recorder.cast(value, foreign.type.dtype)

    def _evaluate(
        self, node: ForeignNode, reading: Reading, stated: Sequence[TensorType | None]
    ) -> Mapping[int, Any]:
        """The results of a reading by their places."""
        index = 0
        if isinstance(reading, CallReading):
            index = reading.result or 0
            wanted = stated[index] if index < len(stated) else None
            found = self.recorder.call(reading.operator.name, reading.arguments, wanted)
        else:
            found = self.compositions.evaluate(reading.snippet, reading.names)
        if isinstance(found, list | tuple) and not node.gives_one:
            return dict(enumerate(found))
        return {index: found}


def _inner_reasons(failures: Sequence[Failure]) -> Iterator[str]:
    for each in failures:
        for reason in each.reasons or ["nothing says that"]:
            yield f"its own definition calls `{each.node.operator}`: {reason}"


def _foreign_values(arguments: Any) -> Iterator[ForeignValue]:
    """The values in arguments, those that inner graphs read among them."""
    for each in arguments:
        if isinstance(each, ForeignValue):
            yield each
        elif isinstance(each, list | tuple):
            yield from _foreign_values(each)
        elif isinstance(each, ForeignGraph):
            yield from (value for _, value in each.outputs)
            for node in each.nodes:
                yield from _foreign_values(node.arguments.values())


def reading_text(reading: Reading) -> str:
    """What says a call, for messages."""
    if isinstance(reading, CallReading):
        return f"`{reading.operator.name}` as `{reading.alias.text}`"
    return "composition"
