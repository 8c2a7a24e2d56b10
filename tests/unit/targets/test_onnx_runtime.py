"""The engine `cpu:onnxruntime`: one program for all sizes, over the weights of the file."""

import gc
import os
import subprocess
import sys
import textwrap
from importlib.metadata import version

import numpy as np
import pytest
import written
from safetensors.numpy import save_file

import tripybuild
from tripybuild.cli.commands import doctor_trial
from tripybuild.compiler import executable
from tripybuild.compiler.executable import Executable
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process import memory
from tripybuild.process.native_work import default_threads
from tripybuild.targets.cpu import onnx_runtime
from tripybuild.targets.onnx_runtime import library, session
from tripybuild.targets.table import parse_target
from tripybuild.types.dtypes import BY_NAME
from tripybuild.weights import safetensors

ENGINE = "cpu:onnxruntime,threads=2"
CLASSES = """
    inputs:
      tokens: int32[B, S]
    ranges:
      B: {min: 1, opt: 2, max: 64}
      S: {min: 1, opt: 3, max: 64}
    parts:
      table: Embedding(200, 64)
      first: Linear(64, 96)
      last: Linear(96, 5)
    steps:
      words: mean(table(tokens), 1)
    outputs:
      y: softmax(last(gelu(first(words))), 1)
      words: words
    weights:
      file: w.safetensors
    """
RUNNING = """
    inputs:
      x: F[N, 4]
    parts:
      mean: running
    outputs:
      y: mean(x)
    define:
      running:
        inputs:
          x: F[B, 4]
        state:
          total: {type: "F[B, 4]", first: 0.0}
          count: {type: "F[()]", first: 0.0}
        next:
          total: total + x
          count: count + 1.0
        outputs:
          out: next.total
    """
SIZES = [(1, 1), (2, 3), (7, 20), (64, 64)]


def classes(folder, target=ENGINE):
    """The model with random weights, from its file."""
    random = np.random.default_rng(0)
    shapes = {
        "table.weight": (200, 64),
        "first.weight": (96, 64),
        "first.bias": (96,),
        "last.weight": (5, 96),
        "last.bias": (5,),
    }
    arrays = {n: random.normal(size=s).astype(np.float32) / 4 for n, s in shapes.items()}
    save_file(arrays, folder / "w.safetensors")
    path = written.write(folder, CLASSES)
    name = folder / f"{target.partition(',')[0].replace(':', '-')}.tpb"
    tripybuild.compile(path, target=target, output=name)
    return tripybuild.load(name)


