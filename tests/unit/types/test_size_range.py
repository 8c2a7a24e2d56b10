"""The range of a dynamic size: what it holds, what is wrong with it, and how it is written."""

import pytest

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.types.size_range import SizeRange

OPEN, STEPS = SizeRange(2, 4, None), SizeRange(8, 16, 64, 8)


@pytest.mark.parametrize(
    ("limits", "size", "wanted"),
    [
        (OPEN, 2, None),
        (OPEN, 10**9, None),
        (OPEN, 1, "`B` must be at least 2, but is 1"),
        (STEPS, 64, None),
        (STEPS, 0, "`B` must be between 8 and 64, but is 0"),
        (STEPS, 72, "`B` must be between 8 and 64, but is 72"),
        (STEPS, 12, "`B` must be a multiple of 8, but is 12"),
        (STEPS, 16.0, "`B` must be between 8 and 64, but is 16.0"),
        (SizeRange.of(1), True, "`B` must be between 1 and 1, but is True"),
    ],
)
def test_a_size_is_in_the_range_or_the_error_says_why_not(limits, size, wanted):
    assert limits.violation("B", size) == wanted
    if wanted is None:
        limits.check("B", size)
        return
    with pytest.raises(DiagnosticError) as raised:
        limits.check("B", size)
    (found,) = raised.value.diagnostics
    assert (found.code, found.message) == ("size-out-of-range", wanted)


@pytest.mark.parametrize(
    ("limits", "wanted"),
    [
        (OPEN, None),
        (STEPS, None),
        (SizeRange(0, 0, 0), None),
        (SizeRange(4, 2, 8), "`B` needs 0 <= min <= opt <= max, but has min 4, opt 2, max 8"),
        (SizeRange(4, 2, None), "`B` needs 0 <= min <= opt <= max, but has min 4, opt 2"),
        (SizeRange(-1, 2, 3), "`B` needs 0 <= min <= opt <= max, but has min -1, opt 2, max 3"),
        (SizeRange(1, 2, 3, 0), "`multiple_of` of `B` must be at least 1, but is 0"),
        (SizeRange(8, 16, 20, 8), "the bounds of `B` must be multiples of 8"),
    ],
)
def test_what_is_wrong_with_the_bounds(limits, wanted):
    assert limits.problem("B") == wanted


@pytest.mark.parametrize("limits", [OPEN, STEPS, SizeRange.of(3)])
def test_a_range_is_read_from_what_is_written(limits):
    assert SizeRange.from_json(limits.to_json()) == limits
    assert list(limits.to_json()) == ["min", "opt", "max", "multiple_of"]


def test_the_texts_of_a_range():
    assert [str(OPEN), str(STEPS)] == ["min 2, opt 4", "min 8, opt 16, max 64, multiple_of 8"]
    assert STEPS.bounds_text() == "(8, 16, 64)"
    assert SizeRange.of(3).is_static()
    assert not OPEN.is_static()


def test_the_sizes_of_two_ranges():
    """`opt` is the first one's, as near as it can be."""
    assert STEPS.intersect(SizeRange(1, 1, 8)) == SizeRange(8, 8, 8, 8)
    assert OPEN.intersect(STEPS) == SizeRange(8, 8, 64, 8)
    assert OPEN.intersect(SizeRange(1, 9, None)) == OPEN
