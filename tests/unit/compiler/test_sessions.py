"""Sessions: state that is kept from call to call, where it was computed."""

import os
import re
import sys
import threading

import numpy as np
import pytest
import written
from jaxlib import xla_client

import tripybuild
from tripybuild import stablehlo
from tripybuild.artifact.array_bytes import aligned_buffer
from tripybuild.artifact.manifest_schema import check_content
from tripybuild.compiler.executable import Executable
from tripybuild.compiler.lowering import segments
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.targets.xla import pjrt
from tripybuild.targets.xla.client import client, devices
from tripybuild.types import dtypes

RUNNING = """
    inputs:
      x: F[N, 4]
    parts:
      mean: running
    outputs:
      y: mean(x)
    define:
      running:
        inputs:
          x: F[B, 4]
        state:
          total: {type: "F[B, 4]", first: 0.0}
          count: {type: "F[()]", first: 0.0}
        next:
          total: total + x
          count: count + 1.0
        outputs:
          out: next.total
    """
TARGETS = ["reference", "cpu", "cpu:xla"]


def running(folder, target="cpu"):
    return tripybuild.compile(written.write(folder, RUNNING), target=target)


def aligned(rows):
    """Ones where XLA reads arrays in place."""
    array = aligned_buffer(rows * 16).view(np.float32).reshape(rows, 4)
    array[...] = 1
    return array


@pytest.mark.parametrize("target", TARGETS)
def test_a_session_keeps_the_state(tmp_path, target):
    """What it gave before stays as it was, and so does what `state` gave."""
    model, x = running(tmp_path, target), np.ones((3, 4), np.float32)
    session = model.start(N=3)

    first = session(x=x)
    read = dict(session.state)
    second = session(x=x)

    assert list(first) == ["y"]
    assert (first["y"][0, 0], second["y"][0, 0]) == (1, 2)
    assert (read["mean.total"][0, 0], read["mean.count"]) == (1, 1)
    assert list(session.state) == ["mean.total", "mean.count"]
    assert (session.state["mean.total"] == 2).all()


@pytest.mark.parametrize("target", TARGETS)
def test_a_session_begins_with_arrays(tmp_path, target):
    """They tell the sizes, and are copied; a session goes on where another one is."""
    model, begun = running(tmp_path, target), aligned(2)
    session = model.start(state={"mean.total": begun})
    for _ in range(3):
        session(x=np.ones((2, 4), np.float32))
    begun[...] = 7
    again = model.start(state=session.state)

    assert again(x=np.ones((2, 4), np.float32))["y"].tolist() == [[5.0] * 4] * 2
    assert (session.state["mean.count"], again.state["mean.count"]) == (3, 4)
    assert (begun == 7).all()


def test_a_plain_call_leaves_the_arrays_of_its_caller(tmp_path):
    """XLA may take the memory of a state, but never that of an array."""
    model, total = running(tmp_path), aligned(2)
    arrays = {"mean.total": total, "mean.count": np.float32(0)}

    found = [model(x=np.ones((2, 4), np.float32), **arrays) for _ in range(2)]

    assert (total == 1).all()
    assert all((each["mean.total.next"] == 2).all() for each in found)


def test_a_step_copies_no_state(tmp_path):
    """The next state is in the memory of the one before."""
    session = running(tmp_path, "cpu:xla").start(N=64)
    x, places = np.ones((64, 4), np.float32), set()
    for _ in range(4):
        session(x=x)
        places.add(session._arrays["mean.total"].buffer.unsafe_buffer_pointer())
    assert len(places) == 1


def test_a_call_that_is_refused_changes_nothing(tmp_path):
    session = running(tmp_path).start(N=3)
    session(x=np.ones((3, 4), np.float32))
    for wrong in ({}, {"x": np.ones((2, 4), np.float32)}, {"x": np.ones((3, 4))}, {"z": 1}):
        with pytest.raises(DiagnosticError):
            session(**wrong)
    assert session(x=np.ones((3, 4), np.float32))["y"][0, 0] == 2


