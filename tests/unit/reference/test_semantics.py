"""The named helpers of references, each against a computation of its own, and their tables."""

import inspect
import itertools
import math
import re

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from tripybuild.language.vocabulary import NUMPY
from tripybuild.reference.numerics import arrays, control, draws, numpy_guard, sampling
from tripybuild.schema.snippets import vocabularies
from tripybuild.types import dtypes
from tripybuild.types.dtypes import BY_NAME

FLOATS = [each for each in BY_NAME.values() if each.kind == "float"]
INTEGERS = [each for each in BY_NAME.values() if each.kind == "integer"]
int8s = st.integers(-128, 127)


def values_of(type):
    """All finite values of a small float type, as Python floats."""
    bits = {"float8": np.uint8, "float16": np.uint16, "bfloat16": np.uint16}
    if type.name == "float4":
        return [s * v for s in (1, -1) for v in (0, 0.5, 1, 1.5, 2, 3, 4, 6)]
    size = bits[type.name]
    every = np.arange(2 ** (8 * size().itemsize)).astype(size).view(type.numpy)
    with np.errstate(invalid="ignore"):
        every = every.astype(np.float64)
    return sorted(set(every[np.isfinite(every)].tolist()))


# --- dtypes ---


@pytest.mark.parametrize("type", BY_NAME.values(), ids=str)
def test_working_arrays_are_wide(type):
    """Floats in float64; integers and booleans in a dtype that NumPy computes with."""
    array = np.array([0, 1, 1]).astype(type.numpy)
    wide = arrays.widen(array)

    assert wide.dtype == np.float64 if type.kind == "float" else wide.dtype.kind in "iub"
    assert wide.tolist() == [0, 1, 1]


@pytest.mark.parametrize("name", ["float8", "float4", "float16", "bfloat16"])
@pytest.mark.parametrize("function", [arrays.round_cast, lambda x, t: arrays.round_to(t, x)])
def test_rounding_is_to_the_nearest_and_to_even(name, function):
    """Once: also just beside the middle of two values, where two roundings would go wrong."""
    type = BY_NAME[name]
    every = np.array(sorted(set(values_of(type))))[:: 1 if len(values_of(type)) < 300 else 61]
    low = every[:-1]
    values = np.array(sorted(set(values_of(type))))
    high = values[np.searchsorted(values, low) + 1]
    middle, gap = (low + high) / 2, high - low
    for share in (1e-6, 2.0**-26, 0.3):
        for given_values, wanted in ((middle - gap * share, low), (middle + gap * share, high)):
            got = np.asarray(function(given_values, type)).astype(np.float64)
            np.testing.assert_array_equal(got, wanted)
    even = np.asarray(function(middle, type)).astype(np.float64)
    assert set(even) <= set(low) | set(high)
    units = np.arange(-7, 7) + 0.5
    if name != "float4":  # all of these have integers up to eight
        got = np.asarray(function(units * values[values > 0][0], type)).astype(np.float64)
        np.testing.assert_array_equal(got, np.rint(units) * values[values > 0][0])


@given(st.floats(allow_nan=False) | st.integers(-(2**62), 2**62).map(float))
def test_floats_to_integers_are_cut_off_and_kept_in_range(value):
    """As engines saturate."""
    for type in INTEGERS:
        low, high = int(type.lowest), int(type.highest)
        wanted = low if value < low else high if value > high else math.trunc(value)

        got = arrays.convert(np.array([value]), type)

        assert got.dtype == type.numpy
        assert int(got[0]) == min(wanted, high)


@pytest.mark.parametrize("type", INTEGERS, ids=str)
def test_not_a_number_is_zero_as_an_integer(type):
    """There is no other."""
    assert int(arrays.convert(np.array([math.nan]), type)[0]) == 0


@given(st.integers(-(2**40), 2**40))
def test_integers_wrap(value):
    """Two's complement."""
    for type in (dtypes.int8, dtypes.uint8, dtypes.int32):
        bits = 8 * type.numpy.itemsize
        wanted = value % 2**bits
        if type is not dtypes.uint8 and wanted >= 2 ** (bits - 1):
            wanted -= 2**bits
        assert int(arrays.convert(np.array([value]), type)[0]) == wanted


