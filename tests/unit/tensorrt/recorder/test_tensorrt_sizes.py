"""Sizes as tensors: what a network computes for a size is what the size is, for all symbols.

The oracle runs modules in NumPy, so each size is computed as TensorRT would compute it.
"""

import os
import subprocess
import sys
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from oracles.tensorrt_numpy import evaluate as run
from tensorrt_recordings import Recording
from xdsl.ir import Block

from tripybuild.symbolic.dims import Dim, evaluate, maximum, minimum, same, select, symbol
from tripybuild.symbolic.polynomials import ComplexityError
from tripybuild.tensorrt import layers as trt
from tripybuild.tensorrt.emission import emit_module
from tripybuild.tensorrt.emission.layer_emission import placeholders
from tripybuild.tensorrt.emission.scope import Scopes, tensor
from tripybuild.tensorrt.emission.sizes import SizeTensors
from tripybuild.tensorrt.mlir import verifier
from tripybuild.tensorrt.mlir.writing import printer
from tripybuild.types.dtypes import boolean, float32, int32
from tripybuild.types.size_range import SizeRange

ROOT = Path(__file__).resolve().parents[4]
A, B, M = symbol("A", 0, 5), symbol("B", 1, 6), symbol("M", 4, 16, 4)
EXTREMES = {"A": SizeRange(0, 2, 5), "B": SizeRange(1, 2, 6), "M": SizeRange(4, 8, 16)}
LARGEST = 40  # elements along a dimension that is really made


def network(build, *inputs):
    """What `build` records on inputs."""
    return Recording("x", {f"x{i}": each for i, each in enumerate(inputs)}, build).network()


def module(build, *inputs, profiles=(EXTREMES,)):
    """The module of what `build` records, which is valid."""
    made = emit_module(network(build, *inputs), "m", profiles).module
    assert not verifier.problems(made), printer.text(made)
    return made


def computed(build, *inputs, sizes):
    """The results of a network for these sizes of its symbols, computed by the oracle."""
    given = [np.arange(prod(n), dtype=np.float64).reshape(n) for n in shapes(inputs, sizes)]
    return given, run(module(build, *inputs), "main", given)


def shapes(inputs, sizes):
    """The shapes of inputs as numbers."""
    return [tuple(evaluate(size, sizes) for size in shape) for _, shape in inputs]


def operations(made, name):
    """The operations of a name, in a module."""
    return [op for op in made.walk() if op.name == name]


# --- values ---


