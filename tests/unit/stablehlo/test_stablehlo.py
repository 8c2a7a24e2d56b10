"""Every builder against NumPy, through the real CPU compiler."""

import inspect
import subprocess
import sys
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from tripybuild import stablehlo as hlo
from tripybuild.targets.xla import pjrt
from tripybuild.types import dtypes
from tripybuild.types.dtypes import (
    bfloat16,
    boolean,
    float4,
    float8,
    float16,
    float32,
    float64,
    int4,
    int8,
    int32,
    int64,
    uint8,
)

ALL = tuple(dtypes.BY_NAME.values())
NAN, INF = float("nan"), float("inf")


def run(build: Callable, *arrays: np.ndarray) -> list[np.ndarray]:
    """Compile `build` for the arrays and call it with them."""
    types = {
        f"x{i}": (dtypes.from_numpy(array.dtype), array.shape) for i, array in enumerate(arrays)
    }
    module = hlo.HloModule({}, types)
    with module:
        results = build(*module.inputs.values())
        results = results if isinstance(results, list | tuple) else [results]
        module.finish({f"y{i}": result for i, result in enumerate(results)})
    found = pjrt.load(pjrt.compile(module.bytecode()))(*arrays)
    for array, result in zip(found, results, strict=True):
        assert array.shape == result.shape
        assert array.dtype == result.dtype.numpy
    return found


