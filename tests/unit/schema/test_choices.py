"""`cases:` of a snippet: walked, generated, and refused where a choice is none."""

import pytest

from tripybuild.codegen.package.plan import plan
from tripybuild.language.evaluate import evaluate
from tripybuild.language.names import free_names
from tripybuild.language.program import statements
from tripybuild.schema.load import load
from tripybuild.types.dtypes import float32, int32
from tripybuild.types.vocabulary import SHAPE

FAMILY = """\
tripybuild: 1
family: shifting
parameters: [least]
types:
  T: [float32, int32]
inputs:
  input: {type: "T[*S]", doc: The values.}
attributes:
  mode: {type: up | down, default: up, doc: Where to.}
outputs:
  output: {type: "T[*S]", doc: The moved values.}
sample: {S: [2]}
"""
OPERATOR = """\
tripybuild: 1
op: shift
like: shifting(least=2)
doc: Move each value.
infer:
  step:
    cases:
      - {when: len(S) == 0, then: least}
      - when: T == int32
        then: |
          most, rest = least + 5, 7
          return most + rest
      - then: least + 1
reference:
  let: twice = 2 * step
  cases:
    - when: mode == up
      then: |
        half = twice // 2
        return input + half
    - then: input - step
"""
CODE = '''\
    """Compute `shift` in NumPy."""
    S = op.input.shape
    T = op.input.dtype
    if len(S) == 0:
        step = 2
    elif T == dtypes.int32:
        most, rest = (2 + 5, 7)
        step = most + rest
    else:
        step = 2 + 1
    twice = 2 * step
    if op.mode == "up":
        half = twice // 2
        return input + half
    return input - step
'''


def read(folder, operator=OPERATOR, family=FAMILY):
    (folder / "shifting.yaml").write_text(family)
    (folder / "shift.yaml").write_text(operator)
    registry, found = load([folder])
    return registry, found


def test_cases_are_walked(tmp_path):
    """The first one that holds; its lines are its own."""
    registry, found = read(tmp_path)
    assert not [each for each in found if each.code not in ("no-decompose", "unreachable-target")]
    shift = registry.operators["shift"]
    step, reference = shift.infer["step"].program, shift.reference.program
    calls = [{"S": [], "T": int32}, {"S": [1], "T": float32}, {"S": [1], "T": int32}]
    assert [evaluate(step, call | {"int32": int32}, SHAPE) for call in calls] == [2, 3, 14]
    names = {"input": 10, "step": 3, "up": "up", "down": "down"}
    found = [evaluate(reference, names | {"mode": mode}, SHAPE) for mode in ("up", "down")]
    assert found == [13, 7]
    assert set(free_names(reference)) == {"step", "mode", "up", "input"}
    assert len(statements(reference)) == 3


@pytest.mark.parametrize(
    ("old", "new", "code", "text"),
    [
        ("    - then: input - step\n", "", "bad-case", None),
        ("- then: input - step", "- {when: mode == down, then: input}", "bad-case", "mode == down"),
        ("when: mode == up", "when: x = 1", "snippet-grammar", None),
        ("when: mode == up\n      then", "then", "unreached-case", None),
        ("when: T == int32", "when: len(S) == 0", "unreached-case", "len(S) == 0"),
        ("when: T == int32", "when: T in [float32, int32]", "unreached-case", "least + 1"),
        ("when: T == int32", "when: T == float16", "unreached-case", "T == float16"),
        ("half = twice // 2", "half = twice // nothing", "unbound-name", "nothing"),
        ("most, rest = least + 5, 7", "most = least +", "snippet-syntax", None),
        ("let: twice = 2 * step", "let: 2 * step", "snippet-grammar", "2 * step"),
        ("return input + half", "return input + other.thing", "unbound-name", "other"),
        ("return input + half", "return input.thing", "unknown-attribute", "input.thing"),
        ("return input + half", "return np.exp", "function-value", "np.exp"),
        ("return most + rest", "return [i for i in range(10 ** 9)]", "snippet-limit", None),
        ("      then: |\n        half", "      that: |\n        half", "unknown-key", None),
    ],
)
def test_a_mistake_is_told_at_its_place(tmp_path, old, new, code, text):
    """In the file's own lines, wherever the case stands."""
    assert old in OPERATOR
    changed = OPERATOR.replace(old, new)
    _, found = read(tmp_path, changed)
    (first, *_) = [each for each in found if each.code == code] or [None]
    assert first is not None, found
    assert first.span.line > 0
    if text is not None:
        line = changed.splitlines()[first.span.line - 1]
        assert text in line, first
        assert line[first.span.column - 1 :].startswith(text), first


def test_generated_code_is_plain_statements(tmp_path):
    """`if` and `elif` for a name, `if` and `return` for a result."""
    registry, _ = read(tmp_path)
    reference = plan(registry, "own")["own/references/shift.py"]
    assert reference.endswith(CODE), reference
