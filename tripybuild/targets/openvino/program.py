"""Programs: a model that OpenVINO compiled, called with arrays of any sizes in its ranges.

Several threads may call one program: each has an infer request of its own. A forked process
compiles the model again at its first call, since it has none of the threads of the first one.
"""

import ctypes
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process import memory
from tripybuild.process.per_process import per_process, process
from tripybuild.targets.openvino import options
from tripybuild.targets.openvino.bounds import INT32
from tripybuild.targets.openvino.clusters import MOST, largest_cluster
from tripybuild.targets.openvino.executors import compile_model
from tripybuild.targets.openvino.model import ReadableModel
from tripybuild.targets.openvino.refusals import CODE, HINT
from tripybuild.targets.openvino.tensors import Array, allocate, pack, tensor_over, unpack
from tripybuild.types.dtypes import dtype, int64

Shapes = Sequence[Sequence[int] | None]


@dataclass(frozen=True, slots=True)
class OpenvinoPort:
    """An input or an output: its name and dtype."""

    name: str
    dtype: dtype


@per_process
def _compile_lock() -> threading.RLock:
    """Serialize the threads of a forked process that call what was compiled before the fork."""
    return threading.RLock()


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

    Raises:
        DiagnosticError: OpenVINO is not there, or refuses the model.
    """

    def __init__(
        self,
        model: ReadableModel,
        inputs: Sequence[OpenvinoPort],
        outputs: Sequence[OpenvinoPort],
        chosen: options.Options | None = None,
    ) -> None:
        self._model, self._chosen = model, chosen or {}
        self._inputs, self._outputs = tuple(inputs), tuple(outputs)
        self._wide = [at for at, each in enumerate(self._inputs) if each.dtype is int64]
        self._compile()

    def _compile(self) -> None:
        """Compile the model in this process."""
        mark = process.mark
        read = self._model.read()
        given = options.properties(self._chosen)
        if largest_cluster(read.get_ordered_ops()) > MOST:
            given |= options.FUSION
        _keep(getattr(self, "_compiled", None), getattr(self, "_requests", None))
        try:
            self._compiled = compile_model(read, given)
        except RuntimeError as error:
            raise self._model.failure(error) from error
        # With one thread `infer` of 2026.4 returns as if all were well where a kernel fails.
        self._silent = int(self._compiled.get_property("INFERENCE_NUM_THREADS")) == 1
        # OpenVINO orders inputs as it likes, where nothing but the shape of one is read.
        found = {e.get_node().get_friendly_name(): n for n, e in enumerate(self._compiled.inputs)}
        self._places = [found.get(each.name) for each in self._inputs]
        self._requests = threading.local()
        self._mark = mark  # last: another thread calls as soon as it reads this

    @property
    def runtime_model(self) -> Any:
        """What OpenVINO made of the model: its kernels, and what they compute in."""
        return self._compiled.get_runtime_model()

    def __call__(self, arrays: Sequence[Array], shapes: Shapes) -> list[Array]:
        """Run the program; the results own their memory.

        Args:
            arrays: The inputs, of whose types the caller is sure.
            shapes: Those of the results; None where the elements of inputs tell.

        Raises:
            DiagnosticError: An integer has more than 32 bits, or there is too little memory.
        """
        self._check_integers(arrays)
        request = self._request()
        given = [pack(a, port.dtype) for a, port in zip(arrays, self._inputs, strict=True)]
        made = [
            None if shape is None else allocate(port.dtype, shape)
            for port, shape in zip(self._outputs, shapes, strict=True)
        ]
        try:
            self._set_inputs(request, given, arrays)
            for at, (array, shape) in enumerate(zip(made, shapes, strict=True)):
                if array is not None and shape is not None:
                    request.set_output_tensor(
                        at, tensor_over(array, self._outputs[at].dtype, shape)
                    )
            self._infer(request)
        except (RuntimeError, MemoryError) as error:
            raise _run_failure(error) from error
        return [self._result(request, at, each, shapes[at]) for at, each in enumerate(made)]

    def _set_inputs(self, request: Any, given: Sequence[Array], arrays: Sequence[Array]) -> None:
        """Put packed arrays where their names are."""
        for at, place in enumerate(self._places):
            if place is not None:
                kind = self._inputs[at].dtype
                request.set_input_tensor(place, tensor_over(given[at], kind, arrays[at].shape))

    def _result(
        self, request: Any, at: int, made: Array | None, shape: Sequence[int] | None
    ) -> Array:
        kind = self._outputs[at].dtype
        if made is None or shape is None:
            tensor = request.get_output_tensor(at)
            found: Sequence[int] = list(tensor.shape)
            octets = tensor.data.reshape(-1).view("uint8").copy()
            made = octets if kind.bits < 8 else octets.view(kind.numpy).reshape(found)
            return unpack(made, kind, found)
        return unpack(made, kind, shape)

    def _infer(self, request: Any) -> None:
        """Compute, and raise what went wrong."""
        if self._silent:
            request.start_async()
            request.wait()
        else:
            request.infer()

    def _request(self) -> Any:
        """The infer request of this thread."""
        if self._mark is not process.mark:
            with _compile_lock():
                if self._mark is not process.mark:
                    self._compile()
        found = getattr(self._requests, "request", None)
        if found is None:
            found = self._requests.request = self._compiled.create_infer_request()
        return found

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
