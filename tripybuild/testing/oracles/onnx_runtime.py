"""ONNX Runtime as a test oracle: an ONNX operator, called through an alias.

Where it has no kernel, and where it cannot run a model that ONNX declares legal, ONNX's own
reference implementation is asked. Where that has none either, the question is not asked.
"""

import warnings
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from tripybuild.reference.numerics.arrays import Array, round_cast
from tripybuild.testing.oracles.foreign_calls import ForeignCall, UnsupportedCall, widen
from tripybuild.testing.oracles.onnx_models import NodeModel, model
from tripybuild.types.dtypes import dtype

WIDE = {"float": "float32"}
# What ONNX Runtime writes to stderr: nothing, since what is wrong is raised, too.
FATAL_ONLY = 4
ERRORS = ("EPFail", "Fail", "InvalidArgument", "InvalidGraph", "RuntimeException")


class _NoKernelError(Exception):
    """ONNX Runtime cannot run a model that is legal."""


def run(call: ForeignCall, wanted: Sequence[dtype], *, wide: bool = False) -> list[Array]:
    """What the operator gives; `tripybuild.testing.oracles.foreign_calls.System` says how.

    Raises:
        Undeclared: Where no opset has the operator for these dtypes.
        Unasked: Where nobody here has a kernel.
        RuntimeError: Where it is refused.
    """
    way = WIDE if wide else {}
    made = model(call.wider(way), [widen(type, way) for type in wanted])
    try:
        results = _run(made)
    except _NoKernelError as error:
        results = _by_reference(made, str(error))
    found = [round_cast(a, t) for a, t in zip(results, made.types, strict=True)]
    return [round_cast(a, t) for a, t in zip(found, wanted, strict=True)] if wide else found


def _run(made: NodeModel) -> list[Array]:
    session = _session(made.text)
    state = _state()
    try:
        return [np.asarray(each) for each in session.run(None, dict(made.feeds))]
    except (state.NotImplemented, *_errors()) as error:
        raise _NoKernelError(_line(error)) from error


@cache
def _session(text: bytes) -> Any:
    """A session of a model, of which many calls have the same."""
    runtime = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = FATAL_ONLY
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        return runtime.InferenceSession(text, options, providers=["CPUExecutionProvider"])
    except (_state().NotImplemented, *_errors()) as error:
        _check(text)
        raise _NoKernelError(_line(error)) from error


def _check(text: bytes) -> None:
    """Let ONNX say what is wrong with a model."""
    inference = import_module("onnx.shape_inference")
    try:
        inference.infer_shapes(text, check_type=True, strict_mode=True)
    except inference.InferenceError as error:
        raise RuntimeError(_line(error)) from error


def _by_reference(made: NodeModel, why: str) -> list[Array]:
    """What ONNX's reference gives, where ONNX Runtime gives a reason and no result."""
    reference = import_module("onnx.reference")
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            results = reference.ReferenceEvaluator(made.text).run(None, dict(made.feeds))
    # It has no errors of its own, and says what it cannot do with those of NumPy and Python.
    except Exception as error:
        told = f"{why}; onnx.reference: {type(error).__name__}: {_line(error)}"
        raise (UnsupportedCall if "NOT_IMPLEMENTED" in why else RuntimeError)(told) from error
    return [np.asarray(each) for each in results]


def _state() -> Any:
    return import_module("onnxruntime.capi.onnxruntime_pybind11_state")


def _errors() -> tuple[type[Exception], ...]:
    return tuple(getattr(_state(), name) for name in ERRORS)


def _line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
