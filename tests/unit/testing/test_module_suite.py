"""A suite of a module fails where its class does not do what its declaration says."""

import pytest

import tripyapi as tp
from tripybuild.process import paths
from tripybuild.testing import ModuleSuite


def suite(name):
    return ModuleSuite(f"ops_registry/modules/{name}.yaml", "tripyapi", str(paths.registry()))


def wrong_forward(self, x):
    return tp.linear(x, self.weight * 2.0, self.bias)


def test_a_wrong_forward_fails(monkeypatch):
    """Also where the class is a part of another one."""
    monkeypatch.setattr(tp.Linear, "forward", wrong_forward)
    for name in ("linear", "multiheadattention"):
        with pytest.raises(AssertionError, match="Mismatched elements"):
            suite(name).check_values("float32")


@pytest.mark.parametrize(
    "wrong",
    [
        {"weight": tp.Parameter((4, 5), tp.float32)},
        {"weight": tp.Parameter((5, 4), tp.float16)},
        {"bias": None},
        {"weight_scale": tp.Parameter((), tp.float32)},
    ],
)
def test_a_wrong_weight_fails(monkeypatch, wrong):
    """Its shape, its dtype, one that is not there, and one too many."""
    init = tp.Linear.__init__

    def wrong_init(module, *given, **named):
        init(module, *given, **named)
        vars(module).update(wrong)

    monkeypatch.setattr(tp.Linear, "__init__", wrong_init)
    with pytest.raises(AssertionError, match="the parameters"):
        suite("linear").check_weights("float32")
