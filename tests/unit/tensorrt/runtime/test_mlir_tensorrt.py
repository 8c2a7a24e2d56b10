"""The target `mlir-tensorrt`: what its compiler is given, what it says, and how its results run."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import tripybuild
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.targets.table import find_target, prepare_compiler
from tripybuild.tensorrt.mlir import verifier
from tripybuild.tensorrt.mlir.reading import parser
from tripybuild.tensorrt.mlir_tensorrt import compiler, library
from tripybuild.tensorrt.runtime import gpu
from tripybuild.worker import compiler_process

TESTS = Path(__file__).parents[3]
TARGET = find_target("mlir-tensorrt")
FAKE = TESTS / "fake_mlir_tensorrt"
RANGE = "#tensorrt.shape_profile<min = [1, 2], opt = [2, 2], max = [4, 2]>"
EXACT = "#tensorrt.shape_profile<min = [2, 2], opt = [2, 2], max = [2, 2]>"
ARGUMENT = ", ".join(
    (
        'tensorrt.dimension_names = {"0" = "B"}',
        f"tensorrt.shape_profile = [{RANGE}, {EXACT}]",
        'tripybuild.name = "x"',
    )
)
ROWS, ROW = "tensor<?x2xf32>", "tensor<1x2xf32>"
MODULE = f"""
module @double {{
  func.func @main(%arg0: {ROWS} {{{ARGUMENT}}}) -> ({ROWS} {{tripybuild.name = "y"}}) {{
    %w = tensorrt.constant dense_resource<w> : {ROW}
    %0 = tensorrt.element_wise <kSUM>(%arg0, %w : {ROWS}, {ROW}) -> {ROWS}
    %1 = trtx.cumulative <kSUM> %0 {{axis = 1 : i64}} : {ROWS}
    return %1 : {ROWS}
  }}
}}
"""


@pytest.fixture
def fake(monkeypatch, tmp_path):
    """The fake package in this process; each test has its own copy."""
    monkeypatch.syspath_prepend(str(FAKE))
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    _forget()
    compiler._client.cache_clear()
    yield compiler
    compiler._client.cache_clear()
    _forget()


def _forget():
    for name in [each for each in sys.modules if each.split(".")[0] == "mlir_tensorrt"]:
        del sys.modules[name]


def weights(folder, array):
    """A weight as a request says where it lies."""
    path = folder / "weights"
    path.write_bytes(array.tobytes())
    place = {"dtype": "float32", "shape": list(array.shape), "begin": 0, "end": array.nbytes}
    return {"weights": [{"path": str(path), "tensors": {"w": place}}]}


def compiled(fake, folder, text=MODULE):
    """The payload, and the record that goes with it."""
    options = {**weights(folder, np.array([[1, 2]], np.float32)), "path": "double.mlir"}
    payload = fake.compile_request(text.encode(), options)
    plan = folder / "plan"
    record = json.loads(fake.compile_request(text.encode(), {**options, "plan": str(plan)}))
    assert plan.read_bytes() == payload
    assert record.pop("plan")["size"] == len(payload)
    return payload, record


def test_what_the_compiler_is_given(fake, tmp_path):
    """NVIDIA's dialect alone, with the weights, and attributes as nvtripy writes them."""
    payload, _ = compiled(fake, tmp_path)
    text = payload.decode()
    assert verifier.problems(parser.parse(text)) == []
    for word in ("trtx.", "tripybuild.", f"[{RANGE}"):
        assert word not in text
    assert f"tensorrt.shape_profile = {RANGE}" in text
    assert 'tensorrt.dimension_names = {"0" = "B"}' in text
    assert "0000803F00000040" in text.upper()  # 1.0 and 2.0
    assert 'loc("double.mlir":' in text or "#loc" in text


def test_how_the_compiler_is_called(fake, tmp_path):
    """The task and the options of nvtripy."""
    compiled(fake, tmp_path)
    api = library.import_module_of("compiler.api")
    options, text = api.CALLS[:2]
    assert text.startswith(("module @double", "#loc"))
    assert options[0] == f"--tensorrt-timing-cache-path={tmp_path}/cache/mlir-tensorrt.timing-cache"
    assert options[1:] == [
        "--tensorrt-builder-opt-level=3",
        "--tensorrt-strongly-typed=True",
        "--force-entrypoints-return-allocs",
    ]


