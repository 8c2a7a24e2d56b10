"""Programs: a model that OpenVINO compiled, called with arrays of any sizes in its ranges.

Several threads may call one program: each call has an infer request of its own. A forked process
compiles the model again at its first call, since it has none of the threads of the first one.

An executor, which is OpenVINO's word for threads that it keeps for models, waits for the next model
with the same properties when its own are gone. To compile in a forked process with such an executor
would never return. Before a fork, every one that waits is therefore given a small model, which the
forked process keeps. Nor would it return where the fork found threads of TBB at work, so a fork
waits for calls that compute.

Elementwise operations are fused into one kernel in cubic time: a hundred take a fifth of a second,
a thousand some minutes. A model with a larger cluster is compiled without such kernels. What has
sizes that change from call to call is not fused so.

Every property that changes numbers is set, since OpenVINO's own defaults depend on the processor:
it computes float32 in bfloat16 and rounds activations to 8 bits where that is fast.
"""

import ctypes
import os
import threading
import time
import weakref
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from threading import RLock
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.onnx.model import GraphDef, OnnxModel, OnnxNode, ValueInfo
from tripybuild.onnx.protobuf import encode_model
from tripybuild.process import memory
from tripybuild.process.native_work import default_threads
from tripybuild.process.per_process import process, process_lock
from tripybuild.targets.openvino.bounds import INT32
from tripybuild.targets.openvino.library import DEVICE, core
from tripybuild.targets.openvino.model import ReadableModel
from tripybuild.targets.openvino.refusals import CODE, HINT
from tripybuild.targets.openvino.tensors import Array, BoundRequest, OpenvinoPort, Shapes
from tripybuild.types.dtypes import float32, int64

Options = Mapping[str, int | str]


def _keep(*parts: object) -> None:
    """Never take apart what the parent of this process made: that would wait for its threads."""
    for each in parts:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(each))


class Program:
    """A compiled model.

    Args:
        model: What OpenVINO reads.
        inputs: Its inputs in order.
        outputs: Its outputs in order.
        chosen: The options of the user.
        measures: Whether it counts the time of each kernel.

    Raises:
        DiagnosticError: OpenVINO is not there, or refuses the model.
    """

    def __init__(
        self,
        model: ReadableModel,
        inputs: Sequence[OpenvinoPort],
        outputs: Sequence[OpenvinoPort],
        chosen: Options | None = None,
        *,
        measures: bool = False,
    ) -> None:
        self._model, self._chosen, self._measures = model, chosen or {}, measures
        self._inputs = tuple(inputs)
        self._outputs = tuple(replace(each, place=at) for at, each in enumerate(outputs))
        self._wide = [at for at, each in enumerate(self._inputs) if each.dtype is int64]
        self._compile()

    def _compile(self) -> None:
        """Compile the model in this process."""
        mark = process.mark
        read = self._model.read()
        given = properties(self._chosen) | ({"PERF_COUNT": True} if self._measures else {})
        if largest_cluster(read.get_ordered_ops()) > MOST:
            given |= FUSION
        _keep(getattr(self, "_compiled", None), getattr(self, "_idle", None))
        try:
            self._compiled = compile_model(read, given)
        except RuntimeError as error:
            raise self._model.failure(error) from error
        # With one thread `infer` of 2026.4 returns as if all were well where a kernel fails.
        self._silent = int(self._compiled.get_property("INFERENCE_NUM_THREADS")) == 1
        # OpenVINO orders inputs as it likes, where nothing but the shape of one is read.
        found = {e.get_node().get_friendly_name(): n for n, e in enumerate(self._compiled.inputs)}
        self._inputs = tuple(replace(each, place=found.get(each.name)) for each in self._inputs)
        self._idle: list[BoundRequest] = []
        self._mark = mark  # last: another thread calls as soon as it reads this

    @property
    def runtime_model(self) -> Any:
        """What OpenVINO made of the model: its kernels, and what they compute in."""
        return self._compiled.get_runtime_model()

    def kernel_seconds(self) -> list[tuple[str, str, float]]:
        """The kernels with what they compute and the mean seconds of all calls of one request.

        Their names are those of the layers of the model that are in them.
        """
        origins = {
            each.get_friendly_name(): each.get_rt_info()["originalLayersNames"].astype(str)
            for each in self.runtime_model.get_ordered_ops()
        }
        return [
            (origins.get(n.node_name) or n.node_name, n.node_type, n.real_time.total_seconds())
            for n in self._idle[-1].native.profiling_info
        ]

    def __call__(self, arrays: Sequence[Array], shapes: Shapes) -> list[Array]:
        """Run the program; the results own their memory.

        Args:
            arrays: The inputs, of whose types the caller is sure.
            shapes: Those of the results; None where the elements of inputs tell.

        Raises:
            DiagnosticError: An integer has more than 32 bits, or there is too little memory.
        """
        self._check_integers(arrays)
        if self._mark is not process.mark:
            self._compile_again()
        try:
            request = self._idle.pop()
        except IndexError:  # as many are computing
            request = self._request()
        try:
            found = request.run(arrays, shapes, self._infer)
        except (RuntimeError, MemoryError) as error:
            raise _run_failure(error) from error
        self._idle.append(request)  # one that failed is let go
        return found

    def _infer(self, request: Any) -> None:
        """Compute, and raise what went wrong."""
        with _computing:
            self._compute(request)

    def _compute(self, request: Any) -> None:
        if self._silent:
            request.start_async()
            request.wait()
        else:
            request.infer(share_outputs=True)  # copied where they are read

    def _request(self) -> BoundRequest:
        """A new request."""
        return BoundRequest(self._compiled.create_infer_request(), self._inputs, self._outputs)

    def _compile_again(self) -> None:
        """Compile the model in a forked process, once."""
        with process_lock("openvino reload"):
            if self._mark is not process.mark:
                self._compile()

    def _check_integers(self, arrays: Sequence[Array]) -> None:
        """Refuse integers that OpenVINO would cut to 32 bits."""
        for at in self._wide:
            array = arrays[at]
            if array.size and not (INT32.low <= array.min() and array.max() <= INT32.high):
                message = f"the input `{self._inputs[at].name}` has integers of more than 32 bits"
                note = "OpenVINO computes int64 in 32 bits"
                raise DiagnosticError(Diagnostic(CODE, message, notes=(note,), hint=HINT))


