"""Sessions of ONNX Runtime: states stay where it computed them, and updates are written there."""

import os
import threading

import numpy as np
import pytest
import written

import tripybuild
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.types.dtypes import BY_NAME

ENGINE = "cpu:onnxruntime,threads=1"
STATES = """
    inputs:
      x: {type}[2, 1, Q, 3]
      position: int32[2]
    ranges:
      Q: {{min: 1, opt: 1, max: 4}}
    parts:
      kept: caches
    outputs:
      y: kept(x, position)
    define:
      caches:
        inputs:
          x: {type}[2, 1, Q, 3]
          position: int32[2]
        state:
          a: {{type: "{type}[2, 1, 5, 3]", first: 0.0}}
          b: {{type: "{type}[2, 1, 5, 3]", first: 1.0}}
        steps:
          old: a
        next:
          a: "{a}"
          b: "{b}"
        outputs:
          out: "{out}"
    """
FLAT = "kv_cache_update(reshape(a, [1, 2, 5, 3]), reshape(x, [1, 2, Q, 3]), position[0])"
PLAIN = "kv_cache_update(b, x, position)"
A, B = "kv_cache_update(a, x, position)", "kv_cache_update(b, x * 2.0, position + 1)"
# What each gives, and how many of its states are updated where they are.
CASES = {
    "updated": (A, B, "next.a + next.b", 2),
    "given as it was": (A, B, "old", 1),
    "only moved": (A, PLAIN, "old", 1),
    "given as it becomes": (A, B, "next.a", 1),
    "read after the update": (A, B, "softmax(next.a, 3) * next.b - old", 1),
    "read by the update": (
        "kv_cache_update(a, a[:, :, 2:3, :] + mean(x), position)",
        B,
        "next.b + 1.0",
        1,
    ),
    "read by that of the other": (
        A,
        "kv_cache_update(b, old[:, :, 2:3, :], position)",
        "next.b + 1.0",
        1,
    ),
    "exchanged": ("b", "old", "old - next.b", 0),
    "updates exchanged": (B, A.replace("a,", "old,"), "next.a - old", 0),
    "one update for both": (A, A, "next.b + 1.0", 1),
    "updated twice": (
        "kv_cache_update(kv_cache_update(a, x, position), x, position * 0)",
        B,
        "next.a + next.b",
        1,
    ),
    "in another form": (
        f"reshape({FLAT}, [2, 1, 5, 3])",
        B,
        "old",
        1,
    ),
}
STEPS = [(1, [0, 3]), (4, [1, 0]), (1, [4, 2]), (2, [9, -4]), (1, [0, 0])]


def model(folder, case, target=ENGINE, type="float32"):
    a, b, out, _ = CASES[case]
    text = STATES.format(type=type, a=a, b=b, out=out)
    return tripybuild.compile(written.write(folder, text), target=target)


def given(step, type=np.float32):
    count, position = STEPS[step]
    x = np.random.default_rng(step).normal(size=(2, 1, count, 3))
    return {"x": x.astype(type), "position": np.array(position, np.int32)}


def places(session):
    """The address of each state."""
    return {name: each.value.data_ptr() for name, each in session._arrays.items()}


@pytest.mark.parametrize("case", CASES)
def test_states_are_those_of_the_reference(tmp_path, case):
    """Whatever reads one; what was given before stays as it was."""
    ours, reference = model(tmp_path, case).start(), model(tmp_path, case, "reference").start()
    seen = []
    for step in range(len(STEPS)):
        before = places(ours)
        found, wanted = ours(**given(step)), reference(**given(step))
        seen.append((found["y"], wanted["y"], ours.state.copy(), reference.state.copy()))
        stayed = [name for name, place in places(ours).items() if before[name] == place]
        assert len(stayed) == CASES[case][-1]
    for y, wanted, state, states in seen:
        np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)
        for name, each in states.items():
            np.testing.assert_allclose(state[name], each, rtol=1e-5, atol=1e-6)
    assert len(set(places(ours).values())) == 2


