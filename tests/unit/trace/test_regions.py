"""Graphs inside of operations: recorded from functions, closed, printed, stored and run."""

import json

import numpy as np
import pytest
from network_printer import print_network

import tripyapi as tp
from tripyapi.tensor import Tensor
from tripybuild.artifact.graph_json import from_data, to_data
from tripybuild.compiler.lowering.lower import lower_stablehlo, lower_tensorrt
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.reference.execute import reference_run
from tripybuild.symbolic.dims import symbol
from tripybuild.trace import printer
from tripybuild.trace.generated_code import operation_class
from tripybuild.trace.graph import Graph
from tripybuild.trace.region import walk_operations
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import boolean, float32, int32

B = symbol("B", 1, 8)


def given(name, *shape, dtype=float32):
    return Tensor.of(Value(TensorType(dtype, shape), name=name))


def graph(inputs, weights=(), **outputs):
    values, more = ({t.value.name: t.value for t in each} for each in (inputs, weights))
    return Graph("g", values, more, {name: tensor.value for name, tensor in outputs.items()})


def nested(rows=3, last=tp.exp):
    """Two levels: the inner branches read what the outer one computes, and an input."""
    p, x, w = given("p", dtype=boolean), given("x", rows, 2), given("w", 2)

    def then(a):
        product = a * w
        return tp.cond(p, lambda: product + x, lambda: last(product)), tp.sum(a)

    y, z = tp.cond(p, then, lambda a: (a - 1.0, tp.max(w)), [x])
    return graph([p, x], [w], y=y, z=z)


def refusal(function, *arguments, **named):
    with pytest.raises(DiagnosticError) as caught:
        function(*arguments, **named)
    (found,) = caught.value.diagnostics
    return found


# --- recording ---


def test_what_a_region_reads_from_outside_is_an_operand():
    """All regions of an operation take it, each once, behind their own arguments."""
    made = nested()
    (outer,) = made.operations
    inner = next(op for op in outer.then.operations if op.operator == "cond")

    assert [value.name for value in outer.captured] == ["w", "p", "x"]
    assert [value.name for value in outer.reads()] == ["p", "x", "w", "p", "x"]
    assert len(outer.then.parameters) == len(outer.otherwise.parameters) == 1 + 3
    assert inner.predicate is outer.then.parameters[2]
    assert set(inner.reads()) <= {*outer.then.parameters, outer.then.operations[0].outputs[0]}
    assert list(made.used_weights()) == ["w"]


def test_regions_read_nothing_but_what_they_take():
    """At any depth."""
    for operation in walk_operations(nested().operations):
        for body in operation.bodies():
            known = {*body.parameters}
            for step in body.operations:
                assert set(step.reads()) <= known
                known |= {*step.outputs}
            assert set(body.results) <= known


def test_only_what_is_needed_is_kept():
    """What a function records in vain is left out."""
    x = given("x", 2)

    def wasteful(a):
        assert tp.exp(a).shape == (2,)
        return -a

    tp.cond(given("p", dtype=boolean), wasteful, lambda a: a, [x])
    y = tp.cond(given("p", dtype=boolean), wasteful, lambda a: a, [x])

    assert [op.operator for op in y.value.producer.then.operations] == ["neg"]


def test_one_tensor_is_given_as_itself():
    """Several are a tuple."""
    p, x = given("p", dtype=boolean), given("x", 2)

    assert tp.cond(p, lambda: x, lambda: -x).shape == (2,)
    assert [t.shape for t in tp.cond(p, lambda: [x, x[0]], lambda: (-x, x[1]))] == [(2,), ()]


def test_tensors_of_another_region_are_refused():
    """Nobody knows what they hold."""
    p, x, kept = given("p", dtype=boolean), given("x", 2), []

    def keeps(a):
        kept.append(-a)
        return a

    tp.cond(p, keeps, lambda a: a, [x])
    assert refusal(tp.exp, kept[0]).code == "region-value"
    assert refusal(tp.cond, p, lambda: kept[0], lambda: x).code == "region-value"
    found = refusal(lambda: tp.cond(p, keeps, lambda _: kept[-1], [x]))
    assert (found.code, found.hint) == ("region-value", "return it from the function that makes it")


