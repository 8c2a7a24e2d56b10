"""Tests of who called: the user's own lines."""

import pytest

import tripyapi as tp
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.errors.user_frames import MOST, user_frames

FIRST = "import tripyapi as tp\nx = tp.ones((3,))\ndef f0():\n    return tp.softmax(x, 2)\n"


def raised(program):
    """The error of a program that is typed."""
    with pytest.raises(DiagnosticError) as caught:
        exec(compile(program, "typed.py", "exec"), {"__name__": "__main__"})
    (found,) = caught.value.diagnostics
    return found


def test_of_many_callers_the_nearest_and_the_outermost_are_told():
    """A line for each function, and at most so many."""
    deep = "".join(f"def f{n + 1}():\n    return f{n}()\n" for n in range(20))

    found = raised(f"{FIRST}{deep}f20()\n")

    lines = [each.line for each in found.callers]
    assert lines == [*range(6, 6 + 2 * (MOST - 1), 2), 45]
    assert [each.function for each in found.callers][-2:] == [f"f{MOST - 1}", "<module>"]


def test_frames_of_libraries_are_no_callers():
    """What runs the tests is none, and nothing is known of a place that does not run."""

    def refused():
        tp.softmax(tp.ones((3,)), 2)

    with pytest.raises(DiagnosticError) as caught:
        refused()

    (found,) = caught.value.diagnostics
    name = "test_frames_of_libraries_are_no_callers"
    assert [each.function for each in found.callers] == [name]
    assert user_frames("elsewhere.py", 1, 1) == ()
    assert user_frames(__file__, 1, 1) == ()


def test_what_is_raised_again_has_the_callers_of_the_first_time():
    """Errors are placed anew on their way out."""
    first = raised(f"{FIRST}f0()\n")

    again = DiagnosticError(first).diagnostics[0]

    assert again.callers == first.callers
    assert (
        DiagnosticError(Diagnostic("c", "m", Span("a.py", 1, 1, 1, 2))).diagnostics[0].callers == ()
    )


def test_recording_does_not_look_for_callers(monkeypatch):
    """Only what is refused does: the stack is walked when an error is made."""
    asked = []
    monkeypatch.setattr(
        "tripybuild.errors.diagnostics.user_frames", lambda *place: asked.append(place) or ()
    )
    x = tp.ones((2,))
    for _ in range(100):
        x = x + 1.0

    assert asked == []
