"""Laws are broken alone: what the suites say where a declaration does not show that."""

from dataclasses import replace

import pytest

import tripyapi
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.language.grammar import parse
from tripybuild.process import paths
from tripybuild.schema.operator.operator import Example, Requirement
from tripybuild.testing.disabled_checks import check_independence
from tripybuild.testing.examples import example_case
from tripybuild.testing.registry import registry

OPERATORS = registry(paths.registry()).operators


def call(example):
    return example_case(example, OPERATORS, lambda name: getattr(tripyapi, name))


def wrong(name, law, *calls, **changes):
    """What is wrong with examples of a law, as texts and the sizes of their symbols."""
    operator = OPERATORS[name]
    like = operator.examples[0].call
    said = [(each, {}) if isinstance(each, str) else each for each in calls]
    examples = [Example(replace(like, program=parse(t)), None, law, sizes) for t, sizes in said]
    return list(
        check_independence(replace(operator, examples=tuple(examples), **changes), law, call)
    )


@pytest.mark.parametrize(
    ("name", "law", "text"),
    [
        ("topk", "positive-k", "topk([1.0], 0, 0)"),
        # The size of the output, which a later law reads, cannot be computed for a step of 0.
        (
            "convolution",
            "positive-steps",
            "convolution(ones([1, 1, 2]), ones([1, 1, 1]), stride=0)",
        ),
        # An inline operator, whose decomposition would be refused with another operator's law.
        ("im2col", "kernel-fits", "im2col(ones([1, 1, 2, 2]), 3)"),
        # Recorded without its laws, this would have a hundred million parts.
        ("unbind", "not-too-many", "unbind(ones([100_000_000]))"),
        # Only the last call of an operator is an example of its law.
        ("reshape", "same-volume", "reshape(reshape([1.0, 2.0, 3.0], [3, 1]), [2])"),
    ],
)
def test_a_law_may_be_broken_alone(name, law, text):
    assert wrong(name, law, text) == []


@pytest.mark.parametrize(
    ("name", "law", "text", "others"),
    [
        ("reshape", "one-inferred", "reshape([1.0, 2.0], [-1, -1])", "same-volume"),
        ("reshape", "one-inferred", "reshape(reshape([1, 2], [2, 1]), [-1, -1])", "same-volume"),
        ("im2col", "not-negative", "im2col(ones([1, 1, 2, 2]), 1, padding=-1)", "kernel-fits"),
        (
            "unflatten",
            "known-sizes",
            "unflatten([1], 0, [-2, -1, -1])",
            "at-most-one-open, inferable, same-volume",
        ),
    ],
)
def test_what_breaks_beside_it_is_named(name, law, text, others):
    assert wrong(name, law, text) == [f"`{text}` breaks `{law}`, and beside it: {others}"]


def test_a_law_without_an_example_is_reported():
    assert wrong("topk", "positive-k") == ["no example breaks `positive-k`"]


def test_dtypes_break_laws_that_are_about_nothing_else():
    """`cast` has no literals of every dtype; the suite tries all of them."""
    laws = OPERATORS["cast"].laws
    alone = [law for law in laws if wrong("cast", law) == []]
    assert alone == list(laws) != []


def test_a_law_about_dtypes_that_another_one_contains_is_reported():
    operator = OPERATORS["cast"]
    name, law = next(iter(operator.laws.items()))
    laws = {**operator.laws, "same-again": Requirement("same-again", law.that)}
    assert wrong("cast", name, laws=laws) == [f"no example breaks `{name}`"]


def test_sizes_that_only_a_call_knows_break_laws():
    """`unbind` needs a number; `equal` takes sizes to be equal, until a call has others."""
    assert wrong("unbind", "known-size", ("unbind(ones([N]))", {"N": 2})) == []
    assert wrong("unbind", "known-size", ("unbind(ones([N]))", {"N": 0})) == [
        "`unbind(ones([N]))` breaks `known-size`, and beside it: some-parts"
    ]
    equal = OPERATORS["equal"].examples[-1]
    assert equal.sizes == {"N": 2, "M": 1}
    with pytest.raises(DiagnosticError, match=r"equal/same-shape.*\[2\] and \[1\]"):
        call(equal)
    assert call(replace(equal, sizes={"N": 2, "M": 2})).operator == "equal"