def tokens(batch, length):
    return np.random.default_rng([batch, length]).integers(0, 200, (batch, length), np.int32)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The model, loaded from its file."""
    return classes(tmp_path_factory.mktemp("classes"))


def one(folder, inputs, output, target=ENGINE):
    """A model of one expression."""
    lines = "".join(f"\n      {name}: {kind}" for name, kind in inputs.items())
    ranges = (
        "\n    ranges:\n      A: {min: 0, opt: 5}" if any("A" in e for e in inputs.values()) else ""
    )
    text = f"\n    inputs:{lines}{ranges}\n    outputs:\n      y: {output}\n    "
    return tripybuild.compile(written.write(folder, text), target=target)


def refusal(run):
    with pytest.raises(DiagnosticError) as raised:
        run()
    return raised.value.diagnostics[0]


def test_every_size_has_the_results_of_other_targets(made, tmp_path):
    """Without a compile: the same session serves all of them."""
    reference = classes(tmp_path, "reference")
    for sizes in SIZES:
        found, wanted = made(tokens=tokens(*sizes)), reference(tokens=tokens(*sizes))
        assert list(found) == list(wanted)
        for name, each in wanted.items():
            np.testing.assert_allclose(found[name], each, rtol=1e-4, atol=1e-5)
    runs = set(map(id, made.entry()._by_sizes.values()))
    assert (len(made.entry()._by_sizes), len(runs)) == (len(SIZES), 1)


def test_results_are_the_same_each_time(made):
    """And own their memory: they may be written to, and stay when others are computed."""
    x = tokens(7, 20)
    first = made(tokens=x)["y"]
    kept = first.copy()
    second = made(tokens=x)["y"]
    np.testing.assert_array_equal(second, kept)
    first[...] = 0
    np.testing.assert_array_equal(made(tokens=x)["y"], kept)
    np.testing.assert_array_equal(second, kept)


def test_arrays_of_any_layout_are_taken(made):
    """Transposed, and read-only."""
    x = tokens(3, 5)
    wanted = made(tokens=x)["y"]
    np.testing.assert_array_equal(made(tokens=np.asfortranarray(x))["y"], wanted)
    x.flags.writeable = False
    np.testing.assert_array_equal(made(tokens=x)["y"], wanted)


def test_the_file_holds_no_native_code(made):
    """So that a file from elsewhere needs no rebuild; a session is made of the graph."""
    assert set(made.members) == {"trace.json", "weights.safetensors"}
    assert made.manifest["target"] == "cpu:onnxruntime"
    assert made.manifest["options"] == {"threads": 2}
    assert made.target.rebuild(made) is made


def test_the_manifest_says_which_version_compiled(made):
    assert made.manifest["versions"]["onnxruntime"] == version("onnxruntime")


@pytest.mark.parametrize("changed", [np.zeros(96, np.int8), np.zeros((4, 24), np.float32)])
def test_weights_of_other_types_are_refused(made, tmp_path, changed):
    """Before ONNX Runtime reads memory that is not there."""
    arrays = {**made.weights, "first.bias": changed}
    members = {**made.members, "weights.safetensors": safetensors.encode(arrays)}
    Executable(made.manifest, members).save(tmp_path / "changed.tpb")
    found = tripybuild.load(tmp_path / "changed.tpb")
    said = refusal(lambda: found(tokens=tokens(1, 1)))
    assert said.code == "executable-altered"
    assert "its weight `first.bias` is not that of its graph" in said.message


@pytest.mark.parametrize("name", ["trace.json", "weights.safetensors"])
def test_a_damaged_member_is_refused(made, tmp_path, name):
    """When the file is opened."""
    made.save(tmp_path / "damaged.tpb")
    content = bytearray((tmp_path / "damaged.tpb").read_bytes())
    at = content.index(bytes(made.member(name))[:64])
    content[at + 60] ^= 1
    (tmp_path / "damaged.tpb").write_bytes(content)
    assert refusal(lambda: tripybuild.load(tmp_path / "damaged.tpb")).code == "executable-altered"


def test_weights_are_read_where_they_are(made):
    """Tables of embeddings and matrices of products; what is small is copied."""
    made(tokens=tokens(1, 1))
    (run,) = set(made.entry()._by_sizes.values())
    assert run._source.shared == {"table.weight", "first.weight"}
    values = {name: each.data_ptr() for name, each in run._held[1].items()}
    assert values == {name: each.ctypes.data for name, each in made.weights.items()}


LOADS = """
    import sys
    import numpy as np
    import tripybuild
    tripybuild.load(sys.argv[1])(tokens=np.ones((1, 2), np.int32))
    print(*sys.modules)
