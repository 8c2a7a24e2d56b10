"""Equivalents of operators: they compute what the operator does, and are found in programs."""

import ast
from types import SimpleNamespace

import numpy as np
import pytest
from built_programs import ProgramBuilder
from call_programs import run_calls

import tripyapi as tp
from tripybuild.importer.call_arguments import inferred
from tripybuild.importer.call_chains import SUM, call_chains
from tripybuild.importer.raising.equivalents import raise_compositions
from tripybuild.language.evaluate import evaluate
from tripybuild.language.grammar import parse
from tripybuild.language.names import free_names
from tripybuild.packages.builtin import builtin_registry
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.vocabulary import SHAPE

OPERATORS = builtin_registry().operators
DECLARED = [
    pytest.param(operator, snippet, id=f"{operator.name}-{index}")
    for operator in OPERATORS.values()
    for index, snippet in enumerate(operator.equivalents)
]


class _Recording(ast.NodeVisitor):
    """Records an expression of operators, call by call, for a program that is built."""

    def __init__(self, build, names):
        self.build, self.names = build, names

    def value(self, node):
        free = free_names(node)
        called = {each.func.id for each in ast.walk(node) if isinstance(each, ast.Call)}
        is_made = bool(called & OPERATORS.keys() - SHAPE.functions.keys())
        if not is_made and not any(hasattr(self.names.get(name), "type") for name in free):
            return evaluate(node, {**BY_NAME, **self.names}, SHAPE)
        match node:
            case ast.Name(id=name):
                return self.names[name]
            case ast.List(elts=items):
                return [self.value(item) for item in items]
            case ast.Call(func=ast.Name(id=name), args=args) if name in OPERATORS:
                operator = OPERATORS[name]
                parameters = [each.name for each in operator.arguments()]
                given = zip(parameters, map(self.value, args), strict=False)
                return self.build.call(name, **{n: v for n, v in given if v is not None})
            case ast.Subscript(value=value, slice=ast.Tuple(elts=items)):
                bounds = ([each.lower, each.upper] for each in items)
                index = [slice(*(b and self.value(b) for b in each)) for each in bounds]
                return self.build.call("getitem", input=self.value(value), index=index)
            case ast.UnaryOp(operand=operand):
                return self.build.call("neg", input=self.value(operand))
            case ast.BinOp(left=left, op=sign, right=right):
                operands = {"lhs": self.value(left), "rhs": self.value(right)}
                return self.build.call(SIGNS[type(sign)], **operands)
        raise TypeError(ast.unparse(node))


SIGNS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow"}
SIGNS[ast.MatMult] = "matmul"
CHANNELS = ("weight", "bias", "running_mean", "running_var")
SHAPES = {
    "attention": {
        "query": (2, 6, 4, 8),
        "key": (2, 6, 5, 8),
        "value": (2, 6, 5, 7),
        "mask": (2, 1, 4, 5),
    },
    "permute": {"input": (2, 3, 4, 5)},
    "rotary_embedding": {"input": (2, 3, 5, 8), "cosine": (2, 5, 4), "sine": (2, 5, 4)},
    "batchnorm": {"input": (2, 3, 4, 5), **dict.fromkeys(CHANNELS, (3,))},
    "instancenorm": {"input": (2, 3, 4, 5), **dict.fromkeys(CHANNELS[:2], (3,))},
    "linear": {"input": (2, 4), "weight": (3, 4), "bias": (3,)},
}
ATTRIBUTES = {"eps": 1e-3, "causal": False, "dim": 1, "min": -0.5, "max": 0.5, "scale": 0.3}
ATTRIBUTES["perm"] = [0, 2, 3, 1]


_TURNED = "concatenate([-input[:, :, :, 4:], input[:, :, :, :4]], 3)"


def _rotation(turned, cosine="concatenate([cosine, cosine], 2)"):
    sine = "unsqueeze(concatenate([sine, sine], 2), 1)"
    return f"input * unsqueeze({cosine}, 1) + {turned} * {sine}"


