"""Printer of affine maps and sets, with MLIR's minimal parentheses.

`(d0, d1)[s0] -> (d0 * 2 + d1 mod 4, d0 - s0)`
"""

from collections.abc import Iterable

from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineExpr, AffineMap, AffineSet
from xdsl.ir.affine.affine_expr import AffineBinaryOpKind as Kind

_WORDS = {
    Kind.Mul: "*",
    Kind.Mod: "mod",
    Kind.FloorDiv: "floordiv",
    Kind.CeilDiv: "ceildiv",
}


def map_text(found: AffineMap) -> str:
    """Give `(d0) -> (d0 + 1)`."""
    names = _names(found.num_dims, found.num_symbols)
    return f"{names} -> ({_join_text(found.results)})"


def set_text(found: AffineSet) -> str:
    """Give `(d0) : (d0 - 1 >= 0)`."""
    each = (f"{_text(c.lhs)} {c.kind.value} {_text(c.rhs)}" for c in found.constraints)
    return f"{_names(found.num_dims, found.num_symbols)} : ({', '.join(each)})"


def _names(dims: int, symbols: int) -> str:
    sizes = ", ".join(f"d{index}" for index in range(dims))
    others = ", ".join(f"s{index}" for index in range(symbols))
    return f"({sizes})[{others}]" if symbols else f"({sizes})"


def _join_text(expressions: Iterable[AffineExpr]) -> str:
    return ", ".join(map(_text, expressions))


def _text(expression: AffineExpr, *, bound: bool = False) -> str:
    """Give an expression; in parentheses if what is around binds it tightly."""
    if not isinstance(expression, AffineBinaryOpExpr):
        return str(expression)
    text = _sum(expression) if expression.kind is Kind.Add else _product(expression)
    return f"({text})" if bound else text


def _product(expression: AffineBinaryOpExpr) -> str:
    left = _text(expression.lhs, bound=True)
    if expression.kind is Kind.Mul and _constant(expression.rhs) == -1:
        return f"-{left}"
    return f"{left} {_WORDS[expression.kind]} {_text(expression.rhs, bound=True)}"


def _sum(expression: AffineBinaryOpExpr) -> str:
    """What is negative is taken away."""
    left, right = _text(expression.lhs), expression.rhs
    constant = _constant(right)
    if constant is not None and constant < 0:
        return f"{left} - {-constant}"
    if isinstance(right, AffineBinaryOpExpr) and right.kind is Kind.Mul:
        factor = _constant(right.rhs)
        if factor == -1:
            is_sum = isinstance(right.lhs, AffineBinaryOpExpr) and right.lhs.kind is Kind.Add
            return f"{left} - {_text(right.lhs, bound=is_sum)}"
        if factor is not None and factor < -1:
            return f"{left} - {_text(right.lhs, bound=True)} * {-factor}"
    return f"{left} + {_text(right)}"


def _constant(expression: AffineExpr) -> int | None:
    return expression.value if isinstance(expression, AffineConstantExpr) else None
