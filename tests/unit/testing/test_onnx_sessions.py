"""Tests of sessions of ONNX Runtime in suites: every dtype crosses the border as it is."""

import math
import os
import signal
import time

import numpy as np
import pytest

from tripybuild.reference.numerics.arrays import round_cast
from tripybuild.testing.engines import onnx_sessions
from tripybuild.testing.engines.onnx_sessions import LEVELS, OnnxSession, RuntimeRefusalError
from tripybuild.types.dtypes import BY_NAME

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


def model(type, shape, to=None, operator="Cast"):
    """A model that casts its input, or gives it as it is."""
    helper = onnx.helper
    code, other = (onnx.TensorProto.DataType.Value(t.onnx.upper()) for t in (type, to or type))
    nodes = [helper.make_node(operator, ["x"], ["y"], to=other)] if to else []
    graph = helper.make_graph(
        nodes,
        "border",
        [helper.make_tensor_value_info("x", code, shape)],
        [helper.make_tensor_value_info("y" if to else "x", other, shape)],
    )
    opsets = [helper.make_opsetid("", 23)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=11)
    return made.SerializeToString()


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("shape", [(3,), (), (2, 0), (2, 2)])
def test_arrays_cross_the_border_as_they_are(name, shape):
    """Of few bits, too, and with an odd number of elements; what comes out is of the dtype."""
    type = BY_NAME[name]
    given = round_cast(np.asarray([1, 0, 3, -2][: math.prod(shape)]).reshape(shape), type)
    (found,) = OnnxSession.load(model(type, shape), "optimized").run([given])
    assert (found.dtype, found.shape) == (given.dtype, shape)
    assert np.array_equal(found.astype(np.float32), given.astype(np.float32))


@pytest.mark.parametrize("name", sorted(BY_NAME.keys() - {"float4"}))  # which has no kernel
def test_what_crosses_the_border_has_the_same_values_there(name):
    type, float32 = BY_NAME[name], BY_NAME["float32"]
    given = round_cast(np.asarray([1, 0, 3]), type)
    wanted = given.astype(np.float32)
    (there,) = OnnxSession.load(model(type, (3,), float32), "as lowered").run([given])
    assert there.dtype == np.float32
    assert np.array_equal(there, wanted)
    (back,) = OnnxSession.load(model(float32, (3,), type), "as lowered").run([wanted])
    assert back.dtype == type.numpy
    assert np.array_equal(back.astype(np.float32), wanted)


def test_an_array_that_is_not_contiguous_crosses_as_it_is():
    given = np.arange(6, dtype=np.float32).reshape(2, 3).T
    (found,) = OnnxSession.load(model(BY_NAME["float32"], (3, 2)), "as lowered").run([given])
    assert np.array_equal(found, given)


@pytest.mark.parametrize("level", LEVELS)
def test_a_refusal_is_said_in_one_line(level):
    float32 = BY_NAME["float32"]
    with pytest.raises(RuntimeRefusalError, match="Nothing") as found:
        OnnxSession.load(model(float32, (2,), float32, "Nothing"), level)
    assert "\n" not in str(found.value)

    session = OnnxSession.load(model(float32, (2,), float32), level)
    with pytest.raises(RuntimeRefusalError, match="Got invalid dimensions"):
        session.run([np.zeros((3,), np.float32)])


def test_a_crash_is_an_outcome_and_the_next_question_is_answered():
    float32 = BY_NAME["float32"]
    given, text = np.arange(3, dtype=np.float32), model(float32, (3,), float32)
    wanted = {level: [[given]] for level in LEVELS}
    assert_equal(run_sessions_apart(text, [[given]]), wanted)
    os.kill(onnx_sessions._worker().process, signal.SIGKILL)
    with pytest.raises(onnx_sessions.RuntimeCrashError, match="BrokenProcessPool"):
        run_sessions_apart(text, [[given]])
    assert_equal(run_sessions_apart(text, [[given]]), wanted)


def test_an_answer_that_takes_too_long_is_an_outcome(monkeypatch):
    float32 = BY_NAME["float32"]
    monkeypatch.setattr(onnx_sessions, "LONGEST", 0.1)
    onnx_sessions._worker().pool.submit(time.sleep, 600)  # what it is busy with
    with pytest.raises(onnx_sessions.RuntimeCrashError, match="TimeoutError"):
        run_sessions_apart(model(float32, (1,), float32), [[np.zeros(1, np.float32)]])


def test_a_refusal_in_the_other_process_is_one_here():
    with pytest.raises(RuntimeRefusalError, match="Nothing"):
        run_sessions_apart(model(BY_NAME["float32"], (2,), BY_NAME["float32"], "Nothing"), [])


def run_sessions_apart(model, calls):
    """What a model gives in the process for engines."""
    return onnx_sessions.run_apart(onnx_sessions.run_sessions, model, calls)


def assert_equal(found, wanted):
    assert found.keys() == wanted.keys()
    for level, calls in wanted.items():
        for got, want in zip(found[level], calls, strict=True):
            assert all(map(np.array_equal, got, want))
