"""Source AST at a Python location: calls and their arguments."""

import ast
import linecache
from collections.abc import Iterator
from functools import lru_cache
from types import FrameType

from tripybuild.errors.diagnostics import Span
from tripybuild.trace.location import PythonLocation, span_between

_KINDS = (
    ast.Call, ast.BinOp, ast.AugAssign, ast.Compare, ast.UnaryOp, ast.Subscript, ast.Attribute,
)  # fmt: skip
_COMPARED = {
    ast.Lt: "__lt__", ast.LtE: "__le__", ast.Gt: "__gt__", ast.GtE: "__ge__",
}  # fmt: skip


@lru_cache(maxsize=4)
def _parse(text: str) -> ast.Module | None:
    """A program's tree; one refusal asks several times for that of its file."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def expression_at(location: PythonLocation) -> ast.AST | None:
    """The expression that an instruction computes."""
    line, end_line, column, end_column = location.position
    linecache.checkcache(location.code.co_filename)  # another file may have had the name
    tree = _parse("".join(linecache.getlines(location.code.co_filename)))
    last = None
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, _KINDS):
            if (node.end_lineno, node.end_col_offset) != (end_line, end_column):
                continue
            if (node.lineno, node.col_offset) == (line, column):
                return node
            if isinstance(node, ast.Call):  # of a call on several lines, the last one counts
                last = node
    return last


def argument_nodes(node: ast.AST, entry: FrameType) -> Iterator[tuple[str | None, ast.expr]]:
    """What is written for each parameter of the function that an expression calls."""
    code = entry.f_code
    names = list(code.co_varnames[: code.co_argcount])
    match node:
        case ast.Call():
            yield from _call_arguments(node, names, entry)
        case ast.BinOp(left=one, right=other):
            reflected = code.co_name.startswith("__r") and code.co_name != "__rshift__"
            yield from zip(names, (other, one) if reflected else (one, other), strict=False)
        case ast.Compare(left=one, ops=[compared], comparators=[other]):
            wanted = _COMPARED.get(type(compared), code.co_name)
            reflected = wanted != code.co_name or isinstance(one, ast.Constant)
            yield from zip(names, (other, one) if reflected else (one, other), strict=False)
        case ast.AugAssign(target=one, value=other) | ast.Subscript(value=one, slice=other):
            yield from zip(names, (one, other), strict=False)
        case ast.UnaryOp(operand=one) | ast.Attribute(value=one):
            yield from zip(names, (one,), strict=False)


def _call_arguments(
    node: ast.Call, names: list[str], entry: FrameType
) -> Iterator[tuple[str | None, ast.expr]]:
    """What a call gives: the object of a method first, then arguments by place and by name."""
    function = node.func
    if names[:1] == ["self"] and not _is_class(function, entry):
        on = isinstance(function, ast.Attribute) and function.attr == entry.f_code.co_name
        yield "self", function.value if on else function  # type: ignore[attr-defined]
        names = names[1:]
    names += [f"*{i}" for i in range(len(node.args) - len(names))]
    for name, argument in zip(names, node.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        yield name, argument
    yield from ((each.arg, each.value) for each in node.keywords)


def _is_class(function: ast.expr, entry: FrameType) -> bool:
    """Whether a method is called on its class: `Tensor.cast(x, ...)`."""
    if not isinstance(function, ast.Attribute):
        return False
    name = ast.unparse(function.value).rpartition(".")[2]
    return name in [kind.__name__ for kind in type(entry.f_locals.get("self")).__mro__]


def elements(node: ast.expr) -> list[ast.expr]:
    """What is written in a list or a tuple, if all of it is; else nothing."""
    items = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
    return [] if any(isinstance(each, ast.Starred) for each in items) else items


def element(node: ast.expr, key: int | str) -> ast.expr | None:
    """What is written at an index of a list, or for a key of a dictionary."""
    if isinstance(node, ast.Dict):
        keys = [each.value if isinstance(each, ast.Constant) else None for each in node.keys]
        return node.values[keys.index(key)] if key in keys else None
    items = elements(node)
    return items[key] if isinstance(key, int) and key < len(items) else None


def span_of(location: PythonLocation, node: ast.expr | ast.keyword) -> Span:
    """The place of an expression in the file that a location is in."""
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    path = location.code.co_filename
    return span_between(path, node.lineno, node.col_offset, end_line, end_column)


def text_of(location: PythonLocation, node: ast.expr) -> str:
    """An expression as it is written; empty if it goes over several lines."""
    if node.lineno != node.end_lineno:
        return ""
    line = linecache.getline(location.code.co_filename, node.lineno).encode()
    return line[node.col_offset : node.end_col_offset].decode(errors="replace")
