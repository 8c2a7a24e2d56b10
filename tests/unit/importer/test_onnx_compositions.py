"""Compositions of ONNX's operators: examples are as ONNX Runtime has them, or ONNX itself."""

import re

import numpy as np
import pytest
from call_programs import run_calls
from onnx import defs
from onnx_cases import Case, agree, expected, known_opsets, read_case
from onnx_files import graph, model, node, typed, untyped, weight

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.importer.onnx_model.program import load_model
from tripybuild.importer.translation.program import translate
from tripybuild.importer.translation.report import UnreadProgramError
from tripybuild.onnx.table import NEWEST, OLDEST, operator_names
from tripybuild.packages.builtin import builtin_registry
from tripybuild.process.paths import CHECKOUT

REGISTRY = builtin_registry()
X = typed("x", shape=(2, 3))
VALUES = np.array([[0.5, -1.0, 2.0], [3.0, 0.25, -2.0]], np.float32)


def examples():
    """Each example with the opsets for which it is written, newest first."""
    for operator, compositions in REGISTRY.foreign["onnx"].operators.items():
        for composition in compositions:
            opsets = [each for each in known_opsets(operator)[::-1] if composition.holds_in(each)]
            for example in composition.examples:
                yield opsets, operator + example.text[len(operator) :]


# Constants here are inputs: what they hold follows from the types that the model states.
STATED = [
    "Reshape(float32[2, 3, 4], int64([4, -1]))",
    "Expand(float32[3, 1], int64([2, 1, 4]))",
    "ConstantOfShape(int64([2, 3]))",
    "Squeeze(float32[1, 3, 1], int64([-1]))",
    "Unsqueeze(float32[2, 3], int64([0, -1]))",
    "Slice(float32[4, 6], int64([9, -1]), int64([0, -100]), int64([1, 0]), int64([-2, -1]))",
    "Slice(float32[4, 6], int64([1]), int64([-1]))",
    "Pad(float32[4, 5], int64([1, 2, 0, 1]), mode='reflect')",
    "Pad(float32[4, 5], int64([1, -1]), float32(5.0), int64([-1]))",
    "Pad(float32[4, 5], int64([1, 2, -1, -1]), mode='wrap')",
    "Pad(float32[4, 5], int64([1, 2, 0, 1]), mode='edge')",
    "Tile(float32[2, 3], int64([2, 1]))",
    "CenterCropPad(float32[7, 4], int64([4, 7]))",
    "Range(int64(9), int64(1), int64(-3))",
    "Trilu(float32[3, 4], int64(1), upper=0)",
    "CumSum(float32[2, 3], int64(-1), reverse=1)",
    "CumProd(float32[2, 3], int64(0))",
    "OneHot(int64([[0, -1], [2, 7]]), int64(4), float32([0.5, 2.0]))",
    "TopK(float32[3, 5], int64([2]), axis=0)",
    "Resize(float32[1, 1, 4, 4], None, None, int64([1, 1, 7, 8]))",
    "ReduceSum(float32[2, 3, 2], int64([-1]))",
    "ReduceMean(float32[2, 3, 2], int64([1]), keepdims=0)",
    "ReduceProd(float32[4, 3, 2], int64([1, 2]), keepdims=0)",
    "ReduceMax(float32[2, 3, 2], int64([0]))",
    "ReduceMin(float32[2, 3, 2], int64([]), noop_with_empty_axes=1)",
    "ReduceL1(float32[2, 3, 2], int64([0]))",
    "ReduceL2(float32[2, 3, 2], int64([0, 1]))",
    "ReduceLogSum(float32([[1.0, 2.0], [3.0, 4.0]]), int64([0]))",
    "ReduceLogSumExp(float32[2, 3, 2], int64([0, 1]))",
    "ReduceSumSquare(float32[2, 3, 2], int64([0, 1]))",
]

