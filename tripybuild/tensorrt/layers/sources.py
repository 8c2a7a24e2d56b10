"""Source layers: constants, ranges, random numbers."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tripybuild.tensorrt.layers import kinds
from tripybuild.tensorrt.layers.checks import Checks, all_match
from tripybuild.tensorrt.layers.declaration import Arguments, SingleResultLayer, sizes_of
from tripybuild.tensorrt.layers.operation import (
    Component,
    LayerOperation,
    OpProblem,
    attribute,
    element,
    optional_attribute,
    optional_operand,
    output,
    sizes,
)
from tripybuild.tensorrt.recorder import argument_kinds as arguments
from tripybuild.tensorrt.recorder.value import NetworkValue
from tripybuild.tensorrt.shape_rules import Shape, ShapeError, Sizes, differ, is_static

if TYPE_CHECKING:
    from tripybuild.tensorrt.emission.layer_emission import LayerEmission
    from tripybuild.tensorrt.translation.emission import Emission

_SAMPLED = (kinds.F32, kinds.F16)
_STEPPED = (kinds.I32, kinds.I64, kinds.F32)
_SCALAR, _LIST = (0,), (1,)


class ConstantOp(LayerOperation):
    """A constant; `weights` are elements, whose type is the result's."""

    name = "tensorrt.constant"
    weights = attribute(kinds.WEIGHTS)
    result = output(*kinds.EVERY, like="weights")
    assembly_format = "attr-dict $weights"
    TRAITS: ClassVar[tuple[str, ...]] = ("Pure", "ConstantLike")
    CHECKS: ClassVar[Checks] = (all_match("type", "weights", "result"),)

    def components(self) -> Sequence[Component]:
        """The type of the elements."""
        weights: Any = self.weights
        return [Component(sizes(weights.get_type()), element(weights.get_type()))]

    def translate(self, at: "Emission") -> Any:
        """Add a constant."""
        kind: Any = self.result.type
        return at.add("constant", kind.get_shape(), at.weights(self.value("weights")))


class ConstantF4Op(ConstantOp):
    """A constant of f4; otherwise as `tensorrt.constant`."""

    name = "trtx.constant"
    result = output(kinds.F4, like="weights")


def _constant_shape(given: Arguments) -> Sizes:
    if given["shape"] is not None:
        return tuple(given["shape"])
    value, shape = given["value"], []
    if hasattr(value, "shape"):
        return tuple(value.shape)
    while isinstance(value, Sequence):
        shape.append(len(value))
        if not value:
            break
        value = value[0]
    return tuple(shape)


constant = SingleResultLayer(
    ConstantOp,
    parameters={
        "value": arguments.literal,
        "dtype": arguments.dtype,
        "shape": arguments.sizes.with_default(None),
    },
    results=("dtype",),
    shape=_constant_shape,
    emit=lambda place: place.constant(),
    float4=ConstantF4Op,
)


def fill_shape(shape_of_shape: Shape) -> Sizes:
    """A tensor whose shape is another tensor has as many dimensions as that has elements."""
    if len(shape_of_shape) != 1 or not is_static(shape_of_shape[0]):
        raise ShapeError("shape input should be rank 1 with static dim size")
    return (None,) * shape_of_shape[0]


class _FillOperation(LayerOperation):
    """What is made of a shape: that of the result's type, or the values of an operand."""

    INFERRED: ClassVar[bool] = False
    # The two operands that go together, and TensorRT's name.
    PAIR: ClassVar[tuple[str, str]]
    KIND: ClassVar[str]

    def components(self) -> Sequence[Component]:
        """The rank, where the shape is an operand."""
        shape = getattr(self, "shape", None)
        return [Component(None if shape is None else fill_shape(sizes(shape)))]

    def _shapeless(self) -> Iterator[str]:
        if getattr(self, "shape", None) is None and None in sizes(self.results[0]):
            yield "If `result` has dynamic dims, `shape` tensor must be present"

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Both parameters are operands, or none is, of the result's element type."""
        first, second = (getattr(self, name) for name in self.PAIR)
        names = " and ".join(f"`{name}`" for name in self.PAIR)
        if (first is None) != (second is None):
            yield f"{names} must either both be dynamic or both be static"
        elif first is not None:
            if element(first) != element(second):
                yield f"{names} tensor types must have the same element type"
            if element(first) != element(self.results[0]):
                low, high = self.PAIR
                yield f"`{low}`, `{high}` and `result` element type should be the same"
        yield from self._shapeless()

    def translate(self, at: "Emission") -> Any:
        """Add a fill whose parameters are each a number or a tensor."""
        result: Any = self.results[0]
        given = getattr(self, "shape", None)
        # A whole shape must be given even where a tensor takes its place.
        shape = result.type.get_shape() if given is None else (1,) * len(result.type.get_shape())
        layer = at.add("fill", shape, at.member("FillOperation", self.KIND), at.dtype(result))
        exact = at.element(result) == "i64"
        numbers = [_number(self.value(f"static_{name}"), exact) for name in self.PAIR]
        at.set(layer, alpha=numbers[0], beta=numbers[1])
        for index, value in enumerate((given, *(getattr(self, name) for name in self.PAIR))):
            if value is not None:
                layer.set_input(index, at.tensor(value))
        return layer


def _number(value: float | None, exact: bool) -> float | None:
    """Return a parameter; int64 ones stay whole, as a double cannot hold them all."""
    return int(value) if exact and value is not None and value == int(value) else value


