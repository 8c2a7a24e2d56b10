"""Snippet parser: Python's expression syntax, restricted to a whitelist.

A text that `parse` accepts is ASCII, small, shallow, and free of definitions, loops, imports and
underscored names; a walker of the result need not check that again.
"""

import ast
import re
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, NoReturn

from tripybuild.language.limits import (
    MAXIMUM_CHARACTERS,
    MAXIMUM_NESTING,
    MAXIMUM_STATEMENTS,
    oversize_reason,
)
from tripybuild.language.program import Assignment, Function, Program, let
from tripybuild.language.syntax import ALLOWED, OPERATORS, PARTS, REFUSED, SnippetError, position

__all__ = ["Assignment", "Program", "SnippetError", "parse", "parse_expression"]

_STATEMENT_HINT: Final = "a snippet is lines of `name = expression`, then `return expression`"
UNREAD: Final = "_"  # takes one of several results, or of the values behind `for`
_NOT_CODE: Final = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|#[^\n]*")
_FOREIGN: Final = re.compile(r"[^ -~\n\t]")


@lru_cache(maxsize=8192)
def parse(text: str, *, functions: bool = False) -> Program:
    """Read a snippet: at most eight statements, of which the last one is the result.

    Equal texts give the same program object, so its nodes must not be changed.

    Args:
        text: The snippet.
        functions: Whether a line may define a function, for operators that run one.
    """
    lines, result = _statements(_read(text).body, functions=functions)
    return Program(tuple(lines), result, text)


def _statements(body: list[ast.stmt], *, functions: bool) -> tuple[list[Assignment], ast.expr]:
    """The lines and the result of a snippet or of a function, each expression checked."""
    *before, last = body
    lines = [
        _function(each) if functions and isinstance(each, ast.FunctionDef) else _assignment(each)
        for each in before
    ]
    if isinstance(last, ast.Assign):
        raise SnippetError("a snippet ends with its result", position(last), hint=_STATEMENT_HINT)
    if not isinstance(last, (ast.Return, ast.Expr)):
        _refuse(last)
    if last.value is None:
        raise SnippetError("`return` needs an expression", position(last))
    for value in (*(line.value for line in lines), last.value):
        if not isinstance(value, Function):
            _check(value)
    return lines, last.value


def _function(node: ast.FunctionDef) -> Assignment:
    """`def step(state, row): ...`: names in parentheses, then lines as a snippet has them."""
    _check_name(node.name, node)
    given, hint = node.args, "a function is `def name(a, b):`, then lines and `return`"
    names = [each.arg for each in given.args]
    extra = (given.posonlyargs, given.kwonlyargs, given.vararg, given.kwarg, given.defaults)
    annotated = node.returns or any(each.annotation for each in given.args)
    generic = getattr(node, "type_params", None)  # since Python 3.12
    if not names or any(extra) or annotated or node.decorator_list or generic:
        raise SnippetError("a function takes tensors by position", position(node), hint=hint)
    if len({node.name, *names}) <= len(names):
        raise SnippetError(f"`{node.name}` has a name twice", position(node), hint=hint)
    for each in given.args:
        _check_name(each.arg, each)
    _check_count(node.body)
    if not isinstance(node.body[-1], ast.Return):
        raise SnippetError("a function ends with `return`", position(node.body[-1]), hint=hint)
    lines, result = _statements(node.body, functions=False)
    made = ast.copy_location(Function(names, let(lines, result)), node)
    return Assignment((node.name,), made)


def parse_expression(text: str) -> ast.expr:
    """Read a snippet that is one expression."""
    program = parse(text)
    result = program.result
    if program.assignments or text.lstrip().startswith("return"):
        where = (1, 0, result.end_lineno or 1, result.end_col_offset or 0)
        raise SnippetError("only an expression may stand here", where)
    return result


def _read(text: str) -> ast.Module:
    """Parse a text that is small enough."""
    _check_text(text)
    shift = len(text) - len(text.lstrip(" "))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # an odd literal is a mistake, not a warning
            module = ast.parse(text[shift:])
    except SyntaxError as error:
        line, column = max(error.lineno or 1, 1), max((error.offset or 1) - 1, 0)
        column += shift if line == 1 else 0
        where = (line, column, line, column + 1)
        message = f"this is not a Python expression: {error.msg}"
        raise SnippetError(message, where, code="snippet-syntax") from None
    except (RecursionError, MemoryError, ValueError, Warning):
        where = _whole(text)
        raise SnippetError("the snippet is too deep", where, code="snippet-limit") from None
    if shift:
        _shift(module, shift)
    _check_size(text, module)
    return module


