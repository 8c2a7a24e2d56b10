"""Emission of one layer: what the declarations of layers make their operations with.

Invariant: numbers become attributes; a size that is one of the input's own becomes a placeholder;
only what neither can say becomes a tensor of sizes, which is computed once in a function. Large
constants are resources: named in the module, held beside it, never text.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    f64,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region as Body, SSAValue

from tripybuild.symbolic.dims import Dim, Size, same
from tripybuild.tensorrt import dialect
from tripybuild.tensorrt.dialect.base import TensorrtOperation, sizes as sizes_of
from tripybuild.tensorrt.emission.scope import Scopes, tensor, type_of
from tripybuild.tensorrt.emission.sizes import SizeTensors, key_of
from tripybuild.tensorrt.mlir.elements import from_numpy
from tripybuild.tensorrt.mlir.resources import resource
from tripybuild.tensorrt.recorder.network import Layer, NetworkRegion
from tripybuild.tensorrt.recorder.value import NetworkValue
from tripybuild.types import dtypes

MOST_WRITTEN = 64  # elements; more of them are a resource
OPERATIONS: Mapping[str, type[TensorrtOperation]] = {
    each.name: each for group in (dialect.TRTX_OPERATIONS, dialect.OPERATIONS) for each in group
}


class ConstantArrays(dict[str, np.ndarray[Any, Any]]):
    """Arrays of a module by name, without weights, which stay unread."""

    def store(self, array: np.ndarray[Any, Any]) -> str:
        """Keep an array, and give the name that it has."""
        name = f"constant_{len(self)}"
        self[name] = array
        return name


@dataclass(frozen=True, slots=True)
class LayerEmission:
    """What is being emitted: the layer, and all that emitting it may use."""

    layer: Layer
    values: Mapping[NetworkValue, SSAValue]
    scopes: Scopes
    sizes: SizeTensors
    arrays: ConstantArrays
    control: "ControlFlowEmitter"

    def argument(self, name: str) -> Any:
        """An argument of the layer; a tensor as the dialect's value."""
        found = self.layer.arguments[name]
        return self.values[found] if isinstance(found, NetworkValue) else found

    def one(self, operation: str, *operands: Any, **attributes: Any) -> SSAValue:
        """Append an operation that has one result."""
        return self.scopes.one(OPERATIONS[operation], *operands, **attributes)

    def like_result(self, operation: str, *operands: Any, **attributes: Any) -> SSAValue:
        """Append an operation whose result has the type of the layer's."""
        types = [type_of(self.layer.results[0])]
        return self.one(operation, *operands, **attributes, result_types=types)

    @staticmethod
    def type_of(value: NetworkValue) -> TensorType[Any]:
        """The type of a recorded value."""
        return type_of(value)

    def dynamic(self, sizes: Sequence[Size] | None) -> SSAValue | None:
        """Sizes as a tensor; None where they are numbers, which need none."""
        return None if sizes is None or is_static(sizes) else self.sizes.vector(sizes)

    def plain(self) -> Operation:
        """Append the one operation that a layer is.

        Tensors are operands in the declaration's order; the other parameters are attributes under
        the names that it gives them, but for dtypes, which are types of results.
        """
        layer, declared = self.layer, self.layer.declaration
        operands: list[Any] = []
        attributes: dict[str, Any] = {}
        arguments = layer.arguments
        if declared.explicit is not None:
            arguments = {**arguments, **declared.explicit(arguments)}
        for parameter, kind in declared.parameters.items():
            argument = arguments[parameter]
            if kind.name == "tensor":
                operands.append(None if argument is None else self.values[argument])
            elif kind.name == "tensors":
                operands.append([self.values[each] for each in argument])
            elif kind.name != "dtype" and argument is not None:
                said = sorted(argument) if parameter == "axes" else argument
                attributes[kind.attribute or parameter] = said
        if declared.typed:
            attributes["result_types"] = [type_of(result) for result in layer.results]
        short = declared.float4_operation and layer.results[0].dtype is dtypes.float4
        operation = declared.float4_operation if short else declared.operation
        return self.scopes.add(OPERATIONS[operation], *operands, **attributes)

    def reshape(self, shape: Sequence[Size]) -> SSAValue:
        """The input in another shape: by unit dimensions, by a fixed shape, or by placeholders."""
        source: NetworkValue = self.layer.arguments["input"]
        value = self.values[source]
        if source.shape is not None and same(tuple(source.shape), tuple(shape)):
            return value
        key = ("reshape", value, key_of(shape))
        return self.scopes.current.once(key, lambda: self._new_reshape(value, source, shape))

    def _new_reshape(
        self, value: SSAValue, source: NetworkValue, shape: Sequence[Size]
    ) -> SSAValue:
        before = source.shape
        kind = tensor(source.dtype, shape)
        constant = self._reshaped_constant(value, kind)
        if constant is not None:
            return constant
        result = [kind]
        if before is not None and None not in before:
            if same(_without_units(before), _without_units(shape)):
                if _keeps(before, shape):
                    return self.one("tensorrt.expand_rank", value, result_types=result)
                if _keeps(shape, before):
                    return self.one("tensorrt.collapse_rank", value, result_types=result)
            if is_static(before) and is_static(shape):
                return self.one("tensorrt.reshape", value, result_types=result)
        return self.shuffle(value, before or (), shape, result_types=result)

    def _reshaped_constant(self, value: SSAValue, kind: TensorType[Any]) -> SSAValue | None:
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
        return self.scopes.constant(weights, kind, owner.location)

    def shuffle(
        self, value: SSAValue, before: Sequence[Any], shape: Sequence[Size], **said: Any
    ) -> SSAValue:
        """A shuffle to a shape; what it does not say otherwise keeps its order."""
        said = {
            "first_transpose": tuple(range(len(sizes_of(value)))),
            "second_transpose": tuple(range(len(shape))),
            **said,
        }
        form = placeholders(before, shape)
        if form is not None:
            return self.one("tensorrt.shuffle", value, reshape=form, **said)
        sizes = self.sizes.vector(shape)
        return self.one("tensorrt.shuffle", value, sizes, zero_is_placeholder=False, **said)

    def broadcast(
        self, value: SSAValue, dtype: dtypes.dtype, shape: Sequence[Size], dims: Sequence[int]
    ) -> SSAValue:
        """A value repeated to a shape."""
        result, sizes = tensor(dtype, shape), self.dynamic(shape)
        return self.one(
            "tensorrt.broadcast", value, sizes, broadcast_dims=dims, result_types=[result]
        )

    def number(self, value: Any, dtype: dtypes.dtype, shape: Sequence[int] = ()) -> SSAValue:
        """A tensor as it is, or numbers as a constant."""
        if isinstance(value, NetworkValue):
            return self.values[value]
        array = np.asarray(value).astype(dtype.numpy)
        return self._emit_array(array.reshape(shape) if shape else array, dtype)

    def constant(self) -> SSAValue:
        """Numbers that are known, or sizes."""
        given = self.layer.arguments
        dtype, shape, value = given["dtype"], given["shape"], given["value"]
        if isinstance(value, Dim):
            return self._size(value, dtype, shape or ())
        if isinstance(value, Sequence) and any(isinstance(each, Dim) for each in value):
            return self._size_list(value, dtype, shape)
        array = np.asarray(value).astype(dtype.numpy)
        if shape is None or array.shape == tuple(shape):
            return self._emit_array(array, dtype)
        if is_static(shape):
            return self._emit_array(np.broadcast_to(array, shape), dtype)
        start = self._emit_array(np.broadcast_to(array, (1,) * len(shape)), dtype)
        return self.broadcast(start, dtype, shape, range(len(shape)))

    def _size_list(
        self, sizes: Sequence[Any], dtype: dtypes.dtype, shape: Sequence[Size] | None
    ) -> SSAValue:
        """Sizes as data, side by side."""
        if shape not in (None, (len(sizes),)) or not all(isinstance(s, int | Dim) for s in sizes):
            raise ValueError("several sizes are a list, and nothing else")
        found = self.sizes.vector(sizes)
        if dtype is dtypes.int32:
            return found
        return self.one("tensorrt.cast", found, result_types=[tensor(dtype, (len(sizes),))])

    def _size(self, size: Dim, dtype: dtypes.dtype, shape: Sequence[Size]) -> SSAValue:
        """A size as data, repeated to a shape."""
        found = self.sizes.vector([size])
        if dtype is not dtypes.int32:
            found = self.one("tensorrt.cast", found, result_types=[tensor(dtype, (1,))])
        found = self.one("tensorrt.collapse_rank", found, result_types=[tensor(dtype, ())])
        return self.broadcast(found, dtype, shape, ()) if shape else found

    def _emit_array(self, array: np.ndarray[Any, Any], dtype: dtypes.dtype) -> SSAValue:
        type = tensor(dtype, array.shape)
        splat = array.size > 0 and not any(array.strides)  # what was broadcast from one number
        if array.size > MOST_WRITTEN and not splat and dtype is not dtypes.bool:
            held = self.arrays.store(np.ascontiguousarray(array))
            return self.scopes.constant(resource(held, type), type)
        weights = from_numpy(array, type)
        key = ("constant", weights)
        return self.scopes.current.once(key, lambda: self.scopes.constant(weights, type))


