"""`prepared:`: weights that are computed from others when an executable is built."""

import numpy as np
import pytest
import written
from safetensors.numpy import save_file

import tripybuild
from tripybuild.compiler import executable
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.graph_builder import build
from tripybuild.process import memory
from tripybuild.targets import graph_model
from tripybuild.targets.tensorrt.weights import read_ahead
from tripybuild.types.dtypes import BY_NAME
from tripybuild.weights import prepared, safetensors
from tripybuild.weights.checkpoint import check_weights

EXPERTS = """
    sizes:
      width: 6
      n: 3
    inputs:
      x: F[B, width]
      which: int32[B]
    ranges:
      B: {opt: 2, max: 8}
    parts:
      moe: mixture * 2
    outputs:
      y: moe(x, which)
    weights: {file: w.safetensors, convert: true}
    define:
      expert:
        inputs:
          x: F[B, width]
        parts:
          w1: Linear(width, width, bias=False)
        outputs:
          out: w1(x)
      mixture:
        inputs:
          x: F[B, width]
          which: int32[B]
        parts:
          experts: expert * n
        weights:
          A_log: F[width]
        prepared:
          w1: stack([e.w1.weight for e in experts], 0)
          a: -exp(A_log)
          twice: a * 2.0
        steps:
          y: squeeze(matmul(gather(w1, 0, which), unsqueeze(x, 2)), 2)
        outputs:
          out: y * a + twice
    """
PREPARED = [f"moe.{i}.{name}" for i in range(2) for name in ("w1", "a", "twice")]


def expert_weights():
    random = np.random.default_rng(3)
    shapes = {f"experts.{i}.w1.weight": (6, 6) for i in range(3)} | {"A_log": (6,)}
    return {
        f"moe.{i}.{name}": random.normal(size=shape, scale=0.5).astype(np.float32)
        for i in range(2)
        for name, shape in shapes.items()
    }


def experts(weights, x, which, dtype):
    """Give what the model computes."""
    y = x.astype(np.float64)
    for i in range(2):
        a = -np.exp(weights[f"moe.{i}.A_log"].astype(dtype).astype(np.float64))
        chosen = [weights[f"moe.{i}.experts.{k}.w1.weight"] for k in which]
        y = np.stack(
            [w.astype(dtype).astype(np.float64) @ v for w, v in zip(chosen, y, strict=True)]
        )
        y = y * a + 2 * a
    return y


def compiled(folder, text, arrays, **how):
    """Compile a model with these weights, and read it from its file."""
    save_file(arrays, folder / "w.safetensors")
    tripybuild.compile(written.write(folder, text), output=folder / "tiny.tpb", **how)
    return tripybuild.load(folder / "tiny.tpb")


@pytest.mark.parametrize(
    ("target", "dtype"), [("cpu", "float32"), ("reference", "float16"), ("cpu", "bfloat16")]
)
def test_experts_are_stacked_once(tmp_path, target, dtype):
    """In the model's dtypes, at other sizes, too; the originals are not in the file."""
    weights = expert_weights()
    exe = compiled(tmp_path, EXPERTS, weights, target=target, sizes={"F": dtype})
    random, numpy = np.random.default_rng(5), BY_NAME[dtype].numpy

    assert list(exe.weights) == PREPARED
    assert exe.entry().manifest["arguments"] == PREPARED
    assert exe.manifest["prepared"]["moe.0.w1"] == ["moe.0.experts.*.w1.weight"]
    for rows in (2, 5):
        x = random.normal(size=(rows, 6)).astype(numpy)
        which = random.integers(0, 3, rows).astype(np.int32)
        got = exe(x=x, which=which)["y"].astype(np.float64)
        near = {"float32": 1e-5, "float16": 2e-2, "bfloat16": 2e-1}[dtype]
        np.testing.assert_allclose(got, experts(weights, x, which, numpy), rtol=near, atol=near)


