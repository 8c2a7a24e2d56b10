"""`tripybuild import` and `tripybuild.compile` of programs: what is written and what refused."""

import gc
import json
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import tripybuild
from tripybuild.cli.main import app
from tripybuild.documents.plain_json import read_object
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.importer.session import ImportRequest, read_source
from tripybuild.process import paths
from tripybuild.testing.registry import registry

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")

MODEL = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.norm, self.down = nn.Linear(8, 16), nn.LayerNorm(16), nn.Linear(16, 8)

    def forward(self, x):
        return x + self.down(self.norm(torch.relu(self.up(x))))


class Flow(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


torch.manual_seed(0)
block, flow = Block(), Flow()
args = (torch.randn(3, 8),)


def made():
    print("made")
    return block


class Odd(nn.Module):
    def forward(self, x):
        return torch.special.bessel_j0(x)


odd = Odd()


class Fragile(nn.Module):
    def forward(self, x):
        if not torch.compiler.is_exporting():
            raise RuntimeError("only exported")
        return x * 2


fragile = Fragile()


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        return x * self.calls


counter = Counter()


def number():
    return 3


def failing():
    raise OSError("no such thing")
"""


def ran(*given: object) -> tuple[int, str]:
    """The exit code of a command, and what it printed."""
    result = CliRunner().invoke(app, [*map(str, given)], catch_exceptions=False)
    return result.exit_code, result.output


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with modules."""
    path = tmp_path_factory.mktemp("source") / "blocks.py"
    path.write_text(MODEL, encoding="utf-8")
    return path


def test_a_module_is_written_as_a_spec_and_compared(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "out"
    code, text = ran("import", f"{model}:block", "-o", folder, "--dynamic", "x=B=1:4:64")
    assert code == 0, text
    assert f"Imported `{model}:block` into `{folder / 'model.yaml'}`" in text
    assert "Compared with its source: 1 output differs by at most" in text
    assert sorted(each.name for each in folder.iterdir()) == ["block.safetensors", "model.yaml"]
    spec = (folder / "model.yaml").read_text(encoding="utf-8")
    assert "x: F[B, 8]" in spec
    assert "B: {min: 1, opt: 4, max: 64}" in spec
    executable = tripybuild.compile(folder / "model.yaml")
    code, text = ran("import", f"{model}:block", "-o", folder)
    assert (code, "already exists" in text) == (1, True)
    given = np.ones((5, 8), np.float32)
    assert executable(x=given)["output"].shape == (5, 8)


def test_a_function_may_give_the_module(model: Path, tmp_path: Path) -> None:
    code, text = ran(
        "import",
        f"{model}:made",
        "-o",
        tmp_path,
        "--input",
        "x=float32[B=1:2:9,8]",
        "--no-verify",
        "--json",
    )
    assert code == 0, text
    data, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
    assert data["notes"] == ["exported in evaluation mode"]
    assert [Path(each).name for each in data["paths"]] == ["model.yaml", "block.safetensors"]
    assert "differences" not in data


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("flow", "torch.cond"),
        ("number", "gives `int`, and no module"),
        ("failing", "no such thing"),
        ("absent", "has no `absent`"),
    ],
)
def test_what_is_refused_leaves_nothing(model: Path, tmp_path: Path, name: str, words: str) -> None:
    folder = tmp_path / "out"
    code, text = ran("import", f"{model}:{name}", "-o", folder)
    assert code == 1
    assert words in text
    assert not folder.exists()


def test_scaffolds_are_written_for_what_is_not_read(model: Path, tmp_path: Path) -> None:
    given = ("import", f"{model}:odd", "-o", tmp_path / "out", "--scaffold", tmp_path / "mine")
    code, text = ran(*given)
    assert (code, "error[import-unread]" in text) == (1, True)
    (file,) = (tmp_path / "mine").iterdir()
    assert f"Wrote `{file}`" in text
    assert "special_bessel_j0" in file.read_text(encoding="utf-8")
    assert not (tmp_path / "out").exists()
    code, text = ran(*given)
    assert (code, "error[file-exists]" in text) == (1, True)


