"""Models over a mesh: XLA partitions them as the spec says, and one device computes the same."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sections
import yaml

import tripybuild
from tripybuild.artifact.graph_json import from_data, to_data
from tripybuild.compiler import session
from tripybuild.compiler.export.export import ExportRequest, export_spec
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.config import ConfigChoice
from tripybuild.model.graph_builder import build
from tripybuild.trace.generated_code import operation_class
from tripybuild.trace.mesh import result_places
from tripybuild.weights import safetensors

SPECS = Path(__file__).resolve().parent.parent / "specs"
MINILM = {
    "tokens": "[data]",
    "mask": "[data]",
    "encoder.layer.*.attention.self.query.weight": "[model]",
    "encoder.layer.*.attention.self.query.bias": "[model]",
    "encoder.layer.*.attention.self.key.weight": "[model]",
    "encoder.layer.*.attention.self.key.bias": "[model]",
    "encoder.layer.*.attention.self.value.weight": "[model]",
    "encoder.layer.*.attention.self.value.bias": "[model]",
    "encoder.layer.*.attention.output.dense.weight": "[null, model]",
    "encoder.layer.*.intermediate.dense.weight": "[model]",
    "encoder.layer.*.intermediate.dense.bias": "[model]",
    "encoder.layer.*.intermediate.out": "[data, null, model]",
    "encoder.layer.*.output.dense.weight": "[null, model]",
    "embedding": "[data]",
}
LLAMA = {
    "tokens": "[data]",
    "position": "[data]",
    "model.layers.*.self_attn.q_proj.weight": "[model]",
    "model.layers.*.self_attn.k_proj.weight": "[model]",
    "model.layers.*.self_attn.v_proj.weight": "[model]",
    "model.layers.*.self_attn.o_proj.weight": "[null, model]",
    "model.layers.*.self_attn.keys": "[data, model]",
    "model.layers.*.self_attn.values": "[data, model]",
    "model.layers.*.mlp.gate_proj.weight": "[model]",
    "model.layers.*.mlp.up_proj.weight": "[model]",
    "model.layers.*.mlp.down_proj.weight": "[null, model]",
    "logits": "[data]",
}
LLAMA_CONFIG = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 16,
    "rms_norm_eps": 1e-5,
    "rope_theta": 100.0,
    "tie_word_embeddings": False,
}
SMALL = {"vocab": 99, "context": 64, "width": 32, "inner": 48, "heads": 4, "depth": 1}


@pytest.fixture(autouse=True)
def _cache(shared_cache):
    """Nothing is found that another session compiled."""


def split_spec(name, folder, shardings, axes="{data: 2, model: 2}"):
    """The spec of the project with a mesh, in a folder of the test."""
    above, below = (SPECS / name).read_text().split("\ndefine:\n")
    lines = [f"  {path}: {said}" for path, said in shardings.items()]
    path = folder / name
    mesh = "\n".join([f"mesh: {axes}", "sharding:", *lines, "define:", ""])
    path.write_text(f"{above}\n{mesh}{below}")
    return path


def random_weights(path, file, *, sizes=None, config=None):
    """Weights for the model of a spec, small enough for float32."""
    built = build(path, sizes, config=ConfigChoice(config))
    rng = np.random.default_rng(3)
    arrays = {
        name: (rng.standard_normal(value.shape) / 6).astype(np.float32)
        for name, value in built.declared_weights.items()
    }
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(safetensors.encode(arrays))
    return file


def collectives(model, key="collectives"):
    """What the devices of each program tell each other, or what each of them needs."""
    (entry,) = model.manifest["entries"]
    return [each[key] for each in entry["specialisations"]]


def sentences(batch, length, vocab):
    """Random tokens, of which the last of the first sentence are padding."""
    tokens = np.random.default_rng(5).integers(1, vocab, (batch, length)).astype(np.int32)
    mask = np.ones_like(tokens)
    mask[0, -2:] = 0
    return {"tokens": tokens, "mask": mask}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A small MiniLM over a mesh of four, the file of its weights, and one of one device."""
    folder = tmp_path_factory.mktemp("minilm")
    spec = split_spec("minilm.yaml", folder, MINILM)
    weights = random_weights(spec, folder / "w.safetensors", sizes=SMALL)
    made = tripybuild.compile(spec, sizes=SMALL, weights=weights)
    one = tripybuild.compile(
        SPECS / "minilm.yaml", target="cpu:onnxruntime", sizes=SMALL, weights=weights
    )
    return made, one, spec, weights


