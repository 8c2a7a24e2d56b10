"""What notebooks show: HTML that is whole, small and escaped, through IPython's own formatter."""

import xml.dom.minidom
from pathlib import Path

import numpy as np
import pytest
import sections

import tripyapi as tp
import tripybuild
from tripybuild.model.graph_builder import build
from tripybuild.trace import notebook_html

ROOT = Path(__file__).resolve().parents[3]


def parsed(html):
    """The elements of HTML that is well-formed."""
    return xml.dom.minidom.parseString(f"<div>{html}</div>")


def cells(html, tag="td"):
    """The texts of a table's cells."""
    return ["".join(c.data for c in e.childNodes) for e in parsed(html).getElementsByTagName(tag)]


def test_the_page_is_followed_in_ipython(tmp_path, monkeypatch):
    """Each cell that ends with a value shows a table or a picture."""
    ipython = pytest.importorskip("IPython", reason="ipython is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    shell, shown = ipython.InteractiveShell(), []
    for section in sections.sections(ROOT / "docs/notebooks.md"):
        for block in section.blocks:
            if block.name is not None:
                Path(block.name).write_text(block.text, encoding="utf-8")
            else:
                assert block.language == "python"
                done = shell.run_cell(block.text)
                assert done.success
                shown.append(shell.display_formatter.format(done.result)[0]["text/html"])
    tensor, model, graph, function = shown
    assert cells(tensor) == ["2", "4", "6", "8", "0", "12"]
    assert cells(model)[:4] == ["input", "edges", "float32", "[B, 3]"]
    assert "B: 1 to 1000" in model
    titles = [each.firstChild.data for each in parsed(graph).getElementsByTagName("title")]
    assert titles == ["relu: tensor<Bx3xf32>", "prod: tensor<Bxf32>"]
    assert "float32" in cells(function)


def test_what_is_large_is_cut_off():
    """The first and the last rows and columns; the first matrix of several."""
    html = tp.iota([3, 100, 100], dim=2, dtype=tp.float32)._repr_html_()
    assert len(cells(html)) == 81
    assert cells(html)[:9] == ["0", "1", "2", "3", "…", "96", "97", "98", "99"]
    graph = build(ROOT / "specs/gpt2.yaml").graph
    html = notebook_html.graph_html(graph)
    boxes = parsed(html).getElementsByTagName("rect")
    assert len(boxes) == min(len(graph.operations), notebook_html.MOST_OPERATIONS)
    assert len(html) < 200_000


@pytest.mark.parametrize("dtype", [tp.bool, tp.int64, tp.bfloat16, tp.float16, tp.int4, tp.float8])
def test_every_dtype_has_values(dtype):
    html = tp.cast(tp.Tensor([1.0, 0.0]), dtype)._repr_html_()
    assert cells(html) in (["1", "0"], ["True", "False"])


def test_numbers_nothing_and_names():
    """Rank 0, no elements, and a name with markup in it."""
    assert cells(tp.Tensor(2.5)._repr_html_()) == ["2.5"]
    assert cells(tp.ones([0, 3])._repr_html_()) == []
    assert "no elements" in tp.ones([0, 2, 3])._repr_html_()
    hostile = "<script>alert('x')</script>"
    shown = notebook_html.table([hostile], [[hostile]]) + notebook_html.caption(hostile)
    assert "<script" not in shown
    assert cells(shown) == [hostile]


def test_what_is_not_known_says_its_type():
    seen = []

    def traced(x):
        seen.append(x._repr_html_())
        return x + 1.0

    tp.compile(traced, args=[tp.InputInfo([2], tp.float32)])
    assert "tensor" in seen[0]
    assert not parsed(seen[0]).getElementsByTagName("td")


def test_entries_have_a_table_each(tmp_path, monkeypatch):
    """A model of several entries, and one of them."""
    text = """
tripybuild: 1
model: pair
entries:
  one: {inputs: {x: "float32[B]"}, outputs: {y: x + 1.0}}
  two: {inputs: {x: "float32[3]"}, outputs: {y: x * 2.0}}
"""
    (tmp_path / "pair.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    made = tripybuild.compile(tmp_path / "pair.yaml")
    assert len(parsed(made._repr_html_()).getElementsByTagName("table")) == 2
    assert "[3]" in cells(made.two._repr_html_())
    assert np.array_equal(made.two(x=np.ones(3, np.float32))["y"], [2, 2, 2])