# What an example cannot say.
UNASKED = {
    **dict.fromkeys(["If", "Loop", "Scan", "SequenceMap"], "graphs, below"),
    **dict.fromkeys(["SequenceConstruct", "SequenceEmpty", "SequenceAt"], "lists, below"),
    **dict.fromkeys(["SequenceLength", "SequenceInsert", "SequenceErase"], "lists, below"),
    **dict.fromkeys(["ConcatFromSequence", "SplitToSequence", "Split"], "lists, below"),
    **dict.fromkeys(["MaxPool", "com.microsoft.EmbedLayerNormalization"], "several results, below"),
    **dict.fromkeys(["Optional", "OptionalGetElement", "OptionalHasElement"], "what is no tensor"),
    **dict.fromkeys(["Bernoulli", "RandomUniformLike", "RandomNormalLike"], "random numbers"),
    **dict.fromkeys(["RandomUniform", "RandomNormal"], "random numbers"),
}
COMPUTED = {each.partition("(")[0] for each in STATED}  # what has a reading for them alone


def test_every_composition_has_examples():
    without = {
        operator
        for operator, compositions in REGISTRY.foreign["onnx"].operators.items()
        if not all(each.examples for each in compositions)
    }
    assert without - COMPUTED == set(UNASKED)


def run(case, wanted=None):
    """Compare the results of ours; the operators that gave them."""
    program = translate(load_model(case.model), REGISTRY)
    found = run_calls(program, case.inputs)
    agree([*found.values()], expected(case)[0] if wanted is None else wanted)
    return [each.operator for each in program.graph.calls]


@pytest.mark.parametrize(("opsets", "text"), [*examples()])
def test_example(opsets, text):
    """At the newest opset that ONNX Runtime or ONNX computes."""
    for opset in opsets:
        case = read_case(text, opset)
        try:
            wanted, _ = expected(case)
        except RuntimeError:
            continue
        run(case, wanted)
        return
    raise AssertionError("neither of them computes it")


SEVERAL = [
    (3, ("EmbedLayerNormalization(int32([[1, 2, 0], [0, 1, 1]]), int32([[0, 0, 1], [0, 1, 1]]),"
        " float32[5, 8], float32[6, 8], float32[2, 8], float32[8], float32[8],"
        " int32([[1, 1, 0], [1, 1, 1]]))")),
    (2, ("EmbedLayerNormalization(int32([[1, 2, 0]]), None, float32[5, 8], float32[6, 8], None,"
        " float32[8], float32[8], None, int32([[3, 4, 5]]))")),
    (2, ("Attention(float32[1, 2, 8], float32[8, 24], float32[24], int32([[1, 1, 0]]),"
        " float32[2, 1, 2, 1, 4], num_heads=2, unidirectional=1, scale=0.3)")),
    (3, ("MultiHeadAttention(float32[2, 3, 8], float32[2, 3, 8], float32[2, 3, 8], None, None,"
        " None, float32[2, 2, 4, 4], float32[2, 2, 4, 4], num_heads=2, unidirectional=1)")),
]  # fmt: skip


@pytest.mark.parametrize(("count", "text"), SEVERAL)
def test_several_results_of_onnx_runtime(count, text):
    run(read_case(f"com.microsoft.{text}", 20, outputs=count))


@pytest.mark.parametrize("text", STATED)
def test_what_is_computed_follows_from_stated_types(text):
    case = read_case(text)
    wanted, _ = expected(case)
    held = case.model.graph.initializer
    case.inputs |= case.constants
    case.model.graph.input.extend(
        typed(n, str(a.dtype), a.shape) for n, a in case.constants.items()
    )
    del held[:], case.model.graph.output[:]
    case.model.graph.output.extend(
        typed(f"y{i}", str(array.dtype), array.shape) for i, array in enumerate(wanted)
    )
    run(case, wanted)


def test_axes_that_could_be_others_are_not_guessed():
    call = node("ReduceSum", "x a", "y", keepdims=0)
    inputs = [typed("x", shape=(2, 2, 3)), typed("a", "int64", (1,))]
    made = model([call], inputs, [typed("y", shape=(2, 3))])
    with pytest.raises(UnreadProgramError, match="could be several"):
        translate(load_model(made), REGISTRY)


def test_a_count_that_data_decides_is_what_the_model_states():
    made = model([node("NonZero", "x", "y")], [X], [typed("y", "int64", (2, 6))])
    run(Case(made, {"x": VALUES}), [np.array(np.nonzero(VALUES))])


