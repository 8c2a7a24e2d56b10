"""Programs of OpenVINO: arrays in and out, threads, forks, and what is said of failures."""

import itertools
import multiprocessing
import os
import threading

import numpy as np
import pytest
import written
from openvino_models import constant, model, node, program, require_openvino, run, value

import tripybuild
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.onnx.model import TensorData
from tripybuild.targets.openvino import program as program_module
from tripybuild.targets.openvino.program import MOST, ForkGate, largest_cluster
from tripybuild.types.dtypes import (
    BY_NAME,
    bfloat16,
    boolean,
    float4,
    float32,
    int4,
    int8,
    int32,
    int64,
)

pytestmark = pytest.mark.usefixtures("_openvino")


@pytest.fixture(scope="module")
def _openvino():
    require_openvino()


def product():
    """`y = x @ w`, for any number of rows."""
    made = [node("MatMul", "x w", "y")]
    return model(made, [value("x", float32, "N", 64)], [value("y", float32, "N", 64)], [WEIGHT])


WEIGHT = constant("w", np.arange(64 * 64, dtype=np.float32).reshape(64, 64) % 7)


def matrix(rows):
    """Rows of numbers."""
    return np.arange(rows * 64, dtype=np.float32).reshape(rows, 64) % 5


def expected(x):
    """What `product` gives."""
    return x @ np.frombuffer(WEIGHT.data, np.float32).reshape(64, 64)


def test_any_size_is_taken_without_a_compilation():
    """One program serves all sizes, and its results are arrays of their own."""
    made = program(product())
    first = None
    for rows in (3, 1, 8, 3):
        x = matrix(rows)
        (found,) = made([x], [(rows, 64)])
        np.testing.assert_array_equal(found, expected(x))
        assert found.flags.owndata
        first = found if first is None else first
    np.testing.assert_array_equal(first, expected(matrix(3)))


def test_weights_are_shared_with_the_caller():
    """A weight without data is an array of the caller's, which may be read-only."""
    weight = np.frombuffer(WEIGHT.data, np.float32).reshape(64, 64)
    assert not weight.flags.writeable
    made = product()
    (hollow,) = made.graph.initializers
    hollow = type(hollow)(hollow.name, hollow.dtype, hollow.shape, None)
    graph = type(made.graph)(
        "g", made.graph.nodes, made.graph.inputs, made.graph.outputs, (hollow,)
    )
    x = matrix(2)
    (found,) = run(type(made)(graph, 20), x, weights={"w": weight})
    np.testing.assert_array_equal(found, expected(x))


@pytest.mark.parametrize("kind", [k for k in BY_NAME.values() if k.name != "float64"], ids=str)
def test_every_dtype_crosses_the_border(kind):
    """Arrays go in and come out as they are, in each dtype, with rows of odd lengths."""
    given = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0]]).astype(kind.numpy)
    wanted = given.T
    graph = [node("Transpose", "x", "y", perm=[1, 0])]
    if kind is float4:  # which it can only cast
        wanted = given
        graph = [node("Cast", "x", "f", to=1), node("Cast", "f", "y", to=23)]
    made = model(graph, [value("x", kind, "N", 3)], [value("y", kind, "M", 3)], opset=23)
    for shapes in (None, [(3, 3)]):
        (found,) = run(made, given, shapes=shapes)
        assert found.dtype == kind.numpy
        np.testing.assert_array_equal(found, wanted)


def test_arrays_of_other_layouts_are_taken():
    """Rows that are not next to each other, scalars, and read-only memory."""
    x = np.asfortranarray(matrix(4))
    x.flags.writeable = False
    (found,) = run(product(), x, shapes=[(4, 64)])
    np.testing.assert_array_equal(found, expected(x))
    made = model([node("Exp", "x", "y")], [value("x", float32)], [value("y", float32)])
    (one,) = run(made, np.zeros((), np.float32), shapes=[()])
    assert one.shape == ()
    assert one == 1


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", [float32, int4, bfloat16], ids=str)
def test_results_own_their_memory(kind, threads):
    """Small ones and large ones, of any sizes in any order; inputs can change after a call."""
    made = model(
        [node("Transpose", "x", "y", perm=[1, 0])],
        [value("x", kind, "M", "N")],
        [value("y", kind, "N", "M")],
    )
    called, random, seen = program(made, threads=threads), np.random.default_rng(0), []
    for rows, columns in ((3, 5), (400, 301), (3, 5), (5, 3), (401, 300), (400, 301), (3, 5)):
        x = random.integers(0, 7, (rows, columns)).astype(kind.numpy)
        (found,) = called([x], [(columns, rows)])
        seen.append((found, x.T.copy()))
        x[...] = 1
    for found, wanted in seen:
        np.testing.assert_array_equal(found, wanted)
    found[...] = 1
    (again,) = called([wanted.T], [wanted.shape])
    np.testing.assert_array_equal(again, wanted)
    assert len(called._idle) == 1


