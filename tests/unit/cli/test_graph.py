"""`tripybuild graph`: one graph in several forms, each read by somebody else's reader."""

import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from safetensors.numpy import save_file

from tripybuild.process import paths

SPEC = """
tripybuild: 1
model: readers
inputs:
  lines: float32[B, 8]
ranges:
  B: {min: 1, opt: 4, max: 32}
parts:
  blocks: block * 3
  head: Linear(8, 2)
outputs:
  scores: head(halved(blocks(lines)))
  turned: scan(running, [mean(lines, 0)], [lines])[1]
define:
  running:
    inputs:
      total: float32[8]
      line: float32[8]
    outputs:
      next: total + line
      given: total * 2
  halved:
    inputs:
      x: float32[B, 8]
    outputs:
      out: x / 2
  block:
    inputs:
      x: float32[B, 8]
    parts:
      up: Linear(8, 8)
    outputs:
      out: x + relu(up(x)) * 0.0
"""


def test_equal_parts_are_one_and_their_numbers_are_sums(run):
    folded, whole = run("graph", "readers.yaml"), run("graph", "readers.yaml", "--no-fold")
    assert re.search(r"blocks\.0\.\.2  x3 +each reads the one before +1\.8 k", folded)
    assert re.search(r"halved\(blocks\.2\)", folded)
    assert "x3" not in whole
    assert len(re.findall(r"up +linear\(", whole)) == 3
    assert re.search(r"scan body", folded)
    assert re.search(r"item0", folded)


def test_ids_of_a_spec_are_those_of_its_executable(run):
    """With their parts, which a definition without a path of its own has from its caller."""
    shapes = {f"blocks.{n}.up": (8, 8) for n in range(3)} | {"head": (2, 8)}
    held = {f"{name}.weight": np.zeros(shape, np.float32) for name, shape in shapes.items()}
    held |= {f"{name}.bias": np.zeros(shape[0], np.float32) for name, shape in shapes.items()}
    save_file(held, "weights.safetensors")
    run("compile", "readers.yaml", "--weights", "weights.safetensors", "--target", "reference")
    found = [json.loads(run("graph", each, "--json")) for each in ("readers.yaml", "readers.tpb")]
    nodes = [each["graphs"][0]["nodes"] for each in found]
    assert [(each["id"], each["part"], each["flops"]) for each in nodes[0]] == [
        (each["id"], each["part"], each["flops"]) for each in nodes[1]
    ]
    assert {"blocks.1.up:linear", "halved.out:div", "blocks.2.out:relu"} <= {
        each["id"] for each in nodes[0]
    }
    assert run("graph", "readers.tpb") == run("graph", "readers.yaml")


def test_graphviz_reads_the_dot(run):
    if shutil.which("dot") is None:
        pytest.skip("this system has no program `dot`")
    text = run("graph", "readers.yaml", "--as", "dot")
    plain = subprocess.run(["dot", "-Tplain"], input=text.encode(), check=True, capture_output=True)
    lines = [line.partition(" ")[0] for line in plain.stdout.decode().splitlines()]
    boxes = re.findall(r"^ +n\d+ \[label=", text, re.MULTILINE)
    assert (lines.count("node"), lines.count("edge")) == (len(boxes), text.count(" -> "))
    drawn = run("graph", "readers.yaml", "--as", "svg")
    assert "blocks.0..2" in drawn
    assert "&lt;weight&gt;" in drawn


def test_each_arrow_of_mermaid_has_its_boxes(run):
    text = run("graph", "readers.yaml", "--as", "mermaid")
    ends = re.findall(r"^ +(n\d+) -->(?:\|\"[^\"]*\"\|)? (n\d+)$", text, re.MULTILINE)
    boxes = set(re.findall(r"^ +(n\d+)[(\[]", text, re.MULTILINE))
    assert len(ends) == text.count("-->") > 4
    assert {each for pair in ends for each in pair} <= boxes
    assert text.count("subgraph ") == len(re.findall(r"^ +end$", text, re.MULTILINE)) > 0