def test_a_call_that_is_stopped_loses_the_state(tmp_path, monkeypatch):
    """Its memory may be another's already."""
    session = running(tmp_path, "cpu:xla").start(N=3)
    x = np.ones((3, 4), np.float32)
    session(x=x)
    entry = session.entry()._entry
    whole = entry._keep

    def stop(*arguments):
        whole(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(entry, "_keep", stop)
    with pytest.raises(KeyboardInterrupt):
        session(x=x)
    monkeypatch.undo()

    for use in (lambda: session(x=x), lambda: session.state["mean.total"]):
        with pytest.raises(DiagnosticError, match="state-lost"):
            use()


def interrupted(session, x, line):
    """Whether a call was stopped at the line of this number that a session runs for it."""
    lines = set()  # once each: Python visits `with` again to leave it, and must be able to

    def trace(frame, event, _):
        if event == "line" and frame.f_lineno not in lines:
            lines.add(frame.f_lineno)
            if len(lines) > line:
                raise KeyboardInterrupt
        return trace

    def begin(frame, _event, _):
        code = frame.f_code
        return trace if code.co_name == "_run" and "state_session" in code.co_filename else None

    sys.settrace(begin)
    try:
        session(x=x)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


def test_a_call_that_is_stopped_at_any_line(tmp_path):
    """The state is that before, that after, or lost; never a part of each."""
    model, x, seen = running(tmp_path, "cpu:xla"), np.ones((3, 4), np.float32), set()
    for line in range(1000):
        session = model.start(N=3)
        session(x=x)
        was_stopped = interrupted(session, x, line)
        try:
            state = session.state.copy()
        except DiagnosticError as error:
            seen.add(error.diagnostics[0].code)
            continue
        assert state["mean.count"] == state["mean.total"][0, 0]
        seen.add(int(state["mean.count"]))
        if not was_stopped:
            break
    assert seen == {1, 2, "state-lost"}


def test_a_copy_of_the_state_is_of_one_moment(tmp_path):
    """Another thread calls the session between two reads, if it can."""
    session, x = running(tmp_path, "reference").start(N=3), np.ones((3, 4), np.float32)
    session(x=x)
    others = []

    class Total:
        def copy(self):
            """Let the other thread call as soon as it can; it finds the array."""
            session._arrays["mean.total"] = total
            others.append(threading.Thread(target=session, kwargs={"x": x}, daemon=True))
            others[-1].start()
            others[-1].join(0.05)
            return total.copy()

    for read in (session.state.copy, lambda: dict(session.state.items())):
        total, session._arrays["mean.total"] = session._arrays["mean.total"], Total()
        found = read()
        others[-1].join(10)
        assert found["mean.total"][0, 0] == found["mean.count"]
    assert session.state["mean.count"] == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_goes_on_with_a_copy(tmp_path):
    """Of the process before it has the memory, and not the threads."""
    session = running(tmp_path).start(N=3)
    x = np.ones((3, 4), np.float32)
    session(x=x)
    child = os.fork()
    if not child:
        os._exit(int(session(x=x)["y"][0, 0]) if session(x=x)["y"][0, 0] == 2 else 99)
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 3
    assert session(x=x)["y"][0, 0] == 2


def test_entries_share_the_state(tmp_path):
    """One entry fills what another reads; each gives its own outputs."""
    text = """
        parts:
          memory: running
        entries:
          fill:
            inputs: {x: "F[N, 4]"}
            outputs: {y: memory(x)}
          step:
            inputs: {x: "F[N, 4]"}
            steps: {more: memory(x)}
            outputs: {y: "more * 2.0"}
        define:
          running:
            inputs: {x: "F[B, 4]"}
            state:
              total: {type: "F[B, 4]", first: 1.0}
            next: {total: total + x}
            outputs: {out: next.total}
        """
    session = tripybuild.compile(written.write(tmp_path, text)).start(N=1)
    x = np.ones((1, 4), np.float32)

    assert session.fill(x=x)["y"][0, 0] == 2
    assert session.step(x=x)["y"][0, 0] == 6
    assert session.state["memory.total"][0, 0] == 3
    with pytest.raises(AttributeError, match="did you mean the entry `step`"):
        _ = session.steps
    with pytest.raises(DiagnosticError, match="has the entries `fill`, `step`"):
        session(x=x)


@pytest.mark.parametrize(
    ("sizes", "state", "code", "message"),
    [
        ({}, {}, "missing-size", "needs the size `N`"),
        ({"M": 2}, {}, "unknown-size", "has no size `M`"),
        ({"N": 0}, {}, "size-out-of-range", "must be at least 1"),
        ({"N": True}, {}, "size-out-of-range", "must be an integer"),
        ({"N": 10**25}, {}, "size-out-of-range", "`mean.total` is too large"),
        ({"N": 2}, {"mean.total": np.ones((3, 4), np.float32)}, "size-out-of-range", "but 3 in"),
        ({}, {"mean.totl": 0}, "unknown-input", "has no state `mean.totl`"),
        ({}, {"mean.total": np.ones((3, 4))}, "input-dtype", "must be float32"),
        ({}, {"mean.total": np.ones((3, 5), np.float32)}, "input-shape", "must be 4, but is 5"),
    ],
)
def test_a_session_that_cannot_begin(tmp_path, sizes, state, code, message):
    model = running(tmp_path, "reference")
    with pytest.raises(DiagnosticError) as raised:
        model.start(state=state, **sizes)
    found = raised.value.diagnostics[0]
    assert found.code == code
    assert message in found.message


COMPUTED = """
    ranges: {N: {min: 1, opt: 8}}
    inputs:
      x: F[N, 4]
    parts:
      first: holder
    outputs:
      y: first(x)
    define:
      holder:
        inputs:
          x: F[B, 4]
        state:
          twice: {type: "F[2 * B, 4]", first: 0.0}
          rest: {type: "F[B - 3]", first: 1.0}
          part: {type: "F[8 // (B - 4)]", first: 1.0}
        next:
          twice: twice + 1.0
        outputs:
          out: x + sum(next.twice) + sum(rest) + sum(part)
    """


def test_a_state_whose_size_is_computed(tmp_path):
    """It begins with an array once something else tells the size."""
    model = tripybuild.compile(written.write(tmp_path, COMPUTED), target="reference")
    session, x = model.start(N=5), np.ones((5, 4), np.float32)
    first = session(x=x)["y"][0, 0]
    twice = {"first.twice": session.state["first.twice"]}

    assert model.start(state=twice, N=5)(x=x)["y"][0, 0] == first + 40
    assert model.start(state={"first.twice": np.zeros((10, 4), np.float32)}, N=5)(x=x)


@pytest.mark.parametrize(
    ("sizes", "rows", "code", "message"),
    [
        ({}, 10, "missing-size", "needs the size `N`"),
        ({"N": 6}, 10, "input-shape", "must be 2*N = 12, but is 10"),
        ({"N": 2}, None, "size-out-of-range", "dimension 0 of the state `first.rest` is"),
        ({"N": 4}, None, "size-out-of-range", "is divided by zero for N = 4"),
        ({"N": 4}, 8, "size-out-of-range", "is divided by zero for N = 4"),
        ({"N": 1 << 60}, None, "size-out-of-range", "`first.twice` is too large"),
    ],
)
def test_a_size_that_is_computed_and_does_not_fit(tmp_path, sizes, rows, code, message):
    model = tripybuild.compile(written.write(tmp_path, COMPUTED), target="reference")
    state = {} if rows is None else {"first.twice": np.zeros((rows, 4), np.float32)}
    with pytest.raises(DiagnosticError) as raised:
        model.start(state=state, **sizes)
    found = raised.value.diagnostics
    assert {each.code for each in found} == {code}
    assert any(message in each.message for each in found)


def test_a_call_whose_state_has_a_size_divided_by_zero(tmp_path):
    model = tripybuild.compile(written.write(tmp_path, COMPUTED), target="reference")
    shapes = {"first.twice": (8, 4), "first.rest": (1,), "first.part": (8,), "x": (4, 4)}
    with pytest.raises(DiagnosticError, match="size-out-of-range"):
        model(**{name: np.ones(shape, np.float32) for name, shape in shapes.items()})


def test_blocks_that_are_programs_of_their_own_copy_no_state(tmp_path, monkeypatch):
    """Each program takes the memory of its block's state; what a caller has stays as it is."""
    monkeypatch.setattr(segments, "LEAST_BYTES", 0)
    monkeypatch.setattr(segments, "LEAST_OPERATIONS", 1)
    monkeypatch.setattr(segments, "LEAST_SAVED", 0)
    text = RUNNING.replace("mean: running", "mean: running * 4")
    text = text.replace("out: next.total", "out: tanh(next.total) * exp(-x) + sigmoid(x)")
    model = tripybuild.compile(written.write(tmp_path, text), target="cpu:xla")
    plain = tripybuild.compile(written.write(tmp_path, text), target="reference").start(N=64)
    session, x, places = model.start(N=64), np.ones((64, 4), np.float32), []
    given = []
    for _ in range(4):
        given.append(session(x=x))
        kept = (session._arrays[f"mean.{at}.total"] for at in range(4))
        places.append([each.buffer.unsafe_buffer_pointer() for each in kept])

    (run,) = session.entry()._entry._by_sizes.values()
    assert len(run.program._programs) < len(run.program._plan.steps)
    assert places[1] == places[2] == places[3]
    for found in given:
        np.testing.assert_allclose(found["y"], plain(x=x)["y"], rtol=1e-5)


CACHED = """
    inputs:
      x: F[1, 8]
      position: int32[1]
    parts:
      layers: layer * 3
    outputs:
      y: layers(x, position)
    define:
      layer:
        inputs:
          x: F[1, 8]
          position: int32[1]
        state:
          cache: {type: "F[1, 2, 64, 4]", first: 0.0}
        next:
          cache: kv_cache_update(cache, reshape(x, [1, 2, 1, 4]), position)
        outputs:
          out: |
            row = reshape(x, [1, 2, 1, 4])
            seen = tanh(row @ transpose(next.cache, 2, 3)) @ next.cache
            return reshape(seen, [1, 8]) * 0.1 + x
    """


@pytest.mark.parametrize("apart", [False, True])
def test_a_cache_that_is_read_is_updated_in_place(tmp_path, monkeypatch, apart):
    """Also in a program of its own: XLA neither fuses the update with its readers, nor copies."""
    if apart:
        monkeypatch.setattr(segments, "LEAST_BYTES", 0)
        monkeypatch.setattr(segments, "LEAST_OPERATIONS", 1)
        monkeypatch.setattr(segments, "LEAST_SAVED", 0)
    model = tripybuild.compile(written.write(tmp_path, CACHED), target="cpu:xla")
    plain = tripybuild.compile(written.write(tmp_path, CACHED), target="reference").start()
    session, x, places = model.start(), np.linspace(-1, 1, 8, dtype=np.float32)[None], []
    for at in (0, 5, 63, 5):
        given = {"x": x * (at + 1), "position": np.array([at], np.int32)}
        np.testing.assert_allclose(session(**given)["y"], plain(**given)["y"], rtol=1e-5)
        kept = (session._arrays[f"layers.{at}.cache"].buffer for at in range(3))
        places.append([each.unsafe_buffer_pointer() for each in kept])

    (run,) = session.entry()._entry._by_sizes.values()
    assert (run.program._plan is not None) == apart
    assert places[1] == places[2] == places[3]


def test_xla_copies_no_cache_that_a_product_reads():
    """The compiled program has the update alone, on the memory that the argument has."""
    float32 = dtypes.float32
    shapes = {"cache": (1, 4, 64, 8), "row": (1, 4, 1, 8)}
    inputs = {name: (float32, shape) for name, shape in shapes.items()}
    module = stablehlo.HloModule({}, {**inputs, "position": (dtypes.int32, (1,))})
    with module:
        given = module.inputs
        cache = stablehlo.update_rows(given["cache"], given["row"], given["position"])
        y = stablehlo.matmul(stablehlo.tanh(given["row"]), stablehlo.transpose(cache, [0, 1, 3, 2]))
        z = stablehlo.matmul(y, cache)
        module.finish({"z": z, "next": cache}, {"cache": "next"})
    compiled = client().compile_and_load(module.bytecode(), devices(), xla_client.CompileOptions())
    text = compiled.hlo_modules()[0].to_string()
    assert text.count("dynamic-update-slice(") == 1
    assert not re.search(r"f32\[1,4,64,8\]\{[\d,]+\} copy\(", text)


def test_a_program_that_gives_its_weights_away_is_refused():
    """No lowering writes one, but a file may hold it."""
    program = pjrt.load(
        pjrt.compile("""
            module @m {
              func.func public @main(%w: tensor<64xf32> {tf.aliasing_output = 0 : i32},
                                     %x: tensor<64xf32>) -> tensor<64xf32> {
                %y = stablehlo.add %w, %x : tensor<64xf32>
                return %y : tensor<64xf32>
              }
            }"""),
        [np.ones(64, np.float32)],
    )
    ones = np.ones(64, np.float32)
    assert program(ones)[0][0] == 2
    with pytest.raises(DiagnosticError, match="gives away memory"):
        program(ones)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("first", {"mean.count": "zero"}),
        ("first", {"mean.count": {"float": "many"}}),
        ("first", {"mean.count": {"size": "N"}}),
        ("first", [0.0]),
        ("first", {"mean.total": 0.0, "mean.count": 1000}),
        ("state", ["mean.total", "mean.other"]),
    ],
)
def test_a_manifest_that_says_no_state(tmp_path, key, value):
    """What its digest does not tell is refused in words."""
    text = RUNNING.replace(
        'count: {type: "F[()]", first: 0.0}', 'count: {type: "int8[()]", first: 0}'
    )
    model = tripybuild.compile(
        written.write(tmp_path, text.replace("count + 1.0", "count + 1")), target="reference"
    )
    content = dict(model.manifest)
    content["entries"] = [{**content["entries"][0], key: value}]

    def begin():
        check_content(content)
        Executable(content, model.members).start(N=2)

    with pytest.raises(DiagnosticError, match="executable-altered"):
        begin()


def test_a_state_that_is_too_large(tmp_path):
    with pytest.raises(DiagnosticError, match="more memory than available"):
        running(tmp_path, "reference").start(N=1 << 50)