def test_constants_of_another_region_are_at_home_everywhere():
    """They depend on nothing."""
    p, x, kept = given("p", dtype=boolean), given("x", 2), []

    def keeps(a):
        kept.append(Tensor([1.0, 2.0]))
        return a * kept[0]

    y = tp.cond(p, keeps, lambda a: a + kept[0], [x]) + kept[0]

    got = reference_run(graph([p, x], y=y), {})
    assert got([np.array(False), np.array([3, 4], np.float32)])[0].tolist() == [5, 8]


def test_nobody_can_look_at_a_tensor_of_a_region():
    """What it holds is known when the graph runs."""
    p, x = given("p", dtype=boolean), given("x", 2)
    found = refusal(tp.cond, p, lambda a: a if tp.any(a > 0.0) else -a, lambda a: a, [x])

    assert found.code == "not-known-yet"
    assert "`then(0)`" in found.message


# --- diagnostics ---


def test_branches_that_disagree():
    """The output and both types are named."""
    p, x = given("p", dtype=boolean), given("x", 2, 3)
    found = refusal(tp.cond, p, lambda a: (a, a), lambda a: (a, tp.cast(a, tp.int32)), [x])

    assert found.code == "cond/otherwise"
    assert found.message == (
        "`otherwise` of `cond` must give tensor<2x3xf32> as output 1, as that of `then` is"
    )
    assert found.label == "it returns tensor<2x3xi32>"
    assert found.hint == "cast it: `tp.cast(..., tp.float32)`"
    assert found.span.path == __file__
    shapes = refusal(tp.cond, p, lambda a: a, lambda a: a[0], [x])
    assert (shapes.label, shapes.hint) == ("it returns tensor<3xf32>", None)


@pytest.mark.parametrize(
    ("otherwise", "message", "label"),
    [
        (lambda a: (a, a), "give 1 tensor", "it returns 2"),
        (lambda a: 1.0, "give tensors", "it returns 1.0"),
        (lambda a: None, "give tensors", "it returns None"),
        (3, "be a function on tensors", "found 3"),
    ],
)
def test_functions_that_are_none(otherwise, message, label):
    """Each is said in words."""
    p, x = given("p", dtype=boolean), given("x", 2)
    found = refusal(tp.cond, p, lambda a: -a, otherwise, [x])

    assert (found.message, found.label) == (f"`otherwise` of `cond` must {message}", label)


def test_sizes_that_are_open_are_compared_in_each_call():
    """As a law of the graph; so are those of operations inside of regions."""
    p, x, y = given("p", dtype=boolean), given("x", B, 2), given("y", 4, 2)
    one = graph([p, x, y], z=tp.cond(p, lambda: x, lambda: y))
    inner = graph([p, x, y], z=tp.cond(p, lambda: x[:, 0] + y[:, 0], lambda: x[:, 1]))

    assert [law.code for law in one.deferred_laws] == ["cond/otherwise"]
    assert "add/" in " ".join(law.code for law in inner.deferred_laws)


# --- text and data ---


def test_the_readable_form():
    """A region is a block with arguments; numbers count on."""
    p, x, w = given("p", dtype=boolean), given("x", 2), given("w", 2)
    made = graph([p, x], [w], y=tp.cond(p, lambda a: tp.exp(a) * w, lambda a: a, [x]))

    assert printer.text(made).splitlines()[5:] == [
        "    y = cond(p : tensor<i1>, then={(%0 : tensor<2xf32>, %1 : tensor<2xf32>):",
        "        %2 = exp(%0 : tensor<2xf32>) : tensor<2xf32>",
        "        %3 = mul(%2 : tensor<2xf32>, %1 : tensor<2xf32>) : tensor<2xf32>",
        "        return %3",
        "    }, otherwise={(%0 : tensor<2xf32>, %1 : tensor<2xf32>):",
        "        return %0",
        "    }, [x : tensor<2xf32>], captured=[w : tensor<2xf32>]) : tensor<2xf32>",
        "    return y=y",
    ]
    assert "# <lambda> " in printer.text(made, locations=True).splitlines()[6]


