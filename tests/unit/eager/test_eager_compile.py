"""Tests of `tp.compile`: functions as executables, with constants, ranges, containers and files."""

import inspect
from typing import NamedTuple

import numpy as np
import pytest

import tripyapi as tp
from tripybuild.errors.diagnostics import DiagnosticError


def info(*shape):
    return tp.InputInfo(shape, tp.float32)


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def refused(function, code):
    with pytest.raises(DiagnosticError) as caught:
        function()
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code
    return diagnostic


def test_a_function_becomes_an_executable(tmp_path):
    """It gives what the function gives, also when it was saved and loaded."""

    def affine(x, scale):
        """Scale and shift."""
        return x * scale + tp.Tensor([1.0, 2.0, 3.0])

    made = tp.compile(affine, args=[info(2, 3), info(1)])
    made.save(tmp_path / "affine.tpb")
    x, scale = numbers(2, 3), np.float32([2])
    for each in (made, tp.Executable.load(tmp_path / "affine.tpb")):
        wanted = affine(tp.Tensor(x), tp.Tensor(scale)).tolist()
        assert each(x, scale).tolist() == wanted
        assert each(tp.Tensor(x), scale=tp.Tensor(scale) + 0.0).tolist() == wanted
        assert list(inspect.signature(each).parameters) == ["x", "scale"]
        assert {name: str(i) for name, i in each.input_infos.items()} == {
            "x": "InputInfo([2, 3], float32)",
            "scale": "InputInfo([1], float32)",
        }


def test_sizes_in_ranges():
    """One executable takes all of them; those outside are refused."""
    batch = tp.NamedDimension("batch", 1, 2, 4)
    made = tp.compile(lambda x, y: x + y, args=[info(batch, 3), info(batch, (1, 3, 3))])
    for size in (1, 2, 4):
        assert made(numbers(size, 3), numbers(size, 3)).shape == (size, 3)
    found = refused(lambda: made(numbers(5, 3), numbers(5, 3)), "size-out-of-range")
    assert "batch" in found.message
    with pytest.raises(DiagnosticError):
        made(numbers(2, 3), numbers(1, 3))


