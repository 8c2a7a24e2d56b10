"""Specs that are written of call programs: they read well, and compute what the calls do."""

import re

import numpy as np
import pytest
from built_programs import ProgramBuilder
from call_programs import run_calls
from safetensors.numpy import save_file

import tripyapi as tp
import tripybuild
from tripybuild.importer.foreign_program import CheckpointPlace
from tripybuild.importer.pytorch.exported_program import read_exported_program
from tripybuild.importer.spec_writer import write_spec
from tripybuild.importer.spec_writer.names import TakenNames, local_name
from tripybuild.importer.spec_writer.texts import Slot
from tripybuild.importer.translation.program import translate
from tripybuild.packages.builtin import builtin_registry
from tripybuild.symbolic.dims import Dim


@pytest.fixture(scope="module")
def registry():
    return builtin_registry()


@pytest.fixture
def written(registry, tmp_path):
    """The text of a program's spec, which is compiled and compared with the calls."""

    def write(program, **sizes):
        spec = write_spec(program, registry)
        (tmp_path / "model.yaml").write_text(spec.text)
        if spec.weights:
            arrays = {name: np.array(each.load()) for name, each in spec.arrays.items()}
            save_file(arrays, tmp_path / spec.weights)
        executable = tripybuild.compile(tmp_path / "model.yaml", target="reference")
        inputs = {each.name: _draw(each, sizes) for each in program.graph.inputs}
        found = executable(**inputs)
        for name, wanted in run_calls(program, inputs).items():
            assert np.asarray(found[name]) == pytest.approx(wanted, rel=1e-5, abs=1e-6)
        return spec.text

    return write


def _draw(value, sizes):
    shape = [sizes[str(size)] if isinstance(size, Dim) else size for size in value.shape]
    random = np.random.default_rng(1)
    if value.dtype is tp.float32:
        return random.normal(size=shape).astype(np.float32)
    return random.integers(0, 2, shape).astype(value.dtype.numpy)


def _block(build, path, x, width, inner, mask=None):
    with build.module(path, "TinyBlock"):
        with build.module(f"{path}.norm", "LayerNorm"):
            weights = [build.weight(f"{path}.norm.{n}", width) for n in ("weight", "bias")]
            given = {"weight": weights[0], "bias": weights[1], "normalized_shape": [width]}
            y = build.call("layernorm", input=x, eps=1e-6, **given)
        with build.module(f"{path}.mlp", "TinyMLP"):
            y = build.linear(f"{path}.mlp.up", y, width, inner)
            with build.module(f"{path}.mlp.act", "GELU"):
                y = build.call("gelu", input=y)
            y = build.linear(f"{path}.mlp.down", y, inner, width, bias=False)
        if mask is not None:
            y = build.call("mul", lhs=y, rhs=mask)
        return build.call("add", lhs=x, rhs=y)


def test_blocks_of_modules(written):
    build = ProgramBuilder("tiny", B=(1, 8))
    x, mask = build.input("x", "B", 4), build.input("mask", "B", 1)
    y = x
    with build.module("encoder", "TinyEncoder"):
        for number in range(3):
            y = _block(build, f"encoder.layers.{number}", y, 4, 6, mask)
    y = build.linear("head", y, 4, 2)
    assert written(build.program(scores=y), B=3) == TINY


TINY = """\
tripybuild: 1
model: tiny

inputs:
  x: F[B, 4]
  mask: F[B, 1]

ranges:
  B: {min: 1, opt: 1, max: 8}

parts:
  encoder: encoder
  head: Linear(4, 2)

outputs:
  scores: head(encoder(x, mask))

weights: tiny.safetensors

define:
  encoder:
    inputs:
      x: F[B, 4]
      mask: F[B, 1]
    parts:
      layers: block * 3
    outputs:
      out: layers(x, mask)

  block:
    inputs:
      x: F[B, 4]
      mask: F[B, 1]
    parts:
      norm: LayerNorm(4, eps=1e-06)
      mlp: mlp
    outputs:
      out: x + mlp(norm(x)) * mask

  mlp:
    inputs:
      x: F[B, 4]
    parts:
      up: Linear(4, 6)
      down: Linear(6, 4, bias=False)
    outputs:
      out: down(gelu(up(x)))
"""


