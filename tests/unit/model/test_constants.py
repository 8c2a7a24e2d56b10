"""`constants:`: computed once when a model is built, kept as arrays, and shared."""

import numpy as np
import pytest
import written

import tripybuild
from tripybuild.model import constants, replay
from tripybuild.trace import printer

BLOCK = """
    sizes:
      width: 4
    types:
      F: {}
    inputs:
      x: F[B, width]
    parts:
      a: block(3) * 2
      b: block(3)
      c: block(5)
    outputs:
      y: c(b(a(x)))
    define:
      block:
        sizes: [by]
        inputs:
          x: F[B, width]
        constants:
          places: cast(arange(width), F)
          rates: exp(places * (0.25 / by))
        outputs:
          out: x * rates + places
    """


def arrays(graph):
    """Give the constants of a graph that are arrays."""
    found = [o for o in graph.operations if o.operator == "constant"]
    return [operation.data for operation in found if operation.data.number is None]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_constants_are_arrays_that_parts_share(tmp_path, dtype):
    """One for all equal ones; what leads to it is not in the graph."""
    graph = written.graph(tmp_path, BLOCK.format(dtype))

    held = arrays(graph)

    assert [
        operation.operator for operation in graph.operations if operation.operator != "constant"
    ] == [*["mul", "add"] * 4]
    assert len(held) == 3
    assert {str(data.array.dtype) for data in held} == {dtype}
    assert [0, 1, 2, 3] in [data.array.tolist() for data in held]


def test_copying_a_part_shares_its_constants(tmp_path, monkeypatch):
    """The graph is the one of running each part."""
    copied = written.graph(tmp_path, BLOCK.format("float32"))
    monkeypatch.setattr(replay, "replay_key", lambda *_: object())
    run = written.graph(tmp_path, BLOCK.format("float32"))

    assert printer.canonical(copied) == printer.canonical(run)


@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_what_constants_are(tmp_path, target):
    """The numbers that the references of the operators give, after a second process, too."""
    path = written.write(tmp_path, BLOCK.format("float32"))
    x = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)
    places, wanted = np.arange(4.0), x.astype(np.float64)
    for by in (3, 3, 3, 5):
        wanted = wanted * np.exp(places * (0.25 / by)) + places

    tripybuild.compile(path, target=target, output=tmp_path / "tiny.tpb")

    got = tripybuild.load(tmp_path / "tiny.tpb")(x=x)["y"]
    np.testing.assert_allclose(got, wanted, rtol=1e-5)


def test_constants_follow_overridden_sizes(tmp_path):
    """They are computed from the sizes that the model is built with."""
    graph = written.graph(tmp_path, BLOCK.format("float32"), width=6)

    assert {data.array.shape for data in arrays(graph)} == {(6,)}


def test_a_definition_without_weights_can_make_a_constant(tmp_path):
    """As in a step; others read the constant by its part's name."""
    text = """
        inputs:
          x: F[4]
        parts:
          t: table
        outputs:
          y: x + t.doubled
        define:
          table:
            constants:
              ones: twice(ones([4]))
              doubled: twice(ones)
            outputs:
              out: ones
          twice:
            inputs:
              x: F[*S]
            outputs:
              out: x * 2.0
        """
    path = written.write(tmp_path, text)

    got = tripybuild.compile(path, target="reference")(x=np.zeros(4, np.float32))["y"]

    np.testing.assert_array_equal(got, [4, 4, 4, 4])


def test_what_a_constant_cannot_read(tmp_path):
    """Inputs, weights, steps, dynamic sizes; what reads one that failed is passed over."""
    text = """
        sizes:
          width: 4
        inputs:
          x: F[S, width]
        parts:
          l: layer
        constants:
          a: arange(S)
          b: relu(x)
          c: relu(e)
          d: relu(a)
          f: width * 2
          g: reshape(ones([2]), [3])
          h: arange(widht)
        steps:
          e: relu(x)
          s: e + a
        outputs:
          y: l(x) + s
        define:
          layer:
            inputs:
              x: F[T, width]
            constants:
              a: arange(T)
              b: relu(w)
            weights:
              w: F[4]
            outputs:
              out: x * a + b
        """
    found = written.problems(tmp_path, text)

    assert found[:2] == [
        (25, "undecided-size", "the constant `a` depends on `T`, which only a call knows"),
        (26, "unbound-name", "the constant `b` is computed once, so it cannot read `w`"),
    ]
    assert found[2:5] == [
        (8, "undecided-size", "the constant `a` depends on `S`, which only a call knows"),
        (9, "unbound-name", "the constant `b` is computed once, so it cannot read `x`"),
        (10, "unbound-name", "the constant `c` is computed once, so it cannot read `e`"),
    ]
    assert [each[:2] for each in found[5:]] == [
        (12, "wrong-type"),
        (13, "reshape/same-volume"),
        (14, "unbound-name"),
    ]
    hints = written.hints(tmp_path, text)
    assert hints[1] == "put it under `prepared:`, which reads weights"
    assert {*hints[:1], *hints[2:5]} == {"make it a step"}


def test_a_dynamic_size_that_a_part_is_made_with(tmp_path):
    """It is as unknown as the model's own."""
    text = """
        inputs:
          x: F[S, 4]
        parts:
          l: layer(2 * S)
        outputs:
          y: l(x)
        define:
          layer:
            sizes: [rows]
            inputs:
              x: F[S, 4]
            constants:
              a: ones([rows, 4])
            outputs:
              out: x
        """
    assert written.problems(tmp_path, text) == [
        (13, "undecided-size", "the constant `a` depends on `rows`, which only a call knows")
    ]


def test_a_constant_has_at_most_256_mebibytes(tmp_path, monkeypatch):
    """Counted before anything is made, with all values that lead to it."""
    text = """
        sizes:
          rows: 8192
        inputs:
          x: F[4]
        constants:
          much: ones([rows, 8193])
          small: sum(ones([rows * rows * 1024]))
        outputs:
          y: x
        """
    ran = []
    monkeypatch.setattr(constants, "reference_run", lambda *given: ran.append(given))

    assert [each[:2] for each in written.problems(tmp_path, text)] == [
        (6, "constant-too-large"),
        (7, "constant-too-large"),
    ]
    assert not ran


def test_constants_together_have_a_limit(tmp_path, monkeypatch):
    """Many parts with a constant each cannot take all memory; it is said once."""
    monkeypatch.setattr(constants, "LARGEST_TOGETHER", 1000)
    text = """
        inputs:
          x: F[4]
        parts:
          h: "[layer(i) for i in range(9)]"
        outputs:
          y: h(x)
        define:
          layer:
            sizes: [by]
            inputs:
              x: F[4]
            constants:
              a: full([50], by)
            outputs:
              out: x
        """
    assert [each[:2] for each in written.problems(tmp_path, text)] == [(13, "constant-too-large")]
