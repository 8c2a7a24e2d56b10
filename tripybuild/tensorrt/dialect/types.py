"""Type constraints of operands, results and attributes, with MLIR's descriptions.

Invariant: a kind is an xDSL constraint, so that an operation is declared with it once: it tells the
assembly format what it needs, `problems` checks it, and its `summary` is what MLIR prints (`operand
#0 must be <summary>, but got '<type>'`). Attributes' kinds also read and make Python values.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypeVar, override
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float16Type,
    Float32Type,
    IntegerType,
    Signedness,
    TensorType,
    i8,
)
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, IntConstraint, VerificationContext

from tripybuild.tensorrt.layers.kinds import TensorKind


@dataclass(frozen=True)
class ConstraintKind(AttrConstraint[Attribute]):
    """A set of attributes or types, and its name in MLIR."""

    summary: str
    accepts: Callable[[Attribute], bool]

    @override
    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        """Accept everything: `problems` verifies after parsing."""

    @override
    def mapping_type_vars(
        self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]
    ) -> "ConstraintKind":
        return self


def _integer(width: int, signedness: Signedness = Signedness.SIGNLESS) -> ConstraintKind:
    wanted = IntegerType(width, signedness)
    return ConstraintKind(
        f"{width}-bit {signedness.name.lower()} integer", lambda element: element == wanted
    )


def _float(summary: str, wanted: Attribute) -> ConstraintKind:
    return ConstraintKind(summary, lambda element: element == wanted)


def _is_quantized(element: Attribute) -> bool:
    """Tell whether a type is `!quant.uniform<i8:f32|f16, s>` without a zero point."""
    given: Any = element
    if given.name != "quant.uniform" or given.scale is None or given.zero_points.data[0].data:
        return False
    return given.storage_type == i8 and isinstance(given.expressed_type, Float32Type | Float16Type)


I1, I4, I32, I64 = (_integer(width) for width in (1, 4, 32, 64))
PLAIN_I8 = _integer(8)
UI8 = _integer(8, Signedness.UNSIGNED)
I8 = ConstraintKind(
    "allowed TensorRT tensor i8 element types",
    lambda element: element == i8 or _is_quantized(element),
)
F8 = _float("f8E4M3FN type", Float8E4M3FNType())
F4 = _float("f4E2M1FN type", Float4E2M1FNType())
F16 = _float("16-bit float", Float16Type())
BF16 = _float("bfloat16 type", BFloat16Type())
F32 = _float("32-bit float", Float32Type())

FLOATS = (F16, BF16, F32)
USUAL = (I1, I8, I32, I64, *FLOATS)
EVERY = (I1, I4, I8, I32, I64, F8, *FLOATS)


def _container(
    name: str, elements: Sequence[ConstraintKind], fits: Callable[[TensorType], bool]
) -> ConstraintKind:
    allowed = functools.cache(lambda element: any(kind.accepts(element) for kind in elements))

    def accepts(given: Attribute) -> bool:
        return type(given) is TensorType and fits(given) and allowed(given.element_type)

    kinds = " or ".join(element.summary for element in elements)
    return ConstraintKind(f"{name} of {kinds} values", accepts)


def tensor(*elements: ConstraintKind, ranks: Sequence[int] = range(9)) -> ConstraintKind:
    """Tensors of these element types; the dialect's have eight dimensions at most."""
    allowed = frozenset(ranks)
    name = "/".join(f"{rank}D" for rank in ranks) + " tensor"
    return _container(name, elements, lambda given: len(given.shape.data) in allowed)


def _is_shape(given: TensorType) -> bool:
    return given.get_num_dims() == 1 and given.has_static_shape()


ANY = ConstraintKind("any type", lambda _: True)
RANKED = _container("ranked tensor", (ANY,), lambda _: True)
SHAPE = _container("1D static i32 tensor representing a shape", (I32,), _is_shape)
TENSOR = tensor(*USUAL)
TENSOR_OF_EVERY_TYPE = tensor(*EVERY)
FLOAT_TENSOR = tensor(*FLOATS)
NON_SCALAR = range(1, 9)


def element_kind(name: str) -> ConstraintKind:
    """The constraint of an element type that a layer declares."""
    return globals()[name]  # type: ignore[no-any-return]


@functools.cache
def kind_of(declared: TensorKind) -> ConstraintKind:
    """The constraint of tensors that a layer declares."""
    if declared.name:
        return element_kind(declared.name)
    return tensor(*map(element_kind, declared.elements), ranks=declared.ranks)
