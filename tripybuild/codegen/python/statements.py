"""Programs of snippets as statements of a generated function."""

import ast
from collections.abc import Set as AbstractSet

from tripybuild.codegen.python.expressions import returned_value, statement_value
from tripybuild.codegen.python.file_text import Body
from tripybuild.codegen.python.rewrite import Rewriter
from tripybuild.language.grammar import UNREAD, Program


def assign(program: Program, rewriter: Rewriter, body: Body) -> None:
    """Write the assignments of a program: `weights = tp.exp(input)`."""
    names = read(program)
    for step in program.assignments:
        targets = [kept(target, names) for target in step.targets]
        body.add(f"{', '.join(targets)} = ", statement_value(rewriter.rewrite(step.value)))


def read(program: Program) -> frozenset[str]:
    """The names that a program reads, its own among them."""
    values = [*(step.value for step in program.assignments), program.result]
    nodes = (node for value in values for node in ast.walk(value))
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


def kept(target: str, read: AbstractSet[str]) -> str:
    """A target; what nobody reads begins with an underscore, as linters want it."""
    name = target.lstrip("*")
    return target if name in read or name == UNREAD else f"{target.removesuffix(name)}_{name}"


def define(name: str, program: Program, rewriter: Rewriter, body: Body) -> None:
    """Write a program that gives a name its value: `D = len(S) - 2`."""
    assign(program, rewriter, body)
    body.add(f"{name} = ", statement_value(rewriter.rewrite(program.result)))


def give(program: Program, rewriter: Rewriter, body: Body) -> None:
    """Write a program as the end of a function: `return weights / total`."""
    assign(program, rewriter, body)
    body.add("return ", returned_value(rewriter.rewrite(program.result)))
