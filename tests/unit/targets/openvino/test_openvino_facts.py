"""Facts about OpenVINO: each is refused in words, and seen again: none outlives its cause."""

import faulthandler
import os
import signal
import sys
import traceback

import built_in
import numpy as np
import pytest
from openvino_models import constant, model, node, program, refusals, require_openvino, run, value

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.onnx.model import GraphDef
from tripybuild.onnx.table import operator_names
from tripybuild.targets.openvino import exactness
from tripybuild.targets.openvino.bounds import ValueBounds
from tripybuild.targets.openvino.integer_kernels import KERNELS
from tripybuild.targets.openvino.refusals import REASONS
from tripybuild.types.dtypes import (
    bfloat16,
    boolean,
    float8,
    float16,
    float32,
    float64,
    int8,
    int32,
    int64,
    uint8,
)

SEEN = 2**24
TOP = 2**31 - 1


@pytest.fixture
def unchecked(monkeypatch):
    """Let OpenVINO compute what it is not asked otherwise."""
    require_openvino()
    monkeypatch.setattr(exactness.Exactness, "refusals", lambda _: [])


@pytest.fixture
def as_it_is(monkeypatch):
    """Give OpenVINO models without other nodes for what it computes wrongly."""
    require_openvino()
    monkeypatch.setattr("tripybuild.targets.openvino.model.work_around", lambda made, _: made)


def binary(operator, kind, result=None, **attributes):
    """`z = operator(x, y)`."""
    nodes = [node(operator, "x y", "z", **attributes)]
    given = [value("x", kind, "N"), value("y", kind, "N")]
    return model(nodes, given, [value("z", result or kind, "N")])


def unary(operator, kind, result=None, extra=(), **attributes):
    """`z = operator(x)`, with constants behind it."""
    names = " ".join(["x", *(each.name for each in extra)])
    nodes = [node(operator, names, "z", **attributes)]
    return model(nodes, [value("x", kind, "N")], [value("z", result or kind, "M")], extra)


def numbers(kind, *several):
    """An array of a dtype."""
    return np.array(several).astype(kind.numpy)


