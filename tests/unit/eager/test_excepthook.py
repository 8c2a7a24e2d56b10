"""Tests of what Python shows of an error that nobody catches."""

import subprocess
import sys
import textwrap

import pytest

import tripyapi as tp
from tripybuild.errors.diagnostics import DiagnosticError


def shown(folder, program):
    """What Python writes to stderr when it runs a program."""
    path = folder / "user.py"
    path.write_text("import tripyapi as tp\n" + textwrap.dedent(program))
    found = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert not found.stdout
    return found.stderr.replace(str(path), "user.py")


def test_a_mistake_in_the_only_frame_is_the_diagnostic_alone(tmp_path):
    """Its line would be there twice; what Python raised inside is not said."""
    text = shown(tmp_path, "tp.compile(lambda x: x, args=[])\n")

    first, place, *_ = text.splitlines()
    assert first.startswith("tripybuild.errors.diagnostics.DiagnosticError: error[wrong-type]: ")
    assert place == "  --> user.py:2:1"
    assert "inspect" not in text


def test_the_users_frames_are_shown(tmp_path):
    """Those that lead to the mistake, and nothing of ours between them."""
    text = shown(tmp_path, "def block(x):\n    return tp.softmax(x, 3)\nblock(tp.ones((2,)))\n")

    assert "error[softmax/dim]" in text
    assert "  --> user.py:3:26" in text
    assert "  called at user.py:4: block(tp.ones((2,)))" in text
    assert "File" not in text  # all of the traceback is said


def test_a_traceback_that_says_more_is_shown(tmp_path):
    """Frames of other libraries are no callers of the user's."""
    text = shown(
        tmp_path,
        "import functools\n"
        "def block(x, y):\n    return tp.softmax(x, 3)\n"
        "made = tp.ones((2,))\n"
        "class Lazy:\n"
        "    @functools.cached_property\n"
        "    def value(self):\n        return block(made, made)\n"
        "import contextlib\n"
        "@contextlib.contextmanager\n"
        "def managed():\n    yield Lazy().value\n"
        "with managed():\n    pass\n",
    )

    assert "  called at user.py:9 in Lazy.value: return block(made, made)" in text
    assert "  called at user.py:13 in managed: yield Lazy().value" in text
    assert "  called at user.py:14: with managed():" in text
    assert "contextlib.py" in text


def test_what_the_user_was_about_is_shown(tmp_path):
    """An error that was being handled belongs to the user."""
    text = shown(tmp_path, "try:\n    {}['a']\nexcept KeyError:\n    tp.relu(3)\n")

    assert "KeyError: 'a'" in text
    assert "During handling" in text
    assert "guard.py" not in text


def test_other_errors_are_left_as_they_are(tmp_path):
    """They are not ours to explain."""
    text = shown(tmp_path, "tp.compile(lambda x: x.missing_here.more(1 / 0), args=[1 / 0])\n")

    assert text.splitlines()[-1] == "ZeroDivisionError: division by zero"


def test_a_notebook_shows_the_same():
    """It asks the error for its lines."""
    with pytest.raises(DiagnosticError) as caught:
        tp.relu(3)
    text = "\n".join(caught.value._render_traceback_())
    assert "error[relu/input]" in text
    assert "guard.py" not in text


def test_frames_of_libraries_that_we_call_are_left_out(tmp_path):
    """What a user's line leads to inside of ours is nobody's but ours."""
    program = "def f(x):\n    return x.shape[0]\ntp.compile(f, args=[3])\n"
    text = shown(tmp_path, program)

    assert "error[wrong-type]: `f` fails with AttributeError" in text
    assert "contextlib" not in text
    assert "Traceback" not in text


def test_methods_of_what_a_function_gives_are_guarded(tmp_path):
    """Also where nobody has named their class before."""
    text = shown(tmp_path, "tp.ones((2, 3)).reshape(3, 2)\n")

    assert "error[Tensor.reshape/signature]" in text
    assert "hint: put them into a list: `[3, 2]`" in text


def test_a_name_that_is_not_there_is_shown_alone(tmp_path):
    """Also where it is the first thing that is asked for."""
    text = shown(tmp_path, "x = tp.Tensr([1.0])\n")

    assert "Traceback" not in text
    assert "hint: did you mean `Tensor`?" in text
