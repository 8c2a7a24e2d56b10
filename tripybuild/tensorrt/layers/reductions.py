"""Reduction layers: reduce, top-k, cumulative, softmax, normalization."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tripybuild.tensorrt.layers.declaration import (
    Arguments,
    MultiResultLayer,
    SingleResultLayer,
    adds,
    apply,
    like,
    twice,
)
from tripybuild.tensorrt.recorder.argument_kinds import (
    boolean,
    integer,
    integers,
    one_of,
    real,
    reduction,
    tensor,
)
from tripybuild.tensorrt.shape_rules import Sizes, reductions as rules

if TYPE_CHECKING:
    from tripybuild.tensorrt.translation.emission import Emission


def _mask(axes: Iterable[int]) -> int:
    """Return the bit mask of some axes, as TensorRT wants them."""
    return sum(1 << axis for axis in axes)


def _reduce_shape(given: Arguments) -> Sizes:
    kept = given["keep_dimensions"]
    return rules.reduce(given["input"].shape, given["axes"], keep_dimensions=kept)


def _reduce(at: "Emission", op: Any) -> Any:
    kind = at.member("ReduceOperation", op.value("reduce_operation"))
    axes = _mask(op.value("reduce_axes"))
    return at.add("reduce", at.tensor(op.input), kind, axes, op.value("keep_dimensions"))


reduce = SingleResultLayer(
    "reduce",
    {
        "input": tensor,
        "axes": integers.with_attribute("reduce_axes"),
        "kind": reduction.with_attribute("reduce_operation"),
        "keep_dimensions": boolean.with_default(False),
    },
    shape=_reduce_shape,
    translate=_reduce,
)


def _top_k(at: "Emission", op: Any) -> Any:
    kind = at.member("TopKOperation", op.value("topk_operation"))
    return at.add("topk", at.tensor(op.input), kind, op.value("k"), _mask([op.value("axis")]))


top_k = MultiResultLayer(
    "top_k",
    {
        "input": tensor,
        "k": integer,
        "axis": integer,
        "kind": one_of("top_k_operation").with_attribute("topk_operation"),
    },
    results=("input", "int32"),
    shape=twice(apply(rules.top_k, "input", "k", "axis")),
    translate=_top_k,
)
argmin = MultiResultLayer(
    "argmin",
    {"input": tensor, "axis": integer},
    results=("input", "int32"),
    shape=twice(apply(rules.arg_extreme, "input", "axis")),
)
argmax = MultiResultLayer(
    "argmax",
    {"input": tensor, "axis": integer},
    results=("input", "int32"),
    shape=twice(apply(rules.arg_extreme, "input", "axis")),
)


def _cumulative(at: "Emission", op: Any) -> Any:
    kind = at.member("CumulativeOperation", op.value("kind"))
    axis = at.add("constant", (), at.integer_weights(op.value("axis"))).get_output(0)
    flags = op.value("exclusive"), op.value("reverse")
    return at.add("cumulative", at.tensor(op.input), axis, kind, *flags)


cumulative = SingleResultLayer(
    "cumulative",
    {
        "input": tensor,
        "axis": integer,
        "kind": one_of("cumulative_operation").with_default("kSUM"),
        "exclusive": boolean.with_default(False),
        "reverse": boolean.with_default(False),
    },
    shape=like("input"),
    operation="trtx.cumulative",
    translate=_cumulative,
)


def _softmax(at: "Emission", op: Any) -> Any:
    return at.set(at.add("softmax", at.tensor(op.input)), axes=_mask([op.value("axis")]))


softmax = SingleResultLayer(
    "softmax", {"input": tensor, "axis": integer}, shape=like("input"), translate=_softmax
)


ragged_softmax = SingleResultLayer(
    "ragged_softmax",
    {"input": tensor, "bounds": tensor},
    shape=apply(rules.ragged_softmax, "input", "bounds"),
    translate=adds("ragged_softmax", "input", "bounds"),
)


def _normalization(at: "Emission", op: Any) -> Any:
    inputs = (at.tensor(each) for each in (op.input, op.scale, op.bias))
    layer = at.add("normalization", *inputs, _mask(op.value("axis")))
    return at.set(layer, epsilon=op.value("eps"), num_groups=op.value("num_groups"))


normalization = SingleResultLayer(
    "normalization",
    {
        "input": tensor,
        "scale": tensor,
        "bias": tensor,
        "axes": integers.with_attribute("axis"),
        "epsilon": real.with_default(1e-5).with_attribute("eps"),
        "num_groups": integer.with_default(1),
    },
    shape=like("input"),
    translate=_normalization,
)