def combined(children):
    """Sizes of smaller sizes."""
    pair = st.tuples(children, children)
    return st.one_of(
        pair.map(lambda each: each[0] + each[1]),
        pair.map(lambda each: each[0] - each[1]),
        pair.map(lambda each: each[0] * each[1]),
        pair.map(lambda each: each[0] // maximum(each[1], 1)),
        pair.map(lambda each: each[0] % maximum(each[1], 1)),
        st.tuples(children, st.integers(1, 7)).map(lambda each: each[0] // each[1]),
        st.tuples(children, st.integers(-5, -1)).map(lambda each: each[0] // each[1]),
        st.tuples(children, st.integers(1, 7)).map(lambda each: each[0] % each[1]),
        pair.map(lambda each: maximum(*each)),
        pair.map(lambda each: minimum(*each)),
        st.tuples(children, children, children, children, st.sampled_from(COMPARISONS)).map(
            lambda each: select(each[4](each[0], each[1]), each[2], each[3])
        ),
    )


COMPARISONS = (
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
    lambda a, b: a == b,
    lambda a, b: a != b,
)
SIZES = st.recursive(
    st.one_of(st.sampled_from([A, B, M]), st.integers(-3, 20)), combined, max_leaves=6
)
NUMBERS = st.fixed_dictionaries(
    {"A": st.integers(0, 5), "B": st.integers(1, 6), "M": st.sampled_from([4, 8, 12, 16])}
)
INPUT = (float32, (A, B, M))


@settings(deadline=None, max_examples=150)
@given(st.data(), NUMBERS)
def test_a_size_is_computed_as_it_is(data, sizes):
    """As data, whatever its sign; and as the shape of a tensor."""
    try:
        size = data.draw(SIZES)
        extent = minimum(maximum(size, 0), LARGEST)
    except ComplexityError:
        assume(condition=False)
    wanted = evaluate(size, sizes)
    assume(abs(wanted) < 2**31)

    def build(_):
        one = trt.constant(1.0, float32, [1])
        return [trt.full(size, int32), trt.broadcast(one, [extent]), trt.full(size, int32, [2])]

    _, (number, repeated, twice) = computed(build, INPUT, sizes=sizes)
    assert number == wanted
    assert repeated.shape == (min(max(wanted, 0), LARGEST),)
    assert twice.tolist() == [wanted, wanted]


@pytest.mark.parametrize(
    ("shape", "sizes"),
    [
        ((B * 2, 3), {"B": 3}),
        ((B + 3,), {"B": 1}),
        ((3, M * 2 + 1), {"M": 8}),
        ((7 - A,), {"A": 5}),
    ],
)
def test_symbols_follow_from_dimensions(shape, sizes):
    """No dimension needs to be a symbol itself, if one symbol makes it."""
    wanted = next(iter(sizes.values()))
    name = symbol_of(shape)
    _, (number,) = computed(lambda _: trt.full(name, int32), (float32, shape), sizes=sizes)
    assert number == wanted


def symbol_of(shape):
    """The symbol of a shape."""
    (name,) = {s for size in shape if isinstance(size, Dim) for s in size.symbols}
    return {"A": A, "B": B, "M": M}[name]


def test_a_dimension_that_is_the_symbol_is_preferred():
    """There is less to compute."""
    made = module(lambda x, y: trt.full(B, int32), (float32, (B * 2,)), (float32, (B,)))
    assert not operations(made, "tensorrt.element_wise")


# --- once, and where they can be seen ---


def test_equal_sizes_share_one_tensor():
    """Also those that are only parts of others, and those in regions."""

    def build(p, x):
        half = A // 2
        first = trt.broadcast(x, [A * B, 4], broadcast_dims=[1])
        second = trt.broadcast(x, [half + 1, 4], broadcast_dims=[1])
        third = trt.broadcast(x, [half * B, 4], broadcast_dims=[1])

        def branch():
            wide = trt.broadcast(x, [A * B, 4], broadcast_dims=[1])
            return [trt.reduce(wide, [0], "sum")]

        return [first, second, third, *trt.if_(p, branch, branch, []), trt.full(A * B, int32)]

    made = module(lambda p, x, y: build(p, x), (boolean, ()), (float32, (4,)), (float32, (A, B)))
    arithmetic = [
        (op.value("elementwise_operation"), *op.operands)
        for op in operations(made, "tensorrt.element_wise")
    ]
    assert sorted(each[0] for each in arithmetic) == ["kFLOOR_DIV", "kPROD", "kPROD", "kSUM"]
    assert len(operations(made, "tensorrt.shape")) == 1
    (conditional,) = operations(made, "tensorrt.if")
    inside = [op.name for region in conditional.regions for op in region.walk()]
    assert inside == ["tensorrt.broadcast", "tensorrt.reduce", "tensorrt.yield"] * 2
    one, *others = [op for op in operations(made, "tensorrt.broadcast") if op.shape is not None]
    assert sum(op.shape is one.shape for op in others) == 2


def test_what_a_region_finds_stays_in_it():
    """A symbol that only a region knows is unknown outside; the innermost of two scopes counts."""
    scopes = Scopes()
    sizes = SizeTensors(scopes)
    outer, inner = Block(arg_types=[tensor(float32, (B,)), tensor(float32, (A,))]).args
    scopes.prologue.learn((B,), outer)
    with scopes.region() as scope:
        scope.learn((A, B), inner)
        made = sizes.vector([A + B])
        assert sizes.vector([B]).owner in scopes.prologue.operations
        assert made.owner in scope.operations
        with scopes.region() as innermost:
            assert sizes.vector([A + B]) is made
            assert not innermost.operations
    with pytest.raises(ValueError, match="no tensor has a dimension of size `A`"):
        sizes.vector([A])
    with scopes.region(), pytest.raises(ValueError, match="no tensor has a dimension of size `A`"):
        sizes.vector([A + B])


DIGEST = """
import sys, hashlib
sys.path.insert(0, "tests/helpers")
from tensorrt_recordings import PROFILE, RECORDINGS
from tripybuild.tensorrt.mlir.writing import printer
from tripybuild.tensorrt.emission import emit_module
found = [printer.text(emit_module(r.network(), n, [PROFILE]).module) for n, r in RECORDINGS.items()]
print(hashlib.sha256("".join(found).encode()).hexdigest())
"""


def test_the_text_is_the_same_in_each_process():
    """No order depends on how a process hashes texts."""
    found = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


# --- placeholders ---

PLACES = st.lists(
    st.one_of(st.sampled_from([A, B, M, A * B, B * 2]), st.integers(0, 3)), min_size=1, max_size=4
)


@st.composite
def reshapes(draw):
    """A shape, and another one of as many elements: permuted, joined, with ones put in."""
    before = draw(PLACES)
    after = draw(st.permutations(before))
    if len(after) > 1 and draw(st.booleans()):
        after = [after[0] * after[1], *after[2:]]
    for place in draw(st.lists(st.integers(0, len(after)), max_size=2)):
        after.insert(place, 1)
    rest = [size for size in after if not same(size, 1)]
    return before, draw(st.sampled_from([after, rest]))


def meaning(form, before):
    """What TensorRT makes of a form, for a shape of numbers; None where it cannot know."""
    placed = [before[i] if size == 0 else size for i, size in enumerate(form)]
    others = prod(size for size in placed if size != -1)
    if -1 in placed and others == 0:
        return None
    return [prod(before) // others if size == -1 else size for size in placed]


@settings(deadline=None, max_examples=300)
@given(reshapes())
def test_placeholders_mean_the_shape(pair):
    """For all sizes of the symbols, zero included."""
    before, after = pair
    form = placeholders(before, after)
    if form is None:
        return
    for a, b, m in product((0, 1, 5), (1, 2, 6), (4, 16)):
        sizes = {"A": a, "B": b, "M": m}
        numbers = [evaluate(size, sizes) for size in before]
        assert meaning(form, numbers) == [evaluate(size, sizes) for size in after]


@pytest.mark.parametrize(
    ("before", "after", "form"),
    [
        ((B, M, 3), (B, M * 3), (0, -1)),
        ((B, M), (M, B), None),
        ((B, 4), (B, 2, 2), (0, 2, 2)),
        ((A, B), (A, 1, B), None),
        ((B, A), (B, 1, A), (0, 1, -1)),
        ((0, B), (0, B), None),
        ((B, M), (B * M,), (-1,)),
        ((B, M), (M, 1, B), None),
        ((A * B,), (B * A,), (0,)),
    ],
)
def test_placeholders_are_used_where_they_can_be(before, after, form):
    """Not where a zero would be one, or where two sizes are missing, or where it is ambiguous."""
    assert placeholders(before, after) == form


@settings(deadline=None, max_examples=100)
@given(reshapes(), NUMBERS)
def test_reshapes_keep_the_elements(pair, sizes):
    """In their order, and so do shuffles after a transposition of two dimensions."""
    before, after = pair
    order = [*range(len(before))][::-1]

    def build(x, _):
        turned = trt.shuffle(x, order, after[::-1], range(len(after))[::-1])
        return [trt.reshape(x, after), turned]

    inputs = (float32, tuple(before)), INPUT
    (x, _), (same_order, turned) = computed(build, *inputs, sizes=sizes)
    shape = [evaluate(size, sizes) for size in after]
    np.testing.assert_array_equal(same_order, x.reshape(shape))
    np.testing.assert_array_equal(turned, x.transpose(order).reshape(shape[::-1]).T)
