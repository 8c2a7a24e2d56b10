"""Names that generated functions have for themselves, or that a declaration gives twice."""

import re
import shutil

import pytest

from tripybuild.codegen.package.plan import plan
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process import paths
from tripybuild.schema.load import load
from tripybuild.types.naming import SPOKEN

OPERATOR = """\
tripybuild: 1
op: scaled
doc: Multiply by a number.
types:
  T: [float32]
inputs:
  input:
    type: T[N]
    doc: The values.
attributes:
  factor:
    type: float
    doc: The number.
outputs:
  output:
    type: T[N]
    doc: The products.
infer:
  half: factor / 2
decompose: input * factor
sample: {N: 2, factor: 3.0}
"""
MODULE = """\
tripybuild: 1
module: Scaled
doc: Multiply by a number and by weights.
sizes:
  width:
    type: int
    doc: The width.
inputs:
  given: F[N, width]
weights:
  weight: F[width]
outputs:
  out: given * weight
sample: {width: 4, N: 2}
"""


def renamed(text, old, new):
    """A declaration in which one name is another, and the line on which it stands."""
    lines = text.splitlines()
    line = next(at for at, each in enumerate(lines, 1) if each.lstrip().startswith(f"{old}:"))
    return re.sub(rf"\b{old}\b", new, text), line


@pytest.fixture(scope="module")
def built_in(tmp_path_factory):
    """A registry with what the declarations here call."""
    root, of = tmp_path_factory.mktemp("names") / "built_in", paths.registry()
    shutil.copytree(of / "families", root / "families")
    for path in (
        "targets.yaml",
        "create/full.yaml",
        "create/ones.yaml",
        "math/mul.yaml",
        "math/div.yaml",
    ):
        (root / path).parent.mkdir(exist_ok=True)
        shutil.copy(of / path, root / path)
    return root


@pytest.fixture
def problems(built_in, tmp_path):
    """What is wrong with a declaration, as codes and lines of its file."""

    def read(text, file):
        path = tmp_path / "mine" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        declared, found = load([built_in, tmp_path / "mine"])
        try:
            if not found:
                plan(declared, "mine")
        except DiagnosticError as error:  # modules are read when their classes are written
            found = error.diagnostics
        assert {each.span.path for each in found} <= {path.as_posix()}
        return {(each.code, each.span.line) for each in found}

    return read


def test_other_names_are_fine(problems):
    """What is refused below is refused for the name."""
    assert not problems(renamed(OPERATOR, "factor", "range")[0], "scaled.yaml")


def test_other_names_of_modules_are_fine(problems):
    """As above."""
    assert not problems(renamed(MODULE, "width", "cells")[0], "modules/scaled.yaml")


@pytest.mark.parametrize("name", sorted(SPOKEN))
@pytest.mark.parametrize("old", ["factor", "input", "T", "half"])
def test_names_of_generated_functions(problems, old, name):
    """`cls` would be an argument twice, and `np` no NumPy: Python's words, far from the file."""
    text, line = renamed(OPERATOR, old, name)
    assert problems(text, "scaled.yaml") == {("bad-name", line)}


def test_sizes_hide_nothing(problems):
    """They are variables of the same function."""
    text = re.sub(r"\bN\b", "cls", OPERATOR)
    line = text.splitlines().index("    type: T[cls]") + 1
    assert problems(text, "scaled.yaml") == {("bad-name", line)}


@pytest.mark.parametrize("name", ["input", "T"])
def test_an_attribute_is_no_input_and_no_type(problems, name):
    """One variable would be both."""
    text, line = renamed(OPERATOR, "factor", name)
    assert ("bad-name", line) in problems(text, "scaled.yaml")


@pytest.mark.parametrize("name", ["self", "check"])
@pytest.mark.parametrize("old", ["width", "given", "weight"])
def test_names_of_modules(problems, old, name):
    """Their sizes and inputs are arguments of methods."""
    text, line = renamed(MODULE, old, name)
    assert problems(text, "modules/scaled.yaml") == {("bad-name", line)}