def test_a_call_inside_of_a_call_has_memory_of_its_own(monkeypatch):
    """Such as that of a handler of signals."""
    made, inner = program(product()), []
    infer = made._infer

    def interrupt(request):
        monkeypatch.setattr(made, "_infer", infer)
        inner.extend(made([matrix(2) + 1], [(2, 64)]))
        infer(request)

    monkeypatch.setattr(made, "_infer", interrupt)
    (outer,) = made([matrix(2)], [(2, 64)])
    np.testing.assert_array_equal(outer, expected(matrix(2)))
    np.testing.assert_array_equal(inner[0], expected(matrix(2) + 1))


def test_a_fork_waits_for_calls():
    """Those that compute end before it, and others begin behind it."""
    gate, order = ForkGate(), []
    inside, end = threading.Event(), threading.Event()

    def call(name):
        with gate:
            inside.set()
            end.wait(10)
            order.append(name)

    first, second = (threading.Thread(target=call, args=(name,)) for name in ("first", "second"))
    first.start()
    inside.wait(10)
    closing = threading.Thread(target=gate.close)
    closing.start()
    while not gate._is_closed:
        pass
    second.start()
    end.set()
    closing.join(10)
    order.append("fork")
    gate.open()
    second.join(10)
    assert order == ["first", "fork", "second"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_handler_of_signals_forks_amid_a_call(monkeypatch):
    """It does not wait for the call that it interrupts."""
    made, exits = program(product()), []
    compute = made._compute

    def interrupt(request):
        compute(request)
        monkeypatch.setattr(made, "_compute", compute)
        child = os.fork()
        if not child:
            os._exit(
                0 if np.array_equal(made([matrix(3)], [(3, 64)])[0], expected(matrix(3))) else 1
            )
        exits.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    monkeypatch.setattr(made, "_compute", interrupt)
    (found,) = made([matrix(2)], [(2, 64)])
    np.testing.assert_array_equal(found, expected(matrix(2)))
    assert exits == [0]


def test_threads_call_one_program():
    """Each call has a request of its own, and none sees the numbers of another."""
    made = program(product(), threads=2)
    wrong: list[int] = []

    def work(seed: int) -> None:
        for step in range(20):
            x = matrix(1 + (seed + step) % 4) + np.float32(seed)
            (found,) = made([x], [x.shape])
            if not np.array_equal(found, expected(x)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def test_a_forked_process_computes():
    """With the program of its parent, while threads of the parent are computing."""
    made = program(product(), threads=2)
    x, stop = matrix(64), threading.Event()
    made([x], [x.shape])

    def work() -> None:
        while not stop.is_set():
            made([x], [x.shape])

    threads = [threading.Thread(target=work) for _ in range(2)]
    for each in threads:
        each.start()

    def child() -> None:
        (found,) = made([x], [x.shape])
        os._exit(0 if np.array_equal(found, expected(x)) else 3)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(60)
    stop.set()
    for each in threads:
        each.join()
    assert process.exitcode == 0
    np.testing.assert_array_equal(made([x], [x.shape])[0], expected(x))


def test_integers_of_more_than_32_bits_are_refused_at_a_call():
    """OpenVINO would cut them; those that fit are taken."""
    made = model([node("Cast", "x", "y", to=6)], [value("x", int64, "N")], [value("y", int32, "N")])
    compiled = program(made)
    (found,) = compiled([np.array([2**31 - 1, -(2**31)])], [(2,)])
    assert found.tolist() == [2**31 - 1, -(2**31)]
    with pytest.raises(DiagnosticError, match="`x` has integers of more than 32 bits"):
        compiled([np.array([2**31])], [(1,)])


def test_float32_is_computed_in_float32():
    """Whatever the processor is best at; bfloat16 is a word of the user's."""
    x = np.linspace(0, 1, 256, dtype=np.float32).reshape(4, 64)
    w = np.linspace(-1, 1, 64 * 64, dtype=np.float32).reshape(64, 64)
    graph = [node("MatMul", "x w", "y")]
    made = model(
        graph, [value("x", float32, "N", 64)], [value("y", float32, "N", 64)], [constant("w", w)]
    )
    wide = x.astype(np.float64) @ w
    compiled = program(made)
    assert np.abs(compiled([x], [x.shape])[0] - wide).max() < 1e-4
    (found,) = {
        each.get_rt_info()["runtimePrecision"].astype(str)
        for each in compiled.runtime_model.get_ordered_ops()
        if each.get_rt_info()["layerType"].astype(str) in ("FullyConnected", "MatMul")
    }
    assert found == "f32"
    narrow = program(made, precision="bf16")
    assert np.abs(narrow([x], [x.shape])[0] - wide).max() < 1


def test_a_convolution_of_int8_computes_in_int8():
    """Where the scales are weights, which OpenVINO reads with the file."""
    graph = [
        node("QuantizeLinear", "x s", "q", output_dtype=3),
        node("DequantizeLinear", "q s", "a"),
        node("DequantizeLinear", "w t", "b", axis=0),
        node("Conv", "a b", "y"),
    ]
    weight = np.arange(-32, 32, dtype=np.int8).reshape(8, 8, 1, 1)
    data = {"w": weight, "s": np.float32(0.5), "t": np.full(8, 0.25, np.float32)}
    held = [TensorData("w", int8, weight.shape, None), TensorData("s", float32, (), None)]
    held.append(TensorData("t", float32, (8,), None))
    image = [value("x", float32, 1, 8, 4, 4)], [value("y", float32, 1, 8, 4, 4)]
    compiled = program(model(graph, *image, held, opset=21), weights=data)
    (kernel,) = {
        each.get_rt_info()["runtimePrecision"].astype(str)
        for each in compiled.runtime_model.get_ordered_ops()
        if each.get_rt_info()["layerType"].astype(str) == "Convolution"
    }
    assert kernel == "i8"
    x = np.arange(128, dtype=np.float32).reshape(1, 8, 4, 4) % 100 - 50
    (found,) = compiled([x], [x.shape])
    np.testing.assert_array_equal(
        found, np.einsum("oi,ihw->ohw", weight[..., 0, 0] / 4.0, x[0])[None]
    )


def test_what_openvino_does_not_compile_is_said_at_its_place():
    """With its own words, without places in its sources."""
    unknown = model(
        [node("Exp", "x", "a"), node("StringNormalizer", "a", "yy")],
        [value("x", float32, "N")],
        [value("yy", float32, "N")],
    )
    with pytest.raises(DiagnosticError) as caught:
        program(unknown)
    (found,) = caught.value.diagnostics
    assert found.message == "OpenVINO does not compile `StringNormalizer` of ONNX"
    assert any("No conversion rule" in each for each in found.notes)
    assert not any("Exception from" in each for each in found.notes)
    assert str(found.span) == "model.yaml:2:1"


@pytest.mark.parametrize("threads", [1, 2])
def test_what_fails_in_a_call_is_said(threads):
    """With one thread, OpenVINO's own `infer` returns as if all were well."""
    made = model(
        [node("Split", "x", "y z", axis=0, num_outputs=2)],
        [value("x", float32, "N")],
        [value("y", float32, "K"), value("z", float32, "L")],
    )
    compiled = program(made, threads=threads)
    assert [e.tolist() for e in compiled([np.arange(4, dtype=np.float32)], [None] * 2)] == [
        [0, 1],
        [2, 3],
    ]
    with pytest.raises(DiagnosticError, match="evenly divisible"):
        compiled([np.arange(3, dtype=np.float32)], [(2,), (1,)])


def test_large_clusters_are_compiled_in_time():
    """A hundred operations of static sizes in one kernel would take longer by the cube."""
    names = ["x", *(f"v{n}" for n in range(2 * MOST)), "y"]
    nodes = [node("Add", f"{a} x", b) for a, b in itertools.pairwise(names)]
    made = model(nodes, [value("x", float32, 4, 4)], [value("y", float32, 4, 4)])
    compiled = program(made)
    kernels = [
        each.get_rt_info()["layerType"].astype(str)
        for each in compiled.runtime_model.get_ordered_ops()
    ]
    assert "Subgraph" not in kernels
    x = np.ones((4, 4), np.float32)
    np.testing.assert_array_equal(compiled([x], [(4, 4)])[0], x * (2 * MOST + 2))
    few = program(
        model(nodes[: MOST // 2], made.graph.inputs, [value(names[MOST // 2], float32, 4, 4)])
    )
    kinds = [
        each.get_rt_info()["layerType"].astype(str) for each in few.runtime_model.get_ordered_ops()
    ]
    assert "Subgraph" in kinds
    assert largest_cluster([]) == 0


def test_packed_and_narrow_weights():
    """Weights of 4 bits and of bfloat16 are shared, too."""
    weight = np.array([[-8, 7, 1], [0, -1, 2], [3, 4, 5]]).astype(int4.numpy)
    graph = [
        node("DequantizeLinear", "w s", "d"),
        node("MatMul", "x d", "y"),
        node("Cast", "h", "z", to=1),
    ]
    held = [
        TensorData("w", int4, (3, 3), None),
        constant("s", np.float32(0.5)),
        TensorData("h", bfloat16, (2,), None),
    ]
    made = model(
        graph,
        [value("x", float32, "N", 3)],
        [value("y", float32, "N", 3), value("z", float32, 2)],
        held,
        opset=21,
    )
    half = np.array([1.5, -2]).astype(bfloat16.numpy)
    y, z = run(made, np.eye(3, dtype=np.float32), weights={"w": weight, "h": half})
    np.testing.assert_array_equal(y, weight.astype(np.float32) / 2)
    np.testing.assert_array_equal(z, [1.5, -2])


def test_results_whose_sizes_the_elements_tell():
    """Their arrays are copies."""
    made = model(
        [node("NonZero", "x", "y")], [value("x", boolean, "N")], [value("y", int64, 1, "K")]
    )
    compiled = program(made)
    for given, places in (([1, 0, 1], [[0, 2]]), ([0, 0], [[]]), ([1, 1, 1, 1], [[0, 1, 2, 3]])):
        (found,) = compiled([np.array(given, bool)], [None])
        assert found.tolist() == places


def test_inputs_of_which_nothing_is_read():
    """Whatever OpenVINO does with them, each array goes where its name is."""
    nodes = [node("Shape", "a", "s"), node("Expand", "b s", "y")]
    given = [value("unused", float32, 2), value("a", float32, 2, 3), value("b", int32)]
    made = model(nodes, given, [value("y", int32, 2, 3)])
    arrays = [np.zeros(2, np.float32), np.zeros((2, 3), np.float32), np.int32(7)]
    (found,) = run(made, *map(np.asarray, arrays), shapes=[(2, 3)])
    np.testing.assert_array_equal(found, np.full((2, 3), 7))


SIZED = """
    inputs:
      x: float32[B, S]
    ranges:
      B: {min: 1, opt: 1, max: 8}
      S: {min: 0, opt: 4, max: 64}
    outputs:
      y: softmax(x * 2.0 + mean(x), 1)
    """


@pytest.mark.parametrize("shapes", [(), ({"B": 2, "S": 3}, {"S": 0})])
def test_sizes_that_were_asked_for_have_a_program_of_their_own(tmp_path, monkeypatch, shapes):
    """And `opt` beside them; all others share one, and what is loaded gives the same numbers."""
    compiled, compiles = [], program_module.compile_model
    spec = written.write(tmp_path, SIZED)
    monkeypatch.setattr(
        program_module,
        "compile_model",
        lambda read, given: compiled.append(read.is_dynamic()) or compiles(read, given),
    )
    target = "cpu:openvino,threads=1"
    made = tripybuild.compile(spec, target=target, shapes=shapes, output=tmp_path / "m.tpb")
    assert compiled == ([True] if not shapes else [True, False, False])
    loaded = tripybuild.load(tmp_path / "m.tpb")
    reference = tripybuild.compile(spec, target="reference")
    sizes = [(1, 4), (2, 3), (3, 3), (1, 0), (8, 64), (2, 3)]
    given = [np.linspace(-1, 1, b * s, dtype=np.float32).reshape(b, s) for b, s in sizes]
    for x in given:
        y = made(x=x)["y"]
        np.testing.assert_array_equal(loaded(x=x)["y"], y)
        np.testing.assert_allclose(y, reference(x=x)["y"], rtol=1e-5)
    assert sorted(compiled[len(compiled) // 2 :]) == sorted(compiled[: len(compiled) // 2])