def check(build: Callable, expected: np.ndarray, *arrays: np.ndarray, rtol: float = 1e-6) -> None:
    """Compare the first result."""
    (found,) = run(build, *arrays)
    assert found.shape == np.shape(expected)
    wide = (found.astype(np.float64), np.asarray(expected).astype(np.float64))
    np.testing.assert_allclose(*wide, rtol=rtol, atol=rtol)


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    """Normal float32 numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def test_importing_the_vocabulary_loads_no_compiler():
    """Snippets are checked in processes that never need jaxlib."""
    code = (
        "import inspect, sys; from tripybuild import stablehlo as s;"
        "[inspect.signature(b) for b in s.BUILDERS.values()];"
        "assert not {'jax', 'jaxlib', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", hlo.BUILDERS)
def test_a_builder_is_named_and_documented(name):
    """The vocabulary says what it is."""
    builder = hlo.BUILDERS[name]
    assert inspect.getdoc(builder)
    assert builder.__name__ in (name, name.rstrip("_"))


def test_calls_in_snippets_are_judged_without_being_made():
    """Names, counts and keywords."""
    assert hlo.check_call("softmax", 1, []) == "there is no builder `hlo.softmax`"
    assert hlo.check_call("reduce", 2, ["kind"]) is None
    assert hlo.check_call("reduce", None, ["kind"]) is None
    assert hlo.check_call("reduce", 2, []) == "`hlo.reduce` needs `kind`"
    assert "has no parameter `dim`" in hlo.check_call("reduce", 2, ["kind", "dim"])
    assert "has `input` twice" in hlo.check_call("abs", 1, ["input"])
    assert "takes 2 arguments, and 3" in hlo.check_call("add", 3, [])
    assert hlo.check_call("broadcast_values", 5, []) is None


def test_nothing_is_built_outside_of_a_module():
    """A builder without a module is a mistake of the caller."""
    with pytest.raises(RuntimeError, match="no module has begun"):
        hlo.iota([2], 0, int32)


def test_a_module_names_weights_inputs_outputs_and_places():
    """Weights come first, and what was built knows where it came from."""
    module = hlo.HloModule({"w": (float32, (2, 3))}, {"x": (float32, (4, 2))})
    with module, module.location("step", "specs/a.yaml", 7, 3):
        product = module.inputs["x"] @ module.weights["w"]
        module.finish({"out": product})
    text = module.text(locations=True)
    assert "tensor<2x3xf32> loc(" in text.split("->")[0]
    assert 'loc("w")' in text
    assert 'loc("step"(' in text
    assert '"specs/a.yaml":7:3' in text
    assert '"out"' in text
    assert "loc(" not in module.text()


def test_a_wrong_module_is_refused_when_it_is_finished():
    """The verifier has the last word."""
    module = hlo.HloModule({}, {"x": (boolean, (2,))})
    with module:
        broken = hlo.elementwise.emit("stablehlo.negate", module.inputs.values(), boolean, (2,))
        with pytest.raises(ValueError, match="not valid StableHLO"):
            module.finish({"y": broken})


UNARY = {
    "negate": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "round_nearest_even": np.round,
    "round_nearest_afz": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "log": np.log,
    "log_plus_one": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "sine": np.sin,
    "cosine": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "is_finite": np.isfinite,
    "is_inf": np.isinf,
    "is_nan": np.isnan,
}


@pytest.mark.filterwarnings("ignore")
def test_functions_of_one_number():
    """All of them in one program, edge cases included."""
    x = np.array([0, -0.0, 0.5, -0.5, 1, 1.5, 2.5, -3.25, NAN, INF, -INF], np.float32)
    names = [*UNARY, "erf", "erfc"]
    found = run(lambda v: [hlo.BUILDERS[name](v) for name in names], x)
    for name, result in zip(names, found, strict=True):
        if name in UNARY:
            np.testing.assert_allclose(result, UNARY[name](x), rtol=2e-6, atol=1e-6, err_msg=name)
    erf = [0, 0, 0.5204999, -0.5204999, 0.8427008, 0.9661051, 0.9995930, -0.9999957, NAN, 1, -1]
    np.testing.assert_allclose(found[-2], erf, atol=1e-6)
    np.testing.assert_allclose(found[-1], 1 - np.array(erf), atol=1e-6)


def test_integers_divided_by_zero_give_zero():
    """Also where the compiler folds constants, which dies of a plain division."""
    lhs, rhs = np.array([7, -7, 7], np.int32), np.array([0, 0, 2], np.int32)
    check(hlo.divide, [0, 0, 3], lhs, rhs)
    check(hlo.floor_divide, [0, 0, 3], lhs, rhs)
    check(hlo.modulo, [0, 0, 1], lhs, rhs)
    check(lambda x: x + hlo.constant(5, int32, (3,)) // hlo.constant(0, int32, (3,)), lhs, lhs)
    check(lambda x: x + hlo.remainder(5, hlo.constant(0, int32, (3,))), lhs, lhs)


def test_narrow_floats_are_divided_before_they_are_rounded():
    """A quotient just below an integer would be rounded up to it, and not down again."""
    lhs = np.linspace(1, 9, 999).astype(bfloat16.numpy)
    rhs = lhs[::-1].copy()
    check(hlo.floor_divide, np.floor(lhs.astype(np.float64) / rhs.astype(np.float64)), lhs, rhs)


def test_integers_divide_in_three_ways():
    """Truncated as StableHLO, floored as Python; the remainders follow."""
    a = np.array([7, -7, 7, -7, 6, -6, 0], np.int32)
    b = np.array([2, 2, -2, -2, 3, 3, 5], np.int32)
    found = run(lambda x, y: [x / y, x // y, x % y, hlo.remainder(x, y)], a, b)
    expected = [np.trunc(a / b), a // b, a % b, np.fmod(a, b)]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    check(lambda x, y: x // y, a / 2 // 1.5, a.astype(np.float32) / 2, np.full(7, 1.5, np.float32))
    check(lambda x: x % -2.5, a % -2.5, a.astype(np.float32))
    check(lambda x: (x // 7) % 4, (a.astype(np.uint8) // 7) % 4, a.astype(np.uint8))


def test_operators_take_numbers_on_both_sides_and_broadcast():
    """Numbers take the dtype of the value; shapes follow NumPy."""
    a, b = floats(3, 1), floats(2, 1, 4, seed=1)
    check(lambda x, y: 2 - x * y / 4 + (x - 1), 2 - a * b / 4 + (a - 1), a, b)
    check(lambda x, y: 2.0**x + -y, 2.0**a - b, a, b)
    n = np.arange(-4, 4, dtype=np.int8)
    check(lambda x: (x & 6) | 1 ^ x, (n & 6) | 1 ^ n, n)
    check(lambda x: ~x, ~(n > 0), n > 0)


def test_comparisons_and_choices():
    """NaN compares as IEEE says; unsigned bytes are not negative."""
    a = np.array([1, NAN, 3, -0.0], np.float32)
    b = np.array([2, 2, NAN, 0.0], np.float32)
    names = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
    found = run(lambda x, y: [hlo.BUILDERS[name](x, y) for name in names], a, b)
    for name, result in zip(names, found, strict=True):
        np.testing.assert_array_equal(result, getattr(np, name)(a, b), err_msg=name)
    u = np.array([1, 200], np.uint8)
    check(lambda x: hlo.less(x, 100), [True, False], u)
    check(
        lambda c, x: hlo.select(c, x, 0.5),
        np.where(a > 1, b.reshape(4, 1), 0.5),
        a > 1,
        b.reshape(4, 1),
    )
    check(lambda x: hlo.clamp(-1, x, 1.5), np.clip(a, -1, 1.5), a)
    check(hlo.maximum, np.maximum(a, b), a, b)
    check(hlo.minimum, np.minimum(a, b), a, b)


@pytest.mark.parametrize("source", ALL, ids=str)
def test_conversions_between_all_types(source):
    """Values that every type holds survive; bool means `not zero`."""
    numbers = np.array([0, 1, 3, 6], np.float32)
    x = numbers.astype(source.numpy)
    found = run(lambda v: [hlo.convert(v, target) for target in ALL], x)
    for target, result in zip(ALL, found, strict=True):
        expected = numbers != 0 if boolean in (source, target) else numbers
        np.testing.assert_array_equal(result.astype(np.float32), expected, err_msg=target.name)


def test_conversions_at_the_edges():
    """Floats saturate as integers, NaN is 0, fractions are cut; 0.5 is true."""
    x = np.array([300.7, -300.7, 1.9, -1.9, NAN, 0.5], np.float32)
    found = run(lambda v: [hlo.convert(v, t) for t in (int8, uint8, int4, int32, boolean)], x)
    expected = [
        [127, -128, 1, -1, 0, 0],
        [255, 0, 1, 0, 0, 0],
        [7, -8, 1, -1, 0, 0],
        [300, -300, 1, -1, 0, 0],
        [1, 1, 1, 1, 1, 1],
    ]
    for result, numbers in zip(found, expected, strict=True):
        np.testing.assert_array_equal(result.astype(np.int64), numbers)
    y = np.array([0.3, 448, 480, 2.5, -5], np.float32)
    found = run(lambda v: [hlo.convert(v, float8), hlo.convert(v, float4)], y)
    for result, kind in zip(found, (ml_dtypes.float8_e4m3fn, ml_dtypes.float4_e2m1fn), strict=True):
        np.testing.assert_array_equal(result.astype(np.float32), y.astype(kind).astype(np.float32))
    check(lambda v: hlo.bitcast_convert(v, int32), x.view(np.int32), x)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_constants_of_every_type(dtype):
    """Numbers and arrays keep their values, bit for bit."""
    numbers = np.array([[0, 1, 2], [3, 4, 6]]) > 2 if dtype is boolean else [[0, 1, 2], [3, 4, 6]]
    array = np.array(numbers).astype(dtype.numpy)
    found = run(
        lambda: [
            hlo.constant(array, dtype),
            hlo.constant(1, dtype, (2, 2)),
            hlo.constant(np.zeros((0, 3)) > 1 if dtype is boolean else [], dtype),
            hlo.constant(array[0, 0], dtype) if dtype is float32 else hlo.constant(0, dtype),
        ]
    )
    assert found[0].tobytes() == array.tobytes()
    np.testing.assert_array_equal(found[1].astype(np.float32), np.ones((2, 2)))
    assert found[2].size == 0
    assert found[3].shape == ()


def test_special_constants():
    """Infinity, NaN, minus zero and the largest integers arrive."""
    found = run(
        lambda: [
            hlo.constant([NAN, INF, -INF, -0.0], bfloat16),
            hlo.constant(-0.0, float32),
            hlo.constant(0.0, float32),
            hlo.constant(2**63 - 1, int64),
            hlo.constant(-8, int4),
            hlo.constant(200, uint8),
            hlo.constant(NAN, float16),
            hlo.constant(0.1, float64),
        ]
    )
    np.testing.assert_array_equal(found[0].astype(float), [NAN, INF, -INF, 0])
    assert np.signbit(found[0].astype(float)[3])
    assert (np.signbit(found[1]), np.signbit(found[2])) == (True, False)
    assert [int(found[i]) for i in (3, 4, 5)] == [2**63 - 1, -8, 200]
    assert np.isnan(found[6])
    assert found[7] == 0.1


def test_iota_counts_along_one_dimension():
    """In every numeric type."""
    for dtype in (float32, bfloat16, int8, int64, uint8, int4, float8):
        check(lambda d=dtype: hlo.iota([2, 3], 1, d), [[0, 1, 2], [0, 1, 2]])


def test_shapes_change():
    """Broadcast, reshape, transpose, join, reverse."""
    x = floats(2, 3)
    check(
        lambda v: hlo.broadcast_in_dim(v, [3, 4, 2], [2, 0]),
        np.broadcast_to(x.T[:, None, :], (3, 4, 2)),
        x,
    )
    check(lambda v: hlo.broadcast_to(v, [4, 2, 3]), np.broadcast_to(x, (4, 2, 3)), x)
    a, b = run(lambda v: hlo.broadcast_values(v, 1.0)[::-1], x)
    assert a.shape == b.shape == (2, 3)
    check(lambda v: hlo.reshape(v, [3, 2, 1]), x.reshape(3, 2, 1), x)
    check(
        lambda v: hlo.transpose(hlo.reshape(v, [1, 2, 3]), [2, 0, 1]), x[None].transpose(2, 0, 1), x
    )
    check(
        lambda v: hlo.concatenate([v, v, hlo.constant(np.zeros((2, 0)), float32)], 1),
        np.hstack([x, x]),
        x,
    )
    check(lambda v: hlo.reverse(v, [0, 1]), x[::-1, ::-1], x)
    check(lambda v: hlo.reshape(hlo.transpose(v, []), []), np.float32(3), np.float32(3))
    check(lambda v: hlo.reverse(v, [1]), np.zeros((2, 0)), np.zeros((2, 0), np.float32))


def test_padding_grows_cuts_and_spreads():
    """Interior padding and negative edges."""
    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    spread = np.array([[9, 9, 9, 9, 9], [0, 9, 1, 9, 2], [3, 9, 4, 9, 5]])
    check(lambda v: hlo.pad(v, 9, [1, 0], [0, 0], [0, 1]), spread, x)
    check(lambda v: hlo.pad(v, 9, [0, -1], [0, 0]), x[:, 1:], x)
    check(lambda v: hlo.pad(v, True, [1], [0]), [True, False], np.array([False]))


@pytest.mark.parametrize(
    ("start", "size", "step", "index"),
    [
        ([0, 1], [2, 2], [2, 1], np.s_[0:4:2, 1:3]),
        ([3, 4], [4, 3], [-1, -2], np.s_[::-1, ::-2]),
        ([1, 0], [0, 5], [1, 1], np.s_[1:1, :]),
        ([1, 0], [0, 5], [-1, 1], np.s_[1:1, :]),
        ([2, 4], [1, 1], [-5, 7], np.s_[2:3, 4:5]),
        ([0, 0], [4, 5], [1, 1], np.s_[:, :]),
    ],
)
def test_slices_that_stay_inside(start, size, step, index):
    """Any step, any direction, also empty."""
    x = floats(4, 5)
    check(lambda v: hlo.strided_slice(v, start, size, step), x[index], x)


@pytest.mark.parametrize(
    ("mode", "numpy"),
    [("reflect", "reflect"), ("wrap", "wrap"), ("clamp", "edge"), ("fill", "constant")],
)
def test_slices_that_reach_outside(mode, numpy):
    """As numpy.pad reads outside."""
    x = floats(4, 5)
    check(
        lambda v: hlo.strided_slice(v, [-2, 0], [8, 5], [1, 1], mode),
        np.pad(x, [(2, 2), (0, 0)], mode=numpy),
        x,
    )
    check(
        lambda v: hlo.strided_slice(v, [5, -3], [8, 6], [-1, 2], mode),
        np.pad(x, [(2, 2), (3, 3)], mode=numpy)[::-1, 0:11:2],
        x,
    )
    check(lambda v: hlo.strided_slice(v, [0, 0], [3, 5], [0, 1]), x[[0, 0, 0]], x)
    if mode == "fill":
        check(lambda v: hlo.strided_slice(v, [-1], [2], [1], "fill", 7), [7, 1], np.float32([1]))


def test_reductions():
    """Kinds, several dimensions, kept dimensions, empty ones."""
    x = floats(2, 3, 4)
    check(lambda v: hlo.reduce(v, [0, 2], "sum"), x.sum((0, 2)), x)
    check(lambda v: hlo.reduce(v, [1], "maximum", keepdim=True), x.max(1, keepdims=True), x)
    check(lambda v: hlo.reduce(v, [], "sum"), x, x)
    check(lambda v: hlo.reduce(v, [2, 1, 0], "product"), x.prod(), x)
    empty = np.zeros((0, 2), np.float32)
    check(lambda v: hlo.reduce(v, [0], "maximum"), [-INF, -INF], empty)
    check(lambda v: hlo.reduce(v, [0], "sum"), [0, 0], empty)
    b = np.array([[True, False], [True, True]])
    check(lambda v: hlo.reduce(v, [0], "and"), b.all(0), b)
    check(lambda v: hlo.reduce(v, [1], "or"), b.any(1), b)
    n = np.array([[-3, 5], [7, 6]], np.int8)
    check(lambda v: hlo.reduce(v, [0], "minimum"), n.min(0), n)
    check(lambda v: hlo.reduce(v, [1], "and"), [-3 & 5, 7 & 6], n)
    nan = np.array([1, NAN, 3], np.float32)
    check(lambda v: hlo.reduce(v, [0], "maximum"), NAN, nan)


@pytest.mark.parametrize("dtype", [float16, bfloat16], ids=str)
def test_narrow_floats_are_summed_in_float32(dtype):
    """4096 ones are 4096; a bfloat16 accumulator would stop at 256."""
    ones = np.ones(4096, dtype.numpy)
    check(lambda v: hlo.reduce(v, [0], "sum"), 4096, ones)
    check(lambda v: hlo.reshape(v, [1, 4096]) @ hlo.reshape(v, [4096, 1]), [[4096]], ones)
    check(lambda v: v @ v, 4096, ones)
    check(lambda v: hlo.cumulative(v, "sum", 0), np.arange(1, 4097).astype(dtype.numpy), ones)
    check(lambda v: hlo.window_reduce(v, "sum", [4096]), [4096], ones)


def test_positions_of_the_best():
    """The first of equals; NaN wins, as in NumPy."""
    x = np.array([[1, 3, 3, 0], [2, NAN, NAN, 5], [-INF, -INF, -INF, -INF]], np.float32)
    check(lambda v: hlo.argmax(v, 1), x.argmax(1), x)
    check(lambda v: hlo.argmin(v, 1, keepdim=True), x.argmin(1, keepdims=True), x)
    n = np.array([3, -1, -1], np.int64)
    check(lambda v: hlo.argmin(v, 0), 1, n)


def test_windows():
    """Pooling with strides, padding and dilation; padding is never seen."""
    x = -np.abs(floats(1, 2, 6, 5)) - 1
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (0, 1)], constant_values=-INF)
    view = np.lib.stride_tricks.sliding_window_view(padded, (3, 2), (2, 3))[:, :, ::2, ::2]
    arguments = ([3, 2], [2, 2], [(1, 1), (0, 1)])
    check(lambda v: hlo.window_reduce(v, "maximum", *arguments), view.max((4, 5)), x)
    zeros = np.where(np.isinf(view), 0, view)
    check(lambda v: hlo.window_reduce(v, "sum", *arguments), zeros.sum((4, 5)), x)
    counts = (~np.isinf(view[0, 0])).sum((2, 3))
    check(lambda: hlo.window_counts([6, 5], [3, 2], float32, [2, 2], [(1, 1), (0, 1)]), counts)
    check(
        lambda v: hlo.window_reduce(v, "maximum", [2, 2], dilation=[3, 2]),
        np.maximum.reduce([x[..., :3, :3], x[..., 3:, :3], x[..., :3, 2:], x[..., 3:, 2:]]),
        x,
    )


def test_running_reductions():
    """Forward, backward, exclusive."""
    x = floats(3, 7)
    check(lambda v: hlo.cumulative(v, "sum", 1), x.cumsum(1), x)
    check(lambda v: hlo.cumulative(v, "maximum", 0), np.maximum.accumulate(x, 0), x)
    check(lambda v: hlo.cumulative(v, "sum", 1, reverse=True), x[:, ::-1].cumsum(1)[:, ::-1], x)
    check(lambda v: hlo.cumulative(v, "sum", 1, exclusive=True), x.cumsum(1) - x, x)
    check(lambda v: hlo.cumulative(v, "product", 0), np.cumprod([2, 3, 4]), np.int32([2, 3, 4]))
    check(lambda v: hlo.cumulative(v, "sum", 0), np.zeros(0), np.zeros(0, np.float32))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 4)),
        ((2, 3), (3, 4)),
        ((5, 2, 3), (3, 4)),
        ((5, 2, 3), (1, 3, 4)),
        ((2, 3), (5, 3, 4)),
        ((3,), (5, 3, 4)),
        ((5, 2, 3), (3,)),
        ((6, 1, 2, 3), (5, 3, 4)),
        ((2, 0), (0, 4)),
        ((1, 2, 3), (1, 1, 3, 4)),
    ],
)
def test_matmul_is_numpys(left, right):
    """All ranks, vectors, broadcast batches, nothing to sum."""
    a, b = floats(*left), floats(*right, seed=1)
    check(lambda x, y: x @ y, a @ b, a, b, rtol=1e-5)


def test_dot_general_puts_batch_first():
    """Then what is left of each operand; integers too."""
    a = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    b = np.arange(40, dtype=np.int32).reshape(4, 5, 2)
    check(
        lambda x, y: hlo.dot_general(x, y, ([2], [0]), ([0], [2])),
        np.einsum("bmk,knb->bmn", a, b),
        a,
        b,
    )


def test_einsum_is_numpys():
    """One, two and three inputs, sums, transposes, size one."""
    a, b, c = floats(2, 3, 4), floats(2, 4, 5, seed=1), floats(5, 1, seed=2)
    for equation, inputs in [
        ("bij,bjk->bik", [a, b]),
        ("bij->jb", [a]),
        ("bij->", [a]),
        ("bij,bjk,kl->li", [a, b, c]),
        ("bij,bij->b", [a, a]),
        ("i,j->ji", [a[0, :, 0], c[:, 0]]),
        ("bij, bjk -> kb", [a, b]),
        ("iij->ji", [floats(3, 3, 2)]),
    ]:
        check(
            lambda *xs, e=equation: hlo.einsum(xs, e),
            np.einsum(equation, *inputs),
            *inputs,
            rtol=1e-5,
        )


def convolved(x, w, stride, padding, spread, gaps, groups):
    """Convolution by hand."""
    n, c, *sizes = x.shape
    wide = np.zeros((n, c, *[(d - 1) * b + 1 for d, b in zip(sizes, spread, strict=True)]))
    wide[(..., *[slice(None, None, b) for b in spread])] = x
    low = [(max(a, 0), max(b, 0)) for a, b in padding]
    wide = np.pad(wide, [(0, 0), (0, 0), *low])
    cut = [
        slice(max(-a, 0), d - max(-b, 0)) for (a, b), d in zip(padding, wide.shape[2:], strict=True)
    ]
    wide = wide[(..., *cut)]
    reach = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], gaps, strict=True)]
    axes = tuple(range(2, x.ndim))
    view = np.lib.stride_tricks.sliding_window_view(wide, reach, axes)
    view = view[(..., *[slice(None, None, s) for s in stride], *[slice(None)] * len(reach))]
    count = len(reach)
    view = view[(..., *[slice(None, None, d) for d in gaps])]
    view = view.reshape(n, groups, c // groups, *view.shape[2:])
    filters = w.reshape(groups, -1, *w.shape[1:])
    names = "xyz"[:count]
    kernels = "uvw"[:count]
    found = np.einsum(f"ngc{names}{kernels},gmc{kernels}->ngm{names}", view, filters)
    return found.reshape(n, -1, *found.shape[3:])


@pytest.mark.parametrize(
    ("sizes", "kernel", "stride", "padding", "spread", "gaps", "groups"),
    [
        ([7], [3], [2], [(1, 0)], [1], [1], 1),
        ([6, 5], [3, 2], [1, 2], [(1, 2), (0, 1)], [1, 1], [2, 1], 2),
        ([5, 4], [3, 2], [1, 1], [(2, 2), (1, 1)], [2, 3], [1, 1], 1),
        ([6, 6], [1, 1], [1, 1], [(-1, 0), (0, -2)], [1, 1], [1, 1], 4),
        ([4, 3, 5], [2, 2, 3], [1, 1, 2], [(0, 0), (1, 0), (1, 1)], [1, 1, 1], [1, 1, 1], 2),
    ],
)
def test_convolutions(sizes, kernel, stride, padding, spread, gaps, groups):
    """One to three dimensions, groups, both dilations, negative padding."""
    x, w = floats(2, 4, *sizes), floats(8, 4 // groups, *kernel, seed=1)
    expected = convolved(x, w, stride, padding, spread, gaps, groups)
    check(
        lambda a, b: hlo.convolution(
            a,
            b,
            window_strides=stride,
            padding=padding,
            lhs_dilation=spread,
            rhs_dilation=gaps,
            feature_group_count=groups,
        ),
        expected,
        x,
        w,
        rtol=1e-4,
    )


def test_elements_are_taken_by_index():
    """As numpy.take and take_along_axis; negative ones count from the end."""
    x = floats(4, 3, 2)
    i = np.array([[0, -1, 2], [1, 1, -3]], np.int32)
    for dim in range(3):
        safe = i % x.shape[dim] - x.shape[dim]
        check(lambda v, k, d=dim: hlo.take(v, k, d), x.take(safe, dim), x, safe)
    check(lambda v, k: hlo.take(v, k, 0), x[-1], x, np.int64(-1))
    check(lambda v, k: hlo.take(v, k, 0), x[[3]], x, np.int32([77]))
    check(lambda v, k: hlo.take(v, k, 1), x[:, :0], x, np.zeros(0, np.int32))
    along = np.array([[[0, 1], [-1, 0]]], np.int32).repeat(4, 0)
    check(lambda v, k: hlo.take_along(v, k, 1), np.take_along_axis(x, along, 1), x, along)
    check(lambda v, k: hlo.take_along(v, k, 1), np.take_along_axis(x, along, 1), x, along[:1])
    check(lambda v, k: hlo.take(v, k, 0), [True, False], np.array([False, True]), np.uint8([1, 0]))


def test_places_are_sorted_with_their_elements():
    """Equal elements keep their order, and NaN comes last in either direction."""
    x = np.array([[2, np.nan, 1, 2], [0, -0.0, np.inf, -np.inf]], np.float32)
    up, down = [[2, 0, 3, 1], [3, 0, 1, 2]], [[0, 3, 2, 1], [2, 0, 1, 3]]
    check(lambda v: hlo.sort_places(v, 1)[1], np.array(up), x)
    check(lambda v: hlo.sort_places(v, 1, descending=True)[1], np.array(down), x)
    check(lambda v: hlo.sort_places(v, 1)[0], np.take_along_axis(x, np.array(up), 1), x)
    check(lambda v: hlo.sort_places(v, 0)[1], np.zeros((0, 2)), np.zeros((0, 2), np.int64))


def test_vectors_of_indices_lead_to_elements_and_parts():
    """As NumPy's advanced indexing, for reading and for writing; what is outside is not written."""
    x = floats(4, 3, 2)
    pairs = np.array([[[0, 2], [3, 1]]], np.int64)
    check(hlo.gather_nd, x[pairs[..., 0], pairs[..., 1]], x, pairs)
    check(hlo.gather_nd, x[[[2]], [[0]], [[1]]], x, np.int32([[[2, 0, 1]]]))
    check(hlo.gather_nd, x[:, 0][:0], x, np.zeros((0, 2), np.int32))
    check(hlo.gather_nd, [False, True], np.array([True, False]), np.int32([[1], [0]]))
    new = floats(1, 2, 2, seed=1)
    wanted = x.copy()
    wanted[pairs[..., 0], pairs[..., 1]] = new
    check(hlo.scatter_nd, wanted, x, pairs, new)
    check(hlo.scatter_nd, x, x, np.int32([[9]]), np.zeros((1, 3, 2), np.float32))
    check(hlo.scatter_nd, x, x, np.zeros((0, 1), np.int32), np.zeros((0, 3, 2), np.float32))


