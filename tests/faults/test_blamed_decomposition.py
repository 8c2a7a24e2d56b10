"""A decomposition that breaks a law of what it calls is named by its own line."""

import re

import pytest
from unary_operator import unary_operator

from tripybuild.codegen.operators.operator import operator_fragment
from tripybuild.codegen.operators.operator_calls import CallResolver
from tripybuild.codegen.package.package import assemble_package
from tripybuild.codegen.package.sync import write
from tripybuild.process import paths
from tripybuild.schema.load import load
from tripybuild.testing import Suite

PACKAGE = "blamed_operators"
REST = """\
inline: INLINE
requires:
  matrix: len(S) == 2
decompose: |
  flat = reshape(input, [prod(S)])
  wide = reshape(flat, [7]) if S[0] == 2 else flat
  return reshape(wide + wide, S)
"""
OPERATOR = unary_operator("NAME", REST)
LINE = OPERATOR[: OPERATOR.index("[7]")].count("\n") + 1


@pytest.fixture(scope="module")
def suites(tmp_path_factory):
    """Suites of an operator that records itself, and of one that records what it calls."""
    root = tmp_path_factory.mktemp("blamed")
    (root / "own/math").mkdir(parents=True)
    for name, inline in (("itself", "false"), ("inlined", "true")):
        text = OPERATOR.replace("NAME", name).replace("INLINE", inline)
        (root / "own/math" / f"{name}.yaml").write_text(text)
    declared, found = load([paths.registry(), root / "own"])
    assert not found
    calls = CallResolver(declared.operators, declared.own, PACKAGE)
    parts = [operator_fragment(declared.operators[name], calls) for name in declared.own]
    write(root / "out", assemble_package(parts, {}, PACKAGE), PACKAGE)
    file = str(root / "out/suites/math/test_any.py")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root / "out"))
        yield {n: Suite(f"own/math/{n}.yaml", PACKAGE, file) for n in ("itself", "inlined")}


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("itself", "values"),
        ("itself", "tensorrt"),
        ("itself", "tensorrt_symbol"),
        ("inlined", "values"),
        ("inlined", "symbol"),
        ("inlined", "tensorrt"),
    ],
)
def test_the_line_of_the_decomposition_is_shown(suites, name, check):
    """Not the place of a test, and not line 1 of an unknown file."""
    argument = "S[1]" if "symbol" in check else "float32"
    with pytest.raises(Exception, match="reshape") as raised:
        getattr(suites[name], f"check_{check}")(argument)

    said = str(raised.value)
    places = set(re.findall(r"[\w./<>-]+:\d+:\d+", said))
    assert "reshape/same-volume" in said, said
    assert {p.partition("math/")[2].rpartition(":")[0] for p in places} == {f"{name}.yaml:{LINE}"}