def test_an_executable_is_rebuilt_without_the_originals(tmp_path):
    """What was computed is in it."""
    weights = expert_weights()
    compiled(tmp_path, EXPERTS, weights)
    (tmp_path / "w.safetensors").unlink()
    x, which = np.ones((2, 6), np.float32), np.array([0, 2], np.int32)

    exe = executable.load(tmp_path / "tiny.tpb", rebuild=True)

    wanted = experts(weights, x, which, np.float32)
    np.testing.assert_allclose(exe(x=x, which=which)["y"], wanted, rtol=1e-5)


def test_the_graph_has_weights_for_them(tmp_path):
    """A copied part has its own; what leads to them is no operation of the graph."""
    built = build(written.write(tmp_path, EXPERTS))

    assert list(built.prepared) == PREPARED
    assert list(built.graph.used_weights()) == PREPARED
    assert not {"exp", "concatenate"} & {each.operator for each in built.graph.operations}
    assert list(built.prepared["moe.1.twice"].weights) == ["moe.1.a"]


def test_what_leads_to_them_is_read_and_let_go(tmp_path, monkeypatch):
    """Each is computed once for a reading, after what it reads, however they are asked for."""
    save_file(expert_weights(), tmp_path / "w.safetensors")
    read = check_weights(build(written.write(tmp_path, EXPERTS)))
    computed = []

    def execute(graph, arrays):
        computed.append((graph.name, sorted(arrays)))
        return {graph.name: np.zeros(1)}

    monkeypatch.setattr(prepared, "execute", execute)

    assert list(read(["moe.0.twice", "moe.0.A_log", "moe.0.a"])) == [
        "moe.0.twice",
        "moe.0.A_log",
        "moe.0.a",
    ]
    assert computed == [("moe.0.a", ["moe.0.A_log"]), ("moe.0.twice", ["moe.0.a"])]
    assert not read.file_entries(["moe.0.a"])
    assert list(*read.file_entries(["moe.0.a", "moe.0.A_log"]).values()) == ["moe.0.A_log"]


TRANSFORMS = """
    inputs:
      x: F[B, 3, 6, 6]
    parts:
      normed: weight_norm
      folded: conv_norm
    steps:
      y: folded(x)
      flat: mean(y, [2, 3])
    outputs:
      folded: y
      normed: normed(flat)
    weights: w.safetensors
    define:
      weight_norm:
        inputs:
          x: F[B, 4]
        weights:
          weight_v: F[5, 4]
          weight_g: F[5, 1]
        prepared:
          weight: weight_v * (weight_g / sqrt(sum(weight_v * weight_v, 1, keepdim=True)))
        outputs:
          out: x @ transpose(weight, 0, 1)
      scale_of:
        inputs:
          weight: F[C]
          variance: F[C]
        outputs:
          out: weight / sqrt(variance + 0.00001)
      conv_norm:
        inputs:
          x: F[B, 3, H, W]
        parts:
          conv: Conv(3, 4, [3, 3], bias=False)
        weights:
          weight: F[4]
          bias: F[4]
          running_mean: F[4]
          running_var: F[4]
        prepared:
          scale: scale_of(weight, running_var)
          kernel: conv.weight * reshape(scale, [4, 1, 1, 1])
          offset: bias - running_mean * scale
        outputs:
          out: convolution(x, kernel, offset)
    """


