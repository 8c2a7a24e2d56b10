"""Control flow layers: branches, loops, assertions; and plugins.

Invariant: what gives one of two values has one type, so a size is the same expression in both. A
shape that was found inside of a region is not used outside of it: it may never have been computed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tripybuild.symbolic.dims import same
from tripybuild.tensorrt.layers.declaration import LayerDeclaration
from tripybuild.tensorrt.layers.shapes import reshape
from tripybuild.tensorrt.recorder.argument_kinds import (
    mapping,
    region,
    tensor,
    tensors,
    text,
    types,
)
from tripybuild.tensorrt.recorder.network import Layer, append, current
from tripybuild.tensorrt.recorder.value import NetworkValue, Shape

if TYPE_CHECKING:
    from xdsl.ir import Block, Operation, Region, SSAValue

    from tripybuild.tensorrt.translation.emission import Emission


@contextmanager
def _scope(at: "Emission", replaced: "Mapping[SSAValue, Any]") -> Iterator[None]:
    """Let values be other tensors for a while."""
    before = {value: at.values[value] for value in replaced if value in at.values}
    shapes = at.shapes
    at.values.update(replaced)
    at.shapes = {value: shape for value, shape in shapes.items() if value not in replaced}
    yield
    at.values.update(before)
    at.shapes = shapes


def captured_values(regions: "Sequence[Region]") -> "list[SSAValue]":
    """Return the values that regions use and do not define, in the order of their first uses."""
    inside: set[SSAValue] = set()
    used: dict[SSAValue, None] = {}
    for body in regions:
        for block in body.blocks:
            inside.update(block.args)
        for op in body.walk():
            used.update(dict.fromkeys(op.operands))
            inside.update(op.results)
            for inner in op.regions:
                for block in inner.blocks:
                    inside.update(block.args)
    return [value for value in used if value not in inside]


def _if(at: "Emission", op: Any) -> Any:
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


def _branch(at: "Emission", region: "Region") -> list[Any]:
    """Add a branch, and return what it yields; what one branch found is not the other's."""
    with _scope(at, {}):
        at.shapes = dict(at.shapes)
        at.block(region.block)
        return [at.tensor(value) for value in _terminator(region.block).operands]


def _is_constant(value: "SSAValue") -> bool:
    """Constants are there anyway: a kernel that came through a conditional would be none."""
    return getattr(value.owner, "name", "") == "tensorrt.constant"


IF = LayerDeclaration(
    "if_",
    {"condition": tensor, "then": region, "otherwise": region, "operands": tensors},
    results=(),
    operation="tensorrt.if",
    translate=_if,
)


def if_(
    condition: NetworkValue,
    then: Callable[..., Any],
    otherwise: Callable[..., Any],
    operands: Sequence[NetworkValue],
) -> tuple[NetworkValue, ...]:
    """Record two branches, of which one runs; each is a function on the operands."""
    arguments = IF.bind((condition, then, otherwise, operands), {})
    then_region = current().region(then, operands)
    regions = [
        then_region,
        current().region(reshape_results(then_region.gives, otherwise), operands),
    ]
    first, second = [[value.dtype for value in region.gives] for region in regions]
    if first != second:
        raise ValueError(f"branches give {first} and {second}")
    pairs = zip(regions[0].gives, regions[1].gives, strict=True)
    results = tuple(NetworkValue(a.dtype, _join_shapes(a.shape, b.shape)) for a, b in pairs)
    append(Layer(IF, arguments, results, tuple(regions)))
    return results


def _join_shapes(left: Shape | None, right: Shape | None) -> Shape | None:
    """What is known of a shape that is one of two."""
    if left is None or right is None or len(left) != len(right):
        return None
    return tuple(a if same(a, b) else None for a, b in zip(left, right, strict=True))


def _while(at: "Emission", op: Any) -> Any:
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


def _check_passthrough(at: "Emission", block: "Block", values: "Sequence[SSAValue]") -> None:
    """What a condition hands on is what the loop carries: there is no other place for it."""
    if list(values) != list(block.args):
        message = "`tensorrt.condition` hands on other values than the loop carries, in their order"
        at.refuse(message, "tensorrt-unsupported", hint="compute them after the loop")


WHILE = LayerDeclaration(
    "while_",
    {"state": tensors, "condition": region, "body": region},
    results=(),
    operation="tensorrt.while",
    translate=_while,
)


def while_(
    state: Sequence[NetworkValue], condition: Callable[..., Any], body: Callable[..., Any]
) -> tuple[NetworkValue, ...]:
    """Record a loop that replaces the state by `body(*state)` while the condition holds."""
    arguments = WHILE.bind((state, condition, body), {})
    return _loop(WHILE, arguments, state, [(condition, ()), (body, ())])


def _for(at: "Emission", op: Any) -> Any:
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


FOR = LayerDeclaration(
    "for_",
    {"start": tensor, "stop": tensor, "step": tensor, "state": tensors, "body": region},
    results=(),
    operation="tensorrt.for",
    translate=_for,
)


