"""Lists of parts that a step makes and calls, and sizes that become data."""

import numpy as np
import pytest
import written

import tripybuild
from tripybuild.errors.diagnostics import DiagnosticError


def operations(graph):
    return [operation.operator for operation in graph.operations]


def test_one_part_is_called_several_times(tmp_path):
    """As ALBERT does it: the weights are those of one part."""
    text = """
        sizes:
          depth: 3
        inputs:
          x: F[B, 4]
        parts:
          layer: Linear(4, 4)
        outputs:
          y: "([layer] * depth)(x)"
        """
    made = written.graph(tmp_path, text)

    assert operations(made) == ["linear"] * 3
    assert list(made.weights) == ["layer.weight", "layer.bias"]


def test_lists_of_parts_are_joined_pair_by_pair(tmp_path):
    """As diffusers keeps them: two lists of parts, called in turns; `[]` does nothing."""
    text = """
        inputs:
          x: F[B, 4]
          y: F[B, 4]
        parts:
          rows: doubled * 2
          turns: "[Linear(4, 4), []]"
        steps:
          pairs: "[p for pair in zip(rows, turns) for p in pair]"
          last, seen: "[add_in, add_in](pairs(x), each([x, y]))"
        outputs:
          out: last
          seen: stack(seen)
        define:
          add_in:
            inputs: {x: "F[B, 4]", y: "F[B, 4]"}
            outputs: {out: x + y, seen: x * y}
          doubled:
            inputs: {x: "F[B, 4]"}
            outputs: {out: x * 2.0}
        """
    made = written.graph(tmp_path, text)

    found = [each for each in operations(made) if each not in ("constant", "reshape")]
    assert found == ["mul", "linear", "mul", "add", "mul", "add", "mul", "concatenate"]
    assert list(made.weights) == ["turns.0.weight", "turns.0.bias"]


@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_a_size_is_data(tmp_path, target):
    """In each dtype, for the sizes of each call; one that the dtype cannot hold is refused."""
    text = """
        inputs:
          x: F[S, 4]
        outputs:
          mean: sum(x, 0) / number(S, F)
          halves: number(2 * S + 1, float16) * cast(x[0], float16)
          large: number(S, int64)
          several: number(S - 1, bool)
          small: number(S, int8)
        """
    path = written.write(tmp_path, text)
    made = tripybuild.compile(path, target=target)

    for rows in (1, 3):
        found = made(x=np.ones((rows, 4), np.float32))
        assert found["mean"].tolist() == [1.0] * 4
        assert found["halves"].tolist() == [2 * rows + 1] * 4
        assert (found["large"], found["several"], found["small"]) == (rows, rows > 1, rows)
    with pytest.raises(DiagnosticError, match="130 is no int8"):
        made(x=np.ones((130, 4), np.float32))


def test_several_steps_have_results_that_nothing_reads(tmp_path):
    """`_` takes each of them, in any number of steps."""
    text = """
        inputs:
          x: F[B, 4]
        steps:
          large, _: topk(x, 2, 1)
          _, place: topk(x, 3, 1)
        outputs:
          large: large
          place: place
        """
    made = written.graph(tmp_path, text)

    assert operations(made) == ["topk", "topk"]
