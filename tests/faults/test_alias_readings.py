"""Calls of other systems that say the same in several ways: read as what they mean, or not read."""

from dataclasses import replace

import numpy as np
import pytest

import tripyapi
from tripybuild.importer.reading.readings import UnreadableError
from tripybuild.process import paths
from tripybuild.reference.execute import execute
from tripybuild.schema.entries import ForeignEntry
from tripybuild.schema.operator.aliases import AliasReader
from tripybuild.testing.cases import of_arguments
from tripybuild.testing.check_counts import has_distribution
from tripybuild.testing.oracles.alias_readings import (
    invert_alias,
    neighbor_problems,
)
from tripybuild.testing.oracles.foreign_calls import ForeignCall
from tripybuild.testing.oracles.oracles import SYSTEMS
from tripybuild.testing.registry import registry
from tripybuild.types.dtypes import from_numpy

OPERATORS = registry(paths.registry()).operators
ROWS = np.float32([[1, -2, 3], [0.5, 4, -6]])
IMAGE = np.linspace(-3, 5, 32, dtype=np.float32).reshape(1, 2, 4, 4)
PLACES = np.linspace(-1, 1, 8, dtype=np.float32).reshape(1, 2, 2, 2)
WEIGHT = np.float32([1, 2, 3])

READ = {
    "sum.dim_IntList": [("sum", {"self": ROWS, "dim": []}), ("sum", {"self": ROWS, "dim": None})],
    "mean.dim": [("mean", {"self": ROWS, "dim": [], "keepdim": True})],
    "amax": [("max", {"self": ROWS}), ("max", {"self": ROWS, "dim": []})],
    "amin": [("min", {"self": ROWS, "dim": [-1]})],
    "var.correction": [("var", {"self": ROWS, "correction": 1})],
    "ReduceSum": [("sum", {"data": ROWS}), ("sum", {"data": ROWS, "axes": [], "keepdims": 0})],
    "ReduceMax": [("max", {"data": ROWS, "keepdims": 1})],
    "Squeeze": [("squeeze", {"data": IMAGE}), ("squeeze", {"data": IMAGE, "axes": [0]})],
    "max_pool2d": [
        ("maxpool", {"self": IMAGE, "kernel_size": [2, 2]}),
        ("maxpool", {"self": IMAGE, "kernel_size": [3, 3], "stride": [1, 1], "padding": [1]}),
        ("maxpool", {"self": IMAGE, "kernel_size": [3, 3], "stride": [2, 2], "ceil_mode": True}),
        ("maxpool", {"self": IMAGE, "kernel_size": [2, 2], "stride": [1, 1], "dilation": [2, 2]}),
    ],
    "avg_pool2d": [
        ("avgpool", {"self": IMAGE, "kernel_size": [2, 2]}),
        ("avgpool", {"self": IMAGE, "kernel_size": [3, 3], "padding": [1], "ceil_mode": True}),
    ],
    "avg_pool1d": [("avgpool", {"self": IMAGE[0], "kernel_size": [2], "ceil_mode": True})],
    "Slice": [("slice", {"data": ROWS[0], "starts": [0], "ends": [-1], "axes": [0], "steps": [1]})],
    # Without an epsilon theirs is the smallest step of the dtype, which small numbers show.
    "rms_norm": [
        ("rmsnorm", {"input": ROWS * 1e-4, "normalized_shape": [3], "weight": WEIGHT}),
        ("rmsnorm", {"input": ROWS * 1e-4, "normalized_shape": [2, 3]}),
    ],
    "layer_norm": [
        ("layernorm", {"input": ROWS, "normalized_shape": [3]}),
        ("layernorm", {"input": ROWS, "normalized_shape": [2, 3], "eps": 0.1}),
        ("layernorm", {"input": ROWS, "normalized_shape": [3], "bias": WEIGHT}),
    ],
    "group_norm": [("groupnorm", {"input": IMAGE, "num_groups": 2})],
    "native_batch_norm": [
        (
            "batchnorm",
            {
                "input": IMAGE,
                "weight": None,
                "bias": None,
                "running_mean": None,
                "running_var": None,
                "training": True,
                "momentum": 0.0,
                "eps": 1e-5,
            },
        )
    ],
    "Expand": [("expand", {"input": ROWS[:1], "shape": [2, 1, 1]})],
}
NOT_READ = {
    "add.Tensor": [("add", {"self": ROWS, "other": ROWS, "alpha": 2})],
    "avg_pool2d": [("avgpool", {"self": IMAGE, "kernel_size": [2, 2], "divisor_override": 3})],
    "ReduceSum": [("sum", {"data": ROWS, "axes": [], "noop_with_empty_axes": 1})],
    "grid_sampler": [
        (
            "grid_sample",
            {
                "input": IMAGE,
                "grid": PLACES,
                "interpolation_mode": -1,
                "padding_mode": 0,
                "align_corners": False,
            },
        )
    ],
}


def spread(table):
    return [(name, own, given) for name, calls in table.items() for own, given in calls]


def reading(name, own, given):
    """Our call that says another system's, and the alias by which it is read."""
    operator = OPERATORS[own]
    alias = next(alias for alias in operator.foreign if alias.signature.name == name)
    like = of_arguments(operator, getattr(tripyapi, own), name, {})
    return alias, invert_alias(operator, alias, given, like)


@pytest.mark.parametrize(("name", "own", "given"), spread(READ))
def test_a_call_is_read_as_what_it_means(name, own, given):
    """The other system and our reference compute the same."""
    alias, case = reading(name, own, given)
    system = SYSTEMS[alias.system]
    for distribution in system.distributions:
        if not has_distribution(distribution):
            pytest.skip(f"{distribution} is not installed")
    wanted = list(execute(case.graph, case.data).values())
    call = ForeignCall(alias.signature, given, alias.result, alias.opset)
    got = system.run(call, [from_numpy(each.dtype) for each in wanted])
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.mark.parametrize(("name", "own", "given"), spread(NOT_READ))
def test_a_call_that_means_something_else_is_not_read(name, own, given):
    """An argument that our operator cannot say is a reason, and not passed over."""
    with pytest.raises(UnreadableError):
        reading(name, own, given)


@pytest.mark.parametrize(
    ("own", "system", "entry", "spelling"),
    [
        ("sum", "aten", "sum.dim_IntList(input, dim, keepdim, dtype=T)", "`dim=[]`"),
        ("max", "aten", "amax(input, dim, keepdim)", "without `dim`"),
        ("sum", "onnx", "ReduceSum(input, dim, keepdims=keepdim)", "`axes=[]`"),
        ("squeeze", "onnx", "Squeeze(input, dims)", "`axes=[]`"),
    ],
)
def test_a_wrong_reading_is_found(own, system, entry, spelling):
    """As these aliases stood, other spellings of their calls were read as something else."""
    for distribution in SYSTEMS[system].distributions:
        if not has_distribution(distribution):
            pytest.skip(f"{distribution} is not installed")
    operator = OPERATORS[own]
    order = [argument.name for argument in operator.arguments()]
    reader = AliasReader(operator.document, order, operator.infer, operator.inputs)
    aliases = tuple(reader.read(system, [ForeignEntry(call=entry)]))
    changed = replace(operator, foreign=aliases)
    axes = {"dims" if own == "squeeze" else "dim": [1]}
    case = of_arguments(changed, getattr(tripyapi, own), "call", {"input": ROWS[:, :1], **axes})
    problems = list(neighbor_problems(changed, system, [case]))
    assert any(f"{entry}, call, {spelling}: read as" in problem for problem in problems)