def test_elements_are_put_along_a_dimension():
    """As NumPy's put_along_axis, also where there are fewer updates than places."""
    x, new = floats(3, 4), floats(2, 2, seed=1)
    places = np.array([[0, -1], [2, 1]], np.int32)
    wanted = x.copy()
    np.put_along_axis(wanted[:2], places, new, 1)
    check(lambda v, k, u: hlo.scatter_along(v, k, u, 1), wanted, x, places, new)
    wanted = x.copy()
    wanted[[2, 0], [0, 1]] = new[0]
    rows = np.int64([[2, 0]])
    check(lambda v, k, u: hlo.scatter_along(v, k, u, 0), wanted, x, rows, new[:1])


def test_parts_at_computed_places():
    """Read and written, moved inside where they would reach out."""
    x, i = floats(4, 5), np.int32(2)
    check(lambda v, k: hlo.dynamic_slice(v, [k, 1], [2, 3]), x[2:4, 1:4], x, i)
    check(lambda v, k: hlo.dynamic_slice(v, [k * 9, 1], [2, 3]), x[2:4, 1:4], x, i)
    expected = x.copy()
    expected[2:4, :1] = 0
    check(
        lambda v, k: hlo.dynamic_update_slice(v, hlo.constant(0, float32, [2, 1]), [k, 0]),
        expected,
        x,
        i,
    )
    cache, update, position = floats(3, 2, 6, 2), floats(3, 2, 2, 2, seed=1), np.int32([0, 4, 3])
    expected = cache.copy()
    for b, p in enumerate(position):
        expected[b, :, p : p + 2] = update[b]
    check(hlo.update_rows, expected, cache, update, position)


