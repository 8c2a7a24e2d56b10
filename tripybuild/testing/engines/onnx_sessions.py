"""Sessions of ONNX Runtime for models of one call, and the arrays that cross their border.

A session of few nodes costs a fifth of a millisecond, so that calls share none: what is refused is
then known of one call. Engines run in a process of their own, whose end is an outcome, too. Arrays
of dtypes that NumPy lacks cross the border as their bytes, with two values of four bits in a byte,
low half first.
"""

import atexit
import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, ParamSpec, TypeVar

import numpy as np

from tripybuild.onnx.table import BY_CODE, CODES
from tripybuild.reference.numerics.arrays import Array
from tripybuild.targets.onnx_runtime import library
from tripybuild.targets.onnx_runtime.session import EXACT_PRODUCTS
from tripybuild.types.dtypes import from_numpy

# What ONNX Runtime and NumPy share no arrays of.
CARRIED = frozenset({"bfloat16", "float8", "float4", "int4"})
# How far ONNX Runtime changes a graph before it runs it: not at all, and as it does by default.
LEVELS = {"as lowered": "ORT_DISABLE_ALL", "optimized": "ORT_ENABLE_ALL"}
CPU_ONLY = ["CPUExecutionProvider"]
LONGEST = 120  # seconds until an answer
Results = Mapping[str, Sequence[Sequence[Array]]]
"""What a model gives for each call, by how far it was changed."""


Arguments = ParamSpec("Arguments")
Given = TypeVar("Given")


class RuntimeRefusalError(Exception):
    """An engine takes no model, or gives nothing for its inputs."""


class RuntimeCrashError(Exception):
    """An engine ended its process, or gave no answer."""


def run_apart(
    run: Callable[Arguments, Given], *arguments: Arguments.args, **named: Arguments.kwargs
) -> Given:
    """What a function gives that runs an engine, in the process for engines.

    Raises:
        RuntimeRefusalError: The engine refuses the model, or a call.
        RuntimeCrashError: It crashes, or takes too long.
    """
    try:
        found: Future[Given] = _worker().pool.submit(run, *arguments, **named)
        return found.result(LONGEST)
    except (BrokenProcessPool, TimeoutError) as error:
        _end_worker()
        raise RuntimeCrashError(f"the engine gives no answer: {type(error).__name__}") from error


def run_sessions(model: bytes, calls: Sequence[Sequence[Array]]) -> Results:
    """What a model gives for the inputs of each call, in each of `LEVELS`; it may end the process.

    Raises:
        RuntimeRefusalError: ONNX Runtime refuses the model, or a call.
    """
    sessions = {level: OnnxSession.load(model, level) for level in LEVELS}
    return {level: [s.run(arrays) for arrays in calls] for level, s in sessions.items()}


class _Worker:
    """The process for engines; one that crashed or hangs is followed by another."""

    def __init__(self) -> None:
        self.pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
        self.process: int = self.pool.submit(os.getpid).result()

    def end(self) -> None:
        """End the process, whatever it does."""
        with suppress(ProcessLookupError):
            os.kill(self.process, signal.SIGKILL)
        self.pool.shutdown(cancel_futures=True)


_workers: list[_Worker] = []


def _worker() -> _Worker:
    if not _workers:
        _workers.append(_Worker())
    return _workers[0]


@atexit.register
def _end_worker() -> None:
    while _workers:
        _workers.pop().end()


@dataclass(frozen=True)
class OnnxSession:
    """A model that is loaded."""

    session: Any

    @classmethod
    def load(cls, model: bytes, level: str) -> "OnnxSession":
        """Load a model, changed as far as one of `LEVELS` says.

        Raises:
            RuntimeRefusalError: ONNX Runtime refuses it.
        """
        runtime = library.runtime()
        try:
            return cls(runtime.InferenceSession(model, _options(level), providers=CPU_ONLY))
        except library.errors() as error:
            raise RuntimeRefusalError(library.error_words(error)) from error

    def run(self, arrays: Sequence[Array]) -> list[Array]:
        """What the model gives for its inputs, which are in its order.

        Raises:
            RuntimeRefusalError: ONNX Runtime gives nothing.
        """
        feeds = {
            input.name: _to_runtime(array)
            for input, array in zip(self.session.get_inputs(), arrays, strict=True)
        }
        names = [output.name for output in self.session.get_outputs()]
        try:
            results = self.session.run_with_ort_values(names, feeds)
        except library.errors() as error:
            raise RuntimeRefusalError(library.error_words(error)) from error
        return [_from_runtime(result) for result in results]


@cache
def _options(level: str) -> Any:
    runtime = library.runtime()
    options = runtime.SessionOptions()
    options.log_severity_level = library.FATAL_ONLY
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # which each session would begin anew
    for key, value in EXACT_PRODUCTS.items():
        options.add_session_config_entry(key, value)
    options.graph_optimization_level = getattr(runtime.GraphOptimizationLevel, LEVELS[level])
    return options


def _to_runtime(array: Array) -> Any:
    """An array as ONNX Runtime takes it."""
    values = library.runtime().OrtValue
    type = from_numpy(array.dtype)
    if str(type) not in CARRIED:
        return values.ortvalue_from_numpy(np.ascontiguousarray(array).reshape(array.shape))
    made = values.ortvalue_from_shape_and_type(list(array.shape), CODES[type.onnx], "cpu")
    octets = np.frombuffer(array.tobytes(), np.uint8)
    if type.bits == 4:
        halves = np.append(octets & 15, np.zeros(octets.size % 2, np.uint8))
        octets = halves[::2] | halves[1::2] << 4
    ctypes.memmove(made.data_ptr(), octets.tobytes(), octets.size)
    return made


def _from_runtime(value: Any) -> Array:
    """What ONNX Runtime gives, as an array of its own."""
    type = BY_CODE.get(value.element_type())
    if type is None or str(type) not in CARRIED:
        return np.asarray(value.numpy())
    shape = tuple(value.shape())
    memory = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    octets = np.frombuffer(memory, np.uint8)
    if type.bits == 4:
        count = int(np.prod(shape))
        octets = np.stack((octets & 15, octets >> 4), axis=-1).reshape(-1)[:count]
    return octets.copy().view(type.numpy).reshape(shape)
