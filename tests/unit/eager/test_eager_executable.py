"""Tests of executables of functions: sizes as arguments, forms of results, streams, errors."""

import inspect
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import tripyapi as tp
from tripybuild.eager.tensor import device
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.tensorrt.runtime import cuda, gpu
from tripybuild.tensorrt.runtime.gpu import Absence, Gpu


def info(*shape):
    return tp.InputInfo(shape, tp.float32)


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def refused(function, code):
    """The one diagnostic, which points into this file."""
    with pytest.raises(DiagnosticError) as caught:
        function()
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code
    assert diagnostic.span.path == __file__
    return diagnostic


def saved(made, tmp_path):
    """The executable, and as it is read from its file."""
    made.save(tmp_path / "made.tpb")
    return made, tp.Executable.load(tmp_path / "made.tpb")


def grown(x, rows):
    """A function of a tensor and of a size: in shapes, in arithmetic of sizes, and as data."""
    assert isinstance(rows, tp.DimensionSize)
    return tp.expand(x, [rows * 2, x.shape[0]]) + tp.cast(rows, tp.float32), tp.ones([rows])


def test_a_size_as_an_argument(tmp_path):
    """It is given as a number, in any form of one; each value is specialised for."""
    sizes = tp.DimensionInputInfo((1, 2, 4))
    assert str(sizes) == "DimensionInputInfo((1, 2, 4))"
    assert sizes.value_bounds == tp.Bounds(1, 2, 4)
    for made in saved(tp.compile(grown, args=[info(3), sizes]), tmp_path):
        for rows in (1, np.int64(3), tp.Tensor(3), tp.DimensionSize(3), np.array(3)):
            first, second = made(numbers(3), rows)
            wanted = np.broadcast_to(numbers(3), (int(rows) * 2, 3)) + np.float32(rows)
            np.testing.assert_array_equal(np.asarray(first), wanted)
            assert second.shape == (int(rows),)
        assert str(made.input_infos["rows"]) == "DimensionInputInfo((1, 2, 4))"
        assert made.__signature__.parameters["rows"].annotation is int
        found = refused(lambda made=made: made(numbers(3), 5), "size-out-of-range")
        assert found.message == "`rows` must be between 1 and 4, but is 5"
        for wrong in (1.5, True, "2", tp.Tensor([1, 2]), np.float32(2)):
            found = refused(lambda made=made, w=wrong: made(numbers(3), w), "wrong-type")
            assert found.message.startswith("`rows` must be an integer, but is a")


def test_a_size_that_has_one_value():
    """It is a number while the function is recorded."""
    made = tp.compile(
        lambda x, n: x[: int(n)], args=[info(4)], kwargs={"n": tp.DimensionInputInfo((2, 2, 2))}
    )
    assert made(numbers(4), n=2).tolist() == [0.0, 1.0]
    refused(lambda: made(numbers(4), n=3), "size-out-of-range")


@pytest.mark.parametrize("wrong", [3, (1, 2), (3, 2, 1), "abc", tp.NamedDimension("n", 1, 2, 3)])
def test_what_is_no_range_of_a_size(wrong):
    """Three sizes in order are one."""
    if wrong == 3:
        assert tp.DimensionInputInfo(3).value_bounds.is_static()
        return
    refused(lambda: tp.DimensionInputInfo(wrong), "wrong-value")


def test_an_engine_with_a_size_as_an_argument():
    """TensorRT builds it; the size is that of an input whose elements nobody reads."""
    pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
    made = tp.compile(
        grown, 0, args=[info(3), tp.DimensionInputInfo((1, 2, 4))], target="tensorrt-rtx"
    )
    assert [each["shape"] for each in made.program.entry().manifest["inputs"]] == [
        [3],
        ["rows_value"],
    ]
    assert made.serialized_tensorrt_engine == bytes(made.program.member("tensorrt/engine.plan"))


def test_results_of_any_form(tmp_path):
    """Tuples, lists and dictionaries, within each other; lists come back as tuples."""

    def split(x):
        return {"both": [x + 1.0, (x, x)], "none": (), "last": {"x": x * 2.0}}

    for made in saved(tp.compile(split, args=[info(2)]), tmp_path):
        result = made(numbers(2))
        assert list(result) == ["both", "none", "last"]
        assert result["none"] == ()
        assert result["last"]["x"].tolist() == [0.0, 2.0]
        first, (second, third) = result["both"]
        assert [each.tolist() for each in (first, second, third)] == [[1, 2], [0, 1], [0, 1]]
        assert list(made.output_infos) == [
            "output_both_0",
            "output_both_1_0",
            "output_both_1_1",
            "output_last_x",
        ]