def test_a_sharded_model_computes_what_one_device_does(small):
    """Two all-reduces for a layer: the products of attention and those behind are summed."""
    made, one, *_ = small
    assert made.manifest["target"] == "cpu:xla"
    assert collectives(made) == [{"all-reduce": [2, 2 * 4 * 64 * 32 * 4]}]
    for batch, length in ((8, 64), (4, 5)):  # the second is compiled for the call
        given = sentences(batch, length, SMALL["vocab"])
        np.testing.assert_allclose(made(**given)["embedding"], one(**given)["embedding"], atol=1e-5)


def test_weights_are_placed_in_pieces(small):
    """No device has all of what is split: it is neither taken nor gathered whole."""
    made, *_ = small
    text = made.target.load(made.entries[""])({"B": 8, "S": 64}).program.text
    takes = text.partition("entry_computation_layout={(")[2].partition(")->")[0]
    assert takes.count("f32[24,32]") == SMALL["depth"]  # half of the 48 rows
    assert takes.count("f32[32,24]") == SMALL["depth"]
    assert "f32[48,32]" not in text
    assert "f32[32,48]" not in text
    assert takes.count("s32[4,64]") == 2  # half of the batch


def test_without_shardings_there_are_no_collectives(small, tmp_path):
    """A mesh that splits nothing is said to, and each of its devices does all of the work."""
    split, *_, weights = small
    path = tmp_path / "minilm.yaml"
    path.write_text((SPECS / "minilm.yaml").read_text() + "\nmesh: {data: 2}\n")
    made = tripybuild.compile(path, sizes=SMALL, weights=weights)
    assert collectives(made) == [{}]
    (alone,), (shared,) = collectives(made, "costs"), collectives(split, "costs")
    assert shared["flops"] < 0.3 * alone["flops"]  # of four devices
    assert shared["memory"] < alone["memory"]
    (warning,) = made.warnings
    assert (warning.code, warning.span.line) == ("unused-axis", path.read_text().count("\n"))


def test_a_saved_program_runs_in_another_process(small, tmp_path):
    """It is loaded, or compiled anew of its StableHLO, and calls of other sizes are compiled."""
    made, *_ = small
    path = tmp_path / "minilm.tpb"
    made.save(path)
    given = sentences(8, 64, SMALL["vocab"])
    wanted = made(**given)["embedding"]
    np.savez(tmp_path / "given.npz", **given)
    code = """
import numpy as np, sys, tripybuild
given = dict(np.load(sys.argv[2]))
found = [tripybuild.load(sys.argv[1], rebuild=each)(**given)["embedding"] for each in (0, 1)]
np.save(sys.argv[3], np.stack(found))
"""
    arguments = [str(tmp_path / name) for name in ("minilm.tpb", "given.npz", "found.npy")]
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, timeout=120)
    for each in np.load(arguments[2]):
        np.testing.assert_allclose(each, wanted, atol=1e-6)


def test_calls_that_do_not_divide_are_refused(small):
    """Before native code sees them, with the sizes of the call."""
    made, *_ = small
    with pytest.raises(DiagnosticError) as caught:
        made(**sentences(3, 5, SMALL["vocab"]))
    (found,) = caught.value.diagnostics
    assert found.code == "bad-sharding"
    assert "must be a multiple of 2" in found.message
    assert "B = 3" in found.notes[0]
    assert "multiple_of: 2" in found.hint


