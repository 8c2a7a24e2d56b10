"""`tripybuild check`: what it finds without a compiler, and what it says of costs."""

import json
import sys
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
import torch
from jsonschema import Draft7Validator
from safetensors.numpy import save_file
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import tripyapi as tp
from tripybuild.cli.commands import check
from tripybuild.cli.main import main
from tripybuild.compiler.check.costs import CostTable
from tripybuild.compiler.check.devices import GPUS, this_processor
from tripybuild.process import paths
from tripybuild.reference.cost import total
from tripybuild.trace.graph import Graph
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import BY_NAME
from tripybuild.weights import safetensors

SPEC = """\
tripybuild: 1
model: layers
types:
  F: float32
inputs:
  x: F[B, 8]
ranges:
  B: {min: 1, opt: 4, max: 64}
parts:
  blocks: block * 2
  head: Linear(8, 3)
outputs:
  y: head(blocks(x))
weights: layers.safetensors
define:
  block:
    inputs:
      x: F[B, 8]
    parts:
      up: Linear(8, 16)
      down: Linear(16, 8)
    outputs:
      out: x + down(curve(up(x)))
  curve:
    inputs:
      x: F[*A]
    outputs:
      out: x * sigmoid(x)
"""
CONVOLUTION = """\
tripybuild: 1
model: windows
inputs:
  image: float32[1, 1, H, 8]
  kernel: float32[1, 1, 5, 3]
ranges:
  H: {min: 4, opt: 32, max: 64}
outputs:
  found: convolution(image, kernel)
"""


