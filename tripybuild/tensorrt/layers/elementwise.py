"""Elementwise layers: activations, arithmetic, casts, select, scale."""

from typing import TYPE_CHECKING, Any

from tripybuild.tensorrt.layers.declaration import SingleResultLayer, adds, apply, like
from tripybuild.tensorrt.recorder.argument_kinds import (
    dtype,
    integer,
    one_of,
    optional_tensor,
    real,
    tensor,
)
from tripybuild.tensorrt.shape_rules import arithmetic

if TYPE_CHECKING:
    from tripybuild.tensorrt.translation.emission import Emission


def _activation(at: "Emission", op: Any) -> Any:
    kind = at.member("ActivationType", op.value("activation_type"))
    layer = at.add("activation", at.tensor(op.input), kind)
    return at.set(layer, alpha=op.value("alpha"), beta=op.value("beta"))


activation = SingleResultLayer(
    "activation",
    {
        "input": tensor,
        "kind": one_of("activation_type").with_attribute("activation_type"),
        "alpha": real.with_default(None),
        "beta": real.with_default(None),
    },
    shape=like("input"),
    translate=_activation,
)


def _unary(at: "Emission", op: Any) -> Any:
    kind = at.member("UnaryOperation", op.value("unary_operation"))
    return at.add("unary", at.tensor(op.input), kind)


unary = SingleResultLayer(
    "unary",
    {
        "input": tensor,
        "kind": one_of("unary_operation").with_attribute("unary_operation"),
    },
    shape=like("input"),
    translate=_unary,
)


def _element_wise(at: "Emission", op: Any) -> Any:
    kind = at.member("ElementWiseOperation", op.value("elementwise_operation"))
    return at.add("elementwise", at.tensor(op.input1), at.tensor(op.input2), kind)


element_wise = SingleResultLayer(
    "element_wise",
    {
        "lhs": tensor,
        "rhs": tensor,
        "kind": one_of("element_wise_operation").with_attribute("elementwise_operation"),
    },
    results=("lhs",),
    shape=apply(arithmetic.elementwise, "lhs", "rhs"),
    translate=_element_wise,
)


select = SingleResultLayer(
    "select",
    {"condition": tensor, "then_input": tensor, "else_input": tensor},
    results=("then_input",),
    shape=apply(arithmetic.elementwise, "condition", "then_input", "else_input"),
    translate=adds("select", "condition", "then_input", "else_input"),
)


def _cast(at: "Emission", op: Any) -> Any:
    return at.add("cast", at.tensor(op.input), at.dtype(op.result))


cast = SingleResultLayer(
    "cast",
    {"input": tensor, "dtype": dtype},
    results=("dtype",),
    shape=like("input"),
    typed=True,
    translate=_cast,
)


def _identity(at: "Emission", op: Any) -> Any:
    """Where types are strict, an identity that changes one is a cast."""
    if at.element(op.input) == at.element(op.result):
        return at.add("identity", at.tensor(op.input))
    return _cast(at, op)


identity = SingleResultLayer(
    "identity", {"input": tensor}, shape=like("input"), typed=True, translate=_identity
)


parametric_relu = SingleResultLayer(
    "parametric_relu",
    {"input": tensor, "slope": tensor},
    shape=like("input"),
    translate=adds("parametric_relu", "input", "slope"),
)


def _scale(at: "Emission", op: Any) -> Any:
    mode = at.member("ScaleMode", op.value("mode"))
    weights = [_weights(at, op, name) for name in ("shift", "scale", "power")]
    axis = op.value("axis") % len(op.input.type.get_shape())
    return at.add("scale_nd", at.tensor(op.input), mode, *weights, axis)


def _weights(at: "Emission", op: Any, name: str) -> Any:
    """Return a parameter that TensorRT wants as weights, and no tensor."""
    value = getattr(op, name)
    if value is None:
        return at.library.module.Weights(at.dtype(op.input))
    owner: Any = value.owner
    if getattr(owner, "name", "") != "tensorrt.constant":
        hint = "multiply and add with `tensorrt.element_wise` instead"
        at.refuse(f"`{name}` of `{op.name}` must be a constant", hint=hint)
    return at.weights(owner.value("weights"))


scale = SingleResultLayer(
    "scale",
    {
        "input": tensor,
        "mode": one_of("scale_mode"),
        "shift": optional_tensor,
        "scale": optional_tensor,
        "power": optional_tensor,
        "axis": integer.with_default(1),
    },
    shape=like("input"),
    operation="trtx.scale",
    translate=_scale,
)
