"""What is easily got wrong about nvtripy, one fact after the other: a program means the same here.

Where we take more than nvtripy does, a test says what nvtripy would refuse.
"""

import contextlib
import inspect
import io
import math
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import tripyapi as tp
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.version import VERSION

X = tp.Tensor([[1.0, 2.0], [3.0, 4.0]])
NAN = tp.Tensor([float("nan")])
TYPES = {tp.float32: np.float32, tp.float16: np.float16, tp.int32: np.int32, tp.int64: np.int64}


def info(*shape):
    return tp.InputInfo(shape, tp.float32)


def refused(function, *arguments, **named):
    """The one diagnostic of a call that is refused; it points into this file."""
    with pytest.raises(tp.TripyException) as caught:
        function(*arguments, **named)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.span is None or diagnostic.span.path == __file__
    return diagnostic


def test_softmax_without_a_dimension_is_over_all():
    found = tp.softmax(X)
    assert float(tp.sum(found)) == pytest.approx(1.0)
    np.testing.assert_allclose(found, np.exp(X) / np.exp(X).sum(), rtol=1e-6)


@pytest.mark.parametrize(
    "made",
    [
        lambda: tp.arange(3),
        lambda: tp.arange(1, 7, 2),
        lambda: tp.iota([2]),
        lambda: tp.full([2], 1),
        lambda: tp.ones([2]),
        lambda: tp.zeros([2]),
    ],
)
def test_what_is_made_of_whole_numbers_is_float32(made):
    assert made().dtype == tp.float32


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        ([1, 2], tp.int32),
        ([1.0, 2.0], tp.float32),
        ([True], tp.bool),
        ([2**40, 1], tp.int64),
        ([], tp.float32),
        (3, tp.int32),
        (2.5, tp.float32),
    ],
)
def test_the_first_number_decides(data, dtype):
    assert tp.Tensor(data).dtype == dtype


@pytest.mark.parametrize("data", [[1, 2.5], [1, 2**40]])
def test_numbers_of_another_kind_are_refused(data):
    """Where nvtripy lets Python's own error through."""
    assert "the element at [1]" in refused(tp.Tensor, data).message


def test_a_dtype_and_a_device_are_for_lists():
    """nvtripy takes a dtype for the empty list alone; here any list or array that fits has one."""
    assert tp.Tensor([], dtype=tp.int64).dtype == tp.int64
    assert tp.Tensor([1, 2], dtype=tp.float16).dtype == tp.float16
    array = np.ones(2, np.float32)
    assert tp.Tensor(array.astype(np.float64), dtype=tp.float16).tolist() == [1.0, 1.0]
    assert "not all of int32" in refused(tp.Tensor, array, dtype=tp.int32).message
    assert "not all of int8" in refused(tp.Tensor, np.array([300]), dtype=tp.int8).message
    assert "device" in refused(tp.Tensor, array, device=tp.device("gpu")).message


def test_tensors_are_never_promoted():
    assert refused(lambda: tp.Tensor([1]) + tp.Tensor([1.0])).code == "add/T"
    assert refused(lambda: tp.Tensor([1]) * tp.cast(tp.Tensor([1]), tp.int64)).code == "mul/T"


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("number", [2, np.int64(2), np.int8(2)])
def test_numbers_take_the_dtype_of_the_tensor(dtype, number):
    tensor = tp.Tensor(np.ones(2, TYPES[dtype]))
    for found in (tensor * number, number * tensor, tensor - number, number - tensor):
        assert isinstance(found, tp.Tensor)
        assert found.dtype == dtype
    assert (tensor * number).tolist() == [2, 2]


@pytest.mark.parametrize(
    ("tensor", "number"),
    [([1], 1.5), ([1], np.float32(1.5)), ([True], 1), ([True], 1.0), ([1], 2.0)],
)
def test_numbers_that_would_change_are_refused(tensor, number):
    assert "refusing to turn" in refused(lambda: tp.Tensor(tensor) + number).message
    assert "refusing to turn" in refused(lambda: number + tp.Tensor(tensor)).message