"""


def test_a_load_imports_nothing_that_compiles(made, tmp_path):
    """What reads specifications, and other dialects, takes longer than to begin a session."""
    made.save(tmp_path / "made.tpb")
    words = [sys.executable, "-c", textwrap.dedent(LOADS), str(tmp_path / "made.tpb")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    found = set(done.stdout.split())
    assert "onnxruntime" in found
    heavy = {"pydantic", "yaml", "jaxlib", "typer", "tripybuild.stablehlo", "tripybuild.tensorrt"}
    assert heavy.isdisjoint(found)


def test_weights_are_checked_while_the_graph_is_lowered(made, tmp_path, monkeypatch):
    """What is prepared from the other members does not run before, nor where they are damaged."""
    made.save(tmp_path / "late.tpb")
    monkeypatch.setattr(executable, "LARGE", 1)
    lowered = []
    real = onnx_runtime.lower_onnx
    monkeypatch.setattr(
        onnx_runtime, "lower_onnx", lambda *a, **k: lowered.append(a) or real(*a, **k)
    )
    late = tripybuild.load(tmp_path / "late.tpb")
    assert len(lowered) == 1
    np.testing.assert_array_equal(late(tokens=tokens(2, 3))["y"], made(tokens=tokens(2, 3))["y"])
    assert len(lowered) == 1
    content = bytearray((tmp_path / "late.tpb").read_bytes())
    at = content.index(bytes(made.member("weights.safetensors"))[:64])
    content[at + 4000] ^= 1
    (tmp_path / "late.tpb").write_bytes(content)
    assert refusal(lambda: tripybuild.load(tmp_path / "late.tpb")).code == "executable-altered"


def test_what_cannot_be_prepared_is_said_by_the_call(made, tmp_path, monkeypatch):
    """A file is loaded, and its weights are read, where no library runs it."""
    made.save(tmp_path / "made.tpb")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    library.runtime.cache_clear()
    library.binding.cache_clear()
    try:
        loaded = tripybuild.load(tmp_path / "made.tpb")
        assert loaded.weights.keys() == made.weights.keys()
        assert refusal(lambda: loaded(tokens=tokens(1, 1))).code == "target-unavailable"
    finally:
        library.runtime.cache_clear()


COPIES = """
    import resource, sys
    import numpy as np
    import tripybuild
    made = tripybuild.load(sys.argv[1])
    size = sum(each.nbytes for each in made.weights.values())
    target, entry = made.target, made.entry()
    first = target.load(entry)({"N": 1})  # which imports what it needs
    faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    before = faults()
    run = target.load(entry)({"N": 1})
    print((faults() - before) * resource.getpagesize() / size)
    run([np.ones((1, 2048), np.float32)])
    print((faults() - before) * resource.getpagesize() / size)
