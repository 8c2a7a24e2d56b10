"""The language server on texts that nobody would want: cut, mixed, long, and in other letters."""

import random
from contextlib import suppress
from pathlib import Path

import pytest
from lsprotocol.types import Position

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.language_server import (
    completion,
    descriptions,
    hints,
    navigation,
    renaming,
    repairs,
)
from tripybuild.language_server.analysis import analyze, kind_of_text
from tripybuild.language_server.findings import find
from tripybuild.language_server.source_text import SourceText
from tripybuild.language_server.workspace import Workspace, analysis_findings

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted((ROOT / "specs").glob("*.yaml"))
FILES += [ROOT / "ops_registry" / each for each in ("nn/softmax.yaml", "modules/linear.yaml")]
CUTS = 40


def ask_everything(file, space, line, column):
    """All requests about a place of a file."""
    descriptions.hover(file, line, column)
    navigation.definition(space, file, line, column)
    navigation.references(file, line, column, declared=True)
    completion.complete(file, line, column)
    completion.signature_help(file, line, column)
    list(hints.inlay_hints(file, 0, len(file.analysis.source.lines)))
    hints.semantic_tokens(file)
    navigation.outline(file)
    list(repairs.code_actions(file, 0, line))
    repairs.shown_problems(file)
    with suppress(DiagnosticError):  # which have reasons
        renaming.rename(space, file, line, column, "another_name")
    with suppress(DiagnosticError):
        repairs.formatting(file)


def opened(text, path=ROOT / "specs/some.yaml", *, built=False):
    """A workspace with one file of a text."""
    space = Workspace()
    file = space.set_text(path.as_uri(), text, 1)
    assert file is not None
    if built:
        space.keep(file.uri, analysis_findings(file.analysis, space.texts()))
    return space, file


def test_no_cut_of_a_file_ends_the_server():
    """Cut behind any character, or without what stands between two."""
    draw = random.Random(17)
    for turn in range(CUTS):
        path = FILES[turn % len(FILES)]
        text = path.read_text(encoding="utf-8")
        start, end = sorted(draw.sample(range(len(text) + 1), 2))
        cut = text[:start] if turn % 2 else text[:start] + text[end:]
        space, file = opened(cut, path, built=turn % 4 == 0)
        line = cut.count("\n", 0, start)
        for column in (0, start - (cut.rfind("\n", 0, start) + 1)):
            ask_everything(file, space, line, column)


def test_specs_have_no_problems():
    """What a build tells is kept without a question that only a call can answer."""
    for name in ("gemma3", "clip", "detr", "bart"):
        text = (ROOT / f"specs/{name}.yaml").read_text(encoding="utf-8")
        _, file = opened(text, built=True)
        assert file.findings.diagnostics == []


@pytest.mark.parametrize("name", ["llama", "convnext"])
def test_a_spec_whose_names_are_all_others_is_the_same_model(name):
    path = ROOT / f"specs/{name}.yaml"
    text = before = path.read_text(encoding="utf-8")
    space, file = opened(text, path)
    symbols = [s for s in file.analysis.names.symbols.values() if s.kind in renaming.RENAMED]
    for number, symbol in enumerate(symbols):
        space, file = opened(text, path)
        names = file.analysis.names.occurrences
        place = next(o.span for o in names if o.symbol and is_same(o.symbol, symbol))
        found = renaming.rename(space, file, place.line - 1, place.column - 1, f"other{number}")
        lines = list(file.analysis.source.lines)
        for edit in sorted(found.changes[file.uri], key=lambda e: -e.range.start.character):
            start, end = edit.range.start, edit.range.end
            line = lines[start.line]
            lines[start.line] = line[: start.character] + edit.new_text + line[end.character :]
        text = "\n".join(lines)
    assert len(symbols) > 50
    costs = []
    for each in (before, text):
        findings = find(analyze(path, each), {})
        assert findings.diagnostics == []
        rows = findings.checked.entries[""].costs.rows()
        costs.append([(row.flops, row.bytes, row.parameters) for row in rows])
    assert costs[0] == costs[1]


def is_same(one, other):
    """Whether two names are one; the part around it may be called otherwise by now."""
    return (one.kind, one.name) == (other.kind, other.name)


@pytest.mark.parametrize(
    "characters", ["{", "}", "[", ":", "'", '"', "|", "- ", "\t", "&", "#", "("]
)
def test_no_character_anywhere_ends_the_server(characters):
    draw = random.Random(characters)
    text = (ROOT / "specs/digits.yaml").read_text(encoding="utf-8")
    for _ in range(4):
        start = draw.randrange(len(text))
        changed = text[:start] + characters + text[start:]
        space, file = opened(changed)
        ask_everything(file, space, changed.count("\n", 0, start), 2)


@pytest.mark.parametrize(
    "text", ["", "\n", "tripybuild: 1", "tripybuild: 1\nmodel:", "op: x\n", "\t"]
)
def test_little_text(text):
    space, file = opened(text, built=True)
    ask_everything(file, space, 0, 0)
    ask_everything(file, space, *file.analysis.source.place(Position(5, 50)))


def test_ten_thousand_lines():
    text = (ROOT / "specs/digits.yaml").read_text(encoding="utf-8")
    steps = "".join(f"  s{i}: scores + {i}\n" for i in range(10_000))
    long = text.replace("steps:\n", "steps:\n", 1).replace("outputs:\n", f"{steps}outputs:\n", 1)
    space, file = opened(long)
    ask_everything(file, space, 9_000, 4)
    (found,) = navigation.definition(space, file, 9_000, 12)
    assert found.range.start.line == text[: text.index("scores:")].count("\n")


@pytest.mark.parametrize("break_", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 16), ("utf-16", 8), ("utf-32", 6)])
def test_positions_are_in_the_units_of_the_client(encoding, units, break_):
    source = SourceText(f"a: 1{break_}# 🦙漢字🦙 x{break_}\tb: 2", encoding)
    column = source.lines[1].index(" x")
    assert source.position(1, column) == Position(1, units)
    assert source.place(Position(1, units)) == (1, column)
    assert source.place(Position(1, 99)) == (1, len(source.lines[1]))
    assert source.position(2, 1) == Position(2, 1)


def test_other_yaml_is_left_alone():
    assert kind_of_text("services:\n  web: {image: x}\n") is None
    assert kind_of_text("- op: add\n  path: /a\n") is None
    assert kind_of_text("# yaml-language-server: $schema=./schemas/operator.json\ndoc: x\n") == "op"
    assert kind_of_text("tripybuild: 1\nfamily: unary\n") == "family"
    assert kind_of_text("tripybuild: 1\nmodel: a\ndefine: {}\n") == "model"
    assert kind_of_text("tripybuild: 1\nop: a\ntargets: {}\n") == "op"
