"""Models of several entries: one file, one copy of what they share, and a call for each."""

import json

import numpy as np
import pytest
import written
from safetensors.numpy import save_file

import tripybuild
from tripybuild.artifact import container
from tripybuild.cli.main import main
from tripybuild.compiler import session
from tripybuild.compiler.executable import Executable
from tripybuild.compiler.state_session import Session
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.graph_builder import build
from tripybuild.schema.model.entry_points import ATTRIBUTES

WIDTH = 64
CACHED = f"""
sizes:
  width: {WIDTH}
  context: 5
ranges:
  B: {{max: 4}}
  S: {{max: 3}}
parts:
  embedding: Embedding(7, width)
  encoder: Linear(width, width)
  spare: Linear(width, width)
constants:
  weights: arange(context * width) * 0.25
state:
  cache: F[B, context, width]
  count: F[()]
entries:
  prefill:
    doc: Fill the cache.
    inputs:
      tokens: int32[B, S]
    steps:
      rows: encoder(embedding(tokens))
    next:
      cache: concatenate([rows, zeros([B, context - S, width], F)], 1)
    outputs:
      last: rows[:, -1] + weights[:width]
  step:
    inputs:
      token: int32[B]
    steps:
      row: embedding(token)
    next:
      cache: concatenate([cache[:, 1:], unsqueeze(row, 1)], 1)
      count: count + 1.0
    outputs:
      seen: sum(next.cache, 1) + weights[:width]
  scores:
    inputs:
      x: F[R, width]
    outputs:
      y: x @ transpose(embedding.weight, 0, 1)
weights: w.safetensors
"""


@pytest.fixture(scope="module")
def arrays():
    """The weights."""
    random = np.random.default_rng(0)
    shapes = {"embedding.weight": (7, WIDTH)}
    for part in ("encoder", "spare"):
        shapes |= {f"{part}.weight": (WIDTH, WIDTH), f"{part}.bias": (WIDTH,)}
    return {name: random.standard_normal(shape, "f4") for name, shape in shapes.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, arrays):
    """A model with its weights, compiled for two targets."""
    found = tmp_path_factory.mktemp("entries")
    save_file(arrays, found / "w.safetensors")
    path = written.write(found, CACHED)
    for target in ("cpu", "cpu:xla", "reference"):
        shapes = [{"B": 2, "S": 2}, {"R": 3}]
        tripybuild.compile(path, target=target, output=found / f"{target}.tpb", shapes=shapes)
    return found


@pytest.fixture(params=["cpu", "cpu:xla", "reference"])
def executable(request, folder):
    """The executable of a target."""
    return tripybuild.load(folder / f"{request.param}.tpb")


def check_close(got, wanted):
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)


def check_calls(executable, arrays):
    """All entries compute, for sizes that were compiled ahead and for others."""
    table, scale = arrays["embedding.weight"], np.arange(WIDTH, dtype="f4") * 0.25
    encode = table @ arrays["encoder.weight"].T + arrays["encoder.bias"]
    for batch, rows in ((2, 2), (3, 1)):
        tokens = np.arange(batch * rows, dtype="i4").reshape(batch, rows)
        filled = executable.prefill(tokens=tokens)
        cache = np.zeros((batch, 5, WIDTH), "f4")
        cache[:, :rows] = encode[tokens]
        check_close(filled["cache.next"], cache)
        check_close(filled["last"], encode[tokens[:, -1]] + scale)
        token = tokens[:, 0]
        state = {"cache": filled["cache.next"], "count": np.float32(3.0)}
        found = executable.step(token=token, **state)
        cache = np.concatenate([cache[:, 1:], table[token][:, None]], 1)
        check_close(found["seen"], cache.sum(1) + scale)
        assert found["count.next"] == 4.0
        x = np.ones((batch, WIDTH), "f4")
        check_close(executable.entries["scores"](x=x)["y"], x @ table.T)


def test_each_entry_computes(executable, arrays):
    """Under its name, from a file, for any sizes."""
    check_calls(executable, arrays)


def test_a_rebuilt_executable_computes(folder, arrays):
    """The programs of all entries are made of their StableHLO."""
    check_calls(tripybuild.load(folder / "cpu:xla.tpb", rebuild=True), arrays)


