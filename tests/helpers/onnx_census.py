"""How each operator comes to ONNX, and what ONNX Runtime computes of the calls near its sample.

    python tests/helpers/onnx_census.py            # all operators, one line for each
    python tests/helpers/onnx_census.py softmax    # with all that is wrong, of symbols and facts

An operator is `lower` or `alias` where that is how its class is lowered, `decomposed` where it has
neither, `cannot` where no model of its sample is made at any opset that is asked.
"""

import sys
from collections import Counter

import built_in
import pytest

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process import paths
from tripybuild.schema.operator.dtype_combinations import legal_tuples
from tripybuild.testing import Suite
from tripybuild.testing.cases import sample_case
from tripybuild.testing.engines.onnx_answers import (
    COMPUTES,
    FAULTS,
    NEWEST,
    OPSET,
    REFUSED,
    UNSAID,
    ask,
)
from tripybuild.trace.generated_code import lowering_function, operation_class

UNSAID_ANYWHERE = "cannot"


def suite(operator):
    """The suite of an operator of this repository."""
    return Suite(operator.path, "tripyapi", str(paths.CHECKOUT / "generated/docs/support.md"))


def route(operator):
    """How an operator comes to ONNX: `lower`, `alias`, `decomposed` or `cannot`."""
    own = "lower" if "onnx" in operator.lower else "alias"
    if operator.inline or lowering_function(operation_class(operator.name), "onnx") is None:
        own = "decomposed"
    for opset in (OPSET, NEWEST):
        if says(operator, opset):
            return own if opset == OPSET else f"{own} at {NEWEST}"
    return UNSAID_ANYWHERE


def says(operator, opset):
    """Whether there is a model of the sample at an opset."""
    types = legal_tuples(operator)[0]
    of = suite(operator)
    try:
        with of.location_context():
            case = sample_case(operator, of.function(operator.name), types)
            return ask(case.graph, [], opset).level not in (UNSAID, *FAULTS)
    except DiagnosticError:
        return False


def verdicts(of):
    """The verdicts of all calls near the samples of a suite."""
    with of.location_context():
        for case, types in of.reference_calls:
            yield from of.onnx_verdicts(case, types)


def kind(verdict):
    """In which column a verdict is counted."""
    level = verdict.answer.level
    if verdict.problems:
        return f"PROBLEM {level}" if level != COMPUTES else "DIFFERS"
    if level == COMPUTES:
        return "declared to differ" if verdict.silent else "equal"
    return {REFUSED: "refused by fact", UNSAID: "unsaid by fact"}[level]


def problems(of):
    """What is wrong with calls, with sizes that are symbols, and with facts."""
    for verdict in verdicts(of):
        if verdict.problems:
            yield f"{verdict.case.types}, {verdict.label}: {'; '.join(verdict.problems)}"
    for question in (of.check_onnxruntime_symbols, of.check_onnxruntime_facts):
        try:
            question()
        except (AssertionError, pytest.skip.Exception) as error:
            yield f"{question.__name__}: {error}"


def main(names):
    """Write the census of some operators, or of all, to stdout."""
    registry = built_in.declared().operators
    total, routes = Counter(), Counter()
    for name in names or sorted(registry):
        operator = registry[name]
        of = suite(operator)
        found = Counter(map(kind, verdicts(of)))
        way = route(operator) if legal_tuples(operator) else UNSAID_ANYWHERE
        lines = [f"{name:24} {way:14} {dict(found)}"]
        lines += [f"  {problem}" for problem in (problems(of) if names else ())]
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
        total += found
        routes[way] += 1
    sys.stdout.write(f"{dict(routes)} {dict(total)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
