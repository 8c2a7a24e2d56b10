"""Compositions: snippets over the parameters of a foreign operator, evaluated into calls.

The names of operators, Python's operators on tensors and indices are calls of our operators. Which
of them a method is, the `aliases:` of the registry say.

A graph of a node is a function of a snippet. A loop of ONNX counts its turns and carries on while a
condition holds, and gives rows of each turn beside what it carries: the words at the end say such a
body as functions that operators of ours take.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tripybuild.importer.call_program import CallValue
from tripybuild.importer.foreign_program import ForeignGraph
from tripybuild.importer.translation.recorder import Recorder, UntranslatableError
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.vocabulary import Vocabulary
from tripybuild.schema.operator.operator import Snippet
from tripybuild.schema.registry_index import NUMBER_WORD
from tripybuild.schema.snippets.vocabularies import TENSOR_ATTRIBUTES
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.trace.values import Shape, TensorType
from tripybuild.types.dtypes import BY_NAME, dtype, int64
from tripybuild.types.vocabulary import SHAPE

# The numbers that Python's operators leave a tensor as it is with. Those of sums are for integers
# alone, since -0.0 + 0 is 0.0.
_NEUTRAL = {
    **dict.fromkeys(("__mul__", "__rmul__", "__truediv__", "__pow__"), 1),
    **dict.fromkeys(("__add__", "__radd__", "__sub__"), 0),
}
_FRACTIONS = ("__truediv__",)  # what gives floats of integers
MOST_TURNS = 256  # of a loop that is unrolled
InlineCall = Callable[[ForeignGraph, Sequence[Any]], list[Any]]


class Operand:
    """A tensor in a snippet; the methods of Python's operators are those of a registry."""

    NOUN = "a tensor"  # in messages of snippets
    __slots__ = ("value",)

    def __init__(self, value: CallValue) -> None:
        self.value = value

    @property
    def type(self) -> TensorType:
        """Its dtype and shape."""
        return self.value.type

    @property
    def dtype(self) -> dtype:
        """The dtype of its elements."""
        return self.value.dtype

    @property
    def shape(self) -> Shape:
        """Its sizes."""
        return self.value.shape

    @property
    def rank(self) -> int:
        """How many dimensions it has."""
        return self.value.rank

    def __bool__(self) -> bool:
        raise TypeError("whether a tensor is true is known only when it runs")

    def __iter__(self) -> Any:
        raise TypeError("a tensor cannot be listed")

    def __hash__(self) -> int:
        return id(self)


class CompositionNames(dict[str, Any]):
    """The names of one snippet: its parameters, then operators."""

    def __init__(self, parameters: Mapping[str, Any], operators: Callable[[str], Any]) -> None:
        super().__init__(parameters)
        self._operators = operators

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name):
            return True
        found = self._operators(str(name))
        if found is None:
            return False
        self[str(name)] = found
        return True


