"""Classes of modules that a registry of somebody else declares."""

import sys
from importlib import import_module
from textwrap import dedent

import pytest

import tripyapi as tp
from tripybuild.codegen.package.plan import plan
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process import paths
from tripybuild.schema.load import load

GATED = """\
tripybuild: 1
module: Gated
doc: Scale by a gate, and give the gate too.
sizes:
  width:
    type: int
    doc: The size of the last dimension.
  hidden:
    type: int
    default: 2 * width
    doc: The size in the middle.
  rates:
    type: float | float[...]
    default: [0.5]
    doc: What parts are to be left out.
inputs:
  x: F[*A, width]
  others: list[F[width]]
  shift:
    type: F[width]
    optional: true
parts:
  up: Linear(width, hidden, bias=False)
  last: Linear(width, width) if hidden > 100 else None
weights:
  gate: F[width]
steps:
  gated: |
    x = x * gate
    return x if shift is None else x + shift
  rows: prod(A)
outputs:
  out: up(gated) * rows
  left, right: others
"""
STATE = """\
tripybuild: 1
module: Counter
doc: Count.
inputs:
  x: F[2]
state:
  seen: F[2]
next:
  seen: seen + x
outputs:
  out: seen
"""


def planned(folder, text):
    name = text.split("module: ")[1].split("\n")[0]
    (folder / f"{name.lower()}.yaml").write_text(dedent(text), encoding="utf-8")
    registry, found = load([paths.registry(), folder])
    assert not found
    return plan(registry, "gates")


@pytest.fixture(scope="module")
def gated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gates")
    registry, out = folder / "registry", folder / "out"
    registry.mkdir()
    for path, text in planned(registry, GATED).items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(out)
        yield import_module("gates").Gated
    for name in [name for name in sys.modules if name.split(".")[0] == "gates"]:
        del sys.modules[name]


def test_a_default_may_be_computed(gated):
    assert gated(2).hidden == 4
    assert gated(2, hidden=3).up.weight.shape == (3, 2)


@pytest.mark.parametrize(("given", "kept"), [(0.25, (0.25,)), ([1, 0.5], (1.0, 0.5)), ((), ())])
def test_one_value_may_stand_for_several(gated, given, kept):
    assert gated(3).rates == (0.5,)
    made = gated(3, rates=given)
    assert made.rates == kept
    assert gated.__annotations__["rates"] == tuple[float, ...]
    with pytest.raises(DiagnosticError, match="`rates` of `Gated` must be a number"):
        gated(3, rates="fast")


def test_a_part_may_be_none(gated):
    assert gated(2).last is None
    assert gated(2, 101).last.weight.shape == (2, 2)


def test_several_outputs_are_a_tuple(gated):
    module = gated(2, 1)
    module.load_state_dict({"gate": tp.Tensor([2.0, 3.0]), "up.weight": tp.Tensor([[1.0, 1.0]])})
    x, a, b = (tp.Tensor(values) for values in ([[1.0, 1.0]] * 3, [1.0, 2.0], [3.0, 4.0]))

    out, left, right = module(x, [a, b])
    assert out.tolist() == [[15.0]] * 3
    assert (left.tolist(), right.tolist()) == ([1.0, 2.0], [3.0, 4.0])

    out, _, _ = module(x, [a, b], shift=tp.Tensor([1.0, 1.0]))
    assert out.tolist() == [[21.0]] * 3


def test_what_a_class_cannot_say_is_refused(tmp_path):
    with pytest.raises(DiagnosticError) as caught:
        planned(tmp_path, STATE)
    found = caught.value.diagnostics
    assert [each.message for each in found] == [
        "a module of a registry has no `state:`",
        "a module of a registry has no `next:`",
    ]
