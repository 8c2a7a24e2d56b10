"""The targets that choose an engine: `cpu` by what a model computes, `cpu:fastest` by measuring."""

import json
import threading

import numpy as np
import pytest
import written
from typer.testing import CliRunner

import tripybuild
from tripybuild.cli.main import app
from tripybuild.compiler.executable import Executable
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.targets import table
from tripybuild.targets.cpu import fastest
from tripybuild.targets.executable_file import check_manifest

PLAIN = "inputs: {x: 'float32[B, 4]'}\nranges: {B: {min: 1, opt: 2, max: 9}}\noutputs: {y: x + x}\n"
HALF = PLAIN.replace("float32", "bfloat16")
FINER = "inputs: {x: 'bfloat16[4]'}\noutputs: {y: 'cast(x, float32) + 1.0'}\n"
REFUSED = PLAIN.replace("float32", "int64").replace("x + x", "relu(x)")
LOOP = """
inputs: {x: "float32[D]"}
ranges: {D: {min: 1, opt: %d, max: 9000}}
steps:
  y: while_loop(small, doubled, [x])
outputs: {y: y}
define:
  small:
    inputs: {y: "float32[D]"}
    outputs: {go: max(y) < 100.0}
  doubled:
    inputs: {y: "float32[D]"}
    outputs: {next: y * 2.0}
"""
ENTRIES = """
entries:
  plain:
    inputs: {x: "float32[4]"}
    outputs: {y: x + x}
  refused:
    inputs: {x: "int64[4]"}
    outputs: {y: relu(x)}
"""
XLA, ORT, OPENVINO = "cpu:xla", "cpu:onnxruntime", "cpu:openvino"


def compiled(folder, text, **options):
    """A model of this text."""
    return tripybuild.compile(written.write(folder, text), **options)


@pytest.mark.parametrize(
    ("text", "engine", "because"),
    [
        (PLAIN, ORT, "ONNX Runtime computes all of it"),
        (FINER, ORT, "ONNX Runtime computes all of it"),
        (HALF, XLA, "gives bfloat16, for which ONNX Runtime has few kernels"),
        (LOOP % 4095, XLA, "is a loop or a branch, and no turn computes with 4096 elements"),
        (LOOP % 4096, ORT, "ONNX Runtime computes all of it"),
        (REFUSED, XLA, "does not compute `Relu` of ONNX with these dtypes (tiny.yaml:5: int64)"),
        (ENTRIES, XLA, "does not compute `Relu` of ONNX with these dtypes (tiny.yaml:9: int64)"),
    ],
    ids=["plain", "cast", "bfloat16", "small loop", "loop", "no kernel", "entry"],
)
def test_the_rule(tmp_path, text, engine, because):
    """It asks what the model computes; all entries have one engine, and the file says why."""
    made = compiled(tmp_path, text, output=tmp_path / "m.tpb")
    assert made.manifest["target"] == engine
    assert made.manifest["engine"]["because"].endswith(because)
    assert made.manifest["engine"]["chosen_by"] == "cpu"
    assert dict(tripybuild.load(tmp_path / "m.tpb").manifest) == json.loads(
        json.dumps(dict(made.manifest))
    )


def test_the_reason_has_the_line_of_the_operation(tmp_path):
    """In a path that is relative to the model's folder, so that the file is the same elsewhere."""
    said = compiled(tmp_path, HALF).manifest["engine"]["because"]
    assert said == "`add` (tiny.yaml:5) gives bfloat16, for which ONNX Runtime has few kernels"


def test_the_fallback_computes(tmp_path):
    """Nothing of the engine that refused is in the file."""
    made = compiled(tmp_path, REFUSED)
    assert "onnxruntime" not in made.manifest["versions"]
    assert made.entry().manifest["specialisations"]
    got = made(x=np.array([[-1, 2, -3, 4]], np.int64))["y"]
    np.testing.assert_array_equal(got, [[0, 2, 0, 4]])


@pytest.mark.parametrize("engine", [XLA, ORT])
def test_an_engine_that_is_named_is_taken(tmp_path, engine):
    """Nothing was chosen, and nothing is said of it."""
    made = compiled(tmp_path, PLAIN, target=engine)
    assert made.manifest["target"] == engine
    assert "engine" not in made.manifest


def test_what_is_wrong_with_the_model_is_no_refusal(tmp_path, monkeypatch):
    """The other engine is not asked, so that the same thing is said wherever it is compiled."""
    wrong = DiagnosticError(Diagnostic("out-of-memory", "there is too little"))

    def fail(*_arguments):
        raise wrong

    monkeypatch.setattr(type(table.find_target(ORT)), "compile", fail)
    with pytest.raises(DiagnosticError, match="there is too little"):
        compiled(tmp_path, PLAIN)


