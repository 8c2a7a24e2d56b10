"""GPT-2 in Python and GPT-2 in YAML are one model: one trace, one cache key, one program."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import tripyapi as tp
import tripybuild
from tripybuild.eager.compile.compile import record_function
from tripybuild.model.graph_builder import build
from tripybuild.symbolic.dims import Dim
from tripybuild.targets.cpu import compile_module
from tripybuild.trace import printer
from tripybuild.worker import compiler_process

SPECS = Path(__file__).parents[1] / "specs"
SMALL = {"vocab": 61, "context": 256, "width": 12, "heads": 3, "depth": 2}
MOST = 700  # operations: nvtripy records 4711


@pytest.fixture
def gpt2(monkeypatch):
    """The module beside the specification."""
    monkeypatch.syspath_prepend(SPECS)
    yield importlib.import_module("gpt2_module")
    sys.modules.pop("gpt2_module")


def random(model):
    """The same model with numbers in it."""
    generator = np.random.default_rng(0)
    found = {
        name: tp.Tensor(generator.normal(0, 0.2, tuple(each.shape)).astype(np.float32))
        for name, each in model.state_dict().items()
    }
    model.load_state_dict(found)
    return model


def lines(graph):
    """What is printed below the model's name: a class has another one than a file."""
    return printer.text(graph).splitlines()[1:]


def test_both_give_the_same_trace(gpt2):
    """Of all twelve layers, with sizes that are known when it runs."""
    model = gpt2.GPT2(gpt2.Sizes())
    model.initialize_dummy_parameters()
    python = record_function(model, [model.tokens()])
    yaml = build(SPECS / "gpt2.yaml")

    assert lines(python.graph) == lines(yaml.graph)
    assert printer.canonical(python.graph) == printer.canonical(yaml.graph)
    assert python.ranges == yaml.ranges
    assert len(python.graph.operations) <= MOST
    assert "size" not in {each.operator for each in python.graph.operations}


def test_both_are_compiled_once(gpt2, tmp_path, monkeypatch):
    """They share the cache's entry, and give what the modules give without a compiler."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    keys, compiled = [], []
    entry = compile_module.cache_key
    compile = compiler_process.CompilerProcess.compile
    monkeypatch.setattr(compile_module, "cache_key", lambda m: keys.append(entry(m)) or keys[-1])
    monkeypatch.setattr(
        compiler_process.CompilerProcess,
        "compile",
        lambda *given, **named: compiled.append(given) or compile(*given, **named),
    )
    model = random(gpt2.GPT2(gpt2.Sizes(**SMALL)))
    model.save_weights(tmp_path / "gpt2.safetensors")

    python = tp.compile(model, args=[model.tokens()], target="cpu:xla")
    weights = tmp_path / "gpt2.safetensors"
    yaml = tripybuild.compile(SPECS / "gpt2.yaml", target="cpu:xla", sizes=SMALL, weights=weights)

    assert len(keys) == 2
    assert keys[0] == keys[1]
    assert len(compiled) == 1
    tokens = np.random.default_rng(1).integers(0, SMALL["vocab"], (8, 256)).astype(np.int32)
    found = np.asarray(python(tokens))
    np.testing.assert_array_equal(found, yaml(tokens=tokens)["logits"])
    few = model(tp.Tensor(tokens[:1, :5]))
    np.testing.assert_allclose(found[:1, :5], np.asarray(few), atol=1e-4)


def test_sizes_that_are_known_are_numbers_in_both_modes():
    """While a function is recorded, sizes are `DimensionSize`s, as nvtripy's are."""
    seen = []

    def forward(x):
        split = tp.reshape(tp.exp(x), (x.shape[0], 4, x.shape[1] // 4))
        seen.append(split.shape)
        return split

    rows = tp.NamedDimension("rows", 1, 2, 9)
    graph = record_function(forward, [tp.InputInfo((rows, 8), tp.float32)]).graph
    forward(tp.Tensor(np.ones((3, 8), np.float32)))

    recording, now = seen
    assert all(isinstance(each, tp.DimensionSize) for each in recording)
    assert [each.dimension for each in recording[1:]] == [4, 2]
    assert [int(each) for each in recording[1:]] == [4, 2]
    assert isinstance(recording[0].dimension, Dim)
    assert str(recording[0]) == "rows"
    assert now == (3, 4, 2)
    assert all(isinstance(each, int) for each in now)
    assert [each.operator for each in graph.operations] == ["exp", "reshape"]