def test_equal_but_for_numbers(written):
    """Definitions that differ in numbers are one that is made with sizes."""
    build = ProgramBuilder("sizes", B=(1, 8))
    x = build.input("x", "B", 4)
    y = _block(build, "first", x, 4, 6)
    y = build.linear("wider", y, 4, 8)
    text = written(build.program(y=_block(build, "second", y, 8, 6)), B=2)
    assert "first: block(4)\n" in text
    assert "second: block(8)\n" in text
    assert "mlp: mlp(normalized_shape)" in text
    assert "down: Linear(6, in_features, bias=False)" in text


def test_functions_have_no_sizes_of_their_own(written):
    build = ProgramBuilder("windows", B=(1, 8))
    x = build.input("x", "B", 4)
    y = build.linear("layer", x, 4, 4)
    for path, width in ("fold", 2), ("unfold", 1):
        with build.module(path, "Window"):
            y = build.call("reshape", input=y, shape=[-1, width, 2])
            y = build.call("permute", input=y, perm=[0, 2, 1])
            y = build.call("reshape", input=build.call("relu", input=y), shape=[-1, 4])
            y = build.call("sub", lhs=build.call("exp", input=y), rhs=y)
    text = written(build.program(y=y), B=2)
    assert "sizes:" not in text
    assert "y: window(fold(layer(x)))" in text


def test_a_module_put_in_place_that_reads_its_input_twice(written):
    build = ProgramBuilder("difference", B=(1, 8))
    x = build.linear("norm", build.input("x", "B", 4), 4, 4)
    with build.module("pooling", "Pooling"):
        y = build.call("sub", lhs=build.call("relu", input=x), rhs=x)
    text = written(build.program(y=y), B=2)
    assert "norm_out: norm(x)" in text
    assert "y: relu(norm_out) - norm_out" in text


def test_a_module_that_is_called_twice(written):
    build = ProgramBuilder("twice", B=(1, 8))
    x = build.input("x", "B", 4)
    y = _block(build, "block", _block(build, "block", x, 4, 6), 4, 6)
    text = written(build.program(y=y), B=2)
    assert "y: block(block(x))" in text


def test_calls_that_differ_are_done_above(written):
    """A module whose calls do different things is a container, and keeps its weights."""
    build = ProgramBuilder("unequal", B=(1, 8))
    x = build.input("x", "B", 4)
    y = _block(build, "block", x, 4, 6)
    with build.module("block", "TinyBlock"):
        y = build.linear("block.mlp.up", y, 4, 6)
    text = written(build.program(y=y), B=2)
    assert "block.mlp.up(" in text
    assert "block.norm(x)" in text


def test_a_stranger_between_two_halves_of_a_module(written):
    """What stands between calls of a module, and depends on one, opens the module."""
    build = ProgramBuilder("halves", B=(1, 8))
    x = build.input("x", "B", 4)
    with build.module("part", "Part"):
        y = build.call("mul", lhs=x, rhs=build.weight("part.scale", 4))
    z = build.call("tanh", input=y)
    with build.module("part", "Part"):
        build.modules[-1] = build.modules[-1].__class__("part", "Part", 0)
        y = build.call("add", lhs=z, rhs=build.weight("part.shift", 4))
    text = written(build.program(y=y), B=2)
    assert "y: tanh(x * part.scale) + part.shift" in text


def test_strangers_that_depend_on_nothing(written):
    build = ProgramBuilder("strangers", B=(1, 8))
    x = build.input("x", "B", 4)
    with build.module("part", "Part"):
        y = build.call("mul", lhs=x, rhs=build.weight("part.scale", 4))
    z = build.call("tanh", input=x)
    with build.module("part", "Part"):
        build.modules[-1] = build.modules[-1].__class__("part", "Part", 0)
        y = build.call("add", lhs=y, rhs=build.weight("part.shift", 4))
    text = written(build.program(y=y, z=z), B=2)
    assert "y: part(x)" in text
    assert "out: x * scale + shift" in text


