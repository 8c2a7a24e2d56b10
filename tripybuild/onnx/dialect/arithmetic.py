"""Arithmetic, averages and windows of the ONNX dialect: the same for all runtimes, for each dtype.

Invariant: no divisor of integers that a runtime sees is zero, and none is -1 where it divides:
processors trap on the first, and on the least integer divided by the second.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any

import numpy as np

from tripybuild.onnx.builder import current
from tripybuild.onnx.dialect.calls import call, convert
from tripybuild.onnx.dialect.compositions import constant, holds, runs_in, tensor, where
from tripybuild.onnx.dialect.control import if_
from tripybuild.onnx.dialect.indexing import reshape
from tripybuild.onnx.dialect.reductions import combine, has_finite_sum
from tripybuild.onnx.value import OnnxValue, Size
from tripybuild.types import dtypes
from tripybuild.types.dtypes import dtype

# Bits of an exponent: the powers of an even base beyond `2 ** BITS` are 0 in 64 bits.
BITS = 6
INFINITY = float("inf")
# Below the largest score by so much, weights are nothing in float32. Those that are less than the
# least normal number take processors, and kernels that compute them, many times as long.
NEGLIGIBLE = 80.0
NEGLIGIBLE_WEIGHT = 1e-34  # more than `exp(-NEGLIGIBLE)`
# ONNX Runtime lays images out by blocks of so many channels, or by a half of it.
LANES = 16


Binary = Callable[[OnnxValue, OnnxValue], OnnxValue]


def _of_integers(compute: Binary) -> Binary:
    """The same of booleans, as integers."""

    @wraps(compute)
    def apply(left: OnnxValue, right: OnnxValue) -> OnnxValue:
        if left.dtype is not dtypes.boolean:
            return compute(left, right)
        whole = compute(convert(left, dtypes.int32), convert(right, dtypes.int32))
        return convert(whole, dtypes.boolean)

    return apply


@_of_integers
def divide(left: OnnxValue, right: OnnxValue) -> OnnxValue:
    """The quotient; that of integers is cut off toward zero, and by zero it is any number."""
    if right.dtype.kind == "float" or current().known_number(right) not in {None, 0, -1}:
        return _call("Div", left, right)
    if current().known_number(left) == 1:  # see `size_tensors`
        return where(_call("Equal", _call("Abs", right), 1), right, 0)
    if right.dtype.lowest == 0:
        return _call("Div", left, _nonzero(right))
    minus = _call("Equal", right, -1)
    unsafe = _call("Or", minus, _call("Equal", right, 0))
    return where(minus, -left, _call("Div", left, where(unsafe, 1, right)))


@_of_integers
def floor_divide(left: OnnxValue, right: OnnxValue) -> OnnxValue:
    """The quotient, rounded down."""
    quotient = divide(left, right)
    if right.dtype.kind == "float":
        return _call("Floor", quotient)
    return where(_differs(left - quotient * right, right), quotient - 1, quotient)


@_of_integers
def modulo(left: OnnxValue, right: OnnxValue) -> OnnxValue:
    """The remainder, with the sign of the divisor."""
    if right.dtype.kind != "float":
        return _call("Mod", left, _nonzero(right))
    rest = remainder(left, right)
    return where(_differs(rest, right), rest + right, rest)


@_of_integers
def remainder(left: OnnxValue, right: OnnxValue) -> OnnxValue:
    """The remainder, with the sign of the dividend."""
    found: OnnxValue = call("Mod", left, _nonzero(right), fmod=1)
    return found


def _nonzero(divisor: OnnxValue) -> OnnxValue:
    """The divisor, with 1 in the place of an integer zero."""
    if divisor.dtype.kind == "float" or current().known_number(divisor) not in {None, 0}:
        return divisor
    return where(_call("Equal", divisor, 0), 1, divisor)


def _differs(rest: OnnxValue, divisor: OnnxValue) -> OnnxValue:
    """Where a remainder is not zero and has another sign than the divisor."""
    zero = tensor(0, rest.dtype)
    signs = _call("Xor", _call("Less", rest, zero), _call("Less", divisor, zero))
    return _call("And", signs, _call("Not", _call("Equal", rest, zero)))


def power(base: OnnxValue, exponent: OnnxValue) -> OnnxValue:
    """The power; that of integers is exact where 64 bits hold it.

    To a negative power, an integer is cut off toward zero.
    """
    kind = base.dtype
    if kind.kind == "float":
        return _call("Pow", base, exponent)
    base, exponent = (convert(each, dtypes.int64) for each in (base, exponent))
    unit = where(_call("Equal", _call("Mod", exponent, 2), 1), base, 1)
    is_unit = _call("Equal", _call("Clip", base, -1, 1), base)
    below = where(is_unit, unit, 0)
    found = where(_call("Less", exponent, 0), below, _whole_power(base, exponent))
    return convert(found, kind)


def _whole_power(base: OnnxValue, exponent: OnnxValue) -> OnnxValue:
    """The power of an integer: the product of its squares for the bits of the exponent.

    Exponents beyond `2 ** BITS` are brought near it, where the least byte is the same.
    """
    most = 2**BITS
    near = _call("Add", _call("Mod", exponent, most), most)
    rest = where(_call("Less", exponent, most), exponent, near)
    result = tensor(1, base.dtype)
    for factor in _squares(base):
        odd = _call("Equal", _call("Mod", rest, 2), 1)
        result, rest = result * where(odd, factor, 1), _call("Div", rest, 2)
    return result


def _squares(base: OnnxValue) -> Iterator[OnnxValue]:
    """The base, its square, the square of that, and so on.

    Those of a number are numbers: checkers of models compute them, and refuse what overflows.
    """
    number = current().known_number(base)
    for bit in range(BITS + 1):
        if number is None:
            yield base
            base = base * base
        else:
            least = pow(int(number), 2**bit, 2**64)
            yield tensor(least - 2**64 * (least >= 2**63), base.dtype)


def saturate(value: OnnxValue, dtype: dtype) -> OnnxValue:
    """The value in a dtype: floats are cut off and kept in the range of integers; NaN becomes 0."""
    if value.dtype is dtype:
        return value
    if value.dtype.kind == "float" and value.dtype.bits < dtypes.float16.bits:
        value = convert(value, dtypes.float32)  # few kernels take 8 bits
    if value.dtype.kind == "float" and dtype.kind == "integer":
        return _saturate_integer(convert(value, value.dtype.wide), dtype)
    return convert(value, dtype)


def quantize(value: OnnxValue, dtype: dtype) -> OnnxValue:
    """The nearest value of a dtype with few bits, ties to even; as an integer, NaN becomes 0."""
    wide = convert(value, value.dtype.wide)
    if dtype.kind == "integer":
        wide = without_nan(wide)
    inside = _call("Clip", wide, float(dtype.lowest), float(dtype.highest))
    return convert(inside if dtype.kind == "float" else _call("Round", inside), dtype)


def _saturate_integer(value: OnnxValue, dtype: dtype) -> OnnxValue:
    clean = without_nan(value)
    low, high = float(dtype.lowest), float(dtype.highest)
    if dtype.bits < dtypes.int32.bits:  # each of these floats holds both
        return convert(_call("Clip", clean, low, high), dtype)
    beyond = _call("GreaterOrEqual", clean, high)
    kept = where(beyond, 0.0, _call("Max", clean, low))
    return where(beyond, tensor(dtype.highest, dtype), convert(kept, dtype))


def without_nan(value: OnnxValue) -> OnnxValue:
    """Zero in the place of NaN: what runtimes make integers of then is not defined.

    In ONNX Runtime a threshold of 0, which NaN is not above, takes a ninth of the time of a choice.
    """
    if not (runs_in("onnxruntime") and value.dtype is dtypes.float32):
        return where(_call("IsNaN", value), 0.0, value)

    def above(each: OnnxValue) -> OnnxValue:
        found: OnnxValue = call("ThresholdedRelu", each, alpha=0.0)
        return found

    return above(value) if _is_rectified(value) else above(value) - above(_call("Neg", value))


def _call(name: str, *operands: object) -> OnnxValue:
    found: OnnxValue = call(name, *operands)
    return found


def masked_average(
    scores: OnnxValue,
    value: OnnxValue,
    sizes: Sequence[Size],
    mask: OnnxValue,
    always: bool = False,
) -> OnnxValue:
    """Average values by the softmax of scores, where a mask is true, or plus a mask of floats.

    It is zero for a row that the mask is false for, or -inf; with `always` there is none, and some
    are false in most rows. Where the values have fewer heads, the second of the `sizes` of scores,
    as many heads of scores share them.
    """
    kind, (batch, heads, _, width) = scores.dtype, value.shape or ()
    rows = [batch, heads, sizes[1] // heads * sizes[2], sizes[3]]
    is_boolean = mask.dtype is dtypes.boolean
    bias = where(mask, tensor(0.0, kind), -INFINITY) if is_boolean else mask

    def average(weights: OnnxValue) -> OnnxValue:
        if holds(heads == sizes[1]):
            return weights @ value
        return reshape(reshape(weights, rows) @ value, [*sizes[:3], width])

    def weigh(biased: OnnxValue) -> OnnxValue:
        return average(call("Softmax", biased, axis=-1))

    if not (runs_in("onnxruntime") and kind is dtypes.float32 and holds(sizes[3] > 0)):
        mean = weigh(scores + bias)
        return mean if always else where(_is_hidden(bias), tensor(0.0, kind), mean)

    def weigh_seen() -> OnnxValue:
        if is_boolean:
            return average(_seen_weights(scores, bias, always))
        return average(_clear_weights(scores + bias))

    if always:
        return weigh_seen()
    smallest: OnnxValue = call("ReduceMin", bias, keepdims=False)
    is_all_seen = _call("Greater", smallest, -NEGLIGIBLE)
    return if_(is_all_seen, lambda: weigh(scores if is_boolean else scores + bias), weigh_seen)[0]


def _is_hidden(bias: OnnxValue) -> OnnxValue:
    """Whether a row is -inf."""
    most = bias if bias.shape == () else combine("ReduceMax", bias, [-1], keepdim=True)
    return _call("Equal", most, -INFINITY)


def _seen_weights(scores: OnnxValue, bias: OnnxValue, always: bool) -> OnnxValue:
    """The softmax of scores where the bias is 0, and zero where it is -inf."""
    biased = scores + bias
    least = combine("ReduceMax", biased, [-1], keepdim=True) - NEGLIGIBLE
    if not always:
        lowest = where(_is_hidden(bias), float(dtypes.float32.lowest), -INFINITY)
        least = _call("Max", least, lowest)
    weights: OnnxValue = call("Softmax", _call("Max", biased, least), axis=-1)
    return weights * convert(_call("Greater", bias, -INFINITY), bias.dtype)


def _clear_weights(scores: OnnxValue) -> OnnxValue:
    """The softmax of scores, zero where it is negligible, and in rows that are -inf.

    The weight of a score that was lifted to the floor is less than `NEGLIGIBLE_WEIGHT`, which is
    taken from all: that changes no other in float32. Where scores are so large that `NEGLIGIBLE` is
    lost in their rounding, the floor is lower.
    """
    most = combine("ReduceMax", scores, [-1], keepdim=True)
    is_hidden = _call("Equal", most, -INFINITY)
    distance = _call("Max", _call("Abs", most) * 1e-4, NEGLIGIBLE)
    floor = where(is_hidden, 0.0, most - distance)
    weights: OnnxValue = call("Softmax", _call("Max", scores, floor), axis=-1)
    return _call("Relu", weights - where(is_hidden, 2.0, NEGLIGIBLE_WEIGHT))


def _is_rectified(value: OnnxValue) -> bool:
    """Whether a value comes from `Relu`, or is the largest of such, or a sum with what does."""
    node = value.producer
    while node is not None and node.schema.name in {"MaxPool", "Add"}:
        first, second = node.inputs[0], node.inputs[-1]
        if node.schema.name == "Add" and not (second is not None and _is_relu(second)):
            return False
        node = None if first is None else first.producer
    return node is not None and node.schema.name == "Relu"


def _is_relu(value: OnnxValue) -> bool:
    return value.producer is not None and value.producer.schema.name == "Relu"


def max_pool(
    value: OnnxValue,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[Sequence[int]],
    dilation: Sequence[int] = (),
    ceil_mode: bool = False,
) -> OnnxValue:
    """The largest value of each window; NaN where it has one.

    Runtimes pass over NaN, and begin with the least finite number. The sum of all elements is
    finite if all of them are: few values of a model are looked at twice. In OpenVINO, whose `Relu`
    makes zero of NaN, there is nothing to look for behind one. In ONNX Runtime a sum over each
    window tells, where that is a convolution in whose layout all of it stays.
    """
    pads = [each[side] for side in (0, 1) for each in padding]
    # Early opsets have neither of these attributes.
    further: dict[str, Any] = {"ceil_mode": 1} if ceil_mode else {}
    if any(step != 1 for step in dilation):
        further["dilations"] = dilation

    def pool(each: OnnxValue) -> OnnxValue:
        made = call("MaxPool", each, kernel_shape=kernel, strides=stride, pads=pads, **further)
        largest: OnnxValue = made[0] if isinstance(made, tuple) else made  # opset 7 has no places
        return largest

    if value.dtype.kind != "float":
        return pool(value)
    wide = convert(value, value.dtype.wide)  # few kernels take fewer bits
    found = pool(wide)
    if runs_in("openvino") and _is_rectified(wide):
        return convert(found, value.dtype)
    channels = (wide.shape or (0, 0))[1]
    has_layout = isinstance(channels, int) and channels % LANES == 0 and len(kernel) == 2
    is_kept = has_layout and wide.dtype is dtypes.float32 and not ceil_mode
    if runs_in("onnxruntime") and is_kept and _is_rectified(wide):
        # What is not negative has a negative sum of zero or less, or NaN.
        ones = constant(np.full((channels, 1, *kernel), -1, wide.dtype.numpy), wide.dtype)
        at = {"strides": stride, "pads": pads, "group": channels, **further}
        return convert(found + call("Relu", call("Conv", wide, ones, **at)), value.dtype)

    def mend() -> OnnxValue:
        above = convert(_call("Greater", wide, -float("inf")), wide.dtype)
        # ONNX Runtime gives what it lays out anew in a body names that it has given outside, and
        # does not load what it has written then; float64 it leaves as it is.
        exact = dtypes.float64 if runs_in("onnxruntime") else wide.dtype
        kinds = pool(convert(where(_call("IsNaN", wide), 2.0, above), exact))
        finite = where(_call("Greater", kinds, 0.0), found, -float("inf"))
        return where(_call("Greater", kinds, 1.0), float("nan"), finite)

    return convert(if_(has_finite_sum(wide), lambda: found, mend)[0], value.dtype)
