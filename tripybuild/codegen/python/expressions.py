"""Snippet expressions to layout documents, in the formatter's style."""

import ast
import json
from collections.abc import Callable

from tripybuild.codegen.python.layout import (
    SOFT,
    SPACE,
    Doc,
    Group,
    IfBreak,
    Indent,
    bracket_list,
    call,
    enclose,
    intersperse,
    optional_parentheses,
)

# Binding strength, weakest first, as in Python's grammar.
TERNARY, OR, AND, NOT, COMPARE = range(5)
BIT_OR, BIT_XOR, BIT_AND, SUM, PRODUCT, UNARY, POWER, ATOM = range(5, 13)

_BINARY: dict[type[ast.operator], tuple[str, int]] = {
    ast.Add: ("+", SUM), ast.Sub: ("-", SUM), ast.Mult: ("*", PRODUCT), ast.MatMult: ("@", PRODUCT),
    ast.Div: ("/", PRODUCT), ast.FloorDiv: ("//", PRODUCT), ast.Mod: ("%", PRODUCT),
    ast.Pow: ("**", POWER),
    ast.BitOr: ("|", BIT_OR), ast.BitXor: ("^", BIT_XOR), ast.BitAnd: ("&", BIT_AND),
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], tuple[str, int]] = {
    ast.USub: ("-", UNARY), ast.UAdd: ("+", UNARY), ast.Invert: ("~", UNARY),
    ast.Not: ("not ", NOT),
}  # fmt: skip


def statement_value(node: ast.expr) -> Doc:
    """An expression at the right of `=` or `return`: parentheses appear where it has to break."""
    if isinstance(node, (ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.UnaryOp)):
        return optional_parentheses(document(node))
    if isinstance(node, ast.Tuple):
        return bracket_list("(", [document(e) for e in node.elts], ")", comma=True)
    return document(node)


def returned_value(node: ast.expr) -> Doc:
    """What stands behind `return`: a tuple has parentheses where it has to break, too."""
    if isinstance(node, ast.Tuple) and len(node.elts) > 1:
        return bracket_list(IfBreak("("), [document(e) for e in node.elts], IfBreak(")"))
    return statement_value(node)


def document(node: ast.expr, strength: int = TERNARY) -> Doc:
    """The document of an expression, in parentheses where it binds weaker than `strength`."""
    doc, own = _WRITERS[type(node)](node)
    return enclose("(", doc, ")") if own < strength else doc


def _constant(node: ast.Constant) -> tuple[Doc, int]:
    value = node.value
    if isinstance(value, str):
        return quote(value), ATOM
    if value is ...:
        return "...", ATOM
    return repr(value), ATOM


def quote(value: str) -> str:
    """A string in the quotes that the formatter prefers: those that need no escapes."""
    text = json.dumps(value, ensure_ascii=False)
    if '"' in value and "'" not in value:
        return "'" + text[1:-1].replace('\\"', '"') + "'"
    return text


def _attribute(node: ast.Attribute) -> tuple[Doc, int]:
    return [document(node.value, ATOM), f".{node.attr}"], ATOM


def _call(node: ast.Call) -> tuple[Doc, int]:
    function = document(node.func, ATOM)
    if len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp) and not node.keywords:
        return Group([function, "(", Indent([SOFT, _generator(node.args[0])]), SOFT, ")"]), ATOM
    arguments: list[Doc] = [document(argument) for argument in node.args]
    arguments += [
        [f"{keyword.arg}=", document(keyword.value)]
        if keyword.arg
        else ["**", document(keyword.value)]
        for keyword in node.keywords
    ]
    return call(function, arguments), ATOM


