"""Sessions of ONNX Runtime: a model that is called with arrays of any sizes.

Invariant: the weights are read where they lie, so that their arrays live as long as the session.
"""

import ctypes
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakSet

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.onnx.model import ExternalData
from tripybuild.process import memory
from tripybuild.process.native_work import default_threads
from tripybuild.process.per_process import per_process, process, process_lock
from tripybuild.targets.onnx_runtime.arrays import (
    Array,
    KeptTensor,
    is_native,
    prepared,
    read,
    tensor,
)
from tripybuild.targets.onnx_runtime.library import (
    FATAL_ONLY,
    binding,
    error_words,
    errors,
    is_out_of_memory,
    runtime,
)
from tripybuild.targets.onnx_runtime.optimized_file import (
    LARGE,
    OptimizedFile,
    graph_path,
    settings_of,
    write_optimized,
)
from tripybuild.types.dtypes import dtype

Names = Mapping[str, dtype]

# Where models say that the data of weights is, which is in memory: in a file that has to be there,
# far behind its end, so that to read it is an error.
_FILE, _BEHIND_END = Path(__file__), 1 << 40
_PROVIDERS = ("CPUExecutionProvider",)
# The one kernel of a sum and its normalization takes four times as long as the two of both.
_SLOWER_FUSIONS = ("SkipLayerNormFusion",)
# What ONNX Runtime rounds of its own accord: 1 is nothing, and its default of 4 makes int8 of what
# is multiplied by a matrix of 4 bits.
EXACT_PRODUCTS = {"session.qdq_matmulnbits_accuracy_level": "1"}
# Idle threads sleep: those that spin on take the processor from others. Before that they wait for
# the next part of the work about as long as it takes to wake one.
CONFIGURATION = {
    **EXACT_PRODUCTS,
    "session.intra_op.allow_spinning": "1",
    "session.intra_op.spin_duration_us": "20",
    "session.inter_op.allow_spinning": "0",
    "session.model_external_initializers_file_folder_path": str(_FILE.parent),
}
_MAPPED_LEVEL = "ORT_DISABLE_ALL"  # all optimizations are in the file


def settings() -> str:
    """All on which it depends what ONNX Runtime makes of a model, and how it maps that."""
    found = CONFIGURATION, LARGE, _MAPPED_LEVEL, _SLOWER_FUSIONS, _PROVIDERS
    options = session_options(None)
    levels = [options.graph_optimization_level, options.execution_mode]
    return json.dumps([*found, *map(str, levels), options.use_deterministic_compute])


@dataclass(frozen=True, slots=True)
class SessionSource:
    """What a session is made from.

    Args:
        label: The name of the model in messages.
        model: The bytes of ONNX; weights are initializers with their data at `no_data`.
        inputs: The dtype of each input by its name, in the order of a call.
        outputs: The dtype of each output.
        weights: The weights with their dtypes.
        shared: The weights that kernels read from their arrays, in each call or once, to make what
            they read in each call. The others are copied: the graph may be optimized by their data.
        updates: The numbers of inputs, by those of outputs that may be written into their memory,
            since nothing but the node that writes one reads the other.
        threads: How many threads compute; by default one for each processor of this process.
        optimized: What ONNX Runtime made of the model and the weights, in their place.
        profile: How the file begins that the time of each kernel is written to.
    """

    label: str
    model: bytes
    inputs: Names
    outputs: Names
    weights: Mapping[str, tuple[dtype, Array]]
    shared: frozenset[str] = frozenset()
    updates: Mapping[int, int] = field(default_factory=dict)
    threads: int | None = None
    optimized: OptimizedFile | None = None
    profile: Path | None = None


