"""Code that is generated from any names and from results that nobody reads is clean."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tripybuild.codegen.modules.module import module_fragment
from tripybuild.codegen.operators.operator import operator_fragment
from tripybuild.codegen.operators.operator_calls import CallResolver
from tripybuild.codegen.package.package import assemble_package
from tripybuild.codegen.package.sync import write
from tripybuild.codegen.snippets.composition_check import check_snippets
from tripybuild.process import paths
from tripybuild.schema.load import load

ROOT = Path(__file__).resolve().parents[2]
RUFF = shutil.which("ruff", path=str(ROOT / ".venv" / "bin")) or shutil.which("ruff")
PACKAGE = "clean_operators"
OPERATOR = """\
tripybuild: 1
op: NAME
inline: INLINE
doc: Multiply, and take the largest of each row.
types:
  T: [float32]
inputs:
  input:
    type: T[*B, I]
    doc: The values.
  weight:
    type: T[O, I]
    doc: The factors.
  long:
    type: T[l, O]
    doc: More factors.
outputs:
  output:
    type: T[*B, I]
    doc: The results.
requires:
  wide: I >= O + l
infer:
  most: |
    O, *rest = [I, O, l]
    least, most = min(O, I), max(O, I)
    return most
decompose: |
  best, places = topk(input, 1, -1)
  _, *rest = split(input, 2, -1)
  lost = exp(input)
  return where(best == input, concatenate([input for _ in range(1)], 0), input)
sample: {B: [2], I: 4, O: 3, l: 1}
"""
MODULE = """\
tripybuild: 1
module: Halves
doc: Take the second half.
sizes: [I]
inputs:
  x: float32[N, I]
weights:
  l: float32[I]
steps:
  low, high: split(x * l, 2, 1)
  _, last: |
    first, second = split(high, 2, 1)
    return split(second, 2, 1)
outputs:
  output: last
sample: {I: 8, N: 2}
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The folder of a generated package."""
    root = tmp_path_factory.mktemp("lint")
    for name, inline in (("recorded", "false"), ("inlined", "true")):
        text = OPERATOR.replace("NAME", name).replace("INLINE", inline)
        place = root / "own/math" / f"{name}.yaml"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    (root / "own/modules").mkdir()
    (root / "own/modules/halves.yaml").write_text(MODULE)
    declared, found = load([paths.registry(), root / "own"])
    assert not found
    assert not check_snippets(declared, declared.operators)
    calls = CallResolver(declared.operators, declared.own, PACKAGE, frozenset(declared.modules))
    parts = [operator_fragment(declared.operators[n], calls) for n in ("inlined", "recorded")]
    parts.append(module_fragment(declared.modules["Halves"], calls))
    write(root / "generated", assemble_package(parts, {}, PACKAGE), PACKAGE)
    (root / "pyproject.toml").symlink_to(ROOT / "pyproject.toml")
    return root


@pytest.mark.skipif(RUFF is None, reason="ruff is not installed")
@pytest.mark.parametrize("command", [["check"], ["format", "--diff"]])
def test_the_linter_and_the_formatter_find_nothing(package, command):
    """Under the rules of this repository, in a separate project."""
    done = subprocess.run(
        [RUFF, *command, "--no-cache", f"generated/{PACKAGE}", "generated/suites"],
        cwd=package,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_unread_results_begin_with_an_underscore(package):
    """One of several, and one alone; what is read keeps its name."""
    folder = package / "generated" / PACKAGE
    for layer in ("ops", "decompositions"):
        name = "inlined" if layer == "ops" else "recorded"
        text = (folder / layer / "math" / f"{name}.py").read_text()
        assert "best, _places = tp.topk" in text
        assert "_, *_rest = tp.split" in text
        assert "_lost = tp.exp" in text
    text = (folder / "modules/halves.py").read_text()
    assert "_low, high = tp.split" in text
    assert "_first, second = tp.split" in text
    assert "_, last = tp.split" in text