def test_a_cache_is_split_from_call_to_call(tmp_path):
    """The Llama block: heads and caches over `model`, sequences over `data`."""
    spec = split_spec("llama.yaml", tmp_path, LLAMA)
    spec.write_text(spec.read_text().replace("B: {min: 1, opt: 1", "B: {min: 2, opt: 2"))
    config = tmp_path / "config.json"
    config.write_text(json.dumps(LLAMA_CONFIG))
    weights = random_weights(spec, tmp_path / "w.safetensors", config=config)
    options = {"weights": weights, "config": config}
    made = tripybuild.compile(spec, **options)
    one = tripybuild.compile(SPECS / "llama.yaml", target="cpu:onnxruntime", **options)
    text = made.target.load(made.entries[""])({"B": 2, "S": 1}).program.text
    sums = [line for line in text.splitlines() if " all-reduce(" in line]
    over_model = [line for line in sums if "replica_groups={{0,1},{2,3}}" in line]
    assert len(over_model) == 2 * LLAMA_CONFIG["num_hidden_layers"]
    tokens = np.random.default_rng(8).integers(0, 64, (2, 4)).astype(np.int32)
    sessions = [made.start(B=2), one.start(B=2)]
    for start in range(4):
        given = {"tokens": tokens[:, start : start + 1], "position": np.full(2, start, np.int32)}
        found, wanted = (each(**given)["logits"] for each in sessions)
        np.testing.assert_allclose(found, wanted, atol=1e-5)
    for name, state in sessions[0].state.items():
        np.testing.assert_allclose(state, sessions[1].state[name], atol=1e-5)


@pytest.mark.full
def test_the_whole_minilm_computes_what_one_device_does(tmp_path):
    """The published weights over eight devices, of which four share each product."""
    spec = split_spec("minilm.yaml", tmp_path, MINILM, "{data: 2, model: 4}")
    made = tripybuild.compile(spec)
    one = tripybuild.compile(SPECS / "minilm.yaml", target="cpu:xla")
    assert collectives(made)[0]["all-reduce"][0] == 12
    given = sentences(8, 64, 30522)
    np.testing.assert_allclose(made(**given)["embedding"], one(**given)["embedding"], atol=1e-5)


TINY = """\
tripybuild: 1
model: tiny
sizes: {{width: 8, inner: 12, shards: 2}}
inputs: {{x: "float32[B, width]"}}
ranges: {{B: {{min: 1, opt: 4, max: 8}}}}
parts: {{up: "Linear(width, inner)", down: "Linear(inner, width)"}}
steps:
  hidden: tanh(up(x))
outputs: {{y: down(hidden)}}
weights: {{file: tiny.safetensors}}
mesh: {mesh}
sharding: {sharding}
"""
SPLIT = "{x: [data], up.weight: [model]}"


def tiny(folder, mesh="{data: 2, model: shards}", sharding=SPLIT):
    """A perceptron over a mesh."""
    path = folder / "tiny.yaml"
    path.write_text(TINY.format(mesh=mesh, sharding=sharding))
    return path


@pytest.mark.parametrize(
    ("mesh", "sharding", "code", "words", "line"),
    [
        ("{data: 0}", "{}", "bad-mesh", "must have a size of 1 or more, but has 0", 11),
        ("{data: 2.0}", "{}", "bad-mesh", "but has 2.0", 11),
        ("{data: B}", "{}", "bad-mesh", "must have a fixed size, and a call tells `B`", 11),
        ("{a: 1000000000, b: 1000}", "{}", "bad-mesh", "1000000000000 devices", 11),
        ("{}", "{x: [data]}", "bad-sharding", "and there is none", 12),
        ("{data: 2}", "{x: [date]}", "bad-sharding", "no axis `date`", 12),
        ("{data: 2}", "{x: [data, data]}", "bad-sharding", "`data` twice", 12),
        ("{data: 2}", "{x: [[data, data]]}", "bad-sharding", "`data` twice", 12),
        ("{data: 2}", "{x: [null, null, data]}", "bad-sharding", "says 3 dimensions", 12),
        ("{data: 5}", "{up.weight: [data]}", "bad-sharding", "`data: 5` does not divide", 12),
        ("{data: 2}", "{up.wait: [data]}", "bad-sharding", "is called `up.wait`", 12),
        ("{data: 2}", "{'*.*.weight': [data]}", "bad-sharding", "is called `*.*.weight`", 12),
        ("{data: 2}", "{'*.bias': [data], up.bias: []}", "bad-sharding", "split twice", 12),
        ("{data: 2}", "{'x[0]': [data]}", "bad-sharding", "`x[0]`", 12),
        ("{data: 2}", "{x: data}", "wrong-type", "", 12),
    ],
)
def test_what_does_not_fit_is_said_at_its_line(tmp_path, mesh, sharding, code, words, line):
    """Each axis and each entry is held against the model."""
    with pytest.raises(DiagnosticError) as caught:
        build(tiny(tmp_path, mesh, sharding))
    found = caught.value.diagnostics[0]
    assert (found.code, found.span.line) == (code, line)
    assert words in found.message
    assert found.hint or code == "wrong-type"


