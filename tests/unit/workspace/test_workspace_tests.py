"""`tripybuild test`: specs beside their references, and the results as JUnit XML."""

import json
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import workspaces

from tripybuild.cli.main import main
from tripybuild.workspace import local_executor
from tripybuild.workspace.execution import do_job
from tripybuild.workspace.jobs import Job

ROOT = Path(__file__).resolve().parents[3]
SPEC = """\
tripybuild: 1
model: scores
inputs: {words: "int32[B, S]", mask: "F[B, S]"}
ranges: {B: {max: 8}, S: {max: 8}}
sizes: {vocab: 5, width: 3}
parts: {table: "Embedding(vocab, width)"}
outputs: {y: "softmax(table(words), 2) * unsqueeze(mask, 2)"}
test:
  against: torch.nn.Embedding
  shapes: [{B: 2, S: 3}, {B: 1, S: 8}]
  inputs: {words: {below: vocab}, mask: {draw: padding}}
"""
FLEET = """\
tripybuild: 1
workspace: fleet
specs: [specs/*.yaml]
builds: {all: {targets: ["cpu:onnxruntime"]}}
"""


@pytest.fixture
def root(tmp_path, shared_cache, monkeypatch):
    """A workspace of two specs, of which one says how it is tested."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(local_executor, "LocalExecutor", workspaces.HereExecutor)
    workspaces.write(tmp_path, FLEET, ["one"])
    (tmp_path / "specs/scores.yaml").write_text(SPEC)
    return tmp_path


@pytest.fixture
def test(root, monkeypatch, capfd):
    """Runs `tripybuild test`, and gives its answer and the XML."""

    def run(*words):
        words = ["tripybuild", "test", *words, "--json", "--junit", "found.xml"]
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit):
            main()
        answer = json.loads(capfd.readouterr().out)
        file = root / "found.xml"
        return answer, ET.parse(file).getroot() if file.exists() else None

    return run


def test_specs_are_compared_with_their_references(root, test):
    """Each shape of the section; what passed is not run again, but is in the XML."""
    answer, xml = test()
    (job,) = answer["jobs"]
    assert (job["name"], job["outcome"]) == ("tests/scores-cpu-onnxruntime", "done")
    assert [each["sizes"] for each in job["cases"]] == [{"B": 2, "S": 3}, {"B": 1, "S": 8}]
    assert all(each["difference"] < 1e-6 and each["agrees"] for each in job["cases"])
    assert xml.attrib | {"time": ""} == {
        "name": "tripybuild test",
        "tests": "1",
        "failures": "0",
        "errors": "0",
        "skipped": "0",
        "time": "",
    }
    answer, again = test()
    assert [each["outcome"] for each in answer["jobs"]] == ["current"]
    assert ET.tostring(again) == ET.tostring(xml)
    assert [each["outcome"] for each in test("--fresh")[0]["jobs"]] == ["done"]


def test_results_replace_no_other_file(root, test):
    """The workspace's own, or one of another program: before any test runs."""
    (root / "found.xml").write_text("<testsuites name='mine'/>")
    answer, xml = test()
    assert [each["code"] for each in answer["diagnostics"]] == ["output-unwritable"]
    assert xml.attrib == {"name": "mine"}
    assert not (root / "build").exists()


def test_a_difference_fails_with_its_line(root, test):
    """And is run again the next time."""
    spec = root / "specs/scores.yaml"
    spec.write_text(SPEC + "  tolerance: {float32: 1.0e-30}\n")
    for _ in range(2):
        answer, xml = test()
        first = answer["diagnostics"][0]
        assert (first["code"], first["span"]["line"]) == ("test-differs", 8)
        assert first["message"].startswith("`y` differs by ")
        assert first["message"].endswith(" from the references at B=1, S=8")
        failure = xml.find("testsuite/testcase/failure")
        assert failure.get("type") == "test-differs"
        assert "specs/scores.yaml:8:1" in failure.text
        assert "B=1, S=8: differs by" in xml.find("testsuite/testcase/system-out").text


def test_what_cannot_run_here_is_skipped_with_its_reason(root, test):
    """A target whose library is not installed."""
    tests = "tests: {gpu: {targets: [mlir-tensorrt]}}\n"
    (root / "tripybuild.yaml").write_text(FLEET + tests)
    answer, xml = test()
    assert [each["outcome"] for each in answer["jobs"]] == ["done"]
    assert "mlir" in answer["jobs"][0]["skipped"]
    assert xml.find("testsuite/testcase/skipped").get("message") == answer["jobs"][0]["skipped"]
    answer, _ = test("--dry-run")
    assert answer["jobs"][0]["reasons"][0].startswith("it was left out the last time: ")


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("words: {below: vocab}, ", "", "wrong-value"),
        ("below: vocab", "below: vocabulary", "wrong-value"),
        ("against: torch.nn.Embedding", "agianst: torch.nn.Embedding", "missing-key"),
    ],
)
def test_a_section_that_says_too_little_is_refused(root, test, old, new, code):
    """In words, with a place in the spec."""
    (root / "specs/scores.yaml").write_text(SPEC.replace(old, new))
    answer, xml = test()
    first = answer["diagnostics"][0]
    assert (first["code"], first["span"]["path"]) == (code, "specs/scores.yaml")
    assert xml.get("failures") == "1"


def test_a_workspace_without_tests_says_so(root, test):
    """It is no success."""
    (root / "specs/scores.yaml").unlink()
    answer, xml = test()
    assert [each["code"] for each in answer["diagnostics"]] == ["unknown-build"]
    assert xml is None


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_t5_in_fewer_bits_is_within_what_it_declares(dtype, monkeypatch):
    """By the references themselves: what their rounding costs is no fault of an engine."""
    monkeypatch.chdir(ROOT / "specs")
    own = {"target": "reference", "action": "test", "sizes": {"F": dtype}}
    result = do_job(Job("t5", "key", "m", "t5.yaml", (), **own))
    assert result.outcome == "done", result.diagnostics
    worst = max(each["difference"] for each in result.report["cases"])
    assert 1e-3 < worst < result.report["cases"][0]["tolerance"]