# What is nearly the operator: another axis, an unbiased variance, an epsilon elsewhere, a number.
NEAR = [
    (
        "layernorm",
        "c = input - mean(input, [1], True)\nreturn c / sqrt(mean(c ** 2, [2], True) + eps)",
    ),
    (
        "layernorm",
        "c = input - mean(input, [2], True)\nreturn c / (sqrt(mean(c ** 2, [2], True)) + eps)",
    ),
    ("layernorm", "(input - mean(input, [2], True)) / sqrt(var(input, [2], True, 1) + eps)"),
    (
        "layernorm",
        "c = input - mean(input, [2], True)\nreturn c / sqrt(mean(input ** 2, [2], True) + eps)",
    ),
    ("layernorm", "layernorm(input, None, None, eps) * input"),
    ("rmsnorm", "input / sqrt(mean(input ** 2, [1], True) + eps)"),
    ("rmsnorm", "input * sqrt(mean(input ** 2, [2], True) + eps)"),
    ("gelu", "input * (erf(input / 1.5) + 1.0) * 0.5"),
    ("gelu_tanh", "input * (tanh((input + input ** 2 * 0.044715) * 0.7978845608) + 1.0) * 0.5"),
    ("silu", "input * sigmoid(-input)"),
    ("silu", "input / (exp(input) + 1.0)"),
    ("hard_swish", "input * clip(input + 2.0, 0, 6) / 6.0"),
    ("softmax", "e = exp(input - max(input, 1, True))\nreturn e / sum(e, 2, True)"),
    ("log_softmax", "log(softmax(input, 1) + eps)"),
    ("normalize", "input / (norm(input, 2, [1], True) + eps)"),
    ("batchnorm", "(input - reshape(bias, F)) / (reshape(running_var, F) + eps)"),
    ("linear", "linear(input, weight) * bias"),
    ("rotary_embedding", _rotation("concatenate([input[:, :, :, 4:], input[:, :, :, :4]], 3)")),
    ("rotary_embedding", _rotation("concatenate([input[:, :, :, :4], -input[:, :, :, 4:]], 3)")),
    ("rotary_embedding", _rotation("concatenate([-input[:, :, :, 5:], input[:, :, :, :5]], 3)")),
    ("rotary_embedding", _rotation(_TURNED, "concatenate([cosine, sine], 2)")),
    ("attention", "softmax(query @ transpose(key, 2, 3) * scale, 2) @ value"),
    ("attention", "(softmax(query @ transpose(key, 2, 3) * scale, 3) + mask) @ value"),
    ("attention", "softmax(query @ transpose(key, 2, 3) * scale, 3) * scale @ value"),
    ("attention", "softmax((query @ transpose(key, 2, 3) + mask) * scale, 3) @ value"),
]


def _program(operator, snippet):
    build = ProgramBuilder("equal")
    usual = dict.fromkeys(operator.inputs, (2, 3, 4)) | {"weight": (4,), "bias": (4,)}
    shapes = dict(SHAPES.get(operator.name, usual))
    if "expand" in free_names(snippet.program):
        shapes |= {"key": (2, 3, 5, 8), "value": (2, 3, 5, 7)}  # fewer heads
    if "transpose" in _made(snippet) and "key" in shapes:
        shapes["key"] = (2, 6, 8, 5)
    if "squeeze" in _made(snippet):
        shapes |= {"cosine": (1, 5, 4), "sine": (1, 5, 4)}  # the same for all of a batch
    read = free_names(snippet.program)
    dtype = tp.float16 if "cast" in read else tp.float32
    given = [name for name in operator.inputs if name in read and name in shapes]
    inputs = {name: build.input(name, *shapes[name], dtype=dtype) for name in given}
    arguments = dict.fromkeys([each.name for each in operator.arguments()]) | inputs
    names = {**arguments, **ATTRIBUTES, "T": dtype, "float32": tp.float32}
    names |= inferred(operator, arguments)
    names = {n: list(v) if isinstance(v, range) else v for n, v in names.items()}
    record = _Recording(build, names)
    for line in snippet.program.assignments:
        (target,) = line.targets
        names[target] = record.value(line.value)
    return build.program(y=record.value(_composition(snippet)))


