"""Sharding: meshes and the axes of tensors as Shardy says them, which XLA partitions programs by.

Shardy is a dialect of its own (`sdy`): a module has one `sdy.mesh`, arguments and results of
`@main` have attributes `sdy.sharding`, and a value between has a `sdy.sharding_constraint`. What is
said here is closed: no dimension is split further than is said. https://openxla.org/shardy
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from tripybuild.stablehlo import bindings
from tripybuild.stablehlo.module import SHARDING, HloModule, context, current
from tripybuild.stablehlo.value import HloValue

MESH = "mesh"
OPERATIONS = frozenset({"sdy.mesh", "sdy.sharding_constraint"})
_MARK = b"sdy"  # of each module that has a mesh, as text and as bytecode

Axes = Sequence[Sequence[str]]  # of each dimension


def declare_mesh(module: HloModule, axes: Mapping[str, int]) -> None:
    """Give a module its mesh, before anything is built in it."""
    sdy, ir = bindings.sdy, bindings.ir
    sdy.register_dialect(module.context)
    with module.context, ir.Location.unknown(), ir.InsertionPoint.at_block_begin(module.mlir.body):
        sizes = [sdy.MeshAxisAttr.get(name, size) for name, size in axes.items()]
        sdy.mesh(MESH, sdy.MeshAttr.get(sizes))


def sharding_attribute(module: HloModule, axes: Axes) -> Any:
    """The attribute that says how a tensor is split."""
    sdy = bindings.sdy
    with module.context:
        dimensions = [
            sdy.DimensionShardingAttr.get([sdy.AxisRefAttr.get(n) for n in names], is_closed=True)
            for names in axes
        ]
        return sdy.TensorShardingAttr.get(MESH, dimensions)


def split_main(module: HloModule, arguments: Sequence[Any], results: Sequence[Any]) -> None:
    """Say how the first arguments and the results of `@main`, which is finished, are split.

    What is behind the arguments are true sizes, which each device reads.

    Args:
        module: The module.
        arguments: An attribute for each of the first arguments.
        results: An attribute for each result.
    """
    ir, main = bindings.ir, module.function
    with module.context:
        takes = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value).inputs
        whole = len(takes) - len(arguments)
        named = [*({SHARDING: each} for each in arguments), *({} for _ in range(whole))]
        said = [
            {each.name: each.attr for each in ir.DictAttr(e)} for e in main.attributes["res_attrs"]
        ]
        gives = [each | {SHARDING: split} for each, split in zip(said, results, strict=True)]
        for key, every in (("arg_attrs", named), ("res_attrs", gives)):
            main.attributes[key] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in every])
        module.mlir.operation.verify()


def constrain(value: HloValue, axes: Axes) -> HloValue:
    """The same value, split so."""
    attribute = sharding_attribute(current(), axes)
    made = bindings.sdy.sharding_constraint(value.mlir, attribute)
    return HloValue(made, value.dtype, value.shape)


def has_mesh(module: str | bytes) -> bool:
    """Whether a module may have a mesh: one without never says so."""
    return _MARK in (module.encode() if isinstance(module, str) else module)


def sharded_context() -> Any:
    """A context of MLIR that has Shardy as well, which takes 12 ms to load."""
    made = context()
    bindings.sdy.register_dialect(made)
    return made


def device_count(module: str | bytes) -> int:
    """The devices of a module's mesh; one where it has none, or cannot be read."""
    if not has_mesh(module):
        return 1
    with sharded_context():
        try:
            parsed = bindings.ir.Module.parse(module)
        except bindings.ir.MLIRError:
            return 1  # what compiles it says what is wrong with it
        meshes = [each for each in parsed.body.operations if each.operation.name == "sdy.mesh"]
        sdy = bindings.sdy
        axes = [sdy.MeshAttr(each.attributes["mesh"]).axes for each in meshes]
        return max((prod(sdy.MeshAxisAttr(a).size for a in each) for each in axes), default=1)
