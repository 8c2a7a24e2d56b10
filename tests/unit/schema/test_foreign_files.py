"""`foreign/SYSTEM.yaml` of several registries, and what `gen` keeps when one of them changes."""

import pytest

from tripybuild.cli.main import main
from tripybuild.process import paths
from tripybuild.schema.load import load_registries

OPERATOR = """\
tripybuild: 1
op: {name}
doc: Add each value to itself.
types:
  T: [float32]
inputs:
  input: {{type: "T[*S]", doc: The values.}}
outputs:
  output: {{type: "T[*S]", doc: The sums.}}
kind: movement
reference: input
lower:
  tensorrt: trt.reshape(input, S)
  stablehlo: hlo.reshape(input, S)
  onnx: onnx.reshape(input, S)
examples:
  - {{call: "{name}([3.0])", gives: [3.0]}}
"""
SYSTEM = """\
tripybuild: 1
foreign: {system}
doc: What its operators are.
ignores: {ignores}
operators:
  {name}: {means}
"""


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """A built-in registry of two operators, and what writes files of it."""
    folder = tmp_path / "ops_registry"

    def write(name, text):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(paths, "registry", lambda: folder)
    for name in ("same", "other"):
        write(f"shape/{name}.yaml", OPERATOR.format(name=name))
    return write


def system(name, means, *, of="aten", ignores="[]"):
    return SYSTEM.format(system=of, name=name, means=means, ignores=ignores)


@pytest.fixture
def gen(monkeypatch, capsys):
    """`tripybuild gen`: its exit code, and what it prints."""

    def run():
        monkeypatch.setattr("sys.argv", ["tripybuild", "gen"])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        return end.value.code, printed.out + printed.err

    return run


def test_a_changed_file_is_read_again(registry, gen):
    """An operator that is gone is missed, though the file that speaks of it stays as it was."""
    registry("foreign/aten.yaml", system("relu", "same(self)"))
    assert gen()[0] == 0
    assert "Up to date" in gen()[1]
    registry("foreign/aten.yaml", system("relu", "sane(self)"))
    code, printed = gen()
    assert code == 1
    assert "`operators.relu` uses `sane`" in printed
    registry("foreign/aten.yaml", system("relu", "same(self)"))
    assert gen()[0] == 0
    (paths.registry() / "shape" / "same.yaml").unlink()
    code, printed = gen()
    assert code == 1
    assert "`operators.relu` uses `same`" in printed


def test_a_new_file_is_read(registry, gen):
    assert gen()[0] == 0
    registry("foreign/onnx.yaml", system("Relu", "none(X)", of="onnx"))
    assert "uses `none`" in gen()[1]


def test_what_an_added_registry_says_counts_first(registry, tmp_path):
    """Both speak of the operator, and what is ignored adds up."""
    registry("foreign/aten.yaml", system("relu", "same(self)", ignores="[device]"))
    added = tmp_path / "mine" / "foreign"
    added.mkdir(parents=True)
    text = system("relu", "other(self)", ignores="[layout]")
    (added / "aten.yaml").write_text(text, encoding="utf-8")
    found = load_registries([tmp_path / "mine"]).foreign["aten"]
    assert [each.snippet.text for each in found.operators["relu"]] == ["other(self)", "same(self)"]
    assert found.ignores == {"device", "layout"}
