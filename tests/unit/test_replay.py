"""Copying what a repeated part recorded gives what running it again would give."""

from pathlib import Path

import pytest

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
