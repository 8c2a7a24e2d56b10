"""What generated code can cost is bounded before it is generated, or where it runs."""

import ast

import numpy as np
import pytest
from test_confinement import MODULE, OPERATOR, USUAL, USUAL_MODULE, problems

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.frontend.checks import Check
from tripybuild.language.limits import MAXIMUM_LENGTH, LimitError
from tripybuild.reference.numerics.numpy_guard import TooLargeError, numpy
from tripybuild.schema.snippets.extents.domain import NUMBER, SIZES, Extent
from tripybuild.schema.snippets.extents.walk import UnboundedError, Walk
from tripybuild.trace import Declaration, Law
from tripybuild.trace.location import UnknownLocation
from tripybuild.types.shapes import bounded_range, power, prod

BOMBS = [
    ("law", "9 ** 9 ** 9 > 0"),
    ("law", "N ** N > 0"),
    ("law", "len([0] * N) > 0"),
    ("law", "len(10 ** 9 * (0,)) > 0"),
    ("law", "len([a for a in range(N) for b in range(N)]) > 0"),
    ("law", "all(all(b >= 0 for b in range(N)) for a in range(N))"),
    ("law", "len(['x' * count]) > 0"),
    ("law", "round(count, count) > 0"),
    ("law", "round(5, -1000000000) > 0"),
    ("law", "sum([[0], [1]], [2]) == 0"),
    ("infer", "|\n    a = 10 ** 30\n    b = {}\n    c = {}\n    d = {}\n    return d".format(
        *(" * ".join([x] * 400) for x in "abc"))),
    ("infer", "|\n    xs = [i for i in range(N)]\n    ys = [*xs, *xs]\n    return len(ys)"),
    ("infer", "|\n    xs = [i for i in range(N)]\n    return len([x for x in xs for y in xs])"),
    ("infer", "|\n    xs = [i for i in range(N)]\n    return len([sum(xs) for x in xs])"),
    ("infer", "|\n    xs = [i for i in range(N)]\n    return len([1 for x in xs if x in xs])"),
    ("default", "9 ** 9 ** 9"),
    ("type", "T[N, 9 ** 9 ** 9]"),
    ("reference", "np.ones([len([0] * 10 ** 9)])"),
    ("reference", "np.split(input, 2) * 10 ** 9"),
    ("reference", "np.split([0] * 10 ** 9, 2)[0]"),
    ("law", "len(list(a for a in range(N) for b in range(100))) > 0"),
    ("stablehlo", "hlo.broadcast_in_dim(input, [N] * N, [0])"),
    ("tensorrt", "trt.reshape(input, [N for a in range(N) for b in range(N)])"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "text"), BOMBS)
def test_operators_without_bounds_are_refused(key, text, tmp_path):
    assert problems(tmp_path, OPERATOR.format(**USUAL | {key: text})) == ["snippet-limit"]


def test_powers_of_constants_are_bounded_where_they_run(tmp_path):
    """`2 ** count` is what an operator may need; generated code counts its bits."""
    assert problems(tmp_path, OPERATOR.format(**USUAL | {"law": "2 ** count > other"})) == []


def test_types_of_modules_without_bounds_are_refused(tmp_path):
    for shape in ("weight: F[len([0] * 10 ** 9)]", "x: F[N, len([0] * 10 ** 9)]"):
        text = MODULE.format(**USUAL_MODULE)
        kind = shape.partition(":")[0]
        text = text.replace("weight: F[width]" if kind == "weight" else "x: F[N, width]", shape)
        assert "snippet-limit" in problems(tmp_path / kind, text)


@pytest.mark.parametrize("step", ["x * (9 ** 9 ** 9)", "reshape(x, [1] * width)"])
def test_modules_without_bounds_are_refused(step, tmp_path):
    found = problems(tmp_path, MODULE.format(**USUAL_MODULE | {"step": step}))
    assert found == ["snippet-limit"]


@pytest.mark.parametrize(
    ("text", "extent"),
    [
        ("len(S) + 2", Extent(most=66)),
        ("[0] * len(S)", Extent(length=64, item=Extent(most=0))),
        ("[N, *S]", Extent(length=65, item=NUMBER)),
        ("[n for n in S if n > 1]", SIZES),
        ("2 ** 10", Extent(most=1024)),
        ("int(N == 1)", Extent(most=1)),
        ("[a for a, (b, c) in zip(S, enumerate(S))]", SIZES),
    ],
)
def test_extents(text, extent):
    known = {"S": SIZES, "N": NUMBER}
    found = Walk(known.__getitem__, frozenset()).value(ast.parse(text, mode="eval").body)
    assert (found.most, found.length, found.item) == (extent.most, extent.length, extent.item)


def test_what_is_not_known_is_not_multiplied():
    walk = Walk(lambda _: Extent(), frozenset())
    with pytest.raises(UnboundedError, match="may be a list"):
        walk.value(ast.parse("x * 2", mode="eval").body)


@pytest.mark.parametrize("failing", [lambda: 1 / 0, lambda: {}["n"], lambda: 2.0**99999])
def test_a_law_without_a_value_is_a_diagnostic(failing):
    declaration = Declaration("double", "double.yaml", {"positive": Law("1 / 0 > n")})
    check = Check(declaration, UnknownLocation())
    with pytest.raises(DiagnosticError, match="which has no value here") as raised:  # noqa: SIM117
        with check.law("positive", n=1) as require:
            require(failing() > 1)
    assert raised.value.diagnostics[0].code == "double/positive"


def test_ranges_and_products_of_calls_are_bounded():
    assert bounded_range(2, 9, 3) == range(2, 9, 3)
    for bounds in [(MAXIMUM_LENGTH + 1,), (0, 10**30), (10**9, 0, -1)]:
        with pytest.raises(LimitError, match="at most"):
            bounded_range(*bounds)
    assert prod([2, 3, 2**60]) == 6 * 2**60
    with pytest.raises(LimitError, match="bits"):
        prod([2**64] * 1000)
    assert (power(2, 10), power(2.0, 3), power(1, 10**9)) == (1024, 8.0, 1)
    with pytest.raises(LimitError, match="bits"):
        power(3, 10**9)


def test_references_write_into_nothing_by_position():
    array = np.zeros(3)
    for call in (
        lambda: numpy.abs(array, array),
        lambda: numpy.add(array, array, array),
        lambda: numpy.sum(array, 0, None, array),
        lambda: numpy.clip(array, 0, 1, array),
    ):
        with pytest.raises(TypeError, match=r"positional|by position"):
            call()
    assert not hasattr(numpy, "load")


def test_references_broadcast_to_what_fits():
    column = np.broadcast_to(np.float32(1), (1 << 20, 1))
    with pytest.raises(TooLargeError):
        numpy.add(column, column.T)
    assert numpy.add(np.ones(2), 1.0).tolist() == [2.0, 2.0]
