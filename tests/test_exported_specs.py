"""Exported specs in ONNX Runtime, beside the same specs computed by the references."""

import numpy as np
import onnx
import onnx_runs
import pytest
import spec_tests
from onnx_runs import draw_weights, export
from spec_tests import SPECS, Comparison, difference

import tripybuild
from tripybuild.onnx.model import DEFAULT_OPSET, OPSETS
from tripybuild.testing.pairwise import is_full

NAMES = spec_tests.tested()
# Opset 21 is the first one with integers of 4 bits.
NEEDS = {"llama_int4": 21}
LIMIT = 1e-4
FORMS = ("dynamic", "static")
TESTED_OPSETS = (OPSETS[0], DEFAULT_OPSET, OPSETS[-1])


def cases():
    """All of them with `--full`; by default each spec in one form for one opset, in turn."""
    for at, name in enumerate(NAMES):
        opsets = [opset for opset in TESTED_OPSETS if opset >= NEEDS.get(name, 0)]
        own = [f"{name}-{form}-{opset}" for opset in opsets for form in FORMS]
        yield from own if is_full() else [own[at % len(own)]]


@pytest.fixture(scope="module")
def comparisons(tmp_path_factory):
    """Each spec with weights that are drawn when it is asked for."""
    return {
        name: Comparison(SPECS / f"{name}.yaml", tmp_path_factory.mktemp(name)) for name in NAMES
    }


@pytest.fixture(scope="module")
def references():
    """The specs as the references compute them, by name and form."""
    return {}


@pytest.mark.parametrize("case", [*cases()])
def test_outputs_are_those_of_the_references(case, comparisons, references):
    """For two sizes of everything that is dynamic, of a file in which the checker finds nothing."""
    name, form, opset = case.split("-")
    comparison, static = comparisons[name], form == "static"
    if "weights" not in vars(comparison):
        comparison.weights = draw_weights(comparison, comparison.folder / "w.safetensors")
    made = export(comparison, comparison.folder / f"{case}.onnx", opset=int(opset), static=static)
    for path in made.result.models.values():
        onnx.checker.check_model(path, full_check=True)
    if (name, form) not in references:
        references[name, form] = comparison.compile(target="reference", static=static)
    made.like = references[name, form]
    for call in comparison.calls:
        for seed, sizes in enumerate(call.section.shapes[: 1 if static else 2]):
            arrays = call.draw(sizes, seed)
            wanted = call.run(made.like, arrays, sizes)
            assert difference(call.run(made, arrays, sizes), wanted) <= LIMIT, (call.name, sizes)


def test_digits_are_recognized_as_on_the_cpu(tmp_path, shared_cache):
    """With the weights that it has, in the oldest and the newest opset, in batches of all sizes."""
    path = SPECS / "digits.yaml"
    executable = tripybuild.compile(path)
    images = np.random.default_rng(0).random((1024, 1, 8, 8), np.float32)
    wanted = executable(image=images[:32])
    for opset in (OPSETS[0], OPSETS[-1]):
        made = tripybuild.export(path, tmp_path / f"{opset}.onnx", opset=opset)
        session = onnx_runs.session(made.models[""])
        for batch in (1, 32, 1024):
            found = session.run(None, {"image": images[:batch]})
            common = {name: each[:batch] for name, each in wanted.items()}
            both = dict(zip(common, (each[:32] for each in found), strict=True))
            assert difference(both, common) <= LIMIT
