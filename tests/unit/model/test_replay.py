"""Copying what a repeated part recorded gives what running it again would give."""

from pathlib import Path

import pytest
import written

from tripybuild.model import replay
from tripybuild.model.graph_builder import build
from tripybuild.trace import printer
from tripybuild.trace.graph import Graph

SPECS = Path(__file__).parents[3] / "specs"


def places(graph: Graph) -> list[tuple[str, str]]:
    """Where each operation comes from."""
    return [(op.location.label, str(op.location.span())) for op in graph.operations]


@pytest.mark.parametrize("name", ["minilm", "gpt2", "digits"])
def test_replaying_is_running_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The graphs, and the places of all their operations, are equal."""
    replayed = build(SPECS / f"{name}.yaml").graph
    monkeypatch.setattr(replay, "replay_key", lambda *_: object())
    run = build(SPECS / f"{name}.yaml").graph

    assert printer.canonical(replayed) == printer.canonical(run)
    assert places(replayed) == places(run)


SWAPPED = """
    inputs:
      x: F[4]
      y: F[4]
    parts:
      a: minus
      b: minus
    outputs:
      one: a(lhs=x, rhs=y)
      two: b(rhs=y, lhs=x)
    define:
      minus:
        inputs:
          lhs: F[4]
          rhs: F[4]
        outputs:
          out: lhs - rhs
    """


def test_inputs_are_told_apart_by_their_names(tmp_path: Path) -> None:
    """In whatever order a step names them."""
    operations = written.graph(tmp_path, SWAPPED).operations

    assert [[v.name for v in operation.reads()] for operation in operations] == [["x", "y"]] * 2


NUMBERS = """
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
        outputs:
          out: {step}
    """


@pytest.mark.parametrize(
    "step",
    [
        "x + zeros([4], F)",
        "x * ones([4], F)",
        "x + arange(4)",
        "x + linspace(0.0, 1.0, 4)",
        "x + tril(ones([4, 4], F))[3]",
        "pad(x, [[0, 0], [0, 1]])[:, 1:]",
    ],
)
def test_numbers_that_inline_operators_make_are_copied(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They stand where the step does, as all that it records."""
    text = NUMBERS.replace("{step}", step)
    replayed = written.graph(tmp_path, text)
    monkeypatch.setattr(replay, "replay_key", lambda *_: object())
    run = written.graph(tmp_path, text)

    assert printer.canonical(replayed) == printer.canonical(run)
    assert places(replayed) == places(run)
    assert {label for label, _ in places(run)} >= {f"h.{part}.out" for part in range(3)}
    assert "<unknown>" not in str(places(run))
