"""The Python way in: recording, places in the user's file, operators of tensors, making tensors."""

import builtins
import re
import sys
from pathlib import Path
from typing import NamedTuple

import ml_dtypes
import numpy as np
import pytest

import tripyapi as tp
from tripyapi.others import NAMES
from tripyapi.tensor import Tensor
from tripybuild.errors.diagnostics import DiagnosticError, render
from tripybuild.frontend import bind, dtype_of
from tripybuild.frontend.checks.habits import _tables, habit, meant_name
from tripybuild.reference.execute import execute
from tripybuild.symbolic.dims import symbol
from tripybuild.trace.constants import Constant
from tripybuild.trace.graph import Graph
from tripybuild.trace.location import at
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import BY_NAME, dtype, float32, int32


def given_tensor(name, *shape, dtype=float32):
    return Tensor.of(Value(TensorType(dtype, shape), name=name))


def computed(tensor):
    """What a tensor of constants holds."""
    graph = Graph("g", {}, {}, {"out": tensor.value})
    return execute(graph, {})["out"]


def refused(function):
    with pytest.raises(DiagnosticError) as raised:
        function()
    (found,) = raised.value.diagnostics
    return found


# --- making tensors ---


@pytest.mark.parametrize(
    ("data", "name", "shape"),
    [
        (3, "int32", ()),
        ([1, 2], "int32", (2,)),
        (1.5, "float32", ()),
        ([[1.0], [2]], "float32", (2, 1)),
        (True, "bool", ()),
        ([True, False], "bool", (2,)),
        (2**31, "int64", ()),
        ([-(2**31)], "int32", (1,)),
        ([-(2**31) - 1], "int64", (1,)),
        ([], "float32", (0,)),
        (np.float64(1), "float32", ()),
        (np.zeros(2, np.int64), "int64", (2,)),
        (np.zeros(2, np.int8), "int8", (2,)),
        (np.zeros(2, ">f4"), "float32", (2,)),
        (np.zeros((1, 2), ml_dtypes.bfloat16), "bfloat16", (1, 2)),
        (range(3), "int32", (3,)),
    ],
)
def test_data_says_its_dtype(data, name, shape):
    """Python's numbers have 32 bits, unless they need more; arrays keep what they have."""
    tensor = Tensor(data)

    assert (str(tensor.dtype), tensor.shape, tensor.rank) == (name, shape, len(shape))
    np.testing.assert_array_equal(computed(tensor).astype(np.float64), np.asarray(data, np.float64))


@pytest.mark.parametrize("name", BY_NAME)
def test_a_dtype_can_be_asked_for(name):
    """Values are converted as NumPy does."""
    tensor = Tensor([0, 1, 1], dtype=BY_NAME[name])

    assert tensor.dtype is BY_NAME[name]
    assert computed(tensor).astype(np.float64).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    "data",
    ["text", None, [[1], [2, 3]], np.zeros(2, np.uint16), np.zeros(2, complex), object(), [2**70]],
)
def test_data_that_is_no_tensor(data):
    """The user's line is shown."""
    found = refused(lambda: Tensor(data))

    assert found.code == "wrong-type"
    assert found.span.path == __file__


def test_a_tensor_does_not_follow_its_array():
    """What was recorded stays what it was."""
    array = np.ones(3, np.float32)
    tensor = Tensor(array)
    array[0] = 7

    assert computed(tensor).tolist() == [1, 1, 1]


def test_an_input_is_neither_true_nor_iterable():
    """Both would need its values."""
    x = given_tensor("x", 2)

    with pytest.raises(DiagnosticError, match="depends on the input `x`"):
        bool(x == x)
    with pytest.raises(DiagnosticError, match="depends on the input `x`"):
        list(x)
    with pytest.raises(TypeError, match="only when it runs"):
        list(given_tensor("y", symbol("N")))
    assert len({x, x}) == 1


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("relu", "call the function: `tp.relu(...)`"),
        ("shap", "did you mean `shape`?"),
        ("item", "write `float(tensor)` or `int(tensor)`"),
        ("T", "write `tp.transpose(tensor, 0, 1)`"),
        ("cuda", "write `tp.copy(tensor, device)`; nothing has to be moved to be computed"),
        ("astype", "write `tensor.cast(dtype)`, or `tp.copy(tensor, device)` for a device"),
        ("half", "write `tensor.cast(tp.float16)`"),
        ("detach", "nothing is differentiated here: leave it out"),
        ("add_", "a tensor never changes: `tensor = tp.add(tensor, ...)`"),
        ("new_zeros", "call the function: `tp.zeros(...)`"),
        ("sofmax", "did you mean `tp.softmax(...)`?"),
        ("foo", None),
        ("nel", None),
    ],
)
def test_an_attribute_that_tensors_have_elsewhere(name, hint):
    """What does it here is said."""
    found = refused(lambda: getattr(given_tensor("x", 2), name))

    assert (found.code, found.hint) == ("unknown-name", hint)


