"""A size means the same whether it is a number of the file, a number of the caller, or a symbol."""

import numpy as np
import pytest
import written

import tripybuild
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.graph_builder import build
from tripybuild.trace import printer


def ones(*shape):
    return np.ones(shape, np.float32)


def lawful(folder, text, sizes=None, **arrays):
    """Give the outputs of a model on the references."""
    made = tripybuild.compile(written.write(folder, text), target="reference", sizes=sizes)
    return made(**arrays)


def refused(folder, text, sizes=None, **arrays):
    """Give what is wrong with a model, or with its call."""
    with pytest.raises(DiagnosticError) as raised:
        lawful(folder, text, sizes, **arrays)
    return [(each.code, each.message) for each in raised.value.diagnostics]


CUT = """
    inputs:
      x: F[S, 4]
      z: F[R, 4]
    outputs:
      y: f(x)
      w: f(z)
    define:
      f:
        inputs:
          a: F[S, 4]
        outputs:
          out: a[:S]
    """


@pytest.mark.parametrize("sizes", [{}, {"S": 3}, {"R": 5}, {"S": 3, "R": 5}])
def test_a_definition_binds_a_letter_of_the_model_anew(tmp_path, sizes):
    """Also where the caller made a number of the model's."""

    given = {"x": ones(3, 4), "z": ones(5, 4)}

    outputs = lawful(tmp_path, CUT, sizes, **given)

    assert {name: each.shape for name, each in outputs.items()} == {"y": (3, 4), "w": (5, 4)}


NESTED = """
    inputs:
      x: F[B, S, 4]
      z: F[B, R, 4]
    parts:
      h: block * 2
    state:
      total: F[B, S]
    next:
      total: total + sum(x, 2)
    outputs:
      y: h(x) + outer(x)
      w: h(z)
      rest: next.total
    weights: tiny.safetensors
    define:
      block:
        inputs:
          x: F[S, B, 4]
        parts:
          norm: LayerNorm(4)
        outputs:
          out: outer(norm(x)) + reshape(inner(reshape(x, [S * B, 4])), [S, B, 4])
      outer:
        inputs:
          q: F[R, S, B]
        outputs:
          out: q[:R, :S, :B]
      inner:
        inputs:
          q: F[B, S]
        outputs:
          out: reshape(q[:B, :S], [B, S])
    """


def test_sizes_are_bound_at_every_depth(tmp_path):
    """A model with numbers for its sizes is the model whose symbols become these numbers."""
    path, sizes = written.write(tmp_path, NESTED), {"B": 2, "S": 3, "R": 5}

    static = build(path, sizes).graph
    for chosen in ({}, {"B": 2}, {"S": 3}, {"B": 2, "R": 5}):
        dynamic = build(path, chosen).graph.substitute(sizes)
        assert printer.canonical(dynamic) == printer.canonical(static)


MADE = """
    inputs:
      x: F[S, 4]
      z: F[R, 4]
    parts:
      p: first
    outputs:
      y: p(z)
    define:
      first:
        inputs:
          a: F[S, 4]
        parts:
          cut: rows(S)
        outputs:
          out: cut(a)
      rows:
        sizes: [n]
        inputs:
          a: F[R, 4]
        outputs:
          out: a[:n]
    """


@pytest.mark.parametrize("sizes", [{}, {"S": 3}, {"S": 3, "R": 3}])
def test_what_makes_a_part_is_the_models_and_what_comes_in_must_be_it(tmp_path, sizes):
    """Nobody knows what will come in while parts are made: `S` there is the model's."""
    ranges = "ranges:\n      S: {min: 1, opt: 3}\n      R: {min: 1, opt: 3}\n    parts:"
    text = MADE.replace("parts:", ranges, 1)

    outputs = lawful(tmp_path, text, sizes, x=ones(3, 4), z=ones(3, 4))
    found = refused(tmp_path, text, sizes, x=ones(3, 4), z=ones(5, 4))

    assert outputs["y"].shape == (3, 4)
    message = "`a` of `first` must be `F[S, 4]`, whose `S` is 3, but got 5"
    other = "dimension 0 of the input `z` must be 3, but is 5"
    assert found == [("input-shape", other) if "R" in sizes else ("shape-mismatch", message)]


def test_state_is_of_the_size_that_comes_in(tmp_path):
    """Whatever the model calls so; a state of another size is refused."""
    text = """
        inputs:
          x: F[B, 4]
          z: F[N, 4]
        parts:
          mean: running
        outputs:
          y: mean(z) + sum(x)
        define:
          running:
            inputs:
              x: F[B, 4]
            state:
              total: F[B, 4]
            next:
              total: total + x
            outputs:
              out: next.total
        """
    held = {"mean.total": ones(3, 4)}

    assert lawful(tmp_path, text, x=ones(1, 4), z=ones(3, 4), **held)["y"].shape == (3, 4)
    found = refused(tmp_path, text, x=ones(1, 4), z=ones(1, 4), **held)
    assert found == [("input-shape", "`N` is 3 in the input `mean.total`, but 1 in `z`")]


def test_a_constant_reads_the_callers_number_of_a_size_that_comes_in(tmp_path):
    """Else it is refused; and what comes in is compared with the number."""
    text = """
        inputs:
          x: F[S]
          z: F[R]
        outputs:
          y: f(z) + sum(x)
        define:
          f:
            inputs:
              a: F[S]
            constants:
              places: arange(S)
            outputs:
              out: a + places
        """
    assert refused(tmp_path, text, x=ones(3), z=ones(5)) == [
        ("undecided-size", "the constant `places` depends on `S`, which only a call knows")
    ]
    assert refused(tmp_path, text, {"S": 3, "R": 5}) == [
        ("shape-mismatch", "`a` of `f` must be `F[S]`, which is tensor<3xf32>")
    ]
    assert lawful(tmp_path, text, {"S": 3, "R": 3}, x=ones(3), z=ones(3))["y"].shape == (3,)


def test_a_used_file_has_no_sizes_of_a_model(tmp_path):
    """Whatever the caller makes of those."""
    blocks = """tripybuild: 1
define:
  f:
    inputs:
      a: F[S, R]
    outputs:
      out: a[:S, :R]
"""
    (tmp_path / "blocks.yaml").write_text(blocks, encoding="utf-8")
    text = """
        use:
          blocks.yaml: [f]
        inputs:
          x: F[S, R]
        outputs:
          y: f(transpose(x, 0, 1))
        """
    for sizes in ({}, {"S": 3}, {"S": 3, "R": 5}):
        assert lawful(tmp_path, text, sizes, x=ones(3, 5))["y"].shape == (5, 3)


def test_a_weight_has_no_dynamic_size(tmp_path):
    """Its file has one shape."""
    text = """
        inputs:
          x: F[S, 4]
        parts:
          p: scaled
        outputs:
          y: p(x)
        define:
          scaled:
            inputs:
              x: F[S, 4]
            weights:
              scale: F[S, 4]
            outputs:
              out: x * scale
        """
    message = "the weight `scale` would be tensor<Sx4xf32>, whose size a call tells"
    assert written.problems(tmp_path, text) == [(12, "undecided-size", message)]
    assert written.graph(tmp_path, text, S=3).weights["p.scale"].shape == (3, 4)