def _composition(snippet):
    result = snippet.program.result
    return result.elts[0] if isinstance(result, ast.Tuple) else result


def _made(snippet):
    """The operators of the calls that make arguments."""
    result = snippet.program.result
    nodes = list(ast.walk(result.elts[1])) if isinstance(result, ast.Tuple) else []
    calls = [node.func.id for node in nodes if isinstance(node, ast.Call)]
    return [name for name in calls[1:] if name in OPERATORS]


@pytest.mark.parametrize(("operator", "snippet"), DECLARED)
def test_an_equivalent_becomes_the_operator(operator, snippet):
    """The program of each declared expression is raised, and gives the same."""
    program = _program(operator, snippet)
    random = np.random.default_rng(3)
    inputs = {
        each.name: random.uniform(0.5, 2, size=each.shape).astype(each.dtype.numpy)
        for each in program.graph.inputs
    }
    wanted = run_calls(program, inputs)["y"]
    raised = raise_compositions(program, OPERATORS)
    assert [call.operator for call in raised.graph.calls] == [*_made(snippet), operator.name]
    np.testing.assert_allclose(run_calls(raised, inputs)["y"], wanted, 1e-4, 1e-5)


@pytest.mark.parametrize(("name", "text"), NEAR)
def test_what_is_nearly_the_operator_stays(name, text):
    """A composition that gives something else is not raised to the operator."""
    snippet = SimpleNamespace(program=parse(text))
    program = raise_compositions(_program(OPERATORS[name], snippet), OPERATORS)
    last = program.graph.outputs[0][1].call
    assert last.operator != name, last


def test_sizes_that_vary_and_one_dimension_that_is_no_list():
    build = ProgramBuilder("varies", B=(1, 8), S=(2, 9))
    x, weight = build.input("x", "B", "S", 4), build.weight("weight", 4)
    squares = build.call("mean", input=build.call("mul", lhs=x, rhs=x), dim=2, keepdim=True)
    root = build.call("sqrt", input=build.call("add", lhs=1e-6, rhs=squares))
    normal = build.call("mul", lhs=build.call("div", lhs=1.0, rhs=root), rhs=x)
    program = build.program(y=build.call("mul", lhs=weight, rhs=normal))
    (call,) = raise_compositions(program, OPERATORS).graph.calls
    assert (call.operator, [*call.arguments]) == ("rmsnorm", ["input", "weight"])


@pytest.mark.parametrize(("offset", "is_causal"), [(0, True), (1, False), (-1, False)])
def test_masks_that_are_causal_for_all_sizes(offset, is_causal):
    """A mask that numbers and sizes make is known by what it is, not by how it is made."""
    build = ProgramBuilder("causal", B=(1, 4), S=(2, 9))
    query, key, value = (build.input(name, "B", 2, "S", 8) for name in ("query", "key", "value"))
    numbers = build.call("arange", stop=build.symbols["S"], dtype=tp.int64)
    rows = build.call("add", lhs=build.call("unsqueeze", input=numbers, dim=1), rhs=offset)
    mask = build.call("le", lhs=build.call("unsqueeze", input=numbers, dim=0), rhs=rows)
    given = {"query": query, "key": key, "value": value, "mask": mask, "scale": 8**-0.5}
    program = raise_compositions(build.program(y=build.call("attention", **given)), OPERATORS)
    arguments = program.graph.calls[-1].arguments
    assert ("causal" in arguments, "mask" in arguments) == (is_causal, not is_causal)
    assert "scale" not in arguments