# What an operator means changed there, or what is an input now was an attribute.
OLD = [
    (7, "BatchNormalization(float32[2, 1, 4], float32[1], float32[1], float32[1], float32([2.0]))"),
    (7, "Clip(float32[2, 3], min=-0.5)"),
    (9, "Slice(float32[4, 6], axes=[1], starts=[1], ends=[-1])"),
    (11, "Squeeze(float32[1, 3], axes=[0])"),
    (11, "Unsqueeze(float32[2, 3], axes=[0, 3])"),
    (11, "ReduceSum(float32[2, 3], axes=[1])"),
    (12, "Softmax(float32[2, 3, 4], axis=1)"),
    (13, "ReduceL2(float32[2, 3], axes=[1])"),
    (9, "Dropout(float32[2, 3], ratio=0.3)"),
    (7, "LSTM(float32[5, 2, 3], float32[1, 16, 3], float32[1, 16, 4], hidden_size=4)"),
    (14, "GRU(float32[2, 5, 3], float32[1, 12, 3], float32[1, 12, 4], hidden_size=4, layout=1)"),
]


@pytest.mark.parametrize(("opset", "text"), OLD)
def test_an_old_version(opset, text):
    run(read_case(text, opset))


# No operator has a kernel for these: they go through a wider dtype and back, where nothing is lost.
NARROW = [
    "Abs(uint8([0, 200, 255]))",
    "Abs(int8([-128, 3, -3]))",
    "Max([int8[2, 3], int8[3], int8[2, 1]])",
    "Min([uint8[2, 3], uint8[3], uint8[2, 1]])",
    "Sign(uint8([0, 200, 255]))",
    "Expand(int8[3, 1], int64([2, 3, 4]))",
    "GlobalMaxPool(float16[1, 2, 3, 4])",
]


@pytest.mark.parametrize("text", NARROW)
def test_a_dtype_that_an_operator_does_not_take(text):
    run(read_case(text))


def compute(nodes, outputs, weights=(), inputs=(X,), opset=20, **arrays):
    made = model(nodes, inputs, [untyped(name) for name in outputs.split()], weights, opset=opset)
    return run(Case(made, {"x": VALUES, **arrays}))


def branches(condition, **more):
    then = graph([node("Relu", "x", "t")], [], [untyped("t")])
    other = graph([node("Neg", "x", "o")], [], [untyped("o")])
    choice = node("If", "c", "y", then_branch=then, else_branch=other)
    return compute([choice], "y", **condition, **more)


@pytest.mark.parametrize("truth", [True, False])
def test_a_branch_that_is_known_is_no_branch(truth):
    assert branches({"weights": [weight("c", np.array(truth))]}) == ["relu" if truth else "neg"]
    given = {"inputs": (X, typed("c", "bool"))}
    assert branches(given, c=np.array(truth)) == ["cond"]


def loop_body(*rows, condition):
    nodes = [node("Add", "v x", "w"), *rows, condition]
    inputs = [typed("i", "int64"), typed("go", "bool"), typed("v", shape=(2, 3))]
    outputs = ["on", "w", *(each.output[0] for each in rows if each.name == "row")]
    return graph(nodes, inputs, [untyped(name) for name in outputs])


SAME = node("Identity", "go", "on")
TOTAL = node("ReduceSum", "w", "s", keepdims=0)


def test_a_loop_with_rows_and_a_known_count():
    body = loop_body(node("ReduceSum", "w", "row", name="row", keepdims=0), condition=SAME)
    turns = [weight("m", np.int64(3))]
    assert compute([node("Loop", "m _ x", "y z", body=body)], "y z", turns) == ["iota", "scan"]


@pytest.mark.parametrize("count", [0, 1, 4])
@pytest.mark.parametrize("begins", [True, False])
def test_a_loop_that_ends_by_what_it_computes(count, begins):
    body = loop_body(TOTAL, condition=node("Less", "s limit", "on"))
    found = compute(
        [node("Loop", "m c x", "y", body=body)],
        "y",
        [weight("limit", np.float32(6.0))],
        (X, typed("m", "int64"), typed("c", "bool")),
        m=np.array(count),
        c=np.array(begins),
    )
    assert found[-1] == "while_loop"


