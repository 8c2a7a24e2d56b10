"""The operators of other systems: the tables say what the systems themselves say."""

from pathlib import Path

import pytest
from oracles import aten_operators

from tripybuild.onnx.table import (
    NEWEST,
    find_operator,
    operator_names,
    runtime_operator_names,
)
from tripybuild.process import paths
from tripybuild.schema.foreign import SYSTEMS, signatures
from tripybuild.schema.operator.aliases import AliasReader
from tripybuild.schema.operator.operator import Input
from tripybuild.testing.registry import registry
from tripybuild.types.type_syntax import parse_pattern

ROOT = Path(__file__).resolve().parents[3]
TABLE = ROOT / "tripybuild" / "schema" / "foreign" / "aten.txt"


def test_a_line_is_read():
    """Parameters by position and by name, those that may be left out, and the results."""
    softmax = signatures("aten")["softmax.int"]
    assert softmax.by_position == ("self", "dim", "dtype")
    assert softmax.by_name == ()
    assert softmax.optional == {"dtype"}
    assert softmax.results == 1
    assert softmax.defaults == {"dtype": None}
    pool = signatures("aten")["max_pool2d"]
    assert pool.defaults == {
        "stride": [], "padding": [0, 0], "dilation": [1, 1], "ceil_mode": False,
    }  # fmt: skip
    assert signatures("onnx")["Resize"].defaults["cubic_coeff_a"] == -0.75
    assert signatures("onnx")["RNN"].defaults["activations"] == ["Tanh", "Tanh"]
    concat = signatures("onnx")["Concat"]
    assert concat.several == "inputs"
    assert concat.by_name == ("axis",)
    assert str(signatures("onnx")["TopK"]) == "TopK(X, K, axis?, largest?, sorted?)"
    assert signatures("onnx")["TopK"].results == 2
    assert signatures("aten")["split_with_sizes"].results is None


def test_every_line_is_read():
    """A line that is not understood would be an operator that nobody finds."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    names = [signature.name for signature in signatures("aten").values()]
    assert names == list(signatures("aten")) == [line.partition("(")[0] for line in lines]
    assert len(signatures("aten")) == len(lines)
    assert lines == sorted(lines)


def test_every_operator_of_onnx_is_read():
    """Each has a parameter for each input and attribute of its newest version."""
    table = signatures("onnx")
    assert set(table) == operator_names() | runtime_operator_names()
    assert not operator_names() & runtime_operator_names()
    for name, signature in table.items():
        schema = find_operator(name, NEWEST)
        given = {*(each.name for each in schema.inputs), *schema.attributes}
        assert set(signature.parameters) == given
        assert signature.optional <= given


def test_aten_is_what_torch_says():
    """Made anew from the installed PyTorch, the table is the same."""
    torch = pytest.importorskip("torch")
    if not torch.__version__.startswith("2.13."):
        pytest.skip("torch 2.13 is not installed")
    assert aten_operators.lines() == TABLE.read_text(encoding="utf-8").splitlines()


def test_every_law_of_an_alias_holds_in_the_registry():
    """The registry has aliases of both systems, with what each form can say."""
    operators = registry(paths.registry()).operators
    aliases = [a for o in operators.values() for a in o.foreign]
    assert {a.system for a in aliases} == set(SYSTEMS)
    assert any(a.reads for a in aliases)
    assert any(a.differs for a in aliases)
    assert any(a.result is not None for a in aliases)
    convolution = operators["convolution"].foreign[0]
    assert list(convolution.arguments) == [
        "X", "W", "B", "dilations", "group", "pads", "strides",
    ]  # fmt: skip
    assert convolution.plain == {
        "X": "input", "W": "weight", "B": "bias", "dilations": "dilation", "group": "groups",
        "strides": "stride",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("type", "shape", "read"),
    [
        ("T[*S]", "S", "self.shape"),
        ("T[N, *S]", "S", "self.shape[1:]"),
        ("T[*S, N]", "S", "self.shape[:-1]"),
        ("T[M, *S, N, 4]", "S", "self.shape[1:-2]"),
        ("T[M, *S, N, 4]", "[M, N]", "[self.shape[0], self.shape[-2]]"),
    ],
)
def test_sizes_behind_a_run_are_read_back(type, shape, read):
    """They are counted from the end, and the run is what is left between."""
    operator = registry(paths.registry()).operators["sum"]
    input = Input("input", parse_pattern(type, frozenset("T")), "")
    reader = AliasReader(operator.document, ["input", "dim"], {}, {"input": input})
    (alias,) = reader.read("aten", f"sum.dim_IntList(input, axes(dim, {shape}))")
    assert alias.reads["dim"].text == f"dim or range(len({read}))"
    assert not reader.found
