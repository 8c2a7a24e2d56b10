"""Words of compositions for graphs inside of nodes: what a loop runs, and loops that are unrolled.

A loop of ONNX counts its turns and carries on while a condition holds, and gives rows of each turn
beside what it carries. These words say such a body as functions that operators of ours take.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tripybuild.importer.call_program import CallValue
from tripybuild.importer.foreign_program import ForeignGraph
from tripybuild.importer.translation.recorder import UntranslatableError

MOST_TURNS = 256  # of a loop that is unrolled
InlineCall = Callable[[ForeignGraph, Sequence[Any]], list[Any]]


class InnerGraph:
    """A graph of a node in a snippet: calling it puts its calls here."""

    NOUN = "a graph"  # in messages of snippets
    __slots__ = ("_inline", "graph")

    def __init__(self, graph: ForeignGraph, inline: InlineCall) -> None:
        self.graph, self._inline = graph, inline

    def __call__(self, *operands: Any) -> list[Any]:
        """The outputs for these inputs."""
        return self._inline(self.graph, operands)


def result_count(graph: InnerGraph) -> int:
    """How many outputs a graph has."""
    return len(graph.graph.outputs)


def counted(body: InnerGraph) -> Callable[..., list[Any]]:
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

    def each_turn(body: InnerGraph, go: Any) -> Callable[..., list[Any]]:
        """A turn on what a loop carries, and its number, where it goes on to the end."""

        def turn(*given: Any) -> list[Any]:
            *carried, index = given
            on, *found = body(index, go, *carried)
            require_true(on, go)
            return found

        return turn

    def unrolled(body: InnerGraph, count: int, go: Any, carried: Sequence[Any]) -> list[Any]:
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

    plain = {"counted": counted, "fold": fold, "goes_on": goes_on, "result_count": result_count}
    return plain | {"each_turn": each_turn, "unrolled": unrolled}


def _known_truth(value: CallValue) -> bool | None:
    return None if value.data is None else bool(value.data.item())
