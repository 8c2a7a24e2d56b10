"""What calls cost, beside numbers that were worked out by hand."""

from pathlib import Path

import pytest

import tripyapi as tp
from tripybuild.process import paths
from tripybuild.reference.cost import Cost, cost, total
from tripybuild.schema.operator.dtype_combinations import legal_tuples
from tripybuild.symbolic.dims import symbol
from tripybuild.testing.cases import sample_case
from tripybuild.testing.registry import registry
from tripybuild.trace.graph import Graph
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import BY_NAME

ROOT = Path(__file__).resolve().parents[3]
B = symbol("B", 1, 64)


@pytest.fixture(scope="module")
def operators():
    """The registry's declarations."""
    return registry(paths.registry()).operators


def given(*shape, dtype="float32"):
    """A tensor without data."""
    return tp.Tensor.of(Value(TensorType(BY_NAME[dtype], shape)))


def squared(x):
    """A tensor with itself."""
    return x * x


def summed(total, row):
    """A turn of a loop: three products, and three sums."""
    new = total + row * row
    return [new, new]


# (call, operations, bytes)
HAND_WORKED = {
    # 2 * 3 * 5 results of 4 products, each multiplied and added
    "matmul": (lambda: given(2, 3, 4) @ given(4, 5), 2 * 2 * 3 * 5 * 4, 4 * (24 + 20 + 30)),
    # 2 * 6 * 7 * 7 results; each sees 2 of the 4 channels through 3 * 2 taps
    "convolution": (
        lambda: tp.convolution(given(2, 4, 9, 8), given(6, 2, 3, 2), given(6), groups=2),
        2 * (2 * 6 * 7 * 7) * (2 * 3 * 2),
        4 * (2 * 4 * 9 * 8 + 6 * 2 * 3 * 2 + 6 + 2 * 6 * 7 * 7),
    ),
    # each of 12 sums of 3 * 3 values
    "avgpool": (lambda: tp.avgpool(given(1, 3, 4, 4), [3, 3]), 12 * 9, 4 * (48 + 12)),
    # 2 * 4 * 5 results of 3 products, and a scalar of 6 products of three factors
    "einsum": (
        lambda: tp.einsum("bij,jk->bik", [given(2, 4, 3), given(3, 5)]),
        2 * (2 * 4 * 5) * 3,
        4 * (24 + 15 + 40),
    ),
    "einsum of three": (lambda: tp.einsum("a,b,c->", [given(3), given(1), given(2)]), 18, 4 * 7),
    "a sum": (lambda: tp.sum(given(3, 4), 1), 12, 4 * (12 + 3)),
    "one for each element": (lambda: given(3, 1) + given(4), 12, 4 * (3 + 4 + 12)),
    "float16": (lambda: tp.exp(given(3, 4, dtype="float16")), 12, 2 * 24),
    "a movement": (lambda: tp.permute(given(3, 4), [1, 0]), 0, 4 * 24),
    "a movement of bytes": (lambda: tp.reshape(given(3, 4), [12]), 0, 0),
    "a tensor twice": (lambda: squared(given(5)), 5, 4 * 10),
    "no arithmetic": (lambda: tp.permute(given(3, 4), [1, 0]), 0, 4 * 24),
    "a view": (lambda: tp.reshape(given(3, 4), [12]), 0, 0),
    # 2 rows of 8 values of the 1000, written again, and two positions
    "rows of a table": (
        lambda: tp.gather(given(1000, 8), 0, given(2, dtype="int64")), 0, 4 * 16 * 2 + 2 * 8,
    ),
    # five values of four bits fill three bytes; two slices of them are read and written
    "half bytes": (lambda: tp.slice(given(9, dtype="int4"), [1], [5]), 0, 5),
    # max: 12, minus: 12, exp: 12, sum: 12, divided: 12
    "a composition": (lambda: tp.softmax(given(3, 4), 1), 60, 4 * 24),
    # 5 turns: each reads a row once for the product, which it writes, and both for the sum
    "a loop": (
        lambda: tp.scan(summed, [given(3)], [given(5, 3)])[1],
        5 * (3 + 3),
        4 * (3 + 15 + 3 + 15) + 5 * 4 * (3 + 3 + 3 + 3 + 3),
    ),
    # one turn: a comparison of one element, and a product of it with itself
    "a loop that data ends": (
        lambda: tp.while_loop(lambda s: s < 9.0, lambda s: s * s, [given()]), 2, 4 * 2 + 9 + 8,
    ),
    # of a product and of two, two; each reads a row, or two, and writes one
    "a branch": (
        lambda: tp.cond(given(dtype="bool"), squared, lambda x: x * x * x, [given(6)]),
        12, 1 + 4 * (6 + 6) + 4 * (6 + 6 + 6 + 6 + 6),
    ),
    "symbols": (lambda: given(B, 3) @ given(3, 5), B * 30, B * 32 + 60),
}  # fmt: skip


@pytest.mark.parametrize("name", HAND_WORKED)
def test_cost_is_what_a_hand_works_out(name):
    """Operations and bytes of the operation that gives the result."""
    call, flops, moved = HAND_WORKED[name]
    found = cost(call().value.producer)
    assert found == Cost(flops, moved)


def test_the_costs_of_a_graph_add_up():
    """Each operation counts, with symbols until numbers are put in."""
    x = given(B, 8)
    y = tp.relu(x @ given(8, 8)) + 1.0
    graph = Graph("layer", {"x": x.value}, {}, {"y": y.value})
    found = total(graph)
    assert found.flops == 2 * B * 64 + B * 8 + B * 8
    numbers = total(graph.substitute({"B": 4}))
    assert numbers.flops == 4 * (128 + 16)


def test_every_declared_cost_can_be_computed(operators):
    """Each sample's operations have a cost that is a number, and not below zero."""
    declared = [o for o in operators.values() if o.cost and not o.inline]
    assert len(declared) > 20
    for operator in declared:
        case = sample_case(operator, getattr(tp, operator.name), legal_tuples(operator)[0])
        found = [cost(each) for each in case.graph.operations]
        assert all(each.flops >= 0 and each.bytes >= 0 for each in found), operator.name
