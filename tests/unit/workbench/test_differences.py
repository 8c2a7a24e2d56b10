"""Differences of arrays, against NumPy by hand."""

import ml_dtypes
import numpy as np
import pytest

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.schema.files import ToleranceEntry
from tripybuild.workbench.differences import compare_arrays, match_outputs, model_tolerance

NEAR = ToleranceEntry(relative=1e-5)


def test_finite_elements_are_measured():
    one, other = np.float32([[1, 2], [3, 4.5]]), np.float32([[1, 2], [3, 4]])
    found = compare_arrays("y", one, other, NEAR)
    rms = np.sqrt(np.mean(np.float64(other) ** 2))
    assert (found.greatest, found.average, found.relative) == (0.5, 0.125, 0.125)
    assert found.scaled == pytest.approx(0.5 / rms)
    assert found.cosine == pytest.approx(
        (one * other).sum() / np.sqrt((one**2).sum() * (other**2).sum())
    )
    assert (found.unequal, found.outside, found.agrees) == (1, 1, False)
    assert (found.witness.index, found.witness.one, found.witness.other) == ((1, 1), 4.5, 4.0)
    assert compare_arrays("y", one, other, ToleranceEntry(relative=0.125)).agrees
    assert compare_arrays("y", one, other, ToleranceEntry(absolute=0.5)).agrees
    assert compare_arrays("y", other, other, ToleranceEntry()).agrees


def test_elements_near_zero_are_measured_against_the_tensor():
    other = np.float32([100, 0])
    assert compare_arrays("y", other + np.float32([0, 5e-4]), other, NEAR).agrees
    assert not compare_arrays("y", other + np.float32([0, 5e-3]), other, NEAR).agrees
    assert not compare_arrays("y", np.float32([1e-9]), np.float32([0]), NEAR).agrees
    found = compare_arrays("y", np.float32([100, 1e-9]), np.float32([100, -1e-12]), NEAR)
    assert (found.ulps, found.relative < 1e-10) == (0, True)


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "bfloat16", "float8_e4m3fn"])
def test_ulps_are_steps_of_the_coarser_dtype(kind):
    """`nextafter` of NumPy and of ml_dtypes is one step, also across zero."""
    dtype = np.dtype(getattr(ml_dtypes, kind, kind))
    one = np.array([0.5, -0.5, 0.0], dtype)
    toward = np.array([1, -1, -1], dtype)
    other = np.nextafter(np.nextafter(one, toward), toward)
    found = compare_arrays("y", one, other.astype(np.float64), NEAR)
    assert found.ulps == 2
    assert compare_arrays("y", one, -one, NEAR).ulps > 2
    assert compare_arrays("y", np.int32([1]), np.int32([4]), NEAR).ulps is None


def test_what_is_no_number_is_compared_by_place():
    one, other = np.float32([np.nan, np.inf, 1, np.inf]), np.float32([np.nan, np.inf, 1, -np.inf])
    found = compare_arrays("y", one, other, NEAR)
    assert (found.nans, found.infinities, found.outside) == ((1, 1), (2, 2), 1)
    assert found.witness.index == (3,)
    assert compare_arrays("y", one[:3], other[:3], NEAR).agrees
    gone = compare_arrays("y", np.float32([np.nan]), np.float32([1]), ToleranceEntry(relative=9))
    assert (gone.agrees, gone.cosine, gone.greatest) == (False, None, 0.0)
    assert compare_arrays("y", np.zeros((0, 2)), np.zeros((0, 2)), NEAR).agrees
    assert not compare_arrays("y", np.zeros((0, 2)), np.zeros((2, 0)), NEAR).agrees


def test_integers_and_booleans_are_equal_or_not():
    exact = model_tolerance(None)
    assert not compare_arrays("y", np.bool_([True]), np.bool_([False]), exact).agrees
    assert compare_arrays("y", np.int64([1, 2]), np.int64([1, 2]), exact).agrees
    assert not compare_arrays("y", np.int64([1, 2]), np.int64([1, 3]), exact).agrees


def test_integers_that_float64_has_not_differ():
    one, other = np.int64([2**62]), np.int64([2**62 + 1])
    found = compare_arrays("y", one, other, model_tolerance(None))
    assert (found.outside, found.unequal, found.greatest) == (1, 1, 1.0)
    assert found.witness.other == 2**62 + 1


def test_a_tolerance_is_the_users_the_specs_or_the_dtypes():
    assert model_tolerance("float16") == ToleranceEntry(relative=1e-2)
    assert model_tolerance("float16", {"float16": 0.1}) == ToleranceEntry(relative=0.1)
    assert model_tolerance("float16", {"float16": 0.1}, 0.2) == ToleranceEntry(absolute=0.2)
    assert model_tolerance(None, {}, None, 0.3) == ToleranceEntry(relative=0.3)


def test_outputs_are_matched_by_name_or_by_order():
    a, b = np.float32([1]), np.float32([2])
    assert match_outputs({"x": a, "y": b}, {"y": b, "x": a}) == (
        [("x", a, a), ("y", b, b)], True
    )  # fmt: skip
    assert match_outputs({"x": a, "y": b}, [a, b])[1] is False
    with pytest.raises(DiagnosticError, match="x, y"):
        match_outputs({"x": a, "y": b}, [a])
