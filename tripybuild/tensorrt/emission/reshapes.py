"""Emission of layers with size operands, in the most static form that fits.

Invariant: numbers become attributes; a size that is one of the input's own becomes a placeholder;
only what neither can say becomes a tensor of sizes, which is computed once in a function.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue

from tripybuild.symbolic.dims import Dim, Size, same
from tripybuild.tensorrt import dialect
from tripybuild.tensorrt.dialect.base import TensorrtOperation, sizes as sizes_of
from tripybuild.tensorrt.emission.scope import Scopes
from tripybuild.tensorrt.emission.sizes import SizeTensors, key_of
from tripybuild.tensorrt.emission.types import tensor
from tripybuild.tensorrt.layers.images import resize_shape
from tripybuild.tensorrt.mlir.resources import resource
from tripybuild.tensorrt.recorder.network import Layer
from tripybuild.tensorrt.recorder.value import NetworkValue


@dataclass(frozen=True, slots=True)
class LayerEmission:
    """What is being emitted: the layer, and all that emitting it may use."""

    layer: Layer
    values: Mapping[NetworkValue, SSAValue]
    scopes: Scopes
    sizes: SizeTensors

    def argument(self, name: str) -> Any:
        """An argument of the layer; a tensor as the dialect's value."""
        found = self.layer.arguments[name]
        return self.values[found] if isinstance(found, NetworkValue) else found

    def one(self, kind: type[TensorrtOperation], /, *operands: Any, **attributes: Any) -> SSAValue:
        """Append an operation that has one result."""
        return self.scopes.one(kind, *operands, **attributes)


def _is_static(sizes: Sequence[Any]) -> bool:
    return all(isinstance(size, int) for size in sizes)


def reshape(place: LayerEmission) -> SSAValue:
    """The same elements in another shape."""
    source: NetworkValue = place.layer.arguments["input"]
    return emit_reshape(place, place.values[source], source, place.layer.arguments["shape"])


def emit_reshape(
    place: LayerEmission, value: SSAValue, source: NetworkValue, shape: Sequence[Size]
) -> SSAValue:
    """A value in another shape: by unit dimensions, by a fixed shape, or by placeholders."""
    before = source.shape
    if before is not None and same(tuple(before), tuple(shape)):
        return value
    key = ("reshape", value, key_of(shape))
    return place.scopes.current.once(key, lambda: _emit_new_reshape(place, value, source, shape))


def _constant(place: LayerEmission, value: SSAValue, kind: TensorType[Any]) -> SSAValue | None:
    """A constant in another shape is another constant of the same data."""
    owner = value.owner
    if type(owner) is not dialect.ConstantOp or not kind.has_static_shape():
        return None
    weights: Attribute = owner.weights
    if isinstance(weights, DenseResourceAttr):
        weights = resource(weights.resource_handle.data, kind)
    elif isinstance(weights, DenseIntOrFPElementsAttr):
        weights = DenseIntOrFPElementsAttr(kind, weights.data)
    else:
        return None
    return place.scopes.constant(weights, kind, owner.location)


def _emit_new_reshape(
    place: LayerEmission, value: SSAValue, source: NetworkValue, shape: Sequence[Size]
) -> SSAValue:
    before = source.shape
    kind = tensor(source.dtype, shape)
    constant = _constant(place, value, kind)
    if constant is not None:
        return constant
    result = [kind]
    if before is not None and None not in before:
        if same(_without_units(before), _without_units(shape)):
            if _keeps(before, shape):
                return place.one(dialect.ExpandRankOp, value, result_types=result)
            if _keeps(shape, before):
                return place.one(dialect.CollapseRankOp, value, result_types=result)
        if _is_static(before) and _is_static(shape):
            return place.one(dialect.ReshapeOp, value, result_types=result)
    return _emit_shuffle(place, value, before or (), shape, result_types=result)


def _emit_shuffle(
    place: LayerEmission, value: SSAValue, before: Sequence[Any], shape: Sequence[Size], **said: Any
) -> SSAValue:
    """A shuffle to a shape; what it does not say otherwise keeps its order."""
    said = {
        "first_transpose": tuple(range(len(sizes_of(value)))),
        "second_transpose": tuple(range(len(shape))),
        **said,
    }
    form = placeholders(before, shape)
    if form is not None:
        return place.one(dialect.ShuffleOp, value, reshape=form, **said)
    sizes = place.sizes.vector(shape)
    return place.one(dialect.ShuffleOp, value, sizes, zero_is_placeholder=False, **said)