def test_what_entries_share_is_in_the_file_once(folder, arrays):
    """Weights that no entry reads are not there, and constants are not there twice."""
    with container.open(folder / "cpu:xla.tpb") as file:
        sizes = {name: each.size for name, each in file.manifest.members.items()}
        names = [each["name"] for each in file.manifest.content["entries"]]
    loaded = tripybuild.load(folder / "cpu:xla.tpb")

    assert names == ["prefill", "step", "scores"]
    read = {name for name in arrays if not name.startswith("spare")}
    assert set(loaded.weights) == read
    assert list(loaded.constants) == ["constant.0"]
    weights = sum(arrays[name].nbytes for name in read)
    assert weights < sizes["weights.safetensors"] < 1.1 * weights + 1000
    assert {name for name in sizes if name.startswith("scores/")} == {
        "scores/trace.json",
        *(f"scores/{kind}/R={n}.{end}" for kind, end in KINDS for n in (1, 3)),
    }


KINDS = [("cpu", "bin"), ("stablehlo", "mlirbc")]


def test_an_entry_takes_the_states_and_sizes_that_it_touches(executable):
    """A state that is written alone is no input."""
    entries = executable.entries
    assert list(entries) == ["prefill", "step", "scores"]
    assert {name: list(each.inputs) for name, each in entries.items()} == {
        "prefill": ["tokens"],
        "step": ["token", "cache", "count"],
        "scores": ["x"],
    }
    assert {name: list(each.outputs) for name, each in entries.items()} == {
        "prefill": ["last", "cache.next"],
        "step": ["seen", "cache.next", "count.next"],
        "scores": ["y"],
    }
    assert [each.states for each in entries.values()] == [("cache",), ("cache", "count"), ()]
    assert [list(each.signature.ranges) for each in entries.values()] == [["B", "S"], ["B"], ["R"]]
    assert entries["prefill"].manifest["doc"] == "Fill the cache."
    ahead = [each.manifest["shapes"] for each in entries.values()]
    assert ahead == [
        [{"B": 4, "S": 3}, {"B": 2, "S": 2}],
        [{"B": 4}, {"B": 2}],
        [{"R": 1}, {"R": 3}],
    ]


ALONE = f"""
parts:
  embedding: Embedding(7, {WIDTH})
inputs:
  x: F[R, {WIDTH}]
outputs:
  y: x @ transpose(embedding.weight, 0, 1)
weights:
  file: w.safetensors
  unused: [encoder]
"""


def test_an_entry_is_compiled_as_a_model_is(folder, tmp_path):
    """Names are no part of what the cache is asked for."""
    save_file(dict(tripybuild.load(folder / "cpu.tpb").weights), tmp_path / "w.safetensors")
    alone = tripybuild.compile(written.write(tmp_path, ALONE), target="cpu:xla", shapes=[{"R": 3}])
    several = tripybuild.load(folder / "cpu:xla.tpb")
    assert bytes(alone.member("cpu/R=3.bin")) == bytes(several.member("scores/cpu/R=3.bin"))
    x = np.ones((3, WIDTH), "f4")
    np.testing.assert_array_equal(alone(x=x)["y"], several.scores(x=x)["y"])


def test_names_that_an_executable_has(executable):
    """Each public attribute is refused as the name of an entry; an entry is an attribute."""
    names = {*dir(Executable), *vars(executable), *dir(Session)}
    assert {name for name in names if not name.startswith("_")} <= ATTRIBUTES
    assert {"prefill", "step", "scores"} <= set(dir(executable))
    assert repr(executable.scores).startswith("<Entry tiny.scores for")
    assert "step(token: int32[B], cache: float32[B, 5, 64]" in repr(executable)
    with pytest.raises(AttributeError, match="did you mean the entry `scores`"):
        _ = executable.score
    assert not hasattr(executable, "nothing")


def test_several_entries_are_called_by_name(executable):
    """The executable itself has no inputs then."""
    for ask in (lambda: executable(x=1), lambda: executable.inputs, lambda: executable.signature):
        with pytest.raises(DiagnosticError, match=r"unknown-entry.*`prefill`, `step`, `scores`"):
            ask()


def test_an_only_entry_needs_no_name(tmp_path):
    """Whether it has one or not."""
    text = "entries:\n  go:\n    inputs: {x: 'F[2]'}\n    outputs: {y: x + 1.0}\n"
    made = tripybuild.compile(written.write(tmp_path, text), target="reference")
    assert made(x=np.zeros(2, "f4"))["y"].tolist() == [1, 1]
    assert made.go(x=np.zeros(2, "f4"))["y"].tolist() == [1, 1]


