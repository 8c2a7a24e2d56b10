"""The backend of ONNX: models and nodes are run on arrays, as ONNX's runners ask for."""

import numpy as np
import pytest
from onnx import TensorProto, backend, defs, helper
from onnx_files import model, node, save, typed, untyped, weight

from tripybuild import onnx_backend
from tripybuild.errors.diagnostics import DiagnosticError

X = typed("x", shape=("B", 3))
VALUES = np.array([[0.5, -1.0, 2.0], [3.0, 0.25, -2.0]], np.float32)
SHAPED = model([node("Reshape", "x s", "y")], [X, typed("s", "int64", (2,))], [untyped("y")])


def test_it_is_a_backend():
    assert issubclass(onnx_backend.TripybuildBackend, backend.base.Backend)
    assert onnx_backend.supports_device("CPU")
    assert onnx_backend.supports_device("CPU:0")
    assert not onnx_backend.supports_device("CUDA")


def test_sizes_and_values_of_constants_may_change():
    prepared = onnx_backend.prepare(SHAPED)
    for shape in ([3, 2], [1, -1], [3, 2]):
        (found,) = prepared.run([VALUES, np.array(shape)])
        np.testing.assert_array_equal(found, VALUES.reshape(shape))
    (found,) = prepared.run([VALUES[:1], np.array([3, 1])])
    assert found.shape == (3, 1)


def test_inputs_are_a_list_or_by_name():
    made = model(
        [node("Sub", "a.0 b", "y")], [typed("a.0", shape=(2,)), typed("b")], [untyped("y")]
    )
    prepared = onnx_backend.prepare(made)
    one, other = np.array([1.0, 2.0], np.float32), np.array(3.0, np.float32)
    for inputs in ([one, other], (one, other), {"b": other, "a.0": one}):
        np.testing.assert_array_equal(prepared.run(inputs)[0], one - other)
    with pytest.raises(DiagnosticError, match="takes 2 inputs, and 1 are given"):
        prepared.run([one])
    with pytest.raises(DiagnosticError, match="input `b` is not given"):
        prepared.run({"a.0": one})
    with pytest.raises(DiagnosticError, match="no input `c`"):
        prepared.run({"a.0": one, "b": other, "c": one})


def test_a_sum_of_a_size_that_no_input_has():
    made = model([node("Neg", "x", "y")], [typed("x", shape=("B", "2*N + 1"))], [untyped("y")])
    np.testing.assert_array_equal(onnx_backend.run_model(made, [VALUES])[0], -VALUES)


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (model([node("Relu", "x", "y")], [X], [typed("y", shape=(2, 4))]), "the source states"),
        (model([node("Relu", "x", "y")], [X], [typed("y", "int64", (2, 3))]), "the source states"),
    ],
)
def test_definitions_of_other_types_than_the_model_states(made, says):
    with pytest.raises(DiagnosticError, match=r"import-(unread|disagreement)") as error:
        onnx_backend.run_model(made, VALUES)
    assert says in str(error.value)


def test_a_file_and_bytes(tmp_path):
    path = save(SHAPED, tmp_path / "m.onnx")
    for each in (path, str(path), path.read_bytes()):
        (found,) = onnx_backend.run_model(each, [VALUES, np.array([6, 1])])
        assert found.shape == (6, 1)


def test_nodes():
    made = onnx_backend.run_node(node("Add", "x x", "y"), [VALUES])
    np.testing.assert_array_equal(made[0], VALUES + VALUES)
    made = onnx_backend.run_node(node("Add", "x x", "y"), [VALUES, VALUES])
    np.testing.assert_array_equal(made[0], VALUES + VALUES)
    with pytest.raises(DiagnosticError, match="has 2 inputs, and 3 are given"):
        onnx_backend.run_node(node("Add", "x z", "y"), [VALUES] * 3)
    made = onnx_backend.run_node(node("Softmax", "x", "y"), [VALUES], opset_version=11)
    np.testing.assert_allclose(made[0].sum(axis=1), [1.0, 1.0], rtol=1e-6)


def test_lists_are_lists():
    nodes = [node("SequenceConstruct", "x x", "s"), node("Neg", "x", "y")]
    found, negative = onnx_backend.run_model(
        model(nodes, [X], [untyped("s"), untyped("y")]), VALUES
    )
    assert [each.tolist() for each in found] == [VALUES.tolist()] * 2
    np.testing.assert_array_equal(negative, -VALUES)


def listed(name):
    return helper.make_tensor_sequence_value_info(name, TensorProto.FLOAT, (2, 3))


def test_lists_as_inputs():
    """Each number of tensors has a program of its own."""
    at = typed("i", "int64")
    nodes = [node("SequenceInsert", "s x i", "longer"), node("SequenceLength", "longer", "n")]
    made = model(nodes, [X, listed("s"), at], [untyped("longer"), untyped("n")])
    prepared = onnx_backend.prepare(made)
    for count in (0, 2, 1, 2):
        given = [VALUES * (index + 2) for index in range(count)]
        for inputs in ([VALUES, given, np.array(0)], {"s": given, "i": np.array(0), "x": VALUES}):
            longer, length = prepared.run(inputs)
            assert length == count + 1
            np.testing.assert_array_equal(longer, [VALUES, *given])
    with pytest.raises(DiagnosticError, match="takes 3 inputs, and 1 are given"):
        prepared.run([VALUES])


@pytest.mark.parametrize("inner", [X.type, listed("").type])
def test_optional_inputs(inner):
    o = helper.make_value_info("o", helper.make_optional_type_proto(inner))
    asked = node("OptionalHasElement", "o", "y")
    made = onnx_backend.prepare(model([asked], [o], [untyped("y")]))
    given = [VALUES] if inner.WhichOneof("value") == "sequence_type" else VALUES
    assert made.run([given]) == (True,)
    assert made.run([None]) == (False,)
    taken = model([node("OptionalGetElement", "o", "y")], [o], [untyped("y")])
    np.testing.assert_array_equal(onnx_backend.run_model(taken, [given])[0], given)


def test_large_models_are_compiled():
    held = np.arange(600 * 512, dtype=np.float32).reshape(512, 600) % 7
    made = model(
        [node("MatMul", "x w", "y")],
        [typed("x", shape=("B", 512))],
        [untyped("y")],
        [weight("w", held)],
    )
    ones = np.ones((2, 512), np.float32)
    np.testing.assert_allclose(onnx_backend.run_model(made, ones)[0], ones @ held, rtol=1e-5)


def test_what_cannot_be_imported_is_said():
    strange = model([node("Unknown", "x", "y", domain="own")], [X], [untyped("y")], domains=["own"])
    assert onnx_backend.is_compatible(model([node("Relu", "x", "y")], [X], [untyped("y")]))
    assert not onnx_backend.is_compatible(strange)
    assert not onnx_backend.is_compatible(SHAPED)
    with pytest.raises(DiagnosticError, match=r"own\.Unknown"):
        onnx_backend.run_model(strange, VALUES)
    with pytest.raises(DiagnosticError, match="not on `CUDA`"):
        onnx_backend.prepare(SHAPED, "CUDA")
    with pytest.raises(DiagnosticError, match="onnx-malformed"):
        onnx_backend.prepare(b"\0\1\2")


def test_an_opset_beyond_the_table():
    """What has not changed since is what it was."""
    opset = defs.onnx_opset_version()
    made = onnx_backend.run_node(node("Relu", "x", "y"), [VALUES], opset_version=opset)
    np.testing.assert_array_equal(made[0], np.maximum(VALUES, 0))
