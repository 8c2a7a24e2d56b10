"""Call programs that are said with fewer calls, which give the same."""

import numpy as np
import pytest
from built_programs import ProgramBuilder
from call_programs import run_calls

import tripyapi as tp
from tripybuild.importer.raising.default_arguments import drop_arguments
from tripybuild.importer.raising.simplify import simplify
from tripybuild.importer.raising.size_makers import make_buffers
from tripybuild.packages.builtin import builtin_registry


@pytest.fixture(scope="module")
def operators():
    return builtin_registry().operators


@pytest.fixture
def simplified(operators):
    """The operators that are left of a program, which still gives the same."""

    def run(program, **inputs):
        wanted = run_calls(program, inputs)
        program = simplify(program, operators)
        for name, found in run_calls(program, inputs).items():
            np.testing.assert_array_equal(found, wanted[name])
        return [call.operator for call in program.graph.calls]

    return run


def _floats(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def test_numbers_that_change_nothing(simplified):
    build = ProgramBuilder("neutral", B=(1, 8))
    x, n = build.input("x", "B", 4), build.input("n", "B", dtype=tp.int32)
    y = build.call("mul", lhs=x, rhs=1.0)
    z = build.call("add", lhs=y, rhs=0.0)  # makes 0 of -0
    m = build.call("add", lhs=0, rhs=build.call("sub", lhs=n, rhs=0))
    k = build.call("sub", lhs=0, rhs=n)
    program = build.program(z=z, m=m, k=k)
    given = {"x": np.array([[-0.0, 1, 2, 3]], np.float32), "n": np.array([5], np.int32)}
    assert simplified(program, **given) == ["add", "sub"]


def _grid(build, name, shape, place):
    """The numbers along a size, with dimensions of one around them."""
    numbers = build.call("arange", stop=build.symbols[name], dtype=tp.int64)
    sizes = [1] * len(shape)
    sizes[place] = build.symbols[name]
    return build.call("reshape", input=numbers, shape=sizes)


def test_masks_that_follow_from_sizes(simplified):
    build = ProgramBuilder("mask", B=(1, 8), S=(2, 9))
    mask = build.input("mask", "B", "S", dtype=tp.bool)
    shape = [build.symbols["B"], 1, 1, build.symbols["S"]]
    places = [build.call("expand", input=_grid(build, "B", shape, 0), sizes=shape)]
    places += [build.call("expand", input=_grid(build, "S", shape, 3), sizes=shape)]
    index = build.call("stack", tensors=places, dim=-1)
    chosen = build.call("gather_nd", input=mask, index=index)
    everywhere = build.call("ge", lhs=_grid(build, "S", shape, 3), rhs=0)
    result = build.call("logical_and", lhs=everywhere, rhs=chosen)
    given = {"mask": np.array([[True, False, True], [False, True, True]])}
    assert simplified(build.program(y=result), **given) == ["getitem"]


def test_elements_that_are_taken_in_another_order(simplified):
    """What only looks as if it changed nothing stays."""
    build = ProgramBuilder("order", S=(2, 9))
    x = build.input("x", "S")
    numbers = build.call("arange", stop=build.symbols["S"], dtype=tp.int64)
    last = build.call(
        "sub", lhs=build.call("number", value=build.symbols["S"], dtype=tp.int64), rhs=1
    )
    back = build.call("gather", input=x, dim=0, index=build.call("sub", lhs=last, rhs=numbers))
    same = build.call("gather", input=x, dim=0, index=numbers)
    found = simplified(build.program(y=back, z=same), x=_floats(3))
    assert found.count("gather") == 1


def test_equal_calls_are_one(simplified):
    build = ProgramBuilder("equal", B=(1, 8))
    x = build.input("x", "B", 4)
    one, other = (build.call("tanh", input=x) for _ in range(2))
    y = build.call("add", lhs=one, rhs=other)
    assert simplified(build.program(y=y), x=_floats(2, 4)) == ["tanh", "add"]


def test_conditions_that_hold_for_some_sizes_alone(simplified):
    build = ProgramBuilder("some", S=(2, 9))
    x = build.input("x", "S", dtype=tp.bool)
    numbers = build.call("arange", stop=build.symbols["S"], dtype=tp.int64)
    y = build.call("logical_and", lhs=x, rhs=build.call("lt", lhs=numbers, rhs=4))
    found = simplified(build.program(y=y), x=np.ones(6, bool))
    assert found == ["arange", "lt", "logical_and"]


@pytest.mark.parametrize("window", [7, 500])
def test_a_window_that_only_long_sequences_leave(simplified, window):
    """What holds for short sequences need not hold for long ones."""
    build = ProgramBuilder("window", S=(2, 900))
    x = build.input("x", "S", dtype=tp.bool)
    numbers = build.call("arange", stop=build.symbols["S"], dtype=tp.int64)
    y = build.call("logical_and", lhs=x, rhs=build.call("lt", lhs=numbers, rhs=window))
    assert "lt" in simplified(build.program(y=y), x=np.ones(6, bool))
    build = ProgramBuilder("window", S=(2, window))
    x = build.input("x", "S", dtype=tp.bool)
    numbers = build.call("arange", stop=build.symbols["S"], dtype=tp.int64)
    y = build.call("logical_and", lhs=x, rhs=build.call("lt", lhs=numbers, rhs=window))
    assert simplified(build.program(y=y), x=np.ones(6, bool)) == []


def test_a_table_that_is_shorter_than_some_sizes(simplified):
    build = ProgramBuilder("table", B=(1, 900), S=(1, 900))
    x = build.input("x", "B", "S", dtype=tp.int64)
    table = build.call(
        "reshape", input=build.call("arange", stop=64, dtype=tp.int64), shape=[1, 64]
    )
    end = slice(None, build.symbols["S"])
    row = build.call("getitem", input=table, index=(slice(None), end))
    sizes = [build.symbols["B"], build.symbols["S"]]
    y = build.call("add", lhs=x, rhs=build.call("expand", input=row, sizes=sizes))
    assert "expand" in simplified(build.program(y=y), x=np.ones((2, 6), np.int64))


def test_arguments_that_change_nothing(operators):
    """A mask that hides nothing, the scale that attention has anyway, and what repeats a mask."""
    build = ProgramBuilder("masks", B=(1, 8), S=(2, 9))
    size = build.symbols["S"]
    query = build.input("query", "B", 2, "S", 4)
    seen = build.input("seen", "B", 1, 1, "S", dtype=tp.bool)
    everywhere = build.call("ones", shape=[1, 1, size, 1], dtype=tp.bool)
    both = build.call("logical_and", lhs=everywhere, rhs=seen)
    given = {"query": query, "key": query, "value": query}
    y = build.call("attention", **given, mask=everywhere, scale=0.5)
    z = build.call("attention", **given, mask=both, scale=0.25)
    program = build.program(y=y, z=z)
    inputs = {"query": _floats(2, 2, 3, 4), "seen": np.array([[[[True, False, True]]]] * 2)}
    expected = run_calls(program, inputs)
    changed = drop_arguments(program, operators)
    first, second = changed.graph.calls
    assert [*first.arguments] == ["query", "key", "value"]
    assert (second.arguments["mask"], second.arguments["scale"]) == (seen, 0.25)
    for name, found in run_calls(changed, inputs).items():
        assert found == pytest.approx(expected[name], abs=1e-6)


def test_arguments_that_change_no_random_value_stay(operators):
    """Bounds beyond them, an epsilon near the default, a window that only long sequences leave."""
    build = ProgramBuilder("bounds", B=(1, 8), S=(2, 900))
    x = build.input("x", "B", 2, "S", 4)
    numbers = build.call("arange", stop=build.symbols["S"], dtype=tp.int64)
    columns = build.call("unsqueeze", input=numbers, dim=1)
    far = build.call("sub", lhs=columns, rhs=numbers)
    near = build.call("lt", lhs=build.call("abs", input=far), rhs=16)
    y = build.call("clip", input=x, min=-100.0, max=100.0)
    z = build.call("layernorm", input=x, eps=9.9e-6)
    default = build.call("layernorm", input=x, eps=1e-5)
    seen = build.call("attention", query=x, key=x, value=x, mask=near)
    program = build.program(y=y, z=z, default=default, seen=seen)
    *_, clip, norm, other, attention = drop_arguments(program, operators).graph.calls
    assert (clip.arguments["min"], clip.arguments["max"]) == (-100.0, 100.0)
    assert norm.arguments["eps"] == 9.9e-6
    assert "eps" not in other.arguments
    assert "mask" in attention.arguments


def test_what_is_computed_of_equal_parts_is_computed_once(simplified):
    """The parts of a tensor that repeats another one; a sum over both is no such thing."""
    build = ProgramBuilder("parts", S=(2, 9))
    x, z = build.input("x", "S", 4), build.input("z", "S", 4)
    both = build.call("concatenate", tensors=[x, x], dim=1)
    y = build.call("mul", lhs=build.call("cos", input=both), rhs=2.0)
    row = build.call("softmax", input=both, dim=1)
    other = build.call("exp", input=build.call("concatenate", tensors=[x, z], dim=1))
    program = build.program(y=y, row=row, other=other)
    found = simplified(program, x=_floats(3, 4), z=_floats(3, 4))
    assert found == ["concatenate", "cos", "mul", "concatenate", "softmax", "concatenate", "exp"]


def test_elements_beside_a_value_of_their_dtype_stay(simplified):
    """Places in the order of elements are integers, beside which no value of floats can stand."""
    build = ProgramBuilder("filled")
    x, zero = build.input("x", 3), build.call("full", shape=[], value=0.0, dtype=tp.float32)
    given = {"input": x, "start": [-1], "size": [3], "step": [1], "mode": "fill", "value": zero}
    found = simplified(build.program(y=build.call("slice", **given)), x=_floats(3))
    assert found[-1] == "slice"


def test_buffers_of_booleans_with_dimensions_of_one(operators):
    """What makes no row, such as one number, is no beginning of a chain."""
    build = ProgramBuilder("buffer")
    x = build.input("x", 2, 1, 7, 1, dtype=tp.bool)
    mask = build.weight("mask", 1, 1, 7, 1, dtype=tp.bool, value=True)
    program = build.program(y=build.call("logical_and", lhs=x, rhs=mask))
    made = make_buffers(program, operators)
    assert [call.operator for call in made.graph.calls] == ["ones", "logical_and"]
