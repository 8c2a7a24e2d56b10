"""Copying what a repeated part recorded gives what running it again would give."""

from pathlib import Path

import pytest
import written

from tripybuild.build import replay
from tripybuild.build.model import build
from tripybuild.trace import printer
from tripybuild.trace.graph import Graph

SPECS = Path(__file__).parents[2] / "specs"


def places(graph: Graph) -> list[tuple[str, str]]:
    """Where each operation comes from."""
    return [(op.location.label, str(op.location.span())) for op in graph.operations]


@pytest.mark.parametrize("name", ["minilm", "gpt2", "digits"])
def test_replaying_is_running_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The graphs, and the places of all their operations, are equal."""
    replayed = build(SPECS / f"{name}.yaml").graph
    monkeypatch.setattr(replay, "key", lambda *_: object())
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
