"""Emission of source layers: constants, ranges and random numbers.

Invariant: large constants and weights are resources: named in the module, held beside it, never
text.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from tripybuild.symbolic.dims import Dim, Size
from tripybuild.tensorrt import dialect
from tripybuild.tensorrt.dialect.base import TensorrtOperation
from tripybuild.tensorrt.emission.reshapes import LayerEmission, emit_broadcast
from tripybuild.tensorrt.emission.scope import Scopes
from tripybuild.tensorrt.emission.types import tensor
from tripybuild.tensorrt.mlir.elements import from_numpy
from tripybuild.tensorrt.mlir.resources import resource
from tripybuild.tensorrt.recorder.value import NetworkValue
from tripybuild.types import dtypes

MOST_WRITTEN = 64  # elements; more of them are a resource


class ConstantArrays(dict[str, np.ndarray[Any, Any]]):
    """Arrays of a module by name, without weights, which stay unread."""

    def store(self, array: np.ndarray[Any, Any]) -> str:
        """Keep an array, and give the name that it has."""
        name = f"constant_{len(self)}"
        self[name] = array
        return name


def weight(scopes: Scopes, path: str, type: TensorType[Any]) -> SSAValue:
    """A weight, by its path in the model."""
    return scopes.constant(resource(path, type), type)


def constant(place: LayerEmission, resources: ConstantArrays) -> SSAValue:
    """Numbers that are known."""
    given = place.layer.arguments
    dtype, shape, value = given["dtype"], given["shape"], given["value"]
    if isinstance(value, Dim):
        return _size(place, value, dtype, shape or ())
    if isinstance(value, Sequence) and any(isinstance(each, Dim) for each in value):
        return _list(place, value, dtype, shape)
    array = np.asarray(value).astype(dtype.numpy)
    if shape is None or array.shape == tuple(shape):
        return _emit_constant(place, array, dtype, resources)
    if all(isinstance(size, int) for size in shape):
        splat = np.broadcast_to(array, shape)
        return _emit_constant(place, splat, dtype, resources)
    ones = np.broadcast_to(array, (1,) * len(shape))
    source = NetworkValue(dtype, ones.shape)
    start = _emit_constant(place, ones, dtype, resources)
    return emit_broadcast(place, start, source, shape, range(len(shape)))


def _list(
    place: LayerEmission, sizes: Sequence[Any], dtype: dtypes.dtype, shape: Sequence[Size] | None
) -> SSAValue:
    """Sizes as data, side by side."""
    if shape not in (None, (len(sizes),)) or not all(isinstance(s, int | Dim) for s in sizes):
        raise ValueError("several sizes are a list, and nothing else")
    found = place.sizes.vector(sizes)
    if dtype is dtypes.int32:
        return found
    return place.one(dialect.CastOp, found, result_types=[tensor(dtype, (len(sizes),))])


def _size(place: LayerEmission, size: Dim, dtype: dtypes.dtype, shape: Sequence[Size]) -> SSAValue:
    """A size as data, repeated to a shape."""
    found = place.sizes.vector([size])
    if dtype is not dtypes.int32:
        found = place.one(dialect.CastOp, found, result_types=[tensor(dtype, (1,))])
    found = place.one(dialect.CollapseRankOp, found, result_types=[tensor(dtype, ())])
    return emit_broadcast(place, found, NetworkValue(dtype, ()), shape, ()) if shape else found


def _emit_constant(
    place: LayerEmission,
    array: np.ndarray[Any, Any],
    dtype: dtypes.dtype,
    resources: ConstantArrays,
) -> SSAValue:
    type = tensor(dtype, array.shape)
    splat = array.size > 0 and not any(array.strides)  # what was broadcast from one number
    if array.size > MOST_WRITTEN and not splat and dtype is not dtypes.bool:
        held = resources.store(np.ascontiguousarray(array))
        return place.scopes.constant(resource(held, type), type)
    weights = from_numpy(array, type)
    key = ("constant", weights)
    return place.scopes.current.once(key, lambda: place.scopes.constant(weights, type))


def linspace(place: LayerEmission, resources: ConstantArrays) -> SSAValue:
    """`start`, `start + step` and so on."""
    given, dtype = place.layer.arguments, place.layer.results[0].dtype
    start, step = given["start"], given["step"]
    if isinstance(start, NetworkValue) or isinstance(step, NetworkValue):
        tensors = [
            place.values[value]
            if isinstance(value, NetworkValue)
            else _emit_constant(place, np.asarray(value, dtype.numpy), dtype, resources)
            for value in (start, step)
        ]
        return _emit_fill(place, dialect.LinspaceOp, tensors, {})
    if len(step) > 1:
        steps = _emit_constant(place, np.asarray(step, dtype.numpy), dtype, resources)
        origin = _emit_constant(place, np.asarray(start, dtype.numpy), dtype, resources)
        return _emit_fill(place, dialect.LinspaceOp, [origin, steps], {})
    numbers = {"static_start": float(start), "static_step": float(step[0] if step else 1)}
    return _emit_fill(place, dialect.LinspaceOp, [None, None], numbers)


def random_uniform(place: LayerEmission, resources: ConstantArrays) -> SSAValue:
    """Random numbers of a range."""
    return _random(place, dialect.RandomUniformOp, ("low", "high"), ("low", "high"), resources)


def random_normal(place: LayerEmission, resources: ConstantArrays) -> SSAValue:
    """Random numbers around a mean."""
    return _random(place, dialect.RandomNormalOp, ("mean", "deviation"), ("mean", "std"), resources)


def _random(
    place: LayerEmission,
    kind: type[TensorrtOperation],
    parameters: tuple[str, str],
    fields: tuple[str, str],
    resources: ConstantArrays,
) -> SSAValue:
    numbers = [place.layer.arguments[name] for name in parameters]
    if not any(isinstance(each, NetworkValue) for each in numbers):
        static = {f"static_{f}": float(n) for f, n in zip(fields, numbers, strict=True)}
        return _emit_fill(place, kind, [None, None], static)
    dtype = place.layer.results[0].dtype
    tensors = [
        place.values[each]
        if isinstance(each, NetworkValue)
        else _emit_constant(place, np.asarray(each, dtype.numpy), dtype, resources)
        for each in numbers
    ]
    return _emit_fill(place, kind, tensors, {})


def _emit_fill(
    place: LayerEmission,
    kind: type[TensorrtOperation],
    operands: Sequence[Any],
    attributes: dict[str, Any],
) -> SSAValue:
    shape: Sequence[Size] = place.layer.arguments["shape"]
    fixed = all(isinstance(size, int) for size in shape)
    sizes = None if fixed else place.sizes.vector(shape)
    result = tensor(place.layer.results[0].dtype, shape)
    return place.one(kind, sizes, *operands, **attributes, result_types=[result])


SOURCED: Mapping[str, Callable[[LayerEmission, ConstantArrays], SSAValue]] = {
    "constant": constant,
    "linspace": linspace,
    "random_uniform": random_uniform,
    "random_normal": random_normal,
}
