"""TensorRT against declarations: verdicts and their levels, and what is found wrong."""

from dataclasses import replace

import pytest

import tripyapi
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.language.grammar import parse
from tripybuild.process import paths
from tripybuild.schema.operator.dtype_combinations import format_tuple
from tripybuild.schema.operator.operator import Fact, Facts
from tripybuild.schema.target_files import CommonFactsEntry
from tripybuild.testing import Suite
from tripybuild.testing.batch import build_problems
from tripybuild.testing.cases import sample_case, variations
from tripybuild.testing.disabled_checks import any_law, without_checks
from tripybuild.testing.engines.conformance import Subject, wrong_facts, wrong_refusals
from tripybuild.testing.engines.gpu_engines import (
    expected_result,
    gated_dtypes,
    gpu_problems,
    missing_dtypes,
)
from tripybuild.testing.registry import registry
from tripybuild.trace.graph import Graph
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import BY_NAME

pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")


def subject(name, facts=None, **changes):
    """An operator as its suite sees it, with other facts or a part replaced."""
    declared = registry(paths.registry())
    operator = declared.operators[name]
    targets = operator.targets if facts is None else {"tensorrt": facts}
    operator = replace(operator, targets=targets, **changes)
    known = declared.targets["tensorrt"], declared.targets["tensorrt-rtx"]
    return Subject(operator, getattr(tripyapi, name), *known)


def samples(of, *types):
    """The samples of an operator of one dtype variable, in some dtypes."""
    return [sample_case(of.operator, of.function, {"T": BY_NAME[type]}) for type in types]


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
    found, _ = subject(name).judge_sample({"T": BY_NAME[type]})
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
    found, _ = subject("arange").judge_sample({"T": BY_NAME[type]}, gpu)
    assert found.level == level
    assert (level == "builds") or "HW-specific datatypes" in found.says


def test_checks_of_dtypes_are_off_only_inside():
    numbers = tripyapi.Tensor([1, 2])
    with without_checks():
        assert tripyapi.softmax(numbers).value.dtype is BY_NAME["int32"]
    with pytest.raises(DiagnosticError, match="softmax/T"):
        tripyapi.softmax(numbers)


def test_other_laws_are_on_unless_all_are_off():
    wrong = tripyapi.Tensor([[1.0, 2.0]]), [2, 2]
    with without_checks(), pytest.raises(DiagnosticError, match="reshape/"):
        tripyapi.reshape(*wrong)
    with without_checks(any_law):
        assert tripyapi.reshape(*wrong).value.shape == (2, 2)


def test_an_operator_as_declared_has_nothing_wrong():
    for name in ("erf", "all", "slice"):
        assert list(wrong_refusals(subject(name))) == []
        assert list(wrong_facts(subject(name))) == []


def test_an_engine_that_nobody_expects_is_found():
    assert list(wrong_refusals(subject("sum", Facts({}, {})))) == [
        "int8: TensorRT builds it, and no `builds:` declares it"
    ]


def test_an_engine_is_not_offered_by_default_where_the_support_table_has_it():
    written = {"int8": "builds"}
    of = subject("sum", Facts({}, {}))
    assert list(wrong_refusals(of, lambda types: written.get(format_tuple(types)))) == []


def test_dtypes_alone_do_not_explain_an_engine_of_a_tensor_with_another_dtype():
    of = subject("slice", Facts({}, {}))
    found = list(wrong_refusals(of, lambda types: "builds" if "value" in types else None))
    assert "`value` in float16: TensorRT builds it, and no `builds:` declares it" in found[-1]


def test_an_engine_that_is_not_there_is_found():
    of = subject("exp")
    given = only("builds", fact(of, "all-of-it", "T in [bool, int8]"))
    found = list(wrong_refusals(subject("exp", given)))
    assert [each.partition(":")[0] for each in found] == ["int8", "bool"]
    assert "`all-of-it` is declared to build, but it is refused at level" in found[0]


def test_a_refusal_in_other_words_is_found():
    of = replace(subject("sin"), common=CommonFactsEntry())
    found = list(wrong_refusals(of))
    assert len(found) == 8
    assert all("which is not a known rejection" in each for each in found)


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


