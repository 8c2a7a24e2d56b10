"""Compositions of the ONNX dialect: what several operators say with a few nodes.

Invariant: `HELPERS` of `dialect` is all that snippets may call beside ONNX's own operators.
"""

from collections.abc import Sequence
from typing import Any, NoReturn

from tripybuild.onnx.builder import current
from tripybuild.onnx.dialect.calls import call, check_results, convert
from tripybuild.onnx.nodes import Unavailable
from tripybuild.onnx.value import OPERATORS, OnnxValue, Operand, Size
from tripybuild.symbolic.conditions import Condition
from tripybuild.symbolic.dims import Dim, same
from tripybuild.types import dtypes
from tripybuild.types.dtypes import dtype

# A constant of more elements is expanded where it is used.
MOST_ELEMENTS = 64
# More copies of single elements than these are no faster one after the other.
FEW_COPIES = 8


def opset() -> int:
    """The version of ONNX's operators that is built for."""
    return current().opset


def runs_in(runtime: str) -> bool:
    """Whether the model is for this engine alone, so that the form may be the one it is fast in."""
    return current().runtime == runtime


def holds(condition: bool | Condition) -> bool:
    """Whether a condition holds for all sizes: one that is not decided may not."""
    return condition is True or (not isinstance(condition, Condition) and bool(condition))


def unavailable(operator: str) -> NoReturn:
    """No operator of ONNX says the call; the operation is decomposed."""
    raise Unavailable(f"no operator of ONNX says this call of `{operator}`")


def cast(value: OnnxValue, dtype: dtype) -> OnnxValue:
    """The value in a dtype, as `Cast` converts it; itself where it has that already."""
    return convert(value, dtype)


def dtype_of(value: OnnxValue) -> dtype:
    """The dtype of a value."""
    return value.dtype


def tensor(value: Any, dtype: dtype) -> OnnxValue:
    """A number, or a size, as a tensor of rank 0; a list of them as one of rank 1."""
    graph = current()
    if isinstance(value, Dim):
        return convert(graph.sizes.scalar(value), dtype)
    if not isinstance(value, (list, tuple)):
        return graph.number(value, dtype)
    if any(isinstance(each, Dim) for each in value):
        return convert(graph.sizes.vector(value), dtype)
    return graph.numbers(value, dtype)


def full(value: Any, dtype: dtype, shape: Sequence[Size] = ()) -> OnnxValue:
    """A tensor that is filled with a number, a size, or a tensor of one element."""
    filling = value if isinstance(value, OnnxValue) else tensor(value, dtype)
    filling.shape = ()
    return expand(filling, shape)


def expand(value: OnnxValue, shape: Sequence[Size]) -> OnnxValue:
    """The value with dimensions of size one repeated, and new ones in front."""
    if value.shape is not None and same(value.shape, tuple(shape)):
        return value
    if any(same(size, 0) for size in shape) and not any(isinstance(s, Dim) for s in shape):
        return empty(value.dtype, shape)  # ONNX Runtime takes 0 for a size that stays
    if value.shape is not None and len(value.shape) > 1 and _repeats_elements(value.shape, shape):
        columns = expand(value, (*shape[:-1], 1))
        found: OnnxValue = call("Concat", *[columns] * int(shape[-1]), axis=-1)
    else:
        found = call("Expand", value, list(shape))
    found.shape = tuple(shape)
    return found


def _repeats_elements(old: Sequence[Size], new: Sequence[Size]) -> bool:
    """Whether each element is repeated a few times: ONNX Runtime expands single ones slowly."""
    few = isinstance(new[-1], int) and 1 < new[-1] <= FEW_COPIES
    return few and same(old[-1], 1) and not all(same(each, 1) for each in old)


def empty(dtype: dtype, shape: Sequence[Size]) -> OnnxValue:
    """A tensor without elements."""
    graph = current()
    check_results(graph.schema("Identity"), [dtype])
    if any(isinstance(size, Dim) for size in shape):
        return full(0, dtype, shape)
    return graph.constant((dtype, tuple(map(int, shape)), b""))


def constant(array: Any, dtype: dtype) -> OnnxValue:
    """A tensor whose elements are those of an array, or of nested lists."""
    return current().array(array, dtype)


def where(condition: OnnxValue, then: Operand, otherwise: Operand) -> OnnxValue:
    """`then` where the condition holds, else `otherwise`; one of them may be a number."""
    found: OnnxValue = call("Where", condition, then, otherwise)
    return found


def _binary(name: str) -> Any:
    return lambda left, right: call(name, left, right)


def _logical(name: str) -> Any:
    """An operator of booleans, or the one of bits that has its name."""

    def operate(left: OnnxValue, right: Operand) -> OnnxValue:
        found: OnnxValue = call(name if _is_boolean(left) else f"Bitwise{name}", left, right)
        return found

    return operate


def _invert(value: OnnxValue) -> OnnxValue:
    found: OnnxValue = call("Not" if _is_boolean(value) else "BitwiseNot", value)
    return found


def _modulo(left: Operand, right: Operand) -> OnnxValue:
    """The remainder: with the sign of the divisor for integers, of the dividend for floats."""
    kind = left.dtype if isinstance(left, OnnxValue) else right.dtype  # type: ignore[union-attr]
    found: OnnxValue = call("Mod", left, right, fmod=1 if kind.kind == "float" else 0)
    return found


def _power(base: Operand, exponent: Operand) -> OnnxValue:
    """`Pow`, whose result has the dtype of the base: a number has that of the exponent."""
    if isinstance(exponent, OnnxValue) and not isinstance(base, OnnxValue):
        base = tensor(base, exponent.dtype)
    found: OnnxValue = call("Pow", base, exponent)
    return found


def _is_boolean(value: OnnxValue) -> bool:
    return value.dtype is dtypes.boolean


OPERATORS.update(
    {sign: _binary(name) for sign, name in {
        "+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "@": "MatMul",
        "<": "Less", "<=": "LessOrEqual", ">": "Greater", ">=": "GreaterOrEqual",
    }.items()}
)  # fmt: skip
OPERATORS.update(
    {sign: _logical(name) for sign, name in {"&": "And", "|": "Or", "^": "Xor"}.items()}
)
OPERATORS["%"], OPERATORS["**"], OPERATORS["~"] = _modulo, _power, _invert
OPERATORS["neg"] = lambda value: call("Neg", value)
