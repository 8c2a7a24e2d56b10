"""Control flow layers: branches, loops, assertions; and plugins.

Invariant: what gives one of two values has one type, so a size is the same expression in both. A
shape that was found inside of a region is not used outside of it: it may never have been computed.
"""

from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from tripybuild.symbolic.dims import same
from tripybuild.tensorrt.layers import kinds
from tripybuild.tensorrt.layers.declaration import LayerDeclaration
from tripybuild.tensorrt.layers.operation import (
    LayerOperation,
    OpProblem,
    attribute,
    operand,
    sizes,
)
from tripybuild.tensorrt.layers.reshapes import reshape
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
    from tripybuild.tensorrt.translation.emission import Emission

IF = LayerDeclaration(
    "tensorrt.if",
    "if_",
    parameters={"condition": tensor, "then": region, "otherwise": region, "operands": tensors},
    emit=lambda place: place.control.branches(place),
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


WHILE = LayerDeclaration(
    "tensorrt.while",
    "while_",
    parameters={"state": tensors, "condition": region, "body": region},
    emit=lambda place: place.control.repeat(place),
)


def while_(
    state: Sequence[NetworkValue], condition: Callable[..., Any], body: Callable[..., Any]
) -> tuple[NetworkValue, ...]:
    """Record a loop that replaces the state by `body(*state)` while the condition holds."""
    arguments = WHILE.bind((state, condition, body), {})
    return _loop(WHILE, arguments, state, [(condition, ()), (body, ())])


FOR = LayerDeclaration(
    "tensorrt.for",
    "for_",
    parameters={"start": tensor, "stop": tensor, "step": tensor, "state": tensors, "body": region},
    emit=lambda place: place.control.count(place),
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


class AssertionOp(LayerOperation):
    """What must be true; NVIDIA calls it pure, so that rewrites may lose it: ours may not."""

    name = "tensorrt.assertion"
    condition = operand(kinds.I1)
    message = attribute(kinds.STRING_ATTR)
    assembly_format = "attr-dict `ins` `(` operands `:` type(operands) `)`"
    TRAITS: ClassVar[tuple[str, ...]] = ()

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The condition is one truth, or a vector of them."""
        if len(sizes(self.condition)) > 1:
            yield "expected condition to be of rank 0 or 1"

    def translate(self, at: "Emission") -> tuple[()]:
        """Add an assertion."""
        at.add("assertion", at.tensor(self.condition), self.value("message"))
        return ()


ASSERTION = LayerDeclaration(AssertionOp)


def assertion(condition: NetworkValue, message: str) -> None:
    """Record that the condition must hold, with what to say if it does not."""
    ASSERTION.record((condition, message), {})


OPAQUE_PLUGIN = LayerDeclaration(
    "tensorrt.opaque_plugin",
    "opaque_plugin",
    parameters={
        "inputs": tensors,
        "plugin_name": text,
        "plugin_version": text.with_default("1"),
        "plugin_namespace": text.with_default(""),
        "creator_params": mapping.with_default(MappingProxyType({})),
        "outputs": types.with_default(()),
    },
    emit=lambda place: place.control.plugin(place),
)


def opaque_plugin(
    inputs: Sequence[NetworkValue], *positional: Any, **keywords: Any
) -> tuple[NetworkValue, ...]:
    """Record a plugin layer; `outputs` has the rank and dtype of each result."""
    arguments = OPAQUE_PLUGIN.bind((inputs, *positional), keywords)
    results = tuple(NetworkValue(dtype, (None,) * rank) for rank, dtype in arguments["outputs"])
    append(Layer(OPAQUE_PLUGIN, arguments, results))
    return results
