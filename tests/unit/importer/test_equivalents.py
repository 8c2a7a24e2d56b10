"""Equivalents of operators: they compute what the operator does, and are found in programs."""

import ast

import numpy as np
import pytest
from built_programs import ProgramBuilder
from call_programs import run_calls

import tripyapi as tp
from tripybuild.importer.call_patterns import inferred
from tripybuild.importer.raising.equivalents import raise_compositions
from tripybuild.importer.translation.declarations import builtin_registry
from tripybuild.language.evaluate import evaluate
from tripybuild.language.names import free_names
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
        if not any(hasattr(self.names.get(name), "type") for name in free):
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
            case ast.BinOp(left=left, op=sign, right=right):
                operands = {"lhs": self.value(left), "rhs": self.value(right)}
                return self.build.call(SIGNS[type(sign)], **operands)
        raise TypeError(ast.unparse(node))


SIGNS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow"}
SHAPES = {"attention": {"query": (2, 6, 4, 8), "key": (2, 3, 5, 8), "value": (2, 3, 5, 7)}}


def _program(operator, snippet):
    build = ProgramBuilder("equal")
    usual = dict.fromkeys(operator.inputs, (2, 3, 4)) | {"weight": (4,)}
    shapes = SHAPES.get(operator.name, usual)
    inputs = {n: build.input(n, *shapes[n]) for n in operator.inputs if n in shapes}
    arguments = dict.fromkeys([each.name for each in operator.arguments()]) | inputs
    names = {**arguments, "eps": 1e-3, "causal": True, "T": tp.float32, "float32": tp.float32}
    names |= inferred(operator, arguments)
    names = {n: list(v) if isinstance(v, range) else v for n, v in names.items()}
    record = _Recording(build, names)
    for line in snippet.program.assignments:
        (target,) = line.targets
        names[target] = record.value(line.value)
    return build.program(y=record.value(snippet.program.result))


@pytest.mark.parametrize(("operator", "snippet"), DECLARED)
def test_an_equivalent_becomes_the_operator(operator, snippet):
    """The program of each declared expression is raised, and gives the same."""
    program = _program(operator, snippet)
    random = np.random.default_rng(3)
    inputs = {
        each.name: random.normal(size=each.shape).astype(np.float32)
        for each in program.graph.inputs
    }
    wanted = run_calls(program, inputs)["y"]
    raised = raise_compositions(program, OPERATORS)
    assert [call.operator for call in raised.graph.calls] == [operator.name]
    np.testing.assert_allclose(run_calls(raised, inputs)["y"], wanted, 1e-4, 1e-5)


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