def test_other_targets_refuse_a_mesh(tmp_path):
    """None computes on one device without a word; a mesh of one device is none."""
    path = tiny(tmp_path)
    weights = random_weights(path, tmp_path / "tiny.safetensors")
    for target in ("cpu:onnxruntime", "cpu:openvino", "tensorrt-rtx"):
        with pytest.raises(DiagnosticError) as caught:
            tripybuild.compile(path, target=target, weights=weights)
        (found,) = caught.value.diagnostics
        assert (found.code, found.span.line, found.label) == (
            *("target-unfit", 11),
            "data: 2, model: 2",
        )
    path = tiny(tmp_path, "{data: 1, model: shards}")
    made = tripybuild.compile(path, sizes={"shards": 1}, weights=weights)
    assert made.manifest["target"] == "cpu:onnxruntime"
    assert "mesh" not in made.manifest["entries"][0]


def test_texts_and_files_without_devices_say_so(tmp_path):
    """What is printed for another engine is refused, and a file of ONNX leaves the mesh out."""
    path = tiny(tmp_path)
    random_weights(path, tmp_path / "tiny.safetensors")
    assert '"data"=2, "model"=2' in session.emit(path, "stablehlo")
    with pytest.raises(DiagnosticError) as caught:
        session.emit(path, "onnx")
    assert caught.value.diagnostics[0].code == "target-unfit"
    (warning,) = export_spec(path, ExportRequest(tmp_path / "tiny.onnx")).warnings
    assert (warning.code, warning.span.line) == ("mesh-left-out", 11)


def test_a_machine_has_so_many_devices(tmp_path):
    """More than a processor makes are refused by the number, and not by a crash."""
    path = tiny(tmp_path, "{data: 1000, model: 1000}", "{}")
    weights = random_weights(path, tmp_path / "tiny.safetensors")
    with pytest.raises(DiagnosticError) as caught:
        tripybuild.compile(path, weights=weights)
    (found,) = caught.value.diagnostics
    assert found.code == "mesh-devices"
    assert "1000000 devices" in found.message


BLOCKS = """\
tripybuild: 1
model: blocks
inputs: {x: "float32[4, 8]"}
parts: {layers: block * 3}
steps:
  whole: layers(x * 2.0)
  low, high: split(whole, 2, 1)
outputs: {y: low + high}
weights: blocks.safetensors
mesh: {data: 2, model: 2}
sharding: {whole: [data], high: [null, model], layers.*.h: [data, model], layers.1.inner: [data]}
define:
  block:
    inputs: {v: "float32[4, 8]"}
    parts: {inner: "Linear(8, 8)"}
    steps: {h: tanh(inner(v * 3.0))}
    outputs: {out: h + v}
"""


def test_a_step_is_what_it_gives(tmp_path):
    """Not what it computes on the way; also of parts that repeat, and of several results."""
    path = tmp_path / "blocks.yaml"
    path.write_text(BLOCKS)
    graph = build(path).graph
    operators = {value: each for each in graph.operations for value in each.outputs}
    found = {
        (place.label, place.number): operators[value].operator
        for value, place in result_places(graph.operations).items()
        if place in graph.mesh.steps
    }
    tanhs = {(f"layers.{at}.h", 1): "tanh" for at in range(3)}
    given = {("layers.2.out", 0): "add", ("layers.1.inner", 0): "linear"}
    assert found == tanhs | given | {("low, high", 1): "slice"}
    assert session.emit(path, "stablehlo").count("sdy.sharding_constraint") == len(found)


