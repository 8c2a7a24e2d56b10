"""Blame: the part of a snippet to underline where something in it fails.

A call that holds others is told from them by its name, an operator by its sign, and a subscript by
its brackets.
"""

import ast

from tripybuild.language.syntax import OPERATORS, walk

Position = tuple[int, int]


def blamed_part(node: ast.AST, text: str) -> ast.AST:
    """The part of a node that is about it alone, and not about what it is applied to.

    Args:
        node: What fails: a call, an operator or a subscript.
        text: The snippet that it is of.
    """
    inner = walk(node)[1:]
    holds_call = any(isinstance(each, ast.Call) for each in inner)
    match node:
        case ast.Call(func=ast.Attribute(value=value) as function) if holds_call:
            return _stretch(_end(value), _end(function))
        case ast.Call(func=function) if holds_call:
            return function
        case ast.Subscript(value=value) if holds_call:
            return _stretch(_end(value), _end(node))
        case ast.BinOp(left=left, op=kind, right=right):
            if holds_call or any(isinstance(each, ast.BinOp) for each in inner):
                return _sign(text, left, right, OPERATORS[type(kind)]) or node
    return node


def _sign(text: str, left: ast.expr, right: ast.expr, sign: str) -> ast.AST | None:
    """An operator between its operands, if both are on one line."""
    row, start = _end(left)
    if row != right.lineno:
        return None
    found = text.split("\n")[row - 1].find(sign, start, right.col_offset)
    return None if found < 0 else _stretch((row, found), (row, found + len(sign)))


def _end(node: ast.expr) -> Position:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.end_lineno, node.end_col_offset


def _stretch(start: Position, end: Position) -> ast.AST:
    return ast.Name(
        "_", lineno=start[0], col_offset=start[1], end_lineno=end[0], end_col_offset=end[1]
    )
