"""Branches and loops compute what Python and PyTorch compute, on each engine that runs here."""

import numpy as np
import pytest
from oracles.operators import computed

import tripyapi as tp
from tripyapi.tensor import Tensor
from tripybuild.compiler.lowering.lower import lower_stablehlo
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.reference.execute import reference_run
from tripybuild.symbolic.dims import symbol
from tripybuild.targets.tensorrt.model import PIPELINE
from tripybuild.targets.xla import pjrt
from tripybuild.trace.graph import Graph
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import from_numpy
from tripybuild.worker.compiler_process import session


def ran(function, *arrays):
    """What a function of tensors gives: by the references, on the CPU, and as TensorRT's layers."""
    arrays = [np.asarray(each) for each in arrays]
    values = {
        f"x{i}": Value(TensorType(from_numpy(each.dtype), each.shape), name=f"x{i}")
        for i, each in enumerate(arrays)
    }
    given = function(*map(Tensor.of, values.values()))
    several = given if isinstance(given, tuple) else (given,)
    graph = Graph("g", values, {}, {f"y{i}": each.value for i, each in enumerate(several)})
    program = pjrt.load(session().compile("cpu", lower_stablehlo(graph).text()))
    by_name = dict(zip(values, arrays, strict=True))
    engine = computed(graph, by_name, passes=PIPELINE)
    return reference_run(graph, {})(arrays), list(program(*arrays)), engine


def agree(results, *wanted, within=1e-5):
    """All engines give what was expected."""
    for found in results:
        assert len(found) == len(wanted)
        for got, want in zip(found, wanted, strict=True):
            assert got.shape == np.shape(want)
            np.testing.assert_allclose(got.astype(np.float64), want, within, within)


# --- branches ---


@pytest.mark.parametrize("flag", [True, False])
def test_only_one_branch_counts(flag):
    """Nested ones, too; what is not chosen may divide by zero."""

    def choose(p, x):
        return tp.cond(
            p,
            lambda: tp.cond(tp.any(x > 2), lambda: x + 1, lambda: x),
            lambda: x // (x - x),
        )

    x = np.array([1, 2, 3], np.int32)
    if flag:
        agree(ran(choose, np.array(True), x), [2, 3, 4])
    else:
        reference, cpu, _ = ran(choose, np.array(False), x)
        assert reference[0].shape == cpu[0].shape == (3,)


def test_no_rows_and_no_elements():
    """Sizes of zero are sizes."""
    x = np.zeros((0, 3), np.float32)

    reference, cpu, _ = ran(lambda p, x: tp.cond(p, lambda: -x, lambda: x * 2.0), np.array(True), x)

    assert reference[0].shape == cpu[0].shape == (0, 3)


# --- loops ---


