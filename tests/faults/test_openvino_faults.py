"""Planted faults: what OpenVINO computes otherwise, or what is declared of it, is found."""

import os
from dataclasses import replace

import numpy as np
import pytest

from tripybuild.language.grammar import parse
from tripybuild.process import paths
from tripybuild.schema.operator.operator import Fact, Facts
from tripybuild.targets.openvino import work_around
from tripybuild.testing import Suite
from tripybuild.testing.cases import sample_case
from tripybuild.testing.engines import onnx_sessions, openvino_answers
from tripybuild.testing.engines.onnx_answers import COMPUTES, CRASHES
from tripybuild.types.dtypes import BY_NAME

pytest.importorskip("openvino", reason="openvino is not installed")

FLOAT32 = {"T": BY_NAME["float32"]}


def suite(name, *facts, of="openvino"):
    """The suite of an operator about which a target has these facts alone."""
    found = Suite(
        f"ops_registry/math/{name}.yaml",
        "tripyapi",
        str(paths.CHECKOUT / "generated/suites/math/test_it.py"),
    )
    targets = {of: Facts({each.name: each for each in facts}, {})}
    vars(found).update(operator=replace(found.operator, targets=targets), support_rows={})
    vars(found)["tuples"] = [FLOAT32]
    return found


def fact(name, when, **more):
    """A fact, its case written as an expression."""
    size = suite("exp").operator.sample["S"]
    return Fact(name, replace(size, program=parse(when)), "a reason", **more)


def wrong(steps):
    """Another function in the place of one."""
    return steps.give("Neg", *steps.node.inputs)


@pytest.fixture
def negative(monkeypatch):
    """Let OpenVINO compute the negative of a number where its exponential is asked."""
    changed = {**work_around.REWRITINGS, "Exp": wrong}
    monkeypatch.setattr(work_around, "REWRITINGS", changed)


def test_wrong_numbers_are_found(negative):
    with pytest.raises(AssertionError, match=r"float32, sample: OpenVINO: got .*, want"):
        suite("exp").check_openvino()
    with pytest.raises(AssertionError, match=r"symbols for .*: OpenVINO: got .*, want"):
        suite("exp").check_openvino_symbols()


def test_special_values_that_are_lost_are_found():
    """And a declaration of some that come through."""
    nan = fact("nan", "False", silent=True)
    with pytest.raises(AssertionError, match=r"OpenVINO, OpenVINO: got .*, want nan"):
        suite("exp").check_special_values()
    suite("exp", nan).check_special_values()
    suite("neg").check_special_values()
    with pytest.raises(AssertionError, match="nan: nothing differs from the reference"):
        suite("neg", nan).check_special_values()


def test_a_difference_that_is_declared_must_be_seen(monkeypatch):
    other = fact("other", "T == float32 and 0 not in S", silent=True)
    with pytest.raises(AssertionError, match="other: every such call computes what the reference"):
        suite("exp", other).check_openvino_facts()
    monkeypatch.setattr(work_around, "REWRITINGS", {"Exp": wrong})
    suite("exp", other).check_openvino_facts()


def test_a_fact_that_is_no_longer_true_is_found():
    old = fact("old", "T == float32 and 0 not in S", says=("no kernel",))
    with pytest.raises(AssertionError, match="nothing refuses it; `targets:` has old"):
        suite("exp", old).check_openvino()
    with pytest.raises(AssertionError, match="old: nothing is refused in these words"):
        suite("exp", old).check_openvino_facts()


def test_a_refusal_is_declared_for_its_dtypes():
    """Where the registry does not know of it, or knows it of other dtypes."""
    tuples = [{"T": BY_NAME["int64"]}]
    of = suite("sub")
    vars(of)["tuples"] = tuples
    of.check_openvino()
    of = suite("sub")
    vars(of)["tuples"] = tuples
    known = dict(of.subject.onnx["openvino"].refuses)
    wide = known["int64-is-int32"].model_copy(update={"when": "float64 in types"})
    common = of.subject.onnx["openvino"].model_copy(
        update={"refuses": {**known, "int64-is-int32": wide}}
    )
    vars(of)["subject"] = replace(of.subject, onnx={"openvino": common})
    with pytest.raises(AssertionError, match="which is not a declared refusal"):
        of.check_openvino()


def test_a_row_of_the_support_table_that_is_not_true_is_found():
    of = suite("exp")
    rows = vars(of)["support_rows"]
    rows[("float32",)] = ("yes", "20", "yes", "yes")
    of.check_openvino()
    rows[("float32",)] = ("yes", "20", "yes", "saturates")
    with pytest.raises(AssertionError, match="found yes, but the support table has saturates"):
        of.check_openvino()


def end(request):
    """End the process."""
    os.kill(os.getpid(), 11)
    return request


def test_a_crash_is_one_of_a_call(monkeypatch):
    """The others are asked again."""
    of = suite("exp")
    made = [sample_case(of.operator, of.function("exp"), FLOAT32) for _ in range(3)]
    run, asked = onnx_sessions.run_apart, []

    def run_apart(function, request):
        asked.append(len(request.outputs))
        at_fault = len(request.outputs) > 1 or len(asked) == 5
        return run(end if at_fault else function, request)

    monkeypatch.setattr(openvino_answers, "run_apart", run_apart)
    found = openvino_answers.openvino_answers(made)
    assert [each.level for each in found].count(CRASHES) == 1
    for each, case in zip(found, made, strict=True):
        if each.level == COMPUTES:
            ((results,),) = each.results.values()
            np.testing.assert_allclose(results[0], of.reference_results(case)[0], rtol=1e-5)