def _check_size(text: str, module: ast.Module) -> None:
    if not module.body:
        raise SnippetError("the snippet is empty", _whole(text), code="snippet-syntax")
    _check_count(module.body)


def _check_count(body: list[ast.stmt]) -> None:
    if len(body) > MAXIMUM_STATEMENTS:
        message = f"a snippet may have at most {MAXIMUM_STATEMENTS} statements"
        hint = "name a helper that does a part of the work"
        where = position(body[MAXIMUM_STATEMENTS])
        raise SnippetError(message, where, code="snippet-limit", hint=hint)


def _check_text(text: str) -> None:
    if len(text) > MAXIMUM_CHARACTERS:
        message = f"a snippet may have at most {MAXIMUM_CHARACTERS:,} characters"
        raise SnippetError(message, _whole(text), code="snippet-limit")
    if foreign := _FOREIGN.search(text):
        line = text.count("\n", 0, foreign.start()) + 1
        column = foreign.start() - (text.rfind("\n", 0, foreign.start()) + 1)
        message = f"a snippet is plain ASCII, without {foreign.group()!a}"
        raise SnippetError(message, (line, column, line, column + 1), code="snippet-syntax")
    if sum(map(text.count, "([{")) <= MAXIMUM_NESTING:
        return
    depth = 0
    for character in _NOT_CODE.sub("", text):
        depth += (character in "([{") - (character in ")]}")
        if depth > MAXIMUM_NESTING:
            _too_deep(_whole(text))


def _whole(text: str) -> tuple[int, int, int, int]:
    lines = text.split("\n")
    return 1, 0, len(lines), len(lines[-1])


def _too_deep(where: tuple[int, int, int, int]) -> NoReturn:
    message = f"a snippet may be nested at most {MAXIMUM_NESTING} levels deep"
    raise SnippetError(message, where, code="snippet-limit")


def _assignment(statement: ast.stmt) -> Assignment:
    if isinstance(statement, (ast.Return, ast.Expr)):
        message = "only the last line of a snippet is its result"
        raise SnippetError(message, position(statement), hint=_STATEMENT_HINT)
    if not isinstance(statement, ast.Assign):
        _refuse(statement)
    target = statement.targets[0]
    if len(statement.targets) > 1:
        raise SnippetError("one `=` in a line", position(statement), hint=_STATEMENT_HINT)
    if isinstance(target, ast.Name):
        _check_name(target.id, target)
        return Assignment((target.id,), statement.value)
    names = list(_target_names(target)) if isinstance(target, ast.Tuple) else []
    if len(names) < 2 or sum(name.startswith("*") for name in names) > 1:
        message = "a line assigns one name, or two and more with at most one star"
        raise SnippetError(message, position(target), hint="write `a, *b = xs` or `a = xs[0]`")
    return Assignment(tuple(names), statement.value)


def _target_names(target: ast.Tuple) -> Iterator[str]:
    for item in target.elts:
        name = item.value if isinstance(item, ast.Starred) else item
        if not isinstance(name, ast.Name):
            raise SnippetError("only a name can be assigned", position(item))
        _check_name(name.id, name)
        yield f"*{name.id}" if isinstance(item, ast.Starred) else name.id


def _check(root: ast.expr) -> None:
    """Hold every node of an expression against the table, in reading order."""
    waiting: list[tuple[ast.AST, ast.AST | None, int]] = [(root, None, 1)]
    while waiting:
        node, parent, depth = waiting.pop()
        if type(node) not in ALLOWED:
            _refuse(node)
        if depth > MAXIMUM_NESTING:
            _too_deep(position(node))
        if check := _CHECKS.get(type(node)):
            check(node, parent)
        waiting += [(child, node, depth + 1) for child in reversed(_children(node))]


def _children(node: ast.AST) -> list[ast.AST]:
    """Give the nodes right below a node that have a place; written out, since all come here."""
    found: list[ast.AST] = []
    for name in PARTS[type(node)]:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [item for item in value if _has_place(item, node)]
        elif isinstance(value, ast.AST) and _has_place(value, node):
            found.append(value)
    return found


