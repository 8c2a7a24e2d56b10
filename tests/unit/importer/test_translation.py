"""Foreign programs become calls of public functions, of the types that the source states."""

from functools import cache

import numpy as np
import pytest

from tests.helpers.call_programs import run_calls
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.importer.foreign_program import (
    ForeignGraph,
    ForeignNode,
    ForeignProgram,
    ForeignValue,
    ForeignWeight,
    ModuleCall,
    SourcePlace,
)
from tripybuild.importer.translation.program import translate
from tripybuild.importer.translation.report import UnreadProgramError
from tripybuild.importer.translation.scaffold import scaffolds
from tripybuild.schema.load import load_registries
from tripybuild.trace.values import TensorType
from tripybuild.types.dtypes import BY_NAME, float32, int64
from tripybuild.types.size_range import SizeRange

RANGES = {"B": SizeRange(1, 4, 16), "S": SizeRange(2, 4, 32)}
B, S = (each.symbol(name) for name, each in RANGES.items())
OWN = """\
tripybuild: 1
foreign: onnx
doc: What these tests read.
operators:
  Shape: "stack([number(d, int64) for d in data.shape[start:end]], 0)"
"""


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    folder = tmp_path_factory.mktemp("registry")
    (folder / "onnx.yaml").write_text(OWN, encoding="utf-8")
    return load_registries([folder])


@cache
def kind(text):
    name, _, shape = text.partition("[")
    sizes = [eval(each, {"B": B, "S": S}) for each in shape.rstrip("]").split(",") if each.strip()]
    return TensorType(BY_NAME[name], tuple(sizes))


class Source:
    """A foreign program under construction."""

    def __init__(self, system="aten", **inputs):
        self.system = system
        self.inputs = [ForeignValue(name, kind(text)) for name, text in inputs.items()]
        self.nodes, self.weights, self.updates = [], {}, {}

    def __getitem__(self, index):
        return self.inputs[index]

    def weight(self, name, array, **more):
        array = np.asarray(array)
        type = TensorType(BY_NAME[array.dtype.name], array.shape)
        self.weights[name] = ForeignWeight(name, type, load=lambda: array, **more)
        return self.weights[name]

    def node(self, operator, gives, /, line=1, **arguments):
        """Call an operator; `gives` is a type, several, or None where the source states none."""
        several = gives if isinstance(gives, list) else [gives]
        results = [
            ForeignValue(f"{operator.partition('.')[0].lower()}_{i}", each and kind(each))
            for i, each in enumerate(several)
        ]
        place = SourcePlace("", "model.py", line)
        modules = (ModuleCall("layers.0", "Block"),)
        self.nodes.append(ForeignNode(operator, arguments, results, place, modules=modules))
        return results if isinstance(gives, list) else results[0]

    def program(self, *outputs):
        named = [(f"out{i}", each) for i, each in enumerate(outputs)]
        graph = ForeignGraph(self.inputs, self.nodes, named)
        opset = 20 if self.system == "onnx" else None
        return ForeignProgram(
            "model", self.system, graph, self.weights, RANGES, self.updates, opset=opset
        )


def calls(program, registry):
    """The calls as a person would write them."""
    found = translate(program, registry)
    return [f"{each.operator}({written(each.arguments)})" for each in found.graph.calls]


def written(arguments):
    return ", ".join(f"{name}={text(each)}" for name, each in arguments.items())


def text(value):
    if hasattr(value, "call"):
        return value.name or "%"
    if isinstance(value, list):
        return f"[{', '.join(map(text, value))}]"
    return str(value)


def problems(program, registry):
    with pytest.raises(DiagnosticError) as error:
        translate(program, registry)
    return error.value.diagnostics


# --- calls ---


def test_arguments_are_those_that_a_person_writes(registry):
    source = Source(x="float32[B, 4]")
    y = source.node("softmax.int", "float32[B, 4]", self=source[0], dim=-1)
    z = source.node("sum.dim_IntList", "float32[B]", self=y, dim=[1], keepdim=False)

    assert calls(source.program(z), registry) == [
        "softmax(input=x, dim=1)",
        "sum(input=softmax_0, dim=1)",
    ]