def test_shapes_are_sizes_while_a_function_is_recorded():
    """What is computed of them is said in the executable, not recorded as data."""

    def halves(x):
        assert isinstance(x.shape[0], tp.DimensionSize)
        rows, columns = x.shape
        assert int(columns) == 4
        return tp.reshape(x, [rows * 2, columns / 2]), x[: rows // 2]

    made = tp.compile(halves, args=[info((2, 4, 8), 4)])
    flat, first = made(numbers(6, 4))
    assert flat.shape == (12, 2)
    assert first.tolist() == numbers(3, 4).tolist()
    assert made.program.entry().manifest["operations"] == 2


def test_constants_and_containers():
    """Infos may be in lists and dictionaries; what is no info is baked in."""

    def mix(parts, options, power=2.0):
        total = parts[0] + parts[1]["b"]
        return {"plus": total, "times": total * power}[options["what"]]

    made = tp.compile(
        mix, args=[[info(2), {"b": info(2)}], {"what": "times"}], kwargs={"power": 3.0}
    )
    assert made([numbers(2), {"b": numbers(2)}]).tolist() == [0.0, 6.0]
    assert refused(lambda: made([numbers(2)]), "wrong-type").message.startswith("`parts` must be")
    assert refused(lambda: made(numbers(2), 1), "wrong-type").message.startswith(
        "this was compiled"
    )


def test_one_result_in_a_list_is_a_tuple():
    """And several are."""
    assert isinstance(tp.compile(lambda x: [x + 1.0], args=[info(2)])(numbers(2)), tuple)
    assert len(tp.compile(lambda x: (x + 1.0, x * 2.0), args=[info(2)])(numbers(2))) == 2


def test_parameters_of_a_module_are_weights(tmp_path):
    """They keep their names; methods of modules have them, too."""

    class Scale:
        def __init__(self):
            self.weight = tp.Tensor([2.0, 3.0])

        def named_parameters(self):
            yield "weight", self.weight

        def __call__(self, x):
            return x * self.weight

        def forward(self, x):
            return x * self.weight

    module = Scale()
    for function in (module, module.forward):
        made = tp.compile(function, args=[info(4, 2)])
        assert made.program.entry().manifest["arguments"] == ["weight"]
        made.save(tmp_path / "scale.tpb")
        assert (
            tp.Executable.load(tmp_path / "scale.tpb")(np.ones((4, 2), np.float32)).tolist()
            == [[2.0, 3.0]] * 4
        )


def test_an_engine_of_a_function():
    """TensorRT's, without a GPU: it is built, and says that it cannot run here."""
    pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
    made = tp.compile(
        lambda x: tp.softmax(x @ tp.Tensor(np.eye(3, dtype=np.float32)), 1),
        optimization_level=1,
        args=[info((1, 2, 4), 3)],
        target="tensorrt-rtx",
    )
    (entry,) = made.program.entry().manifest["inputs"]
    assert entry["shape"] == ["x_0", 3]
    assert made.program.member("tensorrt/engine.plan").nbytes > 1000


CASES = {
    "a wrong argument": (lambda: tp.compile(tp.exp, args=[info(2), info(2)]), "wrong-type"),
    "no function": (lambda: tp.compile(tp.ones((2,)), args=[info(2)]), "wrong-type"),
    "no tensor": (lambda: tp.compile(lambda x: 3, args=[info(2)]), "wrong-type"),
    "nothing": (lambda: tp.compile(lambda x: [], args=[info(2)]), "wrong-type"),
    "its elements": (lambda: tp.compile(lambda x: x + float(x), args=[info(1)]), "not-known-yet"),
    "its truth": (
        lambda: tp.compile(lambda x: x if x > 0 else -x, args=[info(1)]),
        "not-known-yet",
    ),
    "its size": (
        lambda: tp.compile(lambda x: tp.ones([int(x.shape[0])]), args=[info((1, 2, 3))]),
        "not-known-yet",
    ),
    "two ranges": (
        lambda: tp.compile(
            lambda x, y: x + y,
            args=[
                info(tp.NamedDimension("n", 1, 2, 3)),
                info(tp.NamedDimension("n", 1, 2, 4)),
            ],
        ),
        "bad-range",
    ),
    "no name": (
        lambda: tp.compile(tp.exp, args=[info(tp.NamedDimension("a b", 1, 2, 3))]),
        "bad-range",
    ),
    "no range": (lambda: info((3, 2, 1)), "wrong-value"),
    "no size": (lambda: info(1.5), "wrong-value"),
    "no dtype": (lambda: tp.InputInfo([1], "float32"), "wrong-type"),
    "no target": (lambda: tp.compile(tp.exp, args=[info(1)], target="gpu"), "unknown-target"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_compiled_is_said(case):
    """With the user's line, where there is one."""
    function, code = CASES[case]
    found = refused(function, code)
    assert found.span is None or found.span.path == __file__


def test_the_law_of_the_operator_that_was_called_is_said_first():
    """An operation that it is made of breaks one of its own in consequence."""
    info = tp.InputInfo(((1, 2, 4), 4), tp.float32)
    with pytest.raises(tp.TripyException) as error:
        tp.compile(lambda x: tp.squeeze(x, 0), args=[info])
    codes = [each.code for each in error.value.diagnostics]
    assert codes == ["squeeze/sizes-are-one", "reshape/same-volume"]


class Pair(NamedTuple):
    """Two tensors with names."""

    one: tp.Tensor
    other: tp.Tensor


def test_a_tuple_with_names_keeps_them():
    made = tp.compile(lambda pair: pair.one - pair.other, args=[Pair(info(2), info(2))])
    assert made(Pair(tp.Tensor([3.0, 4.0]), tp.Tensor([1.0, 5.0]))).tolist() == [2.0, -1.0]


def test_a_function_that_takes_an_info_fails_with_its_own_error():
    """What else it takes may be a constant that is meant."""
    with pytest.raises(AttributeError, match="'int' object has no attribute 'shape'"):
        tp.compile(lambda x, n: x * n.shape[0], args=[info(2), 3])
    with pytest.raises(KeyError, match="size"):
        tp.compile(lambda module: {}["size"], args=[tp.Linear(2, 3)])