def _has_place(child: object, parent: ast.AST) -> bool:
    """Leave out contexts, and operators once they are known to be allowed."""
    kind = type(child)
    if kind in ALLOWED or kind in OPERATORS:
        return kind in ALLOWED
    if isinstance(child, (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)):
        _refuse(child, parent)
    return isinstance(child, ast.AST) and not isinstance(child, ast.expr_context)


def _refuse(node: ast.AST, place: ast.AST | None = None) -> NoReturn:
    name = type(node).__name__
    what, hint = REFUSED.get(name, (f"`{name}`", None))
    if isinstance(node, ast.stmt) and hint is None:
        hint = _STATEMENT_HINT
    message = f"{what} is not part of the snippet language"
    raise SnippetError(message, position(place or node), hint=hint)


def _check_name(name: str, node: ast.AST) -> None:
    is_unread = name == UNREAD and isinstance(getattr(node, "ctx", None), ast.Store)
    if (name.startswith("_") and not is_unread) or "__" in name:
        raise SnippetError(f"`{name}`: no name begins with `_` or holds `__`", position(node))


def _check_constant(node: ast.Constant, _: ast.AST | None) -> None:
    value = node.value
    if isinstance(value, (bytes, complex)):
        kind = "bytes" if isinstance(value, bytes) else "complex numbers"
        raise SnippetError(f"{kind} are not part of the snippet language", position(node))
    if message := oversize_reason(value):
        raise SnippetError(message, position(node), code="snippet-limit")


def _check_keyword(node: ast.keyword, _: ast.AST | None) -> None:
    if node.arg is None:
        message = "`**` before an argument is not part of the snippet language"
        raise SnippetError(message, position(node), hint="write `name=value`")
    _check_name(node.arg, node)


def _check_dict(node: ast.Dict, _: ast.AST | None) -> None:
    if None in node.keys:
        message = "`**` in a dictionary is not part of the snippet language"
        raise SnippetError(message, position(node))


def _check_star(node: ast.Starred, parent: ast.AST | None) -> None:
    if not isinstance(parent, (ast.List, ast.Tuple, ast.Call)):
        message = "`*` belongs in a list, a tuple, a call or brackets"
        raise SnippetError(message, position(node), hint="write `[*S]`")


def _check_generator(node: ast.GeneratorExp, parent: ast.AST | None) -> None:
    if not isinstance(parent, ast.Call):
        message = "a generator may only be the argument of a call"
        raise SnippetError(message, position(node), hint="write a list comprehension")


def _check_comprehension(node: ast.comprehension, _: ast.AST | None) -> None:
    if node.is_async:
        message = "`async` is not part of the snippet language"
        raise SnippetError(message, position(node.target))
    waiting: list[ast.expr] = [node.target]
    while waiting:
        target = waiting.pop()
        if isinstance(target, ast.Tuple):
            waiting.extend(target.elts)
        elif not isinstance(target, ast.Name):
            raise SnippetError("only names can follow `for`", position(target))


def _check_compare(node: ast.Compare, _: ast.AST | None) -> None:
    for operator, right in zip(node.ops, node.comparators, strict=True):
        is_single = isinstance(right, ast.Constant) and (
            right.value is None or isinstance(right.value, bool)
        )
        if isinstance(operator, (ast.Is, ast.IsNot)) and not is_single:
            message = "`is` is for `None`, `True` and `False`"
            raise SnippetError(message, position(right), hint="write `==`")


def _shift(module: ast.Module, shift: int) -> None:
    """Move the first line's nodes to where they are in the text that was given."""
    for node in ast.walk(module):
        if isinstance(node, (ast.expr, ast.stmt, ast.keyword)):
            node.col_offset += shift if node.lineno == 1 else 0
            node.end_col_offset = (node.end_col_offset or 0) + (
                shift if node.end_lineno == 1 else 0
            )


_CHECKS: Final[dict[type[ast.AST], Callable[..., None]]] = {
    ast.Name: lambda node, _: _check_name(node.id, node),
    ast.Attribute: lambda node, _: _check_name(node.attr, node),
    ast.Constant: _check_constant,
    ast.keyword: _check_keyword,
    ast.Dict: _check_dict,
    ast.Starred: _check_star,
    ast.GeneratorExp: _check_generator,
    ast.comprehension: _check_comprehension,
    ast.Compare: _check_compare,
}