@pytest.fixture
def folder(tmp_path, shared_cache, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cli(folder, monkeypatch, capfd):
    """Runs `tripybuild check` in this process, and gives its exit code, stdout and stderr."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["tripybuild", "check", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capfd.readouterr()

    return run


def save_weights(**others):
    """Write the weights of `SPEC`, or others in the place of some."""
    sizes = {"up": (16, 8), "down": (8, 16)}
    shapes = {f"blocks.{i}.{name}.weight": size for i in range(2) for name, size in sizes.items()}
    shapes |= {f"{name[:-6]}bias": size[:1] for name, size in shapes.items()}
    shapes |= {"head.weight": (3, 8), "head.bias": (3,), **others}
    arrays = {name: np.zeros(size, np.float32) for name, size in shapes.items()}
    save_file(arrays, "layers.safetensors")


def checked_json(cli, *words):
    """The answer for programs, which has the published form."""
    code, out, _ = cli(*words, "--json")
    answer = json.loads(out)
    schema = json.loads((paths.schemas() / "answers" / "check.json").read_text())
    Draft7Validator.check_schema(schema)
    assert list(Draft7Validator(schema).iter_errors(answer)) == []
    return code, answer


def test_a_model_is_checked_and_counted(cli, folder, monkeypatch):
    """Headers are compared, no weight is read, and parts have what stands below them."""
    Path("layers.yaml").write_text(SPEC)
    save_weights()
    monkeypatch.setattr(safetensors, "read", None)
    code, answer = checked_json(cli, "layers.yaml")
    (entry,) = answer["entries"]
    parts = {each["path"]: each for each in entry["parts"]}

    assert code == 0
    weights = 2 * (8 * 16 * 2 + 16 + 8) + 8 * 3 + 3
    assert answer["weights"]["compared"]
    assert (answer["weights"]["parameters"], answer["weights"]["bytes"]) == (weights, 4 * weights)
    assert parts[""]["parameters"] == weights
    assert list(parts) == [
        "", "blocks", "blocks.*", "blocks.*.up", "blocks.*.down", "head"
    ]  # fmt: skip
    assert (parts["blocks.*"]["count"], parts["blocks.*.up"]["count"]) == (2, 2)
    assert parts["blocks.*.up"]["flops"] == {"formula": "512*B", "number": 2048}
    block = 2 * 2 * 8 * 16 + 2 * 16 + 8  # two products, what `curve` computes, and the sum
    own = parts["blocks.*"]["flops"]["number"]
    assert own == 2 * 4 * block
    assert parts["blocks"]["flops"] == parts["blocks.*"]["flops"]
    assert parts[""]["flops"]["number"] == own + parts["head"]["flops"]["number"]
    assert [each["sizes"] for each in entry["corners"]] == [{"B": 4}, {"B": 1}, {"B": 64}]
    assert [each["outputs"]["y"] for each in entry["corners"]] == [[4, 3], [1, 3], [64, 3]]

    _, other = checked_json(cli, "layers.yaml", "--shapes", "B=8", "--on", "h200")
    found = other["entries"][0]["parts"][0]
    assert found["flops"]["number"] == 2 * parts[""]["flops"]["number"]
    assert found["seconds"] < parts[""]["seconds"]
    code, out, err = cli("layers.yaml", "--depth", "1")
    assert (code, "Checked `layers.yaml`" in err) == (0, True)
    assert "blocks.*  2x" in out
    assert "up  2x" not in out


def test_weights_need_not_be_there_but_must_agree(cli):
    """Without a file it is a warning; headers that differ are a problem."""
    Path("layers.yaml").write_text(SPEC)
    code, answer = checked_json(cli, "layers.yaml")
    assert (code, answer["weights"]["compared"]) == (0, False)
    assert [each["code"] for each in answer["warnings"]] == ["weights-not-found"]
    assert checked_json(cli, "layers.yaml", "--weights", "none.safetensors")[0] == 1

    save_weights(**{"head.bias": (4,), "blocks.1.down.bias": (7,)})
    code, answer = checked_json(cli, "layers.yaml")
    assert code == 1
    (found,) = answer["diagnostics"]
    assert found["code"] == "weight-shape"
    assert "`blocks.1.down.bias`" in found["message"]
    assert "`head.bias`" in found["message"]


def test_all_problems_of_a_spec_are_shown(cli):
    """As `compile` shows them, in one run."""
    text = SPEC.replace("Linear(8, 3)", "Linaer(8, 3)").replace("Linear(8, 16)", "Conf(8, 16)")
    Path("layers.yaml").write_text(text)
    code, out, err = cli("layers.yaml", "--format", "concise")
    assert (code, out) == (1, "")
    assert len(err.splitlines()) == 2
    assert "Linaer" in err


def test_calls_within_the_ranges_must_work(cli):
    """A law that `opt` keeps and a corner breaks is a problem, which says where."""
    Path("windows.yaml").write_text(CONVOLUTION)
    code, _, err = cli("windows.yaml")
    assert code == 1
    assert "error[convolution/kernel-fits]" in err
    assert "calls with H=4 are within the ranges" in err
    Path("windows.yaml").write_text(CONVOLUTION.replace("min: 4", "min: 5"))
    code, out, _ = cli("windows.yaml")
    assert code == 0
    assert "H=5   found [1, 1, 1, 6]" in out


def test_sizes_without_end_and_of_data(cli):
    """Five ranges have twelve corners; what data tells counts as nothing, and stays a name."""
    text = """\
        tripybuild: 1
        model: many
        inputs:
          x: float32[A, B, C, D, E]
        ranges:
          A: {min: 1, opt: 2}
        """
    text = dedent(text) + "".join(f"  {name}: {{min: 1, opt: 2, max: 3}}\n" for name in "BCDE")
    Path("many.yaml").write_text(f"{text}outputs:\n  y: sum(x, 0)\n  z: nonzero(x > 0.0)\n")
    code, answer = checked_json(cli, "many.yaml")
    (entry,) = answer["entries"]
    assert (code, len(entry["corners"])) == (0, 13)
    assert entry["corners"][1]["sizes"] == dict.fromkeys("ABCDE", 1)
    assert entry["corners"][2]["sizes"] == {"A": 2} | dict.fromkeys("BCDE", 3)
    assert isinstance(entry["corners"][0]["outputs"]["z"][1], str)
    Path("x.tpb").touch()
    assert "`x.tpb` is an executable" in cli("x.tpb")[2]


def test_watch_checks_again_at_each_save(cli, monkeypatch):
    """A save is answered by a check, also one of a broken file, and Ctrl-C ends it."""
    spec = Path("windows.yaml")
    spec.write_text(CONVOLUTION)
    saves = iter([CONVOLUTION.replace("min: 4", "min: 5"), "tripybuild: 2\n", None])

    def sleep(seconds):
        if seconds < check.PAUSE:
            return
        text = next(saves)
        if text is None:
            raise KeyboardInterrupt
        spec.write_text(text)

    monkeypatch.setattr(check.time, "sleep", sleep)
    code, out, err = cli("windows.yaml", "--watch")
    assert code == 130
    assert err.count("Watching 1 file;") == 3
    assert (err.count("kernel-fits]"), out.count("shapes")) == (1, 1)
    assert "Traceback" not in err
    assert cli("windows.yaml", "--watch", "--json")[0] == 2


def test_a_function_of_python_is_checked(cli):
    """Its parts are the functions that record operations."""
    Path("program.py").write_text(
        dedent("""\
        import tripyapi as tp

        def inner(x):
            return tp.relu(x)

        def forward(x: "float32[B=1:2:8, 3]"):
            return inner(x) * 2.0
        """)
    )
    code, answer = checked_json(cli, "program.py:forward")
    parts = {each["path"]: each for each in answer["entries"][0]["parts"]}
    assert (code, list(parts)) == (0, ["", "inner", "forward"])
    assert parts["inner"]["flops"]["formula"] == "3*B"
    assert cli("program.py:forward", "--weights", "x.safetensors")[0] == 2
    assert cli("program.py:forward", "--on", "h2000")[0] == 1


def given(*shape):
    """A tensor without data, and one of PyTorch."""
    value = Value(TensorType(BY_NAME["float32"], shape))
    return tp.Tensor.of(value), torch.zeros(shape)


def products_of_attention(query, key, value):
    """Attention as products, which the counter sees."""
    with sdpa_kernel(SDPBackend.MATH):
        return functional.scaled_dot_product_attention(query, key, value)


CALLS = {
    "products": (lambda a, b: a @ b, lambda a, b: a @ b, [(2, 3, 4), (4, 5)]),
    "linear": (tp.linear, functional.linear, [(2, 3, 4), (5, 4)]),
    "convolution": (
        lambda x, w: tp.convolution(x, w, stride=2, padding=1, groups=2),
        lambda x, w: functional.conv2d(x, w, stride=2, padding=1, groups=2),
        [(2, 4, 9, 8), (6, 2, 3, 3)],
    ),
    "transposed convolution": (
        lambda x, w: tp.deconvolution(x, w, stride=2),
        lambda x, w: functional.conv_transpose2d(x, w, stride=2),
        [(2, 4, 5, 5), (4, 3, 3, 3)],
    ),
    "attention": (
        tp.attention,
        products_of_attention,
        [(2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 8)],
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_operations_are_as_many_as_pytorch_counts(name):
    """PyTorch's counter is of its own, and counts a multiplication and an addition as two."""
    own, other, shapes = CALLS[name]
    ours, theirs = zip(*(given(*shape) for shape in shapes), strict=True)
    result = own(*ours).value
    inputs = {str(index): each.value for index, each in enumerate(ours)}
    graph = Graph(name, inputs, {}, {"y": result})
    with FlopCounterMode(display=False) as counter:
        found = other(*theirs)
    assert total(graph).flops == counter.get_total_flops() > 0
    moved = sum(each.numel() * each.element_size() for each in (*theirs, found))
    assert total(graph).bytes == moved
    assert tuple(found.shape) == result.shape


def test_memory_is_what_is_held_at_once():
    """A result is held until its last reader, and a view of it is itself."""
    x, _ = given(10, 10)  # 400 bytes
    wide = tp.reshape(tp.concatenate([x, x, x], 0), [300])  # 1200
    y = tp.sum(wide, 0) + tp.sum(tp.relu(x))  # 4, 400
    graph = Graph("held", {"x": x.value}, {}, {"y": y.value})
    table = CostTable(graph, {}, GPUS["l4"], {})
    rows = table.rows()
    assert rows[0].memory == table.memory == 400 + 1200 + 4


def test_this_processor_is_measured_and_remembered(shared_cache, monkeypatch, tmp_path):
    """The best of some measurements counts; what cannot be understood is measured anew."""
    monkeypatch.setenv(paths.CACHE_VARIABLE, str(tmp_path / "cache"))
    first, second = this_processor(), this_processor()
    assert 1e8 < first.flops["float32"] <= second.flops["float32"] < 1e15
    assert 1e8 < first.bandwidth <= second.bandwidth < 1e13
    (tmp_path / "cache" / "roofline.json").write_text('{"x": [1, 2]}')
    assert this_processor().bandwidth > 1e8
