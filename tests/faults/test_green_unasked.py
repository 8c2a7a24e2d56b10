"""A question that nobody could be asked is a skip with its reason, and never a green test."""

import ast
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tripybuild.codegen.package.package import conftest_file
from tripybuild.testing import ModuleSuite, Suite
from tripybuild.testing.check_counts import count_check, report_absence, skip_empty, suite_check
from tripybuild.testing.skip_report import KNOWN, OPTIONAL, is_valid_reason

ROOT = Path(__file__).resolve().parents[2]
# A plugin that hides modules, and what tells of their installation.
BLIND = """\
import importlib.metadata, sys

sys.modules.update(dict.fromkeys(("tensorrt_rtx", "torch")))
there = importlib.metadata.Distribution.from_name.__func__


def from_name(cls, name):
    if name in HIDDEN:
        raise importlib.metadata.PackageNotFoundError(name)
    return there(cls, "pytest" if name in ("tensorrt-rtx", "torch") else name)


importlib.metadata.Distribution.from_name = classmethod(from_name)
"""


def run(folder, hidden, *arguments):
    """Run suites in a process where TensorRT and PyTorch cannot be imported."""
    (folder / "blind.py").write_text(BLIND.replace("HIDDEN", repr(hidden)), encoding="utf-8")
    paths = [str(folder), str(ROOT), str(ROOT / "generated")]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            *["-p", "blind", "-p", "no:cacheprovider", "-n0", "-vv"],
            *arguments,
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.findall(r"::(test_\w+)(?:\[.*\])? (PASSED|SKIPPED|FAILED)", done.stdout)
    outcomes = {}
    for name, outcome in found:
        outcomes.setdefault(name, set()).add(outcome)
    return done.returncode, outcomes, done.stdout


def test_who_is_not_here_is_not_asked(tmp_path):
    """TensorRT's questions and PyTorch's are skips with a reason; the others are asked."""
    suites = [
        "generated/suites/math/test_acos.py",
        "generated/suites/quantization/test_dequantize.py",
    ]
    code, outcomes, text = run(
        tmp_path, ("tensorrt-rtx", "torch"), *suites, "-k", "tensorrt or torch or illegal or symbol"
    )

    assert code == 0, text
    assert outcomes == {
        "test_tensorrt": {"SKIPPED"},
        "test_illegal_dtypes": {"PASSED"},
        "test_tensorrt_refusals": {"SKIPPED"},
        "test_tensorrt_gpus": {"SKIPPED"},
        "test_tensorrt_facts": {"SKIPPED"},
        "test_symbol": {"PASSED"},
        "test_tensorrt_symbol": {"SKIPPED"},
        "test_onnxruntime_symbols": {"PASSED"},
        "test_openvino_symbols": {"PASSED"},
        "test_torch": {"SKIPPED"},
        "test_tensorrt_example": {"SKIPPED"},
    }
    assert re.search(r"left out: \d+ \(tensorrt-rtx is not installed\)\n", text)
    assert re.search(r"left out: \d+ \(torch is not installed\)\n", text)


SKIPPED = """\
import pytest


def test_nothing():
    pytest.skip("tensorrt-rtx is not installed")
"""


def test_a_reason_that_is_not_true_fails_the_run(tmp_path):
    """What is installed, and cannot be imported, is no reason to leave out a question."""
    (tmp_path / "conftest.py").write_text(conftest_file("my_ops"))
    (tmp_path / "test_skipped.py").write_text(SKIPPED)
    for hidden, wanted in (((), 1), (("tensorrt-rtx",), 0)):
        code, outcomes, text = run(tmp_path, hidden, tmp_path, "-c", os.devnull)

        assert outcomes == {"test_nothing": {"SKIPPED"}}
        said = "left out: 1 (tensorrt-rtx is not installed)"
        assert (f"{said}  <- this is not a reason" in text, said in text) == (bool(wanted), True)
        assert code == wanted


def test_each_check_is_a_question():
    """No check of a suite can end well without having asked."""
    for suite in (Suite, ModuleSuite):
        checks = [f for n, f in inspect.getmembers(suite) if n.startswith("check_")]
        assert checks
        assert all(getattr(check, "is_question", False) for check in checks)


def test_a_check_that_asks_nothing_fails():
    """A loop over no cases is no proof."""

    @suite_check
    def check_cases(cases):
        for _ in cases:
            count_check()

    check_cases([1])
    with pytest.raises(AssertionError, match="`check_cases` checked nothing"):
        check_cases([])


def test_a_fault_comes_before_a_skip():
    """What could be asked is told, also where somebody is missing who would answer the rest."""

    @suite_check
    def check(wrong):
        count_check()
        report_absence("torch")
        if wrong:
            raise AssertionError("a fault")

    with pytest.raises(AssertionError, match="a fault"):
        check(wrong=True)
    with pytest.raises(pytest.skip.Exception, match="torch is not installed"):
        check(wrong=False)


def test_reasons():
    """A reason is what is missing, what a suite found nothing to ask of, or what a system lacks."""
    with pytest.raises(pytest.skip.Exception) as skipped:
        skip_empty("no alias says it")

    assert is_valid_reason(skipped.value.msg)
    assert is_valid_reason("this system has no fork")
    assert not is_valid_reason("pytest is not installed")
    assert not is_valid_reason("flaky")


SKIPS = {"skip", "skipif", "importorskip"}  # the last one names what it could not import


def test_reasons_of_tests_are_of_a_form_that_is_checked():
    """Else the run fails where a test is skipped, on a machine that nobody here has."""
    unknown = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", None) in SKIPS:
                given = [each.value for each in node.keywords if each.arg == "reason"]
                given += node.args[:1] if node.func.attr == "skip" else []
                reasons = [each.value for each in given if isinstance(each, ast.Constant)]
                unknown += [f"{path.name}:{node.lineno}" for r in reasons if not is_form(r)]
    assert not unknown


def is_form(reason):
    """Whether a reason can be true: what a system lacks, or the name of what is not installed."""
    words = re.findall(r"[a-z0-9.-]+", reason.lower().replace("_", "-"))
    return bool(KNOWN.search(reason)) or not {*OPTIONAL, "cuda.bindings.runtime"}.isdisjoint(words)
