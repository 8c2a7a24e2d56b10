"""Generated references compute what the declarations' snippets do, bit by bit."""

import numpy as np
import pytest

import tripyapi as tp
from tripybuild.eager.evaluate.interpret import compute
from tripybuild.process import paths
from tripybuild.reference.execute import execute
from tripybuild.schema.operator.dtype_combinations import legal_tuples
from tripybuild.testing.cases import sample_case
from tripybuild.testing.registry import registry
from tripybuild.testing.sample import bind
from tripybuild.testing.target_facts import refuses_call
from tripybuild.trace.constants import constant, fold_to_constant
from tripybuild.trace.graph import operations_between
from tripybuild.types.dtypes import from_numpy

OPERATORS = registry(paths.registry()).operators
MOST = 12  # tuples of one operator: a shared reference reads dtypes in few ways


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_it_computes_what_the_snippet_does(name):
    """On the sample of each legal tuple of dtypes."""
    operator = OPERATORS[name]
    if operator.random:
        return
    for types in list(legal_tuples(operator))[:MOST]:
        if refuses_call(operator, ("reference",), bind(operator, types)):
            continue
        case = sample_case(operator, getattr(tp, name), types)
        wanted = list(execute(case.graph, OPERATORS, case.data).values())
        for key, value in case.graph.inputs.items():
            array = case.data[key]
            value.producer = constant(array, from_numpy(array.dtype)).producer
            fold_to_constant(value, array)
            object.__setattr__(value.producer, "serial", -1)  # it was there before
        found = compute(
            operations_between(frozenset(), case.graph.outputs.values()),
            list(case.graph.outputs.values()),
        )
        for got, want in zip(found, wanted, strict=True):
            assert got.dtype == want.dtype
            assert got.shape == want.shape
            np.testing.assert_array_equal(
                np.ascontiguousarray(got).view(np.uint8), np.ascontiguousarray(want).view(np.uint8)
            )
