"""Branches, loops and scans: subgraphs that read what is around them."""

import numpy as np
import pytest
from onnx_models import agree, floats, graph_of, operators

import tripyapi as tp
from tripybuild.symbolic.dims import symbol
from tripybuild.types import dtypes

B, S = symbol("B", 1), symbol("S", 1)
PAIR = (dtypes.float32, (B, 2))


def test_a_branch_reads_what_is_outside():
    """Nested ones, too."""

    def choose(p, q, x):
        y = tp.exp(x)
        return tp.cond(p, lambda: tp.cond(q, lambda: y + 1.0, lambda: x), lambda: y * 0.5)

    graph = graph_of(choose, (dtypes.bool, ()), (dtypes.bool, ()), PAIR)
    flags = [(p, q) for p in (True, False) for q in (True, False)]
    agree(graph, *[({"B": 3}, np.array(p), np.array(q), floats(3, 2)) for p, q in flags])


def test_a_branch_may_give_its_operands():
    """In another order, and one of them twice."""

    def swap(p, x, y):
        return tp.cond(p, lambda a, b: [a, b, a], lambda a, b: [b, a, a], [x, y])

    graph = graph_of(swap, (dtypes.bool, ()), PAIR, PAIR)
    agree(graph, *[({"B": 3}, np.array(p), floats(3, 2), -floats(3, 2)) for p in (True, False)])


def test_a_loop_may_swap_its_state_and_have_no_turn():
    def count(n, i, x, y):
        return tp.while_loop(lambda i, *_: i < n, lambda i, a, b: [i + 1, b, a * 1.5], [i, x, y])

    graph = graph_of(count, (dtypes.int32, ()), (dtypes.int32, ()), PAIR, PAIR)
    zero = np.zeros((), np.int32)
    turns = [np.array(n, np.int32) for n in (0, 1, 2, 5)]
    agree(graph, *[({"B": 3}, n, zero, floats(3, 2), -floats(3, 2)) for n in turns])


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_carries_and_stacks(reverse):
    def accumulate(s, rows):
        return tp.scan(lambda c, r: [c + r, c * 2.0, r], [s], [rows], reverse=reverse)

    graph = graph_of(accumulate, (dtypes.float32, (2,)), PAIR)
    cases = [({"B": n}, floats(2), floats(n, 2)) for n in (1, 3)]
    assert operators(agree(graph, *cases)) == ["Scan"]


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_may_have_no_rows(reverse):
    """Then the state is the first one; what depends on the rows alone is computed as it is."""
    rows_of = symbol("R")

    def accumulate(s, rows, more):
        def turn(c, r, m):
            return [c + r, c * 2.0, tp.cast(m, tp.float32) + s]

        return tp.scan(turn, [s], [rows, more], reverse=reverse)

    types = [(dtypes.float32, (B,)), (dtypes.float32, (rows_of, B)), (dtypes.int32, (rows_of, B))]
    graph = graph_of(accumulate, *types)
    cases = [(r, floats(2), floats(r, 2), np.full((r, 2), r, np.int32)) for r in (0, 1, 3)]
    agree(graph, *[({"B": 2, "R": r}, *arrays) for r, *arrays in cases])


def test_sizes_of_inputs_are_computed_outside_of_a_body():
    """Once, and not at each turn."""

    def widen(s, rows):
        def turn(c, _):
            return [c, tp.full([4 * s.shape[0] + 1], 2.0)]

        return tp.scan(turn, [s], [rows])

    graph = graph_of(widen, (dtypes.float32, (S,)), (dtypes.float32, (B, 2)))
    model = agree(graph, ({"B": 3, "S": 2}, floats(2), floats(3, 2)))
    (scan,) = [node for node in model.graph.node if node.op_type == "Scan"]
    inside = [node.op_type for node in scan.attribute[0].g.node]
    assert {"Shape", "Mul", "Add"} <= {*operators(model)}
    assert {"Shape", "Mul", "Add"}.isdisjoint(inside)


def test_what_a_body_finds_stays_in_it():
    """The number of what is not zero, in each turn."""

    def sums(total, rows):
        def turn(c, r):
            found = tp.nonzero(r > 0.0)
            return [c + tp.cast(found.shape[0] * 2, tp.float32)]

        return tp.scan(turn, [total], [rows])

    graph = graph_of(sums, (dtypes.float32, ()), (dtypes.float32, (B, S)))
    agree(graph, ({"B": 3, "S": 4}, np.array(1.0, np.float32), floats(3, 4)))


def test_a_body_decomposes_what_no_operator_says():
    """No softmax of ONNX is one of a whole tensor."""

    def choose(p, x):
        return tp.cond(p, lambda: tp.softmax(x), lambda: tp.softmax(x, 1))

    graph = graph_of(choose, (dtypes.bool, ()), PAIR)
    agree(graph, *[({"B": 3}, np.array(p), floats(3, 2)) for p in (True, False)])


def test_a_body_shares_what_is_computed_around_it():
    """What two branches compute alike is not there for the other one."""

    def choose(p, x):
        y = tp.exp(x)
        return y, tp.cond(p, lambda: tp.exp(x) + tp.cos(x), lambda: tp.cos(x))

    graph = graph_of(choose, (dtypes.bool, ()), PAIR)
    model = agree(graph, *[({"B": 3}, np.array(p), floats(3, 2)) for p in (True, False)])
    (branches,) = [node for node in model.graph.node if node.op_type == "If"]
    inside = [[node.op_type for node in each.g.node] for each in branches.attribute]
    assert sorted(map(sorted, inside)) == [["Add", "Cos"], ["Cos"]]
    assert operators(model).count("Exp") == 1


def test_a_body_copies_what_it_gives_twice_or_did_not_make():
    """All else is given as it is made: a node in each turn costs as much as small arithmetic."""

    def sums(total, rows):
        def turn(c, r):
            more = c + r
            return [more, more, c, r]

        return tp.scan(turn, [total], [rows])

    graph = graph_of(sums, (dtypes.float32, (2,)), (dtypes.float32, (B, 2)))
    model = agree(graph, ({"B": 3}, floats(2), floats(3, 2)))
    (loop,) = [node for node in model.graph.node if node.op_type == "Scan"]
    (body,) = [each.g for each in loop.attribute if each.name == "body"]
    assert sorted(node.op_type for node in body.node) == ["Add", *["Identity"] * 3]