def is_static(sizes: Sequence[Any]) -> bool:
    """Tell whether all sizes are numbers."""
    return all(isinstance(size, int) for size in sizes)


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


Emit = Callable[[Sequence[Layer]], None]
Values = dict[NetworkValue, SSAValue]


class ControlFlowEmitter:
    """Emits layers with regions, by `emit` for what is inside: that stays inside, but sees out."""

    def __init__(self, values: Values, emit: Emit) -> None:
        self.values = values
        self.emit = emit

    def branches(self, place: LayerEmission) -> Operation:
        """`if`: one of two regions."""
        condition = place.argument("condition")
        bodies = [self.body(place, region, (), dialect.YieldOp) for region in place.layer.regions]
        return place.scopes.add(
            dialect.IfOp, condition, regions=bodies, result_types=[_types(place)]
        )

    def repeat(self, place: LayerEmission) -> Operation:
        """`while`: a region that decides and one that computes."""
        state = [self.values[each] for each in place.layer.arguments["state"]]
        first, second = place.layer.regions
        bodies = [
            self.body(place, first, first.takes, dialect.ConditionOp, carried=first.takes),
            self.body(place, second, second.takes, dialect.YieldOp),
        ]
        return place.scopes.add(
            dialect.WhileOp, state, regions=bodies, result_types=[_types(place)]
        )

    def count(self, place: LayerEmission) -> Operation:
        """`for`: a region that is run for each number."""
        limits = [place.argument(name) for name in ("start", "stop", "step")]
        state = [self.values[each] for each in place.layer.arguments["state"]]
        body = self.body(
            place, place.layer.regions[0], place.layer.regions[0].takes, dialect.YieldOp
        )
        return place.scopes.add(
            dialect.ForOp, *limits, state, regions=[body], result_types=[_types(place)]
        )

    def body(
        self,
        place: LayerEmission,
        region: NetworkRegion,
        takes: Sequence[NetworkValue],
        end: type[TensorrtOperation],
        carried: Sequence[NetworkValue] = (),
    ) -> Body:
        """A region of one block, which ends by giving its values."""
        types = [type_of(each) for each in takes]
        block = Block(arg_types=types)
        self.values.update(zip(takes, block.args, strict=True))
        with place.scopes.region() as scope:
            self.emit(region.layers)
            gives = [self.values[each] for each in region.gives]
            passed = [self.values[each] for each in carried]
            operands: list[Any] = [gives[0], passed] if end is dialect.ConditionOp else [gives]
            place.scopes.add(end, *operands)
        block.add_ops(scope.live_operations())
        return Body(block)

    def plugin(self, place: LayerEmission) -> Operation:
        """Emit a plugin layer."""
        given = place.layer.arguments
        return place.scopes.add(
            dialect.OpaquePluginOp,
            [self.values[each] for each in given["inputs"]],
            plugin_name=given["plugin_name"],
            plugin_version=given["plugin_version"],
            plugin_namespace=given["plugin_namespace"],
            creator_params={
                name: _parameter(each) for name, each in given["creator_params"].items()
            },
            regions=[Body()],
            result_types=[_types(place)],
        )


def _parameter(given: Any) -> Attribute:
    """A plugin's parameter; the plugin itself says how wide its numbers are."""
    if isinstance(given, str):
        return StringAttr(given)
    if isinstance(given, Sequence):
        if all(isinstance(each, int) for each in given):
            return DenseArrayBase.from_list(i64, [int(each) for each in given])
        return DenseArrayBase.from_list(f64, [float(each) for each in given])
    return IntegerAttr(int(given), i64) if isinstance(given, int) else FloatAttr(given, f64)


def _types(place: LayerEmission) -> list[Any]:
    return [type_of(each) for each in place.layer.results]