def test_a_foreign_domain_has_no_scaffold_and_a_model_without_inputs_no_spec(
    tmp_path: Path,
) -> None:
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    text = '<ir_version: 10, opset_import: ["" : 20, "own" : 1]>'
    for body, words in (
        ("g (float[2] x) => (float[2] y) { y = own.Foo (x) }", "No scaffold for operators of"),
        ("g () => (float[2] y) <float[2] w = {1, 2}> { y = Relu (w) }", "has no inputs, which a"),
    ):
        onnx.save(onnx.parser.parse_model(f"{text} {body}"), tmp_path / "m.onnx")
        given = ("import", tmp_path / "m.onnx", "-o", tmp_path / "o", "--scaffold", tmp_path / "s")
        code, said = ran(*given)
        assert (code, words in said) == (1, True), said
        assert [each.name for each in tmp_path.iterdir()] == ["m.onnx"]


def test_a_folder_in_the_place_of_a_file_is_not_replaced(model: Path, tmp_path: Path) -> None:
    (tmp_path / "block.safetensors").mkdir()
    code, text = ran("import", f"{model}:block", "-o", tmp_path, "--force")
    assert (code, "block.safetensors` already exists" in text) == (1, True), text
    assert len([*tmp_path.iterdir()]) == 1


def test_a_difference_is_a_failure(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tripybuild.importer.session.TOLERANCE", 0.0)
    monkeypatch.setattr(
        "tripybuild.importer.session.OutputDifference.is_small", property(lambda _: False)
    )
    code, text = ran("import", f"{model}:block", "-o", tmp_path)
    assert code == 1
    assert "error[import-mismatch]: the output `output` of" in text


def test_a_source_that_cannot_be_run_is_not_compared(model: Path, tmp_path: Path) -> None:
    code, text = ran("import", f"{model}:fragile", "-o", tmp_path)
    assert code == 0, text
    assert "Not compared with its source: it cannot be run: RuntimeError: only exported" in text


def test_a_state_is_compared_from_its_start(model: Path, tmp_path: Path) -> None:
    code, text = ran("import", f"{model}:counter", "-o", tmp_path)
    assert code == 0, text
    assert "Compared with its source: 1 output differs in nothing" in text


def test_a_model_of_onnx_that_refuses_the_inputs_is_not_compared(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    text = """
    <ir_version: 10, opset_import: ["" : 20]>
    g (float[1] table, int64[9] ids) => (float[9] y) { y = Gather (table, ids) }
    """
    onnx.save(onnx.parser.parse_model(text), tmp_path / "rows.onnx")
    code, said = ran("import", tmp_path / "rows.onnx", "-o", tmp_path / "to")
    assert code == 0, said
    assert "Not compared with its source: it cannot be run: InvalidArgument" in said


def test_names_that_yaml_or_the_spec_has_for_something_else(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    text = """
    <ir_version: 10, opset_import: ["" : 20]>
    g (float[no, 2] yes, bool on) => (float[no, 2] null)
    <float[2] yes.w = {3, 4}>
    { all = Add (yes, yes.w)  null = Where (on, all, yes) }
    """
    made = onnx.parser.parse_model(text.replace("yes.w", "yes_w"))
    named = made.SerializeToString().replace(b"yes_w", b"yes.w")  # which its text cannot say
    (tmp_path / "words.onnx").write_bytes(named)
    code, said = ran("import", tmp_path / "words.onnx", "-o", tmp_path / "to")
    assert code == 0, said
    assert "Compared with its source at no=2: 1 output differs in nothing" in said
    written = (tmp_path / "to" / "model.yaml").read_text(encoding="utf-8")
    assert '  "yes": F[no, 2]\n  "on": bool[()]' in written
    assert '  "null": where(' in written


def test_inputs_and_dimensions_called_as_what_the_spec_calls(model: Path, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    text = """
    <ir_version: 10, opset_import: ["" : 20]>
    g (float[F, 2] relu, float[w, 2] tanh, float[sum, 2] float32)
    => (float[F] y, float[w, 2] relu_input, float[sum, 2] z)
    <float[2] w = {3, 4}, int64[1] axis = {1}> {
      a = Relu (relu) b = Mul (a, w) y = ReduceSum <keepdims = 0> (b, axis)
      relu_input = Exp (tanh) z = Identity (float32)
    }
    """
    onnx.save(onnx.parser.parse_model(text), tmp_path / "called.onnx")
    code, said = ran("import", tmp_path / "called.onnx", "-o", tmp_path / "to")
    assert code == 0, said
    assert "note: the input `relu` is called `relu_input_2`, since its name means" in said
    assert "note: the dimension `sum` is called `sum_size`, since its name means" in said
    assert "3 outputs differ in nothing" in said
    written = (tmp_path / "to" / "model.yaml").read_text(encoding="utf-8")
    assert "  relu_input_2: F[F_size, 2]\n  tanh: F[w_size, 2]\n" in written

    source = model.with_name("called.py")
    source.write_text(MODEL.replace("forward(self, x)", "forward(self, relu)").replace("x", "relu"))
    dims = "relu=relu=1:4:64"
    code, said = ran("import", f"{source}:block", "-o", tmp_path / "of", "--dynamic", dims)
    assert code == 0, said
    assert "Compared with its source: 1 output differs" in said


def test_inputs_that_no_memory_holds_are_not_compared(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    size = 1 << 31
    text = f"""
    <ir_version: 10, opset_import: ["" : 20]>
    g (float[{size}, {size}] x) => (float[{size}, {size}] y) {{ y = LeakyRelu <alpha = 0.5> (x) }}
    """
    made = onnx.parser.parse_model(text)
    made.graph.node[0].attribute[0].f = float("inf")
    onnx.save(made, tmp_path / "huge.onnx")
    code, said = ran("import", tmp_path / "huge.onnx", "-o", tmp_path / "to")
    assert code == 0, said
    assert "Not compared with its source: its inputs are too large" in said
    written = (tmp_path / "to" / "model.yaml").read_text(encoding="utf-8")
    assert "leaky_relu(x, " in written  # of what is infinite, not all is near


def test_a_full_disk_leaves_nothing(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tripybuild.importer.session._write_weights", fail)
    folder = tmp_path / "out"
    code, text = ran("import", f"{model}:block", "-o", folder)
    assert (code, "error[output-unwritable]" in text) == (1, True)
    assert not folder.exists()


def test_programs_and_modules_are_compiled(model: Path) -> None:
    names: dict[str, object] = {}
    exec(compile(MODEL, str(model), "exec"), names)
    block, args = names["block"], names["args"]
    exported = torch.export.export(block, args, strict=False)
    whole = tripybuild.compile(exported)
    varying = tripybuild.compile(block, args, dynamic={"x": ["B"]})
    for executable, rows in ((whole, 3), (varying, 5)):
        x = torch.randn(rows, 8)
        expected = block(x).detach().numpy()
        np.testing.assert_allclose(executable(x=x.numpy())["output"], expected, atol=1e-5)
    scratch = Path(tempfile.gettempdir())
    folders = set(scratch.glob("tripybuild-import-*"))
    del whole, varying, executable
    gc.collect()
    left = set(scratch.glob("tripybuild-import-*"))
    assert len(folders - left) == 2


@pytest.mark.parametrize("given", [{"args": (1,)}, {"dynamic": {"x": ["B"]}}])
def test_what_a_program_has_itself_is_not_given(given: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError, match="wrong-value"):
        tripybuild.compile(tmp_path / "model.yaml", **given)
    with pytest.raises(DiagnosticError, match="wrong-type"):
        tripybuild.compile(3)  # type: ignore[arg-type]


def test_tensors_within_a_tuple_have_fixed_sizes() -> None:
    class Sum(torch.nn.Module):
        def forward(self, pair: tuple[torch.Tensor, torch.Tensor], x: torch.Tensor) -> torch.Tensor:
            return pair[0] + pair[1] * x

    pair, x = (torch.ones(3), torch.full((3,), 2.0)), torch.ones(2, 3)
    executable = tripybuild.compile(Sum(), (pair, x), dynamic={"x": ["B", None]})
    given = dict(zip(executable.entry().signature.inputs, (*pair, torch.ones(5, 3)), strict=True))
    assert np.array_equal(executable(**given)["output"], np.full((5, 3), 3.0))
    wrong = [{"x": ["B", None, "C"]}, {"x": 3}, {"pair": ["B"]}]
    for dynamic in wrong:
        with pytest.raises(DiagnosticError, match="wrong-value"):
            tripybuild.compile(Sum(), (pair, x), dynamic=dynamic)


def test_tripybuild_does_not_import_pytorch() -> None:
    code = (
        "import sys, tripybuild, tripybuild.importer.session\n"
        "assert not {'torch', 'transformers', 'onnx'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint with random weights."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=99, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=32,
    )  # fmt: skip
    path = tmp_path_factory.mktemp("bert")
    transformers.BertModel(config).save_pretrained(path)
    return path


def test_a_folder_of_hugging_face_is_read(folder: Path) -> None:
    read = read_source(folder, ImportRequest(), registry(paths.registry()))
    assert [(each.name, str(each.type)) for each in read.graph.inputs] == [
        ("input_ids", "tensor<BxSxi64>"),
        ("attention_mask", "tensor<BxSxi64>"),
    ]
    assert [name for name, _ in read.graph.outputs] == ["last_hidden_state", "pooler_output"]
    assert str(read.ranges["S"]) == "min 1, opt 32, max 32"
    assert read.config["hidden_size"] == 16
    elsewhere = [path for path, each in read.weights.items() if each.place is None]
    assert elsewhere == ["embeddings.position_ids", "embeddings.token_type_ids"]
    place = read.weights["pooler.dense.weight"].place
    assert place is not None
    assert (place.file, place.name) == (folder / "model.safetensors", "pooler.dense.weight")


def test_a_spec_reads_the_checkpoint_as_it_is(folder: Path, tmp_path: Path) -> None:
    code, text = ran("import", folder, "-o", tmp_path)
    assert code == 0, text
    assert "Compared with its source: 2 outputs differ by at most" in text
    assert (tmp_path / "model.safetensors").samefile(folder / "model.safetensors")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["model.safetensors", "model.yaml"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"architectures": ["BertModell"]}, "did you mean `BertModel`?"),
        ({"architectures": ["Own"], "auto_map": {"AutoModel": "own.Own"}}, "which is never run"),
        ({"architectures": []}, "names no class of a model"),
        ({"architectures": ["BertConfig"]}, "has no model `BertConfig`"),
        ({"num_hidden_layers": 2}, "has no weights `encoder.layer.1"),
        ({"num_hidden_layers": 100_000}, "`num_hidden_layers` = 100000, and the files have"),
        ({"hidden_size": 15}, "cannot be made of"),
        ({"vocab_size": 7}, ", and [7, "),
    ],
)
def test_a_folder_that_fits_no_model_is_one_diagnostic(
    folder: Path, tmp_path: Path, change: dict[str, object], words: str
) -> None:
    config, _ = read_object(folder / "config.json")
    (tmp_path / "config.json").write_text(json.dumps(config | change), encoding="utf-8")
    (tmp_path / "model.safetensors").symlink_to(folder / "model.safetensors")
    with pytest.raises(DiagnosticError) as caught:
        read_source(tmp_path, ImportRequest(), registry(paths.registry()))
    (found,) = caught.value.diagnostics
    assert found.code in {"import-architecture", "weight-missing"}
    assert words in f"{found.message} {found.hint}"


def test_a_saved_program_is_compared_with_the_module_that_is_named(
    model: Path, tmp_path: Path
) -> None:
    """Its own program is never run; other weights are told, with what to do."""
    names = runpy.run_path(str(model))
    program = torch.export.export(names["block"].eval(), names["args"])
    torch.export.save(program, tmp_path / "block.pt2")
    other = tmp_path / "other.py"
    other.write_text(MODEL.replace("manual_seed(0)", "manual_seed(1)"), encoding="utf-8")
    said = "Not compared with its source: a file's own program is never run; `--verify-with"
    for peer, code, words in (
        ([], 0, said),
        (["--verify-with", f"{model}:block"], 0, "Compared with its source: 1 output differs"),
        (["--verify-with", f"{other}:block"], 1, "hint: the spec is written all the same"),
        (["--verify-with", f"{model}:failing"], 1, "no such thing"),
        (["--verify-with", str(model)], 1, "name a function of it"),
    ):
        where = ["-o", tmp_path / "spec", "--force"]
        found, text = ran("import", tmp_path / "block.pt2", *where, *peer)
        assert (found, words in " ".join(text.split())) == (code, True), text
