"""Faults of a declaration that only running it shows: diagnostics, at the declaration's place."""

from importlib import import_module
from pathlib import Path

import pytest
from unary_operator import SUM, unary_operator

import tripyapi as tp
from tripybuild.compiler import session
from tripybuild.compiler.lowering import driver
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.packages.libraries import package

MODEL = "tripybuild: 1\nmodel: m\ninputs:\n  x: float32[2]\noutputs:\n  y: exp(x)\n"


@pytest.mark.parametrize(
    ("reference", "code", "says"),
    [
        ("np.reshape(input, [7])", "wrong-value", "cannot be computed: cannot reshape"),
        ("np.stack([input, input])", "reference-failed", "gave the shape [2, 2], declared is"),
        ("np.add(input)", "reference-failed", "missing 1 required positional argument"),
    ],
)
def test_a_reference_that_fails_is_named(tmp_path, reference, code, says):
    """The caller's line is shown, and where the operator is declared."""
    (tmp_path / "math").mkdir()
    text = unary_operator("double", f"reference: {reference}\n{SUM}", "[2]")
    (tmp_path / "math/double.yaml").write_text(text)
    double = import_module(package([tmp_path])).double
    with pytest.raises(DiagnosticError) as caught:
        double(tp.ones([2])).eval()

    (problem,) = caught.value.diagnostics
    assert (problem.code, Path(problem.span.path).name) == (code, "test_faults.py")
    assert says in problem.message
    assert code == "wrong-value" or "math/double.yaml" in problem.notes[0]


def test_a_lowering_that_fails_is_named(tmp_path, monkeypatch):
    """The model's line is shown as `lowering-failed`, with the declaration in a note."""

    def fail(*_operands):
        raise ValueError("no such layer")

    (tmp_path / "m.yaml").write_text(MODEL)
    monkeypatch.setattr(driver, "lowering_function", lambda _operation, _target: fail)
    with pytest.raises(DiagnosticError) as caught:
        session.emit(tmp_path / "m.yaml", "stablehlo")

    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.span.line) == ("lowering-failed", 6)
    assert "ops_registry/math/exp.yaml" in problem.notes[0]


@pytest.mark.parametrize(
    ("size", "opt", "output", "line"),
    [
        ("2**63", 1, "exp(x)", 4),
        ("B", 2**63, "exp(x)", 6),
        ("4", 2**40, "exp(reshape(x, [B * 4, 1]) @ ones([1, B]))", 8),
    ],
)
def test_what_no_engine_can_count_is_refused(tmp_path, size, opt, output, line):
    """Sizes and numbers of elements beyond 63 bits are a problem of the model."""
    (tmp_path / "m.yaml").write_text(
        f"tripybuild: 1\nmodel: m\ninputs:\n  x: float32[{size}, B]\n"
        f"ranges:\n  B: {{opt: {opt}}}\noutputs:\n  y: {output}\n"
    )
    with pytest.raises(DiagnosticError) as caught:
        session.emit(tmp_path / "m.yaml", "stablehlo")

    (problem,) = caught.value.diagnostics
    assert problem.span.line == line


def test_an_input_that_no_engine_can_count_is_named(tmp_path):
    """Its sizes are allowed one by one, and their product is not."""
    text = "tripybuild: 1\nmodel: m\ninputs:\n  x: float32[B, B]\noutputs:\n  y: x\n"
    (tmp_path / "m.yaml").write_text(text)
    with pytest.raises(DiagnosticError) as caught:
        session.emit(tmp_path / "m.yaml", "stablehlo", shapes=[{"B": 2**40}])

    (problem,) = caught.value.diagnostics
    assert problem.code == "size-out-of-range"
    assert "`x`" in problem.message


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("inputs:\n  x: float32[max]\noutputs:\n  y: exp(x)\n", "bad-name"),
        (
            "sizes: {n: 2}\ninputs: {x: 'F[B, n]'}\nconstants: {n: 'ones([2])'}\noutputs: {y: x}",
            "shape-mismatch",
        ),
    ],
)
def test_names_that_are_no_sizes(tmp_path, body, code):
    """A function of sizes, and a tensor that hides a size, are said to be none."""
    (tmp_path / "m.yaml").write_text(f"tripybuild: 1\nmodel: m\n{body}")
    with pytest.raises(DiagnosticError) as caught:
        session.emit(tmp_path / "m.yaml", "trace")

    (problem,) = caught.value.diagnostics
    assert problem.code == code
