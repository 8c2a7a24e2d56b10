"""Values of the ONNX dialect: what `+` and its kin add, and what a call takes for a tensor."""

import numpy as np
import onnx
import onnx_models
import pytest

from tripybuild.onnx import dialect
from tripybuild.onnx.completion import complete_model
from tripybuild.onnx.protobuf import encode_model
from tripybuild.onnx.table import NEWEST, find_operator
from tripybuild.types.dtypes import boolean, float32, int8, int32, int64


def computed(function, *arrays, opset=20):
    """What a function of values gives for arrays, and the operators that it added."""
    from_numpy = {np.dtype(each.numpy): each for each in (boolean, float32, int8, int32, int64)}
    types = {f"x{i}": (from_numpy[each.dtype], each.shape) for i, each in enumerate(arrays)}
    graph = dialect.OnnxGraph({}, types, opset)
    with graph:
        found = function(*graph.inputs.values())
        several = found if isinstance(found, (list, tuple)) else [found]
        graph.finish({f"y{i}": each for i, each in enumerate(several)})
    text = encode_model(complete_model(graph, "g"))
    model = onnx.load_from_string(text)
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    feeds = dict(zip(types, arrays, strict=True))
    return onnx_models.run(text, feeds), onnx_models.operators(model)


NUMBERS = np.array([-3.0, -0.5, 0.0, 2.0], np.float32)
WHOLE = np.array([-7, -1, 2, 9], np.int32)
TRUTHS = np.array([True, False, True, False])


@pytest.mark.parametrize(
    ("function", "array"),
    [
        (lambda x: [x + 1, 1 + x, x - 2, 2 - x, x * 3, 3 * x, -x], NUMBERS),
        (lambda x: [x / 2, 2 / (x + 5), x**2, 2**x, x + x], NUMBERS),
        (lambda x: [x < 1, x <= 2, x > 0, x >= 0, x % 4, x - x], WHOLE),
        (lambda x: [x & True, True & x, x | False, x ^ True, ~x], TRUTHS),
        (lambda x: [x & 6, x | 1, x ^ 5, ~x], WHOLE),
    ],
)
def test_signs_are_those_of_python(function, array):
    """A number takes the dtype of the value beside it."""
    found, _ = computed(function, array)
    for got, want in zip(found, function(array), strict=True):
        np.testing.assert_allclose(got, want, 1e-6)


def test_none_leaves_an_argument_out():
    found, _ = computed(lambda x: dialect.Clip(x, None, 1.0), NUMBERS)
    np.testing.assert_array_equal(found[0], np.minimum(NUMBERS, 1))


def test_an_input_may_be_given_by_its_name():
    """What was an attribute in an older version is one there."""

    def total(x):
        return dialect.ReduceMax(x, axes=[0], keepdims=False)

    for opset in (17, 20):
        found, added = computed(total, NUMBERS, opset=opset)
        assert (found[0], added) == (2.0, ["ReduceMax"])


def test_a_list_may_hold_tensors():
    """Numbers that are computed, as the bounds of a slice are."""
    ends = np.array(3, np.int32)
    found, _ = computed(lambda x, end: dialect.Slice(x, [1], [end]), NUMBERS, ends)
    np.testing.assert_array_equal(found[0], NUMBERS[1:3])


def test_results_that_nothing_reads_are_left_out():
    """The indices of a pooling, and a node that was added in vain."""
    image = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)

    def largest(x):
        _unread = x + 1.0
        return dialect.MaxPool(x, kernel_shape=[2, 2], strides=[2, 2])[0]

    found, added = computed(largest, image)
    assert (found[0].tolist(), added) == ([[[[5.0, 7.0], [13.0, 15.0]]]], ["MaxPool"])


def test_constants_are_there_once():
    graph = dialect.OnnxGraph({}, {"x": (float32, (2,))}, 20)
    with graph:
        (x,) = graph.inputs.values()
        graph.finish({"y": (x + 1.0) * 1.0 + dialect.tensor(1.0, float32)})
    assert len(complete_model(graph, "g").graph.initializers) == 1


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (dialect.Add, "`Add` needs `B`"),
        (lambda x: dialect.Add(x, x, x), "`Add` takes 2 inputs, not 3"),
        (lambda x: dialect.Add(x, B=None), "`Add` needs `B`"),
        (lambda x: dialect.Add(x, "1"), "`B` of `Add` is a tensor or numbers, not '1'"),
        (lambda x: dialect.Softmax(x, axes=1), "`Softmax` has no attribute `axes`"),
        (lambda x: dialect.Softmax(x, axis=0.5), "`axis` of `Softmax` is of kind int, not 0.5"),
        (lambda x: dialect.Transpose(x, perm="ab"), "`perm` of `Transpose` is of kind ints"),
        (lambda x: dialect.Concat(x, x), "`Concat` needs `axis`"),
        (lambda x: dialect.Add(x, dialect.cast(x, int64)), "`B` of `Add` is int64"),
        (lambda x: dialect.Add(dialect.cast(x, int8), 300), "int8 does not hold all of"),
        (dialect.Split, "the number of results of `Split` is not known"),
        (lambda x: x.rank, "the rank of Value"),
    ],
)
def test_what_no_version_says_is_an_error(function, message):
    with dialect.OnnxGraph({}, {"x": (float32, ())}, 20) as graph:
        (x,) = graph.inputs.values()
        x.shape = None
        with pytest.raises(ValueError, match=message):
            function(x)


def test_a_value_has_no_truth():
    with dialect.OnnxGraph({}, {"x": (float32, ())}, 20) as graph, pytest.raises(TypeError):
        bool(graph.inputs["x"])


def test_only_operators_of_the_table_are_there():
    with pytest.raises(AttributeError, match="ONNX has no operator `Sofmax`"):
        dialect.Sofmax  # noqa: B018  # it is looked up


def test_operators_with_several_results_are_declared():
    """Those for type checkers are those of the table."""
    schemas = [find_operator(name, NEWEST) for name in dialect.builders() - dialect.HELPERS.keys()]
    several = {s.name for s in schemas if len(s.outputs) > 1 or s.outputs[0].variadic}
    assert several == dialect.__annotations__.keys() & dialect.builders() - dialect.HELPERS.keys()
