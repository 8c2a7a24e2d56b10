"""Snippet programs as statements of a generated function."""

import ast
from collections.abc import Callable, Iterable, Set as AbstractSet

from tripybuild.codegen.python.expressions import returned_value, statement_value
from tripybuild.codegen.python.file_text import Body
from tripybuild.codegen.python.layout import call
from tripybuild.codegen.python.rewrite import NameRewriter
from tripybuild.language.grammar import UNREAD, Assignment, Program
from tripybuild.language.program import Choice, Function, Let, LetBinding
from tripybuild.language.syntax import walk


def assign(program: Program, rewriter: NameRewriter, body: Body) -> None:
    """Write the assignments of a program: `weights = tp.exp(input)`."""
    names = read_names(program) if program.assignments else frozenset()
    for step in program.assignments:
        _assign(step, names, rewriter, body)


def _assign(
    step: Assignment | LetBinding, names: AbstractSet[str], rewriter: NameRewriter, body: Body
) -> None:
    if isinstance(step.value, Function):
        _function(step.targets[0], step.value, rewriter, body)
        return
    targets = [target_name(target, names) for target in step.targets]
    body.add(f"{', '.join(targets)} = ", statement_value(rewriter.rewrite(step.value)))


def _function(name: str, node: Function, rewriter: NameRewriter, body: Body) -> None:
    """Write a function on tensors.

    ```python
    def step(state: Tensor, row: Tensor) -> Sequence[Tensor]:
        return [state + row, state]
    ```
    """
    body.imports.name("tripyapi.tensor", "Tensor")
    read = read_in([node.value])
    given = [f"{target_name(each, read)}: Tensor" for each in node.parameters]
    lines, value = ([], node.value)
    if isinstance(value, Let):
        lines, value = value.lines, value.value
    several = isinstance(value, (ast.List, ast.Tuple, ast.ListComp))
    if several:
        body.imports.name("collections.abc", "Sequence")
    result = "Sequence[Tensor]" if several else "Tensor"
    body.space()
    inner = body.block(call(f"def {name}", list(given)), f" -> {result}:")
    own = [target.removeprefix("*") for line in lines for target in line.targets]
    with rewriter.inside([*node.parameters, *own]):
        _end(node.value, read, rewriter, inner, _return)
    body.lines.append("")


def _return(value: ast.expr, body: Body) -> None:
    body.add("return ", returned_value(value))


def read_names(program: Program) -> frozenset[str]:
    """The names that a program reads, its own among them."""
    return read_in([*(step.value for step in program.assignments), program.result])


def read_in(values: Iterable[ast.expr]) -> frozenset[str]:
    """The names that some expressions read."""
    nodes = (node for value in values for node in walk(value))
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


def target_name(target: str, read: AbstractSet[str]) -> str:
    """Assignment target; unused ones get a leading underscore."""
    name = target.lstrip("*")
    return target if name in read or name == UNREAD else f"{target.removesuffix(name)}_{name}"


def define(name: str, program: Program, rewriter: NameRewriter, body: Body) -> None:
    """Write a program that gives a name its value: `D = len(S) - 2`.

    Two cases are one conditional expression, as linters want it; else they are `if` and `elif`.
    """
    assign(program, rewriter, body)
    _define(name, program.result, rewriter, body)


def _define(name: str, node: ast.expr, rewriter: NameRewriter, body: Body) -> None:
    names = read_in([node]) if isinstance(node, Choice | Let) else frozenset()
    if isinstance(node, Choice) and not any(
        isinstance(end, Choice | Let) for end in (node.body, node.orelse)
    ):
        node = ast.IfExp(node.test, node.body, node.orelse)
    word = "if"
    while isinstance(node, Choice):
        test = statement_value(rewriter.rewrite(node.test))
        _define(name, node.body, rewriter, body.block(f"{word} ", test, ":"))
        node, word = node.orelse, "elif"
    end = body.block("else:") if word == "elif" else body
    if isinstance(node, Let):
        node = _lines(node, names, rewriter, end)
    end.add(f"{name} = ", statement_value(rewriter.rewrite(node)))


def write_return(program: Program, rewriter: NameRewriter, body: Body) -> None:
    """Write a program as the end of a function: `return weights / total`."""
    assign(program, rewriter, body)
    end(program, rewriter, body, _return)


def end(
    program: Program, rewriter: NameRewriter, body: Body, finish: Callable[[ast.expr, Body], None]
) -> None:
    """Write the result of a program: each case is an `if` that ends the function.

    ```python
    if op.p == math.inf:
        return tp.max(size, op.dim)
    return tp.sum(size, op.dim)
    ```
    """
    has_lines = isinstance(program.result, Choice | Let)  # else no line's targets are written
    names = read_names(program) if has_lines else frozenset()
    _end(program.result, names, rewriter, body, finish)


def _end(
    node: ast.expr,
    names: AbstractSet[str],
    rewriter: NameRewriter,
    body: Body,
    finish: Callable[[ast.expr, Body], None],
) -> None:
    while isinstance(node, Choice):
        block = body.block("if ", statement_value(rewriter.rewrite(node.test)), ":")
        _end(node.body, names, rewriter, block, finish)
        node = node.orelse
    if isinstance(node, Let):
        node = _lines(node, names, rewriter, body)
    finish(rewriter.rewrite(node), body)


def _lines(node: Let, names: AbstractSet[str], rewriter: NameRewriter, body: Body) -> ast.expr:
    """Write the lines of a case; what is left is its value."""
    for line in node.lines:
        _assign(line, names, rewriter, body)
    return node.value
