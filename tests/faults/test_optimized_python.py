"""`python -O` leaves out assertions: nothing that works may depend on one."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted([*ROOT.glob("tripybuild/**/*.py"), *ROOT.glob("generated/tripyapi/**/*.py")])
PURE = {"isinstance", "issubclass", "type", "len", "get_element_type", "startswith"}
# What reads names and compares them. `x[key]` calls a method of x, which may load what it gives.
READS = (
    *(ast.Compare, ast.cmpop, ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop, ast.BinOp),
    *(ast.operator, ast.Name, ast.Attribute, ast.Constant, ast.Tuple, ast.expr_context),
)
SPEC = """\
tripybuild: 1
model: small
inputs:
  x: float32[N, 3]
ranges:
  N: {min: 1, opt: 2, max: 4}
outputs:
  y: softmax(x + 1.0, 1)
"""


def effects(condition):
    """The parts of an assertion's condition that may do something."""
    for node in ast.walk(condition):
        if isinstance(node, ast.Call):
            pure = getattr(node.func, "id", getattr(node.func, "attr", None)) in PURE
        elif isinstance(node, ast.Subscript):  # of a sequence
            pure = isinstance(getattr(node.slice, "value", None), int)
        else:
            pure = isinstance(node, READS)
        if not pure:
            yield ast.unparse(node)


def asserted(tree):
    """The assertions of a module."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.Assert))


def test_assertions_have_no_effects():
    """A call in an assertion is not made under `-O`."""
    found = [
        f"{path.relative_to(ROOT)}:{each.lineno}: {part}"
        for path in FILES
        for each in asserted(ast.parse(path.read_bytes()))
        for part in effects(each.test)
    ]
    assert not found, "\n".join(found)


def test_suites_prove_without_assertions():
    """A question of a suite is answered under `-O`, too: its assertions only narrow types."""
    found = [
        f"{path.name}:{each.lineno}: {ast.unparse(each.test)}"
        for path in sorted((ROOT / "tripybuild/testing").glob("**/*.py"))
        for each in asserted(ast.parse(path.read_bytes()))
        if not ast.unparse(each.test).startswith("isinstance(")
        and not ast.unparse(each.test).endswith(" is not None")
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("text", ["d['a']", "f(x)", "(y := x)", "x.pop()", "[*x]", "not f()"])
def test_effects_are_found(text):
    """What the search above looks for."""
    assert list(effects(ast.parse(text, mode="eval").body))


@pytest.mark.parametrize("level", ["1", "2"])
def test_models_compile_and_run_under_o(level, tmp_path):
    """Without assertions, and without docstrings."""
    (tmp_path / "small.yaml").write_text(SPEC, encoding="utf-8")
    program = (
        "import numpy as np, tripybuild, tripyapi as tp\n"
        "made = tripybuild.compile('small.yaml')\n"
        "y = made(x=np.zeros((2, 3), np.float32))['y']\n"
        "assert False, 'left out'\n"
        "print(y.sum(), float(tp.sum(tp.ones((2, 2)))))"
    )
    environment = {
        **os.environ,
        "PYTHONOPTIMIZE": level,
        "TRIPYBUILD_CACHE_DIR": str(tmp_path / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
        timeout=60,
    )
    assert done.stdout.split() == ["2.0", "4.0"], done.stderr
