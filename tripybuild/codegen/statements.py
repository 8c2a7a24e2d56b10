"""Programs of snippets as statements of a generated function."""

from tripybuild.codegen.expressions import returned_value, statement_value
from tripybuild.codegen.rewrite import Rewriter
from tripybuild.codegen.text import Body
from tripybuild.language.grammar import Program


def assign(program: Program, rewriter: Rewriter, body: Body) -> None:
    """Write the assignments of a program: `weights = tp.exp(input)`."""
    for step in program.assignments:
        body.add(f"{', '.join(step.targets)} = ", statement_value(rewriter.rewrite(step.value)))


def define(name: str, program: Program, rewriter: Rewriter, body: Body) -> None:
    """Write a program that gives a name its value: `D = len(S) - 2`."""
    assign(program, rewriter, body)
    body.add(f"{name} = ", statement_value(rewriter.rewrite(program.result)))


def give(program: Program, rewriter: Rewriter, body: Body) -> None:
    """Write a program as the end of a function: `return weights / total`."""
    assign(program, rewriter, body)
    body.add("return ", returned_value(rewriter.rewrite(program.result)))
