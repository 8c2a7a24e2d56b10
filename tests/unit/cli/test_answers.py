"""Answers in JSON hold to the schemas that are published, where a command succeeds and fails."""

import json
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from tripybuild.cli.commands import doctor_trial
from tripybuild.cli.main import main
from tripybuild.errors.diagnostics import Diagnostic, as_json
from tripybuild.process import paths

SCHEMAS = {
    each.stem: json.loads(each.read_text()) for each in (paths.schemas() / "answers").iterdir()
}
SPEC = """\
tripybuild: 1
model: tiny
inputs: {x: "float32[B, 4]"}
ranges: {B: {min: 1, opt: 2, max: 8}}
outputs: {y: relu(x)}
"""
DECODER = """\
tripybuild: 1
model: decoder
inputs: {tokens: "int32[B, S]", position: "int32[()]"}
ranges: {B: {max: 2}, S: {max: 8}}
parts: {cache: memory}
outputs:
  logits: cache(cast(unsqueeze(tokens, 2), F) * ones([1, 1, 5], F), position)
define:
  memory:
    inputs: {x: "F[B, S, 5]", position: "int32[()]"}
    state: {kept: {type: "F[B, 1, 8, 5]", first: 0.0}}
    next: {kept: "kv_cache_update(kept, unsqueeze(x, 1), position)"}
    outputs: {out: x}
"""
FLEET = """\
tripybuild: 1
workspace: fleet
specs: [tiny.yaml]
builds: {plain: {targets: [reference]}}
"""
# Commands in order: each may need what one before it wrote. A word of another language ends a line.
CALLS = """\
check tiny.yaml
check none.yaml
compile tiny.yaml --target reference
compile tiny.yaml --emit trace
compile tiny.yaml --emit trace -o tiny.txt
compile none.yaml
compile --traget x
compile decoder.yaml --target reference
trace tiny.py:double
trace tiny.py:none
run tiny.tpb --input x=x.npy
run tiny.tpb --random -o y.npz
run tiny.tpb --input z=x.npy
run none.tpb
bench tiny.tpb --rounds 3 --seconds 0.01
bench none.tpb
generate decoder.tpb --prompt-ids words.txt --max-tokens 2
generate decoder.tpb
inspect tiny.tpb
inspect tiny.yaml
explain softmax
explain linear
explain softmax/dim
explain layernorm/trailing-sizes
explain unbound-name
explain sofmax
explain np.where
schema
schema check
schema modl
export tiny.yaml
export tiny.yaml --opset 3
import tiny.onnx -o read
import none.onnx -o none
compare tiny.yaml tiny.yaml --target reference
compare none.yaml tiny.yaml
graph tiny.yaml
graph none.yaml
build -C fleet.yaml
build -C fleet.yaml --dry-run
build -C none.yaml
cache path
cache list
cache list --kind none
cache show none
cache verify
cache prune --keep 1000
cache export team.tbcache
cache import team.tbcache
cache import x.npy
test -C tested.yaml
test -C fleet.yaml
doctor
doctor --timeout never
new op cube --registry mine
new model Tiny
check mine/math/cube.yaml
fmt mine --check
fmt none
gen --registry mine --package mine
gen --registry mine
opt tiny.mlir
opt none.mlir
opt --list-passes
"""


@pytest.fixture
def folder(tmp_path, shared_cache, monkeypatch):
    """An empty folder with what the commands are for."""
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "tiny.yaml": SPEC,
        "decoder.yaml": DECODER,
        "tiny.py": "def double(x: 'float32[2]'):\n    return x + x\n",
        "tiny.mlir": "module {}\n",
        "words.txt": "1 2\n",
        "fleet.yaml": FLEET,
        "tested.yaml": FLEET.replace("tiny.yaml", "relu.yaml"),
        "relu.yaml": SPEC + "test: {against: torch.nn.ReLU}\n",
    }.items():
        Path(name).write_text(text)
    np.save("x.npy", np.ones((2, 4), np.float32))
    return tmp_path


def test_answers_are_as_published(folder, monkeypatch, capfd):
    """Of each command one that succeeds, and one that fails."""
    failure = as_json(Diagnostic("no-gpu", "there is none"))
    trial = {"works": True, "seconds": 0.1, "facts": {"library": "1"}, "problems": []}
    bad = {**trial, "works": False, "problems": [failure]}

    def run_trials(names, limit):
        return {name: dict(trial if name.startswith("cpu") else bad) for name in names}

    monkeypatch.setattr(doctor_trial, "run_trials", run_trials)
    ended = {}
    for line in CALLS.splitlines():
        name = line.split()[0]
        monkeypatch.setattr(sys, "argv", ["tripybuild", *line.split(), "--json"])
        with pytest.raises(SystemExit) as end:
            main()
        said = capfd.readouterr()
        document = json.loads(said.out)
        jsonschema.validate(document, SCHEMAS[name])
        if end.value.code:
            jsonschema.validate(document, SCHEMAS["diagnostics"] | {"additionalProperties": True})
        assert bool(end.value.code) == bool(document["diagnostics"]) or name == "fmt", said
        ended.setdefault(name, set()).add(bool(document["diagnostics"]))
    assert {name for name, both in ended.items() if both != {True, False}} == set()


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_schemas_refuse_what_is_none(name):
    """They are valid, and neither a key of another name nor a diagnostic without code fits."""
    jsonschema.Draft7Validator.check_schema(SCHEMAS[name])
    for wrong in ({}, {"diagnostics": [{"message": "no code"}]}, {"diagnostics": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, SCHEMAS[name])
    if SCHEMAS[name]["additionalProperties"] is False:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"diagnostics": [], "traget": 1}, SCHEMAS[name])