def test_weights_of_a_module_that_is_never_called(written):
    build = ProgramBuilder("uncalled", B=(1, 8))
    x = build.input("x", "B", 4)
    y = build.call("add", lhs=x, rhs=build.weight("queries.weight", 4))
    y = build.call("mul", lhs=y, rhs=build.weight("model.decoder.scale", 4))
    y = build.linear("model.decoder.layers.0", y, 4, 4)
    y = build.linear("model.decoder.layers.1", y, 4, 4)
    text = written(build.program(y=y), B=2)
    assert "model.decoder.layers(" in text
    assert "layers: Linear(4, 4) * 2" in text
    assert "(x + queries.weight) * model.decoder.scale" in text


def test_a_weight_of_two_modules(written):
    build = ProgramBuilder("tied", B=(1, 8), S=(1, 9))
    tokens = build.input("tokens", "B", "S", dtype=tp.int32)
    words = build.weight("wte.weight", 5, 4)
    with build.module("wte", "Embedding"):
        x = build.call("gather", input=words, dim=0, index=tokens)
    with build.module("head", "Linear"):
        y = build.call("linear", input=x, weight=words)
    text = written(build.program(scores=y), B=2, S=3)
    assert "scores: linear(wte(tokens), wte.weight)" in text
    assert "wte: Embedding(5, 4)" in text


def test_operators_in_a_row_of_modules(written):
    build = ProgramBuilder("row", B=(1, 8))
    x = build.input("x", "B", 4)
    with build.module("net", "Sequential"):
        y = build.linear("net.0", x, 4, 6)
        with build.module("net.1", "ReLU"):
            y = build.call("relu", input=y)
        y = build.linear("net.3", y, 6, 2)
    text = written(build.program(y=y), B=2)
    assert 'net: "[Linear(4, 6), relu, [], Linear(6, 2)]"' in text
    assert "y: net(x)" in text


def test_a_row_of_modules_that_is_the_model(written):
    """The model itself has no name by which its row could be called."""
    build = ProgramBuilder("sequential", B=(1, 8))
    x = build.input("x", "B", 4)
    y = build.linear("0", x, 4, 6)
    with build.module("1", "ReLU"):
        y = build.call("relu", input=y)
    text = written(build.program(y=build.linear("3", y, 6, 2)), B=2)
    assert "y: part_3(relu(part_0(x)))" in text


def test_a_value_that_is_returned_twice(written):
    build = ProgramBuilder("twice", B=(1, 8))
    y = build.call("tanh", input=build.input("x", "B", 4))
    assert "steps:\n  y: tanh(x)\n\noutputs:\n  y: y\n  z: y\n" in written(
        build.program(y=y, z=y), B=2
    )


def test_blocks_in_turns(written):
    build = ProgramBuilder("turns", B=(1, 8))
    y = x = build.input("x", "B", 4)
    for number in range(4):
        y = _block(build, f"layers.{number}", y, 4, 6 + number % 2)
    text = written(build.program(y=y), B=2)
    assert 'layers: "[block(6), block(7)] * 2"' in text
    build = ProgramBuilder("first", B=(1, 8))
    y = x = build.input("x", "B", 4)
    y = build.linear("layers.0", x, 4, 4)
    for number in range(1, 4):
        y = _block(build, f"layers.{number}", y, 4, 6)
    text = written(build.program(y=y), B=2)
    assert 'layers: "[Linear(4, 4), *(block * 3)]"' in text


