"""A server: threads that call one executable with sizes of their own, from the first call on."""

import io
import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from openvino_models import require_openvino
from safetensors.numpy import save_file
from spec_tests import SPECS, Comparison

import tripybuild
from tripybuild.compiler import executable
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.errors.logger import logger

THREADS = 8
COMBINATIONS = [(batch, length) for batch in (1, 2, 4, 8) for length in (3, 8, 17, 33, 64)]
FEW = [(1, 3), (2, 8)]  # of which XLA has a program each
TOO_LARGE = [(1, 65), (65, 3)]
COMPILED = ("to ONNX", "load into ONNX Runtime", "compile by")


def request(batch, length):
    """Words, of which the last are padding."""
    draw = np.random.default_rng([batch, length])
    seen = np.arange(length) < draw.integers(1, length + 1, (batch, 1))
    tokens = draw.integers(0, 99, (batch, length), np.int32)
    return {"tokens": tokens, "mask": seen.astype(np.int32)}


@pytest.fixture(scope="module")
def minilm(tmp_path_factory):
    """Compiles the small variant, with random weights, into a file."""
    comparison = Comparison(SPECS / "minilm.yaml", tmp_path_factory.mktemp("server"))
    draw = np.random.default_rng(0)
    arrays = {
        name: draw.normal(size=value.shape).astype(np.float32)
        for name, value in comparison.built.declared_weights.items()
    }
    weights = comparison.folder / "w.safetensors"
    save_file(arrays, weights)

    def compile(target, shapes=()):
        made = tripybuild.compile(
            comparison.path,
            target=target,
            sizes=comparison.section.sizes,
            weights=weights,
            shapes=[{"B": batch, "S": length} for batch, length in shapes],
        )
        name = comparison.folder / "made.tpb"
        made.save(name)
        return name

    return compile


@pytest.fixture(scope="module")
def wanted(minilm):
    """What the references give."""
    made = tripybuild.load(minilm("reference"))
    return {each: made(**request(*each))["embedding"] for each in COMBINATIONS}


def serve(made, combinations, threads=THREADS):
    """Let each thread ask for all combinations in an order of its own; between them it errs.

    Returns:
        What was answered for each combination, and what was said to each error.
    """
    together = threading.Barrier(threads)

    def work(seed):
        draw = random.Random(seed)
        answers, refusals = [], []
        together.wait()
        for each in draw.sample(combinations, len(combinations)):
            answers.append((each, made(**request(*each))["embedding"]))
            with pytest.raises(DiagnosticError) as raised:
                made(**request(*draw.choice(TOO_LARGE)))
            refusals += raised.value.diagnostics
        return answers, refusals

    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(work, range(threads)))
    return [each for answers, _ in found for each in answers], [d for _, r in found for d in r]


@pytest.fixture
def _switching():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def said(monkeypatch):
    """What the logger says of times, in which each compilation is a line."""
    stream = io.StringIO()
    monkeypatch.setattr(logger, "_output", stream)
    with logger.use_verbosity("timing"):
        yield stream


def compilations(stream):
    """What was compiled, in order."""
    shown = [line.rpartition(": ")[0] for line in stream.getvalue().splitlines()]
    return [each for each in shown if any(words in each for words in COMPILED)]


def check(answers, wanted):
    """Compare what threads got."""
    for each, embedding in answers:
        np.testing.assert_allclose(embedding, wanted[each], rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("_switching")
@pytest.mark.parametrize(
    ("engine", "loads"),
    [
        ("cpu:onnxruntime,threads=1", ["lower minilm to ONNX", "load into ONNX Runtime"]),
        ("cpu:openvino,threads=1", ["lower minilm to ONNX", "compile by OpenVINO"]),
        ("cpu:xla", []),
    ],
)
def test_threads_get_what_the_references_give(minilm, wanted, said, engine, loads):
    """What serves all sizes is loaded once, and nothing is compiled at a call."""
    if "openvino" in engine:
        require_openvino()
    combinations = COMBINATIONS if loads else FEW
    file = minilm(engine, () if loads else FEW)
    assert compilations(said)
    said.truncate(0)
    made = tripybuild.load(file)
    answers, refusals = serve(made, combinations)
    assert compilations(said) == loads  # at the load, or by the first call
    check(answers, wanted)
    assert len(answers) == len(refusals) == THREADS * len(combinations)
    assert {each.code for each in refusals} == {"size-out-of-range"}


@pytest.mark.usefixtures("_switching")
def test_threads_may_ask_for_more_sizes_than_are_kept(minilm, wanted, monkeypatch):
    """What one thread calls is forgotten by another."""
    monkeypatch.setattr(executable, "MOST_SIZES", 3)
    made = tripybuild.load(minilm("cpu:onnxruntime,threads=1"))
    for _ in range(2):
        answers, _ = serve(made, COMBINATIONS[:10])
        check(answers, wanted)
    assert len(made.entry()._by_sizes) == 3
