"""Module emission: one function, named inputs, external weights.

Invariant: the module depends on the network and the profiles alone, so equal networks have equal
text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    LocationAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
    TensorType,
    f32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tripybuild.errors.diagnostics import portable_path
from tripybuild.symbolic.dims import Dim, evaluate
from tripybuild.tensorrt import dialect
from tripybuild.tensorrt.dialect.attributes import ShapeProfileAttr
from tripybuild.tensorrt.dialect.base import sizes, tensor_type
from tripybuild.tensorrt.emission.layer_emission import (
    ConstantArrays,
    ControlFlowEmitter,
    LayerEmission,
)
from tripybuild.tensorrt.emission.scope import Scopes, tensor, type_of
from tripybuild.tensorrt.emission.sizes import SizeTensors
from tripybuild.tensorrt.mlir.elements import from_numpy
from tripybuild.tensorrt.mlir.locations import UNKNOWN, file_location, make_location
from tripybuild.tensorrt.mlir.resources import resource
from tripybuild.tensorrt.recorder.network import Layer, Location, Network
from tripybuild.tensorrt.recorder.value import NetworkValue
from tripybuild.types import dtypes
from tripybuild.types.size_range import SizeRange

ENTRY = "main"
NAME = "tripybuild.name"


class EmissionError(ValueError):
    """A layer cannot be expressed in the dialect; `place` is its source location."""

    def __init__(self, problem: object, layer: Layer) -> None:
        super().__init__(f"`trt.{layer.declaration.name}`: {problem}")
        self.place = layer.location


Profile = Mapping[str, SizeRange]
"""The sizes that an engine is made for, by symbol; each has a `max`."""


@dataclass(frozen=True, slots=True)
class EmittedModule:
    """A module, the arrays of its constants, and the names of the weights among its resources."""

    module: ModuleOp
    resources: Mapping[str, Any]
    weights: frozenset[str]


def emit_module(
    network: Network, name: str, profiles: Sequence[Profile] = (), folder: Path | None = None
) -> EmittedModule:
    """Write a recorded network in the dialect.

    Args:
        network: What lowerings recorded.
        name: The name of the module.
        profiles: One for each optimization profile; none where every size is a number.
        folder: Where the user's files are; places in them are written without it, so that a
            copy of a model in another folder gives the same module.

    Raises:
        EmissionError: Where a layer cannot be said in the dialect.
    """
    return _ModuleEmitter(network, profiles, folder).run(name)


@dataclass
class _ModuleEmitter:
    network: Network
    profiles: Sequence[Profile]
    folder: Path | None
    values: dict[NetworkValue, SSAValue] = field(default_factory=dict)
    scopes: Scopes = field(default_factory=Scopes)
    resources: ConstantArrays = field(default_factory=ConstantArrays)

    def __post_init__(self) -> None:
        self.sizes = SizeTensors(self.scopes)
        self.control = ControlFlowEmitter(self.values, self.layers)
        self._places: dict[Location | None, LocationAttr] = {}

    def run(self, name: str) -> EmittedModule:
        """The module."""
        inputs = self.network.inputs
        block = Block(arg_types=[type_of(v) for v in inputs.values()])
        for value, argument in zip(inputs.values(), block.args, strict=True):
            self.values[value] = argument
            self.scopes.prologue.learn(value.shape or (), argument)
        for path, value in self.network.weights.items():
            self.scopes.location = make_location(NameLoc, desc=StringAttr(path), location=UNKNOWN)
            kind = type_of(value)
            self.values[value] = self.scopes.constant(resource(path, kind), kind)
        self.layers(self.network.layers)
        gives = [self.values[value] for value in self.network.outputs.values()]
        end = func.ReturnOp(*gives)
        block.add_ops(
            [*self.scopes.prologue.live_operations(), *self.scopes.body.live_operations(), end]
        )
        function = func.FuncOp(
            ENTRY,
            ([each.type for each in block.args], [each.type for each in gives]),
            Region(block),
            arg_attrs=ArrayAttr([self._argument_attributes(n, v) for n, v in inputs.items()]),
            res_attrs=ArrayAttr(
                [DictionaryAttr({NAME: StringAttr(each)}) for each in self.network.outputs]
            ),
        )
        module = ModuleOp([function], sym_name=StringAttr(name))
        return EmittedModule(module, self.resources, frozenset(self.network.weights))

    def layers(self, layers: Sequence[Layer]) -> None:
        """Emit layers in their order into the current scope."""
        for layer in layers:
            self.scopes.location = self._location(layer.location)
            given = self._emit_layer(layer)
            for value, emitted in zip(layer.results, given, strict=True):
                self.values[value] = emitted
                self.scopes.current.learn(value.shape or (), emitted)

    def _location(self, place: Location | None) -> LocationAttr:
        """Many layers come from one place."""
        found = self._places.get(place)
        if found is None:
            found = self._places[place] = location_of(place, self.folder)
        return found

    def _emit_layer(self, layer: Layer) -> Sequence[SSAValue]:
        narrow = unsupported_dtype(layer)
        try:
            if narrow is None:
                return self._emit_operations(layer, self.values)
            return self._emit_widened_layer(layer, narrow)
        except EmissionError:
            raise
        except (ValueError, TypeError) as error:
            raise EmissionError(error, layer) from error

    def _emit_widened_layer(self, layer: Layer, narrow: dtypes.dtype) -> Sequence[SSAValue]:
        wide, values = widen_layer(layer, narrow, self.values, self.scopes)
        given = zip(self._emit_operations(wide, values), layer.results, strict=True)
        return [narrow_result(value, narrow, like, self.scopes) for value, like in given]

    def _emit_operations(
        self, layer: Layer, values: dict[NetworkValue, SSAValue]
    ) -> Sequence[SSAValue]:
        place = LayerEmission(layer, values, self.scopes, self.sizes, self.resources, self.control)
        emit = layer.declaration.emit
        emitted = place.plain() if emit is None else emit(place)
        return emitted.results if isinstance(emitted, Operation) else (emitted,)

    def _argument_attributes(self, name: str, value: NetworkValue) -> DictionaryAttr:
        """What the function says of an argument: its name, sizes and names of dimensions."""
        shape = value.shape or ()
        said: dict[str, Attribute] = {NAME: StringAttr(name)}
        named = {str(i): StringAttr(str(s)) for i, s in enumerate(shape) if isinstance(s, Dim)}
        plain = {i: n for i, n in named.items() if n.data.isidentifier()}
        if plain:
            said["tensorrt.dimension_names"] = DictionaryAttr(plain)
        if shape:
            ranges = [_profile_sizes(shape, each) for each in self.profiles if named]
            profiles = [ShapeProfileAttr.of(*each) for each in ranges or [_static_profile(shape)]]
            said["tensorrt.shape_profile"] = (
                profiles[0] if len(profiles) == 1 else ArrayAttr(profiles)
            )
        return DictionaryAttr(dict(sorted(said.items())))


def _static_profile(shape: Sequence[Any]) -> tuple[list[int], list[int], list[int]]:
    sizes = [size if isinstance(size, int) else 1 for size in shape]
    return sizes, sizes, sizes


def _profile_sizes(
    shape: Sequence[Any], profile: Profile
) -> tuple[list[int], list[int], list[int]]:
    """The min, opt and max of each dimension; one that shrinks as a symbol grows, too."""
    minimum, opt, maximum = (
        [evaluate(size, bounds) for size in shape]
        for key in ("min", "opt", "max")
        for bounds in ({name: getattr(each, key) for name, each in profile.items()},)
    )
    several = list(zip(minimum, opt, maximum, strict=True))
    return [min(each) for each in several], opt, [max(each) for each in several]


def location_of(place: Location | None, folder: Path | None) -> LocationAttr:
    """The location of a layer: the name of its step, at a line of the user's file."""
    if place is None:
        return UNKNOWN
    name, file, line, column = place
    where = file_location(_file_name(file, folder), line, column)
    return make_location(NameLoc, desc=StringAttr(name), location=where) if name else where


