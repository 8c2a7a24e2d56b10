"""Reduction by faults that were planted: few operations are left, and the folder shows it."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from faulty_specs import ORT, WRONG_LOWERING, chain
from jsonschema import Draft7Validator

from tripybuild.cli.interrupts import INTERRUPTED
from tripybuild.cli.main import main
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.packages.builtin import builtin_registry
from tripybuild.process import paths
from tripybuild.workbench.reduction import trial
from tripybuild.workbench.reduction.part_folder import INPUTS, REPORT, SPEC, STAGE
from tripybuild.workbench.reduction.reducer import Reducer
from tripybuild.workbench.reduction.trial import CRASHED, Outcome, TrialRequest, ask, try_spec

NET = """\
tripybuild: 1
model: net
sizes:
  width: 16
  depth: 3
inputs:
  x: F[B, width]
ranges:
  B: {min: 1, opt: 4, max: 64}
parts:
  layers: [layer(i) for i in range(depth)]
outputs:
  y: softmax(layers(x), 1)
  z: sum(x, 1)
define:
  layer:
    sizes: [i]
    inputs:
      x: F[N, width]
    parts:
      linear: Linear(width, width)
    outputs:
      out: x + tanh(triple(linear(x)))
"""


@pytest.fixture
def work(tmp_path, shared_cache, monkeypatch, capfd):
    """Runs a command in this process in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    folder = Path("ops/ops_registry/math")
    folder.mkdir(parents=True)
    (folder / "triple.yaml").write_text(WRONG_LOWERING)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["tripybuild", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capfd.readouterr()

    return run


def reducer(spec, answer=try_spec, **how):
    """A reduction whose trials run in this process."""
    request = TrialRequest(spec, **{"target": ORT, "against": "reference"} | how)
    folder = Path("reduced")
    folder.mkdir()
    return Reducer(request, folder, answer, builtin_registry()).reduce()


def test_a_wrong_lowering_is_left_alone_with_its_command(work):
    """Of a model with weights, in a process of its own; the line of the report shows it again."""
    Path("net.yaml").write_text(NET)
    words = ["net.yaml", "--target", ORT, "--registry", "ops/ops_registry"]
    code, out, err = work("reduce", *words, "--json")
    answer = json.loads(out)
    schema = json.loads((paths.schemas() / "answers" / "reduce.json").read_text())
    assert code == 0, err
    assert list(Draft7Validator(schema).iter_errors(answer)) == []
    assert (answer["outcome"], answer["after"]) == ("differs", 1)
    assert answer["before"] > 10
    folder = Path("net-reduced")
    text = (folder / "model.yaml").read_text()
    assert "triple(" in text
    assert "F[1, 1]" in text
    assert answer["run"] in (folder / "REPORT.md").read_text()
    command = shlex.split(answer["run"])[1:]
    command[1] = command[1].replace("model.yaml", "net-reduced/model.yaml")
    code, out, _ = work(*command)
    assert (code, "A and B differ" in out) == (1, True)
    assert "already exists" in work("reduce", *words)[2]


def test_nan_and_a_refusal_are_left_with_their_operation(work):
    """A chain of 30 steps is one; a target that refuses keeps its code."""
    Path("log.yaml").write_text(chain({11: "log({} - 100.0)"}))
    found = reducer("log.yaml", finite=True)
    assert (found.outcome.kind, found.after) == ("nan", 1)
    assert found.before > 40
    assert found.trials < 30
    assert "log(" in Path("reduced/model.yaml").read_text()
    assert work("bisect", "reduced/model.yaml", "--nan", "--target", ORT)[0] == 1
    Path("wide.yaml").write_text(chain({5: "cast(tanh(cast({}, float64)), F)"}))
    Path("reduced").rename("before")
    found = reducer("wide.yaml", target="cpu:openvino")
    assert (found.outcome.code, found.after) == ("openvino-refused", 1)
    assert "tanh(" in Path("reduced/model.yaml").read_text()


@pytest.mark.parametrize("is_interrupted", [False, True])
def test_an_end_leaves_the_smallest_part_that_failed_until_then(work, is_interrupted):
    """The last trial before it did not fail, and what that had written is not what is left."""
    Path("log.yaml").write_text(chain({11: "log({} - 100.0)"}))
    Path("reduced").mkdir()
    request = TrialRequest("log.yaml", ORT, "reference", finite=True)
    kinds = []

    def answer(request):
        found = try_spec(request)
        kinds.append(found.kind)
        if len(kinds) > 6 and found.kind == "agrees":
            owner.deadline = 0.0
            if is_interrupted:
                raise KeyboardInterrupt
        return found

    owner = Reducer(request, Path("reduced"), answer, builtin_registry(), limit=600.0)
    if is_interrupted:
        with pytest.raises(KeyboardInterrupt):
            owner.reduce()
        owner.stop("it was interrupted")
    else:
        assert owner.reduce().after == owner.after
    assert kinds[-1] == "agrees"
    said = "it was interrupted" if is_interrupted else "the limit of 600 seconds was reached"
    assert owner.steps[-1].startswith(said)
    assert 1 < owner.after < owner.before
    assert try_spec(owner.request).kind == "nan"


@pytest.mark.skipif(os.name != "posix", reason="this system has no signals")
def test_ctrl_c_leaves_the_smallest_part_whenever_it_comes(work):
    """A real signal to the group of processes: amid trials, and amid what is between them."""
    Path("log.yaml").write_text(chain({11: "log({} - 100.0)"}))
    with ThreadPoolExecutor() as pool:
        ends = list(pool.map(interrupt, ("out0", "out1", "out2"), (0.0, 0.05, 0.1)))
    for folder, _, err in ends:
        assert {each.name for each in folder.iterdir()} <= {SPEC, INPUTS, REPORT, STAGE}
        given = folder / INPUTS
        request = TrialRequest(str(folder / SPEC), ORT, "reference", finite=True)
        request = replace(request, arrays=str(given) if given.exists() else None)
        assert try_spec(request).kind == "nan"
        assert "Traceback" not in err
        if f"`{folder}` holds it" in err:
            assert "it was interrupted" in (folder / REPORT).read_text()
    # One may have been done before, or amid an import, which a signal ends at once.
    assert any(code == INTERRUPTED and "holds it" in err for _, code, err in ends)


def interrupt(name, pause):
    """Reduce into a folder, and press Ctrl-C a moment after a part was found."""
    words = ["log.yaml", "--target", ORT, "--nan", "-o", name]
    program = [sys.executable, "-m", "tripybuild", "reduce", *words]
    with subprocess.Popen(
        program, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as started:
        seen = ""
        for line in started.stderr:
            seen += line
            if line.startswith("the first"):
                break
        time.sleep(pause)
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGINT)
        _, err = started.communicate(timeout=60)
    return Path(name), started.returncode, seen + err


def test_only_a_reduction_is_replaced(work):
    """By force; a folder with other files is none, nor is that of the spec."""
    Path("log.yaml").write_text(chain({11: "log({} - 100.0)"}))
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("mine")
    for folder, message in (
        ("mine", "files that no reduction wrote, such as `notes.txt`"),
        (".", "holds `log.yaml`, which is to be reduced"),
        ("log.yaml", "a file has this name"),
    ):
        code, _, err = work("reduce", "log.yaml", "--force", "-o", folder)
        assert (code, message in err) == (1, True), err
    assert Path("mine/notes.txt").read_text() == "mine"


def test_two_operations_that_fail_together_and_loops_are_kept(work):
    """Crashes that need both of two operations, of which one stands far behind."""
    Path("two.yaml").write_text(chain({4: "exp({})", 25: "log({})"}))

    def answer(request):
        text = Path(request.spec).read_text()
        found = try_spec(request)
        if found.kind == "unbuilt" or not ("exp(" in text and "log(" in text):
            return found
        return Outcome(CRASHED, "compiler-crashed", "it ended")

    found = reducer("two.yaml", answer)
    assert (found.outcome.kind, found.after) == ("crashed", 2)


def test_what_ends_the_process_is_an_outcome(work):
    """So is what the process says of itself."""

    class Ending:
        def compile(self, *_):
            raise DiagnosticError(Diagnostic("compiler-crashed", "it ended", notes=("by 11",)))

    request = TrialRequest("x.yaml", ORT, "reference")
    assert ask(Ending(), request) == Outcome(CRASHED, "compiler-crashed", "it ended\nby 11")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fine.yaml"], "does not fail by"),
        (["none.yaml"], "there is no file `none.yaml`"),
        (["wrong.yaml"], "--> wrong.yaml:"),
        (["fine.yaml", "--target", "nothing"], "`nothing` is not a target"),
    ],
)
def test_what_cannot_be_reduced_is_said(work, monkeypatch, words, message):
    Path("fine.yaml").write_text(chain())
    Path("wrong.yaml").write_text(chain({3: "{} + unknown"}))
    monkeypatch.setattr(trial, "ask", lambda _, request: try_spec(request))
    code, out, err = work("reduce", *words)
    assert (code, out) == (1, "")
    assert message in err