def test_weight_norm_and_a_folded_convolution(tmp_path):
    """A definition can be called; what is prepared reads what is prepared before it."""
    random = np.random.default_rng(7)
    weights = {
        "normed.weight_v": (5, 4),
        "normed.weight_g": (5, 1),
        "folded.conv.weight": (4, 3, 3, 3),
        **{f"folded.{name}": (4,) for name in ("weight", "bias", "running_mean", "running_var")},
    }
    weights = {n: random.uniform(0.5, 1.5, size=s).astype(np.float32) for n, s in weights.items()}
    x = random.normal(size=(2, 3, 6, 6)).astype(np.float32)

    exe = compiled(tmp_path, TRANSFORMS, weights, target="reference")
    got = exe(x=x)

    assert set(exe.weights) == {"normed.weight", "folded.kernel", "folded.offset"}
    w = {name: each.astype(np.float64) for name, each in weights.items()}
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    plain = np.einsum("bcyxij,ocij->boyx", windows, w["folded.conv.weight"])
    each = {n: w[f"folded.{n}"].reshape(4, 1, 1) for n in ("weight", "bias")}
    mean, var = (w[f"folded.running_{n}"].reshape(4, 1, 1) for n in ("mean", "var"))
    folded = (plain - mean) / np.sqrt(var + 1e-5) * each["weight"] + each["bias"]
    np.testing.assert_allclose(got["folded"], folded, rtol=1e-4, atol=1e-4)
    v = w["normed.weight_v"]
    normed = v * w["normed.weight_g"] / np.linalg.norm(v, axis=1, keepdims=True)
    np.testing.assert_allclose(got["normed"], folded.mean((2, 3)) @ normed.T, rtol=1e-4)


FUSED = """
    inputs:
      x: F[B, 4]
    parts:
      q: Linear(4, 4)
      k: Linear(4, 4)
      v: Linear(4, 4)
    weights:
      file: w.safetensors
    prepared:
      weight: transpose(concatenate([q.weight, k.weight, v.weight], 0), 0, 1)
      bias: concatenate([q.bias, k.bias, v.bias], 0)
    steps:
      q1, k1, v1: split(x @ weight + bias, 3, 1)
    outputs:
      y: q1 + k1 * v1
    """


def test_the_model_itself_prepares(tmp_path):
    """Fused projections in the layout of a `Conv1D`."""
    random = np.random.default_rng(9)
    weights = {
        f"{name}.{kind}": random.normal(size=(4, 4) if kind == "weight" else 4).astype(np.float32)
        for name in "qkv"
        for kind in ("weight", "bias")
    }
    x = random.normal(size=(3, 4)).astype(np.float32)

    exe = compiled(tmp_path, FUSED, weights, target="reference")

    assert set(exe.weights) == {"weight", "bias"}
    q, k, v = (x @ weights[f"{n}.weight"].T + weights[f"{n}.bias"] for n in "qkv")
    np.testing.assert_allclose(exe(x=x)["y"], q + k * v, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["int8", "int4"])
def test_integers_of_few_bits(tmp_path, kind):
    """They are moved and dequantized as they are."""
    text = f"""
        inputs:
          x: F[B, 4]
        parts:
          q: quantized
        outputs:
          y: q(x)
        weights: w.safetensors
        define:
          quantized:
            inputs:
              x: F[B, 4]
            weights:
              packed: {kind}[2, 4]
              scale: F[()]
            prepared:
              turned: permute(packed, [1, 0])
              weight: dequantize(turned, scale, dtype=F)
            outputs:
              out: x @ weight
        """
    values = np.array([[-8, 7, 1, 0], [3, -2, 5, -1]]).astype(BY_NAME[kind].numpy)
    arrays = {"q.packed": values, "q.scale": np.array(0.5, np.float32)}
    (tmp_path / "w.safetensors").write_bytes(safetensors.encode(arrays))
    x = np.arange(8, dtype=np.float32).reshape(2, 4)

    exe = tripybuild.compile(written.write(tmp_path, text), target="reference")

    assert list(exe.weights) == ["q.weight"]
    wanted = x @ (values.astype(np.float32).T * 0.5)
    np.testing.assert_allclose(exe(x=x)["y"], wanted)


def test_what_is_no_number_is_warned_of(tmp_path):
    """Under the name of what was computed, as for weights of a file."""
    weights = expert_weights()
    weights["moe.0.A_log"][2] = np.nan
    weights["moe.1.A_log"][3] = 1000.0

    save_file(weights, tmp_path / "w.safetensors")
    exe = tripybuild.compile(written.write(tmp_path, EXPERTS), target="reference")

    told = {each.code: each.message for each in exe.warnings}
    assert "`moe.0.a` in 1 of 6 elements, first at [2]" in told["weight-nan"]
    assert "`moe.1.a` in 1 of 6 elements, first at [3]" in told["weight-infinite"]