@pytest.mark.parametrize("place", ["package", "tensor", "module", "spec", "spec tensor", "index"])
def test_hints_name_what_is_there(place):
    """In backticks, what a hint takes from the package and what it calls of a tensor or module."""
    members = {"tensor": dir(tp.Tensor), "module": dir(tp.Module), "executable": dir(tp.Executable)}
    for name in _tables()[place]:
        assert not (place == "package" and name in tp.__all__)
        hint = habit(place, name, tp.__all__)
        for code in re.findall("`([^`]*)`", hint):
            assert {*re.findall(r"\btp\.(\w+)", code)} <= {*tp.__all__}, hint
            called = {*re.findall(r"(?<![\w.])([a-z_]+)\(", code)}
            assert called <= {*dir(builtins), "block", "first"}, hint
            for owner, member in re.findall(r"\b(tensor|module|executable)\.(\w+)", code):
                assert member in {*members[owner], "weight"}, hint


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("randn", "random_normal"),
        ("Conv2d", "Conv"),
        ("MaxPool2d", "maxpool"),
        ("LeakyReLU", "leaky_relu"),
        ("LSTM", "lstm"),
        ("mena", "mean"),
        ("sqaure", "square"),
        *dict.fromkeys(("foo", "nan", "grid", "colour", "relu"), None).items(),
    ],
)
def test_a_name_that_is_near_is_meant_only_after_a_slip(name, meant):
    """By its meaning elsewhere, by another case, or by one letter; nothing else is guessed."""
    assert meant_name(name, tp.__all__, NAMES.get) == meant


# --- recording ---


def test_only_what_is_needed_is_in_the_graph():
    """Operations in the order of recording; other results are left out."""
    x = given_tensor("x", 2)
    first, unused, second = tp.relu(x), tp.tanh(x), tp.sigmoid(x)
    graph = Graph("g", {"x": x.value}, {}, {"a": second.value, "b": first.value})

    assert unused.dtype is float32
    assert [operation.operator for operation in graph.operations] == ["relu", "sigmoid"]


def test_functions_and_methods_record_the_same():
    """A method is the function with the tensor first."""
    x = given_tensor("x", 2, 3)
    for method, function in (
        (x.reshape([6]), tp.reshape(x, [6])),
        (x.transpose(0, 1), tp.transpose(x, 0, 1)),
        (x @ x.transpose(0, 1), tp.matmul(x, tp.transpose(x, 0, 1))),
        (x[0], tp.getitem(x, 0)),
    ):
        one, two = method.value.producer, function.value.producer
        assert type(one) is type(two)
        assert method.type == function.type


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        (lambda x: x + 1, [3.0, 5.0]),
        (lambda x: 1 + x, [3.0, 5.0]),
        (lambda x: 1 - x, [-1.0, -3.0]),
        (lambda x: x - 1, [1.0, 3.0]),
        (lambda x: 8 / x, [4.0, 2.0]),
        (lambda x: 2**x, [4.0, 16.0]),
        (lambda x: x**2, [4.0, 16.0]),
        (lambda x: -x, [-2.0, -4.0]),
        (lambda x: x > 3, [False, True]),
        (lambda x: x >= 4.0, [False, True]),
        (lambda x: x == 2, [True, False]),
        (lambda x: x != 2, [False, True]),
        (lambda x: True * x if False else x * 0.5, [1.0, 2.0]),
        (lambda x: 7 // x, [3.0, 1.0]),
        (lambda x: 7 % x, [1.0, 3.0]),
        (lambda x: np.float64(2) * x, [4.0, 8.0]),
    ],
)
def test_numbers_take_the_dtype_of_the_tensor(expression, wanted):
    """On both sides."""
    result = expression(Tensor([2.0, 4.0]))

    assert computed(result).tolist() == wanted
    assert result.dtype.kind == ("boolean" if isinstance(wanted[0], bool) else "float")