def test_results_have_the_names_that_they_were_given():
    """Where all are different."""

    def both(x, same):
        first, second = x + 1.0, x * 2.0
        first.name, second.name = "first", "first" if same else "second"
        return first, [second]

    made = tp.compile(both, args=[info((1, 2, 3), 2), False])
    assert {name: str(each) for name, each in made.output_infos.items()} == {
        "first": "OutputInfo([x_0, 2], float32)",
        "second": "OutputInfo([x_0, 2], float32)",
    }
    assert str(made) == (
        "Executable(x: InputInfo([(1, 2, 3), 2], float32)) -> "
        "(first: OutputInfo([x_0, 2], float32), second: OutputInfo([x_0, 2], float32))"
    )
    first, (second,) = made(numbers(1, 2))
    assert first.tolist() == [[1.0, 2.0]]
    assert second.tolist() == [[0.0, 2.0]]
    assert list(tp.compile(both, args=[info(2), True]).output_infos) == ["output0", "output1_0"]


def test_any_number_of_arguments():
    """Those behind stars are as many as were compiled for."""

    def total(*tensors, scale, **others):
        return sum(tensors[1:], tensors[0]) * scale - others["less"]

    made = tp.compile(total, args=[info(2), info(2)], kwargs={"scale": 2.0, "less": info(1)})
    assert str(inspect.signature(made)).startswith("(*tensors: ")
    assert made(numbers(2), numbers(2), less=np.ones(1, np.float32)).tolist() == [-1.0, 3.0]
    assert list(made.input_infos) == ["tensors_0", "tensors_1", "less"]
    for wrong in (
        lambda: made(numbers(2), less=np.ones(1, np.float32)),
        lambda: made(numbers(2), numbers(2)),
        lambda: made(numbers(2), numbers(2), more=np.ones(1, np.float32)),
    ):
        assert refused(wrong, "wrong-type").message.endswith("as the function was compiled for")


def test_constants_among_any_number_of_arguments():
    """They may be given again, or be left out, also of lists and dictionaries."""

    def total(*tensors, **options):
        return (tensors[0] * tensors[1] + options["more"]["x"]) * options["times"]

    more = {"x": info(2), "kind": "sum"}
    made = tp.compile(total, args=[2.0, info(2)], kwargs={"more": more, "times": 3.0})
    assert list(made.input_infos) == ["tensors_1", "more_x"]
    x = numbers(2)
    for given, options in [((x,), {}), ((2.0, x), {}), ((x,), {"times": 3.0})]:
        for inner in ({"x": x}, {"x": x, "kind": "sum"}):
            assert made(*given, more=inner, **options).tolist() == [0.0, 9.0]
    for options in ({}, {"more": {}}, {"more": {"x": x}, "others": 1}):
        found = refused(partial(made, x, **options), "wrong-type")
        assert found.message.endswith("as the function was compiled for")


def test_inputs_keep_their_order_in_files(tmp_path):
    """That of the function's parameters, of sizes, too."""
    made = tp.compile(
        lambda z, n, a: z[:n] + a, args=[info(4), tp.DimensionInputInfo((1, 2, 4)), info(1)]
    )
    made.save(tmp_path / "made.tpb")
    again = tp.Executable.load(tmp_path / "made.tpb")
    assert list(again.input_infos.items()) == list(made.input_infos.items())
    assert str(again) == str(made)
    assert list(made.input_infos) == ["z", "n", "a"]


def test_names_of_arguments_and_results():
    """Methods have a `self`; no result has an input's name, and no two inputs have one name."""
    made = tp.compile(tp.Tensor.reshape, args=[info(2, 2), (4,)])
    assert made(numbers(2, 2)).tolist() == made(self=numbers(2, 2)).tolist() == [0, 1, 2, 3]

    def named(x, output):
        first = x + 1.0
        first.name = "x"
        return first, output * 2.0

    made = tp.compile(named, args=[info(2), info(2)])
    assert list(made.output_infos) == ["x_", "output1"]
    made = tp.compile(lambda output: output + 1.0, args=[info(2)])
    assert list(made.output_infos) == ["output_"]
    with pytest.raises(DiagnosticError, match="two inputs would be called `x_0`"):
        tp.compile(lambda x, x_0: x[0] + x_0, args=[[info(2)], info(2)])


def test_constants_that_are_tensors_are_baked_in():
    """Those that were computed, those that were not, and numbers."""
    made = tp.compile(
        lambda x, y, z, by=3.0: (x + y) * z * by,
        args=[info(2), tp.Tensor([1.0, 2.0]).eval()],
        kwargs={"z": tp.ones((2,)) + 1.0},
    )
    assert list(made.input_infos) == ["x"]
    assert made(numbers(2)).tolist() == [6.0, 18.0]


