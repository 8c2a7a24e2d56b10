"""How long a compiler may take, where what is said is no stretch of time."""

import pytest
import written

import tripybuild
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.worker import compiler_process
from tripybuild.worker.failures import MOST_SECONDS, TIMEOUT_VARIABLE

TEXT = """
inputs:
  x: float32[2]
outputs:
  y: x
"""
WRONG = ["inf", "-inf", "nan", "0", "-1", "1e30", "1000001", "soon", "5 s", "0x10"]


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize("target", ["cpu", "tensorrt-rtx"])
def test_the_variable_is_named(tmp_path, monkeypatch, value, target):
    """Before anything is compiled or found in a cache, and no thread dies of it."""
    monkeypatch.setenv(TIMEOUT_VARIABLE, value)
    with pytest.raises(DiagnosticError) as caught:
        tripybuild.compile(written.write(tmp_path, TEXT), target=target)
    (found,) = caught.value.diagnostics
    assert found.code == "wrong-value"
    assert found.message.startswith(f"`{TIMEOUT_VARIABLE}` is '{value}'")


@pytest.mark.parametrize("value", [0, -1, float("inf"), float("nan"), 1e30, 10**400, "soon"])
def test_the_argument_is_named(tmp_path, value):
    """Zero is no default."""
    with pytest.raises(DiagnosticError, match=r"`timeout` is .* not a valid number of seconds"):
        tripybuild.compile(written.write(tmp_path, TEXT), timeout=value)
    with (
        compiler_process.CompilerProcess() as process,
        pytest.raises(DiagnosticError, match="`timeout` is"),
    ):
        process.compile("cpu", "", timeout=value)


@pytest.mark.parametrize(("value", "seconds"), [("", 1800), ("0.5", 0.5), ("1e6", MOST_SECONDS)])
def test_what_is_a_number_holds(monkeypatch, value, seconds):
    """An empty variable says nothing."""
    monkeypatch.setenv(TIMEOUT_VARIABLE, value)
    assert compiler_process.default_timeout() == seconds