class RuntimeSession:
    """A loaded model; several threads may call it.

    A forked process has none of the threads of its parent, so the first call there loads the model
    again.

    Args:
        source: What it is made from.
        output: A file for what ONNX Runtime makes of it (`SessionSource.optimized`).
    """

    def __init__(self, source: SessionSource, output: Path | None = None) -> None:
        self._source = source
        self._inputs, self._outputs = list(source.inputs), list(source.outputs)
        kinds = [*source.inputs.values(), *source.outputs.values()]
        self._is_native = all(map(is_native, kinds))
        self._input_types = list(source.inputs.items())
        self._output_types = list(source.outputs.values())
        self._updates = source.updates
        self._load(output)
        _sessions.add(self)

    def _load(self, output: Path | None = None) -> None:
        mark = process.mark
        self._held, self.native = load_session(self._source, output)
        self._run, self._run_bound = self.native.run, self.native.run_with_iobinding
        self._mark = mark  # last: another thread calls as soon as it reads this

    def _load_again(self) -> None:
        """Load the model in a forked process, once."""
        with process_lock("onnxruntime reload"):
            if self._mark is not process.mark:
                self._load()

    def __call__(self, arrays: Sequence[Array]) -> list[Array]:
        """Run the model; the results own their memory and may be written to.

        Raises:
            DiagnosticError: There is not enough memory, or a node fails.
        """
        if self._mark is not process.mark:
            self._load_again()
        try:
            if self._is_native:
                taken = dict(zip(self._inputs, arrays, strict=True))
                results: list[Array] = self._run(self._outputs, taken, None)
                return results
            return self._run_values(arrays)
        except errors() as error:
            raise self._failure(error, arrays) from error

    def _run_values(self, arrays: Sequence[Array]) -> list[Array]:
        """Run with values that NumPy has no dtypes for."""
        held = [prepared(each, t) for (_, t), each in zip(self._input_types, arrays, strict=True)]
        taken = {
            name: tensor(array, type)
            for (name, type), array in zip(self._input_types, held, strict=True)
        }
        results = self.native.run_with_ort_values(taken, self._outputs, None)
        return [read(each, type) for each, type in zip(results, self._output_types, strict=True)]

    def run_keeping(self, arrays: Sequence[Any], kept: frozenset[int]) -> list[Any]:
        """Run the model on arrays and on kept results, and keep the results of these numbers.

        Raises:
            DiagnosticError: There is not enough memory, or a node fails. What was kept may be given
                away then.
        """
        if self._mark is not process.mark:
            self._load_again()
        try:
            return self._run_in_place(arrays, kept)
        except errors() as error:
            raise self._failure(error, arrays) from error

    def _run_in_place(self, arrays: Sequence[Any], kept: frozenset[int]) -> list[Any]:
        """Run where each input is, and write updates into the memory of what they update."""
        bound, device = binding().SessionIOBinding(self.native), _device()
        taken: dict[int, KeptTensor] = {}
        held = [_placed(a, type) for (_, type), a in zip(self._input_types, arrays, strict=True)]
        for (name, type), each in zip(self._input_types, held, strict=True):
            bound.bind_ortvalue_input(
                name, each.value if isinstance(each, KeptTensor) else tensor(each, type)
            )
        for number, name in enumerate(self._outputs):
            source = self._updates.get(number) if number in kept else None
            old = None if source is None else held[source]
            if isinstance(old, KeptTensor):
                bound.bind_ortvalue_output(name, old.value)
                taken[number] = old
            else:
                bound.bind_output(name, device)
        for old in taken.values():
            old.is_given_away = True
        self._run_bound(bound, None)
        results = bound.get_outputs()  # whose iterator ends by a C++ exception, which is slow
        return [
            taken[number].update()
            if number in taken
            else KeptTensor(results[number], type)
            if number in kept
            else read(results[number], type)
            for number, type in enumerate(self._output_types)
        ]

    def _failure(self, error: Exception, arrays: Sequence[Array]) -> DiagnosticError:
        label = self._source.label
        taken = ", ".join(
            f"{name}: {each.dtype}{list(each.shape)}"
            for name, each in zip(self._inputs, arrays, strict=True)
        )
        if is_out_of_memory(error):
            message = f"`{label}` needs more memory than available"
            return memory.memory_error(message, [f"it got {taken}"], error)
        message = f"ONNX Runtime failed to run `{label}`: {error_words(error)}"
        return DiagnosticError(Diagnostic("engine-failed", message, notes=(f"it got {taken}",)))


def _placed(array: Any, type: dtype) -> Any:
    """An array whose memory can be read, or a kept tensor of this process."""
    if array.__class__ is KeptTensor:
        if array.mark is process.mark:
            return array
        array = array.read_kept()  # of the process before a fork
    return prepared(array, type)


@per_process
def _device() -> Any:
    """Where ONNX Runtime allocates results."""
    device = binding().OrtDevice
    return device(device.cpu(), device.default_memory(), 0)


def no_data(size: int) -> ExternalData:
    """Where a model says that a weight of so many bytes is, which is in memory."""
    return ExternalData(_FILE.name, _BEHIND_END, size)