def _generator(node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Doc:
    return Group([document(node.elt), *_clauses(node.generators)])


def _clauses(generators: list[ast.comprehension]) -> list[Doc]:
    clauses: list[Doc] = []
    for each in generators:
        clauses += [SPACE, "for ", _target(each.target), " in ", document(each.iter, OR)]
        for condition in each.ifs:
            clauses += [SPACE, "if ", document(condition, OR)]
    return clauses


def _target(node: ast.expr) -> Doc:
    if isinstance(node, ast.Tuple):
        return intersperse([_nested_target(e) for e in node.elts], ", ")
    return document(node)


def _nested_target(node: ast.expr) -> Doc:
    return ["(", _target(node), ")"] if isinstance(node, ast.Tuple) else document(node)


def _list_comprehension(node: ast.ListComp) -> tuple[Doc, int]:
    return enclose("[", _generator(node), "]"), ATOM


def _generator_alone(node: ast.GeneratorExp) -> tuple[Doc, int]:
    return enclose("(", _generator(node), ")"), ATOM


def _dict_comprehension(node: ast.DictComp) -> tuple[Doc, int]:
    entry: list[Doc] = [document(node.key), ": ", document(node.value)]
    return enclose("{", Group([*entry, *_clauses(node.generators)]), "}"), ATOM


def _binary(node: ast.BinOp) -> tuple[Doc, int]:
    strength = _BINARY[type(node.op)][1]
    if isinstance(node.op, ast.Pow):
        simple = _is_simple(node.left) and _is_simple(node.right)
        between = "**" if simple else " ** "
        return [document(node.left, ATOM), between, document(node.right, UNARY)], strength
    parts = _chain(node, strength)
    return Group(parts), strength


def _is_simple(node: ast.expr) -> bool:
    """Whether the formatter writes `**` beside an operand without spaces."""
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        return _is_simple(node.operand)
    return isinstance(node, (ast.Name, ast.Constant, ast.Attribute))


def _chain(node: ast.expr, strength: int) -> list[Doc]:
    """Operands of one strength as one group, which breaks before each operator."""
    if isinstance(node, ast.BinOp) and _BINARY[type(node.op)][1] == strength != POWER:
        symbol = _BINARY[type(node.op)][0]
        return [
            *_chain(node.left, strength),
            SPACE,
            f"{symbol} ",
            document(node.right, strength + 1),
        ]
    return [document(node, strength)]


def _unary(node: ast.UnaryOp) -> tuple[Doc, int]:
    symbol, strength = _UNARY[type(node.op)]
    if isinstance(node.operand, ast.BinOp) and strength == UNARY:  # as formatted: `-(c**2)`
        return [symbol, document(node.operand, ATOM)], strength
    return [symbol, document(node.operand, strength)], strength


def _boolean(node: ast.BoolOp) -> tuple[Doc, int]:
    return Group(_conditions(node)), AND if isinstance(node.op, ast.And) else OR


def _conditions(node: ast.BoolOp) -> list[Doc]:
    """The operands of `or`, and of each `and` among them: the formatter breaks all or none."""
    symbol, strength = ("and", AND) if isinstance(node.op, ast.And) else ("or", OR)
    parts: list[Doc] = []
    for value in node.values:
        inside = isinstance(value, ast.BoolOp) and isinstance(value.op, ast.And) and strength == OR
        parts.append(_conditions(value) if inside else document(value, strength + 1))  # type: ignore[arg-type]
    return intersperse(parts, [SPACE, f"{symbol} "])


def _compare(node: ast.Compare) -> tuple[Doc, int]:
    parts: list[Doc] = [document(node.left, COMPARE + 1)]
    for operator, right in zip(node.ops, node.comparators, strict=True):
        parts += [SPACE, f"{_COMPARE[type(operator)]} ", document(right, COMPARE + 1)]
    return Group(parts), COMPARE


def _conditional(node: ast.IfExp) -> tuple[Doc, int]:
    parts: list[Doc] = [document(node.body, OR)]
    rest: ast.expr = node
    while isinstance(rest, ast.IfExp):
        if rest is not node:
            parts += [SPACE, "else ", document(rest.body, OR)]
        parts += [SPACE, "if ", document(rest.test, OR)]
        rest = rest.orelse
    return Group([*parts, SPACE, "else ", document(rest, TERNARY)]), TERNARY


def _subscript(node: ast.Subscript) -> tuple[Doc, int]:
    inside = node.slice
    if isinstance(inside, ast.Tuple) and inside.elts:
        return [
            document(node.value, ATOM),
            bracket_list("[", [document(e) for e in inside.elts], "]"),
        ], ATOM
    return [document(node.value, ATOM), enclose("[", document(inside), "]")], ATOM


def _slice(node: ast.Slice) -> tuple[Doc, int]:
    simple = all(
        isinstance(part, (ast.Name, ast.Constant, ast.UnaryOp, type(None)))
        for part in (node.lower, node.upper, node.step)
    )
    lower = document(node.lower) if node.lower else ""
    upper = document(node.upper) if node.upper else ""
    left, right = ("" if simple or not lower else " "), ("" if simple or not upper else " ")
    parts: list[Doc] = [lower, left, ":", right, upper]
    if node.step:
        parts += [left, ":", right, document(node.step)]
    return parts, TERNARY


def _tuple(node: ast.Tuple) -> tuple[Doc, int]:
    return bracket_list("(", [document(e) for e in node.elts], ")", comma=True), ATOM


def _list(node: ast.List) -> tuple[Doc, int]:
    return bracket_list("[", [document(e) for e in node.elts], "]"), ATOM


def _dict(node: ast.Dict) -> tuple[Doc, int]:
    entries: list[Doc] = [
        [document(key), ": ", document(value)] if key is not None else ["**", document(value)]
        for key, value in zip(node.keys, node.values, strict=True)
    ]
    return bracket_list("{", entries, "}"), ATOM


_WRITERS: dict[type[ast.expr], Callable[..., tuple[Doc, int]]] = {
    ast.Name: lambda node: (node.id, ATOM),
    ast.Constant: _constant,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.ListComp: _list_comprehension,
    ast.GeneratorExp: _generator_alone,
    ast.DictComp: _dict_comprehension,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Dict: _dict,
    ast.Starred: lambda node: (["*", document(node.value, BIT_OR)], ATOM),
}
