"""Tests of what is tried together, and apart where one of many is at fault."""

from tripybuild.testing.batch import bisect


def test_only_what_is_with_a_fault_is_tried_again():
    """By halves, at most so many together; results are in the order of the cases."""
    asked = []

    def together(cases):
        asked.append([*cases])
        return ["bad" if 5 in cases else "good"] * len(cases)

    found = bisect(range(9), 4, together, lambda result: result == "bad")

    assert found == ["good"] * 5 + ["bad"] + ["good"] * 3
    assert asked == [[0, 1, 2, 3], [4, 5, 6, 7], [4, 5], [4], [5], [6, 7], [8]]
    assert bisect([], 4, together, bool) == []