def test_a_default_before_another_argument_is_written(registry):
    source = Source(x="float32[B, 4]")
    wide = source.node("arange.start_step", "int64[4]", start=0, end=8, step=2, dtype=int64)
    plain = source.node("arange.start_step", "int64[8]", start=0, end=8, step=1, dtype=int64)

    assert calls(source.program(wide, plain), registry) == [
        "arange(start=0, stop=8, step=2, dtype=int64)",
        "arange(stop=8, dtype=int64)",
    ]


def test_an_identity_is_no_call(registry):
    source = Source(x="float32[B, 4]")
    y = source.node("clone", "float32[B, 4]", self=source[0])
    z = source.node("relu", "float32[B, 4]", self=y)
    w = source.node("_to_copy", "float32[B, 4]", self=z, dtype=float32)
    found = translate(source.program(w, source[0]), registry)

    assert [each.operator for each in found.graph.calls] == ["relu"]
    assert found.graph.outputs[1][1] is found.graph.inputs[0]


def test_compositions_fold_numbers_that_change_nothing(registry):
    source = Source(x="float32[B, 4]")
    w = source.weight("w", np.ones((4, 3), np.float32))
    b = source.weight("b", np.ones(3, np.float32))
    y = source.node("addmm", "float32[B, 3]", self=b, mat1=source[0], mat2=w)
    z = source.node("addmm", "float32[B, 3]", self=b, mat1=source[0], mat2=w, beta=2)

    assert calls(source.program(y, z), registry) == [
        "matmul(lhs=x, rhs=w)",
        "add(lhs=b, rhs=%)",
        "mul(lhs=b, rhs=2.0)",
        "matmul(lhs=x, rhs=w)",
        "add(lhs=%, rhs=%)",
    ]


def test_what_nothing_reads_is_no_call(registry):
    source = Source(x="float32[B, 4]")
    unused = source.weight("unused", np.ones(4, np.float32))
    source.node("no_such_operator", "float32[B, 4]", self=unused)
    y = source.node("relu", "float32[B, 4]", self=source[0])
    found = translate(source.program(y), registry)

    assert [each.operator for each in found.graph.calls] == ["relu"]
    assert not found.weights


def test_updates_are_needed(registry):
    source = Source(x="float32[4]")
    total = source.weight("total", np.ones(4, np.float32))
    source.updates["total"] = source.node("add.Tensor", "float32[4]", self=total, other=source[0])
    found = translate(source.program(source[0]), registry)
    results = run_calls(found, {"x": np.float32([1, 2, 3, 4])})

    assert list(found.weights) == ["total"]
    np.testing.assert_array_equal(results["total"], [2, 3, 4, 5])


def test_indices_are_python_s(registry):
    source = Source(x="float32[B, S, 4]")
    y = source.node("slice.Tensor", "float32[B, S - 1, 4]", self=source[0], dim=1, start=1)
    z = source.node("select.int", "float32[B, 4]", self=y, dim=1, index=-1)
    found = translate(source.program(z), registry)
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

    assert [each.operator for each in found.graph.calls] == ["getitem", "getitem"]
    np.testing.assert_array_equal(run_calls(found, {"x": x})["out0"], x[:, -1])


# --- dtypes ---


