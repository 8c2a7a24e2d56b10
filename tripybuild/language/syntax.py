"""Syntax tables of snippets: allowed nodes, their purpose, and replacements for the others.

The tables are closed: a node that has no line in `ALLOWED` is refused, also one that a later
Python adds. A new line needs three operators that need it.
"""

import ast
from typing import Final

ALLOWED: Final[dict[type[ast.AST], str]] = {
    ast.Name: "sizes, tensors, attributes and functions have names",
    ast.Constant: "numbers, strings, `True`, `False`, `None` and `...`",
    ast.List: "shapes",
    ast.Tuple: "several results, pairs",
    ast.Dict: "a choice by name",
    ast.ListComp: "the same for each dimension",
    ast.DictComp: "a size for each label of `einsum`",
    ast.GeneratorExp: "`all(... for ...)`",
    ast.comprehension: "the `for` of a comprehension",
    ast.UnaryOp: "signs, `not`, `~`",
    ast.BinOp: "arithmetic on sizes and tensors, `|` between types",
    ast.BoolOp: "laws",
    ast.Compare: "laws; chained, as in `2 <= len(D) <= 3`",
    ast.IfExp: "optional inputs",
    ast.Call: "operators, parts, builders and functions",
    ast.keyword: "the arguments that have names",
    ast.Starred: "a shape within a shape",
    ast.Subscript: "types, dimensions",
    ast.Slice: "the rest of a shape",
    ast.Attribute: "`np.where`, `wte.weight`",
}
"""Every node that an expression may be made of, and what it is for."""

_PLAIN: Final = {"id", "attr", "arg", "ctx", "kind", "is_async"}
PARTS: Final[dict[type[ast.AST], tuple[str, ...]]] = {
    kind: tuple(name for name in kind._fields if name not in _PLAIN) for kind in ALLOWED
} | {ast.Constant: ()}
"""The fields of a node that can hold nodes; one that a later Python adds is looked at, too."""


class _Parts(dict[type[ast.AST], tuple[str, ...]]):
    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        fields = PARTS.get(kind, kind._fields)
        self[kind] = tuple(name for name in fields if name not in ("ctx", "op", "ops"))
        return self[kind]


_CHILDREN: Final = _Parts()


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below a node, without operators and contexts, which hold none.

    `ast.iter_child_nodes` takes three times as long, and each snippet is walked often.
    """
    found: list[ast.AST] = []
    for name in _CHILDREN[type(node)]:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node: ast.AST) -> list[ast.AST]:
    """A node and all below it, level by level, without operators and contexts."""
    found = [node]
    for each in found:  # which grows meanwhile
        found += children(each)
    return found


OPERATORS: Final[dict[type[ast.AST], str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.UAdd: "+",
    ast.USub: "-",
    ast.Not: "not",
    ast.Invert: "~",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.And: "and",
    ast.Or: "or",
}
"""Every operator of the language, as it is written."""

REFUSED: Final[dict[str, tuple[str, str | None]]] = {
    "Lambda": ("`lambda`", "name a function of the vocabulary instead"),
    "FunctionDef": ("`def`", "only a decomposition has functions, for operators that run them"),
    "AsyncFunctionDef": ("`async def`", None),
    "ClassDef": ("`class`", None),
    "For": ("a `for` loop", "write a comprehension, such as `[d + 1 for d in S]`"),
    "AsyncFor": ("`async`", None),
    "While": ("a `while` loop", None),
    "If": ("an `if` statement", "write `a if condition else b`"),
    "Import": ("`import`", None),
    "ImportFrom": ("`import`", None),
    "With": ("`with`", None),
    "Try": ("`try`", None),
    "Raise": ("`raise`", "a law under `requires` refuses what may not be"),
    "Assert": ("`assert`", "a law under `requires` refuses what may not be"),
    "Delete": ("`del`", None),
    "Global": ("`global`", None),
    "Nonlocal": ("`nonlocal`", None),
    "Pass": ("`pass`", None),
    "Match": ("`match`", "write `a if condition else b`"),
    "AugAssign": ("an augmented assignment", "write `x = x + 1`"),
    "AnnAssign": ("an annotated assignment", "write `name = expression`"),
    "NamedExpr": ("`:=`", "assign the name in a line of its own"),
    "JoinedStr": ("an f-string", "write a plain string"),
    "Set": ("a set", "write a list or a tuple"),
    "SetComp": ("a set comprehension", "write a list comprehension"),
    "Await": ("`await`", None),
    "Yield": ("`yield`", None),
    "YieldFrom": ("`yield`", None),
    "LShift": ("`<<`", "multiply by a power of two"),
    "RShift": ("`>>`", "divide with `//`"),
    "BitXor": ("`^`", "powers are written `**`"),
}
"""What is refused by its own name, and what to write instead."""


class SnippetError(Exception):
    """A text that is no snippet, and where: the line counts from one, the columns from zero."""

    def __init__(
        self,
        message: str,
        position: tuple[int, int, int, int],
        *,
        code: str = "snippet-grammar",
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.line, self.column, self.end_line, self.end_column = position
        self.code = code
        self.hint = hint


def position(node: ast.AST) -> tuple[int, int, int, int]:
    """Say where a node begins and ends, in `SnippetError`'s order."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    end_line = getattr(node, "end_lineno", None) or line
    return line, column, end_line, getattr(node, "end_col_offset", None) or column