@pytest.mark.parametrize(("offsets", "masks"), [((0, 0), 0), ((0, 1), 2)])
def test_modules_of_a_class_are_raised_alike(offsets, masks):
    """Where one of them has another mask, all of them have one, and are one definition."""
    build = ProgramBuilder("alike", S=(2, 9))
    x = build.input("x", 1, 2, "S", 8)
    numbers = build.call("arange", stop=build.symbols["S"], dtype=tp.int64)
    rows = build.call("unsqueeze", input=numbers, dim=1)
    for index, offset in enumerate(offsets):
        most = build.call("add", lhs=rows, rhs=offset)
        mask = build.call("le", lhs=build.call("unsqueeze", input=numbers, dim=0), rhs=most)
        with build.module(f"layers.{index}", "Layer"):
            x = build.call("attention", query=x, key=x, value=x, mask=mask)
    program = raise_compositions(build.program(y=x), OPERATORS)
    assert sum("mask" in call.arguments for call in program.graph.calls) == masks


def test_long_sums_are_read_as_short_chains():
    """A sum of 64 in a balanced tree has 10^11 readings; only those that are wanted are made."""
    build = ProgramBuilder("long")
    values = [build.input(f"x{index}", 2) for index in range(64)]
    while len(values) > 1:
        pairs = zip(values[::2], values[1::2], strict=True)
        values = [build.call("add", lhs=one, rhs=other) for one, other in pairs]
    found = list(call_chains(values[0], SUM, {"add": "__add__"}, 4))
    assert sorted({len(operands) for operands, _ in found}) == [1, 2, 3, 4]
    assert len(found) < 20


def test_statistics_of_channels_whose_shape_is_left_to_be_inferred():
    """Frozen batch norm, as vision models write it out: `[1, -1, 1, 1]` is `[1, 4, 1, 1]`."""
    build = ProgramBuilder("frozen", B=(1, 8))
    x = build.input("x", "B", 4, 5, 5)
    names = ("weight", "bias", "running_mean", "running_var")
    weight, bias, mean, var = (
        build.call("reshape", input=build.weight(name, 4), shape=[1, -1, 1, 1]) for name in names
    )
    root = build.call("rsqrt", input=build.call("add", lhs=var, rhs=1e-3))
    scale = build.call("mul", lhs=weight, rhs=root)
    shift = build.call("sub", lhs=bias, rhs=build.call("mul", lhs=mean, rhs=scale))
    y = build.call("add", lhs=build.call("mul", lhs=x, rhs=scale), rhs=shift)
    (call,) = raise_compositions(build.program(y=y), OPERATORS).graph.calls
    assert [*call.arguments] == ["input", *names, "eps"]


def test_what_differs_in_a_number_stays():
    build = ProgramBuilder("near")
    x = build.input("x", 3, 4)
    y = build.call("sigmoid", input=build.call("mul", lhs=x, rhs=1.7))
    program = raise_compositions(build.program(y=build.call("mul", lhs=x, rhs=y)), OPERATORS)
    assert [call.operator for call in program.graph.calls] == ["mul", "sigmoid", "mul"]


def test_what_is_read_elsewhere_stays_too():
    """A part of a composition that something else reads is still computed."""
    build = ProgramBuilder("shared")
    x = build.input("x", 3, 4)
    part = build.call("sigmoid", input=x)
    y = build.call("mul", lhs=part, rhs=x)
    program = raise_compositions(build.program(y=y, part=part), OPERATORS)
    assert [call.operator for call in program.graph.calls] == ["sigmoid", "silu"]


def test_compositions_of_two_modules_stay():
    build = ProgramBuilder("modules")
    x = build.input("x", 3, 4)
    with build.module("gate", "Gate"):
        part = build.call("sigmoid", input=x)
    program = build.program(y=build.call("mul", lhs=x, rhs=part))
    program = raise_compositions(program, OPERATORS)
    assert [call.operator for call in program.graph.calls] == ["sigmoid", "mul"]