@pytest.mark.parametrize("type", ["float16", "bfloat16"])
def test_states_of_other_dtypes(tmp_path, type):
    """Also those that NumPy has no dtypes for."""
    ours, reference = (
        model(tmp_path, "only moved", target, type).start() for target in (ENGINE, "reference")
    )
    for step in range(len(STEPS)):
        inputs = given(step, BY_NAME[type].numpy)
        np.testing.assert_array_equal(ours(**inputs)["y"], reference(**inputs)["y"])
    before = places(ours)
    ours(**given(0, BY_NAME[type].numpy))
    assert {name for name, place in places(ours).items() if before[name] == place} == {"kept.b"}
    for name, each in reference.state.items():
        assert ours.state[name].dtype == each.dtype


def test_a_state_that_is_empty(tmp_path):
    """As any other."""
    text = STATES.format(type="float32", a=A, b=B, out="next.a + next.b").replace(
        "[2, 1,", "[0, 1,"
    )
    made = tripybuild.compile(
        written.write(tmp_path, text.replace("int32[2]", "int32[0]")), target=ENGINE
    )
    session = made.start()
    for _ in range(2):
        y = session(x=np.zeros((0, 1, 1, 3), np.float32), position=np.zeros(0, np.int32))["y"]
        assert y.shape == (0, 1, 5, 3)


def test_sessions_have_states_of_their_own(tmp_path):
    """Several of one executable, at once; one begins where another one is."""
    made, reference = model(tmp_path, "updated"), model(tmp_path, "updated", "reference").start()
    wanted = [reference(**given(step))["y"] for step in range(len(STEPS))]
    begun = made.start()
    first = begun(**given(0))["y"]
    sessions = [begun, *(made.start(state=begun.state) for _ in range(3))]
    found = [[first] for _ in sessions]

    def go_on(at):
        found[at] += [sessions[at](**given(step))["y"] for step in range(1, len(STEPS))]

    threads = [threading.Thread(target=go_on, args=(at,)) for at in range(len(sessions))]
    for each in threads:
        each.start()
    for each in threads:
        each.join(10)
    for results in found:
        for y, expected in zip(results, wanted, strict=True):
            np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)


def test_a_plain_call_leaves_the_arrays_of_its_caller(tmp_path):
    """Only what a session keeps is overwritten."""
    made, x = model(tmp_path, "updated"), given(1)
    a, b = (np.full((2, 1, 5, 3), number, np.float32) for number in (3, 4))
    found = [made(**x, **{"kept.a": a, "kept.b": b}) for _ in range(2)]
    for _ in range(2):
        made.start(state={"kept.a": a, "kept.b": b})(**x)
    assert (a == 3).all()
    assert (b == 4).all()
    np.testing.assert_array_equal(found[0]["kept.a.next"], found[1]["kept.a.next"])


def test_a_call_that_fails_loses_the_state(tmp_path, monkeypatch):
    """Its memory may hold a part of the update; what was checked before changes nothing."""
    session = model(tmp_path, "updated").start()
    for step in range(2):
        session(**given(step))
    with pytest.raises(DiagnosticError, match="input-shape"):
        session(x=np.zeros((2, 1, 1, 4), np.float32), position=np.zeros(2, np.int32))
    assert session.state["kept.b"].any()

    (run,) = set(session.entry()._entry._by_sizes.values())
    monkeypatch.setattr(run, "_run_bound", lambda *_: (_ for _ in ()).throw(RuntimeError("failed")))
    with pytest.raises(DiagnosticError, match="engine-failed"):
        session(**given(2))
    monkeypatch.undo()
    for use in (lambda: session(**given(2)), lambda: session.state["kept.a"]):
        with pytest.raises(DiagnosticError, match="state-lost"):
            use()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_goes_on_with_a_copy(tmp_path):
    """In both processes."""
    made, reference = model(tmp_path, "updated"), model(tmp_path, "updated", "reference").start()
    session = made.start()
    wanted = [reference(**given(step))["y"] for step in range(len(STEPS))]
    for step in range(2):
        session(**given(step))

    def goes_on():
        found = [session(**given(step))["y"] for step in range(2, len(STEPS))]
        return all(map(np.allclose, found, wanted[2:]))

    child = os.fork()
    if not child:
        os._exit(0 if goes_on() else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert goes_on()
