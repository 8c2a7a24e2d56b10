"""What computes a model: our targets, torch, and runtimes that read what torch exports.

All take the inputs as NumPy arrays and give arrays back. A contestant is made in its own process
of what `prepare` left in a folder: the peer's checkpoint, the inputs, and what torch gives.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import contest
import engine
import model_jobs
import numpy as np
from contest import Answer, Ask, timed
from model_jobs import Job
from numpy.typing import NDArray
from table import median, samples

Arrays = dict[str, NDArray[Any]]

RESULT = ".result"  # behind the names of outputs in exported files


@dataclass(frozen=True)
class Model:
    """A job, the form that it has, and the folder of its files."""

    job: Job
    form: str
    folder: Path

    @cached_property
    def compared(self) -> Any:
        """The spec with its peer."""
        return model_jobs.comparison(self.job, self.form, self.folder / "checkpoint")

    @cached_property
    def call(self) -> Any:
        """The entry that is called."""
        return model_jobs.call_of(self.compared, self.job)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Its dynamic sizes."""
        return model_jobs.sizes_of(self.call, self.job, self.form)

    @cached_property
    def inputs(self) -> Arrays:
        """What it is called with; each process draws the same."""
        found: Arrays = self.call.draw(self.sizes, 0)
        return found

    def expected(self) -> Arrays:
        """What torch gives."""
        with np.load(self.folder / "expected.npz") as file:
            return dict(file)

    def program(self) -> tuple[Any, Any]:
        """The peer as a module of torch, and the tensors that it takes by name."""
        torch: Any = import_module("torch")
        torch.set_num_threads(contest.threads())
        found: tuple[Any, Any] = import_module("oracles.peers").program(self.call, self.inputs)
        return found

    @property
    def weights(self) -> Path:
        """The checkpoint."""
        return self.folder / "checkpoint" / "model.safetensors"

    @property
    def exported(self) -> Path:
        """What torch exports."""
        return self.folder / "exported" / "model.onnx"


Call = Callable[[], Any]
Loaded = tuple[Call, Callable[[Any], Arrays]]  # what is called, and what makes arrays of it


def ours(model: Model, target: str) -> Loaded:
    """Load the executable that `compile_ours` made, in a session where it keeps a state."""
    loaded = engine.load_executable(executable_file(model, target))
    entry = loaded.entry(model.job.entry)
    kinds = {name: np.dtype(each["dtype"]) for name, each in entry.inputs.items()}
    inputs = {name: each.astype(kinds[name]) for name, each in model.inputs.items()}
    if model.call.entry.states:
        entry = model.call.session(loaded, model.sizes).entry(model.job.entry)
    names = list(model.call.outputs)
    return lambda: entry(**inputs), lambda found: {name: np.asarray(found[name]) for name in names}


def compile_ours(model: Model, target: str, *, sized: bool = True) -> Answer:
    """Compile for any sizes, and where it is `sized`, for those of the call.

    XLA, which compiles each combination, takes no others then; OpenVINO has a program of their own.
    """
    compared = model.compared
    ahead = [model.sizes] if sized and target == "cpu:openvino" and model.sizes else []
    fixed = model.sizes if sized and target == "cpu:xla" else {}
    output = executable_file(model, target)
    output.parent.mkdir(exist_ok=True)
    sizes = {**compared.fixed, "F": "float32", **fixed}
    config = compared.own_config
    assert model.inputs, "they are drawn before the clock starts"

    def whole() -> object:
        engine.compile_model(compared.path, target, sizes, model.weights, config, output, ahead)
        return ours(model, target)[0]()

    return {"compile s": timed(whole)[0], "file MB": output.stat().st_size / 1e6}


def executable_file(model: Model, target: str) -> Path:
    """Where an executable is kept."""
    return model.folder / "ours" / f"{target.replace(':', '-')}.tpb"


def torch_eager(model: Model) -> Loaded:
    """Call the peer as it is."""
    program, taken = model.program()
    return _torch_call(model, program, taken)


def torch_compile(model: Model) -> Loaded:
    """Call what `torch.compile` makes of it with the default backend."""
    program, taken = model.program()
    compiled = import_module("torch").compile(program, dynamic=False)
    call, arrays = _torch_call(model, compiled, taken)
    call()
    return call, arrays


