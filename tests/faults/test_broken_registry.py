"""A registry with a broken file: the suites that need the file fail with what is wrong with it."""

import shutil
import time

import pytest
from unary_operator import TYPES, unary_operator

from tripybuild.codegen.package.plan import plan
from tripybuild.codegen.package.sync import write
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process import paths
from tripybuild.schema.load import load
from tripybuild.testing import ModuleSuite, Suite
from tripybuild.testing.registry import _load, _valid_declarations

PACKAGE = "breakable"
BUILT_IN = paths.registry()
FAMILY = f"""\
tripybuild: 1
family: doubling
parameters: [build]
{TYPES}reference: input + input
lower:
  tensorrt: trt.element_wise(input, input, "kSUM")
  stablehlo: build(input, input)
  onnx: input + input
sample: {{S: [2, 3]}}
"""
MEMBER = """\
tripybuild: 1
op: member
like: doubling(build=hlo.add)
doc: Double each value.
"""
MODULE = """\
tripybuild: 1
module: NAME
doc: Add a constant.
sizes: [width]
inputs:
  x: float32[N, width]
weights:
  bias: float32[width]
outputs:
  output: x + bias
sample: {width: 3, N: 2}
"""
# Each takes its entries of another one.
HEIR, LATE = (
    f"tripybuild: 1\nmodule: {name}\nextends: {base}\ndoc: As it is.\n"
    for name, base in (("Heir", "Bias"), ("Late", "Heir"))
)
FILES = {
    "math/alone.yaml": unary_operator("alone", "decompose: input * input\n"),
    "math/broken.yaml": unary_operator("broken", "decompose: input + input\n"),
    "math/user.yaml": unary_operator("user", "decompose: broken(input) * input\n"),
    "math/far.yaml": unary_operator("far", "decompose: user(input) + input\n"),
    "math/member.yaml": MEMBER,
    "families/doubling.yaml": FAMILY,
    "modules/bias.yaml": MODULE.replace("NAME", "Bias"),
    "modules/other.yaml": MODULE.replace("NAME", "Other"),
    "modules/heir.yaml": HEIR,
    "modules/late.yaml": LATE,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A registry and its package, as long as all is well."""
    root = tmp_path_factory.mktemp("broken")
    for path in (
        "targets.yaml",
        "create/full.yaml",
        "create/ones.yaml",
        "math/add.yaml",
        "math/mul.yaml",
        "families",
    ):
        place = root / "built_in" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (BUILT_IN / path).is_dir() else shutil.copy)(BUILT_IN / path, place)
    for path, text in FILES.items():
        (root / "own" / path).parent.mkdir(parents=True, exist_ok=True)
        (root / "own" / path).write_text(text)
    found, problems = load([root / "built_in", root / "own"])
    assert not problems
    write(root / "out", plan(found, PACKAGE), PACKAGE)
    return root


@pytest.fixture
def suites(made, tmp_path, monkeypatch):
    """Makes suites of the registry after a change to one of its files."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr(paths, "registry", lambda: tmp_path / "built_in")
    monkeypatch.syspath_prepend(str(tmp_path / "out"))

    def broken(path, old, new):
        place = tmp_path / "own" / path
        text = place.read_text()
        assert old in text
        place.write_text(text.replace(old, new))
        file = str(tmp_path / "out/suites/math/test_any.py")
        names = ("alone", "broken", "user", "far", "member")
        found = {name: Suite(f"own/math/{name}.yaml", PACKAGE, file) for name in names}
        modules = ("bias", "other", "heir", "late")
        return found | {n: ModuleSuite(f"own/modules/{n}.yaml", PACKAGE, file) for n in modules}

    yield broken
    _load.cache_clear()  # nobody else asks for these folders
    _valid_declarations.cache_clear()


def verdicts(suites):
    """What the suites say of the samples' numbers: a code where a declaration is wrong."""
    result = {}
    for name, suite in suites.items():
        try:
            suite.check_values("float32")
            result[name] = "right"
        except DiagnosticError as error:
            result[name] = error.diagnostics[0].code
        except AssertionError as error:
            result[name] = str(error)
    return result


USERS = ("broken", "user", "far")
RIGHT = dict.fromkeys([*USERS, "alone", "member", "bias", "other", "heir", "late"], "right")


def test_a_broken_operator_fails_its_own_suite_and_its_users(suites):
    """What was generated of it before is not what its declaration says now."""
    given = suites("math/broken.yaml", "input + input", "input + nothing")
    assert verdicts(given) == RIGHT | dict.fromkeys(USERS, "unbound-name")
    start = time.process_time()
    for _ in range(20):
        with pytest.raises(DiagnosticError):
            given["broken"].check_illegal_dtypes()
    assert time.process_time() - start < 0.5  # nothing is read anew


@pytest.mark.parametrize("change", [("doc:", "docs:"), ("op:", "op: ["), ("op: b", "op: B")])
def test_a_broken_file_is_the_only_problem(suites, tmp_path, change):
    """That it cannot be read makes its name no unknown one, for which others would be proposed."""
    suites("math/broken.yaml", *change)
    problems = load([tmp_path / "built_in", tmp_path / "own"])[1]
    assert problems
    assert {each.span.path for each in problems if each.span} == {
        (tmp_path / "own/math/broken.yaml").as_posix()
    }


def test_a_file_that_cannot_be_read_fails_its_own_suite_and_its_users(suites):
    """It is no operator then, whose name they would not know."""
    given = suites("math/broken.yaml", "doc:", "docs:")
    assert verdicts(given) == RIGHT | dict.fromkeys(USERS, "missing-key")


def test_a_broken_family_fails_its_members(suites):
    """And no others."""
    given = suites("families/doubling.yaml", "input + input", "input + nothing")
    assert verdicts(given) == RIGHT | {"member": "unbound-name"}


def test_a_family_that_cannot_be_read_fails_its_members(suites):
    """With what is wrong with it, before what follows from that."""
    given = suites("families/doubling.yaml", "outputs:", "outputts:")
    assert verdicts(given) == RIGHT | {"member": "unknown-key"}


def test_a_broken_module_fails_its_own_suite_and_those_that_extend_it(suites):
    """Their suites can be collected all the same."""
    given = suites("modules/bias.yaml", "weights:", "weigths:")
    assert verdicts(given) == RIGHT | dict.fromkeys(("bias", "heir", "late"), "unknown-key")


def test_broken_facts_of_all_operators_fail_all(suites, tmp_path):
    """There is nobody whom they do not concern."""
    (tmp_path / "own/targets.yaml").write_text("tripybuild: 1\ntargets: none\n")
    found = verdicts(suites("math/alone.yaml", "Change each", "Change each"))
    assert set(found.values()) == {"wrong-type"}
