"""Emission of layers with regions, and of plugins.

Invariant: a region sees what is outside of it; what it computes stays inside.
"""

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, StringAttr, f64, i64
from xdsl.ir import Attribute, Block, Operation, Region as Body, SSAValue

from tripybuild.tensorrt import dialect
from tripybuild.tensorrt.dialect.base import TensorrtOperation
from tripybuild.tensorrt.emission.layer_emission import LayerEmission
from tripybuild.tensorrt.emission.scope import type_of
from tripybuild.tensorrt.recorder.network import Layer, NetworkRegion
from tripybuild.tensorrt.recorder.value import NetworkValue

Emit = Callable[[Sequence[Layer]], None]
Values = dict[NetworkValue, SSAValue]


class ControlFlowEmitter:
    """Emits layers with regions; `emit` is what emits the layers inside them."""

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