def test_rows_of_rows(written):
    build = ProgramBuilder("rows", B=(1, 8))
    x = build.input("x", "B", 4)
    y = []
    for number in range(3):
        with build.module(f"heads.{number}", "Sequential"):
            z = build.linear(f"heads.{number}.0", x, 4, 4)
            with build.module(f"heads.{number}.1", "ReLU"):
                z = build.call("relu", input=z)
            y.append(build.linear(f"heads.{number}.2", z, 4, 4))
    for number in range(2):
        with build.module(f"twins.{number}", "ModuleList"):
            for each in range(2):
                x = build.linear(f"twins.{number}.{each}", x, 4, 4)
    text = written(build.program(y=y[0], z=y[1], u=y[2], x=x), B=2)
    assert 'heads: "[[Linear(4, 4), relu, Linear(4, 4)]] * 3"' in text
    assert 'twins: "[Linear(4, 4) * 2] * 2"' in text


def test_a_member_of_a_list_that_gives_two_results_is_called_by_itself(written):
    build = ProgramBuilder("pair", B=(1, 8))
    x = build.input("x", "B", 4)
    for number in range(2):
        with build.module(f"block.{number}", "Sequential"):
            x = build.call("exp", input=build.linear(f"block.{number}.up", x, 4, 4))
    with build.module("block.2", "Sequential"):
        y = build.linear("block.2.up", x, 4, 4)
        z = build.call("relu", input=y)
    text = written(build.program(y=build.call("exp", input=y), z=z), B=2)
    assert "block_out_1, z: block[2](block[:2](x))" in text


def test_names_that_mean_something_else(written):
    """Parts, weights and inputs are called otherwise where an operator has their name."""
    build = ProgramBuilder("names", B=(1, 8))
    x = build.input("x", "B", 4)
    with build.module("relu", "relu"):
        y = build.call("mul", lhs=x, rhs=build.weight("relu.1st-scale", 4))
        y = build.call("tanh", input=y)
    y = build.call("relu", input=y)
    text = written(build.program(y=y), B=2)
    assert "relu_part: relu_2" in text
    assert "part_1st_scale: F[4]" in text


def test_without_modules_and_weights(written):
    build = ProgramBuilder("flat", B=(1, 8))
    x = build.input("x", "B", 6)
    low, high = build.call("split", input=x, num_split_or_sizes=2, dim=1)
    y = build.call("concatenate", tensors=[build.call("neg", input=high), low], dim=1)
    z = build.call("reshape", input=y, shape=[build.symbols["B"] * 2, 3])
    text = written(build.program(y=y, z=z), B=2)
    assert "  split_1, split_2: split(x, 2, 1)\n" in text
    assert "reshape(" in text
    assert "weights:" not in text


def test_long_expressions_become_steps(written):
    build = ProgramBuilder("long", B=(1, 8))
    y = x = build.input("x", "B", 4)
    for _ in range(12):
        y = build.call("tanh", input=build.call("add", lhs=y, rhs=x))
    text = written(build.program(y=y), B=2)
    assert max(map(len, text.splitlines())) <= 100
    assert text == written(build.program(y=y), B=2)


def test_branches_and_loops(written):
    """Regions are definitions, which take what they read from outside."""
    build = ProgramBuilder("control", B=(1, 8))
    x, y = build.input("x", "B", 4), build.input("y", "B", 4)
    long = build.input("long", dtype=tp.bool)
    scale = build.weight("scale", 4)

    def then(rows):
        return build.call("add", lhs=build.call("mul", lhs=rows, rhs=scale), rhs=y)

    def otherwise(rows):
        return build.call("tanh", input=rows)

    regions = {"then": build.region(then, x), "otherwise": build.region(otherwise, x)}
    z = build.call("cond", predicate=long, operands=[x], **regions)
    condition = build.region(lambda rows: build.call("lt", lhs=_sum(build, rows), rhs=9.0), z)
    body = build.region(lambda rows: build.call("add", lhs=rows, rhs=_square(build, y)), z)
    z = build.call("while_loop", state=[z], condition=condition, body=body)
    text = written(build.program(z=z), B=2)
    assert "cond(long, cond_then, cond_otherwise, [x, scale, y])" in text
    assert "while_loop(while_loop_condition, while_loop_body, [" in text


