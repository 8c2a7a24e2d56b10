"""A registry with an index is read file by file, and only as long as it is what the index says."""

import os

import pytest
from built_in import FOLDER, declared

from tripyapi import declarations
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.schema import registry_index
from tripybuild.schema.load import load
from tripybuild.schema.registry_folders import content_digest
from tripybuild.schema.registry_index import (
    OperatorEntry,
    RegistryIndex,
    open_registry,
    operator_entries,
)

CUBE = """\
tripybuild: 1
op: cube
like: power(exponent=3)
doc: Raise each value to its third power.
aliases:
  aten: relu(input)
  onnx: {call: Relu(input), opset: 14}
  tensor: __abs__
"""
POWER = """\
tripybuild: 1
family: power
parameters: [exponent]
types:
  T: [float32, int32]
inputs:
  input: {type: "T[*S]", doc: The values.}
outputs:
  output: {type: "T[*S]", doc: The powers.}
decompose: input ** exponent
examples:
  - {call: "cube([2.0])", gives: "[8.0]"}
"""
SQUARE = CUBE.replace("cube", "square").replace("=3", "=2").partition("aliases")[0]
MEANS = """\
tripybuild: 1
foreign: aten
doc: What operators of PyTorch are.
operators:
  square: square(self)
  abs: cube(self)
"""
FILES = {
    "families/power.yaml": POWER,
    "math/cube.yaml": CUBE,
    "math/square.yaml": SQUARE.replace("third", "second"),
    "foreign/aten.yaml": MEANS,
}


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A registry, and an index of it; `loads` counts how often all of it was read."""
    root = tmp_path / "mine"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    known, found = load([root])
    assert not found, found
    entries = {
        name: f"{each.path.partition('/')[2]} {OperatorEntry.of(each).text()}"
        for name, each in known.operators.items()
    }
    digests = {name: content_digest(text.encode()) for name, text in FILES.items()}
    loads = []

    def counted(roots):
        loads.append(roots)
        return load(roots)

    monkeypatch.setattr(registry_index, "load", counted)
    return root, RegistryIndex(digests, entries, {}), known, loads


def said(operator):
    """All that a declaration says."""
    snippets = [(kind, each.text, each.span()) for kind, each in operator.snippets()]
    return operator.path, operator.digest, operator.family_paths, operator.doc, snippets


def test_an_index_reads_what_is_asked_for(mine):
    root, index, known, loads = mine
    opened = open_registry(root, index)
    assert said(opened.operators["cube"]) == said(known.operators["cube"])
    assert opened.operators["cube"] is open_registry(root, index).operators["cube"]
    assert operator_entries(opened.operators) == operator_entries(known.operators)
    assert [*opened.operators] == [*known.operators]
    assert opened.documents.keys() == known.documents.keys()
    means, expected = (each.foreign["aten"].operators for each in (opened, known))
    assert {n: c.snippet.text for n, (c,) in means.items()} == {
        n: c.snippet.text for n, (c,) in expected.items()
    }
    assert "sphere" not in opened.operators
    assert opened.operators.get("sphere") is None
    assert not loads


@pytest.mark.parametrize("name", ["math/cube.yaml", "families/power.yaml"])
def test_a_file_that_changed_is_never_as_it_was(mine, name):
    """Neither its time nor its size tells."""
    root, index, known, loads = mine
    open_registry(root, index).operators["cube"]
    path, before = root / name, (root / name).stat()
    path.write_text(path.read_text().replace("third", "forth").replace("powers", "cubes."))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    changed = open_registry(root, index).operators["cube"]
    assert loads == [[root]]
    assert changed.digest != known.operators["cube"].digest


def test_a_file_that_is_new_or_gone_is_seen(mine):
    root, index, _, loads = mine
    (root / "math/fourth.yaml").write_text(FILES["math/square.yaml"].replace("square", "fourth"))
    assert "fourth" in open_registry(root, index).operators
    (root / "math/fourth.yaml").unlink()
    (root / "foreign/aten.yaml").unlink()
    assert not open_registry(root, index).foreign["aten"].operators
    assert len(loads) == 2


def test_a_change_that_is_wrong_is_told(mine):
    root, index, _, _ = mine
    (root / "math/cube.yaml").write_text(CUBE.replace("power(", "powers("))
    with pytest.raises(DiagnosticError) as caught:
        open_registry(root, index)
    assert [each.code for each in caught.value.diagnostics] == ["unknown-family"]


def test_an_index_that_is_wrong_is_found_out(mine):
    """Where it speaks of another file, all are read, and what they declare counts."""
    root, index, known, loads = mine
    wrong = {**index.operators, "cube": index.operators["square"]}
    opened = open_registry(root, index._replace(operators=wrong))
    registry_index._opened.clear()
    assert said(opened.operators["cube"]) == said(known.operators["cube"])
    assert loads == [[root]]


def test_the_built_in_index_says_what_the_files_do(monkeypatch):
    """Read one by one, they are what they are when all are read and checked."""
    index = RegistryIndex(declarations.DIGESTS, declarations.OPERATORS, declarations.MODULES)
    known = declared()
    monkeypatch.setattr(registry_index, "load", None)
    opened = open_registry(FOLDER, index)
    assert operator_entries(opened.operators) == operator_entries(known.operators)
    for name, operator in known.operators.items():
        assert said(opened.operators[name]) == said(operator)
    for name, module in known.modules.items():
        assert opened.modules[name].file == module.file
    for system, foreign in known.foreign.items():
        assert opened.foreign[system].ignores == foreign.ignores
        found = opened.foreign[system].operators
        assert [*found] == [*foreign.operators]
        assert all(len(found[name]) == len(each) for name, each in foreign.operators.items())


def test_an_entry_is_said_in_words():
    text = "onnx:Relu@14 aten:relu tensor:__abs__ reflected:__radd__ is:equivalents"
    entry = OperatorEntry.parse(f"math/cube.yaml {text}")
    assert entry.text() == text
    (onnx, aten) = entry.calls
    assert not onnx.holds_in(13)
    assert onnx.holds_in(14)
    assert onnx.holds_in(None)
    assert aten.holds_in(1)
