"""Source layers: constants, ranges, random numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tripybuild.tensorrt.layers.declaration import Arguments, SingleResultLayer, sizes_of
from tripybuild.tensorrt.recorder.argument_kinds import dtype, literal, numbers, scalar, sizes
from tripybuild.tensorrt.shape_rules import Sizes

if TYPE_CHECKING:
    from tripybuild.tensorrt.translation.emission import Emission


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


def _constant(at: "Emission", op: Any) -> Any:
    return at.add("constant", op.result.type.get_shape(), at.weights(op.value("weights")))


constant = SingleResultLayer(
    "constant",
    {"value": literal, "dtype": dtype, "shape": sizes.with_default(None)},
    results=("dtype",),
    shape=_constant_shape,
    float4_operation="trtx.constant",
    translate=_constant,
)


def _add_fill(
    at: "Emission", op: Any, kind: str, first: tuple[Any, Any], second: tuple[Any, Any]
) -> Any:
    """Add a fill whose parameters are each a number or a tensor."""
    shape = op.result.type.get_shape()
    if op.shape is not None:  # a whole shape must be given even where a tensor takes its place
        shape = (1,) * len(shape)
    layer = at.add("fill", shape, at.member("FillOperation", kind), at.dtype(op.result))
    exact = at.element(op.result) == "i64"
    at.set(layer, alpha=_number(first[0], exact), beta=_number(second[0], exact))
    for index, value in enumerate((op.shape, first[1], second[1])):
        if value is not None:
            layer.set_input(index, at.tensor(value))
    return layer


def _number(value: float | None, exact: bool) -> float | None:
    """Return a parameter; int64 ones stay whole, as a double cannot hold them all."""
    return int(value) if exact and value is not None and value == int(value) else value


def _linspace(at: "Emission", op: Any) -> Any:
    start, step = (op.value("static_start"), op.start), (op.value("static_step"), op.step)
    return _add_fill(at, op, "LINSPACE", start, step)


linspace = SingleResultLayer(
    "linspace",
    {"shape": sizes, "start": scalar, "step": numbers},
    results=("start",),
    shape=sizes_of("shape"),
    translate=_linspace,
)


def _random_uniform(at: "Emission", op: Any) -> Any:
    low, high = (op.value("static_low"), op.low), (op.value("static_high"), op.high)
    return _add_fill(at, op, "RANDOM_UNIFORM", low, high)


random_uniform = SingleResultLayer(
    "random_uniform",
    {"shape": sizes, "low": scalar, "high": scalar, "dtype": dtype},
    results=("dtype",),
    shape=sizes_of("shape"),
    translate=_random_uniform,
)


def _random_normal(at: "Emission", op: Any) -> Any:
    mean, deviation = (op.value("static_mean"), op.mean), (op.value("static_std"), op.std)
    return _add_fill(at, op, "RANDOM_NORMAL", mean, deviation)


random_normal = SingleResultLayer(
    "random_normal",
    {"shape": sizes, "mean": scalar, "deviation": scalar, "dtype": dtype},
    results=("dtype",),
    shape=sizes_of("shape"),
    translate=_random_normal,
)