@pytest.mark.parametrize(
    ("call", "types"),
    [
        (lambda x: x + x, ["bfloat16"]),
        (lambda x: tripyapi.cast(x, tripyapi.float32), ["bfloat16"]),
        (lambda x: tripyapi.cast(x, tripyapi.float8), ["bfloat16", "float8"]),
        (lambda x: tripyapi.zeros_like(x, dtype=tripyapi.float32), []),
        (lambda x: x, ["bfloat16"]),
    ],
    ids=["results", "operands", "both", "unread", "borders"],
)
def test_a_gpu_needs_what_is_read_or_given(call, types):
    given = Value(TensorType(BY_NAME["bfloat16"], (2, 3)))
    graph = Graph("gates", {"x": given}, {}, {"y": call(tripyapi.Tensor.of(given)).value})
    known = subject("exp").rtx
    assert gated_dtypes(graph, known) == types
    assert missing_dtypes(graph, known, "sm75") == types
    assert missing_dtypes(graph, known, "sm86") == [t for t in types if t == "float8"]


def test_a_gpu_refuses_the_dtypes_that_it_lacks():
    of = subject("exp")
    given = samples(of, "float32", "bfloat16")
    assert list(gpu_problems(of, given, "sm75")) == []
    newer = of.rtx.model_copy(update={"needs": {"bfloat16": "sm120"}})
    found = list(gpu_problems(replace(of, rtx=newer), given, "sm89"))
    assert found == ["bfloat16 sample sm89: builds, want refused for bfloat16"]
    older = of.rtx.model_copy(update={"needs": {}})
    (found,) = gpu_problems(replace(of, rtx=older), given, "sm75")
    assert found.startswith("bfloat16 sample sm75: ")
    assert "cannot compute with" in found


def test_a_fact_of_a_gpu_is_no_fact_of_others():
    of = subject("exp")
    given = fact(of, "x", "T == bfloat16", gpus=("sm75",), says=("HW-specific datatypes",))
    of = subject("exp", only("refuses", given))
    assert list(wrong_facts(of)) == []
    assert list(gpu_problems(of, samples(of, "bfloat16"), "sm80")) == []
    given = replace(given, gpus=("sm80",))
    assert list(wrong_facts(subject("exp", only("refuses", given)))) == [
        "x: TensorRT builds bfloat16"
    ]


def test_what_is_written_otherwise_is_found():
    of = subject("exp")
    written = {"uint8": "shape", "int8": "build"}
    (found,) = wrong_refusals(of, lambda types: written.get(format_tuple(types)))
    assert found.startswith("uint8: refused at level builder: ")
    assert found.endswith("but the support table has `shape`")


def test_the_faulty_of_many_are_found_and_excused_for_what_is_true_of_their_dtype():
    of = subject("concatenate")
    near = list(variations(of.operator, of.function, {"T": BY_NAME["int4"]}, every=True))
    found = build_problems([*samples(of, "float32", "int4"), *near])
    assert {(each.types, each.label) for each in found} == {
        ("int4", "second shape"),
        ("int4", "4 becomes 1"),
    }
    assert all("odd tensor volume" in said for (said,) in found.values())
    assert list(gpu_problems(of, near, None)) == []
    of = replace(of, common=of.common.model_copy(update={"refuses": {}}))
    assert len(list(gpu_problems(of, near, None))) == 2


def test_a_number_for_a_tensor_is_no_case_of_what_is_said_of_its_dtype():
    of = subject("full_like")
    types = {name: BY_NAME[t] for name, t in {"T": "int8", "V": "int4", "U": "int32"}.items()}
    near = list(variations(of.operator, of.function, types, every=False))
    wanted = {case.label: expected_result(of, case, None).builds for case in near}
    assert wanted["sample"] is False
    assert wanted["value is 2"] is True
    assert list(gpu_problems(of, near, None)) == []


def test_a_size_of_0_leaves_the_symbols_of_other_sizes():
    """No range has an `opt` of 0: such a size is skipped, and no other one is."""
    operator = registry(paths.registry()).operators["relu"]
    sizes = replace(operator.sample["S"], program=parse("[0, 3]"))
    suite = Suite(operator.path, "tripyapi", __file__)
    suite.operator = replace(operator, sample={"S": sizes})
    with pytest.raises(pytest.skip.Exception, match="no profile has an `opt` of 0"):
        suite.check_tensorrt_symbol("S[0]")
    suite.check_tensorrt_symbol("S[1]")