def test_what_is_missing_is_what_they_read(tmp_path):
    """A checkpoint is compared with the originals, and holds nothing that is computed."""
    weights = expert_weights()
    del weights["moe.0.A_log"]
    weights["moe.0.a"] = weights["moe.0.twice"] = np.zeros(6, np.float32)
    save_file(weights, tmp_path / "w.safetensors")

    with pytest.raises(DiagnosticError) as raised:
        tripybuild.compile(written.write(tmp_path, EXPERTS))

    left = "`moe.0.{a,twice}`"
    assert [(d.code, d.message) for d in raised.value.diagnostics] == [
        ("weight-missing", "the weight `moe.0.A_log` is not in the file"),
        ("weight-unused", f"the model does not use 2 tensors of the file: {left}"),
    ]


def test_what_a_prepared_weight_cannot_read(tmp_path):
    """Inputs, state, steps, sizes of a call, and what is prepared after it."""
    text = """
        inputs:
          x: F[S, 4]
        parts:
          l: layer
        prepared:
          a: l.linear.weight + x
          b: l.linear.weight + e
          c: ones([S])
          d: 3
          f: l.linear.bias + g
          g: l.linear.bais
          h: g + 1.0
        steps:
          e: relu(x)
        outputs:
          y: l(x) + e
        define:
          layer:
            inputs:
              x: F[T, 4]
            parts:
              linear: Linear(4, 4)
            state:
              seen: F[4]
            next:
              seen: seen + 1.0
            prepared:
              a: linear.bias + seen
              b: ones([T, 4]) * linear.weight[0]
            outputs:
              out: x
        """
    cannot = "is computed once, so it cannot read"
    known = "which only a call knows"
    assert [each[1:] for each in written.problems(tmp_path, text)] == [
        ("unbound-name", f"the prepared weight `a` {cannot} `seen`"),
        ("undecided-size", f"the prepared weight `b` depends on `T`, {known}"),
        ("unbound-name", f"the prepared weight `a` {cannot} `x`"),
        ("unbound-name", f"the prepared weight `b` {cannot} `e`"),
        ("undecided-size", f"the prepared weight `c` depends on `S`, {known}"),
        ("wrong-type", "the prepared weight `d` must be a tensor, but this is 3"),
        ("unbound-name", f"the prepared weight `f` {cannot} `g`"),
        (
            "snippet-evaluation",
            "`Linear` has no part and no weight `bais`; did you mean `bias`?",
        ),
    ]
    assert "move it down" in written.hints(tmp_path, text)[6]


def test_entries_share_what_is_prepared(tmp_path):
    """It is computed once for the file, and an original that an entry reads stays."""
    text = """
        parts:
          pair: "[Linear(4, 4, bias=False) for i in range(2)]"
        prepared:
          both: stack([each.weight for each in pair], 0)
          scale: exp(pair[1].weight[0])
        weights: w.safetensors
        entries:
          chosen:
            inputs:
              x: F[B, 4]
              which: int32[B]
            outputs:
              y: squeeze(gather(both, 0, which) @ unsqueeze(x, 2), 2)
          first:
            inputs:
              x: F[B, 4]
            outputs:
              y: pair[0](x) * scale + both[1, 0]
        """
    random = np.random.default_rng(11)
    weights = {f"pair.{i}.weight": random.normal(size=(4, 4)).astype(np.float32) for i in range(2)}
    x = random.normal(size=(2, 4)).astype(np.float32)

    exe = compiled(tmp_path, text, weights, target="reference")

    assert set(exe.weights) == {"both", "scale", "pair.0.weight"}
    zero, one = weights.values()
    got = exe.chosen(x=x, which=np.array([1, 0], np.int32))["y"]
    np.testing.assert_allclose(got, [one @ x[0], zero @ x[1]], rtol=1e-5)
    wanted = x @ zero.T * np.exp(one[0]) + one[0]
    np.testing.assert_allclose(exe.first(x=x)["y"], wanted, rtol=1e-5)