def test_anything_but_zero_is_true():
    """Also what is not a number."""
    got = arrays.convert(np.array([0.0, -0.0, 0.1, math.nan, math.inf]), dtypes.boolean)

    assert got.tolist() == [False, False, True, True, True]
    assert arrays.convert(np.array([True, False]), dtypes.float16).tolist() == [1.0, 0.0]


def test_limits_of_dtypes():
    """What the largest and the least finite values are."""
    assert arrays.highest(dtypes.float8) == 448
    assert arrays.lowest(dtypes.float4) == -6
    assert arrays.lowest(dtypes.int4) == -8
    assert arrays.highest(dtypes.bfloat16) == float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)


def test_halves_round_to_even():
    """Integers are what `round_to` gives for integer types."""
    given_values = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.6])
    wanted = [float(round(v)) for v in given_values]

    assert arrays.round_to(dtypes.int8, given_values).tolist() == wanted


# --- numbers ---


@given(st.floats(-2.5, 2.5))
def test_erf_is_its_series(value):
    """Summed exactly enough: the terms alternate."""
    terms = (
        (-1) ** n * value ** (2 * n + 1) / (math.factorial(n) * (2 * n + 1)) for n in range(150)
    )
    series = 2 / math.sqrt(math.pi) * math.fsum(terms)

    got = arrays.erf(np.array([value]))[0]

    assert abs(got - series) < 1e-11
    assert arrays.erf(np.array([-7.0, 7.0])).tolist() == [-1, 1]
    assert arrays.erf(np.zeros((0, 2))).shape == (0, 2)


# --- windows and grids ---


@given(
    size=st.integers(1, 9), window=st.integers(1, 4), stride=st.integers(1, 3),
    dilation=st.integers(1, 3),
)  # fmt: skip
def test_windows_are_where_loops_find_them(size, window, stride, dilation):
    """One element after the other; `unfold` keeps batch and channels."""
    if dilation * (window - 1) + 1 > size:
        return
    x = np.arange(2 * 3 * size * 5).reshape(2, 3, size, 5)
    starts = range(0, size - dilation * (window - 1), stride)
    wanted = np.array(
        [[[x[:, :, s + t * dilation, c] for t in range(window)] for c in range(5)] for s in starts]
    )  # [starts, 5, window, 2, 3]
    wanted = wanted.transpose(3, 4, 0, 1, 2)[..., None]

    got = arrays.unfold(x, [window, 1], [stride, 1], [dilation, 1])

    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(
        arrays.sliding_windows(x[0, 0, :, 0], [window], [stride], [dilation]),
        wanted[0, 0, :, 0, :, 0],
    )


@pytest.mark.parametrize("mode", ["clamp", "wrap", "reflect"])
def test_grids_pick_elements(mode):
    """Beyond the ends, by the rule of `np.pad`."""
    x = np.arange(12).reshape(3, 4)
    rule = {"clamp": "edge", "wrap": "wrap", "reflect": "reflect"}[mode]
    padded = np.pad(x, 2, mode=rule)
    for start, step in itertools.product((-2, -1, 0, 1), (1, 2, -1)):
        size = [len(range(start, 5, step)) if step > 0 else start + 3, 6]
        grid = arrays.index_grid([start, -1], size, [step, 1])
        rows = [start + i * step for i in range(size[0])]
        wanted = padded[[r + 2 for r in rows]][:, [c + 2 for c in range(-1, 5)]]

        np.testing.assert_array_equal(arrays.pick(x, grid, mode), wanted)
        inside = [[0 <= r < 3 and 0 <= c < 4 for c in range(-1, 5)] for r in rows]
        np.testing.assert_array_equal(
            np.broadcast_to(arrays.in_range(grid, x.shape), wanted.shape), inside
        )