LAWFUL = """
parts:
  both: sums * 2
entries:
  bound:
    inputs: {x: "F[S, 4]", z: "F[R, 4]"}
    outputs: {y: "both[0](x, z)"}
  free:
    inputs: {x: "F[S, 4]", z: "F[R, 4]"}
    outputs: {y: "sum(x, 0) + sum(z, 0)"}
  again:
    inputs: {x: "F[S, 4]", z: "F[R, 4]"}
    outputs: {y: "both[1](x, z)"}
define:
  sums:
    inputs: {a: "F[N, 4]", b: "F[N, 4]"}
    outputs: {out: "sum(a + b, 0)"}
"""


def test_a_law_is_its_entry_s(tmp_path):
    """Also of one that repeats a part that another entry ran."""
    made = tripybuild.compile(written.write(tmp_path, LAWFUL), target="reference")
    x, z = np.ones((2, 4), "f4"), np.ones((3, 4), "f4")
    assert made.free(x=x, z=z)["y"].tolist() == [5] * 4
    for entry in (made.bound, made.again):
        assert entry(x=x, z=x)["y"].tolist() == [4] * 4
        with pytest.raises(DiagnosticError, match="shape-mismatch"):
            entry(x=x, z=z)


def test_forms_of_an_entry(folder):
    """Each is printed for itself."""
    path = folder / "tiny.yaml"
    text = session.emit(path, "trace", entry="scores")
    assert text == tripybuild.emit(path, "trace", entry="scores")
    assert "tiny.scores" in text
    assert "tensor<3x64xf32>" in tripybuild.emit(
        path, "stablehlo", entry="scores", shapes=[{"R": 3}]
    )