@pytest.mark.parametrize(
    ("operator", "types", "arguments", "gives", "said"),
    [
        ("mul.Tensor", ["int64[B]"], {"other": 0.5}, "float32[B]", ["cast", "mul"]),
        ("mul.Tensor", ["float32[B]"], {"other": 2}, "float32[B]", ["mul"]),
        ("add.Tensor", ["float32[B]", "int64[B]"], {}, "float32[B]", ["cast", "add"]),
        ("add.Tensor", ["float16[B]", "float32[]"], {}, "float16[B]", ["cast", "add"]),
        ("add.Tensor", ["int32[B]", "int64[B]"], {}, "int64[B]", ["cast", "add"]),
        ("sum.dim_IntList", ["bool[B, S]"], {"dim": [1]}, "int64[B]", ["cast", "sum"]),
        ("exp", ["int64[B]"], {}, "float32[B]", ["cast", "exp"]),
        ("eq.Tensor", ["bool[B]", "int64[B]"], {}, "bool[B]", ["cast", "eq"]),
        ("argmax", ["float32[B, S]"], {"dim": 1}, "int64[B]", ["argmax", "cast"]),
    ],
)
def test_operands_get_the_dtype_of_the_result(operator, types, arguments, gives, said, registry):
    source = Source(**{f"x{i}": each for i, each in enumerate(types)})
    given = dict(zip(["self", "other"], source.inputs, strict=False))
    y = source.node(operator, gives, **given, **arguments)
    found = translate(source.program(y), registry)

    assert [each.operator for each in found.graph.calls] == said
    assert found.graph.outputs[0][1].type == kind(gives)


def test_no_value_becomes_one_of_a_lower_kind(registry):
    """A float would lose its fraction."""
    source = Source(x="int64[B]", y="float32[B]")
    z = source.node("add.Tensor", "int64[B]", self=source[0], other=source[1])
    (found,) = problems(source.program(z), registry)

    assert found.code == "import-disagreement"
    assert "it is read as tensor<Bxf32>, and the source states tensor<Bxi64>" in str(found.notes)


# --- types ---


@pytest.mark.parametrize(
    "stated", ["float32[B, 5]", "float32[S, 4]", "float32[B, 4, 1]", "bool[B, 4]"]
)
def test_another_type_is_never_passed_over(stated, registry):
    source = Source(x="float32[B, 4]")
    (found,) = problems(source.program(source.node("relu", stated, self=source[0])), registry)

    assert "it is read as tensor<Bx4xf32>" in str(found.notes)


def test_sizes_of_other_forms_are_compared_at_their_values(registry):
    source = Source(x="float32[2 * B, 4]")
    right = source.node("relu", "float32[(4 * B + 1) // 2, 4]", self=source[0])
    assert calls(source.program(right), registry) == ["relu(input=x)"]

    wrong = source.node("relu", "float32[(B // 3) * 6, 4]", self=source[0])
    assert problems(source.program(wrong), registry)


# --- known data ---


def shape_arithmetic(source):
    """A batch of rows, reshaped as an exporter of ONNX writes it."""
    shape = source.node("Shape", "int64[2]", data=source[0])
    zero, axis = source.weight("zero", np.int64(0)), source.weight("axis", np.int64([0]))
    batch = source.node("Gather", "int64[]", data=shape, indices=zero, axis=0)
    row = source.node("Unsqueeze", "int64[1]", data=batch, axes=axis)
    two, rest = source.weight("two", np.int64([2])), source.weight("rest", np.int64([-1]))
    return batch, source.node("Concat", "int64[3]", inputs=[row, two, rest], axis=0)


def test_arithmetic_on_shapes_becomes_sizes(registry):
    source = Source("onnx", x="float32[B, 6]")
    _, target = shape_arithmetic(source)
    y = source.node("Reshape", None, data=source[0], shape=target)
    found = translate(source.program(y), registry)

    assert [each.operator for each in found.graph.calls] == ["reshape"]
    assert found.graph.outputs[0][1].type == kind("float32[B, 2, 3]")
    assert not found.weights


def test_a_size_as_data_is_one_call(registry):
    source = Source("onnx", x="float32[B, 6]")
    batch, _ = shape_arithmetic(source)
    as_float = source.node("Cast", "float32[]", input=batch, to=float32)
    y = source.node("Div", "float32[B, 6]", A=source[0], B=as_float)

    assert calls(source.program(y), registry) == ["number(value=B)", "div(lhs=x, rhs=%)"]