def _sum(build, x):
    return build.call("sum", input=_square(build, x))


def _square(build, x):
    return build.call("mul", lhs=x, rhs=x)


def test_buffers_that_are_written_to(registry, tmp_path):
    build = ProgramBuilder("state")
    x = build.input("x", 2, 4)
    with build.module("mean", "RunningMean"):
        total = build.call("add", lhs=build.weight("mean.total", 2, 4, value=0.0), rhs=x)
        count = build.call("add", lhs=build.weight("mean.count", value=1.0), rhs=1.0)
        y = build.call("div", lhs=total, rhs=count)
    updates = {"mean.total": total, "mean.count": count}
    spec = write_spec(build.program(y=y, updates=updates), registry)
    assert 'mean_total: {type: "F[2, 4]", first: 0.0}' in spec.text
    assert not spec.weights
    assert "weights:" not in spec.text
    (tmp_path / "model.yaml").write_text(spec.text)
    session = tripybuild.compile(tmp_path / "model.yaml", target="reference").start()
    rows = np.ones((2, 4), np.float32)
    found = [np.asarray(session(x=rows * k)["y"]).item(0) for k in (1, 2)]
    assert found == pytest.approx([1 / 2, 3 / 3])


def test_weights_of_a_checkpoint(registry, tmp_path):
    """A checkpoint is named as it is; what it lacks is stored beside it."""
    names = ["net.first.weight", "net.first.bias", "net.other.steps", "net.last.steps"]
    save_file({name: np.zeros(4, np.float32) for name in names}, tmp_path / "all.safetensors")
    build = ProgramBuilder("held", B=(1, 8))
    x = build.input("x", "B", 4)
    y = build.call("mul", lhs=x, rhs=build.weight("first.weight", 4))
    y = build.call("add", lhs=y, rhs=build.weight("first.bias", 4))
    for path, value in build.weights.items():
        value.weight.place = CheckpointPlace(tmp_path / "all.safetensors", f"net.{path}")
    spec = write_spec(build.program(y=y), registry, by_name=True)
    assert not spec.weights
    assert spec.checkpoints == (tmp_path / "all.safetensors",)
    assert spec.text.partition("weights:\n")[2].startswith(
        "  file: all.safetensors\n  prefix: net.\n  unused: "
    )
    (tmp_path / "model.yaml").write_text(spec.text)
    tripybuild.compile(tmp_path / "model.yaml", target="reference")
    assert write_spec(build.program(y=y), registry).weights == "held.safetensors"
    y = build.call("add", lhs=y, rhs=build.weight("table", 4))
    for path in ("first.weight", "first.bias"):
        build.weights[path].weight.place = CheckpointPlace(tmp_path / "all.safetensors", path)
    spec = write_spec(build.program(y=y), registry, by_name=True)
    assert "file: [all.safetensors, held.safetensors]" in spec.text
    assert list(spec.arrays) == ["table"]


def test_weights_that_have_other_names_in_a_checkpoint(registry, tmp_path):
    """Parts that repeat are renamed once, if all that is below them has the other name."""
    build = ProgramBuilder("renamed", B=(1, 8))
    y = build.input("x", "B", 4)
    names = {}
    for number in range(20):
        y = build.linear(f"h.{number}.up", y, 4, 4)
        y = build.linear(f"h.{number}.down", y, 4, 4)
        for end in ("weight", "bias"):
            names[f"h.{number}.up.{end}"] = f"layers.{number}.one.dense.{end}"
            names[f"h.{number}.down.{end}"] = f"h.{number}.down.{end}"
    arrays = {names[p]: np.asarray(v.weight.load()) for p, v in build.weights.items()}
    save_file(arrays, tmp_path / "all.safetensors")
    for path, value in build.weights.items():
        value.weight.place = CheckpointPlace(tmp_path / "all.safetensors", names[path])
    spec = write_spec(build.program(y=y), registry, by_name=True)
    assert "  rename:\n    h.*.up: layers.*.one.dense\n" in spec.text
    assert not spec.arrays
    (tmp_path / "model.yaml").write_text(spec.text)
    tripybuild.compile(tmp_path / "model.yaml", target="reference")


