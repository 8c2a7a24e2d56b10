"""Control flow: branches and loops, whose bodies read values from outside as they are."""

from collections.abc import Callable, Sequence
from typing import Any

from tripybuild.onnx.builder import current
from tripybuild.onnx.dialect.calls import check_results
from tripybuild.onnx.dialect.compositions import empty, holds, tensor
from tripybuild.onnx.value import OnnxValue, Size
from tripybuild.types.dtypes import boolean, dtype, int64

Region = Callable[..., Any]


def if_(
    condition: OnnxValue, then: Region, otherwise: Region, operands: Sequence[OnnxValue] = ()
) -> tuple[OnnxValue, ...]:
    """Add two branches, of which one runs; each is a function on the operands."""
    graph = current()
    bodies = {
        name: graph.region(lambda fill=fill: fill(*operands), ())
        for name, fill in (("then_branch", then), ("else_branch", otherwise))
    }
    types = _same_types(bodies["then_branch"].types(), bodies["else_branch"].types())
    schema = graph.schema("If")
    return graph.append(
        schema, [condition], {}, check_results(schema, types), bodies=bodies
    ).outputs


def while_(state: Sequence[OnnxValue], condition: Region, body: Region) -> tuple[OnnxValue, ...]:
    """Add a loop that replaces the state by `body(*state)` while the condition holds."""
    graph = current()
    first = _one(condition(*state))
    counter, goes_on = OnnxValue(int64, ()), OnnxValue(boolean, ())
    carried = [OnnxValue(each.dtype, each.shape) for each in state]

    def turn(_counter: OnnxValue, _goes_on: OnnxValue, *taken: OnnxValue) -> list[OnnxValue]:
        given = _several(body(*taken))
        _same_types([each.dtype for each in given], [each.dtype for each in state])
        return [_one(condition(*given)), *given]

    made = graph.region(turn, [counter, goes_on, *carried])
    schema, inputs = graph.schema("Loop"), [None, first, *state]
    types = check_results(schema, [each.dtype for each in state])
    return graph.append(schema, inputs, {}, types, bodies={"body": made}).outputs


def scan(
    init: Sequence[OnnxValue],
    inputs: Sequence[OnnxValue],
    body: Region,
    collected: Sequence[tuple[dtype, Sequence[Size]]],
    reverse: bool = False,
) -> tuple[OnnxValue, ...]:
    """Add a loop over the rows of tensors: the last carried values, then all other results.

    `collected` are the types of the other results. Without rows there is no loop, since ONNX
    Runtime's `Scan` takes one row at least: a branch asks where there may be none.
    """

    def loop() -> tuple[OnnxValue, ...]:
        return _scan(init, inputs, body, reverse)

    def skip() -> tuple[OnnxValue, ...]:
        return (*init, *[empty(type, shape) for type, shape in collected])

    rows = 1 if inputs[0].shape is None else inputs[0].shape[0]
    if holds(rows > 0):
        return loop()
    return skip() if holds(rows == 0) else if_(tensor(rows, int64) > 0, loop, skip)


def _scan(
    init: Sequence[OnnxValue], inputs: Sequence[OnnxValue], body: Region, reverse: bool
) -> tuple[OnnxValue, ...]:
    graph = current()
    carried = [OnnxValue(each.dtype, each.shape) for each in init]
    rows = [
        OnnxValue(each.dtype, None if each.shape is None else each.shape[1:]) for each in inputs
    ]
    made = graph.region(body, [*carried, *rows])
    types = made.types()
    _same_types(types[: len(init)], [each.dtype for each in init])
    attributes: dict[str, Any] = {"num_scan_inputs": len(inputs)}
    if reverse:
        attributes["scan_input_directions"] = [1] * len(inputs)
        attributes["scan_output_directions"] = [1] * (len(types) - len(init))
    schema = graph.schema("Scan")
    types = check_results(schema, types)
    return graph.append(schema, [*init, *inputs], attributes, types, bodies={"body": made}).outputs


def _several(given: Any) -> list[OnnxValue]:
    return [given] if isinstance(given, OnnxValue) else list(given)


def _one(given: Any) -> OnnxValue:
    (found,) = _several(given)
    return found


def _same_types(found: Sequence[dtype], wanted: Sequence[dtype]) -> Sequence[dtype]:
    if list(found) != list(wanted):
        raise ValueError(f"a body gives {list(found)}, and {list(wanted)} are wanted")
    return found
