"""Graphs: as text, as data and back, with numbers for symbols, and with laws that stay open."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import tripyapi as tp
from tripyapi.tensor import Tensor
from tripybuild.artifact.graph_json import (
    decode_value,
    encode_value,
    from_data,
    law_data,
    read_law,
    to_data,
)
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.graph_builder import build
from tripybuild.process.law_lines import line_of
from tripybuild.symbolic.dims import symbol
from tripybuild.trace import printer
from tripybuild.trace.generated_code import operation_class
from tripybuild.trace.graph import Graph
from tripybuild.trace.location import UnknownLocation
from tripybuild.trace.operation import Declaration, TraceOp
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import BY_NAME, float32, int32

SPECS = Path(__file__).parents[3] / "specs"
B, S = symbol("B", 1, 8), symbol("S", 1, 64)
SYMBOLS = {"B": B, "S": S}


@dataclass(frozen=True, eq=False)
class ResizeLinear(TraceOp):
    """An operation that no registry has."""

    input: Value
    scales: tuple[int, ...]
    mode: str | None = None

    declaration = Declaration("resize_linear", "nowhere.yaml")


def given_tensor(name, *shape, dtype=float32):
    return Tensor.of(Value(TensorType(dtype, shape), name=name))


def graph(inputs, **outputs):
    values = {tensor.value.name: tensor.value for tensor in inputs}
    return Graph("g", values, {}, {name: tensor.value for name, tensor in outputs.items()})


def round_trip(made, symbols=SYMBOLS):
    data, arrays = to_data(made)
    return from_data(json.loads(json.dumps(data)), arrays, symbols, operation_class)


def everything():
    """A graph with attributes of all kinds."""
    x, i = given_tensor("x", B, S, 4), given_tensor("i", B, S, dtype=int32)
    low, high = tp.split(x, 2, 2)
    padded = tp.pad(low, [(0, 0), (1, 0), (0, 0)], value=float("-inf"))
    joined = tp.concatenate([padded[:, :-1], high * float("nan")], 2)
    table = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
    looked = tp.gather(table, 0, i) + tp.cast(joined, tp.bfloat16).cast(tp.float32)
    chosen = tp.where(looked > -0.0, looked, tp.full([1], 1e-30))
    values, places = tp.topk(chosen, 2, 2)
    length = tp.reshape(chosen, [B, S * 4])[0, -1]
    return graph([x, i], values=values, places=places, length=length, x=x)


# --- text ---


def test_the_readable_form():
    """One operation a line, typed; attributes that are None are left out."""
    value = Value(TensorType(float32, (2, 2)), name="inp")
    made = (
        ResizeLinear(value, (2, 2))
        .with_types(TensorType(float32, (4, 4)))
        .with_location(UnknownLocation())
    )
    text = printer.text(Graph("model", {"inp": value}, {}, {"out": made.outputs[0]}))

    assert text.splitlines() == [
        "def model(",
        "    inp : tensor<2x2xf32>,",
        "):",
        "    out = resize_linear(inp : tensor<2x2xf32>, scales=(2, 2)) : tensor<4x4xf32>",
        "    return out=out",
    ]


def test_the_readable_form_says_where():
    """With `locations`, each line ends in the label and the place."""
    x = given_tensor("x", 2)
    line = printer.text(graph([x], y=tp.relu(x)), locations=True).splitlines()[3]

    assert "# test_the_readable_form_says_where" in line
    assert f"{Path(__file__).name}:" in line


def test_an_output_that_is_called_like_an_input():
    """A name stands for one value."""
    x = given_tensor("x", 2)
    text = printer.text(graph([x], x=tp.relu(x)))

    assert "%0 = relu(x : tensor<2xf32>) : tensor<2xf32>" in text
    assert "return x=%0" in text


def test_the_canonical_form_has_neither_names_nor_places():
    """Equal computations print equally, wherever they were written."""

    def program(name):
        x = given_tensor(name, B, 4)
        unused = tp.exp(x)
        assert unused.shape == (B, 4)
        return tp.softmax(x + 1.0, 1), x

    first, x = program("x")
    second, y = program("another")
    one, two = graph([x], out=first), graph([y], result=second)

    assert printer.canonical(one) == printer.canonical(two)
    assert "x" not in printer.canonical(one).split("\n")[0].replace("tensor<Bx4xf32>", "")
    assert __file__ not in printer.canonical(one)


@pytest.mark.parametrize(
    "other",
    [
        lambda x: x + 2.0,
        lambda x: x - 1.0,
        lambda x: x + Tensor([1.0]),
        lambda x: (x + 1.0) + 0.0,
        lambda x: 1.0 + x,
    ],
)
def test_the_canonical_form_tells_computations_apart(other):
    """Other numbers, operators, shapes and orders of operands."""
    x = given_tensor("x", 2)

    assert printer.canonical(graph([x], y=x + 1.0)) != printer.canonical(graph([x], y=other(x)))


def test_the_canonical_form_tells_data_apart():
    """The whole digest of an array is in it."""
    x = given_tensor("x", 2)
    texts = [
        printer.canonical(graph([x], y=x + Tensor(np.array(data, np.float32))))
        for data in ([1, 2], [1, 3], [1, 2])
    ]

    assert texts[0] == texts[2] != texts[1]
    assert len(max(texts[0].replace(")", "(").split("("), key=len)) >= 64


# --- data ---


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**70), 2**70)
        | st.floats()
        | st.text(max_size=5)
        | st.sampled_from(list(BY_NAME.values()))
        | st.integers(1, 9).map(lambda n: (B * n + S) // 2),
        lambda inner: st.lists(inner, max_size=3).map(tuple),
        max_leaves=6,
    )
)
@settings(max_examples=60, deadline=None)
def test_attributes_survive_json(value):
    """Numbers, nan, infinities, dtypes, symbolic sizes, words and nested tuples."""
    again = decode_value(json.loads(json.dumps(encode_value(value), allow_nan=False)), SYMBOLS)

    assert repr(again) == repr(value)


@pytest.mark.parametrize("name", ["digits", "minilm", "gpt2"])
def test_models_survive_json(name):
    """The graph that is read back is the one that was written, places included."""
    made = build(SPECS / f"{name}.yaml")
    data, arrays = to_data(made.graph)
    symbols = {n: symbol(n, r.min, r.max, r.multiple_of) for n, r in made.ranges.items()}
    again = from_data(json.loads(json.dumps(data)), arrays, symbols, operation_class)

    assert printer.canonical(again) == printer.canonical(made.graph)
    assert printer.text(again, locations=True) == printer.text(made.graph, locations=True)


def test_operations_of_many_kinds_survive_json():
    """Lists of operands, absent ones, arrays, words, dtypes, nan and infinities."""
    made = everything()
    again = round_trip(made)

    assert printer.canonical(again) == printer.canonical(made)
    assert to_data(again)[0] == to_data(made)[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.pop("operations"),
        lambda data: data["operations"].__setitem__(0, {}),
        lambda data: data["operations"][0].__setitem__("at", 99),
        lambda data: data["operations"][0].__setitem__("types", [["float99", []]]),
        lambda data: data["operations"][0]["arguments"].__setitem__("more", 1),
        lambda data: data["outputs"].append(["z", 999]),
        lambda data: data["inputs"].append(["z", "float32", [{"size": "__import__('os')"}]]),
        lambda data: data["inputs"].append(["z", "float32", [{"size": "Q"}]]),
        lambda data: data.__setitem__("places", None),
        lambda data: data["places"][0].__setitem__(1, 3),
        lambda data: data["places"][0].__setitem__(2, 1 << 63),
        lambda data: data["operations"][0]["types"][0][1].append(7),
        lambda data: data["operations"][0]["arguments"].update(input=3),
    ],
)
def test_data_that_is_no_graph(change):
    """What cannot be read ends in a diagnostic."""
    data, arrays = to_data(everything())
    change(data)

    with pytest.raises(DiagnosticError) as raised:
        from_data(data, arrays, SYMBOLS, operation_class)

    assert raised.value.diagnostics[0].code == "executable-altered"


@pytest.mark.parametrize("name", ["nothing", "Tensor", "float32", "os.system", "__init__", ""])
def test_data_can_only_name_operators(name):
    """Nothing else of the package, and no module, is looked up."""
    data, arrays = to_data(everything())
    data["operations"][0]["op"] = name

    with pytest.raises(DiagnosticError) as raised:
        from_data(data, arrays, SYMBOLS, operation_class)

    assert raised.value.diagnostics[0].code == "unknown-operator"


# --- numbers for symbols ---


@given(b=st.integers(1, 8), s=st.integers(2, 64))
@settings(max_examples=8, deadline=None)
def test_numbers_for_symbols_are_what_recording_with_numbers_gives(b, s):
    """Types and attributes are those of the graph of the same program on fixed shapes."""

    def program(rows, columns):
        x = given_tensor("x", rows, columns, 4)
        flat = tp.reshape(x, [rows, columns * 4])[:, ::2]
        return graph([x], out=tp.softmax(flat, 1) + tp.arange(columns * 2), x=x)

    substituted = program(B, S).substitute({"B": b, "S": s})

    assert printer.canonical(substituted) == printer.canonical(program(b, s))
    assert program(B, S).symbols == ("B", "S")
    assert substituted.symbols == ()


# --- laws that stay open ---


def test_a_law_that_sizes_leave_open_is_kept_once():
    """It travels as data and says what was asked."""
    x, y = given_tensor("x", S), given_tensor("y", B)
    made = graph([x, y], a=tp.relu(x + y), b=tp.tanh(x + y))
    (law,) = made.deferred_laws
    again = read_law(json.loads(json.dumps(law_data(law))), SYMBOLS)

    assert law_data(again) == law_data(law)
    assert (again.code, again.source) == (law.code, law.source)
    assert again.law.line == line_of(law.source, "broadcastable") > 0
    assert again.law.text.startswith("conformable")
    assert {k: list(v) for k, v in again.names.items()} == {"A": [S], "B": [B]}


def test_a_law_that_sizes_decide_is_not_kept():
    """Equal symbols are equal, and what is false is an error at once."""
    x = given_tensor("x", S)

    assert graph([x], y=x + x).deferred_laws == ()
    with pytest.raises(DiagnosticError, match="add/broadcastable"):
        given_tensor("y", symbol("T", 2, 64)) + given_tensor("z", 65)