def test_order():
    """Stable, NaN last in both directions."""
    x = np.array([[3, 1, NAN, 2], [1, INF, 1, -INF]], np.float32)
    check(lambda v: hlo.sort(v, 1), np.sort(x, 1), x)
    check(lambda v: hlo.sort(v, 1, descending=True), [[3, 2, 1, NAN], [INF, 1, 1, -INF]], x)
    values, indices = run(lambda v: hlo.top_k(v, 3, 1), x)
    np.testing.assert_array_equal(values, [[3, 2, 1], [INF, 1, 1]])
    np.testing.assert_array_equal(indices, [[0, 3, 1], [1, 0, 2]])
    _, smallest = run(lambda v: hlo.top_k(v, 2, 0, largest=False), np.int64([[5, 2], [5, 1]]))
    np.testing.assert_array_equal(smallest, [[0, 1], [1, 0]])
    values, indices = run(lambda v: hlo.top_k(v, 4, 1), x)
    np.testing.assert_array_equal(values, [[3, 2, 1, NAN], [INF, 1, 1, -INF]])
    np.testing.assert_array_equal(indices, [[0, 3, 1, 2], [1, 0, 2, 3]])
    _, indices = run(lambda v: hlo.top_k(v, 4, 1, largest=False), x)
    np.testing.assert_array_equal(indices, [[1, 3, 0, 2], [3, 0, 2, 1]])