@lru_cache
def _file_name(file: str, folder: Path | None) -> StringAttr:
    return StringAttr(portable_path(Path(file).as_posix() if folder is None else file, folder))


# Dtype workarounds change no value: bfloat16 goes through float32, which holds all of its values;
# int4 goes through a quantization of scale one, which holds all of int4's.


def unsupported_dtype(layer: Layer) -> dtypes.dtype | None:
    """The type that a layer is not taken in, if there is a way around; None where all is well."""
    if not layer.results:
        return None
    own = layer.results[0].dtype
    return own if layer.declaration.refuses(layer.arguments, own) else None


def widen_layer(
    layer: Layer, narrow: dtypes.dtype, values: Mapping[NetworkValue, SSAValue], scopes: Scopes
) -> tuple[Layer, dict[NetworkValue, SSAValue]]:
    """The same layer on float32, and its operands in it."""
    known = dict(values)

    def wide(argument: object) -> object:
        if isinstance(argument, tuple):
            return tuple(wide(each) for each in argument)
        if not isinstance(argument, NetworkValue) or argument.dtype is not narrow:
            return argument
        made = NetworkValue(dtypes.float32, argument.shape)
        known[made] = _to_float32(values[argument], narrow, scopes)
        return made

    arguments = {name: wide(argument) for name, argument in layer.arguments.items()}
    results = tuple(NetworkValue(dtypes.float32, each.shape) for each in layer.results)
    return Layer(layer.declaration, arguments, results, layer.regions, layer.location), known


def narrow_result(
    value: SSAValue, narrow: dtypes.dtype, like: NetworkValue, scopes: Scopes
) -> SSAValue:
    """Result cast to the declared dtype."""
    shape = sizes(value) if like.shape is None else like.shape
    result = [tensor(narrow, shape)]
    if narrow is dtypes.int4:
        return scopes.one(dialect.QuantizeOp, value, _unit_scale(scopes), result_types=result)
    return scopes.one(dialect.CastOp, value, result_types=result)


def _to_float32(value: SSAValue, narrow: dtypes.dtype, scopes: Scopes) -> SSAValue:
    result = [tensor_type(sizes(value), f32)]
    if narrow is dtypes.int4:
        return scopes.one(dialect.DequantizeOp, value, _unit_scale(scopes), result_types=result)
    return scopes.one(dialect.CastOp, value, result_types=result)


def _unit_scale(scopes: Scopes) -> SSAValue:
    """The scale that changes nothing."""
    weights = from_numpy(np.array(1, np.float32), TensorType(f32, []))
    return scopes.one(dialect.ConstantOp, weights=weights)
