"""Programs of snippets: lines that assign names, then a result, which may be a choice of cases.

The parser makes no choice; the reader of `cases:` does. A choice stands only where a program ends,
so that generated code can be `if` statements.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from tripybuild.language.syntax import walk


@dataclass(frozen=True, slots=True)
class Assignment:
    """One `name = value` or `a, *b = value`; a starred name keeps its star."""

    targets: tuple[str, ...]
    value: ast.expr


@dataclass(frozen=True, eq=False)
class Program:
    """A snippet: names to assign, in order, and then the result.

    It is `written` somewhere, or put together of others.
    """

    assignments: tuple[Assignment, ...]
    result: ast.expr
    written: str | None = None

    @cached_property
    def text(self) -> str:
        """The program as it is written, or as people would write it."""
        return _text(self) if self.written is None else self.written


class Function(ast.expr):
    """A function of a decomposition, `def step(state, row): ...`, which an operator runs.

    Its value may have lines of its own. It reads the names that are assigned above it, too.
    """

    _fields = ("parameters", "value")

    def __init__(self, parameters: list[str], value: ast.expr) -> None:
        super().__init__()
        self.parameters, self.value = parameters, value


class Choice(ast.IfExp):
    """`body` where `test` holds, else `orelse`: two ends of a program."""


class LetBinding(ast.AST):
    """One line of a case: it assigns a value to names."""

    _fields = ("targets", "value")

    def __init__(self, targets: tuple[str, ...], value: ast.expr) -> None:
        super().__init__()
        self.targets, self.value = targets, value


class Let(ast.expr):
    """Assignments that only one case reads, and then its value."""

    _fields = ("lines", "value")

    def __init__(self, lines: list[LetBinding], value: ast.expr) -> None:
        super().__init__()
        self.lines, self.value = lines, value


def choice(shared: Program | None, cases: list[tuple[ast.expr | None, Program]]) -> Program:
    """The program of some cases, of which only the last one is without a condition.

    Args:
        shared: Lines that all cases read.
        cases: Each condition and what is computed there.
    """
    *before, (_, last) = cases
    end = _end(last)
    for test, program in reversed(before):
        assert test is not None
        end = ast.copy_location(Choice(test, _end(program), end), test)
    lines = () if shared is None else shared.assignments
    return Program(lines, end)


def _end(program: Program) -> ast.expr:
    return let(program.assignments, program.result)


def let(lines: Iterable[Assignment], value: ast.expr) -> ast.expr:
    """A value behind the lines that it reads; the value itself where there are none."""
    bindings = [LetBinding(each.targets, each.value) for each in lines]
    return ast.copy_location(Let(bindings, value), value) if bindings else value


def _text(program: Program) -> str:
    """A program as people write it, with the conditions of its cases."""
    if not program.assignments and not isinstance(program.result, Choice | Let):
        return source_text(program.result)
    return "\n".join([*_lines_text(program.assignments), *_end_text(program.result)])


def _lines_text(lines: Iterable[Assignment | LetBinding], indent: str = "") -> Iterator[str]:
    for each in lines:
        if isinstance(each.value, Function):
            yield f"{indent}def {each.targets[0]}({', '.join(each.value.parameters)}):"
            yield from _end_text(each.value.value, f"{indent}    ")
        else:
            yield f"{indent}{', '.join(each.targets)} = {source_text(each.value)}"


def _end_text(node: ast.expr, indent: str = "") -> Iterator[str]:
    while isinstance(node, Choice):
        yield f"{indent}if {source_text(node.test)}:"
        yield from _end_text(node.body, f"{indent}    ")
        node = node.orelse
    if isinstance(node, Let):
        yield from _lines_text(node.lines, indent)
        node = node.value
    yield f"{indent}return {source_text(node)}"


def source_text(node: ast.expr) -> str:
    """The text of an expression, with the quotes that people write."""
    text = ast.unparse(node)
    for each in walk(node) if " for " in text else ():
        if isinstance(each, ast.Call) and [type(a) for a in each.args] == [ast.GeneratorExp]:
            function, values = ast.unparse(each.func), ast.unparse(each.args[0])
            text = text.replace(f"{function}({values})", f"{function}{values}")
    return text if '"' in text else text.replace("'", '"')


def statements(program: Program) -> list[ast.expr]:
    """The node of each statement that a program is as code: its lines, each case, its result."""
    found = [line.value for line in program.assignments]
    node = program.result
    while isinstance(node, Choice):
        found.append(node.test)
        node = node.orelse
    if isinstance(node, Let):
        found += [line.value for line in node.lines]
        node = node.value
    return [*found, node]