@pytest.mark.parametrize("dtype", [float16, bfloat16, int8, uint8, int32, int64, float64], ids=str)
def test_top_k_of_every_type(dtype):
    """Many equal ones, another dimension, k of zero."""
    x = np.random.default_rng(0).integers(0, 9, (50, 2, 3)).astype(dtype.numpy)
    order = np.argsort(-x.astype(int), axis=0, kind="stable")[:20]
    values, indices, none = run(lambda v: [*hlo.top_k(v, 20, 0), hlo.top_k(v, 0, 0)[0]], x)
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, 0))
    assert none.shape == (0, 2, 3)


def test_branches_and_loops():
    """Regions are functions; a branch sees values from outside."""
    x = np.float32([1, 2])

    def build(v):
        big = hlo.less(hlo.reduce(v, [0], "sum"), 10)
        (doubled,) = hlo.while_(
            [v], lambda s: hlo.less(hlo.reduce(s, [0], "sum"), 10), lambda s: s * 2.0
        )
        return hlo.if_(big, lambda a: [a * 2.0, v + 2.0], lambda a: [v, a], [doubled])

    first, second = run(build, x)
    np.testing.assert_array_equal(first, [8, 16])
    np.testing.assert_array_equal(second, [3, 4])


MISUSES = [
    (lambda x: x + hlo.constant(1, int32), "one dtype"),
    (lambda x: x + hlo.constant([1.0] * 5, float32), "do not broadcast"),
    (lambda x: hlo.exponential(hlo.constant(1, int32)), "takes float"),
    (lambda x: hlo.constant(1.5, int32), "not a value of type int32"),
    (lambda x: hlo.constant(300, int8), "holds -128 to 127"),
    (lambda x: hlo.constant([1.5], int32), "do not fit"),
    (lambda x: hlo.reshape(x, [7]), "does not fit"),
    (lambda x: hlo.transpose(x, [0, 0]), "does not permute"),
    (lambda x: hlo.concatenate([x, x], 2), "do not join"),
    (lambda x: hlo.reduce(x, [2], "sum"), "do not fit shape"),
    (lambda x: hlo.reduce(x, [0], "mean"), "none of sum"),
    (lambda x: hlo.reduce(hlo.is_nan(x), [0], "sum"), "bools"),
    (lambda x: hlo.strided_slice(x, [0, 0], [3, 3], [1, 1]), "does not lie in"),
    (lambda x: hlo.strided_slice(x, [0, 0], [2, 3], [1, 1], "mirror"), "none of strict"),
    (lambda x: hlo.slice(x, [0, 2], [2, 1]), "does not lie in"),
    (lambda x: x @ x, "do not multiply"),
    (lambda x: hlo.einsum([x], "i->i"), "does not name"),
    (lambda x: hlo.einsum([x], "ii->i"), "no diagonal"),
    (lambda x: hlo.einsum([x, x], "ij,jk->ik"), "`j` is both"),
    (
        lambda x: hlo.convolution(hlo.reshape(x, [1, 2, 3]), hlo.reshape(x, [2, 1, 3])),
        "do not fit the channels",
    ),
    (lambda x: hlo.take(x, x, 0), "must be integers"),
    (lambda x: hlo.gather_nd(x, hlo.constant([[0, 0, 0]], int32)), "does not lead into"),
    (lambda x: hlo.scatter_nd(x, hlo.constant([[0]], int32), x), "does not fit"),
    (lambda x: hlo.scatter_along(x, hlo.constant([0], int32), x, 0), "cannot be put"),
    (lambda x: hlo.top_k(x, 4, 1), "no 4 elements"),
    (lambda x: hlo.select(x, x, x), "must be bool"),
    (lambda x: hlo.pad(x, 0, [-3, 0], [0, 0]), "too much"),
    (lambda x: hlo.iota([2], 1, int32), "outside of shape"),
    (lambda x: hlo.bitcast_convert(x, int8), "differ in width"),
    (lambda x: hlo.while_([x], lambda s: s, lambda s: s), "must be one bool"),
    (
        lambda x: hlo.if_(
            hlo.constant(True, boolean), lambda: x, lambda: x[0:1] if 0 else hlo.reshape(x, [6]), []
        ),
        "branches differ",
    ),
    (lambda x: hlo.window_reduce(x, "maximum", [1, 1, 1]), "does not slide"),
    (lambda x: hlo.dynamic_slice(x, [0], [1, 1]), "do not fit shape"),
]