def _run_failure(error: BaseException) -> DiagnosticError:
    if memory.is_out_of_memory(error):
        return memory.memory_error("the program needs more memory than available", (), error)
    said = tuple(line.strip() for line in str(error).splitlines() if line.strip())[-4:]
    return DiagnosticError(Diagnostic("compiler-failed", "OpenVINO failed in a call", notes=said))


MOST = 64
# OpenVINO's own names of what is fused.
ELEMENTWISE = frozenset(
    {
        *("Abs", "Add", "Ceiling", "Clamp", "Convert", "Divide", "Elu", "Equal", "Erf", "Exp"),
        *("Floor", "Gelu", "Greater", "GreaterEqual", "HSwish", "Less", "LessEqual", "LogicalAnd"),
        *("LogicalNot", "LogicalOr", "LogicalXor", "Maximum", "Minimum", "Mish", "Mod", "Multiply"),
        *("Negative", "NotEqual", "PRelu", "Power", "Relu", "Round", "Select", "Sigmoid", "Sqrt"),
        *("SquaredDifference", "Subtract", "Swish", "Tanh"),
    }
)


def largest_cluster(operations: Iterable[Any]) -> int:
    """How many elementwise operations of static sizes depend on each other at most.

    Args:
        operations: Those of a model in an order of computation.
    """
    leader: dict[str, str] = {}
    size: dict[str, int] = {}

    def find(name: str) -> str:
        while leader[name] != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    for each in operations:
        if each.get_type_name() not in ELEMENTWISE or not _is_static(each):
            continue
        name = each.get_name()
        leader[name], size[name] = name, 1
        for source in each.input_values():
            other = source.get_node().get_name()
            if other in leader and find(other) != find(name):
                first, second = find(other), find(name)
                leader[second] = first
                size[first] += size[second]
    return max(size.values(), default=0)


def _is_static(operation: Any) -> bool:
    """Whether each size of its result is a number."""
    found: bool = operation.get_output_partial_shape(0).is_static
    return found


