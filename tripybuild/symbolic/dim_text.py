"""Printing and parsing of sizes: `str` prints Python that `parse` maps to the same normal form."""

import ast
import math
import operator as python
from collections.abc import Callable, Mapping
from typing import Any

from tripybuild.symbolic.intervals import fold_remainder
from tripybuild.symbolic.polynomials import Atom, Monomial, Terms, as_atom, as_constant, scale

_LENGTH_LIMIT = 10_000
_DEPTH_LIMIT = 200  # a sum is as deep as it has terms

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], object]] = {
    ast.Add: python.add,
    ast.Sub: python.sub,
    ast.Mult: python.mul,
    ast.FloorDiv: python.floordiv,
    ast.Mod: python.mod,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], object]] = {
    ast.Eq: python.eq,
    ast.NotEq: python.ne,
    ast.Lt: python.lt,
    ast.LtE: python.le,
    ast.Gt: python.gt,
    ast.GtE: python.ge,
}


def terms_text(terms: Terms) -> str:
    """Print as a sum: `B*S + 1`."""
    printed = _with_remainders(terms)
    if not printed:
        return "0"
    # `8 - S` reads better than `-S + 8`.
    first = next((each for each in printed if each[1] > 0), printed[0])
    text = ""
    for monomial, coefficient in (first, *(each for each in printed if each is not first)):
        size, single = _product_text(monomial, abs(coefficient))
        if text:
            text += f" - {size}" if coefficient < 0 else f" + {size}"
        elif coefficient < 0:
            text = f"-{size}" if single else f"-({size})"
        else:
            text = size
    return text


def _with_remainders(terms: Terms) -> Terms:
    """Recognize `n - d*(n // d)` as `n % d`, wherever that is shorter."""
    for term in terms:
        for atom in term[0]:
            if atom.operator == "//":
                folded = fold_remainder(terms, term, atom)
                if folded is not None and len(folded) < len(terms):
                    return _with_remainders(folded)
    return terms


def _product_text(monomial: Monomial, coefficient: int) -> tuple[str, bool]:
    """Print a product, and tell whether a minus sign in front of it means the whole."""
    factors: list[tuple[str, bool]] = []
    for atom in monomial:
        text, single, coefficient = _atom_text(atom, coefficient)
        factors.append((text, single))
    if coefficient == 1 and len(factors) == 1:
        return factors[0]
    texts = [text if single else f"({text})" for text, single in factors]
    return "*".join([str(coefficient)] * (coefficient != 1 or not texts) + texts), True


def _atom_text(atom: Atom, coefficient: int) -> tuple[str, bool, int]:
    """Print an atom, and give what is left of the coefficient after it took its part."""
    if atom.operator == "symbol":
        # The atom of a multiple is `S // 16`; 8 of them are `S // 2`, and 16 are `S`.
        taken = math.gcd(coefficient, atom.multiple)
        if taken == atom.multiple:
            return atom.name, True, coefficient // taken
        return f"{atom.name} // {atom.multiple // taken}", False, coefficient // taken
    if atom.operator in ("//", "%"):
        return _division_text(atom, coefficient)
    texts = [terms_text(each) for each in atom.arguments]
    if atom.choice is not None:
        texts.insert(0, str(atom.choice))
    return f"{atom.operator}({', '.join(texts)})", True, coefficient


def _division_text(atom: Atom, coefficient: int) -> tuple[str, bool, int]:
    n, d = atom.arguments
    # `S // 16 // 2` is printed as `S // 32`, and `16*(S // 16 % 2)` as `S % 32`.
    factor = math.lcm(_symbol_factor(n), _symbol_factor(d))
    if atom.operator == "//" or coefficient % factor == 0:
        n, d = scale(n, factor), scale(d, factor)
        coefficient //= factor if atom.operator == "%" else 1
    left, right = terms_text(n), terms_text(d)
    left = f"({left})" if len(_with_remainders(n)) > 1 else left
    lone = as_atom(d)
    is_call = lone is not None and lone.operator in ("max", "min", "select")
    is_plain = is_call or as_constant(d) is not None or right.isidentifier()
    return f"{left} {atom.operator} {right if is_plain else f'({right})'}", False, coefficient


def _symbol_factor(terms: Terms) -> int:
    """Give the factor that makes every symbol appear as itself."""
    factor = 1
    for monomial, coefficient in terms:
        multiples = math.prod(atom.multiple for atom in monomial)
        factor = math.lcm(factor, multiples // math.gcd(multiples, coefficient))
    return factor


def parse(
    text: str, names: Mapping[str, object], functions: Mapping[str, Callable[..., object]]
) -> object:
    """Compute a text over named sizes, or raise ValueError where it uses anything else."""
    if len(text) > _LENGTH_LIMIT:
        raise ValueError(f"a size is at most {_LENGTH_LIMIT} characters long")
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        raise ValueError(f"`{text[:80]}` is not an expression") from error
    return _DimReader(names, functions).read(tree.body)


class _DimReader:
    """Walks an expression, of which only the forms below exist."""

    def __init__(
        self, names: Mapping[str, object], functions: Mapping[str, Callable[..., object]]
    ) -> None:
        self.names = names
        self.functions = functions

    def read(self, node: ast.expr, depth: int = 0) -> object:
        if depth > _DEPTH_LIMIT:
            raise ValueError("the expression is too deep")

        def inner(part: ast.expr) -> object:
            return self.read(part, depth + 1)

        match node:
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                return value
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.Name(id=name):
                raise ValueError(f"there is no size named {name}")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return python.neg(inner(operand))  # type: ignore[arg-type]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return _BINARY[type(op)](inner(left), inner(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
                return _COMPARISONS[type(op)](inner(left), inner(right))
            case ast.BoolOp(op=op, values=values):
                name = "and" if isinstance(op, ast.And) else "or"
                return self.functions[name](*map(inner, values))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if (
                name in self.functions
            ):
                return self.functions[name](*map(inner, arguments))
        raise ValueError(f"`{ast.unparse(node)[:80]}` is not part of a size")