# What is asked, the fact, the arguments, what ONNX says, and what OpenVINO gives.
WRONG = {
    "int64 sum": (
        binary("Add", int64),
        "int64 in 32 bits",
        (numbers(int64, TOP), numbers(int64, 1)),
        [TOP + 1],
        [-TOP - 1],
    ),
    "int64 product": (
        binary("Mul", int64),
        "int64 in 32 bits",
        (numbers(int64, 2**20), numbers(int64, 2**20)),
        [2**40],
        [0],
    ),
    "int32 equality": (
        binary("Equal", int32, boolean),
        "of integers in float32",
        (numbers(int32, SEEN), numbers(int32, SEEN + 1)),
        [False],
        [True],
    ),
    "int32 order": (
        binary("Less", int32, boolean),
        "of integers in float32",
        (numbers(int32, SEEN), numbers(int32, SEEN + 1)),
        [True],
        [False],
    ),
    "int32 quotient": (
        binary("Div", int32),
        "of integers in float32",
        (numbers(int32, TOP), numbers(int32, 7)),
        [TOP // 7],
        None,
    ),
    "int32 sum of elements": (
        unary("ReduceSum", int32, keepdims=0),
        "of integers in float32",
        (numbers(int32, SEEN, 1, 1, 1),),
        [SEEN + 3],
        None,
    ),
    "int32 maximum of elements": (
        unary("ReduceMax", int32, keepdims=0),
        "of integers in float32",
        (numbers(int32, SEEN, SEEN + 1),),
        [SEEN + 1],
        [SEEN],
    ),
    "int32 padding": (
        unary("Pad", int32, extra=[constant("p", [1, 0]), constant("v", np.int32(SEEN + 1))]),
        "of integers in float32",
        (numbers(int32, 5),),
        [SEEN + 1, 5],
        [SEEN, 5],
    ),
    "int8 sum": (
        binary("Add", int8),
        "with saturation",
        (numbers(int8, 100), numbers(int8, 100)),
        [-56],
        [127],
    ),
    "uint8 difference": (
        binary("Sub", uint8),
        "with saturation",
        (numbers(uint8, 1), numbers(uint8, 2)),
        [255],
        [0],
    ),
    "int8 quotient": (
        binary("Div", int8),
        "to the nearest integer",
        (numbers(int8, 7), numbers(int8, 4)),
        [1],
        [2],
    ),
    "float64": (
        binary("Add", float64),
        "float64 in float32",
        (numbers(float64, 1), numbers(float64, 2**-40)),
        [1 + 2**-40],
        [1],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_numbers_are_refused(case):
    """The message says why."""
    made, words, *_ = WRONG[case]
    (message,) = refusals(made)
    assert words in message


@pytest.mark.parametrize("case", WRONG)
def test_refused_numbers_are_wrong(case, unchecked):
    """OpenVINO still gives other numbers than ONNX; where it no longer does, nothing is refused."""
    made, _, given, wanted, seen = WRONG[case]
    (found,) = run(made, *given)
    assert found.reshape(-1).tolist() != wanted
    if seen is not None:
        assert found.reshape(-1).tolist() == seen


EXACT = ("Add", "Sub", "Mul", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Max", "Min")


@pytest.mark.parametrize("operator", EXACT)
def test_int32_is_exact_where_it_is_taken(operator):
    """In integers, with the overflow of 32 bits."""
    require_openvino()
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-TOP - 1, TOP, 64, np.int64).astype(np.int32) for _ in range(2))
    names = {"Sub": "subtract", "Mul": "multiply", "Max": "maximum", "Min": "minimum"}
    numpy = names.get(operator, operator.lower().replace("bitwise", "bitwise_"))
    (found,) = run(binary(operator, int32), x, y)
    np.testing.assert_array_equal(found, getattr(np, numpy)(x, y))


def test_comparison_with_a_small_number_is_exact():
    """Whatever is on the other side: float32 keeps the order of a small number and any other."""
    nodes = [node("Equal", "x c", "y"), node("Less", "x c", "z")]
    made = model(
        nodes,
        [value("x", int32, "N")],
        [value("y", boolean, "N"), value("z", boolean, "N")],
        [constant("c", np.int32(SEEN - 1))],
    )
    assert refusals(made) == []
    require_openvino()
    x = np.array([-TOP - 1, -SEEN, 0, SEEN - 2, SEEN - 1, SEEN, SEEN + 1, TOP], np.int32)
    equal, less = run(made, x)
    np.testing.assert_array_equal(equal, x == SEEN - 1)
    np.testing.assert_array_equal(less, x < SEEN - 1)


def test_indices_and_sizes_are_taken():
    """int64 that are places in a tensor, or sizes, are small."""
    nodes = [
        node("Shape", "x", "s"),
        node("Mul", "s s", "t"),
        node("Gather", "x i", "a"),
        node("ReduceMax", "x", "b", keepdims=0),
        node("ArgMax", "x", "k", axis=0),
        node("Sub", "k one", "l"),
        node("Less", "k l", "m"),
        node("Slice", "x zero end zero", "c"),
    ]
    ends = [constant("one", [1]), constant("zero", [0]), constant("end", [2**63 - 1])]
    results = [value(n, k, "K") for n, k in (("t", int64), ("a", float32), ("m", boolean))]
    results.append(value("c", float32, "L"))
    made = model(nodes, [value("x", float32, "N"), value("i", int64, "K")], results, ends)
    assert refusals(made) == []
    require_openvino()
    x = np.array([3, 1, 2], np.float32)
    t, a, m, c = run(made, x, np.array([2, 0]))
    assert (t.tolist(), a.tolist(), m.tolist(), c.tolist()) == ([9], [2, 3], [False], [3, 1, 2])


def test_ranges_bound_sizes():
    """A quotient of sizes is exact where the ranges say that they are small."""
    nodes = [
        node("Shape", "x", "s"),
        node("Mul", "s c", "t"),
        node("Div", "t s", "u"),
    ]
    made = model(nodes, [value("x", float32, "N")], [value("u", int64, 1)], [constant("c", [1000])])
    (message,) = refusals(made)
    assert "`Div` of int64" in message
    assert refusals(made, ranges={"N": ValueBounds(1, 512)}) == []


def test_every_problem_is_said_at_once():
    """With the place of each operation, and inside of loops, too."""
    body = GraphDef(
        "body",
        (node("Identity", "more", "still"), node("Mul", "state state", "squared")),
        (value("turn", int64), value("more", boolean), value("state", int64, 1)),
        (value("still", boolean), value("squared", int64, 1)),
    )
    nodes = [
        node("Add", "x x", "a"),
        node("Loop", "n - a", "bb", body=body),
        node("Equal", "bb x", "ccc"),
    ]
    made = model(
        nodes,
        [value("x", int64, 1), value("n", int64)],
        [value("ccc", boolean, 1)],
    )
    found = refusals(made)
    assert len(found) == 3
    assert "`Add`" in found[0]
    assert "`Mul`" in found[1]
    assert "`Equal`" in found[2]


def swapped():
    """A loop that exchanges two states."""
    body = GraphDef(
        "body",
        (node("Identity", "more", "still"),),
        tuple(value(*e) for e in (("turn", int64), ("more", boolean))) + STATES,
        (value("still", boolean), STATES[1], STATES[0]),
    )
    nodes = [node("Loop", "n - x y", "a b", body=body)]
    given = [value("n", int64), value("x", float32, 1), value("y", float32, 1)]
    return model(nodes, given, [value("a", float32, 1), value("b", float32, 1)])


STATES = (value("first", float32, 1), value("second", float32, 1))


def exchange(turns):
    """What `swapped` gives for one and two."""
    given = (np.array(turns), np.float32([1]), np.float32([2]))
    return [each.item() for each in run(swapped(), *given)]


def test_states_that_are_exchanged():
    """A node keeps them apart; any number of turns is right, none included."""
    require_openvino()
    assert [exchange(turns) for turns in range(4)] == [[1, 2], [2, 1], [1, 2], [2, 1]]


def test_states_that_are_exchanged_still_need_a_node(as_it_is):
    """Without it both become one."""
    assert exchange(3) != [2, 1]


def collecting():
    """A loop that collects the double of its state."""
    body = GraphDef(
        "body",
        (node("Identity", "more", "still"), node("Add", "state state", "sum")),
        (value("turn", int64), value("more", boolean), value("state", float32, 1)),
        (value("still", boolean), value("sum", float32, 1), value("sum", float32, 1)),
    )
    nodes = [node("Loop", "n - x", "a b", body=body)]
    given = [value("n", int64), value("x", float32, 1)]
    return model(nodes, given, [value("a", float32, 1), value("b", float32, "K", 1)])


def test_collecting_loops_have_a_turn():
    """Those that may have none are refused."""
    (message,) = refusals(collecting())
    assert message.startswith("a loop without a turn would keep what an earlier call collected")


def test_collected_results_of_no_turn_are_stale(unchecked):
    """They are those of an earlier call."""
    compiled = program(collecting())
    for turns in (2, 0):
        _, found = compiled([np.array(turns), np.float32([1])], [(1,), None])
    assert found.shape == (2, 1)


PADDED = model(
    [node("Pad", "x p v", "z")],
    [value("x", float32, 2), value("v", float32)],
    [value("z", float32, 3)],
    [constant("p", [1, 0])],
)


def test_computed_padding():
    """The value is chosen where zeros are padded."""
    assert refusals(PADDED) == []
    require_openvino()
    (found,) = run(PADDED, np.float32([1, np.nan]), np.float32(7))
    np.testing.assert_array_equal(found, np.float32([7, 1, np.nan]))


def test_computed_padding_is_still_zero(as_it_is):
    """Where the sizes are static."""
    (found,) = run(PADDED, np.float32([1, 2]), np.float32(7))
    assert found.tolist() == [0, 1, 2]


def ended(work):
    """How a process that does some work ends: a signal, or what it wrote."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            faulthandler.disable()
            signal.alarm(60)
            work()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the process ends
            traceback.print_exc()
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_narrow_floats_have_no_kernels():
    """But to be moved and cast."""
    (message,) = refusals(binary("Add", float8))
    assert message == "OpenVINO has no kernel for these floats: `Add` of float8"


def test_narrow_floats_still_have_no_kernels(unchecked):
    """A process may end."""
    ones = np.ones(3, float8.numpy)
    assert ended(lambda: run(binary("Add", float8), ones, ones)) != 0


def test_indices_beyond_the_end_end_a_process(unchecked):
    """So the lowering brings each index inside."""
    nodes = [node("GatherND", "x i", "y")]
    given = [value("x", float32, "N"), value("i", int64, "K", 1)]
    made = model(nodes, given, [value("y", float32, "K")])
    far = np.array([[2**31 - 1]])
    assert ended(lambda: run(made, np.ones(4, np.float32), far)) == -signal.SIGSEGV


def test_empty_tensors_are_refused():
    """Where the model says that they are."""
    nodes = [node("Exp", "x", "y")]
    made = model(nodes, [value("x", float32, "N", 0)], [value("y", float32, "N", 0)])
    (message,) = refusals(made)
    assert message == "OpenVINO reads memory beyond a tensor that is empty: `x`"


def recurrent(rows):
    """`z = LSTM(x)` of zeros but for the bias, with lengths."""
    weights = [constant("w", np.zeros((1, 4, 1), "f4")), constant("r", np.zeros((1, 4, 1), "f4"))]
    nodes = [node("LSTM", "x w r b n", "y z", hidden_size=1)]
    given = [value("x", float32, rows, 2, 1), value("n", int32, 2)]
    bias = constant("b", np.ones((1, 8), "f4"))
    return model(nodes, given, [value("z", float32, 1, 2, 1)], [*weights, bias])


def test_lengths_of_sequences_are_read_where_sizes_are_known():
    """With a size that is not known they are refused."""
    (message,) = refusals(recurrent("N"))
    reason = "OpenVINO ignores the lengths of sequences where sizes are dynamic"
    assert message == f"{reason}: `n`"
    assert refusals(recurrent(3)) == []
    require_openvino()
    (found,) = run(recurrent(3), np.zeros((3, 2, 1), "f4"), np.int32([1, 3]))
    assert found[0, 0] < found[0, 1]


def test_lengths_of_sequences_are_ignored_where_sizes_are_not(monkeypatch):
    """Both sequences are then read to their ends."""
    require_openvino()
    monkeypatch.setattr("tripybuild.targets.openvino.model.ignored_lengths", lambda _: [])
    (found,) = run(recurrent("N"), np.zeros((3, 2, 1), "f4"), np.int32([1, 3]))
    assert found[0, 0] == found[0, 1]


def test_the_registry_has_each_reason():
    """Under the name and in the words by which the target refuses."""
    known = built_in.declared().targets["openvino"].refuses
    assert {name: each.says for name, each in known.items()} == dict(REASONS)


def test_the_kernels_are_onnx_operators():
    """Each fact is about an operator that there is."""
    assert set(KERNELS) <= operator_names()


NAN = np.float32([np.nan, 1, np.nan])
ONES = np.float32([1, np.nan, np.inf])
# What numbers with NaN give, and what OpenVINO makes of them.
LOST = {
    "maximum": (binary("Max", float32), (NAN, ONES), [np.nan] * 3, [1, np.nan, np.inf]),
    "minimum": (binary("Min", float32), (NAN, ONES), [np.nan] * 3, [1, np.nan, np.inf]),
    "greatest": (unary("ReduceMax", float32, keepdims=0), (NAN[:2],), [np.nan], [1]),
    "least": (unary("ReduceMin", float32, keepdims=0), (NAN[:2],), [np.nan], [1]),
    "greater": (binary("Greater", float32, boolean), (NAN, ONES), [False] * 3, [True] * 3),
    "clip": (
        unary("Clip", float32, extra=[constant("a", np.float32(0)), constant("b", np.float32(2))]),
        (np.float32([np.nan, -1, 1, np.inf]),),
        [np.nan, 0, 1, 2],
        [0, 0, 1, 2],
    ),
    "truth": (unary("Cast", float32, boolean, to=9), (NAN,), [True] * 3, [False, True, False]),
}


@pytest.mark.parametrize("case", LOST)
def test_nan_comes_through(case):
    """Other nodes compute it."""
    require_openvino()
    made, given, wanted, _ = LOST[case]
    (found,) = run(made, *given)
    np.testing.assert_array_equal(found.reshape(-1), wanted)


@pytest.mark.parametrize("case", LOST)
def test_nan_is_still_lost(case, as_it_is):
    """Otherwise."""
    made, given, _, seen = LOST[case]
    (found,) = run(made, *given)
    np.testing.assert_array_equal(found.reshape(-1), seen)


def test_nan_is_lost_in_relu():
    """`docs/openvino.md` says so: the other numbers do not depend on it."""
    require_openvino()
    (found,) = run(unary("Relu", float32), NAN)
    np.testing.assert_array_equal(found, [0, 1, 0])


def drawn(operator, shape, **attributes):
    """What gives two results of a random operator."""
    nodes = [node(operator, "x", name, **attributes) for name in ("y", "z")]
    results = [value(name, float32, *shape) for name in ("y", "z")]
    made = program(model(nodes, [value("x", float32, *shape)], results))
    return lambda: made([np.zeros(shape, np.float32)], [shape, shape])


@pytest.mark.parametrize(
    ("operator", "attributes", "deviation"),
    [
        ("RandomNormalLike", {"mean": 2.0, "scale": 0.5}, 0.5),
        ("RandomUniformLike", {"low": 1.0, "high": 3.0}, 3**-0.5),
    ],
)
def test_random_numbers_are_independent(operator, attributes, deviation):
    """Of each other, in two nodes and in two calls; a single one is drawn, too."""
    require_openvino()
    draw = drawn(operator, (50, 100), **attributes)
    several = [each.reshape(-1) for _ in range(2) for each in draw()]
    for each in several:
        assert each.mean() == pytest.approx(2, abs=6 * deviation / np.sqrt(each.size))
        assert each.std() == pytest.approx(deviation, rel=0.1)
    assert np.abs(np.corrcoef(several) - np.eye(len(several))).max() < 6 / np.sqrt(each.size)
    single = drawn(operator, (), **attributes)
    numbers = np.array([each.item() for _ in range(3) for each in single()])
    assert len(set(numbers.tolist())) == len(numbers)
    assert np.abs(numbers - 2).max() < 10 * deviation


def test_normal_random_numbers_are_still_equal(as_it_is):
    """OpenVINO's own, of two nodes."""
    first, second = drawn("RandomNormalLike", (50, 100))()
    np.testing.assert_array_equal(first, second)


def reduced(operator, kind=float32):
    """A reduction of the rows of a matrix."""
    nodes = [node(operator, "x axis", "y", keepdims=0)]
    given = [value("x", kind, "N", 2)]
    return model(nodes, given, [value("y", kind, "N")], [constant("axis", [1])])


INFINITE = {"ReduceMax": -np.inf, "ReduceMin": np.inf}


@pytest.mark.parametrize("kind", [float32, float16, bfloat16], ids=str)
@pytest.mark.parametrize("operator", INFINITE)
def test_extremes_of_infinities(operator, kind):
    """They are infinite, and the least finite number is itself."""
    require_openvino()
    far, least = INFINITE[operator], kind.lowest if operator == "ReduceMax" else kind.highest
    x = np.array([[far, far], [far, 1], [least, far], [-3, 2]]).astype(kind.numpy)
    (found,) = run(reduced(operator, kind), x)
    wanted = x.max(axis=1) if operator == "ReduceMax" else x.min(axis=1)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("operator", INFINITE)
def test_extremes_of_infinities_still_need_halves(operator, monkeypatch):
    """Without them, they are the last finite number."""
    require_openvino()
    monkeypatch.setattr("tripybuild.targets.openvino.model.work_around", lambda made, _: made)
    (found,) = run(reduced(operator), np.full((1, 2), INFINITE[operator], np.float32))
    assert np.isfinite(found).all()


def running(**directions):
    """A scan of running sums, which are scaled by a number from outside."""
    body = GraphDef(
        "body",
        (node("Add", "sum row", "added"), node("Mul", "added scale", "scaled")),
        (value("sum", float32, 2), value("row", float32, 2)),
        (value("added", float32, 2), value("scaled", float32, 2)),
    )
    nodes = [node("Scan", "zero x", "last all", body=body, num_scan_inputs=1, **directions)]
    given = [value("x", float32, "N", 2), value("scale", float32)]
    results = [value("last", float32, 2), value("all", float32, "N", 2)]
    return model(nodes, given, results, [constant("zero", np.zeros(2, np.float32))])


BACK = {"scan_input_directions": [1], "scan_output_directions": [1]}


@pytest.mark.parametrize("directions", [{}, BACK], ids=["forward", "back"])
def test_scans_that_read_values_from_outside(directions):
    """They are loops, of any length."""
    require_openvino()
    compiled = program(running(**directions))
    for rows in (3, 1, 4):
        x = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)
        last, every = compiled([x, np.float32(2)], [(2,), (rows, 2)])
        sums = np.cumsum(x[::-1], axis=0)[::-1] if directions else np.cumsum(x, axis=0)
        np.testing.assert_array_equal(last, x.sum(axis=0))
        np.testing.assert_array_equal(every, 2 * sums)


def test_scans_that_read_values_from_outside_are_still_refused(monkeypatch):
    """OpenVINO counts those values as states."""
    require_openvino()
    monkeypatch.setattr("tripybuild.targets.openvino.model.work_around", lambda made, _: made)
    with pytest.raises(DiagnosticError, match="does not compile `Scan` of ONNX"):
        run(running(), np.zeros((1, 2), np.float32), np.float32(2))


def test_float64_may_carry_narrower_numbers():
    """Where it is compared and moved alone; what it is computed with is refused."""
    far = constant("far", np.float64(-1e300))
    nodes = [node("Cast", "x", "w", to=11), node("Max", "w far", "k"), node("TopK", "k n", "v i")]
    given, results = [value("x", float32, "N")], [value("i", int64, 2)]
    made = model(nodes, given, results, [far, constant("n", [2])])
    assert refusals(made) == []
    (message,) = refusals(model([*nodes, node("Add", "v v", "s")], given, results, [far]))
    assert message == "OpenVINO computes float64 in float32: `Add`"
    require_openvino()
    (found,) = run(made, np.float32([1, -np.inf, 3]))
    assert found.tolist() == [2, 0]


def test_truths_are_counted():
    """A sum of ones and zeros is exact for any number of them."""
    nodes = [node("Cast", "x", "n", to=7), node("ReduceSum", "n", "y", keepdims=0)]
    made = model(nodes, [value("x", boolean, "N")], [value("y", int64)])
    assert refusals(made) == []
    require_openvino()
    (found,) = run(made, np.array([True, False, True]))
    assert found == 2