def test_a_number_of_a_file_stays_a_weight(registry):
    """The next checkpoint has another one; a literal of the code is a number."""
    source = Source("onnx", x="float32[B]")
    scale = source.weight("scale", np.float32(0.1))
    literal = source.weight("literal", np.float32(0.1), is_constant=True)
    y = source.node("Mul", "float32[B]", A=source[0], B=scale)
    z = source.node("Mul", "float32[B]", A=y, B=literal)

    assert calls(source.program(z), registry) == [
        "mul(lhs=x, rhs=scale)",
        "mul(lhs=mul_0, rhs=0.1)",
    ]


def test_an_argument_that_a_model_computes_is_refused(registry):
    source = Source("onnx", x="float32[B]", shape="int64[2]")
    y = source.node("Reshape", None, data=source[0], shape=source[1])
    (found,) = problems(source.program(y), registry)

    assert "`shape` is computed, and an argument must be known" in str(found.notes)


# --- control flow ---


def inner_graph(source, inputs, *nodes):
    """A graph inside: each node reads the one before, the first one the input."""
    taken = [ForeignValue(name, kind(text)) for name, text in inputs.items()]
    before, source.nodes = source.nodes, []
    value = taken[0]
    for operator, gives, more in nodes:
        value = source.node(operator, gives, self=value, **more)
    source.node("no_such_operator", "float32[B, 4]", self=value)  # which nothing reads
    nodes, source.nodes = source.nodes, before
    return ForeignGraph(taken, nodes, [("result", value)])


def test_branches_are_regions(registry):
    """They can read values of the graph around them."""
    source = Source(x="float32[B, 4]", flag="bool[]")
    y = source.node("abs", "float32[B, 4]", self=source[0])
    more = ("add.Tensor", "float32[B, 4]", {"other": y})
    true = inner_graph(source, {"a": "float32[B, 4]"}, ("relu", "float32[B, 4]", {}), more)
    false = inner_graph(source, {"a": "float32[B, 4]"}, ("neg", "float32[B, 4]", {}))
    z = source.node(
        "cond",
        ["float32[B, 4]"],
        pred=source[1],
        true_fn=true,
        false_fn=false,
        operands=[source[0]],
    )
    found = translate(source.program(z[0]), registry)
    x = np.float32([[1, -2, 3, -4]])

    assert [each.operator for each in found.graph.calls] == ["abs", "cond"]
    inner = found.graph.calls[-1].arguments["then"]
    assert [each.operator for each in inner.calls] == ["relu", "add"]
    for flag, wanted in ((True, np.maximum(x, 0) + np.abs(x)), (False, -x)):
        results = run_calls(found, {"x": x, "flag": np.array(flag)})
        np.testing.assert_array_equal(results["out0"], wanted)


def test_loops_are_regions(registry):
    source = Source(x="float32[B, 4]")
    state = {"s": "float32[B, 4]"}
    total = ("sum.dim_IntList", "float32[]", {"dim": [0, 1]})
    condition = inner_graph(source, state, total, ("lt.Scalar", "bool[]", {"other": 100}))
    body = inner_graph(source, state, ("mul.Tensor", "float32[B, 4]", {"other": 2.0}))
    z = source.node(
        "while_loop",
        ["float32[B, 4]"],
        cond_fn=condition,
        body_fn=body,
        carried_inputs=[source[0]],
        additional_inputs=[],
    )
    found = translate(source.program(z[0]), registry)

    results = run_calls(found, {"x": np.float32([[1, 2, 3, 4]])})
    np.testing.assert_array_equal(results["out0"], [[16, 32, 48, 64]])


def test_what_is_missing_inside_is_reported(registry):
    source = Source(x="float32[B, 4]", flag="bool[]")
    taken = {"a": "float32[B, 4]"}
    true = inner_graph(source, taken, ("relu", "float32[B, 4]", {}))
    false = inner_graph(source, taken, ("digamma", "float32[B, 4]", {}))
    z = source.node(
        "cond",
        ["float32[B, 4]"],
        pred=source[1],
        true_fn=true,
        false_fn=false,
        operands=[source[0]],
    )
    (found,) = problems(source.program(z[0]), registry)

    assert found.message == "no operator is ATen's `digamma`"