def test_a_file_says_no_mesh_that_its_graph_has_not(tmp_path):
    """What is stored of a mesh is read back, and held against the tensors."""
    graph = build(tiny(tmp_path)).graph
    data, arrays = to_data(graph)
    symbols = {"B": graph.inputs["x"].shape[0]}
    assert from_data(data, arrays, symbols, operation_class).mesh == graph.mesh
    for wrong in ([["data"]] * 3, [["date"]], [["data"], ["data"]], "data", [1]):
        data["mesh"]["shardings"]["x"] = wrong
        with pytest.raises(DiagnosticError) as caught:
            from_data(data, arrays, symbols, operation_class)
        assert caught.value.diagnostics[0].code == "executable-altered"


LOOPS = """\
tripybuild: 1
model: loops
inputs: {x: "float32[4, 8]", flag: "bool[()]"}
steps:
  turned: while_loop(small, step, [x])
  chosen: cond(flag, grown, shrunk, [turned])
outputs: {y: chosen}
mesh: {data: 2, model: 2}
sharding: {x: [data, model], turned: [data], y: [null, data]}
define:
  small: {inputs: {v: "float32[4, 8]"}, outputs: {more: "sum(v) < 100.0"}}
  step: {inputs: {v: "float32[4, 8]"}, outputs: {next: v * 2.0}}
  grown:
    inputs: {v: "float32[4, 8]"}
    steps: {big: "v @ transpose(v, 0, 1)"}
    outputs: {out: big @ v}
  shrunk: {inputs: {v: "float32[4, 8]"}, outputs: {out: v / 3.0}}
"""


def test_loops_and_branches_run_over_a_mesh(tmp_path):
    """Devices agree on what a predicate is, and what they give can be split."""
    path = tmp_path / "loops.yaml"
    path.write_text(LOOPS)
    made = tripybuild.compile(path)
    whole = tmp_path / "whole.yaml"
    whole.write_text(re.sub("(mesh|sharding): .*\n", "", LOOPS))
    one = tripybuild.compile(whole, target="reference")
    x = np.random.default_rng(0).random((4, 8), np.float32)
    for flag in (True, False):
        given = {"x": x, "flag": np.array(flag)}
        np.testing.assert_allclose(made(**given)["y"], one(**given)["y"], rtol=1e-5)
    assert collectives(made)[0]


def test_a_used_file_brings_no_mesh(tmp_path):
    """The outermost model says where things are computed."""
    tiny(tmp_path, "{data: 2}", "{x: [data]}")
    path = tmp_path / "user.yaml"
    path.write_text(
        "tripybuild: 1\nmodel: user\nuse: {inner.yaml: [double]}\n"
        "inputs: {x: 'float32[4]'}\noutputs: {y: double(x)}\n"
    )
    text = "tripybuild: 1\nmodel: inner\ninputs: {z: 'float32[4]'}\noutputs: {w: double(z)}\n"
    define = "define:\n  double: {inputs: {v: 'float32[4]'}, outputs: {out: v * 2.0}}\n"
    (tmp_path / "inner.yaml").write_text(
        f"{text}mesh: {{data: 2}}\nsharding: {{z: [data]}}\n{define}"
    )
    assert build(tmp_path / "inner.yaml").graph.mesh.devices == 2
    assert build(path).graph.mesh is None


def test_the_page_does_what_it_says(tmp_path, monkeypatch):
    """The files, programs and commands of the sections on sharding, in order."""
    monkeypatch.chdir(tmp_path)
    page = SPECS.parent / "docs" / "scale.md"
    for section in sections.sections(page):
        for block in section.blocks if section.title.startswith("Sharding") else ():
            if block.name is not None:
                (tmp_path / block.name).write_text(block.text)
            elif block.language == "python":
                exec(compile(block.text, page.name, "exec"), {})
            elif block.language == "console":
                for command, expected in sections.commands(block):
                    done = sections.shell(command, tmp_path)
                    assert done.returncode == 0, done.stdout
                    assert sections.is_printed(expected, done.stdout), f"{command}\n{done.stdout}"
            elif block.language == "text":
                said = yaml.safe_load(block.text)["sharding"]
                assert list(said) == [name for name in MINILM if name in said]
                assert set(MINILM) - set(said) == {"encoder.layer.*.intermediate.out"}