def _without_units(shape: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(size for size in shape if not same(size, 1))


def _keeps(few: Sequence[Any], many: Sequence[Any]) -> bool:
    """Whether the second shape is the first one with units put in."""
    rest = list(few)
    for size in many:
        if rest and same(rest[0], size):
            rest.pop(0)
        elif not same(size, 1):
            return False
    return not rest and len(many) > len(few)


def placeholders(before: Sequence[Any], shape: Sequence[Size]) -> tuple[int, ...] | None:
    """The shape with 0 for a size of the input at the same place, and -1 for one other."""
    form: list[int] = []
    for axis, size in enumerate(shape):
        if isinstance(size, int):
            form.append(size)
        else:
            copied = axis < len(before) and same(before[axis], size)
            form.append(0 if copied else -1)
    if any(same(size, 0) for size in shape) or form.count(-1) > 1:
        return None
    # A missing size follows from the others only where none of them can be zero.
    others = [size for size, spelling in zip(shape, form, strict=True) if spelling == 0]
    if -1 in form and any(not (size.low or 0) > 0 for size in others if isinstance(size, Dim)):
        return None
    return tuple(form)


def shuffle(place: LayerEmission) -> SSAValue:
    """Transpose, reshape, transpose."""
    given, result = place.layer.arguments, place.layer.results[0]
    source: NetworkValue = given["input"]
    order = given["first_transpose"] or range(source.rank)
    assert source.shape is not None
    assert result.shape is not None
    before = [source.shape[axis] for axis in order]
    return _emit_shuffle(
        place,
        place.values[source],
        before,
        before if given["shape"] is None else given["shape"],  # type: ignore[arg-type]
        first_transpose=tuple(order),
        second_transpose=given["second_transpose"] or tuple(range(len(result.shape))),
        result_types=[tensor(result.dtype, result.shape)],
    )


def change_rank(place: LayerEmission) -> SSAValue:
    """Unit dimensions put in or taken out: the shape of the result says which."""
    source, result = place.layer.arguments["input"], place.layer.results[0]
    assert result.shape is not None
    return emit_reshape(place, place.values[source], source, result.shape)  # type: ignore[arg-type]


def transpose(place: LayerEmission) -> SSAValue:
    """The dimensions in another order."""
    order = place.layer.arguments["permutation"]
    if tuple(order) == tuple(range(len(order))):
        return place.argument("input")  # type: ignore[no-any-return]
    return place.one(dialect.TransposeOp, place.argument("input"), permutation=order)


def broadcast(place: LayerEmission) -> SSAValue:
    """The values repeated along new dimensions and along those of size one."""
    source, shape = place.layer.arguments["input"], place.layer.arguments["shape"]
    if source.shape is not None and same(tuple(source.shape), tuple(shape)):
        return place.values[source]
    dims = place.layer.arguments["broadcast_dims"]
    if dims is None:
        dims = range(len(shape) - source.rank, len(shape))
    return emit_broadcast(place, place.values[source], source, shape, tuple(dims))


def emit_broadcast(
    place: LayerEmission,
    value: SSAValue,
    source: NetworkValue,
    shape: Sequence[Size],
    dims: Sequence[int],
) -> SSAValue:
    """A value repeated to a shape."""
    sizes = None if _is_static(shape) else place.sizes.vector(shape)
    result = tensor(source.dtype, shape)
    return place.one(dialect.BroadcastOp, value, sizes, broadcast_dims=dims, result_types=[result])


def slice(place: LayerEmission) -> SSAValue:  # the layer's name
    """Some of the elements along each dimension."""
    given = place.layer.arguments
    step = given["step"] or [1] * len(given["start"])
    tensors: list[SSAValue | None] = []
    attributes: dict[str, Any] = {"mode": given["mode"]}
    for name, sizes in (("start", given["start"]), ("size", given["size"]), ("stride", step)):
        fixed = _is_static(sizes)
        tensors.append(None if fixed else place.sizes.vector(sizes))
        if fixed:
            attributes[f"static_{name}"] = sizes
    fill = None if given["fill"] is None else place.values[given["fill"]]
    source: NetworkValue = given["input"]
    attributes["result_types"] = [tensor(source.dtype, given["size"])]
    return place.one(dialect.SliceOp, place.values[source], fill, *tensors, **attributes)


def resize(place: LayerEmission) -> SSAValue:
    """The values interpolated to another size of the last dimensions."""
    name, given = place.layer.declaration.name, place.layer.arguments
    kinds: dict[str, type[TensorrtOperation]] = {
        "resize_nearest": dialect.ResizeNearestOp,
        "resize_linear": dialect.ResizeLinearOp,
        "resize_cubic": dialect.ResizeCubicOp,
    }
    shape = place.layer.results[0].shape
    if shape is None or (given["shape"] is None and given["scales"] is None):
        raise ValueError("it needs a shape, or scales of an input with a known shape")
    scales = given["scales"] if _scales_match(given["scales"], place.layer) else None
    attributes = {
        "coordinate_transformation": given["coordinates"],
        "selector_for_single_pixel": given["selector"],
        "scales": scales,
        "nearest_rounding": given.get("rounding"),
        "cubic_coeff": given.get("cubic_coefficient"),
    }
    sizes = None if scales or _is_static(shape) else place.sizes.vector(shape)  # type: ignore[arg-type]
    return place.one(
        kinds[name],
        place.argument("input"),
        sizes,
        **{key: value for key, value in attributes.items() if value is not None},
        result_types=[tensor(given["input"].dtype, shape)],
    )


def _scales_match(scales: Sequence[float] | None, layer: Layer) -> bool:
    """Whether scales give the shape of the result, by the engine's arithmetic too."""
    before, after = layer.arguments["input"].shape, layer.results[0].shape
    if scales is None or before is None or after is None:
        return scales is not None
    cubic = layer.declaration.name == "resize_cubic"
    return same(resize_shape(before, scales, cubic=cubic), tuple(after))


SHAPED: Mapping[str, Callable[[LayerEmission], SSAValue]] = {
    "reshape": reshape,
    "expand_rank": reshape,
    "collapse_rank": reshape,
    "squeeze": change_rank,
    "unsqueeze": change_rank,
    "shuffle": shuffle,
    "transpose": transpose,
    "broadcast": broadcast,
    "slice": slice,
    "resize_nearest": resize,
    "resize_linear": resize,
    "resize_cubic": resize,
}