def test_inspect_shows_each_entry(folder, capsys, monkeypatch):
    """In the order of the file, with what each takes."""
    for words, read in (((), str), (("--json",), json.loads)):
        monkeypatch.setattr("sys.argv", ["tripybuild", "inspect", f"{folder}/cpu.tpb", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code
        shown = read(capsys.readouterr().out)
        if words:
            assert [each["name"] for each in shown["entries"]] == ["prefill", "step", "scores"]
        else:
            assert (
                "\nentry  prefill\n\n  Fill the cache.\n\ninputs\n  tokens  int32[B, S]\n" in shown
            )
            assert shown.index("entry  prefill") < shown.index("entry  step")


def test_one_weight_for_two_names_in_two_entries(tmp_path):
    """A name that one entry alone reads leads to the data of a name that another one reads."""
    text = """
        parts:
          words: Embedding(64, 64)
          head: Linear(64, 64, bias=False)
        entries:
          embed: {inputs: {t: "int32[2]"}, outputs: {y: words(t)}}
          score: {inputs: {x: "F[2, 64]"}, outputs: {y: head(x)}}
        weights:
          file: w.safetensors
          rename: {head.weight: words.weight}
        """
    table = np.random.default_rng(0).random((64, 64), "f4")
    save_file({"words.weight": table}, tmp_path / "w.safetensors")
    for target in ("reference", "cpu"):
        made = tripybuild.compile(written.write(tmp_path, text), target=target)
        assert list(made.weights) == ["words.weight"]
        x = made.embed(t=np.array([3, 5], "i4"))["y"]
        check_close(x, table[[3, 5]])
        check_close(made.score(x=x)["y"], x @ table.T)


SMALL = """
parts:
  l: Linear(4, 4)
state:
  s: F[2]
constants:
  c: arange(4) * 1.0
entries:
  zero: {outputs: {y: "zeros([2], F)"}}
  held: {outputs: {y: l.bias, c: c}}
  keep: {next: {s: s}}
  reset: {next: {s: "zeros([2], F)"}}
  same: {inputs: {x: "F[B]"}, outputs: {a: x, b: x}}
weights: w.safetensors
"""


@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_entries_that_compute_nothing(tmp_path, target):
    """Without inputs, and with outputs that are inputs, weights, states and constants."""
    bias = np.array([1, 2, 3, 4], "f4")
    save_file({"l.weight": np.zeros((4, 4), "f4"), "l.bias": bias}, tmp_path / "w.safetensors")
    made = tripybuild.compile(written.write(tmp_path, SMALL), target=target)
    assert made.zero()["y"].tolist() == [0, 0]
    found = {name: each.tolist() for name, each in made.held().items()}
    assert found == {"y": [1, 2, 3, 4], "c": [0, 1, 2, 3]}
    assert made.keep(s=np.ones(2, "f4"))["s.next"].tolist() == [1, 1]
    assert made.reset()["s.next"].tolist() == [0, 0]
    same = made.same(x=np.ones(3, "f4"))
    assert [same["a"].tolist(), same["b"].tolist()] == [[1, 1, 1]] * 2


def test_definitions_of_a_model_with_entries(tmp_path):
    """They are used as those of others are; sizes that are set count for all entries."""
    text = "parts: {l: cell}\nentries: {a: {inputs: {x: 'F[2]'}, outputs: {y: l(x)}}}\n"
    text += "define: {cell: {inputs: {x: 'F[*S]'}, outputs: {out: x + 1.0}}}\n"
    (tmp_path / "library.yaml").write_text(written.HEAD + text)
    text = """
        use: {library.yaml: [cell]}
        sizes: {n: 2}
        parts: {l: cell * 2}
        entries:
          one: {inputs: {x: "F[n]"}, outputs: {y: "l[0](x)"}}
          all: {inputs: {x: "F[n]"}, outputs: {y: l(x)}}
        """
    made = tripybuild.compile(written.write(tmp_path, text), target="reference", sizes={"n": 3})
    assert made.one(x=np.zeros(3, "f4"))["y"].tolist() == [1, 1, 1]
    assert made.all(x=np.zeros(3, "f4"))["y"].tolist() == [2, 2, 2]
    assert made.manifest["provenance"]["used"][0]["path"] == "library.yaml"


def changed(folder, path, change):
    """A file with another manifest, and right digests."""
    with container.open(folder / "reference.tpb") as file:
        members = {name: bytes(file.read(name)) for name in file.manifest.members}
        content = json.loads(json.dumps(dict(file.manifest.content)))
    change(content["entries"], members)
    container.write(path, content, members)
    return path


@pytest.mark.parametrize(
    "change",
    [
        lambda entries, _: entries[0].update(name=""),
        lambda entries, _: entries[0].update(name="Step"),
        lambda entries, _: entries[0].update(name="a/b"),
        lambda entries, _: entries[0].update(name="../step"),
        lambda entries, _: entries[0].update(name="other"),
        lambda entries, _: entries[0].update(doc=None),
        lambda entries, _: entries[0].pop("state"),
        lambda entries, _: entries[1].update(name=entries[0]["name"]),
        lambda entries, _: entries.clear(),
        lambda entries, members: members.pop("step/trace.json"),
    ],
)
def test_manifests_of_no_entries(folder, tmp_path, change):
    """Names lead to members, and are checked before any is read."""
    path = changed(folder, tmp_path / "other.tpb", change)
    with pytest.raises(DiagnosticError, match="executable-altered"):
        tripybuild.load(path)


def test_a_graph_of_another_entry(folder, tmp_path, arrays):
    """What an entry says of itself is compared with its graph."""

    def change(_, members):
        members["step/trace.json"] = members["scores/trace.json"]

    loaded = tripybuild.load(changed(folder, tmp_path / "other.tpb", change))
    x = np.ones((1, WIDTH), "f4")
    check_close(loaded.scores(x=x)["y"], x @ arrays["embedding.weight"].T)
    cache = np.zeros((1, 5, WIDTH), "f4")
    with pytest.raises(DiagnosticError, match="executable-altered"):
        loaded.step(token=np.zeros(1, "i4"), cache=cache, count=np.float32(0))


def test_graphs_share_their_values(folder):
    """Weights and states are the same values in each graph."""
    built = build(folder / "tiny.yaml")
    first, second, third = (entry.graph for entry in built.entries.values())
    table = {graph.weights["embedding.weight"] for graph in (first, second, third)}
    assert len(table) == 1
    assert set(built.declared_weights) == set(first.weights)
    assert [graph.name for graph in (first, second, third)] == [
        *("tiny.prefill", "tiny.step", "tiny.scores"),
    ]


def test_an_engine_for_each_entry(folder, tmp_path):
    """In one file, each with the profile of its own sizes."""
    pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
    (folder / "small.yaml").write_text(
        (folder / "tiny.yaml").read_text().replace("  S: {max: 3}", "  S: {max: 3}\n  R: {max: 2}")
    )
    path = tmp_path / "engine.tpb"
    made = tripybuild.compile(folder / "small.yaml", target="tensorrt-rtx:sm89", output=path)
    loaded = tripybuild.load(path)
    assert loaded.manifest == json.loads(json.dumps(dict(made.manifest)))
    plans = [each.manifest["engine"]["plan"] for each in loaded.entries.values()]
    assert plans == [f"{name}/tensorrt/engine.plan" for name in loaded.entries]
    assert len({bytes(loaded.member(plan)) for plan in plans}) == 3
    for name, entry in loaded.entries.items():
        record = json.loads(bytes(loaded.member(f"{name}/tensorrt/record.json")))
        assert {each["name"] for each in record["inputs"]} == set(entry.inputs)
        assert {each["name"] for each in record["outputs"]} == set(entry.outputs)
