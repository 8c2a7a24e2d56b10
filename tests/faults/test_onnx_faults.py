"""Planted faults: what is wrong with a lowering to ONNX, or with a fact about it, is found."""

from dataclasses import replace

import numpy as np
import pytest

from tripybuild.compiler.lowering import driver
from tripybuild.language.grammar import parse
from tripybuild.onnx import dialect as onnx
from tripybuild.process import paths
from tripybuild.schema.operator.operator import Fact, Facts
from tripybuild.schema.target_files import CommonFactsEntry, StockRefusalEntry
from tripybuild.testing import Suite
from tripybuild.testing.engines.onnx_answers import COMPUTES, OnnxAnswer
from tripybuild.testing.engines.onnx_verdicts import wrong_numbers
from tripybuild.trace.generated_code import lowering_function
from tripybuild.types.dtypes import BY_NAME

pytest.importorskip("onnx", reason="onnx is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

FLOAT32 = BY_NAME["float32"]


def suite(name):
    """The suite of an operator, which the tests may change: nothing else is known of targets."""
    path = f"ops_registry/math/{name}.yaml"
    of = Suite(path, "tripyapi", str(paths.CHECKOUT / "generated/suites/math/test_it.py"))
    vars(of).update(subject=replace(of.subject, onnx={}), support_rows={})
    return of


def with_facts(name, target, *facts):
    """The suite of an operator about which a target has these facts alone."""
    of = suite(name)
    changed = {**of.operator.targets, target: Facts({each.name: each for each in facts}, {})}
    operator = replace(of.operator, targets=changed)
    vars(of).update(operator=operator, subject=replace(of.subject, operator=operator))
    return of


def fact(of, name, when, **more):
    """A fact, its case written as an expression."""
    return Fact(name, replace(of.operator.sample["S"], program=parse(when)), "a reason", **more)


@pytest.fixture
def plant(monkeypatch):
    """Lower one operator in another way."""

    def planted(name, lower):
        def found(operation, target):
            own = lowering_function(operation, target)
            return lower if target == "onnx" and operation.__name__.lower() == name else own

        monkeypatch.setattr(driver, "lowering_function", found)

    return planted


@pytest.mark.parametrize(
    ("lower", "words"),
    [
        (lambda op, x: onnx.Add(onnx.Exp(x), onnx.Mul(x, x)), "as lowered: got"),
        (lambda op, x: onnx.Cast(onnx.Exp(x), to=BY_NAME["float16"]), "lowering-failed"),
        (lambda op, x: onnx.Transpose(onnx.Exp(x), perm=[1, 0]), "illegal at opset 20"),
        (lambda op, x: onnx.Reshape(onnx.Exp(x), [7, -1]), "illegal at opset 20"),
        (lambda op, x: onnx.NoSuchThing(x), "NoSuchThing"),
    ],
)
def test_a_wrong_lowering_is_found(plant, lower, words):
    of = suite("exp")
    of.check_onnxruntime("float32")
    plant("exp", lower)
    with pytest.raises((AssertionError, AttributeError), match=words):
        of.check_onnxruntime("float32")


def test_a_lowering_that_keeps_a_size_of_the_sample_is_found(plant):
    """It is right for the sample, and wrong for the sizes that the model is for."""
    of = suite("exp")
    of.check_onnxruntime_symbols()
    rows = of.reference_calls[0][0].graph.inputs["input"].shape[0]
    plant("exp", lambda op, x: onnx.Reshape(onnx.Exp(x), [rows, -1]))
    with pytest.raises(AssertionError, match=r"symbols for S\[0\]"):
        of.check_onnxruntime_symbols()


def test_a_wrong_lowering_is_found_by_an_example(plant):
    of = suite("exp")
    of.check_onnxruntime_examples()
    plant("exp", lambda op, x: onnx.Add(onnx.Exp(x), onnx.Exp(x)))
    with pytest.raises(AssertionError, match=r"exp\(.*as lowered: got"):
        of.check_onnxruntime_examples()


def test_a_difference_of_the_optimized_model_alone_is_found():
    good, bad = np.zeros(3, np.float32), np.ones(3, np.float32)
    answer = OnnxAnswer(20, COMPUTES, results={"as lowered": [[good]], "optimized": [[bad]]})
    found = list(wrong_numbers(suite("exp").operator, {"T": FLOAT32}, answer, [[good]]))
    assert found == ["optimized: got 1.0, want 0.0 at [0]; 3 of 3 elements differ"]


@pytest.mark.parametrize("target", ["onnx", "onnxruntime"])
def test_a_fact_that_is_no_longer_true_is_found(target):
    of = suite("exp")
    old = with_facts("exp", target, fact(of, "old", "T == float32", says=("no kernel",)))
    with pytest.raises(AssertionError, match="nothing refuses it; `targets:` has old"):
        old.check_onnxruntime("float32")
    with pytest.raises(AssertionError, match="old: nothing is refused in these words"):
        old.check_onnxruntime_facts()


def test_a_fact_that_nothing_says_is_one_of_words(plant):
    """Neither dtypes nor sizes say when it is so, as of an opset; it must be seen all the same."""
    of = suite("exp")
    of = with_facts("exp", "onnx", fact(of, "newer", "False", says=("no form",)))
    of.check_onnxruntime("float32")
    with pytest.raises(AssertionError, match="newer: nothing is refused in these words"):
        of.check_onnxruntime_facts()
    plant("exp", lambda op, x: onnx.Exp(x) if onnx.opset() < 26 else onnx.unavailable("exp"))
    of.check_onnxruntime_facts()
    of.check_onnxruntime("float32")


def test_a_fact_of_no_call_is_found():
    of = suite("exp")
    of = with_facts("exp", "onnxruntime", fact(of, "never", "T == bool"))
    with pytest.raises(AssertionError, match="never: no legal call is such a case"):
        of.check_onnxruntime_facts()


def test_a_difference_that_is_declared_must_be_seen(plant):
    of = suite("exp")
    of = with_facts("exp", "onnxruntime", fact(of, "other", "T == float32", silent=True))
    with pytest.raises(AssertionError, match="other: every such call computes what the reference"):
        of.check_onnxruntime_facts()
    plant("exp", lambda op, x: onnx.Add(onnx.Exp(x), onnx.Exp(x)))
    of.check_onnxruntime_facts()
    of.check_onnxruntime("float32")


@pytest.mark.parametrize(
    ("cells", "found"), [(("21", "yes"), "20"), (("20", "no"), "yes"), (("no", "no"), "yes")]
)
def test_a_row_of_the_support_table_that_is_not_true_is_found(cells, found):
    of = suite("exp")
    rows = vars(of)["support_rows"]
    rows[("float32",)] = ("yes", "20", "yes")
    of.check_onnxruntime("float32")
    rows[("float32",)] = ("yes", *cells)
    with pytest.raises(AssertionError, match=f"found .*'{found}'.* but the support table has"):
        of.check_onnxruntime("float32")


def test_a_refusal_is_declared_in_its_words(plant):
    """A fact of the operator declares it, or one of all operators for these dtypes."""
    plant("exp", lambda op, x: onnx.unavailable("exp"))
    of = suite("exp")
    undeclared = "builder at opset 26: .* which is not a declared refusal"
    with pytest.raises(AssertionError, match=undeclared):
        of.check_onnxruntime("float32")
    when = "T == float32 and 0 not in S"  # nothing is computed of what is empty
    declared = with_facts("exp", "onnx", fact(of, "f", when, says=("no form",)))
    declared.check_onnxruntime("float32")
    other = with_facts("exp", "onnx", fact(of, "f", when, says=("other words",)))
    with pytest.raises(AssertionError, match=undeclared):
        other.check_onnxruntime("float32")

    for when, level, declared in (
        ("float32 in types", "builder", True),
        ("bool in types", "builder", False),
        ("float32 in types", "build", False),
    ):
        entry = StockRefusalEntry(why="so", says="no form in ONNX", level=level, when=when)
        common = {"onnx": CommonFactsEntry(refuses={"f": entry})}
        vars(of)["subject"] = replace(of.subject, onnx=common)
        if declared:
            of.check_onnxruntime("float32")
        else:
            with pytest.raises(AssertionError, match=undeclared):
                of.check_onnxruntime("float32")
