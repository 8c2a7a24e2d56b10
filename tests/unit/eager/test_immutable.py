"""Tensors are copied and kept as Python's own numbers are, and nobody assigns to them."""

import copy
import pickle

import numpy as np
import pytest

import tripyapi as tp
from tripybuild.errors.diagnostics import DiagnosticError

WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [tp.float32, tp.bfloat16, tp.int4, tp.bool])
def test_a_copy_holds_the_same(way, dtype):
    """Computed already, or not yet."""
    numbers = tp.Tensor([[1, 0], [3, 4]])
    for tensor in (tp.cast(numbers, dtype), tp.cast(numbers, dtype).eval()):
        made = WAYS[way](tensor)
        assert made is not tensor
        assert type(made) is type(tensor)
        assert made.dtype is dtype
        assert made.tolist() == tensor.tolist()


@pytest.mark.parametrize("way", WAYS)
def test_names_devices_and_sizes_are_kept(way):
    """All that a tensor says of itself."""
    tensor = tp.Tensor([1.0], device="gpu", name="x")
    made = WAYS[way](tensor)
    assert (made.name, made.device) == ("x", tp.device("gpu"))
    size = tp.DimensionSize(3)
    assert type(WAYS[way](size)) is tp.DimensionSize
    assert WAYS[way](size).tolist() == 3


@pytest.mark.parametrize("way", WAYS)
def test_modules_and_states_are_copied(way):
    """A copy can be given other weights, and the first one keeps its own."""
    layer = tp.Linear(2, 3)
    layer.initialize_dummy_parameters()
    made = WAYS[way](layer)
    made.weight = tp.zeros((3, 2))
    assert np.asarray(layer.weight).sum() == 6
    assert np.asarray(made.weight).sum() == 0
    state = WAYS[way](layer.state_dict())
    np.testing.assert_array_equal(state["bias"], layer.bias)


def test_what_is_not_known_yet_is_not_kept():
    """A parameter that nobody has given, and an input of a function that is recorded."""
    with pytest.raises(DiagnosticError, match="is not initialized"):
        pickle.dumps(tp.Linear(2, 3))
    with pytest.raises(DiagnosticError, match="depends on the input"):
        tp.compile(pickle.dumps, args=[tp.InputInfo((2,), tp.float32)])


def test_nothing_is_assigned_to_a_part():
    """Others hold the same tensor."""
    x = tp.Tensor([1.0, 2.0])
    with pytest.raises(TypeError, match="never changes") as caught:
        x[0] = 3.0
    assert "`where`" in str(caught.value)
    with pytest.raises(DiagnosticError, match="never changes"):
        del x[0]
    before = x
    x += 1.0
    assert (before.tolist(), x.tolist()) == ([1, 2], [2, 3])


def test_numbers_are_formatted():
    """As Python's own; what is no number shows itself."""
    assert f"{tp.Tensor(1.25):.1f} {tp.Tensor([[7]]):03d}" == "1.2 007"
    assert f"{tp.DimensionSize(5):>3}" == "  5"
    x = tp.Tensor([1.0, 2.0])
    assert f"{x}" == str(x)
    with pytest.raises(DiagnosticError, match="is not a number"):
        format(x, ".1f")