def test_a_loop_over_a_list_is_unrolled():
    body = graph(
        [node("SequenceInsert", "v x", "w"), SAME],
        [typed("i", "int64"), typed("go", "bool"), untyped("v")],
        [untyped("on"), untyped("w")],
    )
    nodes = [
        node("SequenceEmpty", "", "none"),
        node("Loop", "m _ none", "all", body=body),
        node("ConcatFromSequence", "all", "y", axis=0),
    ]
    assert compute(nodes, "y", [weight("m", np.int64(3))]) == ["concatenate"]


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("back", [0, 1])
def test_a_scan(axis, back):
    size = VALUES.shape[1 - axis]
    body = graph(
        [node("Add", "s r", "t"), node("Mul", "t r", "o")],
        [typed("s", shape=(size,)), typed("r", shape=(size,))],
        [untyped("t"), untyped("o")],
    )
    scan = node(
        "Scan",
        "first x",
        "y z",
        body=body,
        num_scan_inputs=1,
        scan_input_axes=[axis],
        scan_input_directions=[back],
        scan_output_axes=[axis],
        scan_output_directions=[back],
    )
    assert "scan" in compute([scan], "y z", [weight("first", np.ones(size, np.float32))])


def test_lists_of_tensors():
    nodes = [
        node("SequenceConstruct", "x twice", "s"),
        node("SequenceAt", "s last", "a"),
        node("SequenceLength", "s", "n"),
        node("ConcatFromSequence", "s", "b", axis=1),
        node("SequenceInsert", "s x first", "more"),
        node("SequenceErase", "more", "less"),
        node("ConcatFromSequence", "less", "c", axis=0, new_axis=1),
        node("SplitToSequence", "x", "columns", axis=1, keepdims=0),
        node("SequenceAt", "columns first", "d"),
        node("SplitToSequence", "x sizes", "parts", axis=1),
        node("SequenceAt", "parts last", "e"),
    ]
    held = [
        weight("last", np.int64(-1)),
        weight("first", np.int64(0)),
        weight("sizes", np.array([1, 2])),
        weight("twice", VALUES * 2),
    ]
    compute(nodes, "a n b c d e", held)


def test_a_map_over_lists():
    """What it gives are lists, each of the results of all turns, and what is no list is shared."""
    body = graph(
        [node("Add", "a b", "sum"), node("Shape", "sum", "sizes")],
        [typed("a", shape=(2, 3)), typed("b", shape=(2, 3))],
        [untyped("sum"), untyped("sizes")],
    )
    nodes = [
        node("SequenceConstruct", "x twice", "s"),
        node("SequenceMap", "s x", "sums sizes", body=body),
        node("SequenceMap", "s s", "doubles _", body=body),
    ]
    outputs = "sums sizes doubles"
    made = model(nodes, [X], [untyped(n) for n in outputs.split()], [weight("twice", VALUES * 2)])
    found = [VALUES * 2, VALUES * 3], [np.array([2, 3])] * 2, [VALUES * 2, VALUES * 4]
    run(Case(made, {"x": VALUES}), [each for several in found for each in several])


@pytest.mark.parametrize("opset", [13, 18])
def test_a_split_into_as_many_as_are_named(opset):
    more = {"num_outputs": 2} if opset == 18 else {}
    outputs = "a b" if opset == 18 else "a b c"
    assert compute([node("Split", "x", outputs, axis=1, **more)], outputs, opset=opset) == ["split"]


def test_a_split_by_sizes_and_the_largest():
    assert compute([node("Split", "x n", "a b", axis=1)], "a b", [weight("n", np.array([1, 2]))])
    found = compute([node("TopK", "x k", "a b", axis=1)], "a b", [weight("k", np.array([2]))])
    assert found == ["topk", "cast"]


@pytest.mark.parametrize("order", [0, 1])
def test_places_of_the_largest(order):
    """They are in the whole tensor, and of equal values the first one counts."""
    window = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]}
    pool = node("MaxPool", "image", "y i", storage_order=order, **window)
    image = np.arange(2 * 3 * 6 * 5, dtype=np.float32).reshape(2, 3, 6, 5) * 7 % 11
    compute([pool], "y i", (), (X, typed("image", shape=image.shape)), image=image)


def test_arithmetic_on_shapes_leaves_no_call():
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape one", "columns"),
        node("Unsqueeze", "columns zero", "last"),
        node("Concat", "minus last", "sizes", axis=0),
        node("Reshape", "x sizes", "y"),
    ]
    held = [
        weight("one", np.int64(1)),
        weight("zero", np.array([0])),
        weight("minus", np.array([-1])),
    ]
    dynamic = typed("x", shape=("B", "S"))
    assert compute(nodes, "y", held, (dynamic,)) in ([], ["reshape"])


