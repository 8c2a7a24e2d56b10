"""Emitters of control flow: conditionals, loops, assertions.

Invariant: a shape that was found inside of a region is not used outside of it, since it may never
have been computed there.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from xdsl.ir import Block, Operation, Region, SSAValue

from tripybuild.tensorrt.translation.emission import Emission, Emitter, Tensors


@contextmanager
def _scope(at: Emission, replaced: Mapping[SSAValue, Any]) -> Iterator[None]:
    """Let values be other tensors for a while."""
    before = {value: at.values[value] for value in replaced if value in at.values}
    shapes = at.shapes
    at.values.update(replaced)
    at.shapes = {value: shape for value, shape in shapes.items() if value not in replaced}
    yield
    at.values.update(before)
    at.shapes = shapes


def captured_values(regions: Sequence[Region]) -> list[SSAValue]:
    """Return the values that regions use and do not define, in the order of their first uses."""
    inside: set[SSAValue] = set()
    used: dict[SSAValue, None] = {}
    for region in regions:
        for block in region.blocks:
            inside.update(block.args)
        for op in region.walk():
            used.update(dict.fromkeys(op.operands))
            inside.update(op.results)
            for inner in op.regions:
                for block in inner.blocks:
                    inside.update(block.args)
    return [value for value in used if value not in inside]


def _if(at: Emission, op: Any) -> Tensors:
    conditional = at.add("if_conditional")
    at.name_layer(conditional.set_condition(at.tensor(op.operands[0])))
    above = [each for each in captured_values(op.regions) if not _is_constant(each)]
    inputs = {each: at.name_layer(conditional.add_input(at.tensor(each))) for each in above}
    with _scope(at, {each: layer.get_output(0) for each, layer in inputs.items()}):
        branches = [_branch(at, region) for region in op.regions]
        layers = [
            at.name_layer(conditional.add_output(*pair)) for pair in zip(*branches, strict=True)
        ]
    return [layer.get_output(0) for layer in layers]


def _branch(at: Emission, region: Region) -> list[Any]:
    """Add a branch, and return what it yields; what one branch found is not the other's."""
    with _scope(at, {}):
        at.shapes = dict(at.shapes)
        at.block(region.block)
        return [at.tensor(value) for value in _terminator(region.block).operands]


def _is_constant(value: SSAValue) -> bool:
    """Constants are there anyway: a kernel that came through a conditional would be none."""
    return isinstance(value.owner, Operation) and value.owner.name == "tensorrt.constant"


def _while(at: Emission, op: Any) -> Tensors:
    condition, body = (region.block for region in op.regions)
    decision = _terminator(condition)
    _check_passthrough(at, condition, decision.operands[1:])
    loop = at.add("loop")
    recurrences = _recurrences(at, loop, op.operands)
    # TensorRT wants the value of this iteration apart from the one that leaves the loop.
    copies = [at.add("identity", each.get_output(0)).get_output(0) for each in recurrences]
    with _scope(at, _bind_arguments(condition, copies) | _bind_arguments(body, copies)):
        at.shapes = dict(at.shapes)
        at.block(condition)
        _limit(at, loop, at.tensor(decision.operands[0]))
        at.block(body)
        return _close_loop(at, loop, body, recurrences)


def _check_passthrough(at: Emission, block: Block, values: Sequence[SSAValue]) -> None:
    """What a condition hands on is what the loop carries: there is no other place for it."""
    if list(values) != list(block.args):
        message = "`tensorrt.condition` hands on other values than the loop carries, in their order"
        at.refuse(message, "tensorrt-unsupported", hint="compute them after the loop")


def _for(at: Emission, op: Any) -> Tensors:
    block = op.regions[0].block
    low, high, step = (at.tensor(each) for each in op.operands[:3])
    loop = at.add("loop")
    counter = at.name_layer(loop.add_recurrence(low))
    index = counter.get_output(0)
    total = at.add("elementwise", index, step, at.member("ElementWiseOperation", "SUM"))
    counter.set_input(1, total.get_output(0))
    less = at.add("elementwise", index, high, at.member("ElementWiseOperation", "LESS"))
    _limit(at, loop, less.get_output(0))
    recurrences = _recurrences(at, loop, op.operands[3:])
    carried = [index, *(each.get_output(0) for each in recurrences)]
    with _scope(at, _bind_arguments(block, carried)):
        at.shapes = dict(at.shapes)
        at.block(block)
        return _close_loop(at, loop, block, recurrences)


def _recurrences(at: Emission, loop: Any, values: Sequence[SSAValue]) -> list[Any]:
    return [at.name_layer(loop.add_recurrence(at.tensor(each))) for each in values]


def _limit(at: Emission, loop: Any, condition: Any) -> None:
    at.name_layer(loop.add_trip_limit(condition, at.member("TripLimit", "WHILE")))


def _bind_arguments(block: Block, tensors: Sequence[Any]) -> dict[SSAValue, Any]:
    return dict(zip(block.args, tensors, strict=True))


def _close_loop(at: Emission, loop: Any, block: Block, recurrences: Sequence[Any]) -> list[Any]:
    """Feed what a body yields into the next iteration; what the last one gave is the result."""
    kind = at.member("LoopOutput", "LAST_VALUE")
    results = []
    for recurrence, value in zip(recurrences, _terminator(block).operands, strict=True):
        recurrence.set_input(1, at.tensor(value))
        layer = at.name_layer(loop.add_loop_output(recurrence.get_output(0), kind))
        results.append(layer.get_output(0))
    return results


def _terminator(block: Block) -> Operation:
    last = block.last_op
    assert last is not None
    return last


def _assertion(at: Emission, op: Any) -> Tensors:
    at.add("assertion", at.tensor(op.condition), op.value("message"))
    return ()


LAYERS: Mapping[str, Emitter] = {
    "tensorrt.if": _if,
    "tensorrt.while": _while,
    "tensorrt.for": _for,
    "tensorrt.assertion": _assertion,
}