def load_session(source: SessionSource, output: Path | None = None) -> tuple[list[Any], Any]:
    """What a native session reads, and the session.

    Raises:
        Exception: One of `library.errors()`: the model is refused.
        ValueError: What was optimized has another form.
    """
    if source.optimized is not None:
        values = _values_over(source.optimized.weights)
        return [source.optimized, values], _initialize_optimized(source, source.optimized, values)
    held = {name: (t, prepared(each, t)) for name, (t, each) in source.weights.items()}
    values = _values_over(held)
    # A file is written of copies, which may fail. And what optimizes the graph may read a weight
    # that its kernel reads in place: then it has to be copied, too.
    ways: list[tuple[frozenset[str], Path | None]] = [(source.shared, None), (frozenset(), None)]
    ways = list(dict.fromkeys(ways if output is None else [(frozenset(), output), *ways]))
    failures: tuple[type[Exception], ...] = (*errors(), OSError)
    while True:
        try:
            return [held, values], _initialize(source, values, *ways.pop(0))
        except failures as error:
            if not ways or is_out_of_memory(error):
                raise


def _initialize(
    source: SessionSource,
    values: Mapping[str, Any],
    shared: frozenset[str],
    output: Path | None = None,
) -> Any:
    """A session over weights, of which it copies those that are not shared."""
    options = session_options(source.threads)
    if source.profile is not None:
        options.enable_profiling = True
        options.profile_file_prefix = str(source.profile)
    copied = {name: each for name, each in values.items() if name not in shared}
    if copied:
        options.add_external_initializers(list(copied), list(copied.values()))
    for name in source.shared:
        options.add_initializer(name, values[name])

    def make() -> Any:
        return _initialized(binding().InferenceSession(options, source.model, False, False))

    if output is None:
        return make()
    options.optimized_model_filepath = str(graph_path(output))
    for key, value in settings_of(output).items():
        options.add_session_config_entry(key, value)
    return write_optimized(output, _FILE.name, make)


def _values_over(arrays: Mapping[str, tuple[dtype, Array]]) -> Mapping[str, Any]:
    """Values over the memory of arrays, which live as long as a session that reads them."""
    value = runtime().OrtValue
    return {name: value(tensor(array, type)) for name, (type, array) in arrays.items()}


def _initialize_optimized(
    source: SessionSource, file: OptimizedFile, values: Mapping[str, Any]
) -> Any:
    """A session of what was optimized, whose weights stay where they are mapped."""
    options = session_options(source.threads)
    options.graph_optimization_level = getattr(binding().GraphOptimizationLevel, _MAPPED_LEVEL)
    for name, value in values.items():
        options.add_initializer(name, value)
    return _initialized(binding().InferenceSession(options, file.model, False, False))


def _initialized(made: Any) -> Any:
    made.initialize_session([*_PROVIDERS], [{}], set(_SLOWER_FUSIONS))
    return made


def session_options(threads: int | None) -> Any:
    """Options of sessions: deterministic, silent, without telemetry or files."""
    options = binding().SessionOptions()
    options.log_severity_level = FATAL_ONLY
    options.intra_op_num_threads = threads or default_threads()
    options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    for key, value in CONFIGURATION.items():
        options.add_session_config_entry(key, value)
    return options


_sessions: WeakSet[RuntimeSession] = WeakSet()


def _keep_alive() -> None:
    """Never take a session of the parent apart: that would wait for threads that are not here."""
    for each in list(_sessions):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(each.native))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_alive)


# Events of the profile that a session writes.
_CALL, _NODE, _KERNEL = "model_run", "Node", "_kernel_time"
_BODY = re.compile(r"/(then_branch|else_branch|body)/")  # the node that holds it has its time, too
_MICRO = 1e-6
PROFILE_NOTE = "ONNX Runtime measures kernels in whole microseconds"
MeasuredCall = tuple[float, list[tuple[str, str, float]]]


def measured_calls(path: Path, rounds: int) -> list[MeasuredCall]:
    """The seconds of the last calls, each with the names, operators and seconds of its kernels.

    Args:
        path: What a session has written.
        rounds: How many calls are read.
    """
    events = json.loads(path.read_text(encoding="utf-8"))
    calls = [each for each in events if each.get("name") == _CALL][-rounds:]
    kernels = [each for each in events if _is_kernel(each)]
    return [(each["dur"] * _MICRO, list(_kernels_of(each, kernels))) for each in calls]


def _is_kernel(event: Mapping[str, Any]) -> bool:
    """Whether an event is the time of a kernel, which is in no body."""
    name = str(event.get("name", ""))
    return event.get("cat") == _NODE and name.endswith(_KERNEL) and not _BODY.search(name)


def _kernels_of(
    call: Mapping[str, Any], kernels: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str, float]]:
    """The kernels that ran in a call."""
    for each in kernels:
        if call["ts"] <= each["ts"] <= call["ts"] + call["dur"] and each["dur"]:
            kind = str(each["args"].get("op_name", ""))
            yield each["name"].removesuffix(_KERNEL), kind, each["dur"] * _MICRO