def test_the_canonical_form_tells_regions_apart():
    """It is a cache key."""
    assert printer.canonical(nested()) == printer.canonical(nested())
    assert printer.canonical(nested()) != printer.canonical(nested(last=tp.tanh))


def test_regions_survive_json():
    """With symbols, and with arrays that are kept once."""
    x, table = given("x", B, 2), Tensor(np.arange(4, dtype=np.float32).reshape(2, 2))
    made = nested(B)
    more = graph([x], y=tp.cond(tp.any(x > 0.0), lambda: x @ table, lambda: x @ (table + table)))

    for each in (made, more):
        data, arrays = to_data(each)
        read = from_data(json.loads(json.dumps(data)), arrays, {"B": B}, operation_class)
        assert printer.canonical(read) == printer.canonical(each)
        assert printer.text(read, locations=True) == printer.text(each, locations=True)
        assert read.deferred_laws == each.deferred_laws or len(read.deferred_laws) == len(
            each.deferred_laws
        )
    assert list(to_data(more)[1]) == ["constant.0"]


@pytest.mark.parametrize("type", [["float32", [4]], ["int32", [2]]])
def test_regions_that_do_not_fit_are_refused(type):
    """What a file says of a region is checked as a function is."""
    p, x, w = given("p", dtype=boolean), given("x", 2), given("w", 2)
    for at in (0, 1):
        made = graph([p, x], [w], y=tp.cond(p, lambda a: a * w, lambda a: a, [x]))
        data = json.loads(json.dumps(to_data(made)[0]))
        data["operations"][0]["arguments"]["otherwise"]["region"]["takes"][at][:2] = type
        with pytest.raises(DiagnosticError, match="`otherwise` of `cond` must take"):
            from_data(data, {}, {}, operation_class)


def test_numbers_for_symbols_are_what_recording_with_numbers_gives():
    """Inside of regions, too."""
    assert printer.canonical(nested(B).substitute({"B": 3})) == printer.canonical(nested(3))


# --- engines ---


def compared(made, *arrays):
    """What the reference gives; StableHLO and TensorRT lower it as well."""
    assert "stablehlo.if" in lower_stablehlo(made).text()
    assert "trt.if_" in print_network(lower_tensorrt(made))
    return reference_run(made, {})(list(arrays))


def test_what_has_no_lowering_is_decomposed_inside_of_regions():
    """As it is outside."""
    p, x = given("p", dtype=boolean), given("x", 3)
    made = graph([p, x], y=tp.cond(p, lambda: tp.cumsum(x, 0), lambda: tp.softmax(x, 0)))
    data = np.array([1, 2, 3], np.float32)

    assert compared(made, np.array(True), data)[0].tolist() == [1, 3, 6]
    assert compared(made, np.array(False), data)[0].sum() == pytest.approx(1)


def test_branches_of_open_sizes_have_one_type_in_tensorrt():
    """One branch gives a size as a symbol, the other as a number."""
    p, x, y = given("p", dtype=boolean), given("x", B, 2), given("y", 4, 2)
    network = lower_tensorrt(graph([p, x, y], z=tp.cond(p, lambda: x, lambda: y)))
    (layer,) = network.layers

    assert [str(value.shape[0]) for region in layer.regions for value in region.gives] == ["B"] * 2


def test_what_decides_is_checked_first():
    """A predicate of one dimension is refused before anything is recorded."""
    calls = []
    found = refusal(tp.cond, given("p", 1, dtype=boolean), calls.append, calls.append)

    assert found.code == "cond/predicate"
    assert refusal(tp.cond, given("p", dtype=int32), calls.append, calls.append).code == found.code
    assert not calls


def test_an_error_inside_of_a_branch_is_its_own():
    """It is not taken for one of the call."""

    def wrong():
        return tp.ones((2,)) * len(3)

    with pytest.raises(TypeError, match="has no len"):
        tp.cond(tp.Tensor(True), wrong, lambda: tp.ones((2,)))
