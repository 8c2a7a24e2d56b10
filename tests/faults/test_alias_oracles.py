"""Aliases that other systems judge: what was wrong with some is found, and stays right."""

from dataclasses import replace

import numpy as np
import pytest

import tripyapi
from tripybuild.process import paths
from tripybuild.reference.execute import execute
from tripybuild.schema.entries import DifferenceEntry, ForeignEntry
from tripybuild.schema.foreign import signatures
from tripybuild.schema.operator.aliases import AliasReader
from tripybuild.testing.cases import of_arguments
from tripybuild.testing.check_counts import has_distribution
from tripybuild.testing.oracles.foreign_calls import ForeignCall, UndefinedCall
from tripybuild.testing.oracles.onnx_runtime import model
from tripybuild.testing.oracles.oracles import SYSTEMS, CaseResults, oracle_report
from tripybuild.testing.registry import registry
from tripybuild.types.dtypes import bfloat16, float32, int64

OPERATORS = registry(paths.registry()).operators
ROW = np.float32([[1, 3, 5]])
COLUMN = np.float32([[1], [2], [3]])
LINES = np.arange(12, dtype=np.float32).reshape(3, 4)
HEADS = np.linspace(-1, 1, 96, dtype=np.float32).reshape(1, 2, 6, 8)
ANGLES = np.linspace(0, 3, 18, dtype=np.float32).reshape(1, 6, 3)
WEIGHTS = np.linspace(1, 2, 6, dtype=np.float32)
# How some aliases said it before.
SCALAR = ForeignEntry(
    call="ConstantOfShape(shape, value=tensor(value, dtype))",
    reads={"value": "value", "dtype": "dtype_of(value)"},
)
BY_SCALES = 'Resize(input, scales=scales, mode="linear")'
CHANNELS = np.linspace(-1, 1, 48, dtype=np.float32).reshape(2, 6, 4)


def judged(name, system, *entries, **arguments):
    """What a system says of one call of ours, by its aliases or by other ones."""
    for distribution in SYSTEMS[system].distributions:
        if not has_distribution(distribution):
            pytest.skip(f"{distribution} is not installed")
    operator = OPERATORS[name]
    if entries:
        reader = AliasReader(operator.document, list(arguments), operator.infer, operator.inputs)
        operator = replace(operator, foreign=tuple(reader.read(system, list(entries))))
        assert not reader.found
    case = of_arguments(operator, getattr(tripyapi, name), "call", arguments)
    results = list(execute(case.graph, case.data).values())
    return oracle_report(operator, system, [CaseResults(case, "call", results, results)])


@pytest.mark.parametrize(
    ("name", "arguments", "before"),
    [
        ("expand", {"input": COLUMN, "sizes": [2, -1, 4]}, "Expand"),
        ("topk", {"input": LINES, "k": 2, "dim": 1}, "TopK(input, k, axis=dim)"),
        ("full", {"shape": [2], "value": 1.5, "dtype": float32}, SCALAR),
        ("resize", {"input": ROW, "scales": [1.0, 1.5]}, BY_SCALES),
        (
            "rotary_embedding",
            {"input": HEADS, "cosine": np.cos(ANGLES), "sine": np.sin(ANGLES)},
            "RotaryEmbedding(input, cosine, sine)",
        ),
        (
            "groupnorm",
            {"input": CHANNELS, "weight": WEIGHTS, "bias": -WEIGHTS, "num_groups": 3},
            "GroupNormalization(input, weight, bias, epsilon=eps, num_groups=num_groups)",
        ),
    ],
)  # fmt: skip
def test_onnx_computes_what_the_alias_says(name, arguments, before):
    """The alias of the registry is right, and the one that stood there is found to be wrong."""
    now = judged(name, "onnx", **arguments)
    assert now.problems == []
    assert sum(now.asked.values()) == 1
    assert judged(name, "onnx", before, **arguments).problems


def test_another_operator_is_found_out():
    """An alias that means something else fails with the first element that differs."""
    (problem, *_) = judged("relu", "onnx", "Abs", input=np.float32([1, -2])).problems
    assert (
        problem
        == "Abs, call: ONNX and the reference: got 2.0, want 0.0 at [1]; 1 of 2 elements differ"
    )


def test_a_difference_must_be_seen():
    """A declared difference excuses a difference, and only where there is one."""
    said = {"odd": DifferenceEntry(when=True, why="It is another operator.")}
    values = np.float32([1, -2])
    assert not judged("relu", "onnx", ForeignEntry(call="Abs", differs=said), input=values).problems
    found = judged("relu", "onnx", ForeignEntry(call="Relu", differs=said), input=values)
    assert found.problems == ["Relu: does not differ as `odd` says"]


def test_what_nothing_runs_is_no_answer():
    """A call that ONNX does not declare is not asked, and an alias of only such calls is told."""
    found = judged("add", "onnx", lhs=np.array([True]), rhs=np.array([False]))
    assert not found.problems
    assert not found.asked
    assert list(found.unrun_aliases()) == [
        "Add: nothing here runs it: ONNX has no Add with `A` of bool in opset 26"
    ]


def opset(name, *arrays, **attributes):
    """The opset in which a call is written."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    signature = signatures("onnx")[name]
    given = dict(zip(signature.by_position, arrays, strict=False)) | attributes
    made = model(ForeignCall(signature, given), [float32])
    return onnx.load_from_string(made.text).opset_import[0].version


def test_the_lowest_opset_is_taken():
    """The first opset from 20 on that has the operator in this form for these dtypes."""
    narrow = LINES.astype(bfloat16.numpy)
    assert opset("Relu", LINES) == 20
    assert opset("GroupNormalization", LINES, LINES[0], LINES[0], num_groups=1) == 20
    assert opset("RMSNormalization", LINES, LINES[0]) == 23
    assert opset("Swish", LINES) == 24
    assert opset("TopK", LINES, [2]) == 20
    assert opset("TopK", narrow, [2]) == 24
    with pytest.raises(UndefinedCall, match="no Tanh with `input` of int64"):
        opset("Tanh", LINES.astype(np.int64))
    assert opset("Cast", LINES, to=int64) == 20