def test_what_a_call_gets_wrong():
    """Each is said with the caller's line and what it was compiled for."""
    made = tp.compile(lambda x: x + 1.0, args=[info((2, 3, 4), 2)])
    cases = {
        "input-dtype": lambda: made(np.ones((2, 2))),
        "input-shape": lambda: made(numbers(2)),
        "size-out-of-range": lambda: made(numbers(5, 2)),
        "wrong-type": made,
    }
    found = {code: refused(function, code) for code, function in cases.items()}
    takes = "this was compiled for (x: InputInfo([(2, 3, 4), 2], float32))"
    assert found["size-out-of-range"].hint == takes
    assert found["wrong-type"].message == f"{takes}: missing a required argument: 'x'"
    found = refused(lambda: made([1.0, 2.0]), "wrong-type")
    assert found.message == "the input `x` must be an array, but this is a list"
    for level in (6, -1, 1.5, True):
        with pytest.raises(DiagnosticError, match="`optimization_level` cannot be"):
            tp.compile(tp.exp, level, args=[info(2)])
    found = refused(lambda: made.serialized_tensorrt_engine, "target-unfit")
    assert found.message == "this was compiled for `cpu:onnxruntime`, and has no engine"


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda x: {"a": x, "b": [x, 3]}, "result b_1 of the function must be a tensor, but is"),
        (lambda x: {1: x}, "the function's result has the key 1, which is not a string"),
        (lambda x: {"a": {"b": x}, "a_b": x}, "two results would be called `output_a_b`"),
        (lambda x: ({}, []), "the function returns nothing"),
    ],
)
def test_what_a_function_cannot_give(function, says):
    """It is refused in words."""
    found = refused(lambda: tp.compile(function, args=[info(2)]), "wrong-type")
    assert found.message.startswith(says)


@pytest.fixture
def no_gpu(monkeypatch):
    """A machine without a GPU."""
    monkeypatch.setattr(gpu, "find_gpu", lambda: Absence("no CUDA driver", "it is not there"))
    device._default.cache_clear()
    yield
    device._default.cache_clear()


@pytest.fixture
def asked(monkeypatch):
    """What is asked of CUDA on a machine with a GPU."""
    made = []
    fake = SimpleNamespace(
        stream=lambda: made.append("stream") or 0x10 * len(made),
        finish=lambda ptr: made.append(f"finish {ptr:#x}"),
        end=lambda ptr: made.append(f"end {ptr:#x}"),
    )
    monkeypatch.setattr(gpu, "find_gpu", lambda: Gpu("one", "sm89"))
    monkeypatch.setattr(cuda.Cuda, "find", lambda: fake)
    device._default.cache_clear()
    yield made
    device._default.cache_clear()


def test_streams(asked):
    """Each is one of CUDA's, which ends with it; executables wait for theirs."""
    first, default = tp.Stream(), tp.default_stream()
    assert (first.ptr, default.ptr, str(first)) == (0x10, 0x20, "<Stream 0x10>")
    assert tp.default_stream(tp.device("gpu:0")) is default
    assert first != default
    assert hash(first) == hash(0x10)
    made = tp.compile(tp.exp, args=[info(1)])
    assert made.stream is default
    made(numbers(1))
    assert asked == ["stream", "stream"]
    made.stream = first
    assert made.stream is first
    made(numbers(1))
    first.synchronize()
    assert asked[2:] == ["finish 0x10"] * 2
    del first, made
    assert asked[4:] == ["end 0x10"]


@pytest.mark.usefixtures("no_gpu")
def test_streams_without_a_gpu():
    """There are none; a program that runs as if there was a GPU has some that are never busy."""
    found = refused(tp.Stream, "no-gpu")
    assert found.message == "a stream is one of a GPU, and this machine has no CUDA driver"
    made = tp.compile(tp.exp, args=[info(1)])
    refused(lambda: made.stream, "no-gpu")
    refused(lambda: tp.default_stream(tp.device("cpu")), "wrong-value")
    refused(lambda: setattr(made, "stream", 0), "wrong-type")
    tp.config.nvtripy_devices = True
    try:
        one, other = tp.Stream(), tp.default_stream()
        assert one != other
        assert other == tp.default_stream()
        assert len({one, other, tp.default_stream()}) == 2
        assert one.ptr != other.ptr == tp.default_stream().ptr
        assert str(one) == f"<Stream {one.ptr:#x}>" != str(other)
        made.stream = one
        one.synchronize()
    finally:
        tp.config.nvtripy_devices = False
    assert made(numbers(1)).tolist() == [1.0]


def test_a_tensor_of_pytorch_is_converted_as_pytorch_does():
    """Where it has another dtype than the function was compiled for."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    made = tp.compile(tp.exp, args=[info(2)])
    found = refused(lambda: made(torch.ones(2, dtype=torch.float64)), "input-dtype")
    assert found.hint == "convert it: `input.to(torch.float32)`"
    assert made(torch.zeros(2)).tolist() == [1.0, 1.0]


def test_a_module_in_a_module_is_not_called_right():
    """The error is of the inner one, at its line; errors of `forward` itself are its own."""

    class Inner(tp.Module):
        def forward(self, x):
            return x + int(None)

    class Outer(tp.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x, *more):
            return self.inner(x, *more)

    with pytest.raises(DiagnosticError, match="`Inner` takes at most 1 positional argument"):
        Outer()(tp.ones((2,)), 3)
    with pytest.raises(TypeError, match="int"):
        Outer()(tp.ones((2,)))