def _emit_fill(place: "LayerEmission", names: Sequence[str], numbers: Sequence[Any]) -> Any:
    """Numbers as attributes, or both as tensors where one is a tensor or a list."""
    operation, dtype = place.layer.declaration.operation, place.layer.results[0].dtype
    sizes = place.dynamic(place.layer.arguments["shape"])
    if all(isinstance(each, int | float) for each in numbers):
        static = {f"static_{n}": float(each) for n, each in zip(names, numbers, strict=True)}
        return place.like_result(operation, sizes, **static)
    tensors = [place.number(each, dtype) for each in numbers]
    return place.like_result(operation, sizes, *tensors)


def _emit_linspace(place: "LayerEmission") -> Any:
    start, step = (place.layer.arguments[name] for name in LinspaceOp.PAIR)
    if isinstance(step, tuple) and len(step) < 2 and not isinstance(start, NetworkValue):
        step = step[0] if step else 1
    return _emit_fill(place, LinspaceOp.PAIR, (start, step))


def _emit_random(place: "LayerEmission") -> Any:
    given = place.layer.arguments
    if "low" in given:
        return _emit_fill(place, RandomUniformOp.PAIR, (given["low"], given["high"]))
    return _emit_fill(place, RandomNormalOp.PAIR, (given["mean"], given["deviation"]))


class LinspaceOp(_FillOperation):
    """Numbers at equal distances: a start, and a step along each dimension."""

    name = "tensorrt.linspace"
    shape = optional_operand(kinds.I32, kinds.I64, ranks=_LIST)
    start = optional_operand(*_STEPPED, ranks=_SCALAR)
    step = optional_operand(*_STEPPED, ranks=_LIST)
    static_start = optional_attribute(kinds.F64_ATTR)
    static_step = optional_attribute(kinds.F64_ATTR)
    result = output(*_STEPPED)
    assembly_format = (
        "attr-dict `[` ($start^ `:` type($start)) : (custom<OptionalF64>($static_start))? `]`"
        " `[` ($shape^ `:` type($shape)) : (`static`)? `]`"
        " `[` ($step^ `:` type($step)) : (custom<OptionalF64>($static_step))? `]` `:` type($result)"
    )
    PAIR: ClassVar[tuple[str, str]] = ("start", "step")
    KIND: ClassVar[str] = "LINSPACE"

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """A result of several dimensions has a step for each; a step has a start."""
        result, step, start = self.result, self.step, self.start
        rank = len(sizes(result))
        if rank > 1 and step is None:
            yield "dynamic `step` must be specified if the result is greater than rank 1"
        if step is not None:
            if rank > 1 and differ(sizes(step)[0], rank):
                yield (
                    "dynamic `step` type dimension 0 length must be the same size as the rank of "
                    "the result type"
                )
            if element(step) != element(result):
                yield "`step` element type and result element type should be the same"
            if start is None:
                yield "`start` and `step` must either both be dynamic or both be static"
            elif element(start) != element(step):
                yield "start and step tensor types must have the same element type"
        yield from self._shapeless()


linspace = SingleResultLayer(
    LinspaceOp,
    parameters={
        "shape": arguments.sizes,
        "start": arguments.scalar,
        "step": arguments.numbers,
    },
    results=("start",),
    shape=sizes_of("shape"),
    emit=_emit_linspace,
)


class RandomUniformOp(_FillOperation):
    """Random numbers between two bounds; 0 and 1 where none are given."""

    name = "tensorrt.random_uniform"
    shape = optional_operand(kinds.I32, ranks=_LIST)
    low = optional_operand(*_SAMPLED, ranks=_SCALAR)
    high = optional_operand(*_SAMPLED, ranks=_SCALAR)
    static_low = optional_attribute(kinds.F64_ATTR)
    static_high = optional_attribute(kinds.F64_ATTR)
    result = output(*_SAMPLED)
    assembly_format = (
        "attr-dict (`low` `(` $low^ `:` type($low) `)`)? (`high` `(` $high^ `:` type($high) `)`)?"
        " (`shape` `(` $shape^ `:` type($shape) `)`)? `->` type($result)"
    )
    PAIR: ClassVar[tuple[str, str]] = ("low", "high")
    KIND: ClassVar[str] = "RANDOM_UNIFORM"


random_uniform = SingleResultLayer(
    RandomUniformOp,
    parameters={
        "shape": arguments.sizes,
        "low": arguments.scalar,
        "high": arguments.scalar,
        "dtype": arguments.dtype,
    },
    results=("dtype",),
    shape=sizes_of("shape"),
    emit=_emit_random,
)


class RandomNormalOp(_FillOperation):
    """Normally distributed numbers; mean 0 and deviation 1 where none are given."""

    name = "tensorrt.random_normal"
    shape = optional_operand(kinds.I32, ranks=_LIST)
    mean = optional_operand(*_SAMPLED, ranks=_SCALAR)
    std = optional_operand(*_SAMPLED, ranks=_SCALAR)
    static_mean = optional_attribute(kinds.F64_ATTR)
    static_std = optional_attribute(kinds.F64_ATTR)
    result = output(*_SAMPLED)
    assembly_format = (
        "attr-dict (`mean` `(` $mean^ `:` type($mean) `)`)? (`std` `(` $std^ `:` type($std) `)`)?"
        " (`shape` `(` $shape^ `:` type($shape) `)`)? `->` type($result)"
    )
    PAIR: ClassVar[tuple[str, str]] = ("mean", "std")
    KIND: ClassVar[str] = "RANDOM_NORMAL"


random_normal = SingleResultLayer(
    RandomNormalOp,
    parameters={
        "shape": arguments.sizes,
        "mean": arguments.scalar,
        "deviation": arguments.scalar,
        "dtype": arguments.dtype,
    },
    results=("dtype",),
    shape=sizes_of("shape"),
    emit=_emit_random,
)