# --- the report ---


def test_one_report_has_all_that_is_missing(registry):
    """Of what reads a missing result, all is looked at that its type tells."""
    source = Source(x="float32[B, 4]")
    y = source.node("digamma", "float32[B, 4]", self=source[0], line=3)
    z = source.node("relu", "float32[B, 4]", self=y, line=4)
    other = [source.node("digamma", "float32[B, 4]", self=source[0], line=n) for n in range(5, 9)]
    train = source.node("dropout", "float32[B, 4]", input=z, p=0.5, train=True, line=10)
    unknown = source.node("erfinv", None, self=source[0], line=11)
    after = source.node("dropout", None, input=unknown, p=0.5, train=True, line=12)
    found = problems(source.program(*other, train, after), registry)

    assert [each.message for each in found] == [
        "no operator is ATen's `digamma`, which the model calls 5 times",
        "no operator says this call of ATen's `dropout`",
        "no operator is ATen's `erfinv`",
    ]
    assert found[0].span.path == "model.py"
    assert found[0].notes == (
        "at model.py:3 in `layers.0` (Block)",
        "at model.py:5 in `layers.0` (Block)",
        "at model.py:6 in `layers.0` (Block)",
        "at 2 further places",
    )
    assert "`not train or p == 0` does not hold" in str(found[1].notes)


REPORT = """\
error[import-unread]: no operator is ATen's `digamma`, which the model calls 2 times
  --> {file}:2:5
   |
 2 |     y = torch.digamma(x)
   |     ^^^^^^^^^^^^^^^^^^^^
note: at {file}:2 in `layers.0` (Block)
hint: declare an operator with `aliases: {{aten: digamma}}`; there, it is `digamma(self)`

error[import-unread]: no operator says this call of ATen's `dropout`
  --> {file}:3:5
   |
 3 |     return torch.dropout(y, 0.5, True)
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
note: composition: `not train or p == 0` does not hold
note: at {file}:3 in `layers.0` (Block)
hint: declare an alias or a composition that says it, for `aten`

error[import-disagreement]: this call of ATen's `relu` would be read as another type
note: `relu` as `relu`: it is read as tensor<Bx4xf32>, and the source states tensor<Bx5xf32>
note: at relu_0
hint: no fault of the model: report these lines, or say this in a registry of your own

error[import-unread]: no operator is ATen's `vision.roi_align`
note: at roi_align_0
hint: it is none of ATen's own operators; export the model without it"""


def test_the_report_to_the_letter(registry, tmp_path):
    """Each operator with its first line, its places, why nothing says it, and what would."""
    file = tmp_path / "model.py"
    file.write_text(
        "def forward(x):\n    y = torch.digamma(x)\n    return torch.dropout(y, 0.5, True)\n",
        encoding="utf-8",
    )
    source = Source(x="float32[B, 4]")
    results = [source.node("digamma", "float32[B, 4]", self=source[0], line=2) for _ in range(2)]
    results.append(
        source.node("dropout", "float32[B, 4]", input=source[0], p=0.5, train=True, line=3)
    )
    for node in source.nodes:
        node.place = SourcePlace("", str(file), node.place.line)
    results.append(source.node("relu", "float32[B, 5]", self=source[0]))
    results.append(source.node("roi_align", "float32[B, 4]", input=source[0]))
    source.nodes[-1].domain = "vision"
    for node in source.nodes[-2:]:
        node.place, node.modules = SourcePlace(node.results[0].name), ()
    with pytest.raises(DiagnosticError) as error:
        translate(source.program(*results), registry)

    assert str(error.value) == REPORT.format(file=file)


