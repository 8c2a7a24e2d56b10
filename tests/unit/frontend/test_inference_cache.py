"""What is kept of an operation's inference is what inferring it anew gives."""

import inspect
import pkgutil
from importlib import import_module

import numpy as np
import pytest

import tripyapi as tp
import tripyapi.trace
from tripybuild.eager.compile.compile import record_function
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process import paths
from tripybuild.schema.operator.dtype_combinations import legal_tuples
from tripybuild.testing.cases import sample_case
from tripybuild.testing.registry import registry
from tripybuild.testing.sample import bind
from tripybuild.testing.target_facts import refuses_call
from tripybuild.trace import printer
from tripybuild.trace.graph import Graph

OPERATORS = registry(paths.registry()).operators
recording = import_module("tripybuild.frontend.record")  # whose name is that of a function, too
MOST = 8  # tuples of one operator


@pytest.fixture(autouse=True)
def _empty():
    recording._found.clear()


def said(graph: Graph) -> tuple[str, list[object]]:
    """All that is inferred in a graph: operations, attributes, types, and laws left open."""
    laws = [(each.code, str(each.names)) for one in graph.operations for each in one.deferred]
    return printer.text(graph), laws


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_a_second_recording_gives_what_the_first_gave(name):
    """With the sample of each tuple of dtypes."""
    operator = OPERATORS[name]
    for types in list(legal_tuples(operator))[:MOST]:
        if not refuses_call(operator, ("reference",), bind(operator, types)):
            first, second = (
                said(sample_case(operator, getattr(tp, name), types).graph) for _ in "ab"
            )
            assert first == second


def test_arguments_are_inferred_in_the_order_of_the_fields():
    """So a tensor that is given twice is told from two tensors."""
    asked = 0
    for found in pkgutil.walk_packages(tripyapi.trace.__path__, "tripyapi.trace."):
        for operation in vars(import_module(found.name)).values():
            if getattr(operation, "__module__", "") == found.name:
                taken = list(inspect.signature(operation.infer).parameters)
                assert taken == ["check", *operation.__dataclass_fields__]
                asked += 1
    assert asked > 100  # operations; the other operators are functions on them


def test_symbols_and_open_laws():
    """Sizes that are known later give the same laws; unknown ones are new in each recording."""

    def function(x, y):
        some = x + y
        return some @ tp.transpose(some, 0, 1), tp.nonzero(x)

    args = [tp.InputInfo([tp.NamedDimension(n, 1, 4, 8) for n in "nm"], tp.float32)] * 2
    first, second = (said(record_function(function, args).graph) for _ in "ab")
    assert first == second


def test_one_tensor_given_twice_and_two_tensors():
    """The types are the same, and the tensors are not."""
    one, two = tp.Tensor([1.0, 2.0]), tp.Tensor([3.0, 5.0])
    assert (one - one).tolist() == [0, 0]
    assert (one - two).tolist() == [-2, -3]
    assert tp.concatenate([one, one], 0).tolist() == [1, 2, 1, 2]
    assert tp.concatenate([two, one], 0).tolist() == [3, 5, 1, 2]


def test_numbers_that_python_takes_for_equal():
    """`1`, `1.0` and `True` are three arguments, `0.0` and `-0.0` two."""
    ones = tp.Tensor([1, 2])
    assert (ones + 1).tolist() == [2, 3]
    with pytest.raises(DiagnosticError, match="refusing to turn"):
        ones + 1.0
    x = tp.Tensor([1.0, -1.0])
    for zero, sign in ((0.0, False), (-0.0, True), (0.0, False)):
        assert np.signbit(np.asarray(tp.threshold(x, 2.0, zero))).all() == sign
    assert tp.full((2,), 1, tp.float32).tolist() == tp.full((2,), True, tp.float32).tolist()
    with pytest.raises(DiagnosticError, match="must be an integer"):
        tp.softmax(x, True)
    assert tp.softmax(tp.ones((1, 2)), 1).tolist() == [[0.5, 0.5]]
    with pytest.raises(DiagnosticError, match="must be an integer"):
        tp.softmax(tp.ones((1, 2)), True)


def test_sizes_of_tensors_are_their_values():
    """A size that a tensor holds is an attribute, and none of the tensor's type."""
    for size in (2, 3):
        rows = tp.ones((size, 4)).shape[0]
        assert tp.ones((rows, 2)).shape == (size, 2)
        assert tp.ones([rows, rows]).shape == (size, size)
        assert tp.full([2], rows, tp.int32).tolist() == [size, size]
        assert tp.arange(rows, dtype=tp.float32).shape == (size,)
        assert tp.reshape(tp.ones((size * 6,)), (rows, -1)).shape == (size, 6)


def test_what_must_be_known_is_asked_each_time():
    """A scale is known in one call, and an input in the next one of the same types."""
    x = tp.ones((2, 2))

    def known(x):
        return tp.quantize(x, tp.Tensor(0.5), tp.int8)

    def asked(x, scale):
        return tp.quantize(x, scale, tp.int8)

    record_function(known, [tp.InputInfo((2, 2), tp.float32)])
    with pytest.raises(DiagnosticError, match="known when the engine is built"):
        record_function(asked, [tp.InputInfo((2, 2), tp.float32), tp.InputInfo((), tp.float32)])
    assert tp.quantize(x, tp.Tensor(0.5), tp.int8).tolist() == [[2, 2], [2, 2]]


def test_the_cache_stays_small(monkeypatch):
    """It begins anew when it is full."""
    monkeypatch.setattr(recording, "MOST", 3)
    x = tp.ones((2, 2))
    for number in range(10):
        x + float(number)
        assert len(recording._found) <= 3


def test_no_tensor_is_kept():
    """Neither those of the call nor constants that it made."""
    x = tp.ones((2, 2))
    tp.concatenate([x + 1.5, x], 0)
    held = [value for found in recording._found.values() for value in found.arguments]
    assert held
    assert not recording._tensors(held)


def test_a_refused_call_is_refused_again():
    """Nothing of it is kept."""
    one, other = tp.ones((2,)), tp.ones((3,))
    for _ in range(2):
        with pytest.raises(DiagnosticError, match="broadcast"):
            one + other