"""


def test_matrices_are_copied_once(tmp_path):
    """Into the order in which products read them: no other memory is touched, then or later."""
    random = np.random.default_rng(0)
    arrays = {f"{n}.weight": random.normal(size=(2048, 2048)).astype(np.float32) for n in "pq"}
    save_file(arrays, tmp_path / "w.safetensors")
    text = """
    inputs:
      x: F[N, 2048]
    parts:
      p: Linear(2048, 2048, bias=False)
      q: Linear(2048, 2048, bias=False)
    outputs:
      y: q(relu(p(x)))
    weights:
      file: w.safetensors
    """
    file = tmp_path / "w.tpb"
    tripybuild.compile(written.write(tmp_path, text), target=ENGINE, output=file)
    words = [sys.executable, "-c", textwrap.dedent(COPIES), str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    loaded, called = map(float, done.stdout.split())
    assert 1 <= loaded < 1.25
    assert called < 1.3


FOLDED = """
    inputs:
      x: F[N, 64]
    parts:
      scaled: scaled
    outputs:
      y: scaled(x)
    define:
      scaled:
        inputs:
          x: F[B, 64]
        weights:
          weight: F[64, 64]
        outputs:
          out: x @ exp(weight)
    weights:
      file: w.safetensors
    """


def test_weights_that_are_computed_with_at_the_load_are_copied(tmp_path, monkeypatch):
    """And where such a one is shared, its bytes are not read from somewhere else."""
    weight = np.random.default_rng(0).normal(size=(64, 64)).astype(np.float32)
    save_file({"scaled.weight": weight}, tmp_path / "w.safetensors")
    real, tried = session._initialize, []

    def initialize(source, values, shared, output):
        tried.append(shared)
        return real(source, values, shared, output)

    monkeypatch.setattr(session, "_initialize", initialize)
    monkeypatch.setattr(onnx_runtime, "IN_PLACE", frozenset({"Exp"}))
    made = tripybuild.compile(written.write(tmp_path, FOLDED), target=ENGINE)
    assert tried == [{"scaled.weight"}, set()]
    x = np.eye(64, dtype=np.float32)
    np.testing.assert_allclose(made(x=x)["y"], np.exp(weight), rtol=1e-5)


def test_what_was_compiled_is_what_runs(tmp_path, monkeypatch):
    """It is loaded once, at compilation."""
    made = one(tmp_path, {"x": "F[2]"}, "x + 1.0")
    monkeypatch.setattr(onnx_runtime, "lower_onnx", None)
    assert made(x=np.zeros(2, np.float32))["y"].tolist() == [1, 1]


def test_what_nobody_loads_is_let_go(tmp_path):
    """With the executable."""
    before = set(onnx_runtime._ready)
    made = one(tmp_path, {"x": "F[2]"}, "x + 1.0")
    (kept,) = set(onnx_runtime._ready) - before
    del made
    gc.collect()
    assert kept not in onnx_runtime._ready


@pytest.mark.parametrize("name", ["bfloat16", "float8", "int4", "float16", "int8", "bool"])
def test_dtypes_cross_the_border(tmp_path, name):
    """Those that NumPy lacks go as they are stored; two values of 4 bits share a byte there."""
    dtype = BY_NAME[name].numpy
    output = f"cast(reshape(cast(x, float32), [3, A]), {name})"
    made = one(tmp_path, {"x": f"{name}[A, 3]", "z": "F[2]"}, output)
    for rows in (1, 2, 5):
        x = (np.arange(rows * 3).reshape(rows, 3) % (2 if name == "bool" else 7)).astype(dtype)
        found = made(x=x, z=np.zeros(2, np.float32))["y"]
        assert found.dtype == dtype
        np.testing.assert_array_equal(
            found.astype(np.float32), x.reshape(3, rows).astype(np.float32)
        )
        found[...] = 0


def test_empty_arrays_are_computed(tmp_path):
    """As any other."""
    made = one(tmp_path, {"x": "F[A, 3]"}, "relu(x)")
    assert made(x=np.zeros((0, 3), np.float32))["y"].shape == (0, 3)


def test_sizes_that_are_divided_by_zero_are_refused(tmp_path):
    """At the call, before native code divides; others work."""
    made = one(tmp_path, {"x": "F[A]"}, "x + sum(ones([8 // (A - 2)], F))")
    assert made(x=np.zeros(3, np.float32))["y"].tolist() == [8] * 3
    said = refusal(lambda: made(x=np.zeros(2, np.float32)))
    assert (said.code, said.message) == ("size-out-of-range", "a size is divided by zero for A=2")
    assert made(x=np.zeros(4, np.float32))["y"].tolist() == [4] * 4


@pytest.mark.parametrize("target", [ENGINE, "cpu:openvino"])
def test_outputs_for_which_there_is_no_memory_are_refused(tmp_path, monkeypatch, target):
    """Before it is asked for."""
    made = one(tmp_path, {"x": "F[A]"}, "reshape(x, [A, 1]) + reshape(x, [1, A])", target)
    limit = memory.MemoryLimit(1 << 31, "this machine has little")
    monkeypatch.setattr(memory, "limit", lambda: limit)
    said = refusal(lambda: made(x=np.zeros(1 << 15, np.float32)))
    assert said.message == "`y` is tensor<32768x32768xf32>, which takes 4.3 GB"
    assert "this machine has little" in said.notes
    assert made(x=np.zeros(2, np.float32))["y"].tolist() == [[0, 0], [0, 0]]


def test_a_session_keeps_the_state(tmp_path):
    """What it gave before stays as it was."""
    model = tripybuild.compile(written.write(tmp_path, RUNNING), target=ENGINE)
    x = np.ones((3, 4), np.float32)
    running = model.start(N=3)
    first = running(x=x)
    read = dict(running.state)
    second = running(x=x)
    assert (first["y"][0, 0], second["y"][0, 0]) == (1, 2)
    assert (read["mean.total"][0, 0], read["mean.count"]) == (1, 1)
    assert (running.state["mean.total"] == 2).all()


def test_a_missing_kernel_is_said_at_its_line(tmp_path):
    """With the words of ONNX Runtime."""
    said = refusal(lambda: one(tmp_path, {"x": "bfloat16[A]"}, "exp(x)"))
    assert said.code == "onnxruntime-refused"
    assert "does not compute `Exp` of ONNX" in said.message
    assert said.span.path == str(tmp_path / "tiny.yaml")  # whatever the folder of the process
    assert "exp(x)" in (tmp_path / "tiny.yaml").read_text().splitlines()[said.span.line - 1]
    assert any("Could not find an implementation" in note for note in said.notes)


def test_a_missing_kernel_of_what_a_node_becomes_is_said_at_its_line(tmp_path):
    """ONNX Runtime replaces a call by nodes without names; the same one of float32 has a kernel."""
    text = """
    inputs:
      x: bfloat16[A]
    parts:
      last: Linear(4, 4, dtype=float32)
    steps:
      first: gelu(last(ones([2, 4])))
      branch: cond(sum(first) > 0.0, one, one, [sum(first)])
      second: gelu(x)
    outputs:
      y: second
      z: first + branch
    define:
      one:
        inputs: {x: "float32[()]"}
        outputs: {out: x}
    weights:
      file: w.safetensors
    """
    arrays = {"last.weight": np.ones((4, 4), np.float32), "last.bias": np.ones(4, np.float32)}
    save_file(arrays, tmp_path / "w.safetensors")
    path = written.write(tmp_path, text)
    said = refusal(lambda: tripybuild.compile(path, target=ENGINE))
    assert said.code == "onnxruntime-refused"
    assert "does not compute `Gelu` of ONNX" in said.message
    assert "gelu(x)" in path.read_text().splitlines()[said.span.line - 1]
    assert said.hint == onnx_runtime.HINT


def test_too_much_memory_is_an_error(tmp_path):
    """Of the call, whose arrays it names; the executable works afterwards."""
    model = one(tmp_path, {"x": "F[A]"}, "reshape(x, [A, 1]) + reshape(x, [1, A])")
    x = np.zeros(1 << 22, np.float32)
    assert refusal(lambda: model(x=x)).code == "out-of-memory"
    assert model(x=x[:2])["y"].tolist() == [[0, 0], [0, 0]]


def test_a_failing_node_is_an_error(made, monkeypatch):
    """With what the call got."""
    made(tokens=tokens(1, 1))
    (run,) = set(made.entry()._by_sizes.values())
    said = refusal(lambda: run([np.zeros((2, 2, 2), np.int32)]))
    assert said.code == "engine-failed"
    assert "it got tokens: int32[2, 2, 2]" in said.notes
    monkeypatch.setattr(run, "_run", lambda *_: (_ for _ in ()).throw(RuntimeError("bad_alloc")))
    assert refusal(lambda: run([tokens(1, 1)])).code == "out-of-memory"


def test_threads_are_those_of_the_process():
    """Or those that the target says; they sleep where for a while nothing is to be done."""
    assert session.session_options(None).intra_op_num_threads == default_threads()
    options = session.session_options(3)
    assert options.intra_op_num_threads == 3
    assert options.get_session_config_entry("session.intra_op.spin_duration_us") == "20"
    assert options.use_deterministic_compute
    assert parse_target("cpu:onnxruntime,threads=3").options == {"threads": 3}


def test_emit_prints_the_operations(tmp_path):
    """Of ONNX, with symbols."""
    text = tripybuild.emit(written.write(tmp_path, CLASSES), "onnx")
    assert "Gather" in text
    assert "tokens" in text
    assert "B" in text


def test_doctor_tries_it():
    """In a process of its own."""
    found = doctor_trial.run_trial("cpu:onnxruntime", 60)
    assert found["problems"] == []
    assert list(found["facts"]) == ["onnxruntime"]


FORKS = """
    import os, signal, sys
    signal.alarm(60)
    import numpy as np
    import tripybuild
    made = tripybuild.load(sys.argv[1])
    x = np.ones((64, 64), np.int32)
    wanted = made(tokens=x)["y"]
    for leave in (os._exit, sys.exit):
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            leave(0 if np.array_equal(made(tokens=x)["y"], wanted) else 3)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code == 0, code
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(made(tokens=x)["y"], wanted)
    print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_loads_it_again(tmp_path):
    """And ends, whether it has called it or not; no thread talks with the maker's servers."""
    classes(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    environment = {k: v for k, v in os.environ.items() if k != library.TELEMETRY}
    environment |= {"HOME": str(home), "TRIPYBUILD_CACHE_DIR": str(tmp_path / "cache")}
    words = [sys.executable, "-c", textwrap.dedent(FORKS), str(tmp_path / "cpu-onnxruntime.tpb")]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["2"]  # Python's, and one beside it that computes
    assert list(home.rglob("*")) == []
