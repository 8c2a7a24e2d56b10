"""Tests of which argument a law is about."""

import pytest

from tripybuild.process import paths
from tripybuild.schema.snippets.snippet_scope import law_argument
from tripybuild.testing.registry import registry


@pytest.mark.parametrize(
    ("name", "law", "expected"),
    [
        ("convolution", "some-taps", "weight"),  # a name of its shape
        ("convolution", "positive-steps", None),  # three attributes
        ("convolution", "groups-divide", None),  # sizes of two inputs
        ("convolution", "kernel-fits", None),  # `infer`, of several
        ("full", "not-negative", "shape"),
        ("full", "in-range", None),
        ("full", "int8-to-bool", None),  # type variables, of an input and of an attribute
        ("while_loop", "some-state", "state"),
        ("scan", "gives-something", None),  # what regions give beside an input
        ("scatter_nd", "known-length", "index"),
    ],
)
def test_a_law_that_reads_one_argument_is_about_it(name, law, expected):
    operator = registry(paths.registry()).operators[name]
    assert law_argument(operator, operator.laws[law]) == expected
