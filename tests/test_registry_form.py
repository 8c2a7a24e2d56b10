"""The registry as a whole: its size, how short declarations are, how little of it is Python."""

import ast
import re
from functools import partial
from pathlib import Path
from statistics import median

import pytest

import tripyapi
from tripybuild.documents.document import read
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process import paths
from tripybuild.schema.formatting import is_formatted
from tripybuild.schema.operator.dtype_combinations import (
    illegal_tuples,
    legal_tuples,
    mismatched_tuples,
)
from tripybuild.schema.snippets.vocabularies import REFERENCE
from tripybuild.testing import Suite
from tripybuild.testing.registry import registry
from tripybuild.testing.sample import bind
from tripybuild.testing.symbolic import record_sample
from tripybuild.testing.wrong_arguments import illegal_calls
from tripybuild.trace.location import UnknownLocation, at

OPERATORS = registry(paths.registry()).operators.values()
LEAST_OPERATORS = 180
LONGEST_MEDIAN = 34  # lines
LEAST_WITHOUT_HELPER = 0.95  # of the operators


def test_there_are_many_operators():
    """All of nvtripy's, and what TensorRT has beside them."""
    assert len(OPERATORS) >= LEAST_OPERATORS


def test_declarations_are_short():
    """Half of them at most so many lines, with documentation and examples."""
    lines = [len(Path(each.path).read_text(encoding="utf-8").splitlines()) for each in OPERATORS]
    assert median(lines) <= LONGEST_MEDIAN


def test_no_example_fails_as_types_say():
    """The suites ask that of every operator: all tuples of dtypes, and every wrong argument."""
    repeated = []
    for each in OPERATORS:
        failing = [e for e in each.examples if e.fails not in {None, *each.laws}]
        known = set(type_errors(each)) if failing else set()
        suite = Suite(each.path, "tripyapi", __file__)
        repeated += [e.call.text for e in failing if diagnosis(suite.run_example, e) in known]
    assert not repeated


def type_errors(operator):
    """What an operator says of each call that its types refuse."""
    function = getattr(tripyapi, operator.name)
    calls = [
        bound for _, _, bound in illegal_calls(operator, bind(operator, legal_tuples(operator)[0]))
    ]
    calls += [
        bind(operator, types)
        for types, _ in (*illegal_tuples(operator), *mismatched_tuples(operator))
    ]
    yield from (diagnosis(partial(record_sample, function), bound) for bound in calls)


def diagnosis(call, argument):
    """The code and the message of a refused call, whatever the numbers in it."""
    with pytest.raises(DiagnosticError) as caught, at(UnknownLocation()):
        call(argument)
    first = caught.value.diagnostics[0]
    return first.code, re.sub(r"-?\d+(, -?\d+)*", "0", first.message)


def test_declarations_have_one_form():
    """That of `tripybuild fmt`: keys in reading order. Models have it, too."""
    folders = [paths.registry(), paths.CHECKOUT / "specs"]
    documents = [read(path)[0] for folder in folders for path in folder.rglob("*.yaml")]
    wrong = [each.path for each in documents if not is_formatted(each)]
    assert wrong == [], "run `tripybuild fmt`"


def test_few_operators_need_python():
    """A helper that one operator alone uses is that operator's Python."""
    users: dict[str, list[str]] = {}
    for each in OPERATORS:
        for name in called(each.reference.program) if each.reference else ():
            users.setdefault(name, []).append(each.name)
    own = {names[0] for helper, names in users.items() if helper in REFERENCE and len(names) == 1}
    assert len(own) <= (1 - LEAST_WITHOUT_HELPER) * len(OPERATORS), sorted(own)


def test_each_helper_is_used():
    """What no declaration calls is of no use."""
    called_ones = {
        n for each in OPERATORS if each.reference for n in called(each.reference.program)
    }
    assert called_ones >= REFERENCE


def called(program) -> set[str]:
    """The names of functions that a snippet calls, or hands on."""
    values = [*(each.value for each in program.assignments), program.result]
    return {n.id for value in values for n in ast.walk(value) if isinstance(n, ast.Name)}
