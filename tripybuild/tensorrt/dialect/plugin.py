"""Plugin operation: an opaque layer with creator parameters."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.arith import Arith, ConstantOp
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import IsolatedFromAbove, Pure

from tripybuild.tensorrt.dialect import attribute_kinds as attributes, types as kinds
from tripybuild.tensorrt.dialect.base import Component, OpProblem, element, operation, sizes
from tripybuild.tensorrt.dialect.regions import RegionOperation, argument_types, last, types_of
from tripybuild.tensorrt.layers.checks import PARTIALLY_INFERRED

if TYPE_CHECKING:
    from tripybuild.tensorrt.translation.emission import Emission

_SCALAR = IntegerType(64)
_PREFIX = f"{Arith.name}."


@operation
class OpaquePluginOp(RegionOperation):
    """A plugin; `outputs` are NVIDIA's `results`.

    The region may compute the results' sizes: it takes the sizes of all inputs, and yields those of
    all results.
    """

    name = "tensorrt.opaque_plugin"
    inputs = var_operand_def(kinds.TENSOR)
    plugin_name = prop_def(attributes.STRING)
    plugin_version = prop_def(attributes.STRING)
    plugin_namespace = prop_def(attributes.STRING)
    dso_path = opt_prop_def(attributes.STRING)
    creator_func = opt_prop_def(attributes.STRING)
    creator_params = prop_def(attributes.DICTIONARY)
    outputs = var_result_def(kinds.TENSOR)
    shapes_region = region_def()
    assembly_format = (
        "attr-dict `(` ($inputs^)? `)` `:` functional-type($inputs, $outputs) ($shapes_region^)?"
    )
    traits = traits_def(Pure(), IsolatedFromAbove())

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """A function is looked up in a library."""
        if self.creator_func is not None and self.dso_path is None:
            yield '"creator_func" is provided but "dso_path" was not specified'

    def body_problems(self) -> Iterator[OpProblem]:
        """The region computes sizes, as many as there are."""
        if not self.shapes_region.blocks:
            return
        yield from (OpProblem(message) for message in self._shape_region_problems())
        mismatch = PARTIALLY_INFERRED(self)
        if mismatch is not None:
            yield mismatch

    def _shape_region_problems(self) -> Iterator[str]:
        if len(self.shapes_region.blocks) > 1:
            yield "expected that 'shapes' region contain 0 or 1 blocks"
        for each in list(self.shapes_region.block.ops)[:-1]:
            if not each.name.startswith(_PREFIX):
                yield (
                    "expected only 'arith' dialect ops and 'tensorrt.yield' (terminator) in the "
                    f"'shapes' region, but an op of type '{each.name}' is present"
                )
        taken, wanted = argument_types(self.shapes_region), _count(self.inputs)
        if len(taken) != wanted or not _are_scalars(taken):
            yield (
                f"expected {wanted} i64 block arguments but got {len(taken)} arguments  of types "
                f"{_quote_types(taken)}"
            )
        given, wanted = types_of(self._yield_operands()), _count(self.results)
        if len(given) != wanted or not _are_scalars(given):
            yield (
                f"expected {wanted} i64 values to be yielded from the 'shapes' region but got "
                f"{len(given)} values of types {_quote_types(given)}"
            )

    def _yield_operands(self) -> Sequence[SSAValue]:
        end = last(self.shapes_region)
        return end.operands if end is not None and end.name == "tensorrt.yield" else ()

    def components(self) -> Sequence[Component] | None:
        """The sizes that the region yields as constants."""
        if not self.shapes_region.blocks:
            return None
        found = iter(map(_constant, self._yield_operands()))
        return [
            Component(tuple(next(found, None) for _ in sizes(kind)), element(kind))
            for kind in self.result_types
        ]

    def translate(self, at: "Emission") -> Any:
        """Add a plugin layer, where the library has plugins."""
        if not at.library.has_layer("add_plugin_v3"):
            message = f"`{at.library.name}` has no plugins"
            at.refuse(message, "tensorrt-unsupported", hint="the target `tensorrt` has them")
        return at.add("plugin_v3", [at.tensor(each) for each in self.operands], [], at.plugin(self))


def _constant(value: SSAValue) -> int | None:
    if isinstance(value.owner, ConstantOp) and isinstance(value.owner.value, IntegerAttr):
        return value.owner.value.value.data
    return None


def _count(values: Sequence[SSAValue]) -> int:
    return sum(len(sizes(each)) for each in values)


def _are_scalars(types: Sequence[Attribute]) -> bool:
    return all(each == _SCALAR for each in types)


def _quote_types(types: Sequence[Attribute]) -> str:
    return ", ".join(f"'{each}'" for each in types)
