"""Slips of a spec that its comparison must notice, and what the page shows of comparisons."""

from pathlib import Path

import pytest
import sections
import spec_tests
from spec_tests import Comparison, difference

from tripybuild.errors.diagnostics import DiagnosticError

pytest.importorskip("torch", reason="torch is not installed")

PAGE = Path(__file__).parent.parent / "docs" / "models.md"
# What is written in the spec of ViT, and what is written instead.
SLIPS = {
    "another epsilon": ("eps: config.layer_norm_eps", "eps: 1.0e-6"),
    "another epsilon in one norm": (
        "layernorm_before: LayerNorm(width, eps=eps)",
        "layernorm_before: LayerNorm(width)",
    ),
    "weights that are swapped": ("q: split_heads(query(x))", "q: split_heads(value(x))"),
    "a scale that is missing": (" * head ** -0.5", ""),
    "a bias that is missing": (
        "out: gelu(dense(x))",
        "out: gelu(x @ transpose(dense.weight, 0, 1))",
    ),
    "another activation": ("gelu(dense(x))", "gelu_tanh(dense(x))"),
    "another token": ("x[:, :1] + attention(words[:, :1]", "x[:, 1:2] + attention(words[:, 1:2]"),
    "a residual that is missing": ("out: attended + output", "out: output"),
    "positions that are turned round": ("+ position_embeddings", "+ flip(position_embeddings, 1)"),
}


def distance(comparison):
    """How far the spec is from its peer, with the references in the place of a compiler."""
    executable = comparison.compile(target="reference", static=True)
    [call] = comparison.calls
    sizes = call.section.shapes[0]
    arrays = call.draw(sizes, 0)
    return difference(call.run(executable, arrays, sizes), call.expected(arrays))


@pytest.fixture
def vit(tmp_path, shared_cache):
    """The spec of ViT with another text in the place of one."""

    def written(before="", after=""):
        text = (spec_tests.SPECS / "vit.yaml").read_text(encoding="utf-8")
        assert before in text
        (tmp_path / "vit.yaml").write_text(text.replace(before, after, 1), encoding="utf-8")
        return Comparison(tmp_path / "vit.yaml", tmp_path / "peer")

    return written


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_further_than_the_tolerance(slip, vit):
    """Each leaves a spec that compiles with the same weights."""
    unchanged = vit()
    assert distance(unchanged) < unchanged.tolerance("float32") / 5
    changed = vit(*SLIPS[slip])
    try:
        assert distance(changed) > changed.tolerance("float32")
    except DiagnosticError as error:
        assert [each.code for each in error.diagnostics] == ["weight-unused"]  # noqa: PT017


def test_the_page_compares_what_it_shows(tmp_path, shared_cache):
    """Its example agrees with its peer, and notices each slip."""
    blocks = [b for s in sections.sections(PAGE) for b in s.blocks if b.name == "compared.yaml"]
    (tmp_path / "compared.yaml").write_text(blocks[0].text, encoding="utf-8")
    comparison = Comparison(tmp_path / "compared.yaml", tmp_path / "peer")
    assert distance(comparison) < comparison.tolerance("float32")
    changed = comparison.slips()
    assert list(changed) == ["0.weight", "0.bias"]
    assert min(changed.values()) > comparison.tolerance("float32")
