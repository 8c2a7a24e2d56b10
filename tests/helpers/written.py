"""Models that tests write as text: the two lines that all of them begin with are left out."""

from pathlib import Path
from textwrap import dedent

import pytest

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.graph_builder import build

HEAD = "tripybuild: 1\nmodel: tiny\n"
HEAD_LINES = 2


def write(folder, text):
    """Write a model's file."""
    path = Path(folder) / "tiny.yaml"
    path.write_text(HEAD + dedent(text).lstrip("\n"), encoding="utf-8")
    return path


def graph(folder, text, **sizes):
    """Build a model's graph."""
    return build(write(folder, text), sizes).graph


def problems(folder, text, **sizes):
    """Give what is wrong with a model: each line of its body, code and message."""
    with pytest.raises(DiagnosticError) as raised:
        build(write(folder, text), sizes)
    return [(d.span.line - HEAD_LINES, d.code, d.message) for d in raised.value.diagnostics]


def hints(folder, text):
    """Give the hints of what is wrong with a model."""
    with pytest.raises(DiagnosticError) as raised:
        build(write(folder, text))
    return [d.hint for d in raised.value.diagnostics]
