"""Branches and loops in models: parts and definitions by name, with weights of their own."""

from pathlib import Path

import numpy as np
import pytest
import sections
import written
from oracles.operators import computed
from safetensors.numpy import save_file

from tripybuild.compiler.session import compile_spec
from tripybuild.model import replay
from tripybuild.model.graph_builder import build
from tripybuild.targets.tensorrt.model import PIPELINE
from tripybuild.tensorrt.passes import pipeline
from tripybuild.trace import printer
from tripybuild.trace.region import walk_operations

PAGE = Path(__file__).parents[3] / "docs" / "models.md"
BLOCKS = [block for section in sections.sections(PAGE) for block in section.blocks]
EXAMPLE = next(block.text for block in BLOCKS if block.name == "branches.yaml")


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The example of the page with weights, and these."""
    folder = tmp_path_factory.mktemp("branches")
    path = folder / "branches.yaml"
    path.write_text(EXAMPLE, encoding="utf-8")
    random = np.random.default_rng(0)
    values = build(path).graph.weights.items()
    weights = {name: random.normal(0, 0.5, v.shape).astype(np.float32) for name, v in values}
    save_file(weights, folder / "branches.safetensors")
    return path, weights


def expected(weights, long, x, words):
    """What the example means, in NumPy."""

    def linear(name, value):
        return value @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    state, seen = x if long else linear("small", x), []
    for index in range(2 if long else 0):
        state = state + np.maximum(linear(f"large.{index}.linear", state), 0)
    for word in words:
        state = np.tanh(linear("cell.gate", state) + word)
        seen.append(state.sum(1))
    while (state**2).max() > 0.25:
        state = state * 0.5
    return state, np.stack(seen)


@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_the_example_computes_what_it_means(example, target):
    """For both branches, and for lengths that were not compiled ahead."""
    path, weights = example
    random = np.random.default_rng(1)
    executable = compile_spec(path, target=target)
    for long, length in ((True, 1), (False, 5)):
        x = random.normal(size=(3, 4)).astype(np.float32)
        words = random.normal(size=(length, 3, 4)).astype(np.float32)
        got = executable(long=np.array(long), x=x, words=words)
        for found, want in zip(got.values(), expected(weights, long, x, words), strict=True):
            np.testing.assert_allclose(np.asarray(found), want, 1e-5, 1e-5)


@pytest.mark.parametrize("passes", [PIPELINE, pipeline.PIPELINE])
def test_its_layers_compute_what_it_means(example, passes):
    """After our passes, and after all of mlir-tensorrt's."""
    path, weights = example
    graph = build(path).graph.substitute({"B": 3, "S": 4})
    random = np.random.default_rng(2)
    x = random.normal(size=(3, 4)).astype(np.float32)
    words = random.normal(size=(4, 3, 4)).astype(np.float32)
    for long in (True, False):
        data = {**weights, "long": np.array(long), "x": x, "words": words}
        got = computed(graph, data, passes=passes)
        for found, want in zip(got, expected(weights, long, x, words), strict=True):
            np.testing.assert_allclose(found, want, 1e-5, 1e-5)


def test_tensorrt_builds_the_example(example):
    """With sizes that are dynamic inside of branches and loops."""
    pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
    text = EXAMPLE.replace("  S: {max: 16}", "  S: {max: 16}\n  B: {max: 8}")
    path = example[0].with_name("bounded.yaml")
    path.write_text(text, encoding="utf-8")

    made = compile_spec(path, target="tensorrt-rtx:sm86")

    assert [each["name"] for each in made.entry().manifest["outputs"]] == ["y", "seen"]
    assert made.entry().manifest["engine"]["library"]["name"] == "tensorrt-rtx"


def test_weights_of_parts_are_what_a_region_reads(example):
    """By their paths; each operation inside is at its own step."""
    graph = build(example[0]).graph
    branch = next(op for op in graph.operations if op.operator == "cond")

    assert [value.name for value in branch.captured][-2:] == ["small.weight", "small.bias"]
    assert len(branch.captured) == 6
    labels = [op.location.label for op in branch.then.operations]
    assert all(label.startswith(("large.0.", "large.1.")) for label in labels)
    assert {"large.0.out", "large.1.out"} <= set(labels)


REPEATED = """
    inputs:
      x: F[B, 4]
    parts:
      h: block * 3
    outputs:
      y: h(x)
    define:
      block:
        inputs:
          x: F[B, 4]
        parts:
          up: Linear(4, 4)
          down: Linear(4, 4)
        steps:
          loud: max(x) > 1.0
        outputs:
          out: cond(loud, up, down, [x])
    """


def test_repeated_parts_with_branches_are_replayed(tmp_path, monkeypatch):
    """With their own weights and places, inside of regions too."""

    def places(graph):
        return [
            (op.location.label, str(op.location.span())) for op in walk_operations(graph.operations)
        ]

    replayed = written.graph(tmp_path, REPEATED)
    monkeypatch.setattr(replay, "replay_key", lambda *_: object())
    run = written.graph(tmp_path, REPEATED)

    assert printer.canonical(replayed) == printer.canonical(run)
    assert places(replayed) == places(run)
    assert any(label == "h.2.down" for label, _ in places(replayed))


def branch(otherwise, define=""):
    """A model with a branch that may be wrong."""
    return f"""
        inputs:
          x: F[4]
        steps:
          flag: any(x > 0.0)
          y: cond(flag, relu, {otherwise}, [x])
        outputs:
          y: y
        define:
          other:
            inputs:
              x: F[4]
            {define or "outputs: {out: x}"}
        """


@pytest.mark.parametrize(
    ("otherwise", "define", "code", "message"),
    [
        ("other", "outputs: {out: 'x[:2]'}", "cond/otherwise", "as output 0, as that of `then`"),
        ("other", "outputs: {a: x, b: x}", "cond/otherwise", "must give 1 tensor"),
        ("other", "outputs: {out: 'x @ x[:2]'}", "matmul/", "Each row of [4] has 4 values"),
        ("3", "", "cond/otherwise", "must be a function on tensors"),
        ("othr", "", "unbound-name", "`othr`"),
        ("Linear(4, 4)", "", "part-arguments", "name it under `parts:` first"),
    ],
)
def test_branches_that_are_wrong(tmp_path, otherwise, define, code, message):
    """Each is one problem, at the step that is at fault."""
    (found,) = written.problems(tmp_path, branch(otherwise, define))

    assert found[1].startswith(code)
    assert message in found[2]
    assert found[0] == (12 if code.startswith("matmul") else 5)


def test_parts_with_state_stay_outside(tmp_path):
    """What a branch computes is known only there."""
    text = """
        inputs:
          x: F[4]
        parts:
          total: running
        outputs:
          y: cond(any(x > 0.0), total, relu, [x])
        define:
          running:
            inputs:
              x: F[4]
            state:
              sum_: F[4]
            next:
              sum_: sum_ + x
            outputs:
              out: next.sum_
        """
    (found,) = written.problems(tmp_path, text)

    assert found == (
        6,
        "part-arguments",
        "`running` has state, so it cannot run in a branch or in a loop",
    )
