"""Indexing layers: gather, scatter, one-hot, non-zero."""

from typing import TYPE_CHECKING, Any

from tripybuild.tensorrt.layers.declaration import Arguments, SingleResultLayer, adds, apply, like
from tripybuild.tensorrt.recorder.argument_kinds import integer, tensor
from tripybuild.tensorrt.shape_rules import indexing as rules

if TYPE_CHECKING:
    from tripybuild.tensorrt.translation.emission import Emission


def _add_gather(at: "Emission", op: Any, mode: str) -> Any:
    kind = at.member("GatherMode", mode)
    return at.add("gather_v2", at.tensor(op.data), at.tensor(op.indices), kind)


def _gather(at: "Emission", op: Any) -> Any:
    count = op.value("num_broadcast_dims")
    layer = _add_gather(at, op, "DEFAULT")
    return at.set(layer, axis=op.value("axis"), num_elementwise_dims=count)


gather = SingleResultLayer(
    "gather",
    {
        "data": tensor,
        "indices": tensor,
        "axis": integer,
        "num_broadcast_dims": integer.with_default(0),
    },
    results=("data",),
    shape=apply(rules.gather, "data", "indices", "axis", "num_broadcast_dims"),
    translate=_gather,
)


def _explicit_gather_nd(given: Arguments) -> Arguments:
    if given["num_broadcast_dims"]:
        raise ValueError("the dialect's `gather_nd` has no `num_broadcast_dims`: use `gather`")
    return {"num_broadcast_dims": None}


gather_nd = SingleResultLayer(
    "gather_nd",
    {"data": tensor, "indices": tensor, "num_broadcast_dims": integer.with_default(0)},
    results=("data",),
    shape=apply(rules.gather_nd, "data", "indices", "num_broadcast_dims"),
    explicit=_explicit_gather_nd,
    translate=lambda at, op: _add_gather(at, op, "ND"),
)


def _gather_elements(at: "Emission", op: Any) -> Any:
    return at.set(_add_gather(at, op, "ELEMENT"), axis=op.value("axis"))


gather_elements = SingleResultLayer(
    "gather_elements",
    {"data": tensor, "indices": tensor, "axis": integer},
    results=("data",),
    shape=like("indices"),
    translate=_gather_elements,
)


def _add_scatter(at: "Emission", op: Any, mode: str) -> Any:
    tensors = (at.tensor(each) for each in (op.data, op.indices, op.updates))
    return at.add("scatter", *tensors, at.member("ScatterMode", mode))


scatter_nd = SingleResultLayer(
    "scatter_nd",
    {"data": tensor, "indices": tensor, "updates": tensor},
    results=("data",),
    shape=apply(rules.scatter_nd, "data", "indices", "updates"),
    translate=lambda at, op: _add_scatter(at, op, "ND"),
)


def _scatter_elements(at: "Emission", op: Any) -> Any:
    return at.set(_add_scatter(at, op, "ELEMENT"), axis=op.value("axis"))


scatter_elements = SingleResultLayer(
    "scatter_elements",
    {"data": tensor, "indices": tensor, "updates": tensor, "axis": integer},
    results=("data",),
    shape=like("data"),
    translate=_scatter_elements,
)


def _one_hot(at: "Emission", op: Any) -> Any:
    tensors = (at.tensor(each) for each in (op.indices, op.values, op.depth))
    return at.add("one_hot", *tensors, op.value("axis"))


one_hot = SingleResultLayer(
    "one_hot",
    {"indices": tensor, "values": tensor, "depth": tensor, "axis": integer},
    results=("values",),
    shape=apply(rules.one_hot, "indices", "values", "axis"),
    translate=_one_hot,
)


non_zero = SingleResultLayer(
    "non_zero",
    {"input": tensor},
    results=("int32",),
    shape=apply(rules.non_zero, "input"),
    translate=adds("non_zero", "input"),
)