@pytest.mark.parametrize("target", ["cpu", "cpu:fastest"])
def test_buckets_are_for_a_named_engine(tmp_path, target):
    """The one that is chosen may have no program for each size."""
    with pytest.raises(DiagnosticError, match="takes no buckets") as raised:
        compiled(tmp_path, PLAIN, target=target, buckets={"B": [4, 9]})
    assert raised.value.diagnostics[0].hint == "leave out `--buckets`, or take `--target cpu:xla`"


def test_no_engine_computes_it(tmp_path, monkeypatch):
    """What each says is said; that one is not installed is nothing of the model."""
    for name in (XLA, ORT):
        error = DiagnosticError(Diagnostic("compiler-failed", f"`{name}` cannot"))

        def fail(*_arguments, error=error):
            raise error

        monkeypatch.setattr(type(table.find_target(name)), "compile", fail)
    openvino = type(table.find_target(OPENVINO))
    monkeypatch.setattr(openvino, "is_installed", property(lambda _: False))
    with pytest.raises(DiagnosticError) as raised:
        compiled(tmp_path, PLAIN, target="cpu:fastest")
    assert [e.message for e in raised.value.diagnostics] == [f"`{n}` cannot" for n in (ORT, XLA)]


# --- cpu:fastest ---


def test_the_fastest_is_taken(tmp_path, monkeypatch):
    """The file says what was seen of each engine, names one, and computes."""
    monkeypatch.setattr(fastest, "ROUNDS", 3)
    made = compiled(tmp_path, PLAIN, target="cpu:fastest", shapes=[{"B": 5}])
    choice = made.manifest["engine"]
    assert choice["chosen_by"] == "cpu:fastest"
    assert {XLA, ORT} <= choice["measured"].keys()
    assert made.manifest["target"] == min(choice["measured"], key=choice["measured"].get)
    check_manifest(json.loads(json.dumps(dict(made.manifest))), made.members)
    np.testing.assert_array_equal(made(x=np.ones((3, 4), np.float32))["y"], np.full((3, 4), 2))


def test_the_least_sum_of_all_entries_and_sizes(tmp_path, monkeypatch):
    """Each is called; the engine with the smallest figure is taken, whichever it is."""
    seen = {}

    def measure(calls):
        seen.update({name: len(each) for name, each in calls.items()})
        return {name: {XLA: 1.0, ORT: 2.0}.get(name, 3.0) for name in calls}

    monkeypatch.setattr(fastest, "_measure", measure)
    text = ENTRIES.replace("int64", "float32").replace('x: "float32[4]"', "x: 'float32[B]'")
    text += "ranges: {B: {min: 1, opt: 2, max: 9}}\n"
    made = compiled(tmp_path, text, target="cpu:fastest", shapes=[{"B": 3}])
    assert made.manifest["target"] == XLA
    assert set(seen.values()) == {4}


def test_an_engine_that_refuses_is_recorded(tmp_path, monkeypatch):
    """In its own words; one that is not installed, too."""
    monkeypatch.setattr(fastest, "ROUNDS", 1)
    openvino = type(table.find_target(OPENVINO))
    monkeypatch.setattr(openvino, "is_installed", property(lambda _: False))
    choice = compiled(tmp_path, REFUSED, target="cpu:fastest").manifest["engine"]
    assert choice["measured"].keys() == {XLA}
    assert choice["refused"] == {
        ORT: "ONNX Runtime does not compute `Relu` of ONNX with these dtypes",
        OPENVINO: "`openvino` is not installed",
    }


@pytest.mark.parametrize(
    "change",
    [
        {"chosen_by": "cpu:other"},
        {"chosen_by": 1},
        {"chosen_by": "cpu:xla"},
        {"chosen_by": "reference"},
        {"because": None},
        {"because": "one\ntwo"},
        {"because": "\x1b[2J"},
        {"more": "words"},
        {"measured": {XLA: "fast"}},
        {"measured": {"cpu:other": 1.0}},
        {"measured": {"cpu:fastest": 1.0}},
        {"measured": {"reference": 1.0}},
        {"measured": {XLA: -1.0}},
        {"measured": {XLA: float("inf")}},
        {"measured": {XLA: float("nan")}},
        {"measured": {XLA: 10**400}},
        {"refused": {XLA: 1.0}},
        {"refused": {XLA: "one\ntwo"}},
        {"refused": ["words"]},
    ],
)
def test_a_choice_that_was_not_written_is_refused(tmp_path, change):
    """The reader takes what the writer writes."""
    made = compiled(tmp_path, PLAIN)
    content = json.loads(json.dumps(dict(made.manifest)))
    check_manifest(content, made.members)
    content["engine"] |= change
    with pytest.raises(DiagnosticError, match="its `engine` cannot be understood"):
        check_manifest(content, made.members)


def test_an_engine_that_is_null_is_refused(tmp_path):
    """Only what is not there says nothing."""
    made = compiled(tmp_path, PLAIN)
    with pytest.raises(DiagnosticError, match="its `engine` cannot be understood"):
        check_manifest({**made.manifest, "engine": None}, made.members)