LOOP = """
    inputs:
      x: F[4]
    parts:
      l: Linear(4, 4)
    KIND:
      c: while_loop(always, same, [START])
    outputs:
      y: l(x) + c
    weights: w.safetensors
    define:
      always:
        inputs:
          x: F[4]
        outputs:
          out: max(x) > -1.0
      same:
        inputs:
          x: F[4]
        outputs:
          out: x * 1.0
    """


@pytest.mark.parametrize(("kind", "start"), [("constants", "ones([4])"), ("prepared", "l.bias")])
def test_a_loop_without_end_is_given_up(tmp_path, kind, start, monkeypatch):
    """What a file computes while it is compiled is bounded, and the line is named."""
    monkeypatch.setenv("TRIPYBUILD_BUDGET", "0.01")
    arrays = {"l.weight": np.zeros((4, 4), np.float32), "l.bias": np.zeros(4, np.float32)}
    save_file(arrays, tmp_path / "w.safetensors")
    path = written.write(tmp_path, LOOP.replace("KIND", kind).replace("START", start))

    with pytest.raises(DiagnosticError) as raised:
        tripybuild.compile(path, target="reference")

    (found,) = raised.value.diagnostics
    assert (found.code, found.span.line) == ("over-budget", 8)


def test_what_no_memory_can_hold_is_refused(tmp_path):
    """At its line, before a weight is read."""
    text = """
        inputs:
          x: F[4]
        parts:
          l: Linear(4, 4)
        prepared:
          c: sum(expand(l.weight, [1000000, 1000000, 4, 4]), [0, 1, 2])
        outputs:
          y: l(x) + c
        weights: w.safetensors
        """
    arrays = {"l.weight": np.zeros((4, 4), np.float32), "l.bias": np.zeros(4, np.float32)}
    save_file(arrays, tmp_path / "w.safetensors")

    with pytest.raises(DiagnosticError) as raised:
        tripybuild.compile(written.write(tmp_path, text), target="reference")

    (found,) = raised.value.diagnostics
    assert (found.code, found.span.line) == ("out-of-memory", 8)


RECIPES = """
    inputs:
      x: F[4]
    weights: {file: w.safetensors, tensors: {w: "F[1]"}}
    prepared:
      RECIPES
    outputs:
      y: x + s
    define:
      below:
        inputs:
          x: F[1]
        outputs:
          out: x[0] < 100.0
      next:
        inputs:
          x: F[1]
        outputs:
          out: x + 1.0
    """


def recipes_file(folder, lines):
    """Write a model with these prepared weights, of one weight that is 0."""
    save_file({"w": np.zeros(1, np.float32)}, folder / "w.safetensors")
    return written.write(folder, RECIPES.replace("RECIPES", ("\n" + " " * 6).join(lines)))


def test_recipes_have_one_budget(tmp_path, monkeypatch):
    """Work is bounded for a file, into however many recipes it is cut."""
    monkeypatch.setenv("TRIPYBUILD_BUDGET", "0.01")
    loops = [f"a{i}: while_loop(below, next, [w + {i}.0])" for i in range(8)]
    total = "s: " + " + ".join(f"a{i}" for i in range(8))
    path = recipes_file(tmp_path, [*loops, total])

    with pytest.raises(DiagnosticError) as raised:
        tripybuild.compile(path, target="reference")

    (found,) = raised.value.diagnostics
    assert found.code == "over-budget"
    assert 9 < found.span.line < 15  # the first ones are within it
    one = recipes_file(tmp_path, [loops[0], "s: a0"])
    assert list(tripybuild.compile(one, target="reference").weights) == ["s"]


