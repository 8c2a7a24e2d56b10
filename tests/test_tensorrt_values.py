"""What the lowerings to TensorRT compute: their modules, run in NumPy, equal the references.

No GPU is here to run an engine. That TensorRT builds it is proved by the suites; that it is the
right engine is proved here, by an evaluator of the dialect that knows nothing of the declarations.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from oracles.operators import computed

from tripybuild.compiler import session
from tripybuild.model import graph_builder
from tripybuild.reference.compare import difference, tolerance
from tripybuild.reference.execute import execute
from tripybuild.schema.operator.dtype_combinations import legal_tuples
from tripybuild.schema.operator.samples import size_places
from tripybuild.symbolic.dims import symbol
from tripybuild.targets.tensorrt import model as engine_model
from tripybuild.tensorrt.passes import pipeline
from tripybuild.testing import Suite
from tripybuild.testing.cases import sample_case, variations
from tripybuild.testing.sample import bind
from tripybuild.testing.symbolic import record_sample
from tripybuild.testing.target_facts import is_static, refuses_call
from tripybuild.types.dtypes import from_numpy
from tripybuild.weights.checkpoint import check_weights

# What has no module, or nothing to be compared with.
NOWHERE = ("tensorrt", "reference")
ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "ops_registry").rglob("*.yaml")
    if path.parent.name not in {"families", "foreign", "modules", "ops_registry"}
)


@pytest.mark.parametrize("source", SOURCES)
def test_lowering_computes_the_reference(source):
    """On the sample in each tuple that suites ask, and for the first on the calls near it."""
    suite = Suite(source, "tripyapi", str(ROOT / "generated" / "suites" / "test.py"))
    operator = suite.operator
    if operator.random:
        return  # two generators do not give the same numbers
    function = suite.function(operator.name)
    problems = []
    for at, types in enumerate(suite.engine_tuples):
        if refuses_call(operator, NOWHERE, bind(operator, types)):
            continue
        cases = variations(operator, function, types, every=False) if at == 0 else []
        for case in [*cases] or [sample_case(operator, function, types)]:
            if case.is_legal:
                problems += wrong(case, suite.operators, operator, types)
    assert not problems, "\n".join(problems)


def wrong(case, operators, operator, types):
    """Where a case's module and its reference differ."""
    wanted = list(execute(case.graph, case.data).values())
    for passes in (engine_model.PIPELINE, pipeline.PIPELINE):
        with np.errstate(all="ignore"):
            found = computed(case.graph, case.data, passes=passes)
        yield from differences(found, wanted, case, operator, types)


def differences(found, wanted, case, operator, types):
    """Where two lists of arrays are not the same within the operator's tolerance."""
    for got, want in zip(found, wanted, strict=True):
        within = tolerance(operator, (*types.values(), from_numpy(want.dtype)))
        narrowed = got.astype(want.dtype) if got.dtype != want.dtype else got
        problem = difference(narrowed, want, within)
        if problem is not None:
            yield f"{case.types} {case.label}: {problem}"


@pytest.mark.parametrize("source", SOURCES)
def test_lowering_with_symbols_computes_the_reference(source):
    """With each size of the sample dynamic in turn: sizes as placeholders and as tensors."""
    suite = Suite(source, "tripyapi", str(ROOT / "generated" / "suites" / "test.py"))
    operator, function = suite.operator, suite.function(suite.operator.name)
    types = legal_tuples(operator)[0]
    if operator.random or refuses_call(operator, NOWHERE, bind(operator, types)):
        return
    case = sample_case(operator, function, types)
    wanted = list(execute(case.graph, case.data).values())
    within = tolerance(operator, tuple(types.values()))
    problems = []
    for place in size_places(operator):
        if is_static(operator, "tensorrt", place, bind(operator, types)):
            continue

        def change(where, old, place=place):
            return symbol("Z", 1, None) if where == place else old

        bound = bind(operator, types, change, only_shapes=True)
        # An index is a tuple: in Python, a list of them has two meanings.
        lists = {n: tuple(v) for n, v in bound.attributes.items() if isinstance(v, list)}
        bound = replace(bound, attributes={**bound.attributes, **lists})
        graph = record_sample(function, bound, constants=case.arrays)
        data = dict(zip(graph.inputs, case.data.values(), strict=True))
        for got, want in zip(computed(graph, data), wanted, strict=True):
            problem = difference(got.astype(want.dtype), want, within)
            if problem is not None:
                problems.append(f"{place}: {problem}")
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("name", ["digits", "minilm"])
def test_models_compute_what_the_cpu_does(name):
    """A whole model: its module in NumPy beside XLA."""
    path = ROOT / "specs" / f"{name}.yaml"
    sizes = {"digits": {"B": 3}, "minilm": {"B": 2, "S": 5}}[name]
    built = graph_builder.build(path, sizes)
    generator = np.random.default_rng(1)
    data = {
        each: np.asarray(
            generator.standard_normal(value.shape)
            if value.dtype.kind == "float"
            else generator.integers(1, 2 if each == "mask" else 1000, value.shape)
        ).astype(value.dtype.numpy)
        for each, value in built.graph.inputs.items()
    }
    weights = check_weights(built)(built.graph.weights)
    found = computed(built.graph, {**weights, **data})
    wanted = session.compile_spec(path, sizes=sizes)(**data)
    for got, want in zip(found, wanted.values(), strict=True):
        np.testing.assert_allclose(got, want, atol=2e-5, rtol=1e-4)