def test_sizes_of_a_configuration(written):
    """Numbers of a configuration have its names, with those that follow from them."""
    build = ProgramBuilder("named", B=(1, 8))
    y = build.input("x", "B", 12)
    for number in range(5):
        y = _block(build, f"layers.{number}", y, 12, 24)
    y = build.linear("head", y, 12, 36)
    y = build.call("reshape", input=y, shape=[build.symbols["B"], 3, 4, 3])
    config = {"hidden_size": 12, "num_layers": 5, "num_heads": 4, "pad_token_id": 36, "eps": 1e-6}
    text = written(build.program(config=config, y=y), B=2)
    assert text.partition("inputs:")[0].partition("sizes:\n")[2] == (
        "  hidden_size: 12\n  num_layers: 5\n  num_heads: 4\n"
        "  head_dim: hidden_size // num_heads\n\n"
    )
    assert "layers: block * num_layers" in text
    assert "head: Linear(hidden_size, 3 * hidden_size)" in text
    assert "up: Linear(hidden_size, 2 * hidden_size)" in text
    assert "[B, head_dim, num_heads, head_dim]" in text


def test_sizes_that_share_a_number(written):
    """A key names what it can be: no image is as large as a width, no weight as wide as heads."""
    build = ProgramBuilder("shared", B=(1, 8), S=(1, 16))
    pixels = build.input("pixel_values", "B", 16, 16)
    tokens = build.input("tokens", "B", "S", dtype=tp.int32)
    x = build.call("gather", input=build.weight("position_embeddings", 16, 16), dim=0, index=tokens)
    for path, rows in ("word_embeddings", 16), ("position_embedding", 16), ("token_type", 3):
        with build.module(path, "Embedding"):
            weight = build.weight(f"{path}.weight", rows, 16)
            y = build.call("gather", input=weight, dim=0, index=tokens)
        x = build.call("add", lhs=x, rhs=y)
    x = build.call("reshape", input=x, shape=[*build.symbols.values(), 4, 4])
    x = build.call("add", lhs=x, rhs=build.weight("scales", 4))
    config = {
        "hidden_size": 16, "image_size": 16, "vocab_size": 16, "max_position_embeddings": 16,
        "num_heads": 4, "type_vocab_size": 3, "group_size": 4,
    }  # fmt: skip
    text = written(build.program(config=config, y=x, z=pixels), B=2, S=3)
    assert "pixel_values: F[B, image_size, image_size]" in text
    assert "S: {min: 1, opt: 1, max: max_position_embeddings}" in text
    assert "word_embeddings: Embedding(vocab_size, hidden_size)" in text
    assert "position_embedding: Embedding(max_position_embeddings, hidden_size)" in text
    assert "token_type: Embedding(type_vocab_size, hidden_size)" in text
    assert "scales: F[head_dim]" in text
    assert "[B, S, num_heads, head_dim]" in text


def test_buffers_that_sizes_say(written):
    """A row of places, and ids that are all zero, are made; no file holds them."""
    build = ProgramBuilder("places", B=(1, 8), S=(1, 9))
    tokens = build.input("tokens", "B", "S", dtype=tp.int64)
    y = None
    with build.module("embeddings", "Embeddings"):
        rows = build.weight("embeddings.position_ids", 1, 9, dtype=tp.int64, value=0)
        rows.weight.load = lambda: np.arange(9)[None]
        kinds = build.weight("embeddings.kinds", 1, 9, dtype=tp.int64, value=0)
        part = {"start": [0, 0], "size": [1, build.symbols["S"]]}
        rows, kinds = (build.call("slice", input=each, **part) for each in (rows, kinds))
        kinds = build.call("expand", input=kinds, sizes=[*build.symbols.values()])
        tables = [build.weight(f"embeddings.{name}", 9, 4) for name in ("where", "what", "word")]
        for table, index in zip(tables, (rows, kinds, tokens), strict=True):
            rows = build.call("gather", input=table, dim=0, index=index)
            y = rows if y is None else build.call("add", lhs=y, rhs=rows)
    text = written(build.program(y=y), B=2, S=3)
    assert "arange(S, int64)[None]" in text
    assert "zeros([B, S], int64)" in text
    assert "position_ids" not in text


