"""The language server, spoken with over its pipes as an editor does."""

import json
import shutil
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from lsp_client import Client, RefusedError
from typer.testing import CliRunner

from tripybuild.cli.commands import lsp
from tripybuild.cli.main import app

ROOT = Path(__file__).resolve().parents[3]
SPEC = """\
tripybuild: 1
model: tiny  # 🦙 漢字
doc: Attend.

sizes:
  width: 8
  heads: 2
  head: width // heads

inputs:
  x: F[B, S, width]

ranges:
  B: {min: 1, opt: 2, max: 4}
  S: {min: 1, opt: 16, max: 64}

parts:
  block: attention(heads)
  norm: RMSNorm(width)

steps:
  mixed: block(norm(x))

outputs:
  out: relu(mixed) + norm.weight

weights: tiny.safetensors

define:
  attention:
    sizes: [count]
    inputs:
      x: F[B, S, width]
    parts:
      query: Linear(width, width)
    steps:
      q: |
        wide = reshape(query(x), [B, S, count, head])
        return transpose(wide, 1, 2)
      scores: matmul(q, transpose(q, 2, 3))
    outputs:
      out: reshape(transpose(matmul(softmax(scores, 3), q), 1, 2), [B, S, width])
"""
NAME = "tiny.yaml"


def place(text, words, behind=0):
    """The line and the UTF-16 column of the first of some words."""
    start = text.index(words) + behind
    line = text.count("\n", 0, start)
    before = text[text.rfind("\n", 0, start) + 1 : start]
    return line, len(before.encode("utf-16-le")) // 2


def position(text, words):
    """The same as a client has it."""
    line, character = place(text, words)
    return {"line": line, "character": character}