def test_data_of_what_is_missing_is_no_second_problem(registry):
    source = Source("onnx", x="float32[B, 6]")
    shape = source.node("NonZero", "int64[2]", X=source[0])
    y = source.node("Reshape", "float32[B, 6]", data=source[0], shape=shape)
    (found,) = problems(source.program(y), registry)

    assert "`NonZero`" in found.message


def test_a_dtype_that_is_none_is_reported(registry):
    source = Source(x="float32[B]")
    y = source.node("relu", None, self=source[0])
    y.unsupported = "complex64"
    (found,) = problems(source.program(y), registry)

    assert "its result is complex64, which no dtype is" in found.notes


# --- scaffolds ---


def test_scaffolds_are_operators_that_a_registry_takes(registry, tmp_path):
    """What a model shows of an operator is filled in, and the rest is marked."""
    source = Source(x="float32[B, 4]", i="int64[B]")
    y = source.node("digamma", "float32[B, 4]", self=source[0])
    half = source.node("polygamma", "float16[B, 4]", n=2, self=y)
    z = source.node("cdist", "float32[B, S]", x1=y, x2=source[0], p=1.5)
    lists = source.node("block_diag", "float32[B, 8]", tensors=[y, half])
    dropped = source.node("dropout", "float32[B, 4]", input=y, p=0.25, train=True)
    multi = source.node("frexp.Tensor", ["float32[B, 4]", "int32[B, 4]"], self=source[0])
    program = source.program(z, lists, dropped, half, *multi)
    with pytest.raises(UnreadProgramError) as error:
        translate(program, registry)
    texts = scaffolds(error.value, list(registry.operators))
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    made = load_registries([tmp_path]).operators

    assert {f"{name}.yaml" for name in made if name not in registry.operators} == {*texts}
    assert "T: [float32]" in texts["digamma.yaml"]
    assert "seen: float32[B, 4]" in texts["digamma.yaml"]
    assert made["cdist"].attributes["p"].default is not None
    assert [each.system for each in made["cdist"].foreign] == ["aten"]
    assert str(made["frexp_tensor"].outputs["output1"].pattern) == "int32[*E1]"
    assert all("scaffold" in made[name.removesuffix(".yaml")].laws for name in texts)
    assert all("# blank:" in text for text in texts.values())


# --- laws: what was read wrongly once ---


@pytest.mark.parametrize("operator", ["sum.dim_IntList", "amax"])
def test_no_axes_are_all_axes(operator, registry):
    source = Source(x="float32[2, 3]")
    y = source.node(operator, "float32[]", self=source[0], dim=[])
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    found = run_calls(translate(source.program(y), registry), {"x": x})["out0"]

    assert found == (15 if operator.startswith("sum") else 5)


def test_no_epsilon_is_not_our_default(registry):
    """PyTorch takes that of the dtype."""
    source = Source(x="float32[B, 4]")
    w = source.weight("w", np.ones(4, np.float32))
    y = source.node(
        "rms_norm", "float32[B, 4]", input=source[0], normalized_shape=[4], weight=w, eps=None
    )
    program = source.program(y)
    try:
        (call,) = translate(program, registry).graph.calls
    except DiagnosticError:
        return  # refused is right, too
    assert call.arguments["eps"] == pytest.approx(np.finfo(np.float32).eps)


def test_batch_norm_of_training_is_refused(registry):
    source = Source(x="float32[B, 4]")
    w, b, mean, var = (source.weight(name, np.ones(4, np.float32)) for name in "wbmv")
    y = source.node(
        "_native_batch_norm_legit_functional",
        ["float32[B, 4]"] * 5,
        input=source[0],
        weight=w,
        bias=b,
        running_mean=mean,
        running_var=var,
        training=True,
        momentum=0.1,
        eps=1e-5,
    )
    assert problems(source.program(y[0]), registry)


def test_an_int64_result_of_the_source_stays_one(registry):
    source = Source(x="float32[B, 4]")
    y = source.node("argmax", "int64[B]", self=source[0], dim=1)
    assert translate(source.program(y), registry).graph.outputs[0][1].dtype is int64
