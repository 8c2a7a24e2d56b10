"""The language server on files of registries: operators, modules, and what their snippets call."""

import shutil
from pathlib import Path

import pytest
from lsp_client import Client
from test_language_server import place
from unary_operator import unary_operator

from tripybuild.language_server.analysis import Analysis
from tripybuild.language_server.findings import find
from tripybuild.manual.functions import function_text
from tripybuild.schema.keys import key_text
from tripybuild.schema.kinds import KINDS

ROOT = Path(__file__).resolve().parents[3]
CUBE = unary_operator(
    "cube",
    """\
requires:
  rank: len(S) <= 4
reference: np.power(input, 3)
lower:
  tensorrt: trt.element_wise(input, trt.element_wise(input, input, "kPROD"), "kPROD")
  stablehlo: hlo.multiply(input, hlo.multiply(input, input))
  onnx: onnx.Mul(input, onnx.Mul(input, input))
examples:
  - call: cube([2.0, -3.0])
    gives: [8.0, -27.0]
  - call: cube(ones([1, 1, 1, 1, 1]))
    fails: rank
""",
    dtypes="float32, float16",
)
NAME = "own/math/cube.yaml"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("registries")
    (folder / "own/math").mkdir(parents=True)
    (folder / NAME).write_text(CUBE, encoding="utf-8")
    (folder / "own/modules").mkdir()
    shutil.copy(ROOT / "ops_registry/modules/linear.yaml", folder / "own/modules/ours.yaml")
    found = Client(folder)
    yield found
    assert found.close() == 0
    assert not found.strange


@pytest.mark.parametrize("folder", ["modules", "foreign", "families"])
def test_declarations_that_call_others_have_no_problems(folder):
    """Modules are called by names with a capital, and families are no names of snippets."""
    for path in sorted((ROOT / "ops_registry" / folder).iterdir()):
        found = find(Analysis(path, path.read_text(encoding="utf-8")), {})
        assert found.diagnostics == [], path.name


def test_an_operator_that_is_right_has_no_problems(client):
    assert client.problems(NAME, CUBE) == []


@pytest.mark.parametrize(
    ("before", "after", "code", "hint"),
    [
        ("hlo.multiply(input, hlo", "hlo.multipy(input, hlo", "unknown-builder", "hlo.multiply"),
        ("len(S) <= 4", "len(Z) <= 4", "unbound-name", "`S`"),
        ("requires:", "requries:", "unknown-key", "`requires`"),
        ("np.power(input, 3)", "np.power(inptu, 3)", "unbound-name", "`input`"),
    ],
)
def test_what_is_wrong_with_an_operator(client, before, after, code, hint):
    wrong = CUBE.replace(before, after)
    (problem,) = client.problems(NAME, wrong)
    assert problem["code"] == code
    assert hint in problem["message"]
    assert problem["range"]["start"]["line"] == place(CUBE, before)[0]


def test_what_builders_take(client):
    client.problems(NAME, CUBE)

    def labels(words, behind):
        found = client.at("completion", NAME, *place(CUBE, words, behind))
        return {each["label"]: each.get("detail") for each in found["items"]}

    assert labels("hlo.multiply", 4)["multiply"].startswith("hlo.multiply(")
    assert "kind: element_wise_operation" in labels("trt.element_wise", 4)["element_wise"]
    assert "power" in labels("np.power", 3)
    assert {"S", "input", "len", "T"} <= labels("len(S)", 4).keys()
    assert {"tolerance", "cost", "decompose"} <= labels("doc: Change", 0).keys()
    signature = client.at("signatureHelp", NAME, *place(CUBE, "input, 3)", 7))
    assert signature["signatures"][0]["label"] == function_text("np.power").signature
    assert len(signature["signatures"][0]["parameters"]) == 2
    hover = client.at("hover", NAME, *place(CUBE, "trt.element_wise", 6))
    assert function_text("trt.element_wise").signature in hover["contents"]["value"]
    assert "kPROD" in hover["contents"]["value"]
    key = client.at("hover", NAME, *place(CUBE, "reference:", 3))["contents"]["value"]
    text = key_text(KINDS["op"], "reference")
    assert text.doc in key
    assert text.example in key
    (target,) = client.at("definition", NAME, *place(CUBE, "power(input", 7))
    assert target["range"]["start"]["line"] == place(CUBE, "  input:")[0]


def test_a_module_that_is_right_has_no_problems_but_its_name(client):
    text = (ROOT / "ops_registry/modules/linear.yaml").read_text(encoding="utf-8")
    problems = client.problems("own/modules/ours.yaml", text)
    assert [each["code"] for each in problems] == ["file-name"]
    own = text.replace("module: Linear", "module: Ours").replace("Linear(", "Ours(")
    assert client.problems("own/modules/ours.yaml", own) == []
    wrong = own.replace("in_features", "in_feature", 1)
    assert client.problems("own/modules/ours.yaml", wrong)