def test_the_record(fake, tmp_path):
    """As that of an engine: names, types, ranges and layers."""
    _, record = compiled(fake, tmp_path)
    (x,), (y,) = record["inputs"], record["outputs"]
    assert record["library"] == {"name": "mlir-tensorrt", "version": "unknown"}
    assert (x["name"], x["dtype"], x["shape"], x["host"]) == ("x", "float32", [None, 2], False)
    assert x["profiles"] == [{"min": [1, 2], "opt": [2, 2], "max": [4, 2]}]
    assert x["dimension_names"] == {"0": "B"}
    assert (y["name"], y["shape"]) == ("y", [None, 2])
    assert {
        "name": "tensorrt.constant",
        "op": "tensorrt.constant",
        "location": '"double.mlir":4:10',
        "outputs": [{"dtype": "float32", "shape": [1, 2]}],
    } in record["layers"]


def test_tensors_on_the_host(fake, tmp_path):
    """Are said by their memory space, as nvtripy does."""
    bounds = "#tensorrt.shape_profile<min = [1], opt = [2], max = [4]>"
    said = f"tensorrt.host_tensor, tensorrt.value_bounds = {bounds}"
    text = f"""
func.func @main(%n: tensor<1xi32> {{{said}}}) -> tensor<1xi32> {{
  %0 = tensorrt.element_wise <kSUM>(%n, %n : tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  return %0 : tensor<1xi32>
}}"""
    payload, record = compiled(fake, tmp_path, text)
    assert "plan.memory_space = #plan.memory_space<host>" in payload.decode()
    assert "tensorrt.host_tensor" not in payload.decode()
    (n,) = record["inputs"]
    assert n["host"]
    assert n["of_values"]
    assert n["profiles"] == [{"min": [1], "opt": [2], "max": [4]}]


def test_what_is_refused_before_the_compiler(fake, tmp_path):
    """Layers that cannot be written in NVIDIA's dialect, at their places."""
    text = MODULE.replace(
        "trtx.cumulative <kSUM> %0 {axis = 1 : i64} : tensor<?x2xf32>",
        "trtx.all_reduce <kSUM> %0 : tensor<?x2xf32> -> tensor<?x2xf32>",
    )
    with pytest.raises(DiagnosticError) as raised:
        compiled(fake, tmp_path, text)
    (found,) = raised.value.diagnostics
    assert found.code == "tensorrt-unsupported"
    assert (found.span.path, found.span.line) == ("double.mlir", 6)


SAID = """loc("words"("spec.yaml":3:4)): error: 'tensorrt.slice' op failed to build
loc("spec.yaml":9:1): note: see current operation
-- a line of TensorRT
loc(fused["spec.yaml":5:6, "spec.yaml":7:8]): error: another
"""


def refusals(fake, tmp_path, monkeypatch, said):
    monkeypatch.setenv("FAKE_MLIR_TENSORRT_SAYS", said)
    with pytest.raises(DiagnosticError) as raised:
        compiled(fake, tmp_path)
    return raised.value.diagnostics


def test_what_the_compiler_says(fake, tmp_path, monkeypatch, capfd):
    """Errors on standard error, with their places and the notes behind them."""
    first, second = refusals(fake, tmp_path, monkeypatch, SAID)
    assert (first.code, first.message) == (
        "tensorrt-refused",
        "'tensorrt.slice' op failed to build",
    )
    assert (first.span.path, first.span.line, first.span.column) == ("spec.yaml", 3, 4)
    assert first.notes == ("see current operation", "-- a line of TensorRT")
    assert (second.message, second.span.line) == ("another", 7)
    assert "tensorrt.slice" in capfd.readouterr().err  # nothing is lost where it aborts


def test_a_compiler_of_few_words(fake, tmp_path, monkeypatch):
    """Then the exception's are all that there are."""
    (found,) = refusals(fake, tmp_path, monkeypatch, "")
    assert found.message == "mlir-tensorrt does not compile the module"
    assert found.notes == ("InternalError: failed to run compilation task",)
    (found,) = refusals(fake, tmp_path, monkeypatch, "loc(unknown): error: no place\n")
    assert (found.message, found.span) == ("no place", None)


# Running


@pytest.fixture
def prepare(fake, tmp_path, monkeypatch):
    """What prepares the executable of the module."""
    payload, record = compiled(fake, tmp_path)
    monkeypatch.setattr(gpu, "find_gpu", lambda: gpu.Gpu("NVIDIA L4", "sm89"))
    return load(payload, record)