def for_(
    start: NetworkValue,
    stop: NetworkValue,
    step: NetworkValue,
    state: Sequence[NetworkValue],
    body: Callable[..., Any],
) -> tuple[NetworkValue, ...]:
    """Record a loop that replaces the state by `body(counter, *state)`."""
    arguments = FOR.bind((start, stop, step, state, body), {})
    counter = NetworkValue(start.dtype, ())
    return _loop(FOR, arguments, state, [(body, (counter,))])


def _recurrences(at: "Emission", loop: Any, values: "Sequence[SSAValue]") -> list[Any]:
    return [at.name_layer(loop.add_recurrence(at.tensor(each))) for each in values]


def _limit(at: "Emission", loop: Any, condition: Any) -> None:
    at.name_layer(loop.add_trip_limit(condition, at.member("TripLimit", "WHILE")))


def _bind_arguments(block: "Block", tensors: Sequence[Any]) -> "dict[SSAValue, Any]":
    return dict(zip(block.args, tensors, strict=True))


def _close_loop(at: "Emission", loop: Any, block: "Block", recurrences: Sequence[Any]) -> list[Any]:
    """Feed what a body yields into the next iteration; what the last one gave is the result."""
    kind = at.member("LoopOutput", "LAST_VALUE")
    results = []
    for recurrence, value in zip(recurrences, _terminator(block).operands, strict=True):
        recurrence.set_input(1, at.tensor(value))
        layer = at.name_layer(loop.add_loop_output(recurrence.get_output(0), kind))
        results.append(layer.get_output(0))
    return results


def _terminator(block: "Block") -> "Operation":
    last = block.last_op
    assert last is not None
    return last


def _loop(
    declaration: LayerDeclaration,
    arguments: dict[str, Any],
    state: Sequence[NetworkValue],
    parts: Sequence[tuple[Callable[..., Any], tuple[NetworkValue, ...]]],
) -> tuple[NetworkValue, ...]:
    *first, (body, before) = parts
    ways = [*first, (reshape_results(state, body), before)]
    regions = tuple(
        current().region(fill, [*extra, *[NetworkValue(each.dtype, each.shape) for each in state]])
        for fill, extra in ways
    )
    results = tuple(NetworkValue(each.dtype, each.shape) for each in state)
    if [value.dtype for value in regions[-1].gives] != [value.dtype for value in results]:
        raise ValueError(f"a loop over {list(state)} cannot continue with {regions[-1].gives}")
    append(Layer(declaration, arguments, results, regions))
    return results


def reshape_results(
    like: Sequence[NetworkValue], fill: Callable[..., Any]
) -> Callable[..., list[NetworkValue]]:
    """A function whose results get other, fixed sizes.

    What gives one of two values has one type: a size is a symbol in both of them or in neither.
    """

    def fill_and_reshape(*taken: NetworkValue) -> list[NetworkValue]:
        given = fill(*taken)
        several = [given] if isinstance(given, NetworkValue) else list(given)
        pairs = zip(several, like, strict=False)
        return [*[_reshape_like(*pair) for pair in pairs], *several[len(like) :]]

    return fill_and_reshape


def _reshape_like(value: NetworkValue, like: NetworkValue) -> NetworkValue:
    if value.shape is None or like.shape is None or len(value.shape) != len(like.shape):
        return value
    alike = None in like.shape or same(value.shape, like.shape)
    return value if alike else reshape(value, like.shape)


def _assertion(at: "Emission", op: Any) -> tuple[()]:
    at.add("assertion", at.tensor(op.condition), op.value("message"))
    return ()


ASSERTION = LayerDeclaration(
    "assertion", {"condition": tensor, "message": text}, results=(), translate=_assertion
)


def assertion(condition: NetworkValue, message: str) -> None:
    """Record that the condition must hold, with what to say if it does not."""
    ASSERTION.record((condition, message), {})


def _opaque_plugin(at: "Emission", op: Any) -> Any:
    if not at.library.has_layer("add_plugin_v3"):
        message = f"`{at.library.name}` has no plugins"
        at.refuse(message, "tensorrt-unsupported", hint="the target `tensorrt` has them")
    return at.add("plugin_v3", [at.tensor(each) for each in op.operands], [], at.plugin(op))


OPAQUE_PLUGIN = LayerDeclaration(
    "opaque_plugin",
    {
        "inputs": tensors,
        "plugin_name": text,
        "plugin_version": text.with_default("1"),
        "plugin_namespace": text.with_default(""),
        "creator_params": mapping.with_default(MappingProxyType({})),
        "outputs": types.with_default(()),
    },
    results=(),
    translate=_opaque_plugin,
)


def opaque_plugin(
    inputs: Sequence[NetworkValue], *positional: Any, **keywords: Any
) -> tuple[NetworkValue, ...]:
    """Record a plugin layer; `outputs` has the rank and dtype of each result."""
    arguments = OPAQUE_PLUGIN.bind((inputs, *positional), keywords)
    results = tuple(NetworkValue(dtype, (None,) * rank) for rank, dtype in arguments["outputs"])
    append(Layer(OPAQUE_PLUGIN, arguments, results))
    return results