@pytest.mark.parametrize(("build", "message"), MISUSES, ids=[m for _, m in MISUSES])
def test_misuse_is_a_value_error(build, message):
    """With the shapes in it, before any compiler is asked."""
    module = hlo.HloModule({}, {"x": (float32, (2, 3))})
    with module, pytest.raises(ValueError, match=message):
        build(module.inputs["x"])


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_values_of_every_type_can_be_moved(dtype):
    """Shapes, slices, indices and choices know all twelve types."""
    a = np.random.default_rng(0).integers(0, 2 if dtype is boolean else 5, (2, 3, 4))
    i = np.array([[2, 0], [1, 1]])
    moves = [
        (lambda v: hlo.reshape(v, [8, 3]), a.reshape(8, 3)),
        (lambda v: hlo.transpose(v, [2, 0, 1]), a.transpose(2, 0, 1)),
        (lambda v: hlo.concatenate([v, v], 1), np.concatenate([a, a], 1)),
        (lambda v: hlo.strided_slice(v, [1, 2, 0], [1, 2, 2], [1, -2, 2]), a[1:2, 2::-2, 0:4:2]),
        (lambda v: hlo.pad(v, 0, [1, 0, 0], [0, 1, 0]), np.pad(a, [(1, 0), (0, 1), (0, 0)])),
        (lambda v: hlo.take(v, hlo.constant(i, int32), 1), a.take(i, 1)),
        (lambda v: hlo.dynamic_slice(v, [0, hlo.constant(1, int32), 0], [2, 2, 4]), a[:, 1:3]),
        (lambda v: hlo.select(hlo.equal(v, 0), v, 1), np.where(a == 0, 0, 1)),
        (lambda v: hlo.broadcast_to(v, [2, 2, 3, 4]), np.broadcast_to(a, (2, 2, 3, 4))),
        (lambda v: hlo.reduce(v, [2], "maximum"), a.max(2)),
        (lambda v: hlo.cumulative(v, "maximum", 1), np.maximum.accumulate(a, 1)),
        (lambda v: hlo.sort(v, 1), np.sort(a, 1)),
        (lambda v: hlo.argmax(v, 1), a.argmax(1)),
    ]
    found = run(lambda v: [move(v) for move, _ in moves], a.astype(dtype.numpy))
    for result, (_, expected) in zip(found, moves, strict=True):
        np.testing.assert_array_equal(result.astype(np.int64), expected)