class ForkGate:
    """What calls pass while they compute, and what a fork closes when no other thread does.

    A handler of signals may fork amid a call of its own thread, which has computed by then.
    """

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._calls: dict[int, int] = {}  # how many a thread is in
        self._is_closed = False

    def __enter__(self) -> None:
        with self._free:
            while self._is_closed:
                self._free.wait()
            thread = threading.get_ident()
            self._calls[thread] = self._calls.get(thread, 0) + 1

    def __exit__(self, *_: object) -> None:
        with self._free:
            thread = threading.get_ident()
            if left := self._calls.pop(thread) - 1:
                self._calls[thread] = left
            if self._is_closed:
                self._free.notify_all()

    def close(self) -> None:
        """Let no call begin, and wait for those of other threads."""
        with self._free:
            self._is_closed = True
            while self._calls.keys() - {threading.get_ident()}:
                self._free.wait()

    def open(self) -> None:
        """Let calls compute again."""
        with self._free:
            self._is_closed = False
            self._free.notify_all()


Key = tuple[tuple[str, Any], ...]

SETTLE = 0.005  # seconds that threads of TBB take to lie down behind a call

_computing = ForkGate()
_lock = RLock()
_alive: Counter[Key] = Counter()
_most: Counter[Key] = Counter()  # as many executors there are
_held: list[Any] = []


def compile_model(model: Any, properties: Mapping[str, Any]) -> Any:
    """Compile a model; one at a time, and none while the process is forked.

    Raises:
        RuntimeError: OpenVINO refuses it.
    """
    key = tuple(sorted(properties.items()))
    with _lock:
        _most[key] = max(_most[key], _alive[key] + 1)  # one that is refused has an executor, too
        compiled = core().compile_model(model, DEVICE, dict(properties))
        _alive[key] += 1
        weakref.finalize(compiled, _forget, key, os.getpid()).atexit = False
        return compiled


def _forget(key: Key, process: int) -> None:
    if process == os.getpid():
        _alive[key] -= 1


def _before_fork() -> None:
    _lock.acquire()
    _computing.close()
    if _most:
        time.sleep(SETTLE)
    waiting = [key for key, count in _most.items() for _ in range(count - _alive[key])]
    _held.extend(core().compile_model(core().read_model(_SMALL), DEVICE, dict(k)) for k in waiting)


def _in_parent() -> None:
    _held.clear()
    _computing.open()
    _lock.release()


def _in_child() -> None:
    """Begin anew; what the parent made is never taken apart, since that would wait for threads."""
    global _lock, _computing
    for each in _held:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(each))
    _held.clear()
    _alive.clear()
    _most.clear()
    _lock, _computing = RLock(), ForkGate()


_SMALL = encode_model(
    OnnxModel(
        GraphDef(
            "small",
            (OnnxNode("Exp", ("x",), ("y",)),),
            (ValueInfo("x", float32, (1,)),),
            (ValueInfo("y", float32, (1,)),),
        ),
        opset=20,
    )
)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)


# Elements that share a scale where activations are rounded to 8 bits; 0 rounds none.
QUANTIZATION_GROUP = 32
# Takes longer than the number of operations in it squared, where they are fused into one kernel.
FUSION = {"SNIPPETS_MODE": "DISABLE"}


def properties(options: Options) -> dict[str, Any]:
    """What OpenVINO is given: numbers of float32, all processors, unless the options say else.

    No thread is bound to a processor, since on a machine that does other things, too, that makes
    one wait for the other. Each has the same part of the work in each call: to share it out anew
    takes small kernels a third longer (lstm 7.6 ms, and 6.1 without).
    """
    group = QUANTIZATION_GROUP if options.get("activations") == "int8" else 0
    return {
        "INFERENCE_PRECISION_HINT": options.get("precision", "f32"),
        "DYNAMIC_QUANTIZATION_GROUP_SIZE": str(group),
        "ENABLE_CPU_PINNING": False,
        "TBB_PARTITIONER": "STATIC",
        "NUM_STREAMS": 1,
        "INFERENCE_NUM_THREADS": options.get("threads") or default_threads(),
    }
