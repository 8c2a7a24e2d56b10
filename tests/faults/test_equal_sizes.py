"""Two dimensions of one name are one size: a call decides it where the file does not."""

import numpy as np
import pytest
import written

import tripybuild
from tripybuild.compiler.session import emit
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model import replay

HEAD = """
    inputs:
      x: F[S, 4]
      z: F[R, 4]
    outputs:
      y: f(x, z)
    define:
      f:
        inputs:
    """


def ones(*shape):
    return np.ones(shape, np.float32)


def two(first, second, *, ranges=""):
    """Write a definition that takes two inputs of these types, and adds up what they hold."""
    head = HEAD.rstrip().replace("    outputs:\n      y", f"    {ranges}\n    outputs:\n      y")
    taken = f"\n          a: {first}\n          b: {second}\n"
    return f"{head}{taken}        outputs:\n          out: sum(a) + sum(b)\n"


def found(error):
    return [(each.code, each.message) for each in error.value.diagnostics]


def said(dimension, wanted, given, declared, name="b"):
    message = f"`{name}` of `f` must be `{declared}`, whose `{dimension}` is {wanted}, but got"
    return ("shape-mismatch", f"{message} {given}")


CASES = [
    pytest.param("F[N, 4]", "F[N, 4]", (3, 3), (3, 5), said("N", 3, 5, "F[N, 4]"), id="one-name"),
    pytest.param("F[N, 4]", "F[2 * N, 4]", (3, 6), (3, 3), said("2 * N", 6, 3, "F[2 * N, 4]"),
                 id="expression"),
    pytest.param("F[N, 4]", "F[8, 4]", (3, 8), (3, 3), said("8", 8, 3, "F[8, 4]"), id="number"),
    pytest.param("F[*D]", "F[*D]", (3, 3), (3, 5), said("*D", 3, 5, "F[*D]"), id="rest"),
    pytest.param("F[N, 4]", '"list[F[N, 4]]"', (3, 3), (3, 5), said("N", 3, 5, "F[N, 4]"),
                 id="list"),
]  # fmt: skip
OPT = "ranges: {S: {opt: 3, max: 9}, R: {opt: 3, max: 9}}"


@pytest.mark.parametrize(("first", "second", "good", "bad", "wanted"), CASES)
def test_each_call_decides_which_sizes_are_equal(tmp_path, first, second, good, bad, wanted):
    """On the references; the numbers of a caller are refused with the model."""
    text = two(first, second, ranges=OPT.replace("R: {opt: 3", f"R: {{opt: {good[1]}"))
    path = written.write(tmp_path, text)
    made = tripybuild.compile(path, target="reference")

    assert made(x=ones(good[0], 4), z=ones(good[1], 4))["y"] == 4 * sum(good)
    with pytest.raises(DiagnosticError) as raised:
        made(x=ones(bad[0], 4), z=ones(bad[1], 4))
    assert found(raised) == [wanted]
    notes = raised.value.diagnostics[0].notes
    assert notes[-2:] == ("required by tiny.yaml:13", "in `y` at tiny.yaml:8:6")
    with pytest.raises(DiagnosticError) as raised:
        tripybuild.compile(path, target="reference", sizes={"S": bad[0], "R": bad[1]})
    assert [code for code, _ in found(raised)] == ["shape-mismatch"]
    with pytest.raises(DiagnosticError) as raised:
        tripybuild.compile(path, target="reference", shapes=[{"S": bad[0], "R": bad[1]}])
    assert found(raised) == [wanted]


def test_the_processor_decides_it_too_also_of_a_file(tmp_path):
    """The law is in the executable."""
    made = tripybuild.compile(written.write(tmp_path, two("F[N, 4]", "F[N, 4]", ranges=OPT)))
    made.save(tmp_path / "tiny.tpb")
    for each in (made, tripybuild.load(tmp_path / "tiny.tpb")):
        assert each(x=ones(3, 4), z=ones(3, 4))["y"] == 24
        with pytest.raises(DiagnosticError) as raised:
            each(x=ones(3, 4), z=ones(5, 4))
        assert found(raised) == [said("N", 3, 5, "F[N, 4]")]


@pytest.mark.parametrize("kind", ["trace", "stablehlo", "tensorrt"])
def test_no_form_is_emitted_for_sizes_that_differ(tmp_path, kind):
    """Whatever is emitted, and however the sizes are given."""
    path = written.write(tmp_path, two("F[N, 4]", "F[N, 4]", ranges=OPT))

    assert emit(path, kind)
    assert emit(path, kind, sizes={"S": 4, "R": 4})
    for given in ({"shapes": [{"S": 3, "R": 5}]}, {"sizes": {"S": 3, "R": 5}}):
        with pytest.raises(DiagnosticError) as raised:
            emit(path, kind, **given)
        assert [code for code, _ in found(raised)] == ["shape-mismatch"]


