"""TensorRT against declarations: verdicts and their levels, and what is found wrong."""

from dataclasses import replace

import pytest

import tripyapi
from tripybuild import project
from tripybuild.diagnostics import DiagnosticError
from tripybuild.language.grammar import parse
from tripybuild.schema.operator import Fact, Facts
from tripybuild.schema.target_files import CommonFactsEntry
from tripybuild.suite.registry import registry
from tripybuild.suite.truth import Subject, wrong_facts, wrong_refusals
from tripybuild.suite.unchecked import every, unchecked
from tripybuild.types.dtypes import BY_NAME

pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")


def subject(name, facts=None, **changes):
    """An operator as its suite sees it, with other facts or a part replaced."""
    declared = registry(project.registry())
    operator = declared.operators[name]
    targets = operator.targets if facts is None else {"tensorrt": facts}
    operator = replace(operator, targets=targets, **changes)
    return Subject(operator, getattr(tripyapi, name), declared.targets["tensorrt"])


def fact(of, name, when, **more):
    """A fact, its case written as an expression that another operator's snippet is parsed to."""
    snippet = replace(of.operator.sample["S"], program=parse(when))
    sample = {n: replace(snippet, program=parse(v)) for n, v in more.pop("sample", {}).items()}
    return Fact(name, snippet, "a reason", sample=sample, **more)


def only(kind, *facts):
    """Facts of one kind."""
    both = {"refuses": {}, "builds": {}} | {kind: {each.name: each for each in facts}}
    return Facts(both["refuses"], both["builds"])


@pytest.mark.parametrize(
    ("name", "type", "level", "words"),
    [
        ("exp", "float32", "builds", ""),
        ("exp", "float64", "builder", "no data type for"),
        ("maxpool", "bool", "shape", "must have type"),
        ("exp", "bool", "shape", "must have type"),
        ("exp", "float8", "build", "is not consumed by"),
        ("sin", "int8", "build", "No matching rules found"),
    ],
)
def test_a_verdict_says_how_far_a_network_comes(name, type, level, words):
    found, _ = subject(name).judged({"T": BY_NAME[type]})
    assert found.level == level
    assert words in found.says


@pytest.mark.parametrize(
    ("gpu", "type", "level"),
    [
        ("sm75", "bfloat16", "build"),
        ("sm80", "bfloat16", "builds"),
        ("sm86", "float8", "build"),
        ("sm89", "float8", "builds"),
    ],
)
def test_a_gpu_computes_with_the_dtypes_that_it_has(gpu, type, level):
    found, _ = subject("arange").judged({"T": BY_NAME[type]}, gpu)
    assert found.level == level
    assert (level == "builds") or "HW-specific datatypes" in found.says


def test_checks_of_dtypes_are_off_only_inside():
    numbers = tripyapi.Tensor([1, 2])
    with unchecked():
        assert tripyapi.softmax(numbers).value.dtype is BY_NAME["int32"]
    with pytest.raises(DiagnosticError, match="softmax/T"):
        tripyapi.softmax(numbers)


def test_other_laws_are_on_unless_all_are_off():
    wrong = tripyapi.Tensor([[1.0, 2.0]]), [2, 2]
    with unchecked(), pytest.raises(DiagnosticError, match="reshape/"):
        tripyapi.reshape(*wrong)
    with unchecked(every):
        assert tripyapi.reshape(*wrong).value.shape == (2, 2)


def test_an_operator_as_declared_has_nothing_wrong():
    for name in ("pow", "where", "topk"):
        assert list(wrong_refusals(subject(name))) == []
        assert list(wrong_facts(subject(name))) == []


def test_an_engine_that_nobody_expects_is_found():
    assert list(wrong_refusals(subject("sum", Facts({}, {})))) == [
        "int8: TensorRT builds it, and no `builds:` says so"
    ]


def test_an_engine_that_is_not_there_is_found():
    of = subject("exp")
    given = only("builds", fact(of, "all-of-it", "T in [bool, int8]"))
    found = list(wrong_refusals(subject("exp", given)))
    assert [each.partition(":")[0] for each in found] == ["int8", "bool"]
    assert "`all-of-it` says that it builds, but it is refused at level" in found[0]


def test_a_refusal_in_other_words_is_found():
    of = replace(subject("sin"), common=CommonFactsEntry())
    found = list(wrong_refusals(of))
    assert len(found) == 9
    assert all("which is no refusal that is known" in each for each in found)


def test_a_refusal_at_another_level_is_found():
    of = subject("sin")
    refuses = {"no-kernel": of.common.refuses["no-kernel"].model_copy(update={"level": "shape"})}
    of = replace(of, common=of.common.model_copy(update={"refuses": refuses}))
    found = [each for each in wrong_refusals(of) if each.startswith("int8: ")]
    assert "refused at level build" in found[0]


@pytest.mark.parametrize(
    ("kind", "when", "more", "problem"),
    [
        ("refuses", "T == int32", {}, "x: no legal call of the sample is such a case"),
        ("refuses", "T == float32", {}, "x: TensorRT builds float32"),
        ("refuses", "len(S) > 7", {"sample": {"S": "[1] * 8"}}, "x: TensorRT builds float32"),
        ("builds", "T == float32", {}, "x: no call of the sample that is refused is such a case"),
    ],
)
def test_a_fact_that_no_case_shows_is_found(kind, when, more, problem):
    of = subject("exp")
    found = list(wrong_facts(subject("exp", only(kind, fact(of, "x", when, **more)))))
    assert found[0] == problem