@pytest.mark.parametrize(
    ("call", "code", "underlined", "label"),
    [
        (lambda x, i: x + i, "add/T", "x + i", "`x` is float32, `i` is int32"),
        (lambda x, i: i + 1.5, "add/rhs", "1.5", "`1.5` takes the dtype of the other operand"),
        (lambda x, i: 1.5 - i, "sub/lhs", "1.5", "`1.5` takes the dtype of the other operand"),
        (lambda x, i: np.pi < i, "gt/rhs", "np.pi", "`np.pi` takes the dtype of the other operand"),
        (lambda x, i: i == 1.5, "eq/rhs", "1.5", "`1.5` takes the dtype of the other operand"),
        (lambda x, i: x + "a", "add/rhs", '"a"', "found 'a'"),
        (lambda x, i: x * None, "mul/rhs", "None", "found None"),
        (lambda x, i: x * [1, [2]], "mul/rhs", "[1, [2]]", "found [1, [2]]"),
        (lambda x, i: np.ones(2) + x, "add/lhs", "np.ones(2)", "found"),
        (lambda x, i: -tp.all(x == x), "neg/T", "tp.all(x == x)", "`tp.all(x == x)` is bool"),
        (lambda x, i: tp.relu(3), "relu/input", "3", "found 3"),
        (lambda x, i: tp.relu(input=3), "relu/input", "3", "found 3"),
        (lambda x, i: tp.softmax(x, 5), "softmax/dim", "5", "found 5"),
        (lambda x, i: tp.softmax(dim=5, input=x), "softmax/dim", "5", "found 5"),
        (lambda x, i: tp.softmax(*[x, 5]), "softmax/dim", "tp.softmax(*[x, 5])", "found 5"),
        (lambda x, i: tp.softmax(x, "a"), "softmax/dim", '"a"', "found 'a'"),
        (lambda x, i: x[7], "getitem/index", "7", "found 7"),
        (lambda x, i: x[(x * 2)[7]], "getitem/index", "7", "found 7"),
        (lambda x, i: x.cast("f"), "cast/dtype", '"f"', "found 'f'"),
        (lambda x, i: tp.Tensor.cast(x, "f"), "cast/dtype", '"f"', "found 'f'"),
        (lambda x, i: tp.arange(1, "b"), "arange/stop", '"b"', "found 'b'"),
        (lambda x, i: tp.arange(1, stop="b"), "arange/stop", '"b"', "found 'b'"),
    ],
)
def test_what_does_not_fit_points_at_the_users_line(call, code, underlined, label):
    """The code names the operator and the argument; the columns are those of the argument."""
    found = refused(lambda: call(given_tensor("x", 2), given_tensor("i", 2, dtype=int32)))

    assert found.code == code
    assert label in found.label
    assert found.span.path == __file__
    line = Path(__file__).read_text(encoding="utf-8").splitlines()[found.span.line - 1]
    assert line[found.span.column - 1 : found.span.end_column - 1] == underlined