def test_frequencies_are_what_they_are_computed_by(written):
    """The same bits; a row that differs in one stays a weight."""
    powers = np.float32(10000.0) ** (np.arange(8, dtype=np.float32) / np.float32(8))
    rows = {"inv_freq": np.float32(1) / powers}
    rows["other"] = np.nextafter(rows["inv_freq"], np.float32(2))
    build = ProgramBuilder("rotation", S=(2, 9))
    y = build.input("x", "S", 8)
    for name, row in rows.items():
        value = build.weight(name, 8)
        value.weight.load = row.copy
        y = build.call("mul", lhs=y, rhs=value)
    text = written(build.program(y=y), S=3)
    assert "y: x * (1.0 / 10000.0 ** (arange(8) / 8.0)) * other" in text
    assert "inv_freq" not in text


def test_long_lists_are_broken_within_their_brackets(written):
    build = ProgramBuilder("list", B=(1, 8))
    y = build.input("x", "B", 4)
    for number in range(9):
        y = _block(build, f"all.layers.{number}", y, 4, 5 + number)
    text = written(build.program(y=y), B=2)
    assert "  layers: |\n" in text
    assert re.search(r"layers: \|\n +\[block\(\d+\), .*,\n +block.*\)\]\n", text)
    assert max(map(len, text.splitlines())) <= 100


def test_names_of_the_source(registry):
    """Values are called as variables of the model's code, and inputs as its parameters."""
    torch = pytest.importorskip("torch")

    class Gate(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

        def forward(self, hidden, shift):
            raised = self.up(
                hidden + shift,
            )
            tanh = torch.tanh(raised) * shift
            low, high = torch.split(self.down(tanh) + raised * tanh, 2, dim=-1)
            return low * high, low + high

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.gate = Gate()

        def forward(self, x, y):
            pair = self.gate(x, y * 2)
            product, total = pair
            scores = product + total
            return scores * scores

    example = torch.ones(2, 4)
    program = read_exported_program(torch.export.export(Model().eval(), (example, example)))
    text = write_spec(translate(program, registry), registry).text
    assert "\n  scores: gate_out_1 + gate_out_2\n" in text
    place = r"  # (?!/)\S*test_spec_writer\.py:\d+"
    assert re.search(rf"^model: \w+{place} Model\n", text, re.MULTILINE)
    assert re.search(rf"^  gate:{place} Gate\n", text, re.MULTILINE)
    assert "\n      hidden: F[2, 4]\n      shift: F[2, 4]\n" in text
    assert "\n      raised: up(hidden + shift)\n      tanh_value: tanh(raised) * shift\n" in text
    assert "\n      low, high: split(down(tanh_value) + raised * tanh_value, 2, -1)\n" in text


def test_values_of_one_name_have_numbers_however_many_they_are():
    """Each is found at once: a long model has thousands."""
    taken, most = TakenNames(["relu_3"]), (1 << 16) + 9
    for _ in range(most):
        taken.add(local_name(Slot("relu"), taken, frozenset()))
    assert len(taken) == most + 1
    assert {"relu", "relu_2", "relu_4", f"relu_{most + 1}"} <= taken


@pytest.mark.parametrize(
    ("hint", "name"),
    [("onnx::Loop_2", "onnx_Loop_2"), ("/strokes/MaxPool__0", "strokes_MaxPool_0"), ("1", "x_1")],
)
def test_names_of_files_that_are_none_here(hint, name):
    assert local_name(Slot(hint), TakenNames(), frozenset()) == name
