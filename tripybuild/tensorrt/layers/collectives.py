"""Collective layers: what several devices compute together."""

from typing import TYPE_CHECKING, Any

from tripybuild.tensorrt.layers.declaration import SingleResultLayer, apply, like
from tripybuild.tensorrt.recorder.argument_kinds import (
    integer,
    optional_integers,
    reduction,
    tensor,
)
from tripybuild.tensorrt.shape_rules import trtx as rules

if TYPE_CHECKING:
    from tripybuild.tensorrt.translation.emission import Emission, Emitter

NO_ROOT = -1


def _collective(kind: str) -> "Emitter":
    def translate(at: "Emission", op: Any) -> Any:
        """Add what several devices do; of a scalar, TensorRT crashes instead of refusing."""
        if not op.input.type.get_shape():
            at.refuse(f"`{op.name}` needs a tensor with dimensions, and not a `{op.input.type}`")
        has = op.get_irdl_definition().accessor_names
        combine = at.member("ReduceOperation", op.value("kind") if "kind" in has else "NONE")
        root = op.value("root") if "root" in has else NO_ROOT
        groups = at.integer_array(op.value("groups") or ())
        collective = at.member("CollectiveOperation", kind)
        layer = at.add("dist_collective", at.tensor(op.input), collective, combine, root, groups)
        return at.set(layer, num_ranks=op.value("ranks") if "ranks" in has else None)

    return translate


all_reduce = SingleResultLayer(
    "all_reduce",
    {"input": tensor, "kind": reduction, "groups": optional_integers},
    shape=like("input"),
    operation="trtx.all_reduce",
    translate=_collective("ALL_REDUCE"),
)
all_gather = SingleResultLayer(
    "all_gather",
    {"input": tensor, "ranks": integer, "groups": optional_integers},
    shape=apply(rules.gather_ranks, "input", "ranks"),
    operation="trtx.all_gather",
    translate=_collective("ALL_GATHER"),
)
reduce_scatter = SingleResultLayer(
    "reduce_scatter",
    {"input": tensor, "kind": reduction, "ranks": integer, "groups": optional_integers},
    shape=apply(rules.scatter_ranks, "input", "ranks"),
    operation="trtx.reduce_scatter",
    translate=_collective("REDUCE_SCATTER"),
)
all_to_all = SingleResultLayer(
    "all_to_all",
    {"input": tensor, "ranks": integer, "groups": optional_integers},
    shape=like("input"),
    operation="trtx.all_to_all",
    translate=_collective("ALL_TO_ALL"),
)
collective_broadcast = SingleResultLayer(
    "collective_broadcast",
    {"input": tensor, "root": integer, "groups": optional_integers},
    shape=like("input"),
    operation="trtx.collective_broadcast",
    translate=_collective("BROADCAST"),
)
collective_reduce = SingleResultLayer(
    "collective_reduce",
    {"input": tensor, "kind": reduction, "root": integer, "groups": optional_integers},
    shape=like("input"),
    operation="trtx.collective_reduce",
    translate=_collective("REDUCE"),
)
collective_gather = SingleResultLayer(
    "collective_gather",
    {"input": tensor, "ranks": integer, "root": integer, "groups": optional_integers},
    shape=apply(rules.gather_ranks, "input", "ranks"),
    operation="trtx.collective_gather",
    translate=_collective("GATHER"),
)
collective_scatter = SingleResultLayer(
    "collective_scatter",
    {"input": tensor, "ranks": integer, "root": integer, "groups": optional_integers},
    shape=apply(rules.scatter_ranks, "input", "ranks"),
    operation="trtx.collective_scatter",
    translate=_collective("SCATTER"),
)