def test_a_reason_has_one_line(tmp_path, monkeypatch):
    """Whatever an engine says, the reader takes what the writer wrote."""
    error = DiagnosticError(Diagnostic("onnxruntime-refused", "one\n\x1b[2Jtwo"))

    def fail(*_arguments):
        raise error

    monkeypatch.setattr(type(table.find_target(ORT)), "compile", fail)
    made = compiled(tmp_path, PLAIN)
    assert made.manifest["engine"]["because"] == "one \ufffd[2Jtwo"
    check_manifest(json.loads(json.dumps(dict(made.manifest))), made.members)

    monkeypatch.setattr(fastest, "ROUNDS", 1)
    made = compiled(tmp_path, PLAIN, target="cpu:fastest")
    assert made.manifest["engine"]["refused"][ORT] == "one \ufffd[2Jtwo"
    check_manifest(json.loads(json.dumps(dict(made.manifest))), made.members)


def test_no_file_names_a_target_that_only_chooses(tmp_path):
    """It has nothing that runs a file."""
    made = compiled(tmp_path, PLAIN)
    with pytest.raises(DiagnosticError, match="which is not one here"):
        check_manifest({**made.manifest, "target": "cpu:fastest"}, made.members)


def test_the_commands_say_the_engine(tmp_path, monkeypatch):
    """`compile` why it is not the usual one, `inspect` always."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fastest, "_measure", lambda calls: dict.fromkeys(sorted(calls), 0.5))
    written.write(tmp_path, PLAIN)

    def said(*words):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
        return done.output

    first = said("compile", "tiny.yaml")
    assert first.startswith("Compiled `tiny.yaml` for `cpu:onnxruntime` into `tiny.tpb`")
    assert "Chose" not in first
    shown = said("inspect", "tiny.tpb")
    assert "engine\n  chosen by  cpu\n  because    ONNX Runtime computes all of it\n" in shown
    assert "Chose" not in said("compile", "tiny.yaml", "--target", XLA)
    measured = said("compile", "tiny.yaml", "--target", "cpu:fastest")
    assert f"Chose `{ORT}`: it was the fastest (`{ORT}` 0.5 ms, " in measured
    assert f"  {XLA} " in said("inspect", "tiny.tpb")
    data = json.loads(CliRunner().invoke(app, ["compile", "tiny.yaml", "--json"]).stdout)
    assert (data["target"], data["engine"]["chosen_by"]) == (ORT, "cpu")


def test_old_files_name_no_engine(tmp_path):
    """They are XLA's, and say nothing of a choice."""
    made = compiled(tmp_path, PLAIN, target=XLA)
    old = Executable({**made.manifest, "target": "cpu"}, made.members)
    old.save(tmp_path / "old.tpb")
    again = tripybuild.load(tmp_path / "old.tpb")
    np.testing.assert_array_equal(again(x=np.ones((3, 4), np.float32))["y"], np.full((3, 4), 2))


def test_a_call_that_takes_too_long_refuses(tmp_path, monkeypatch):
    """The engine is recorded, and the others are measured; `--timeout` says how long."""
    end = threading.Event()
    monkeypatch.setattr(fastest, "ROUNDS", 1)
    monkeypatch.setattr(fastest, "engines", lambda _: [ORT, XLA])
    slow = type(table.find_target(ORT))
    monkeypatch.setattr(slow, "load", lambda *_: lambda _: lambda _: end.wait())
    choice = compiled(tmp_path, PLAIN, target="cpu:fastest", timeout=3).manifest["engine"]
    end.set()
    assert choice["measured"].keys() == {XLA}
    assert choice["refused"] == {ORT: "a call by `cpu:onnxruntime` took longer than 3 seconds"}


def test_inputs_are_drawn_once(tmp_path, monkeypatch):
    """In float32, and for all engines."""
    seen = []

    def measure(calls):
        seen.extend(call.args[0][0] for each in calls.values() for call in each)
        return dict.fromkeys(calls, 1.0)

    monkeypatch.setattr(fastest, "_measure", measure)
    compiled(tmp_path, PLAIN, target="cpu:fastest")
    assert len(seen) > 1
    assert {id(each) for each in seen} == {id(seen[0])}


def test_too_little_memory_for_the_inputs(tmp_path, monkeypatch):
    """It is said once, with what to change."""

    def fail(*_arguments):
        raise MemoryError("Unable to allocate 9 TiB")

    monkeypatch.setattr(fastest, "draw_inputs", fail)
    with pytest.raises(DiagnosticError) as raised:
        compiled(tmp_path, PLAIN, target="cpu:fastest")
    (found,) = raised.value.diagnostics
    assert found.code == "out-of-memory"
    assert "the inputs that are drawn" in found.message
    assert "`opt`" in found.hint