def test_division_of_integers():
    """`/` cuts off, `//` goes down, and `%` has the sign of the divisor."""
    sevens = tp.Tensor([7, -7])
    assert (sevens / 2).tolist() == [3, -3]
    assert (sevens / 2).dtype == tp.int32
    assert (sevens // 2).tolist() == [3, -4]
    assert (sevens % 3).tolist() == [1, 2]
    assert (sevens % -3).tolist() == [-2, -1]
    found = refused(tp.reshape, X, [X.shape[0] / 4, 8])  # of Python's own integers
    assert found.hint == "`//` divides integers to integers"


def test_truths_are_numbers_and_truths_again():
    true, false = tp.Tensor([True]), tp.Tensor([False])
    assert (true + true).tolist() == [True]
    assert (false - true).tolist() == [True]
    assert (true - true).tolist() == [False]
    assert (true * false).tolist() == [False]
    assert (true + true).dtype == tp.bool


def test_what_is_no_number_is_at_least_and_at_most_any():
    """`>=` is what is not less."""
    assert (NAN >= 1.0).tolist() == (NAN <= 1.0).tolist() == [True]
    assert (NAN > 1.0).tolist() == (NAN < 1.0).tolist() == (NAN == NAN).tolist() == [False]
    assert (NAN != NAN).tolist() == [True]


def test_dtypes_that_are_missing():
    truth = tp.Tensor([True])
    assert refused(lambda: tp.Tensor([2]) ** 2).code == "pow/T"
    assert refused(tp.softmax, truth).code == "softmax/T"
    mean = tp.mean(tp.Tensor([1, 2]))
    assert (mean.dtype, mean.tolist()) == (tp.int32, 1)


def test_numbers_without_a_tensor():
    """They have a dtype of their own, which must be one, and one that the operator takes."""
    truth = tp.Tensor([True, False])
    assert tp.where(truth, 1, 0).dtype == tp.int32
    assert tp.where(truth, 1.5, 0.0).tolist() == [1.5, 0.0]
    found = refused(tp.where, truth, 1, 0.5)
    assert found.message == "`where` needs a tensor, or numbers of one kind"
    assert found.label == "`input` would be int32, and `other` float32"
    assert tp.where(truth, True, False).tolist() == [True, False]
    found = refused(tp.pow, True, False)
    assert (found.code, found.label) == ("pow/T", "`lhs` would be bool")


@pytest.mark.parametrize("pool", [tp.maxpool, tp.avgpool])
def test_pooling_goes_in_steps_of_one(pool):
    assert pool(tp.ones([1, 1, 4, 4]), (2, 2)).shape == (1, 1, 3, 3)


def test_padding_begins_with_the_first_dimension():
    found = tp.pad(tp.ones([1, 2]), [(1, 0), (0, 2)])
    assert found.tolist() == [[0, 0, 0, 0], [1, 1, 0, 0]]


def test_resize_says_all_dimensions():
    """nvtripy finds whole numbers by position ambiguous; here they are a shape."""
    image = tp.ones([1, 3, 2, 2])
    assert tp.resize(image, output_shape=(1, 3, 4, 6)).shape == (1, 3, 4, 6)
    assert tp.resize(image, scales=(1, 1, 2, 3)).shape == (1, 3, 4, 6)
    assert tp.resize(image, (1, 3, 4, 6)).shape == (1, 3, 4, 6)


def test_gather_is_numpys_take():
    index = tp.Tensor([[0, 1], [1, 0]])
    np.testing.assert_array_equal(tp.gather(X, 1, index), np.take(X, index, 1))
    assert X[tp.Tensor([1, 0])].tolist() == [[3, 4], [1, 2]]
    assert refused(lambda: X[tp.Tensor([True, False])]).code == "getitem/I"


def test_positions_that_are_not_there_are_refused():
    """Where the tensor is looked at, with the line of the call."""
    embedding = tp.Embedding(2, 3)
    embedding.initialize_dummy_parameters()
    for taken in (X[tp.Tensor([5])], tp.gather(X, 1, tp.Tensor([-3])), embedding(tp.Tensor([2]))):
        found = refused(taken.eval)
        assert found.message.startswith("`gather` cannot be computed: index ")
        assert found.span.path == __file__


def test_a_quantized_layer_with_a_scale_for_its_input():
    """Given to the layer afterwards, as nvtripy's programs do."""
    layer = tp.Linear(2, 2, bias=False, quant_dtype=tp.int8)
    layer.weight, layer.weight_scale = tp.Tensor([[1.0, 0.0], [0.0, 1.0]]), tp.Tensor(1.0)
    assert layer(tp.Tensor([[1.4, 2.6]])).tolist() == [[np.float32(1.4), np.float32(2.6)]]
    layer.input_scale = tp.Tensor(1.0)
    assert layer(tp.Tensor([[1.4, 2.6]])).tolist() == [[1.0, 3.0]]
    assert list(layer.state_dict()) == ["weight", "weight_scale", "input_scale"]


def test_the_scale_of_an_input_may_come_with_the_weights():
    """Or not, and is None then; one that comes is compared with what it must be."""
    layer = tp.Sequential(tp.Linear(2, 2, bias=False, quant_dtype=tp.int8))
    state = {"0.weight": tp.Tensor([[1.0, 0.0], [0.0, 1.0]]), "0.weight_scale": tp.Tensor(1.0)}
    assert layer.load_state_dict(state) == (set(), set())
    scale = {"0.input_scale": tp.Tensor(1.0)}
    assert (layer[0].input_scale, list(layer.state_dict())) == (None, [*state, *scale])
    assert layer.load_state_dict(state | scale) == (set(), set())
    assert list(layer.state_dict()) == [*state, "0.input_scale"]
    assert layer(tp.Tensor([[1.4, 2.6]])).tolist() == [[1.0, 3.0]]
    assert layer.load_state_dict(state, strict=False) == (set(scale), set())
    for kind, wrong in [(tp.int8, tp.ones([2])), (None, tp.Tensor(1.0))]:
        layer = tp.Sequential(tp.Linear(2, 2, quant_dtype=kind))
        given = {"0.input_scale": wrong}
        code = "weight-unused" if kind is None else "weight-shape"
        with pytest.raises(tp.TripyException) as caught:
            layer.load_state_dict({**layer.state_dict(), **given})
        assert [each.code for each in caught.value.diagnostics][-1] == code


@pytest.mark.parametrize("shape", [(2, 6), (4, 3)])
def test_a_layer_with_a_scale_for_each_block(shape):
    """Of int4, from a state in which scales are a matrix; both dimensions can have blocks."""
    weight = np.random.default_rng(5).normal(size=(4, 6)).astype(np.float32)
    scales = np.linspace(0.1, 0.4, math.prod(shape), dtype=np.float32).reshape(shape)
    spread = np.kron(scales, np.ones((4 // shape[0], 6 // shape[1]), np.float32))
    layer = tp.Linear(6, 4, bias=False, quant_dtype=tp.int4)
    layer.load_state_dict({"weight": tp.Tensor(weight), "weight_scale": tp.Tensor(scales)})
    x = np.eye(6, dtype=np.float32)
    wanted = (np.clip(np.round(weight / spread), -8, 7) * spread).T
    np.testing.assert_allclose(layer(tp.Tensor(x)), wanted, rtol=1e-5)
    made = tp.compile(layer, args=[info((1, 6, 8), 6)])
    np.testing.assert_allclose(made(x), wanted, rtol=1e-5)


def test_scales_that_do_not_fit_are_refused():
    """Where they are given, or by the operator that takes them."""
    layer = tp.Linear(6, 4, bias=False, quant_dtype=tp.int8)
    layer.weight = tp.ones([4, 6])
    for wrong in (tp.ones([4]), tp.ones([2, 6], tp.float16)):
        assert "`Linear.weight_scale`" in refused(setattr, layer, "weight_scale", wrong).message
    layer.weight_scale = tp.ones([2, 6])
    assert refused(layer, tp.ones([1, 6])).code == "quantize/blocks-of-four-bits"


def test_the_last_chunks_may_be_empty():
    assert [part.shape for part in tp.split(tp.ones([4]), 3)] == [(2,), (2,), (0,)]


def test_places_are_int32():
    """A tensor of rank 0 has one place, which `topk` knows."""
    values, places = tp.topk(tp.Tensor([1.0, 3.0, 2.0]), 2, 0)
    assert (values.tolist(), places.tolist(), places.dtype) == ([3, 2], [1, 2], tp.int32)
    values, places = tp.topk(tp.sum(X), 1, 0)
    assert (values.tolist(), places.tolist(), places.shape) == (10, 0, ())
    found = tp.argmax(X)
    assert (found.tolist(), found.dtype, found.shape) == (3, tp.int32, ())
    assert tp.argmin(X, 0).tolist() == [0, 0]


def test_the_variance_is_that_of_a_sample():
    assert float(tp.var(X)) == pytest.approx(np.var(X, ddof=1))
    assert math.isnan(float(tp.var(tp.Tensor([1.0]))))
    assert float(tp.var(X, correction=0)) == pytest.approx(1.25)


def test_what_has_nothing_to_do_gives_the_tensor_itself():
    assert tp.cast(X, tp.float32) is X
    assert tp.concatenate([X], 0) is X
    assert tp.squeeze(X, ()) is X


def test_shapes_are_numbers_or_sizes():
    assert X.shape == (2, 2)
    assert all(isinstance(size, int) for size in X.shape)
    seen = []

    def function(x):
        seen.append(x.shape)
        assert x.shape == (2, 3)
        return x

    tp.compile(function, args=[info(2, 3)])
    assert [type(size) for size in seen[0]] == [tp.DimensionSize] * 2


def test_what_is_made_of_sizes_is_a_size():
    size = tp.DimensionSize(6)
    for found, number in [
        (size + 1, 7), (2 * size, 12), (size - size, 0), (size / 4, 1), (size // 4, 1),
        (size % 4, 2), (tp.maximum(size, 9), 9), (tp.minimum(size, 2), 2),
        (-size, -6), (abs(-size), 6), (abs(size), 6), (-size / 4, -1), (-size // 4, -2),
    ]:  # fmt: skip
        assert isinstance(found, tp.DimensionSize)
        assert (found.dtype, found.shape, int(found)) == (tp.int32, (), number)
    assert not isinstance(tp.Tensor([1]) + size, tp.DimensionSize)
    assert not isinstance(size == 6, tp.DimensionSize)


def test_sizes_are_cut_off_where_they_are_divided():
    """Towards zero, as tensors are; what is known only when the graph runs, too."""
    made = tp.compile(lambda x: ((x.shape[0] - 4) / 2, -x.shape[0] // 2), args=[info((1, 4, 8))])
    for size, wanted in [(1, (-1, -1)), (3, (0, -2)), (4, (0, -2)), (7, (1, -4))]:
        assert tuple(each.tolist() for each in made(tp.ones([size]))) == wanted
    made = tp.compile(lambda x: x[: 4 / (x.shape[0] - 2)], args=[info((1, 4, 8))])
    assert made(tp.ones([4])).shape == (2,)
    assert refused(made, tp.ones([2])).message == "a size is divided by zero for x_0=2"


def test_sizes_are_made_of_numbers_of_any_kind():
    assert int(tp.DimensionSize(np.int64(3))) == 3
    for wrong in (True, 2.0, np.float32(2), "2", [2]):
        message = "`data` of `DimensionSize` must be an integer"
        assert refused(tp.DimensionSize, wrong).message == message


def test_slices_from_a_size_before_the_end():
    """`x[-n:]`, where `n` is a number, and where it is known only when the graph runs."""
    assert X[:, -tp.DimensionSize(1) :].tolist() == [[2], [4]]
    made = tp.compile(lambda x: x[-(x.shape[0] // 2) :], args=[info((2, 4, 8))])
    assert made(np.float32([1, 2, 3, 4, 5])).tolist() == [4, 5]


@pytest.fixture
def nvtripys_devices(monkeypatch):
    monkeypatch.setattr(tp.config, "nvtripy_devices", True)


@pytest.mark.usefixtures("nvtripys_devices")
def test_devices():
    """Lists are on the CPU, what is computed is on the GPU, and sizes are on the CPU always."""
    cpu, gpu = tp.device("cpu"), tp.device("gpu")
    x = tp.Tensor([1.0])
    assert x.device == tp.Tensor(np.ones(2)[:1].astype(np.float32)).device == cpu
    assert (x + 1.0).device == tp.ones([2]).device == gpu
    assert x.eval().device == gpu
    assert tp.Tensor([1.0], device=gpu).device == tp.Tensor([1.0], device="gpu").device == gpu
    assert tp.DimensionSize(3).eval().device == cpu
    assert tp.copy(x, cpu).device == (x + 1.0).copy(cpu).device == cpu
    assert tp.copy(tp.Tensor([1.0]), gpu).device == gpu
    assert "loc=gpu:0" in repr(x + 1.0)


@pytest.mark.usefixtures("nvtripys_devices")
def test_executables_take_what_is_on_the_gpu():
    """What was not computed yet is computed, and what was can be baked in; nvtripy refuses both."""
    two = tp.Tensor([2.0]).eval()
    made = tp.compile(lambda x: x * two, args=[info(1)])
    x = tp.Tensor([3.0])
    found = refused(made, x)
    assert found.message == "the input `x` must be on gpu:0, but is on cpu:0"
    assert found.hint == 'copy it: `tp.copy(x, tp.device("gpu"))`'
    for given in (tp.copy(x, tp.device("gpu")), x + 0.0, x.eval()):
        assert made(given).tolist() == [6.0]
        assert made(given).device == tp.device("gpu")


def test_devices_without_the_setting():
    """Everything is on the CPU, where it is, and executables take it."""
    made = tp.compile(lambda x: x + 1.0, args=[info(1)])
    assert made(tp.Tensor([1.0])).tolist() == [2.0]
    assert made(tp.Tensor([1.0])).device == (X + X).device == tp.device("cpu")


@pytest.mark.parametrize(("value", "device"), [("1", "gpu:0"), ("0", "cpu:0"), ("", "cpu:0")])
def test_the_environment_chooses_devices(value, device):
    """As a program begins."""
    code = "import tripyapi as tp; print(tp.Tensor([1]).device, (tp.Tensor([1]) + 1).device)"
    variables = {**os.environ, "TRIPYBUILD_NVTRIPY_DEVICES": value}
    variables["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["cpu:0", device]


def test_an_input_cannot_be_evaluated():
    """nvtripy warns, and refuses the graph afterwards."""
    found = refused(tp.compile, lambda x: x + (x * 2.0).eval(), args=[info(1)])
    assert "depends on the input `x`" in found.message


def test_names_are_unique():
    """nvtripy refuses a second tensor of one name; here the graph shows it with a number."""

    def twice(x):
        first, second = x + 1.0, x + 2.0
        first.name = second.name = "y"
        return first * second

    with tp.logger.use_verbosity("trace"), contextlib.redirect_stderr(io.StringIO()) as printed:
        tp.compile(twice, args=[info(1)])
    assert re.findall(r"(\w+) = add\(", printed.getvalue()) == ["y", "y_1"]


def test_a_list_of_results_is_a_tuple():
    one = tp.compile(lambda x: [x + 1.0], args=[info(1)])
    assert isinstance(one(np.float32([1])), tuple)
    alone = tp.compile(lambda x: x + 1.0, args=[info(1)])
    assert isinstance(alone(np.float32([1])), tp.Tensor)


def test_comparisons_of_whole_tensors():
    """nvtripy gives a bool and knows them outside of graphs alone; here they give tensors."""
    assert tp.allclose(X, X + 1e-7)
    assert not tp.equal(X, X + 1.0)
    assert refused(tp.allclose, tp.Tensor([1]), tp.Tensor([1])).code == "allclose/T"
    same = tp.compile(tp.equal, args=[info(1), info(1)])
    assert same(np.float32([1]), np.float32([1])).tolist() is True


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (tp.tril, ["tensor", "diagonal"]),
        (tp.outer, ["vec1", "vec2"]),
        (tp.maximum, ["lhs", "rhs"]),
        (tp.concatenate, ["tensors", "dim"]),
        (tp.squeeze, ["input", "dims"]),
        (tp.expand, ["input", "sizes"]),
    ],
)
def test_names_of_parameters(function, names):
    assert list(inspect.signature(function).parameters) == names


class Called(tp.Module):
    """What a module may do without: `super().__init__()`, and `forward`."""

    def __init__(self):
        self.scale = tp.Tensor([2.0])
        self.inner = tp.Linear(1, 1)

    def __call__(self, x):
        return self.inner(x * self.scale)


def test_modules_need_neither_init_nor_forward():
    module = Called()
    module.initialize_dummy_parameters()
    assert list(module.state_dict()) == ["scale", "inner.weight", "inner.bias"]
    assert module(tp.Tensor([[3.0]])).tolist() == [[7.0]]
    made = tp.compile(module, args=[info(1, 1)])
    assert made(np.float32([[3]])).tolist() == made(x=np.float32([[3]])).tolist() == [[7.0]]
    assert made.program.entry().manifest["arguments"] == ["scale", "inner.weight", "inner.bias"]
    assert list(tp.compile(module, kwargs={"x": info(1, 1)}).input_infos) == ["x"]
    assert refused(tp.compile, module).message == "`Called` is not given `x`"


def test_equality_is_of_elements_and_the_hash_of_objects():
    assert (X == X).tolist() == [[True, True], [True, True]]
    assert len({X, X, X + 0.0}) == 2


def test_a_module_cannot_be_hashed_in_nvtripy():
    """Its layers are dataclasses there; ours can be keys, by identity."""
    first, second = tp.Linear(1, 1), tp.Linear(1, 1)
    assert len({first, second, first}) == 2


# --- what nvtripy's own code gets wrong (docs/coming-from-nvtripy.md has the decisions) ---


def test_dimensions_that_are_not_there_are_refused():
    assert refused(tp.transpose, X, 0, 5).code == "transpose/dim1"


def test_batchnorm_knows_its_dtype():
    assert tp.BatchNorm(3, tp.float16).dtype == tp.float16


@pytest.mark.parametrize(("given", "kept"), [(3, (3,)), ([2, 3], (2, 3)), ((4,), (4,))])
def test_layernorm_has_a_shape(given, kept):
    """Also where a number is given, so that a program can ask how many dimensions there are."""
    assert tp.LayerNorm(given).normalized_shape == kept == tp.LayerNorm(given).weight.shape


@pytest.mark.parametrize("stream", [None, 1, -1])
def test_elements_are_there_for_any_stream(stream):
    """They are the processor's; NumPy's own arrays refuse every stream."""
    assert type((X + 0.0).__dlpack__(stream)).__name__ == "PyCapsule"
    assert type(X.__dlpack__(stream=stream)).__name__ == "PyCapsule"


def test_a_matrix_times_a_vector():
    assert (tp.ones([2, 3, 4]) @ tp.ones([4])).shape == (2, 3)


@pytest.mark.parametrize(
    ("function", "code"),
    [
        (tp.relu, "relu/T"),
        (lambda x: tp.masked_fill(x, tp.Tensor([True]), 1), "masked_fill/T"),
        (lambda x: 1 // x, "floordiv/T"),
        (lambda x: x // 1, "floordiv/T"),
        (lambda x: tp.squeeze(tp.reshape(x, [1, 1]), 0), "squeeze/T"),
        (lambda x: tp.unsqueeze(x, 0), "unsqueeze/T"),
        (lambda x: tp.transpose(x, 0, 0), "transpose/T"),
    ],
)
def test_operators_without_int4(function, code):
    four = tp.cast(tp.Tensor([1]), tp.int4)
    assert tp.reshape(four, [1, 1]).shape == (1, 1)
    assert refused(function, four).code == code


def test_arrays_are_no_operands():
    """NumPy leaves them to the tensor, which says what to do; numbers of NumPy's are numbers."""
    for sum in (lambda: np.ones((2, 2), np.float32) + X, lambda: X + np.ones((2, 2), np.float32)):
        assert refused(sum).hint == "make one of it: `tp.Tensor(np.ones((2, 2), np.float32))`"
    assert (np.float32(2) * X).tolist() == (X * np.float32(2)).tolist() == [[2, 4], [6, 8]]


def test_an_overload_that_does_not_fit_is_shown_at_the_call():
    found = refused(tp.arange)
    assert found.code == "arange/signature"
    assert found.span.path == __file__


def test_fields_of_a_plugin_have_any_name():
    found = refused(tp.plugin, "custom")
    assert found.notes[0].endswith("version=..., namespace=..., **fields)")


def test_names_that_are_not_there_have_hints():
    with pytest.raises(AttributeError, match=r"call the function: `tp.relu\(...\)`"):
        X.relu()
    with pytest.raises(AttributeError, match="did you mean `softmax`"):
        tp.softmaxx  # noqa: B018 - it is asked for
    with pytest.raises(AttributeError, match="did you mean `float64`"):
        tp.double  # noqa: B018 - it is asked for
    assert not hasattr(X, "__cuda_array_interface__")


# --- names that programs use ---


def test_what_nvtripy_has_as_modules():
    """In a process of its own, in which nobody has asked for the names yet."""
    code = """
import tripyapi.config as config
from tripyapi.types import IntLike, ShapeLike, TensorLike
import tripyapi as tp
config.nvtripy_devices = True
assert tp.config is config and tp.config.nvtripy_devices
assert tp.types.ShapeLike == ShapeLike and tp.types.IntLike == IntLike
assert isinstance(tp.ones([2]), TensorLike)
"""
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], env=variables, check=True)


def test_the_version():
    assert tp.__version__ == VERSION
    assert "__version__" not in tp.__all__


def test_an_executable_has_the_signature_of_its_function():
    """With the public Tensor for each input that is left."""
    made = tp.compile(
        lambda x, scale, *, y: x * scale + y, args=[info(1), 2.0], kwargs={"y": info(1)}
    )
    tensors = {name: each.annotation for name, each in inspect.signature(made).parameters.items()}
    assert tensors == {"x": tp.Tensor, "y": tp.Tensor}
    assert inspect.signature(made).return_annotation is tp.Tensor


def test_tensors_of_another_dtype_are_to_be_cast():
    made = tp.compile(lambda x: x, args=[info(1)])
    assert refused(made, tp.Tensor([1])).hint == "cast it: `tp.cast(x, tp.float32)`"


@pytest.mark.parametrize(
    ("tensor", "shown"),
    [
        (tp.Tensor([1.0, 2.5]), "tensor([1. , 2.5], dtype=float32, loc=cpu:0, shape=(2,))"),
        (tp.full([1], 2, tp.bfloat16), "tensor([2.], dtype=bfloat16, loc=cpu:0, shape=(1,))"),
        (tp.cast(X[0, :1], tp.int4), "tensor([1], dtype=int4, loc=cpu:0, shape=(1,))"),
        (
            tp.ones([2, 1, 1], tp.int8),
            "tensor(\n    [[[1]],\n\n     [[1]]],\n    dtype=int8, loc=cpu:0, shape=(2, 1, 1))",
        ),
    ],
)
def test_how_tensors_are_printed(tensor, shown):
    assert repr(tensor) == str(tensor) == shown


def test_kinds_of_dtypes():
    assert issubclass(tp.int8, tp.integer)
    assert issubclass(tp.bfloat16, tp.floating)
    assert not issubclass(tp.bool, tp.integer)
    assert isinstance(tp.bool, tp.dtype)


def test_errors_have_nvtripys_name():
    assert tp.TripyException is DiagnosticError


def test_programs_raise_them_too():
    with pytest.raises(tp.TripyException, match="the batch is empty"):
        raise tp.TripyException("the batch is empty")


def test_what_no_graph_computes_is_refused_where_it_is_looked_at():
    """Whatever is asked of a plugin without an engine, small or large."""
    for size in (2, 300):
        found = tp.plugin("custom", [tp.ones([size, size])], output_info=[(2, tp.float32)])
        assert "`plugin`" in refused(found.eval).message


@pytest.mark.parametrize("given", [{"args": info(1)}, {"args": [info(1)], "kwargs": ["x"]}])
def test_arguments_to_compile_with_stand_in_lists(given):
    found = refused(tp.compile, lambda x: x, **given)
    assert found.hint.startswith("put ")


def test_a_tensor_has_a_length_and_rows():
    """nvtripy iterates over none; here rows are taken where their number is known."""
    assert len(X) == 2
    with pytest.raises(TypeError, match="rank 0 has no length"):
        len(tp.Tensor(1.0))
    with pytest.raises(TypeError, match="rank 0 has no rows"):
        list(tp.Tensor(1.0))
    assert [row.tolist() for row in X] == X.tolist()
    added = tp.compile(lambda x: sum(row for row in x), args=[tp.InputInfo((2, 2), tp.float32)])
    assert added(X).tolist() == tp.sum(X, 0).tolist()
    assert X.trace_tensor.shape == (2, 2)


def test_the_bounds_of_a_shape():
    """`shape_bounds` has three shapes; the bounds of one size have three numbers."""
    bounds = tp.InputInfo((2, (1, 4, 8), tp.NamedDimension("n", 0, 3, 6)), tp.float32).shape_bounds
    assert (bounds.min, bounds.opt, bounds.max) == ((2, 1, 0), (2, 4, 3), (2, 8, 6))
    assert bounds == tp.Bounds(min=(2, 1, 0), opt=(2, 4, 3), max=(2, 8, 6))
    assert not bounds.is_static()
    assert info(2, 3).shape_bounds.is_static()
    assert info().shape_bounds == tp.Bounds((), (), ())
    for wrong in [((1,), (1, 2), (3,)), ((2,), (1,), (3,)), (1, (2,), 3), ("a", "b", "c")]:
        assert "is not a valid (min, opt, max) triple" in refused(tp.Bounds, *wrong).message


@pytest.mark.parametrize("shape", [2, "ab", None, {2, 3}])
def test_an_input_has_a_sequence_of_sizes(shape):
    assert "must be a sequence of sizes" in refused(tp.InputInfo, shape, tp.float32).message


def test_the_name_of_a_dimension_is_a_text():
    assert "must be a string" in refused(tp.NamedDimension, 3, 1, 2, 4).message


def test_a_list_as_an_index_has_two_meanings(monkeypatch):
    """One index for each dimension in nvtripy, rows in PyTorch: refused unless one is chosen."""
    found = refused(lambda: X[[0, 1]])
    assert found.code == "getitem/index"
    assert "one index for each dimension" in found.hint
    assert "`tp.gather(tensor, 0, rows)`" in found.hint
    monkeypatch.setattr(tp.config, "nvtripy_devices", True)
    assert X[[0, 1]].tolist() == 2
    monkeypatch.undo()
    assert refused(lambda: X[[0, 1]]).code == "getitem/index"
    assert "`tp.Tensor(np.array([0, 1]))`" in refused(lambda: X[np.array([0, 1])]).hint
    assert "`tp.where(mask, tensor, 0)`" in refused(lambda: X[X > 2]).hint


@pytest.mark.parametrize(
    ("compute", "wanted"),
    [
        (lambda x: x * x.shape[-1] ** -0.5, 2**-0.5),
        (lambda x: x / x.shape[-1] ** 0.5, 2**-0.5),
        (lambda x: x * x.shape[-1], 2.0),
        (lambda x: x.shape[-1] * 0.5 + x - 1.0, 1.0),
        (lambda x: x * (x.shape[-1] / 2), 1.0),
        (lambda x: x * 2 ** x.shape[-1], 4.0),
    ],
)
def test_a_known_size_is_a_number_where_nvtripy_refuses_it(compute, wanted):
    """Eagerly and compiled alike, also of a shape with other sizes that are not known."""
    one = tp.ones((1, 2))
    info = tp.InputInfo(((1, 1, 4), 2), tp.float32)
    for found in (compute(one), tp.compile(compute, args=[info])(one)):
        assert found.tolist()[0] == pytest.approx([wanted] * 2)


def test_a_quotient_of_sizes_is_no_number():
    """nvtripy cuts its fraction off, and Python does not: what was refused stays so."""
    half = refused(
        lambda: tp.compile(lambda x: x * (1 / x.shape[0]), args=[tp.InputInfo((2,), tp.float32)])
    )
    assert "cuts the fraction off here, and gives 0" in half.message
    assert "int(...)" in half.hint


def test_what_is_plotted():
    """Lines, histograms and bars; Matplotlib takes rows, and counts with arrays of rank 0."""
    figure = pytest.importorskip("matplotlib.figure", reason="matplotlib is not installed")
    axes = figure.Figure().subplots()
    (line,) = axes.plot(tp.Tensor([1.0, 3.0]))
    assert list(line.get_ydata()) == [1.0, 3.0]
    assert sum(axes.hist(tp.Tensor([1.0, 3.0, 3.0]))[0]) == 3
    bars = axes.bar(tp.Tensor([1.0, 2.0]), tp.Tensor([4.0, 5.0]))
    assert [each.get_height() for each in bars] == [4.0, 5.0]


def test_integers_of_rank_0_count():
    two = tp.Tensor(2)
    assert (list(range(two)), [7, 8, 9][two], round(tp.Tensor(2.6)), round(two)) == (
        [0, 1],
        9,
        3,
        2,
    )
    for wrong in (tp.Tensor(2.0), tp.Tensor([2])):
        with pytest.raises(TypeError, match="is no integer"):
            range(wrong)
    with pytest.raises(TypeError, match="is not a number"):
        round(X)


def test_a_function_without_inputs_is_told(capsys):
    """Tensors are baked in, as in nvtripy, which says nothing."""
    tp.compile(lambda baked: baked + 1, args=[X])
    assert "compiled without inputs" in capsys.readouterr().err


def test_what_was_recorded_is_text():
    """nvtripy prints it by its logger alone."""
    compiled = tp.compile(lambda x: tp.relu(x) + 1.0, args=[tp.InputInfo((2,), tp.float32)])
    lines = compiled.trace.splitlines()
    assert lines[0].startswith("def function(")
    assert any("relu(x" in line for line in lines)


def test_completions_are_what_programs_use():
    """What graphs are recorded with is there, and shown to nobody."""
    assert {"NOUN", "of", "of_size", "to_device", "type", "value"}.isdisjoint(dir(X))
    assert {"shape", "tolist", "eval"} <= set(dir(X))
    assert X.trace_tensor is X.value
