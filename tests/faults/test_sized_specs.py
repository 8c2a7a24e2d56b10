"""However a size is given, a spec gives the same numbers, and NumPy gives them, too.

A random spec is compiled with all of its sizes by `--set`, by ranges of one value, by ranges of
many, and by some of each. Where NumPy has numbers, they are equal, or what cannot be decided is
refused in words; where NumPy has none, nobody has.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, note, settings, strategies as st
from safetensors.numpy import save_file
from sized_draws import drawn
from sized_specs import LargeError, spelled

import tripybuild
from tripybuild.errors.diagnostics import DiagnosticError

UNDECIDED = {"undecided-size", "snippet-limit"}  # a size can be made of too many others
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much]
SOME = settings(max_examples=24, derandomize=True, deadline=None, suppress_health_check=QUIET)
MANY = settings(max_examples=240, deadline=None, suppress_health_check=QUIET)
FEW = settings(max_examples=25, deadline=None, suppress_health_check=QUIET)


def ways(sizes):
    """Yield ranges, and what is said by `--set`: all, nothing, nothing but one value, and half."""
    loose = {name: {"min": 0, "opt": size} for name, size in sizes.items()}
    yield "set", loose, sizes
    yield "call", loose, {}
    yield "exact", {n: {"min": s, "opt": s, "max": s} for n, s in sizes.items()}, {}
    half = dict(list(sizes.items())[::2])
    yield "half", {n: {"min": 0, "opt": s, "max": 9} for n, s in sizes.items()}, half
    if all(size and size % 2 == 0 for size in sizes.values()):
        yield "steps", {n: {"min": 2, "opt": s, "multiple_of": 2} for n, s in sizes.items()}, {}


def found(folder, target, spec, chosen, arrays, weights):
    """Give the numbers, or what is wrong."""
    _, ranges, said = chosen
    for name, text in spelled(spec, ranges).items():
        note(text)
        (folder / name).write_text(text, encoding="utf-8")
    save_file(dict(weights), folder / "w.safetensors")
    try:
        made = tripybuild.compile(folder / "sized.yaml", target=target, sizes=said)
        return made(**arrays)["y"], []
    except DiagnosticError as error:
        return None, [each.code for each in error.diagnostics]


def compare(folder, target, spec, sizes):
    """Hold all ways to give sizes against NumPy."""
    try:
        numbers, weights = spec.wanted(sizes)
        needed, _ = spec.wanted(sizes, lazy=True)
    except LargeError:
        return assume(condition=False)
    arrays = spec.arrays(sizes)
    for chosen in ways(sizes):
        given_, codes = found(folder, target, spec, chosen, arrays, weights)
        note(f"{chosen}: {codes}")
        if given_ is None:
            by_number = chosen[0] == "set"
            assert numbers is None or (not by_number and set(codes) <= UNDECIDED)
        else:
            # While sizes are symbols, nobody asks a step that nobody needs.
            right = numbers if numbers is not None or chosen[0] == "set" else needed
            assert right is not None
            np.testing.assert_array_equal(given_, right)
    return None


def check(folder, target, random):
    """Draw a spec, and look at it for the sizes on which it was tried, and for others."""
    spec, sizes, others = drawn(random.randrange)
    compare(folder, target, spec, sizes)
    compare(folder, target, spec, others)


@SOME
@given(random=st.randoms(use_true_random=False))
def test_sizes_mean_the_same_however_they_are_given(tmp_path, random):
    """A few specs on the references."""
    check(tmp_path, "reference", random)


@pytest.mark.full
@MANY
@given(random=st.randoms(use_true_random=True))
def test_many_specs(tmp_path, random):
    """Others each time."""
    check(tmp_path, "reference", random)


@pytest.mark.full
@FEW
@given(random=st.randoms(use_true_random=True))
def test_specs_on_the_processor(tmp_path, random):
    """XLA's numbers are NumPy's."""
    check(tmp_path, "cpu", random)