def test_model_explorer_has_each_node_in_the_layer_of_its_part(run):
    found = json.loads(run("graph", "readers.yaml", "--as", "model-explorer"))
    nodes = {each["id"]: each for each in found["graphs"][0]["nodes"]}
    assert nodes["blocks.1.up:linear"]["namespace"] == "blocks/1/up"
    sources = {each["sourceNodeId"] for node in nodes.values() for each in node["incomingEdges"]}
    assert sources <= nodes.keys()
    for node in nodes.values():
        for edge in node["incomingEdges"]:
            outputs = nodes[edge["sourceNodeId"]]["outputsMetadata"]
            assert edge["sourceNodeOutputId"] in {each["id"] for each in outputs}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--part", "blocks.7"], "has no part `blocks.7`"),
        (["--part", "blokcs"], "did you mean `blocks`"),
        (["--overlay", "other.json"], "no operation of `readers` is among them"),
        (["--overlay", "broken.json"], "it has no `name` and `values`"),
        (["--times", "other.json"], "it has no `operations`"),
        (["--shapes", "C=3"], "C"),
        (["-o", "readers.yaml", "--as", "text"], "is not a drawing"),
        (["-o", "nowhere/graph.dot"], "there is no folder"),
        (["-o", "mine.svg"], "is not a drawing of tripybuild"),
        (["--input", "x=float32[2]"], "declares its inputs itself"),
        (["--overlay", "malformed.json"], "`malformed.json` is not a file of numbers: "),
    ],
)
def test_what_cannot_be_drawn_is_said(run, tmp_path, words, said):
    (tmp_path / "other.json").write_text('{"name": "a", "values": {"x:add": 1}}')
    (tmp_path / "mine.svg").write_text("<svg>mine</svg>")
    (tmp_path / "malformed.json").write_text("{")
    (tmp_path / "broken.json").write_text('{"name": "a", "values": [1]}')
    assert said in run("graph", "readers.yaml", *words, code=1)


def test_the_suffix_of_a_file_says_the_form(run, tmp_path):
    """Unless it says none, and so does nothing else; a drawing takes the place of one."""
    for name, form in (("g.dot", "dot"), ("g.mmd", "mermaid"), ("g.json", "model-explorer")):
        for _ in range(2):
            run("graph", "readers.yaml", "-o", name)
        written = (tmp_path / name).read_text()
        assert written.rstrip() == run("graph", "readers.yaml", "--as", form).rstrip()
    run("graph", "readers.yaml", "-o", "g.drawing", "--as", "dot")
    assert (tmp_path / "g.drawing").read_text() == (tmp_path / "g.dot").read_text()
    for words, said in (
        (["-o", "g.svg", "--as", "dot"], "a drawing as svg, and not as dot"),
        (["-o", "g.png"], "does not say in which form"),
        (["--part", ""], "`--part` names no part"),
    ):
        assert said in run("graph", "readers.yaml", *words, code=2)


def test_less_is_shown_in_a_narrow_terminal(run, monkeypatch):
    """First less of what steps do, then nothing of that, then no types."""
    shown = {}
    for columns in (100, 60, 40):
        monkeypatch.setenv("COLUMNS", str(columns))
        _, *table = run("graph", "readers.yaml").splitlines()
        assert max(map(len, table)) <= columns, table
        shown[columns] = "\n".join(table)
    assert "linear(" in shown[100]
    assert "linear(" not in shown[40]
    assert all("blocks.0..2  x3" in each and "1.8 k" in each for each in shown.values())


def test_a_module_of_pytorch_is_to_be_imported(run, tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    text = "import torch\nnet = torch.nn.Linear(8, 2)\n"
    (tmp_path / "net.py").write_text(text)
    for command in ("graph", "check"):
        said = run(command, "net.py:net", code=1)
        assert "`net` of `net.py` is a module of PyTorch" in said
        assert "tripybuild import net.py:net -o net --input 'input=float32[2,3]'" in said


def test_the_published_schema_is_that_of_the_answer(run):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    schema = paths.schemas() / "answers" / "graph.json"
    jsonschema.validate(
        json.loads(run("graph", "readers.yaml", "--json")), json.loads(schema.read_text())
    )
