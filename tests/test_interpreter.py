"""StableHLO's interpreter as a third engine: it judges where the two others differ."""

from pathlib import Path

import numpy as np
import pytest

import tripyapi as tp
from tripybuild.compiler.lowering.lower import lower_stablehlo
from tripybuild.process import paths
from tripybuild.reference.compare import difference, tolerance
from tripybuild.reference.execute import execute
from tripybuild.schema.files import ToleranceEntry
from tripybuild.schema.operator.dtype_combinations import legal_tuples
from tripybuild.testing.cases import sample_case
from tripybuild.testing.registry import registry
from tripybuild.testing.sample import bind
from tripybuild.testing.suite import can_interpret, explain_difference
from tripybuild.testing.target_facts import CPU, refuses_call
from tripybuild.types.dtypes import float32, from_numpy
from tripybuild.worker.stablehlo_interpreter import interpret

ROOT = Path(__file__).resolve().parent.parent
ADD = """
func.func @main(%a: tensor<2xTYPE>) -> tensor<2xTYPE> {
  %0 = stablehlo.add %a, %a : tensor<2xTYPE>
  return %0 : tensor<2xTYPE>
}
"""
UNKNOWN = """
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @nobody(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
OPERATORS = registry(paths.registry()).operators


def test_it_computes_and_outlives_what_it_does_not_know():
    """What aborts the interpreter is said, and the next module is run all the same."""
    numbers = np.float32([1.5, -2.0])
    truths = np.array([True, False])
    found = interpret(
        [
            (ADD.replace("TYPE", "f32"), [numbers]),
            (UNKNOWN, [numbers]),
            ("nonsense", []),
            (ADD.replace("TYPE", "i1"), [truths]),
            (ADD.replace("2xTYPE", "0xi32"), [np.zeros(0, np.int32)]),
        ]
    )
    assert found[0][0].tolist() == [3.0, -4.0]
    assert "Unsupported op" in found[1]
    assert "parse" in found[2]
    assert found[3][0].tolist() == [True, False]
    assert found[4][0].shape == (0,)


def test_the_verdict_names_who_is_wrong():
    """Each of the four outcomes has its words."""
    case = sample_case(OPERATORS["relu"], tp.relu, {"T": float32})
    right = list(execute(case.graph, case.data).values())
    wrong = [right[0] + 1]
    words = {
        (0, 0): "agrees with both",
        (1, 0): "agrees with the reference: XLA differs",
        (0, 1): "agrees with XLA",
        (1, 1): "agrees with neither",
    }
    for (xla, reference), said in words.items():
        results = ((right, wrong)[xla], (right, wrong)[reference])
        assert said in explain_difference(
            case.graph, case.data, results, ToleranceEntry(relative=1e-5)
        )


@pytest.mark.full
def test_the_interpreter_computes_what_the_references_compute():
    """The sample of each operator whose dtypes and operations it has; those are most."""
    cases = []
    for operator in OPERATORS.values():
        types = [
            t for t in legal_tuples(operator) if not refuses_call(operator, CPU, bind(operator, t))
        ]
        made = (sample_case(operator, getattr(tp, operator.name), each) for each in types)
        case = next((each for each in made if each.is_legal and can_interpret(each.graph)), None)
        if case is not None and not operator.random:
            cases.append((operator, case))
    found = interpret([(lower_stablehlo(c.graph).text(), list(c.data.values())) for _, c in cases])
    unable = {o.name: f for (o, _), f in zip(cases, found, strict=True) if isinstance(f, str)}
    assert all("nsupported" in said for said in unable.values()), unable
    assert len(unable) < len(cases) / 4, unable
    for (operator, case), results in zip(cases, found, strict=True):
        if operator.name not in unable:
            wanted = execute(case.graph, case.data).values()
            for got, want in zip(results, wanted, strict=True):
                types = [from_numpy(a.dtype) for a in (*case.data.values(), want)]
                problem = difference(got, want, tolerance(operator, tuple(types)))
                assert problem is None, f"{operator.name}: {problem}"
