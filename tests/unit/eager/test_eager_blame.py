"""Tests of what engines refuse: the whole expression is underlined, in the user's own line."""

from importlib import import_module
from pathlib import Path

import pytest

import tripyapi as tp
from tripybuild.eager.evaluate import xla_backend
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span


def underlined(span):
    """What a span of this file holds."""
    line = Path(__file__).read_text(encoding="utf-8").splitlines()[span.line - 1]
    return line[span.column - 1 : span.end_column - 1]


def sorted_late(x):
    """TensorRT sorts 3840 values at most."""
    y = x * 2.0
    z, _ = tp.sort(y, 0)
    return z + 1.0


def test_what_tensorrt_refuses_is_the_users_expression():
    """TensorRT itself says why; the operation was decomposed on the way to it."""
    pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
    with pytest.raises(DiagnosticError) as caught:
        tp.compile(sorted_late, args=[tp.InputInfo([5000], tp.float32)], target="tensorrt-rtx")

    (found,) = caught.value.diagnostics
    assert found.code == "tensorrt-refused"
    assert underlined(found.span) == "tp.sort(y, 0)"
    assert found.label == "this is `sort`"
    assert "Invalid TopK K" in found.notes[0]
    (asked,) = found.related
    assert asked.message == "it is compiled here"
    assert underlined(asked.span).startswith("tp.compile(sorted_late")


def refuse(given, wanted):
    """Stand for a compiler that names the point where the first wanted expression begins."""
    del given
    span = wanted[0].producer.location.span()
    point = Span(span.path, span.line, span.column, span.line, span.column + 1)
    raise DiagnosticError(Diagnostic("compiler-failed", "no", point))


@pytest.mark.parametrize("by_start", [False, True])
def test_what_a_compiler_finds_in_a_lazy_tensor_is_shown_where_it_was_made(monkeypatch, by_start):
    """And where somebody looked at it. A compiler names the point where an expression begins."""
    ones = tp.ones((400, 400))
    x = (ones + 1.0) * 2.0 if by_start else ones + 1.0

    monkeypatch.setattr(xla_backend, "_load_program", refuse)
    with pytest.raises(DiagnosticError) as caught:
        x.eval()

    (found,) = caught.value.diagnostics
    wanted = "(ones + 1.0) * 2.0" if by_start else "ones + 1.0"
    assert underlined(found.span) == wanted
    assert found.label == f"this is `{'mul' if by_start else 'add'}`"
    assert [underlined(each.span) for each in found.related] == ["x.eval()"]


def test_what_has_no_place_is_shown_where_it_was_asked_for(monkeypatch):
    """A compiler that crashes names no operation."""
    x = tp.ones((400, 401)) * 3.0

    def crash(given, wanted):
        del given, wanted
        raise DiagnosticError(Diagnostic("compiler-crashed", "it ended"))

    monkeypatch.setattr(xla_backend, "_load_program", crash)
    with pytest.raises(DiagnosticError) as caught:
        x.eval()

    assert underlined(caught.value.diagnostics[0].span) == "x.eval()"


def test_of_expressions_that_begin_at_one_place_the_largest_is_underlined(monkeypatch):
    """A compiler tells no more; no operation is named that may be another one."""
    x = tp.exp(tp.ones((400, 402))) + 1.0

    monkeypatch.setattr(xla_backend, "_load_program", refuse)
    with pytest.raises(DiagnosticError) as caught:
        x.eval()

    (found,) = caught.value.diagnostics
    assert underlined(found.span) == "tp.exp(tp.ones((400, 402))) + 1.0"
    assert not found.label


def test_a_weight_that_cannot_be_computed_is_shown_where_it_is_compiled(monkeypatch):
    """To compile may be what computes it first."""

    def refuse(value):
        del value
        raise DiagnosticError(Diagnostic("compiler-failed", "no"))

    layer = tp.Linear(2, 3)
    layer.initialize_dummy_parameters()
    monkeypatch.setattr(import_module("tripybuild.eager.compile.compile"), "array_of", refuse)
    with pytest.raises(DiagnosticError) as caught:
        tp.compile(layer, args=[tp.InputInfo([1, 2], tp.float32)])

    (found,) = caught.value.diagnostics
    assert found.span is not None
    assert underlined(found.span).startswith("tp.compile(layer")