def _torch_call(model: Model, program: Any, taken: Any) -> Loaded:
    torch: Any = import_module("torch")
    given = {name: tensor.numpy() for name, tensor in taken.items()}

    def call() -> Any:
        with torch.inference_mode():
            results = program(*(torch.from_numpy(each) for each in given.values()))
            return [each.numpy() for each in results]

    return call, lambda found: dict(zip(model.call.outputs, found, strict=True))


def prepare(model: Model) -> Answer:
    """Draw the weights, save them, and keep what torch gives."""
    weights = model.compared.weights
    program, taken = model.program()
    seconds, results = timed(_torch_call(model, program, taken)[0])
    np.savez(model.folder / "expected.npz", **dict(zip(model.call.outputs, results, strict=True)))
    np.savez(model.folder / "given.npz", **{name: each.numpy() for name, each in taken.items()})
    return {"weights MB": weights.stat().st_size / 1e6, "torch s": seconds}


def export(model: Model) -> Answer:
    """Export for other runtimes, at the one shape."""
    torch: Any = import_module("torch")
    program, taken = model.program()
    model.exported.parent.mkdir(exist_ok=True)
    # No value within the graph has such names.
    results = [f"{name}{RESULT}" for name in model.call.outputs]
    names = {"input_names": list(taken), "output_names": results}

    def write() -> None:
        with torch.no_grad():
            torch.onnx.export(
                program, tuple(taken.values()), model.exported, dynamo=True, verbose=False, **names
            )

    seconds, _ = timed(write)
    files = sum(file.stat().st_size for file in model.exported.parent.iterdir())
    return {"export s": seconds, "file MB": files / 1e6}


def _given(model: Model) -> Arrays:
    with np.load(model.folder / "given.npz") as file:
        return dict(file)


def onnx_runtime(model: Model) -> Loaded:
    """Run the exported model in ONNX Runtime with all that it does to graphs."""
    runtime: Any = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = contest.threads()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = runtime.InferenceSession(str(model.exported), options, ["CPUExecutionProvider"])
    known = {each.name for each in session.get_inputs()}
    inputs = {name: array for name, array in _given(model).items() if name in known}
    names = list(model.call.outputs)
    return lambda: session.run(None, inputs), lambda found: dict(zip(names, found, strict=True))


def openvino(model: Model) -> Loaded:
    """Run the exported model in OpenVINO, for latency and in float32."""
    sys.modules["openvino.tools.ovc"] = None  # type: ignore[assignment]  # it would send telemetry
    library: Any = import_module("openvino")
    settings = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": contest.threads(),
        "INFERENCE_PRECISION_HINT": "f32",
        "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0,
    }
    compiled = library.Core().compile_model(str(model.exported), "CPU", settings)
    known = set().union(*(each.get_names() for each in compiled.inputs))
    inputs = {name: array for name, array in _given(model).items() if name in known}
    request, names = compiled.create_infer_request(), list(model.call.outputs)
    return lambda: request.infer(inputs), lambda found: {n: found[n + RESULT] for n in names}


OURS = ("cpu", "cpu:xla", "cpu:onnxruntime", "cpu:openvino")
EXPORTED: Mapping[str, Callable[[Model], Loaded]] = {
    "ONNX Runtime": onnx_runtime,
    "OpenVINO": openvino,
}
IN_TORCH: Mapping[str, Callable[[Model], Loaded]] = {
    "torch eager": torch_eager,
    "torch.compile": torch_compile,
}
PEERS = {**IN_TORCH, **EXPORTED}


def asks(name: str, model: Model) -> Mapping[str, Ask]:
    """What a contestant answers in its process; `torch` prepares for all."""
    if name == "torch":
        return {"prepare": lambda _: prepare(model), "export": lambda _: export(model)}
    loaded: list[Call] = []

    def load(_: Mapping[str, Any]) -> Answer:
        assert model.inputs, "they are drawn before the clock starts"
        make = (lambda: ours(model, name)) if name in OURS else (lambda: PEERS[name](model))
        seconds, (call, arrays) = timed(make)
        first, result = timed(call)
        loaded.append(call)
        apart = import_module("spec_tests").difference(arrays(result), model.expected())
        return {"load s": seconds + first, "off by": apart}

    def measure(question: Mapping[str, Any]) -> Answer:
        times = samples(loaded[0], question["seconds"], at_least=3, warm=1)
        return {"median ms": median(times) * 1e3, "best ms": min(times) * 1e3}

    return {"compile": lambda _: compile_ours(model, name), "load": load, "measure": measure}
