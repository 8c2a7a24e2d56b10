"""Tests of `tripybuild doctor`: what is said was tried, and a library that crashes is a fact."""

import json
import os
import sys
from importlib import metadata

import numpy as np
import pytest
from typer.testing import CliRunner

from tripybuild.cli.commands import doctor, doctor_trial
from tripybuild.cli.main import app
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.per_process import PerProcess
from tripybuild.targets import table
from tripybuild.targets.onnx_runtime import library as onnxruntime_library
from tripybuild.targets.openvino import library as openvino_library
from tripybuild.targets.tensorrt import target
from tripybuild.tensorrt.runtime import cuda, gpu
from tripybuild.worker.main import handle_request

HIDDEN = "raise ImportError('it is hidden')"
ABORTS = "import os\nos.abort()"
HANGS = "import time\ntime.sleep(60)"
WORKS = {"works": True, "seconds": 0.1, "facts": {"jaxlib": "1"}, "problems": []}
BROKEN = {
    "works": False,
    "seconds": 0.1,
    "facts": {},
    "problems": [
        {"code": "compiler-crashed", "message": "it crashed", "notes": ["why"], "hint": None}
    ],
}


@pytest.fixture(autouse=True)
def _cache(monkeypatch):
    """A trial has a cache of its own, in its own process as a rule."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", os.environ.get("TRIPYBUILD_CACHE_DIR", ""))


def shadowed(monkeypatch, folder, module, text):
    """Let processes that begin now find this module in the place of the installed one."""
    (folder / f"{module}.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")


def outcome(name):
    """What a trial answers in this process."""
    _, payload = handle_request({"target": name}, b"", doctor_trial.workers())
    return json.loads(payload)


def stub(monkeypatch, code):
    """Let trials run this code."""
    monkeypatch.setattr(doctor_trial, "COMMAND", (sys.executable, "-c", code))


@pytest.mark.parametrize("name", ["cpu", "cpu:xla", "reference"])
def test_what_needs_no_gpu_is_compiled_and_run(name):
    """With the versions of what computes it."""
    found = doctor_trial.run_trial(name, 100)
    assert found["works"], found
    assert found["facts"]
    assert all(version[0].isdigit() for version in found["facts"].values())


def test_an_engine_is_really_built():
    """With the GPUs that the library builds for."""
    pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
    found = doctor_trial.run_trial("tensorrt-rtx", 100)
    assert found["works"], found
    assert "sm89" in found["facts"]["gpus"]
    assert found["facts"]["tensorrt_rtx"].count(".") >= 2


def test_a_library_that_is_not_there_says_how_to_get_it(tmp_path, monkeypatch):
    """It is what the import says, and no crash."""
    shadowed(monkeypatch, tmp_path, "tensorrt_rtx", HIDDEN)
    found = doctor_trial.run_trial("tensorrt-rtx", 100)
    (problem,) = found["problems"]
    assert not found["works"]
    assert problem["code"] == "target-unavailable"
    assert problem["notes"] == ["it is hidden"]
    assert "pip install 'tripybuild[tensorrt-rtx]'" in problem["hint"]


@pytest.mark.parametrize(
    ("name", "said", "package"),
    [
        ("onnxruntime", "ONNX Runtime cannot be used", "onnxruntime>=1.30,<2"),
        ("openvino", "OpenVINO cannot be used", "tripybuild[openvino]"),
    ],
)
def test_an_engine_that_is_not_installed_says_how_to_get_it(monkeypatch, name, said, package):
    """Neither the module is there, nor what pip knows of it."""
    library = onnxruntime_library if name == "onnxruntime" else openvino_library
    known = [each for each in vars(library).values() if isinstance(each, PerProcess)]
    find = metadata.distribution

    def distribution(asked):
        if asked == name:
            raise metadata.PackageNotFoundError(name)
        return find(asked)

    monkeypatch.setattr(metadata, "distribution", distribution)
    monkeypatch.setitem(sys.modules, name, None)
    for each in known:
        monkeypatch.setattr(each, "_known", {})
    (problem,) = outcome(f"cpu:{name}")["diagnostics"]
    assert (problem["code"], problem["message"]) == ("target-unavailable", said)
    assert problem["hint"] == f"install it: `pip install '{package}'`"


def test_mlir_tensorrt_that_is_not_there_is_refused_in_words(tmp_path, monkeypatch):
    """It is on no index that pip asks."""
    shadowed(monkeypatch, tmp_path, "mlir_tensorrt", HIDDEN)
    found = doctor_trial.run_trial("mlir-tensorrt", 100)
    (problem,) = found["problems"]
    assert problem["code"] == "target-unavailable"


@pytest.mark.parametrize(
    ("module", "name"), [("tensorrt_rtx", "tensorrt-rtx"), ("jaxlib", "cpu:xla")]
)
def test_a_library_that_aborts_is_a_fact(tmp_path, monkeypatch, module, name):
    """Nobody else is taken along."""
    shadowed(monkeypatch, tmp_path, module, ABORTS)
    found = doctor_trial.run_trial(name, 100)
    assert not found["works"]
    assert "SIGABRT" in found["problems"][0]["message"]


def test_a_trial_that_hangs_is_ended(tmp_path, monkeypatch):
    """After the seconds that it may take."""
    shadowed(monkeypatch, tmp_path, "tensorrt_rtx", HANGS)
    found = doctor_trial.run_trial("tensorrt-rtx", 1.5)
    assert found["seconds"] < 20
    assert found["problems"][0]["code"] == "compiler-timeout"


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import os; os.kill(os.getpid(), 11)", "SIGSEGV"),
        ("import os; os.kill(os.getpid(), 9)", "ran out of memory"),
        ("import sys; sys.exit(3)", "status 3"),
        ("pass", "malformed reply"),
        ("print('nothing')", "malformed reply"),
    ],
)
def test_every_end_of_a_trial_is_an_answer(monkeypatch, code, says):
    """Also one that says nothing, or something else."""
    stub(monkeypatch, code)
    found = doctor_trial.run_trial("cpu", 100)
    assert not found["works"]
    assert says in found["problems"][0]["message"]


def test_the_last_words_of_a_trial_are_kept(monkeypatch):
    """A traceback ends in what is wrong."""
    stub(monkeypatch, "raise ValueError('so it was')")
    (problem,) = doctor_trial.run_trial("cpu", 100)["problems"]
    assert problem["notes"][-1] == "ValueError: so it was"


def test_a_trial_that_cannot_be_started_is_an_answer(monkeypatch):
    """A missing interpreter, say."""
    monkeypatch.setattr(doctor_trial, "COMMAND", ("/no/such/program",))
    assert "cannot be started" in doctor_trial.run_trial("cpu", 100)["problems"][0]["message"]


def test_what_fails_in_python_is_an_answer(monkeypatch):
    """Whatever it is, and with what is known all the same."""
    monkeypatch.setattr(doctor_trial.DoctorTrial, "compile", lambda _: 1 / 0)
    found, _ = handle_request({"target": "cpu"}, b"", doctor_trial.workers())
    assert found == {"outcome": "failed", "text": "division by zero"}


@pytest.fixture
def a_gpu(monkeypatch):
    """A GPU, as far as the driver says."""
    found = gpu.Gpu("A card", "sm89")
    monkeypatch.setattr(gpu, "find_gpu", lambda: found)


def test_a_gpu_is_named_also_where_it_cannot_be_used(monkeypatch, a_gpu):
    """Without what talks to it, say."""

    def refuse():
        hint = "install it"
        raise DiagnosticError(Diagnostic("target-unavailable", "needs it", hint=hint))

    monkeypatch.setattr(cuda.Cuda, "find", refuse)
    found = outcome("engines")
    assert found["facts"] == {"gpu": "A card", "capability": "sm89"}
    assert [each["message"] for each in found["diagnostics"]] == ["needs it"]
    lines = list(doctor._entry("GPU", {"works": False, "problems": found["diagnostics"], **found}))
    assert [" ".join(line.split()) for line in lines] == [
        *("GPU no A card, compute capability sm89", "needs it", "hint: install it")
    ]


def test_an_engine_that_computes_something_else_does_not_work(monkeypatch, a_gpu):
    """It is run, and its values are looked at."""
    monkeypatch.setattr(cuda.Cuda, "find", lambda: None)
    monkeypatch.setattr(target, "version", lambda _: "12.8")
    results = {"y": np.array(doctor_trial.EXPECTED)}
    monkeypatch.setattr(doctor_trial.DoctorTrial, "compile", lambda _: lambda **_: results)
    found = outcome("engines")
    assert found["diagnostics"] == []
    assert found["facts"]["cuda-bindings"] == "12.8"
    results["y"][0] = 7
    (problem,) = outcome("engines")["diagnostics"]
    assert problem["message"] == "it computes [7.0, 4.0, 6.0, 8.0], and not [2.0, 4.0, 6.0, 8.0]"


def test_without_a_gpu_the_driver_is_what_is_missing(monkeypatch):
    """As what finds GPUs says it."""
    absence = gpu.Absence("no CUDA driver", "libcuda is not there")
    monkeypatch.setattr(gpu, "find_gpu", lambda: absence)
    (problem,) = outcome("engines")["diagnostics"]
    assert problem["code"] == "no-gpu"
    assert problem["message"] == "this machine has no CUDA driver"
    assert problem["notes"] == ["libcuda is not there"]


def answered(monkeypatch, *arguments, **others):
    """What the command says where trials end as given, and else work."""
    monkeypatch.setattr(
        doctor_trial,
        "run_trials",
        lambda names, _: {name: others.get(name, WORKS) for name in names},
    )
    return CliRunner().invoke(app, ["doctor", *arguments])


def test_the_command_ends_well_if_cpu_works(monkeypatch):
    """What else is missing is said, and no failure."""
    done = answered(monkeypatch, engines=BROKEN, tensorrt=BROKEN)
    assert done.exit_code == 0
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "cpu works jaxlib 1" in lines
    assert "tensorrt no it crashed" in lines
    assert "GPU no it crashed" in lines


def test_the_command_fails_if_cpu_does_not_work(monkeypatch):
    """Everything rests on it."""
    done = answered(monkeypatch, cpu=BROKEN)
    assert done.exit_code == 1
    assert "error[target-unavailable]" in done.output
    assert "it crashed" in done.output


def test_the_command_has_data_for_programs(monkeypatch):
    """All targets, and whether engines run."""
    done = answered(monkeypatch, "--json", engines=BROKEN)
    data = json.loads(done.stdout)
    assert list(data["targets"]) == [n for n, each in table.TARGETS.items() if not each.chooses]
    assert data["targets"]["cpu"] == WORKS
    assert data["engines"]["works"] is False
    assert data["diagnostics"] == []
