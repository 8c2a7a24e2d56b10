"""Regions of operators that others declare: types, names, and ways to the engines."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from network_printer import print_network

import tripyapi as tp
from tripyapi.tensor import Tensor
from tripybuild.codegen.package.plan import plan
from tripybuild.compiler.lowering.lower import lower_stablehlo, lower_tensorrt
from tripybuild.language.grammar import SnippetError
from tripybuild.reference.execute import execute
from tripybuild.schema.load import load
from tripybuild.trace.graph import Graph
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.type_syntax import parse_pattern

REGISTRY = Path(__file__).parents[3] / "ops_registry"
FOLD = """\
tripybuild: 1
op: fold
doc: Thread values along the rows of tensors.
inputs:
  init:
    type: list[C[*S]]
    doc: The values before the first row.
  inputs:
    type: list[any[*T]]
    doc: The tensors to walk along.
attributes:
  body:
    type: region((init, each(inputs)), like(init))
    doc: The next values.
signatures:
  - (body, init, inputs)
outputs:
  last:
    type: like(init)
    doc: The last values.
requires:
  some-inputs: len(T) > 0 and all(len(s) > 0 for s in T)
decompose: scan(body, init, inputs)
sample:
  S: [[2]]
  C: [float32]
  T: [[3, 2]]
  body: "[init[0] + 1.0]"
"""


# An argument that is called as something is that every operation has.
RESERVED = "doc: The one.\n  captured:\n    type: int\n    doc: The next"


def declared(folder, text, name="fold"):
    """The registry with one more operator, and what is wrong with it."""
    (folder / "ops" / "own").mkdir(parents=True, exist_ok=True)
    (folder / "ops" / "own" / f"{name}.yaml").write_text(text, encoding="utf-8")
    return load([REGISTRY, folder / "ops"])


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A generated package with the operator, and all declarations."""
    folder = tmp_path_factory.mktemp("folds")
    registry, problems = declared(folder, FOLD)
    assert not problems
    for path, text in plan(registry, "folds").items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    sys.path.insert(0, str(folder))
    yield importlib.import_module("folds")
    sys.path.remove(str(folder))


def test_regions_of_composite_operators_are_recorded_anew(package):
    """Inside of another region, reading what is outside of both."""
    folds = package
    x, w = (Value(TensorType(tp.float32, s), name=n) for n, s in (("x", (3, 2)), ("w", (2,))))
    x_, w_ = Tensor.of(x), Tensor.of(w)

    def folded():
        return folds.fold(lambda c, row: c * w_ + row, [tp.zeros([2])], [x_])

    y = tp.cond(tp.any(w_ > 0.0), folded, lambda: w_)
    graph = Graph("g", {"x": x, "w": w}, {}, {"y": y.value})
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)

    (got,) = execute(graph, {"x": rows, "w": np.float32([1, 2])}).values()
    assert got.tolist() == [0 + 2 + 4, (1 * 2 + 3) * 2 + 5]
    assert "stablehlo.while" in lower_stablehlo(graph).text()
    assert "trt.for_" in print_network(lower_tensorrt(graph))


@pytest.mark.parametrize(
    "text",
    [
        "region(state, bool[()])",
        "region(state, like(state))",
        "region((init, each(inputs)), (like(init), list[Y[*R]]))",
        "region((a, b), (a, int32[N], list[any[*R]]))",
    ],
)
def test_types_of_regions_are_spelt_as_they_are_written(text):
    """A type is shown in pages and in messages."""
    assert str(parse_pattern(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("region(state[0], bool[()])", r"a region cannot take `state\[0\]`"),
        ("region(state, (list[T[*R]], bool[()]))", r"a region cannot give `list\[.*\]` here"),
        ("region(state, axis(state))", r"a region cannot give `axis\(state\)` here"),
    ],
)
def test_what_a_region_cannot_take_or_give(text, message):
    """It takes inputs or their rows, and gives tensors."""
    with pytest.raises(SnippetError, match=message):
        parse_pattern(text)


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        ("inputs)), like(init))", "inputs)), int)", "unbound-name", "uses `int`"),
        ("type: like(init)", "type: like(final)", "unbound-name", "uses `final`"),
        ("each(inputs)", "each(rows)", "unbound-name", "uses `rows`"),
        ('"[init[0] + 1.0]"', '"[initial[0] + 1.0]"', "unbound-name", "uses `initial`"),
        ("doc: The next", RESERVED, "bad-name", "every operation has that"),
    ],
)
def test_declarations_that_are_wrong(tmp_path, old, new, code, message):
    """Names of regions are checked as all others are."""
    assert old in FOLD
    _, problems = declared(tmp_path, FOLD.replace(old, new, 1))

    assert any(code == p.code and message in p.message for p in problems), problems