@pytest.mark.parametrize("start", [1, 6, 7])
def test_steps_are_counted_as_python_counts_them(start):
    """Collatz: a branch inside of a loop, on integers."""

    def steps(number):
        def step(n, count):
            even = n % 2 == 0
            return tp.cond(even, lambda: n // 2, lambda: 3 * n + 1), count + 1

        return tp.while_loop(lambda n, _: n != 1, step, [number, tp.cast(number * 0, tp.int32)])

    count, n = 0, start
    while n != 1:
        n, count = n // 2 if n % 2 == 0 else 3 * n + 1, count + 1

    agree(ran(steps, np.int32(start)), 1, count)


def test_a_loop_reads_what_is_outside():
    """Newton's method for square roots, until it is close; NaN ends it at once."""

    def root(x):
        return tp.while_loop(
            lambda y: tp.any(tp.abs(y * y - x) > 1e-3), lambda y: (y + x / y) * 0.5, [x]
        )

    x = np.array([2.0, 9.0, 1e-2], np.float32)
    agree(ran(root, x), np.sqrt(x), within=2e-3)
    agree(ran(root, np.array([np.nan], np.float32)), [np.nan])


def test_loops_inside_of_loops():
    """The inner one begins anew each time."""

    def table(n):
        def outer(i, total):
            def inner(j, sum_):
                return j + 1, sum_ + i * j

            _, row = tp.while_loop(lambda j, _: j < i, inner, [i * 0, i * 0])
            return i + 1, total + row

        return tp.while_loop(lambda i, _: i < n, outer, [n * 0, n * 0])[1]

    agree(ran(table, np.int32(6)), sum(i * j for i in range(6) for j in range(i)))


# --- scans ---


@pytest.mark.parametrize("reverse", [False, True])
def test_a_recurrent_network_is_that_of_pytorch(reverse):
    """Weights are read from outside of the body."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.manual_seed(0)
    network = torch.nn.RNN(3, 5, bidirectional=True)
    suffix = "_l0_reverse" if reverse else "_l0"
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    weights = [getattr(network, name + suffix).detach().numpy() for name in names]
    x = torch.randn(7, 2, 3)
    wanted, last = (each.detach().numpy() for each in network(x))
    side = int(reverse)

    def run(x, h, w, u, b, c):
        def cell(h, row):
            new = tp.tanh(row @ tp.transpose(w, 0, 1) + b + h @ tp.transpose(u, 0, 1) + c)
            return new, new

        return tp.scan(cell, [h], [x], reverse=reverse)

    found = ran(run, x.numpy(), np.zeros((2, 5), np.float32), *weights)
    agree(found, last[side], wanted[..., 5 * side : 5 * side + 5])


def test_rows_of_each_dtype_are_collected():
    """Booleans and integers among them; and nothing that is threaded."""

    def compare(x, y):
        return tp.scan(lambda a, b: (a < b, a * 2, b[0]), [], [x, y])

    x = np.arange(6, dtype=np.int32).reshape(3, 2)
    y = np.array([[5, 0], [5, 0], [0, 9]], np.int32)

    agree(ran(compare, x, y), x < y, 2 * x, y[:, 0])


@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows(rows):
    """None leaves the first values as they are."""

    def sums(x):
        return tp.scan(lambda s, row: (s + row, s), [tp.ones([2])], [x])

    x = np.full((rows, 2), 3, np.float32)
    reference, cpu, _ = results = ran(sums, x)

    agree([reference, cpu] if rows == 0 else results, [1 + 3 * rows] * 2, np.ones((rows, 2)))


def test_lengths_that_are_open_are_compared_in_each_call():
    """And the result has the length of the first."""
    b, s = symbol("B", 1, 8), symbol("S", 1, 8)
    x, y = (Tensor.of(Value(TensorType(tp.float32, (n, 2)))) for n in (b, s))

    made = tp.scan(lambda a, b: a + b, [], [x, y])

    assert str(made.type) == "tensor<Bx2xf32>"
    assert [law.code for law in made.value.producer.deferred] == ["scan/equal-lengths"]


def test_a_body_that_changes_a_type():
    """It is told which, and both types."""
    x = Tensor.of(Value(TensorType(tp.float32, (2,))))
    with pytest.raises(DiagnosticError) as caught:
        tp.while_loop(lambda a, b: tp.any(a > b), lambda a, b: (a, tp.cast(b, tp.float16)), [x, x])
    (found,) = caught.value.diagnostics

    assert found.code == "while_loop/body"
    assert found.message == (
        "`body` of `while_loop` must give tensor<2xf32> as output 1, as `state[1]` is"
    )
    assert (found.label, found.hint) == (
        "it returns tensor<2xf16>",
        "cast it: `tp.cast(..., tp.float32)`",
    )


def test_one_tensor_where_several_are_taken():
    """The hint says how it is meant."""
    x = Tensor.of(Value(TensorType(tp.float32, (2,))))
    with pytest.raises(DiagnosticError) as caught:
        tp.while_loop(lambda a: tp.any(a > 1.0), lambda a: a, x)

    (found,) = caught.value.diagnostics
    assert (found.code, found.hint) == ("while_loop/state", "put it into a list: `[x]`")


def test_a_condition_that_is_no_truth():
    """One boolean, and no dimension."""
    x = Tensor.of(Value(TensorType(tp.float32, (2,))))
    with pytest.raises(DiagnosticError) as caught:
        tp.while_loop(lambda a: a > 1.0, lambda a: a, [x])

    (found,) = caught.value.diagnostics
    assert found.message == "`condition` of `while_loop` must give tensor<i1> as output 0"
    assert found.label == "it returns tensor<2xi1>"