BIG = [f"a{i}: expand(w, [25000000]) * {i + 1}.0" for i in range(10)]


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        ([*BIG, "s: " + " + ".join(f"a{i}[:1]" for i in range(10))], 10),
        (["s: sum(concatenate([" + ", ".join(e.split(": ")[1] for e in BIG[:4]) + "], 0))"], 7),
        (["s: " + " + ".join(f"sum({each.split(': ')[1]})" for each in BIG)], None),
    ],
    ids=["recipes", "one recipe", "one after the other"],
)
def test_what_is_held_together_is_counted(tmp_path, monkeypatch, lines, line):
    """Prepared weights that are read later, and results in between, before any is computed."""
    met = memory.MemoryLimit(500_000_000, "the test says so")
    monkeypatch.setattr(memory, "limit", lambda: met)
    monkeypatch.setattr(prepared, "execute", _refuse_to_compute)
    path = recipes_file(tmp_path, lines)

    with pytest.raises((DiagnosticError, AssertionError)) as raised:
        tripybuild.compile(path, target="reference")

    if line is None:
        assert isinstance(raised.value, AssertionError)
        return
    (found,) = raised.value.diagnostics
    assert (found.code, found.span.line) == ("out-of-memory", line)
    assert "to compute the prepared weight" in found.message


def _refuse_to_compute(graph, arrays):
    raise AssertionError(graph.name, arrays)


def test_memory_that_ends_is_told_at_its_recipe(tmp_path, monkeypatch):
    """Whatever asks for it; no traceback of NumPy."""

    def execute(graph, arrays):
        raise MemoryError("Unable to allocate 2.0 GiB")

    monkeypatch.setattr(prepared, "execute", execute)
    path = recipes_file(tmp_path, ["s: w * 2.0"])

    with pytest.raises(DiagnosticError, match="the prepared weight `s` needs more") as raised:
        tripybuild.compile(path, target="reference")

    (found,) = raised.value.diagnostics
    assert (found.code, found.span.line) == ("out-of-memory", 7)
    assert "Unable to allocate" in str(found.notes)


CHAIN = """
    inputs:
      x: F[64]
    weights: {file: w.safetensors, tensors: {w: "F[64]", v: "F[64]"}}
    prepared:
      a9: w * 2.0
      a8: a9[:3] + 1.0
      a7: a9 + expand(a8[:1], [64])
      a6: a7 + 1.0
      a5: sum(a6)
      a4: a6 * a5
    outputs:
      y: x + a9 + a8[0] + a7 + a6 + a5 + a4 + v
    """


@pytest.mark.parametrize("how", ["engine", "file"])
def test_shared_recipes_are_computed_once(tmp_path, monkeypatch, how):
    """However few weights are read at a time, and in whatever order a file has them."""
    random = np.random.default_rng(4)
    arrays = {n: random.normal(size=64).astype(np.float32) for n in "wv"}
    save_file(arrays, tmp_path / "w.safetensors")
    path = written.write(tmp_path, CHAIN)
    computed, execute = [], prepared.execute

    def count(graph, arrays):
        computed.append(graph.name)
        return execute(graph, arrays)

    monkeypatch.setattr(prepared, "execute", count)
    monkeypatch.setattr(graph_model, "BATCH", 300)
    if how == "engine":
        built = build(path)
        read = check_weights(built)
        found = dict(read_ahead(read, sorted(built.declared_weights)))
    else:
        found = tripybuild.compile(path, target="reference").weights

    assert computed == ["a9", "a8", "a7", "a6", "a5", "a4"]
    a9 = arrays["w"] * 2
    a8 = a9[:3] + 1
    a6 = a9 + a8[0] + 1
    wanted = {"a9": a9, "a8": a8, "a7": a6 - 1, "a6": a6, "a5": a6.sum(), "a4": a6 * a6.sum()}
    wanted["v"] = arrays["v"]
    assert set(found) - {"w"} == set(wanted)
    for name, each in wanted.items():
        np.testing.assert_allclose(found[name], each, rtol=1e-4, atol=1e-5)