class Compositions:
    """Evaluates snippets of one program.

    Args:
        recorder: Takes the calls.
        words: What snippets call beside operators and shape functions; tensors are `CallValue`.
        passes: Errors that are about more than a snippet, and pass through it.
    """

    def __init__(
        self,
        recorder: Recorder,
        words: Mapping[str, Callable[..., Any]],
        passes: tuple[type[Exception], ...] = (),
    ) -> None:
        self.recorder = recorder
        self._passes = (*passes, UntranslatableError, UndecidedSize)
        methods = {
            method: self._method(method, name, reflected)
            for method, name, reflected in recorder.declarations.methods()
            if method.startswith("__")
        }
        slots: dict[str, Any] = {"__slots__": (), "__hash__": Operand.__hash__}
        self._operand: type[Operand] = type("Operand", (Operand,), methods | slots)
        self._functions: dict[str, Any] = {}
        functions = {name: self._word(function) for name, function in words.items()}
        functions |= {NUMBER_WORD: self._number, "dtype_of": lambda tensor: tensor.dtype}
        functions |= loop_words(self.unwrap, lambda value: self._number(value, int64))
        kinds = (Operand, TensorType)
        self._vocabulary = SHAPE | Vocabulary(
            functions=functions, attributes=tuple((each, TENSOR_ATTRIBUTES) for each in kinds)
        )

    def evaluate(self, snippet: Snippet, names: Mapping[str, Any]) -> Any:
        """The values that a snippet gives, among which lists and None.

        Raises:
            UntranslatableError: It has no value for this call.
        """
        bound = CompositionNames({n: self._wrap(v) for n, v in names.items()}, self._function)
        try:
            found = evaluate(snippet.program, bound, self._vocabulary, passes=self._passes)
        except EvaluationError as error:
            raise UntranslatableError(f"`{snippet.last_line}`: {error}") from error
        except UndecidedSize as undecided:
            why = f"whether `{undecided.condition}` holds is known only when the model runs"
            raise UntranslatableError(f"`{snippet.last_line}`: {why}") from undecided
        return self.unwrap(found)

    def _wrap(self, value: Any) -> Any:
        if isinstance(value, CallValue):
            return self._operand(value)
        if isinstance(value, ForeignGraph):
            return GraphFunction(value, self._call_graph)
        if isinstance(value, list | tuple):
            return type(value)([self._wrap(each) for each in value])
        return value

    def unwrap(self, value: Any) -> Any:
        """What a snippet gave, with values for tensors; also inside of lists and indices."""
        if isinstance(value, Operand):
            return value.value
        if isinstance(value, GraphFunction):
            return value.graph
        if isinstance(value, slice):
            return slice(*map(self.unwrap, (value.start, value.stop, value.step)))
        if isinstance(value, list | tuple):
            return type(value)(map(self.unwrap, value))
        is_function = callable(value) and not isinstance(value, type)
        return self._function_on_values(value) if is_function else value

    def _function_on_values(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of a snippet on values, for a region."""

        def call(*given: CallValue) -> Any:
            return self.unwrap(function(*map(self._wrap, given)))

        return call

    def _call_graph(self, graph: ForeignGraph, operands: Sequence[Any]) -> list[Any]:
        """What a graph of the source gives where a snippet calls it."""
        given = [self.unwrap(each) for each in operands]
        return [self._wrap(each) for each in self.recorder.run_graph(graph, given)]

    # --- what snippets call ---

    def _function(self, name: str) -> Any:
        """What a name means that is no parameter: an operator, or a dtype."""
        if name not in self._functions:
            operator = self._operator(name)
            python = SHAPE.functions.get(name)
            if operator is not None and python is not None:
                operator = _dispatch(operator, python)
            self._functions[name] = operator or BY_NAME.get(name)
        return self._functions[name]

    def _operator(self, name: str) -> Callable[..., Any] | None:
        declared = self.recorder.declarations.get(name)
        if declared is None:
            return None

        def call(*given: Any, **named: Any) -> Any:
            assert declared is not None
            bound = declared.bind(given, named)
            arguments = {each: self.unwrap(value) for each, value in bound.items()}
            return self._wrap(self.recorder.call(name, arguments))

        return call

    def _method(self, sign: str, name: str, reflected: bool) -> Callable[..., Any]:
        """A special method of tensors: a call of an operator, unless it changes nothing."""

        def method(self_: Operand, *others: Any) -> Any:
            if others and _is_neutral(sign, self_, others[0]):
                return self_
            operator = self._function_of(name)
            return operator(*others, self_) if reflected else operator(self_, *others)

        return method

    def _function_of(self, name: str) -> Callable[..., Any]:
        found = self._operator(name)
        if found is None:
            raise UntranslatableError(f"there is no operator `{name}`")
        return found

    def _word(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A word, which is given values for tensors."""

        def call(*given: Any) -> Any:
            return self._wrap(function(*map(self.unwrap, given)))

        return call

    def _number(self, value: Any, type: dtype) -> Any:
        return self._wrap(self.recorder.number(value, type))


def _is_neutral(sign: str, tensor: Operand, number: Any) -> bool:
    """Whether Python's operator gives the tensor as it is, in its dtype."""
    neutral = _NEUTRAL.get(sign)
    if neutral is None or isinstance(number, bool) or not isinstance(number, int | float):
        return False
    is_float = tensor.dtype.kind == "float"
    whole = isinstance(number, int) and tensor.dtype.kind == "integer" and sign not in _FRACTIONS
    return number == neutral and (whole or (is_float and neutral != 0))


def _dispatch(operator: Callable[..., Any], python: Callable[..., Any]) -> Callable[..., Any]:
    """A name is the operator where its first argument is a tensor, else the function."""

    def either(*given: Any, **named: Any) -> Any:
        is_operator = isinstance(given[0], Operand) if given else bool(named)
        return (operator if is_operator else python)(*given, **named)

    return either


# --- graphs inside of nodes ---


class GraphFunction:
    """A graph of a node in a snippet: calling it puts its calls here."""

    NOUN = "a graph"  # in messages of snippets
    __slots__ = ("_inline", "graph")

    def __init__(self, graph: ForeignGraph, inline: InlineCall) -> None:
        self.graph, self._inline = graph, inline

    def __call__(self, *operands: Any) -> list[Any]:
        """The outputs for these inputs."""
        return self._inline(self.graph, operands)


def result_count(graph: GraphFunction) -> int:
    """How many outputs a graph has."""
    return len(graph.graph.outputs)


def counted(body: GraphFunction) -> Callable[..., list[Any]]:
    """A turn of a loop on its number, whether it goes on, and what it carries."""

    def turn(index: Any, go: Any, *carried: Any) -> list[Any]:
        return [index + 1, *body(index, go, *carried)]

    return turn


def fold(function: Callable[..., Any], value: Any, items: Sequence[Any]) -> Any:
    """`function(value, item)` for each item in turn: the layers of a stack, one on the other."""
    for item in items:
        value = function(value, item)
    return value


def goes_on(limit: Any) -> Callable[..., Any]:
    """Whether a turn of `counted` is run: its number is below a limit, if there is one."""

    def condition(index: Any, go: Any, *_carried: Any) -> Any:
        return go if limit is None else go & (index < limit)

    return condition


def mapped(body: GraphFunction, first: Sequence[Any], others: Sequence[Any]) -> list[list[Any]]:
    """Each result of a graph as a list: one for each item of the first list.

    Of the other operands, lists give their items, too, and tensors are the same for each.
    """
    rows = [
        body(item, *[each[index] if isinstance(each, list | tuple) else each for each in others])
        for index, item in enumerate(first)
    ]
    return [[row[index] for row in rows] for index in range(len(body.graph.outputs))]


def loop_words(unwrap: Callable[[Any], Any], number: Callable[..., Any]) -> Mapping[str, Any]:
    """The words by name.

    Args:
        unwrap: Gives the value of an operand.
        number: Makes an operand of a number, in the dtype of another one.
    """

    def require_true(go: Any, given: Any) -> None:
        value: CallValue = unwrap(go)
        if value is not unwrap(given) and _known_truth(value) is not True:
            raise UntranslatableError("a loop whose end is computed has no known number of rows")

    def each_turn(body: GraphFunction, go: Any) -> Callable[..., list[Any]]:
        """A turn on what a loop carries, and its number, where it goes on to the end."""

        def turn(*given: Any) -> list[Any]:
            *carried, index = given
            on, *found = body(index, go, *carried)
            require_true(on, go)
            return found

        return turn

    def unrolled(body: GraphFunction, count: int, go: Any, carried: Sequence[Any]) -> list[Any]:
        """What a loop carries at its end, and the rows of each of its further results."""
        if count > MOST_TURNS:
            raise UntranslatableError(f"a loop of {count} turns is not unrolled")
        carried = list(carried)
        rows: list[list[Any]] = [[] for _ in body.graph.outputs[1 + len(carried) :]]
        for index in range(count):
            truth = _known_truth(unwrap(go))
            if truth is None:
                raise UntranslatableError("whether a loop goes on is computed")
            if not truth:
                break
            go, *found = body(number(index), go, *carried)
            carried, more = found[: len(carried)], found[len(carried) :]
            for row, each in zip(rows, more, strict=True):
                row.append(each)
        return [carried, rows]

    plain = {"counted": counted, "fold": fold, "goes_on": goes_on, "mapped": mapped}
    plain["result_count"] = result_count
    return plain | {"each_turn": each_turn, "unrolled": unrolled}


def _known_truth(value: CallValue) -> bool | None:
    return None if value.data is None else bool(value.data.item())