def load(payload, record):
    ports = {
        key: [{"name": each["name"], "dtype": each["dtype"]} for each in record[key]]
        for key in ("inputs", "outputs")
    }
    members = {"plan": payload, "record": json.dumps(record).encode()}
    manifest = {**ports, "engine": {"plan": "plan", "record": "record"}}
    return TARGET.prepare_engine(manifest, lambda name: memoryview(members[name]))


def test_an_executable_runs(prepare):
    """Arrays in, arrays out, that own their memory."""
    x = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    (y,) = prepare(["x"], [x.shape])([x])
    np.testing.assert_array_equal(y, np.cumsum(x + np.array([1, 2]), 1))
    assert y.dtype == np.float32
    assert y.flags.owndata


class OnDevice:
    """An array that says that it is on a GPU."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, *, stream):
        assert stream == 1
        return self.array.__dlpack__()


def test_arrays_on_the_device(prepare):
    """Are viewed, not copied."""
    x = np.ones((2, 2), np.float32)
    (y,) = prepare(["x"], [x.shape])([TARGET.import_array("x", OnDevice(x))])
    np.testing.assert_array_equal(y, [[2, 5], [2, 5]])


def test_what_the_runtime_refuses(prepare):
    """In its words."""
    x = np.ones((13, 1), np.float32)
    with pytest.raises(DiagnosticError) as raised:
        prepare(["x"], [x.shape])([x])
    (found,) = raised.value.diagnostics
    assert found.code == "engine-failed"
    assert found.notes == ("InternalError: failed to set input shape", "Runtime shape mismatch")


def test_where_there_is_no_gpu(fake, tmp_path, monkeypatch):
    """All that is in the way is said, before the runtime sees the bytes."""
    payload, record = compiled(fake, tmp_path)
    monkeypatch.setattr(gpu, "find_gpu", lambda: gpu.Absence("no CUDA driver", "libcuda"))
    record["library"]["version"] = "0.4.9"
    with pytest.raises(DiagnosticError) as raised:
        load(payload, record)
    codes = [each.code for each in raised.value.diagnostics]
    assert codes == ["no-gpu", "executable-incompatible"]


def test_where_it_is_not_installed(monkeypatch):
    """The diagnostic says what to install, for compiling and for running."""
    monkeypatch.setitem(sys.modules, "mlir_tensorrt", None)
    for name in ("compiler.api", "runtime.api"):
        with pytest.raises(DiagnosticError) as raised:
            library.import_module_of(name)
        (found,) = raised.value.diagnostics
        assert found.code == "target-unavailable"
        assert "mlir-tensorrt-compiler" in found.hint


def test_another_release(fake, monkeypatch):
    """Its interface is another one; the diagnostic says which release is needed."""
    monkeypatch.delattr(
        library.import_module_of("compiler.api").CompilerClient, "get_compilation_task"
    )
    monkeypatch.delattr(library.import_module_of("runtime.api").RuntimeClient, "create_stream")
    for load_it in (
        lambda: prepare_compiler(library.NAME),
        lambda: library.interface("runtime"),
    ):
        with pytest.raises(DiagnosticError) as raised:
            load_it()
        (found,) = raised.value.diagnostics
        assert found.code == "target-unavailable"
        assert (
            found.message == "The target `mlir-tensorrt` needs release 0.1.43, and here is unknown"
        )


SPEC = """tripybuild: 1
model: sums
inputs:
  x: float32[B, 3]
ranges:
  B: {min: 1, opt: 2, max: 4}
outputs:
  y: cumsum(x, 1)
"""


def test_a_spec_through_the_process(tmp_path, monkeypatch):
    """Compile, save, load and run, with the fake package in the compiler's process."""
    monkeypatch.setenv("PYTHONPATH", f"{FAKE}:{TESTS}")
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    compiler_process.session.cache_clear()
    path, made = tmp_path / "sums.yaml", tmp_path / "sums.tpb"
    path.write_text(SPEC, encoding="utf-8")
    try:
        tripybuild.compile(path, target="mlir-tensorrt").save(made)
    finally:
        compiler_process.session("mlir-tensorrt").close()
        compiler_process.session.cache_clear()
    monkeypatch.syspath_prepend(str(FAKE))
    monkeypatch.setattr(gpu, "find_gpu", lambda: gpu.Gpu("NVIDIA L4", "sm89"))
    _forget()
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    loaded = tripybuild.load(made)
    np.testing.assert_array_equal(loaded(x=x)["y"], np.cumsum(x, 1))
    assert "mlir-tensorrt" in repr(loaded)
    _forget()
