"""What lowerings to TensorRT mean: operators compute what their references compute.

No engine runs without a GPU. Here the module of an operator, before and after the engine's passes,
is run by the oracle of the passes, which knows the dialect's operations and no operators.
"""

import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from oracles.tensorrt_numpy import evaluate, widened

from tripybuild.build.engine_model import PIPELINE, dialect_module
from tripybuild.dialects.tensorrt.emission import Profile
from tripybuild.passes import pipeline
from tripybuild.schema.samples import places, spell
from tripybuild.schema.tuples import legal
from tripybuild.semantics.compare import difference, tolerance
from tripybuild.semantics.execute import execute
from tripybuild.suite import Suite
from tripybuild.suite.cases import at_place, sample_case, variations
from tripybuild.suite.facts import refused, static_sizes
from tripybuild.suite.sample import bind
from tripybuild.suite.symbolic import recorded
from tripybuild.types.dims import symbol

ROOT = Path(__file__).resolve().parents[2]
# Operators whose layers the oracle does not know.
BEYOND = ("avgpool", "maxpool", "convolution_transpose")
# Types in which the oracle computes: its floats are of 64 bits and never rounded.
EXACT = frozenset({"float32", "int32", "int64", "bool"})
# What has no value, and is whatever an engine makes of it: the mean of no integers.
NO_VALUE = {("mean", "4 becomes 0", "int32"), ("mean", "4 becomes 0", "int64")}
SUITES = sorted((ROOT / "generated" / "suites").rglob("test_*.py"))
SOURCES = {
    path.stem.removeprefix("test_"): f"ops_registry/{path.parent.name}/{path.stem[5:]}.yaml"
    for path in SUITES
}
KNOWN = sorted(SOURCES.keys() - set(BEYOND))
SYMBOL = "Z"


def suite(name):
    """The suite of an operator."""
    return Suite(SOURCES[name], "tripyapi", __file__)


def exact(operator):
    """One legal tuple of each combination of kinds, in types that the oracle computes in."""
    found = {}
    for types in legal(operator):
        kinds = tuple(each.kind for each in types.values())
        if kinds not in found and {str(each) for each in types.values()} <= EXACT:
            found[kinds] = types
    return found.values()


@contextmanager
def silence():
    """What NumPy says of no elements, and of numbers that are none, is part of the values."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def results(module, data):
    """What a module gives, before and after the engine's passes."""
    found = []
    for passes in ((), PIPELINE):
        pipeline.run(module, passes)
        with silence():
            found.append(evaluate(module, "main", data))
    return found


def differences(found, case, types, module):
    """How what a module gives differs from what the reference gives."""
    data = [widened(np.asarray(case.data[name])) for name in case.graph.inputs]
    with silence():
        wanted = list(execute(case.graph, found.operators, case.data).values())
    within = tolerance(found.operator, tuple(types.values()))
    for given in results(module, data):
        for got, want in zip(given, wanted, strict=True):
            one, other = (np.asarray(each, np.float64) for each in (got, want))
            yield difference(one, one if found.operator.random else other, within)


@pytest.mark.parametrize("name", KNOWN)
def test_it_computes_what_the_reference_computes(name):
    """The declared sample and the calls near it, in each kind of dtype."""
    found = suite(name)
    function = found.function(name)
    for types in exact(found.operator):
        if refused(found.operator, ("tensorrt",), types, bind(found.operator, types)):
            continue
        for case in variations(found.operator, function, types, every=True):
            if case.allowed and (name, case.label, case.types) not in NO_VALUE:
                module = dialect_module(case.graph)
                assert not module.resources
                problems = list(differences(found, case, types, module.module))
                assert not any(problems), (case.label, case.types, problems)


@pytest.mark.parametrize("name", KNOWN)
def test_it_computes_the_same_with_a_dynamic_size(name):
    """One size after another is a symbol, and the data has the sample's."""
    found = suite(name)
    function, operator = found.function(name), found.operator
    types = next(iter(exact(operator)), None)
    if types is None or refused(operator, ("tensorrt",), types, bind(operator, types)):
        return
    case = sample_case(operator, function, types)
    for place in places(operator):
        size = at_place(operator, place)
        if place[0] in static_sizes(operator, "tensorrt") or size == 0:
            continue

        def change(where, old, place=place, size=size):
            return symbol(SYMBOL, 1, size * 2) if where == place else old

        graph = recorded(function, bind(operator, types, change, only_shapes=True))
        if len(graph.inputs) != len(case.graph.inputs):
            continue  # the sample is legal only without some inputs
        sizes = {SYMBOL: size}
        module = dialect_module(graph, [Profile(sizes, sizes, sizes)])
        problems = list(differences(found, case, types, module.module))
        assert not any(problems), (spell(place), problems)


@pytest.mark.parametrize("name", BEYOND)
def test_what_is_left_out_is_not_known(name):
    """What the oracle learns is no longer left out."""
    found = suite(name)
    (types, *_) = exact(found.operator)
    case = sample_case(found.operator, found.function(name), types)
    with pytest.raises(KeyError, match="tensorrt"):
        list(differences(found, case, types, dialect_module(case.graph).module))
