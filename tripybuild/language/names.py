"""Name analysis of snippets: uses, assignments and calls, without running them.

Names come in reading order, each one once. Whether a free name is an input, a function or a
namespace is for the caller to know.
"""

import ast
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from tripybuild.language.grammar import Program, parse_expression
from tripybuild.language.program import Function, Let
from tripybuild.language.syntax import children, walk

# What a message fills in: `the rank is {len(S)}`. Other braces are only braces.
PLACEHOLDER: Final = re.compile(r"\{([^{}]+)\}")

_Comprehension = ast.ListComp | ast.DictComp | ast.GeneratorExp


@lru_cache(maxsize=1 << 14)  # the same few snippets are asked about again and again
def free_names(snippet: Program | ast.expr) -> tuple[str, ...]:
    """Name what the snippet takes from outside: not its own lines, nor what follows a `for`."""
    return _unique(node.id for node in _free_nodes(snippet))


def placeholder_names(message: str) -> tuple[str, ...]:
    """Name what a message reads: `S` of `the rank is {len(S)}`."""
    return _unique(
        name for text in PLACEHOLDER.findall(message) for name in free_names(parse_expression(text))
    )


def is_power_of_constant(node: ast.AST) -> bool:
    """Whether an expression is `2 ** n`: how large it gets, only its exponent says."""
    match node:
        case ast.BinOp(left=ast.Constant(value=int()), op=ast.Pow(), right=exponent):
            return not isinstance(exponent, ast.Constant)
    return False


def called_names(snippet: Program | ast.expr) -> tuple[str, ...]:
    """Name what the snippet calls from outside, with the dots: `exp`, `np.where`, `x.reshape`."""
    outside = {id(node) for node in _free_nodes(snippet)}
    called = [
        node.func
        for expression in _expressions(snippet)
        for node in walk(expression)
        if isinstance(node, ast.Call)
    ]
    called.sort(key=_place)
    dotted = (_dotted_name(function, outside) for function in called)
    return _unique(name for name in dotted if name is not None)


def _expressions(snippet: Program | ast.expr) -> list[ast.expr]:
    if isinstance(snippet, Program):
        return [*(line.value for line in snippet.assignments), snippet.result]
    return [snippet]


def _free_nodes(snippet: Program | ast.expr) -> list[ast.Name]:
    found: list[ast.Name] = []
    if isinstance(snippet, Program):
        known: frozenset[str] = frozenset()
        for line in snippet.assignments:
            _visit(line.value, known, found)
            known |= {target.removeprefix("*") for target in line.targets}
        _visit(snippet.result, known, found)
    else:
        _visit(snippet, frozenset(), found)
    return sorted(found, key=_place)


def _visit(node: ast.AST, known: frozenset[str], found: list[ast.Name]) -> None:
    """Collect the names of an expression that are not known where they stand."""
    if isinstance(node, ast.Name):
        if node.id not in known:
            found.append(node)
        return
    if isinstance(node, Function):
        _visit(node.value, known | {*node.parameters}, found)
        return
    if isinstance(node, Let):
        for line in node.lines:
            _visit(line.value, known, found)
            known |= {target.removeprefix("*") for target in line.targets}
        _visit(node.value, known, found)
        return
    if not isinstance(node, _Comprehension):
        for child in children(node):
            _visit(child, known, found)
        return
    for loop in node.generators:
        _visit(loop.iter, known, found)
        known |= {name.id for name in walk(loop.target) if isinstance(name, ast.Name)}
        for condition in loop.ifs:
            _visit(condition, known, found)
    made = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
    for part in made:
        _visit(part, known, found)


def _dotted_name(function: ast.expr, outside: set[int]) -> str | None:
    names: list[str] = []
    while isinstance(function, ast.Attribute):
        names.append(function.attr)
        function = function.value
    if isinstance(function, ast.Name) and id(function) in outside:
        return ".".join([function.id, *reversed(names)])
    return None


def _place(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
