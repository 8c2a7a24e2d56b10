"""Tensors that nothing can hold are refused by every target, and by what is emitted."""

import pytest
import written

import tripybuild
from tripybuild.compiler.session import emit
from tripybuild.errors.diagnostics import DiagnosticError

INPUT = "inputs:\n  x: F[4294967296, 4294967296]\noutputs:\n  y: x\n"
MIDDLE = """
    sizes: {n: 4294967296}
    inputs:
      x: F[B]
    outputs:
      y: sum(expand(x[0:1], [n])[None] + expand(x[0:1], [n])[:, None])
    """
DYNAMIC = """
    inputs:
      x: F[B]
    ranges: {B: {opt: 100000, max: 100000}}
    outputs:
      y: sum(expand(reshape(x, [B, 1, 1, 1]), [B, B, B, B]))
    """
RANK = f"inputs:\n  x: F[{', '.join(['1'] * 65)}]\noutputs:\n  y: x + 1.0\n"
CASES = {
    "input": (INPUT, "`x` would be tensor<4294967296x4294967296xf32>, which no engine can hold"),
    "middle": (MIDDLE, "this would be tensor<4294967296x4294967296xf32>, which no engine can hold"),
    "rank": (RANK, "`x` would have 65 dimensions, but a tensor has at most 64"),
}


def found(error):
    return [(each.code, each.message) for each in error.value.diagnostics]


@pytest.mark.parametrize("target", ["cpu", "reference", "tensorrt-rtx:sm89"])
@pytest.mark.parametrize("case", CASES)
def test_every_target_refuses_it(tmp_path, case, target):
    """With one code and in the same words, before a compiler sees it."""
    text, message = CASES[case]
    with pytest.raises(DiagnosticError) as raised:
        tripybuild.compile(written.write(tmp_path, text), target=target)
    assert found(raised) == [("size-out-of-range", message)]


@pytest.mark.parametrize("kind", ["trace", "stablehlo", "tensorrt"])
@pytest.mark.parametrize("case", CASES)
def test_it_is_not_emitted(tmp_path, case, kind):
    """As no target takes it."""
    text, message = CASES[case]
    with pytest.raises(DiagnosticError) as raised:
        emit(written.write(tmp_path, text), kind)
    assert found(raised) == [("size-out-of-range", message)]


@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_sizes_to_compile_for_are_looked_at(tmp_path, target):
    """Where symbols say nothing, the numbers do."""
    with pytest.raises(DiagnosticError) as raised:
        tripybuild.compile(written.write(tmp_path, DYNAMIC), target=target)
    ((code, message),) = found(raised)
    assert (code, "no engine can hold" in message) == ("size-out-of-range", True)


def test_sixty_four_dimensions_are_taken(tmp_path):
    """NumPy has as many."""
    text = RANK.replace("1, ", "", 1)
    assert tripybuild.compile(written.write(tmp_path, text), target="reference")
