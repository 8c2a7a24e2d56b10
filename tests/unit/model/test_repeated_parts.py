"""Parts that run again have inputs, weights and places of their own."""

from pathlib import Path

import pytest
import written

SWAPPED = """
    inputs:
      x: F[4]
      y: F[4]
    parts:
      a: minus
      b: minus
    outputs:
      one: a(lhs=x, rhs=y)
      two: b(rhs=y, lhs=x)
    define:
      minus:
        inputs:
          lhs: F[4]
          rhs: F[4]
        outputs:
          out: lhs - rhs
    """


def test_inputs_are_told_apart_by_their_names(tmp_path: Path) -> None:
    """In whatever order a step names them."""
    operations = written.graph(tmp_path, SWAPPED).operations

    assert [[v.name for v in operation.reads()] for operation in operations] == [["x", "y"]] * 2


NUMBERS = """
    inputs:
      x: F[B, 4]
    parts:
      h: block * 3
    outputs:
      y: h(x)
    define:
      block:
        inputs:
          x: F[B, 4]
        outputs:
          out: {step}
    """


@pytest.mark.parametrize(
    "step",
    [
        "x + zeros([4], F)",
        "x * ones([4], F)",
        "x + arange(4)",
        "x + linspace(0.0, 1.0, 4)",
        "x + tril(ones([4, 4], F))[3]",
        "pad(x, [[0, 0], [0, 1]])[:, 1:]",
    ],
)
def test_numbers_that_inline_operators_make_have_the_place_of_the_step(
    step: str, tmp_path: Path
) -> None:
    """As all that it records, in each of the parts."""
    graph = written.graph(tmp_path, NUMBERS.replace("{step}", step))
    places = {(op.location.label, str(op.location.span())) for op in graph.operations}

    assert {label for label, _ in places} >= {f"h.{part}.out" for part in range(3)}
    assert "<unknown>" not in str(places)