def apply(text, edits):
    """A text after edits, whose places are in UTF-16."""
    lines = [each.encode("utf-16-le") for each in text.split("\n")]
    for edit in sorted(edits, key=lambda e: list(e["range"]["start"].values()), reverse=True):
        (first, start), (last, end) = (edit["range"][k].values() for k in ("start", "end"))
        new = (
            lines[first][: 2 * start] + edit["newText"].encode("utf-16-le") + lines[last][2 * end :]
        )
        lines[first : last + 1] = new.split("\n".encode("utf-16-le")) if b"\n" in new else [new]
    return "\n".join(each.decode("utf-16-le") for each in lines)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A client with an open spec; at the end nothing but messages was on standard output."""
    found = Client(tmp_path_factory.mktemp("specs"))
    yield found
    assert found.close() == 0
    assert not found.strange


@pytest.fixture
def spec(client):
    """The client, with the spec as it is right."""
    assert client.problems(NAME, SPEC) == []
    return client


def test_hints_are_the_types_of_steps_and_parts(spec):
    found = {
        SPEC.split("\n")[line].split(":", maxsplit=1)[0].strip(): t
        for line, t in spec.hints(NAME).items()
    }
    assert found["scores"] == ": F[B, 2, S, S]"
    assert found["q"] == ": F[B, 2, S, 4]"
    assert found["block"] == found["norm"] == ": -> F[B, S, 8]"
    assert found["head"] == " = 4"
    assert "width" not in found


def test_problems_come_while_typing_and_hints_stay(spec):
    wrong = SPEC.replace("softmax(scores, 3)", "softmax(scroes, 3)")
    (problem,) = spec.problems(NAME, wrong)
    assert problem["code"] == "unbound-name"
    assert "did you mean `scores`?" in problem["message"]
    line, start = place(wrong, "scroes")
    assert problem["range"]["start"] == {"line": line, "character": start}
    assert problem["range"]["end"] == {"line": line, "character": start + 6}
    assert spec.hints(NAME)[place(wrong, "scores: matmul")[0]] == ": F[B, 2, S, S]"


def test_a_file_that_does_not_parse_has_hints_and_names(spec):
    broken = SPEC.replace("mixed: block(norm(x))", "mixed: [block(norm(x)")
    (problem,) = spec.problems(NAME, broken)
    assert problem["code"] == "yaml-syntax"
    assert spec.hints(NAME)[place(broken, "scores: matmul")[0]] == ": F[B, 2, S, S]"
    line, start = place(broken, "width)")
    (target,) = spec.at("definition", NAME, line, start)
    assert target["range"]["start"] == position(SPEC, "width: 8")


def test_rename_of_a_size_reaches_snippets_types_and_keys_but_no_text(spec):
    text = SPEC.replace("doc: Attend.", "doc: The width is not renamed.")
    assert spec.problems(NAME, text) == []
    edits = spec.at("rename", NAME, *place(text, "width // heads"), newName="dim")["changes"]
    after = apply(text, edits[spec.uri(NAME)])
    assert after == text.replace("width", "dim").replace("The dim", "The width")
    assert spec.problems(NAME, after) == []


def test_line_breaks_of_windows(spec):
    text = SPEC.replace("\n", "\r\n")
    assert spec.problems(NAME, text) == []
    assert spec.hints(NAME)[place(SPEC, "scores: matmul")[0]] == ": F[B, 2, S, S]"
    edits = spec.at("rename", NAME, *place(SPEC, "width // heads"), newName="dim")["changes"]
    assert apply(text, edits[spec.uri(NAME)]) == text.replace("width", "dim")


def test_rename_of_a_part(spec):
    edits = spec.at("rename", NAME, *place(SPEC, "norm(x)"), newName="scale")["changes"]
    after = apply(SPEC, edits[spec.uri(NAME)])
    assert after == SPEC.replace("  norm:", "  scale:").replace("norm(x)", "scale(x)").replace(
        "norm.weight", "scale.weight"
    )
    assert spec.problems(NAME, after) == []


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        ("heads", "`heads` is a size already, in line 7"),
        ("2wide", "`2wide` is no name"),
        ("softmax", "`softmax` has a meaning here already"),
        ("float32", "`float32` is a dtype already"),
        ("next", "`next` is a word of the language"),
    ],
)
def test_a_rename_is_refused_with_the_reason(spec, new, reason):
    with pytest.raises(RefusedError, match=reason):
        spec.at("rename", NAME, *place(SPEC, "width: 8"), newName=new)


def test_what_the_file_does_not_declare_is_not_renamed(spec):
    with pytest.raises(RefusedError, match="`relu` is not declared in this file"):
        spec.at("prepareRename", NAME, *place(SPEC, "relu"))


def test_definitions_are_of_parts_operators_and_members(spec):
    (own,) = spec.at("definition", NAME, *place(SPEC, "block(norm", 2))
    assert own["range"]["start"] == position(SPEC, "block: ")
    (operator,) = spec.at("definition", NAME, *place(SPEC, "softmax"))
    assert operator["uri"].endswith("ops_registry/nn/softmax.yaml")
    (module,) = spec.at("definition", NAME, *place(SPEC, "RMSNorm"))
    assert module["uri"].endswith("ops_registry/modules/rmsnorm.yaml")
    found = spec.at(
        "references", NAME, *place(SPEC, "count]"), context={"includeDeclaration": True}
    )
    assert len(found) == 2


def test_hover_tells_types_costs_ranges_and_pages(spec):
    def text(words, behind=0):
        return spec.at("hover", NAME, *place(SPEC, words, behind))["contents"]["value"]

    assert "tp.softmax(input: Tensor" in text("softmax")
    assert "72 parameters" in text("block: ")
    assert "Path of its weights: `block`" in text("block: ")
    assert "min 1, opt 16, max 64" in text("S, count")
    assert "width = 8" in text("width // ")
    assert "Set in line 6" in text("width // ")
    assert "scores: F[B, 2, S, S]" in text("scores: ")


def test_completion_knows_the_place(spec):
    def labels(text, words, behind):
        spec.problems(NAME, text)
        found = spec.at("completion", NAME, *place(text, words, behind))
        return {each["label"]: each for each in found["items"]}

    step = labels(SPEC, "softmax(scores", 9)
    assert {"q", "scores", "count", "width", "softmax", "query", "float32"} <= step.keys()
    assert step["scores"]["detail"] == "step: F[B, 2, S, S]"
    assert step["softmax"]["detail"].startswith("softmax(input: T[*S], dim: axis(input) = None)")
    assert "dim=" in step
    assert "weight" in labels(SPEC, "norm.weight", 5)
    assert {"min", "opt", "max", "multiple_of"} <= labels(SPEC, "min: 1", 1).keys()
    part = labels(SPEC.replace("    inputs:\n", "    inp\n"), "    inp\n", 7)
    assert "inputs" in part
    assert "model" not in part
    typed = labels(SPEC.replace("mixed: block(norm(x))", "mixed: block("), "mixed: block(", 13)
    assert {"x", "norm", "x="} <= typed.keys()


def test_signatures_follow_the_argument(spec):
    text = SPEC.replace("transpose(q, 2, 3))", "transpose(q, 2, ")
    spec.problems(NAME, text)
    found = spec.at("signatureHelp", NAME, *place(text, "transpose(q, 2, ", 16))
    assert found["signatures"][0]["label"].startswith("transpose(input: T[*S]")
    assert found["activeParameter"] == 2
    own = spec.at("signatureHelp", NAME, *place(SPEC, "attention(heads", 10))
    assert own["signatures"][0]["label"] == "attention(count)"


def test_actions_mend_what_hints_name(spec):
    wrong = SPEC.replace("softmax(scores, 3)", "softmax(scroes, 3)").replace("ranges:", "rangse:")
    spec.problems(NAME, wrong)
    for _ in range(2):
        wrong = apply(wrong, next(iter(actions(spec, NAME).values())))
        left = spec.problems(NAME, wrong)
    assert (wrong, left) == (SPEC, [])


def actions(spec, name):
    """The edits that the problems of a file have, by what they are called."""
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    document = {"uri": spec.uri(name)}
    context = {"diagnostics": []}
    found = spec.ask("textDocument/codeAction", textDocument=document, range=span, context=context)
    return {each["title"]: each["edit"]["changes"][spec.uri(name)] for each in found}


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("model: a\ninputs:\n  x: F[B]\n", "outputs"),
        (
            "model: a\ninputs:\n  x: F[B]\noutputs:\n  y: relu(x)\nweights:\n  convert: true\n",
            "file",
        ),
        ("op: a\n", "tripybuild"),
    ],
)
def test_missing_keys_are_added(spec, written, key):
    text = written if key == "tripybuild" else f"tripybuild: 1\n{written}"
    name = f"{key}.yaml"
    spec.problems(name, text)
    after = apply(text, actions(spec, name)[f"Add `{key}:`"])
    assert f"{key}:" in after
    assert not any(f"`{key}` is missing" in e["message"] for e in spec.problems(name, after))


def test_weights_are_those_of_the_file(spec):
    """Their names are completed, their types are shown, and a conversion is offered."""
    for each in ("digits.yaml", "digits.safetensors"):
        shutil.copy(ROOT / "specs" / each, spec.folder / each)
    text = (ROOT / "specs/digits.yaml").read_text(encoding="utf-8")
    assert spec.problems("digits.yaml", text) == []
    (file,) = spec.at("definition", "digits.yaml", *place(text, "digits.safetensors", 2))
    assert file["uri"].endswith("digits.safetensors")
    member = text.replace("logits: scores", "logits: scores + head.bias")
    assert spec.problems("digits.yaml", member) == []
    hover = spec.at("hover", "digits.yaml", *place(member, "head.bias", 6))["contents"]["value"]
    assert "F[10]" in hover
    assert "In `digits.safetensors`: `head.bias`, float32[10]" in hover
    half = text.replace("F: float32", "F: float16").replace("  convert: true\n", "")
    (problem, *_) = spec.problems("digits.yaml", half)
    assert "float16" in problem["message"]
    after = apply(half, actions(spec, "digits.yaml")["Add `convert: true` to `weights:`"])
    assert spec.problems("digits.yaml", after) == []
    unused = text.replace("convert: true", "convert: true\n  unused: [c")
    spec.problems("digits.yaml", unused)
    found = spec.at("completion", "digits.yaml", *place(unused, "unused: [c", 10))["items"]
    assert {"conv1.weight", "head.bias"} <= {each["label"] for each in found}


def test_formatting_is_that_of_fmt(spec):
    mixed = SPEC.replace("doc: Attend.\n", "", 1) + "doc: 'Attend.'\n"
    spec.problems(NAME, mixed)
    options = {"tabSize": 2, "insertSpaces": True}
    document = {"uri": spec.uri(NAME)}
    edits = spec.ask("textDocument/formatting", textDocument=document, options=options)
    assert apply(mixed, edits).startswith("tripybuild: 1\nmodel: tiny  # 🦙 漢字\ndoc: Attend.\n")


def test_an_outline_has_types(spec):
    found = spec.ask("textDocument/documentSymbol", textDocument={"uri": spec.uri(NAME)})
    names = {each["name"]: each for each in found}
    (attention,) = names["define"]["children"]
    steps = {each["name"]: each["children"] for each in attention["children"]}["steps"]
    assert [(each["name"], each["detail"]) for each in steps] == [
        ("q", "F[B, 2, S, 4]"),
        ("scores", "F[B, 2, S, S]"),
    ]


def test_a_port_of_this_machine_is_served(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tripybuild", "lsp", "--tcp", str(port)]
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}
    ).encode()
    with subprocess.Popen(command, cwd=tmp_path) as server:
        for _ in range(600):
            with (
                suppress(ConnectionRefusedError),
                socket.create_connection(("127.0.0.1", port)) as c,
            ):
                c.settimeout(60)
                c.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                assert c.recv(16).startswith(b"Content-Length:")
                break
            time.sleep(0.1)
        server.terminate()


def test_parameters_that_are_none_are_refused(client):
    """With the code of JSON-RPC and the field, and the server goes on."""
    for params in ({}, {"textDocument": {"uri": 3}}, {"textDocument": "a", "position": []}):
        with pytest.raises(
            RefusedError, match=r"invalid parameters of `textDocument/hover`: .*"
        ) as e:
            client.ask("textDocument/hover", **params)
        assert e.value.code == -32602
    assert client.problems(NAME, SPEC) == []


def test_json_is_no_answer_of_the_server():
    found = CliRunner().invoke(app, ["lsp", "--json"])
    assert found.exit_code == 2
    assert "conflicting-options" in found.stdout


def test_a_missing_extra_is_one_diagnostic(monkeypatch):
    monkeypatch.setattr(lsp, "find_spec", lambda name: None)
    found = CliRunner().invoke(app, ["lsp"])
    assert found.exit_code == 1
    assert "pip install 'tripybuild[editor]'" in found.output


def test_the_extension_starts_the_command():
    """It is built from a lock file that names no host, and its settings are those of the page."""
    folder = ROOT / "editors/vscode"
    package = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    settings = package["contributes"]["configuration"]["properties"]
    assert settings["tripybuild.command"]["default"] == ["tripybuild", "lsp"]
    assert "http" not in (folder / "package-lock.json").read_text(encoding="utf-8")
    page = (ROOT / "docs/editor.md").read_text(encoding="utf-8")
    assert "`tripybuild.command`" in page
    assert all(f"npm run {each}" in page for each in package["scripts"] if each == "build")


USED = """\
tripybuild: 1
sizes:
  width: {type: int, doc: The number of columns.}