@pytest.mark.parametrize("step", [-5, -2, -1, 1, 2, 5])
def test_a_strided_slice_picks_what_its_grid_does(step):
    """From each start, as many elements as there are."""
    x = np.arange(12).reshape(4, 3)
    for start in range(4):
        most = len(range(start, 4 if step > 0 else -1, step))
        for count in range(most + 1):
            slices = [start, 2], [count, 3], [step, -1]
            wanted = arrays.pick(x, arrays.index_grid(*slices))
            np.testing.assert_array_equal(arrays.strided_slice(x, *slices), wanted)
    assert arrays.strided_slice(np.float64(3), [], [], []) == 3


def test_grids_of_nothing():
    """Empty tensors and scalars."""
    grid = arrays.index_grid([0, 0], [2, 0], [1, 1])

    assert arrays.pick(np.zeros((3, 0)), grid).shape == (2, 0)
    assert arrays.pick(np.float64(3), arrays.index_grid([], [], [])) == 3
    assert arrays.in_range((), ()) == np.True_


# --- the others ---


def test_scales_are_spread():
    """One for all, one for each channel, one for each block of rows."""
    shape = (4, 6)
    x = np.arange(24.0).reshape(shape)
    channel, block = np.array([1.0, 2, 3, 4, 5, 6]), np.arange(12.0).reshape(2, 6)

    assert x * arrays.spread_scale(np.array(3.0), shape, None) == pytest.approx(x * 3)
    got = x * arrays.spread_scale(channel, shape, 1)
    assert all(got[r, c] == x[r, c] * channel[c] for r in range(4) for c in range(6))
    got = x * arrays.spread_scale(block, shape, None)
    assert all(got[r, c] == x[r, c] * block[r // 2, c] for r in range(4) for c in range(6))


def test_elements_are_combined_with_all_before_them():
    """From either end, with and without the element itself; integers keep their type."""
    x = np.array([[2, 3, 4], [5, -1, 6]], np.int32)
    got = arrays.cumulative_reduce(x, "product", 1, exclusive=True)
    assert (got.dtype, got.tolist()) == (np.int32, [[1, 2, 6], [1, 5, -5]])
    assert arrays.cumulative_reduce(x, "sum", 0, reverse=True).tolist() == [[7, 2, 10], [5, -1, 6]]
    got = arrays.cumulative_reduce(x, "sum", 1, reverse=True, exclusive=True)
    assert got.tolist() == [[7, 4, 0], [5, 6, 0]]
    assert arrays.cumulative_reduce(x, "maximum", 1).tolist() == [[2, 3, 4], [5, 5, 6]]
    found = arrays.cumulative_reduce(np.array([1.0, np.nan, 0.0]), "minimum", 0)
    assert np.array_equal(found, [1, np.nan, np.nan], equal_nan=True)
    assert arrays.cumulative_reduce(np.zeros((0, 2)), "sum", 0, exclusive=True).shape == (0, 2)


def test_what_is_scattered_leaves_its_input_alone():
    """Vectors of positions, and positions along one dimension; the last of several stays."""
    x = np.arange(6.0).reshape(2, 3)
    vectors = np.array([[1, 0], [0, 2], [1, 0]])
    got = arrays.scatter_nd(x, vectors, np.array([7.0, 8.0, 9.0]))
    assert got.tolist() == [[0, 1, 8], [9, 4, 5]]
    got = arrays.scatter_nd(x, np.array([[1]]), np.array([[7.0, 8.0, 9.0]]))
    assert got.tolist() == [[0, 1, 2], [7, 8, 9]]
    got = arrays.scatter_along(x, np.array([[2, 0]]), np.array([[7.0, 8.0]]), 1)
    assert got.tolist() == [[8, 1, 7], [3, 4, 5]]
    got = arrays.scatter_along(x, np.array([[1, 0]]), np.array([[7.0, 8.0]]), 0)
    assert got.tolist() == [[0, 8, 2], [7, 4, 5]]
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_rows_are_written_to_a_copy():
    """Each sequence of a batch has a position of its own."""
    cache = np.zeros((2, 1, 5, 3))
    update = np.ones((2, 1, 2, 3))

    got = arrays.write_rows(cache, update, np.array([0, 3]))

    assert got[:, 0, :, 0].tolist() == [[1, 1, 0, 0, 0], [0, 0, 0, 1, 1]]
    assert not cache.any()


def test_a_loop_runs_while_its_condition_holds():
    """Perhaps never, and not for ever."""

    def less(value, _):
        return [value < 5]

    def twice(value, count):
        return [2 * value, count + 1]

    assert control.run_while(less, twice, [np.int32(1), np.int32(0)]) == [8, 3]
    assert control.run_while(less, twice, [np.int32(7), np.int32(0)]) == [7, 0]
    with pytest.raises(control.EndlessError, match="1,000,000 steps"):
        control.run_while(less, lambda value, count: [value, count], [np.int32(1), np.int32(0)])


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_threads_some_values_and_collects_others(reverse):
    """Against sums that NumPy accumulates; no rows give nothing."""
    rows = np.arange(6.0).reshape(3, 2)

    def body(total, row):
        return [total + row, 10 * (total + row)]

    last, all_ = control.run_scan(body, [np.ones(2)], [rows], [(3, 2)], reverse)
    none, nothing = control.run_scan(body, [np.ones(2)], [rows[:0]], [(0, 2)], reverse)

    sums = np.cumsum(rows[::-1], 0)[::-1] if reverse else np.cumsum(rows, 0)
    assert last.tolist() == (1 + rows.sum(0)).tolist()
    assert all_.tolist() == (10 * (1 + sums)).tolist()
    assert (none.tolist(), nothing.shape) == ([1, 1], (0, 2))


# --- tables ---


def test_the_vocabulary_is_what_the_tables_say():
    """Names without a meaning, and meanings without a name, are bugs."""
    assert set(vars(numpy_guard.numpy)) == NUMPY
    homes = {home.__name__.rpartition(".")[2]: home for home in (arrays, control, draws, sampling)}
    assert set(vocabularies.HELPERS) == set(homes)
    for module, names in vocabularies.HELPERS.items():
        assert all(callable(getattr(homes[module], name)) for name in names)
    helpers = {
        name
        for home in homes.values()
        for name, value in vars(home).items()
        if inspect.isfunction(value) and value.__module__ == home.__name__ and name[0] != "_"
    }
    own = {"widen", "round_cast", "round_cast_quiet", "kernel", "threefry"}
    assert helpers - own == vocabularies.REFERENCE


@pytest.mark.parametrize("name", sorted(NUMPY))
def test_no_function_of_numpy_reaches_outside(name):
    """Neither files, nor processes, nor code: nothing in its source says so."""
    value = getattr(np, name)
    assert isinstance(value, float | np.ufunc) or value.__module__.startswith("numpy")
    if not callable(value):
        return
    try:
        source = inspect.getsource(inspect.unwrap(value))
    except TypeError:  # written in C: a ufunc, or one of these
        assert isinstance(value, np.ufunc) or name in {
            *("arange", "concatenate", "where", "zeros", "c_einsum", "can_cast"),
        }
        return
    code = re.sub(r'"""(.|\n)*?"""', "", source)
    assert not re.search(r"\b(open|fromfile|tofile|exec|eval|pickle|system|Popen)\b", code)


@pytest.mark.parametrize("kind", [np.ndarray, np.generic])
def test_no_method_of_an_array_reaches_outside(kind):
    """Those that write files, give pointers or change the array are not in the table."""
    harmful = {
        *("tofile", "dump", "dumps", "setflags", "setfield", "resize", "sort", "partition"),
        *(
            "ctypes",
            "data",
            "base",
            "view",
            "itemset",
            "fill",
            "put",
            "byteswap",
            "flat",
            "tobytes",
        ),
    }
    words = vocabularies.ARRAY_METHODS | vocabularies.ARRAY_ATTRIBUTES

    assert not words & harmful
    assert all(hasattr(kind, word) for word in words)