def test_a_mistake_is_shown_as_the_user_wrote_it(tmp_path, monkeypatch):
    """In a file of the user's own, with the caller's expression underlined."""
    text = (
        "import tripyapi as tp\n"
        "def block(x):\n"
        "    y = tp.relu(x)\n"
        "    return y + tp.Tensor([1.0, 2.0, 3.0])\n"
    )
    (tmp_path / "users_own.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "users_own", raising=False)
    import users_own  # noqa: PLC0415 - it was just written

    found = refused(lambda: users_own.block(given_tensor("x", 4, 5)))

    shown = render(found, lambda path: text if path.endswith("users_own.py") else None)
    assert shown.splitlines()[0].startswith("error[add/broadcastable]: ")
    assert "users_own.py:4:12" in shown
    assert " ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `y` is tensor<4x5xf32>, `tp.Tensor(" in shown


def test_columns_count_characters():
    """Also behind letters of other alphabets."""
    found = refused(lambda: ("ünïcödé", tp.relu(3)))
    line = Path(__file__).read_text(encoding="utf-8").splitlines()[found.span.line - 1]

    assert line[found.span.column - 1 : found.span.end_column - 1] == "3"


def test_a_step_is_the_place_of_all_that_it_records():
    """Whatever Python code asks for the operations."""

    class Place:
        label = "step"

        def span(self):
            raise AssertionError("nobody prints it")

    place = Place()
    with at(place):
        y = tp.relu(given_tensor("x", 2)) + 1.0
    after = tp.relu(y)

    assert y.value.producer.location is place
    assert after.value.producer.location is not place
    assert after.value.producer.location.span().path == __file__


# --- sizes ---


def test_sizes_are_symbols_where_they_are_dynamic():
    """They can be computed with, and given as shapes."""
    size = symbol("S", 1, 8)
    x = given_tensor("x", size, 4)
    y = tp.reshape(x, [x.shape[0] * 2, 2])

    assert [str(each) for each in y.shape] == ["2*S", "2"]
    assert y.rank == 2


def test_absent_operands_stay_absent():
    """None is no operand."""
    x, w = given_tensor("x", 1, 2, 8, 8), given_tensor("w", 3, 2, 3, 3)
    operation = tp.convolution(x, w).value.producer

    assert list(operation.reads()) == [x.value, w.value]


def test_several_results_are_a_tuple():
    """Each of its own type."""
    values, places = tp.topk(given_tensor("x", 4, 6), 2, 1)

    assert values.type == TensorType(float32, (4, 2))
    assert places.type == TensorType(int32, (4, 2))
    assert values.value.producer is places.value.producer


def test_numbers_are_constants_of_the_tensors_dtype():
    """They are stored as numbers, not as arrays."""
    x = given_tensor("x", 2, dtype=BY_NAME["float16"])
    (one,) = [v.producer for v in (x + 1).value.producer.reads() if v.producer]

    assert isinstance(one, Constant)
    assert one.data.number == 1
    assert isinstance(one.outputs[0].dtype, dtype)
    assert one.outputs[0].type == TensorType(BY_NAME["float16"], ())


def test_what_is_no_tensor_is_named_with_the_way_to_one():
    """Data is shown in short with a hint; lists of tensors and words are no data."""
    array = refused(lambda: tp.relu(np.zeros((400, 400), np.float32)))
    assert (array.code, array.label) == ("relu/input", "found an array of shape [400, 400]")
    assert array.hint == "make one of it: `tp.Tensor(np.zeros((400, 400), np.float32))`"

    numbers = refused(lambda: tp.relu(list(range(1000))))
    assert numbers.label == "found [0, 1, 2, ..., 999]"
    assert numbers.hint == "make one of it: `tp.Tensor(list(range(1000)))`"

    for wrong in ([tp.ones((2,))], "word", None):
        found = refused(lambda wrong=wrong: tp.where(tp.ones((2,)) > 0, tp.ones((2,)), wrong))
        assert found.code == "where/other"
        assert found.hint is None


def test_numbers_that_a_dtype_cannot_hold_are_refused():
    """A number takes the dtype of the other operand only if it is one of its values."""
    assert refused(lambda: tp.ones((2,), tp.int32) + 2**31).code == "add/rhs"
    assert refused(lambda: tp.ones((2,)) + 10**400).code == "add/rhs"
    assert (tp.ones((2,), tp.int32) + (2**31 - 1)).dtype is int32


def test_a_dtype_of_numpy_or_a_misspelled_one_gets_a_hint():
    """NumPy's dtypes have the names of ours."""
    x = tp.ones((2,))
    for wrong in (np.float16, np.dtype("float16"), "flaot16"):
        assert refused(lambda wrong=wrong: tp.cast(x, wrong)).hint == "did you mean `tp.float16`?"


def test_an_index_is_shown_as_it_was_written():
    """Slices have their colons."""
    assert refused(lambda: tp.ones((2, 3))[:, ::2, 1:]).label == "found [:, ::2, 1:]"


def test_whole_numbers_tell_ways_to_call_apart():
    """Fractions are no sizes: a call with them fits a way that takes numbers."""
    ways = ("input, shape#, mode?", "input, scales, mode?")

    def given(*arguments, **named):
        return bind("grow", arguments, named, ways, input=None, shape=None, mode="a", scales=None)

    assert given(1, (2, 3)) == (1, (2, 3), "a", None)
    assert given(1, (2, 3.0), "b") == (1, None, "b", (2, 3.0))
    assert given(1, scales=(2, 3)) == (1, None, "a", (2, 3))
    with pytest.raises(DiagnosticError) as raised:
        given(1, shape=[0.5])
    assert raised.value.diagnostics[0].code == "grow/signature"
    assert "grow(input, shape, mode=...)" in str(raised.value)


def test_a_declaration_can_ask_for_a_dtype():
    assert dtype_of(given_tensor("x", 2, dtype=int32)) is int32


def test_devices_are_words_or_objects():
    """Both are known; the only index is 0."""
    x = tp.Tensor([1.0, 2.0])
    for device in ("cpu", "gpu:0", tp.device("gpu"), tp.device("cpu:0")):
        assert tp.copy(x, device).shape == (2,)
    for device in ("tpu", "gpu:1", "cpu:", 0, None):
        with pytest.raises(DiagnosticError) as raised:
            tp.copy(x, device)
        assert raised.value.diagnostics[0].code == "copy/device"


class Size(NamedTuple):
    """A tuple with names, as libraries give shapes."""

    height: int
    width: int


def test_a_shape_may_have_names():
    """It is a tuple."""
    for _ in range(2):  # found, and known
        assert tp.reshape(tp.ones((6,)), Size(2, 3)).shape == (2, 3)
    assert tp.permute(tp.ones((4, 5)), Size(1, 0)).shape == (5, 4)