define:
  block:
    sizes: [count]
    inputs:
      x: F[B, width]
    parts:
      norm: RMSNorm(width)
    outputs:
      out: norm(x) * count
"""
USER = """\
tripybuild: 1
model: user
use:
  lib/blocks.yaml:
    take: [block]
    with: {width: 8}
inputs:
  x: F[B, 8]
parts:
  first: block(count=2)
outputs:
  y: first(block(3)(x)) + first.norm.weight
"""


@pytest.mark.parametrize(
    ("at", "old", "new"),
    [
        ("block:", "block", "layer"),
        ("width: {", "width", "columns"),
        ("count]", "count", "times"),
        ("norm: ", "norm", "scale"),
    ],
)
@pytest.mark.parametrize("is_open", [True, False])
def test_rename_reaches_the_files_that_use_it(client, at, old, new, is_open):
    """Open, or as they are on disk; those of the same name that use nothing stay."""
    (client.folder / "lib").mkdir(exist_ok=True)
    (client.folder / "lib/blocks.yaml").write_text(USED, encoding="utf-8")
    (client.folder / "lib/other.yaml").write_text(USED, encoding="utf-8")
    user = f"user_{old}_{is_open}.yaml"
    (client.folder / user).write_text("" if is_open else USER, encoding="utf-8")
    if is_open:
        client.problems(user, USER)
    assert client.problems("lib/blocks.yaml", USED) == []
    edits = client.at("rename", "lib/blocks.yaml", *place(USED, at), newName=new)["changes"]
    assert edits.keys() == {client.uri("lib/blocks.yaml"), client.uri(user)}
    changed = apply(USED, edits[client.uri("lib/blocks.yaml")])
    assert changed == USED.replace(old, new)
    assert apply(USER, edits[client.uri(user)]) == USER.replace("blocks.yaml", "KEPT").replace(
        old, new
    ).replace("KEPT", "blocks.yaml")
    (client.folder / user).unlink()
    if is_open:
        client.tell("textDocument/didClose", textDocument={"uri": client.uri(user)})
        client.versions.pop(client.uri(user))


def test_a_used_definition_is_renamed_where_it_is_declared(client):
    """From the file that uses it; and what is not known there is refused with the file's name."""
    (client.folder / "lib").mkdir(exist_ok=True)
    (client.folder / "lib/blocks.yaml").write_text(USED, encoding="utf-8")
    client.problems("user.yaml", USER)
    edits = client.at("rename", "user.yaml", *place(USER, "block(3)"), newName="layer")["changes"]
    assert client.uri("lib/blocks.yaml") in edits
    assert apply(USER, edits[client.uri("user.yaml")]).count("layer") == 3
    with pytest.raises(RefusedError, match=r"in `user.yaml`: `first` is a part already"):
        client.at("rename", "lib/blocks.yaml", *place(USED, "block:"), newName="first")