def test_a_list_whose_length_varies_is_one_diagnostic():
    """What reads a list that is there says no less than the loop that carries it."""
    item = [node("SequenceInsert", "list x", "longer"), node("Identity", "on", "goes")]
    carried = [untyped("list")]
    body = graph(
        item,
        [typed("i", "int64"), typed("on", "bool"), *carried],
        [typed("goes", "bool"), untyped("longer")],
    )
    nodes = [
        node("Size", "x", "count"),
        node("SequenceEmpty", "", "none"),
        node("Loop", "count _ none", "every", body=body),
        node("ConcatFromSequence", "every", "y", axis=0),
    ]
    made = model(nodes, [typed("x", shape=("N", 3))], [untyped("y")])
    with pytest.raises(DiagnosticError, match="this call of ONNX's `Loop`"):
        translate(load_model(made), REGISTRY)


def test_a_size_of_an_example_is_passed_over():
    """PyTorch's exporter states those of its example behind recurrent layers."""
    stated = typed("h", shape=(7, 2))
    nodes = [node("Transpose", "x", "h"), node("Relu", "h", "y")]
    made = model(nodes, [typed("x", shape=(2, "N"))], [untyped("y")], values=[stated])
    ((_, found),) = translate(load_model(made), REGISTRY).graph.outputs
    assert str(found.shape[0]) == "N"


def test_usual_sizes_are_some_for_which_the_laws_hold():
    nodes = [
        node("MaxPool", "x", "half", kernel_shape=[2, 2], strides=[2, 2]),
        node("Upsample", "half scales", "whole"),
        node("Add", "whole x", "y"),
    ]
    held = [weight("scales", np.float32([1, 1, 2, 2]))]
    made = model(nodes, [typed("x", shape=("B", 3, "H", 6))], [untyped("y")], held, opset=9)
    program = load_model(made)
    translate(program, REGISTRY)
    assert {name: each.opt for name, each in program.ranges.items()} == {"B": 1, "H": 2}


def test_ranges_of_floats_that_are_sizes():
    nodes = [
        node("Shape", "x", "length", start=1),
        node("Cast", "length", "floats", to=1),
        node("Mul", "floats two", "double"),
        node("Floor", "double", "whole"),
        node("Squeeze", "whole", "limit"),
        node("Range", "zero limit one", "y"),
    ]
    numbers = {"two": [2.0], "zero": 0.0, "one": 1.0}
    held = [
        node("Constant", "", name, value=weight("", np.float32(values)))
        for name, values in numbers.items()
    ]
    made = model([*held, *nodes], [typed("x", shape=(2, "N"))], [untyped("y")])
    run(Case(made, {"x": VALUES}))
    ((_, found),) = translate(load_model(made), REGISTRY).graph.outputs
    assert str(found.shape[0]) == "2*N"


def test_integers_of_sizes_are_divided_towards_zero():
    nodes = [
        node("Shape", "x", "shape", start=1),
        node("Div", "shape two", "half"),
        node("Concat", "two half", "sizes", axis=0),
        node("Expand", "number sizes", "y"),
    ]
    held = [weight("two", np.array([2])), weight("number", np.float32([0.5]))]
    made = model(nodes, [typed("x", shape=(2, "N"))], [untyped("y")], held)
    run(Case(made, {"x": VALUES}))
    ((_, found),) = translate(load_model(made), REGISTRY).graph.outputs
    assert str(found.shape[1]) == "N // 2"


def test_what_is_not_imported_is_in_the_documentation():
    """An operator has an alias, a composition, or a definition by ONNX; or a row there."""
    names = {name for opset in range(OLDEST, NEWEST + 1) for name in operator_names(opset)}
    read = set(REGISTRY.foreign["onnx"].operators)
    for operator in REGISTRY.operators.values():
        read |= {each.signature.name for each in operator.foreign if each.system == "onnx"}
    schemas = {each.name: each for each in defs.get_all_schemas() if not each.domain}
    read |= {
        name
        for name, each in schemas.items()
        if each.has_function or each.has_context_dependent_function
    }
    page = (CHECKOUT / "docs" / "import.md").read_text(encoding="utf-8")
    section = page.partition("## ONNX's operators")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row)}

    assert listed == names - read
    assert f"Of the {len(names)} operators of ONNX's opsets 7 to 26, {len(listed)} are" in section