def test_the_best_sizes_of_ranges_must_be_equal(tmp_path):
    """They are compiled for; the message says where they come from."""
    text = two("F[N, 4]", "F[N, 4]", ranges="ranges: {S: {opt: 3, max: 9}, R: {opt: 4, max: 9}}")
    with pytest.raises(DiagnosticError) as raised:
        tripybuild.compile(written.write(tmp_path, text))

    (each,) = raised.value.diagnostics
    assert (each.code, each.span.line) == ("shape-mismatch", 6)
    assert "below `ranges:`" in each.hint


def test_sizes_that_never_agree_are_refused_with_the_model(tmp_path):
    """The ranges decide."""
    ranges = "ranges: {S: {max: 3}, R: {min: 4}}"
    message = "`b` of `f` must be `F[N, 4]`, which is tensor<Sx4xf32>"
    assert written.problems(tmp_path, two("F[N, 4]", "F[N, 4]", ranges=ranges)) == [
        (6, "shape-mismatch", message)
    ]


REPEATED = """
    use:
      pairs.yaml: [pair]
    inputs:
      x: F[S, 4]
      z: F[R, 4]
    parts:
      h: pair * 3
    outputs:
      y: h(x, z)
    """
PAIRS = """tripybuild: 1
sizes:
  width: 4
define:
  pair:
    inputs:
      a: F[S, width]
      b: F[S, width]
    outputs:
      out: inner(a, b)
  inner:
    inputs:
      p: F[R, width]
      q: F[R, width]
    outputs:
      out: p + sum(q, 0)
"""


@pytest.mark.parametrize("again", [False, True])
def test_repeated_parts_of_used_files_have_their_laws(tmp_path, monkeypatch, again):
    """Whether they are copied or run again; each law is there once."""
    if again:
        monkeypatch.setattr(replay, "replay_key", lambda *_: object())
    (tmp_path / "pairs.yaml").write_text(PAIRS, encoding="utf-8")
    made = tripybuild.compile(written.write(tmp_path, REPEATED), target="reference")

    places = {(law["source"], law["line"]) for law in made.entry().manifest["laws"]}
    assert places <= {("pairs.yaml", 8), ("pairs.yaml", 14)}
    assert len(made.entry().manifest["laws"]) == 1
    with pytest.raises(DiagnosticError) as raised:
        made(x=ones(3, 4), z=ones(1, 4))
    assert [code for code, _ in found(raised)] == ["shape-mismatch"]


def test_modules_and_loops_have_their_laws(tmp_path):
    """A module's declared numbers, and what runs inside of a loop."""
    text = """
        inputs:
          x: F[S, 4]
          z: F[T, R]
          first: F[R]
        ranges: {S: {opt: 4}, R: {opt: 4}}
        outputs:
          y: scan(body, [first], [z])[0] + norm(x, first)
        define:
          body:
            inputs:
              state: F[N]
              row: F[N]
            outputs:
              out: twice(state, row)
          twice:
            inputs:
              a: F[N]
              b: F[N]
            outputs:
              out: a + b
          norm:
            inputs:
              x: F[N, 4]
              y: F[4]
            outputs:
              out: x[0] * sum(y)
        """
    made = tripybuild.compile(written.write(tmp_path, text), target="reference")

    made(x=ones(3, 4), z=ones(2, 4), first=ones(4))
    with pytest.raises(DiagnosticError) as raised:
        made(x=ones(3, 4), z=ones(2, 1), first=ones(1))
    message = "`y` of `norm` must be `F[4]`, whose `4` is 4, but got 1"
    assert ("shape-mismatch", message) in found(raised)


def test_what_nobody_reads_is_compared_as_well(tmp_path):
    """As it is where the sizes are numbers."""
    text = """
        inputs:
          x: F[S]
          z: F[R]
        steps:
          nothing: f(x, z)
        outputs:
          y: sum(x)
        define:
          f:
            inputs:
              a: F[N]
              b: F[N]
            outputs:
              out: a
        """
    made = tripybuild.compile(written.write(tmp_path, text), target="reference")
    with pytest.raises(DiagnosticError) as raised:
        made(x=ones(3), z=ones(4))
    assert found(raised) == [said("N", 3, 4, "F[N]")]


def test_sizes_that_depend_on_data_must_be_known_to_be_equal(tmp_path):
    """No call tells them, so nobody could compare them; operators compare what they compute."""
    text = """
        inputs:
          x: int32[S]
          z: int32[R]
        outputs:
          y: f(nonzero(x), nonzero(z))
        define:
          f:
            inputs:
              a: int32[1, N]
              b: int32[1, N]
            outputs:
              out: a + sum(b)
        """
    message = "`b` of `f` must be `int32[1, N]`, and whether it is so depends on data"
    assert written.problems(tmp_path, text) == [(5, "undecided-size", message)]

    joined = text.replace("f(nonzero(x), nonzero(z))", "concatenate([nonzero(x), nonzero(z)], 0)")
    made = tripybuild.compile(written.write(tmp_path, joined), target="reference")
    given = np.array([1, 0, 2], np.int32)
    assert made.entry().manifest["laws"] == []
    assert made(x=given, z=given)["y"].tolist() == [[0, 2], [0, 2]]
    with pytest.raises(DiagnosticError):
        made(x=given, z=given + 1)
