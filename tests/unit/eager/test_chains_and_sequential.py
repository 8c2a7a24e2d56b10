"""A chain of a specification and `tp.Sequential` are the same graph, with the same weights."""

import pytest
import written

import tripyapi as tp
from tripybuild.eager.compile.compile import record_function
from tripybuild.trace import printer

SPEC = """
    inputs:
      x: F[2, 4]
    parts:
      net: "{net}"
    outputs:
      y: net(x)
    """


class Holder(tp.Module):
    """What holds the modules under the name of the part."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net(x)


@pytest.mark.parametrize(
    ("chain", "made"),
    [
        (
            "[Linear(4, 8), relu, Linear(8, 2)]",
            lambda: tp.Sequential(tp.Linear(4, 8), tp.relu, tp.Linear(8, 2)),
        ),
        ("[Linear(4, 4)] * 3", lambda: tp.Sequential(*(tp.Linear(4, 4) for _ in range(3)))),
        (
            "[[LayerNorm(4), tanh], [], flatten]",
            lambda: tp.Sequential(
                tp.Sequential(tp.LayerNorm(4), tp.tanh), tp.Sequential(), tp.flatten
            ),
        ),
        ("[]", tp.Sequential),
    ],
)
def test_a_chain_is_sequential(tmp_path, chain, made):
    spec = written.graph(tmp_path, SPEC.format(net=chain))
    module = Holder(made())
    module.initialize_dummy_parameters()
    program = record_function(module, [tp.InputInfo((2, 4), tp.float32)]).graph

    assert list(spec.weights) == list(program.weights)
    assert printer.canonical(spec) == printer.canonical(program)


def test_an_operator_can_be_a_part(tmp_path):
    """What a model is made with may be an operator, as an activation is."""
    text = """
        inputs:
          x: F[2, 4]
        parts:
          first: block(relu)
          second: block(tanh)
        outputs:
          y: second(first(x))
        define:
          block:
            sizes: [kind]
            inputs:
              x: F[2, 4]
            parts:
              act: kind
            outputs:
              y: act(x)
        """
    lines = printer.canonical(written.graph(tmp_path, text)).splitlines()
    assert [line.split(" ")[2].partition("(")[0] for line in lines[1:3]] == ["relu", "tanh"]


def test_pythons_functions_are_what_they_were(tmp_path):
    """`max` and the like are operators, too; where parts are made, there are no tensors."""
    spec = written.graph(tmp_path, SPEC.format(net="[Linear(max(4, 2), 4)]"))
    assert spec.weights["net.0.weight"].type.shape == (4, 4)


def test_a_chain_holds_parts_and_operators_only(tmp_path):
    ((_, code, message),) = written.problems(tmp_path, SPEC.format(net="[relu, 3]"))
    assert (code, message) == ("wrong-type", "a part is made of parts, but this is 3")
