"""Sizes of PyTorch's programs: expressions of sympy as sizes over named symbols.

They come as sympy prints them, `s77//2`, or as constructors, `FloorDiv(Symbol('s77'), Integer(2))`,
in files. A symbol gets a name: that of its `Dim`, or one by its place, as `B` for the first
dimension. Symbols that an operator makes of data, `u0`, are none of a size.
"""

import ast
import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import isfinite
from typing import Any

from tripybuild.symbolic.dims import RESERVED, Dim, Size, maximum, minimum
from tripybuild.types.size_range import SizeRange

_LONGEST, _DEEPEST, _LARGEST_POWER = 10_000, 100, 8
_MOST_PARTS = 1 << 16  # of one, in a factor that a float is exactly
_FREE = "STUVWXYZ"


class SizeTable:
    """The symbols of a program, and its sizes by their text.

    `ranges` are those of the symbols by our names.
    """

    def __init__(self) -> None:
        self.ranges: dict[str, SizeRange] = {}
        self._symbols: dict[str, Dim] = {}
        self._read: dict[str, Size] = {}

    def add(self, symbol: str, name: str, range: SizeRange) -> None:
        """Make a symbol known by a name that is free."""
        self.ranges[name] = range
        self._symbols[symbol] = range.symbol(name)

    def read(self, text: str) -> Size:
        """Give the size that a text says; ValueError where it says none."""
        if text not in self._read:
            value = _value(parse(text), self._symbols)
            if not isinstance(value, int | Dim) or isinstance(value, bool):
                raise ValueError(f"`{text[:80]}` is not a size")
            self._read[text] = value
        return self._read[text]


def parse(text: str) -> ast.expr:
    """Give the expression of a text.

    Raises:
        ValueError: It is none, or too long.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"a size is at most {_LONGEST} characters long")
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"`{text[:80]}` is not an expression") from error


@dataclass(frozen=True, slots=True)
class _Ratio:
    """A quotient that is exact: what rounds it makes a size of it."""

    size: Size
    by: int

    def floor(self) -> Size:
        return self.size // self.by

    def ceiling(self) -> Size:
        return -(-self.size // self.by)


def _sum(left: Any, right: Any) -> Any:
    one, other = _ratio(left), _ratio(right)
    return _exact(one.size * other.by + other.size * one.by, one.by * other.by)


def _product(left: Any, right: Any) -> Any:
    one, other = _ratio(left), _ratio(right)
    return _exact(one.size * other.size, one.by * other.by)


def _quotient(left: Any, right: Any) -> Any:
    if not isinstance(right, int) or right < 1:
        raise ValueError("only a number divides exactly")
    return _product(left, _Ratio(1, right))


def _fraction(value: float) -> Any:
    """A factor that a float is exactly, so that its products with sizes are not rounded."""
    size, by = value.as_integer_ratio() if isfinite(value) else (0, 0)
    if not 0 < by <= _MOST_PARTS or abs(size) > _MOST_PARTS:
        raise ValueError(f"`{value}` is a number whose products are rounded")
    return size if by == 1 else _Ratio(size, by)


def _truncated(value: Any) -> Size:
    """What is left of the point: the floor of what is not below zero."""
    size = value.size if isinstance(value, _Ratio) else value
    low = size if isinstance(size, int) else size.low
    if low is None or low < 0:
        raise ValueError("a size below zero is not cut off")
    return _floor(value)


def _power(base: Size, exponent: int) -> Any:
    if not isinstance(exponent, int) or not 0 < exponent <= _LARGEST_POWER:
        raise ValueError("the exponent of a size is a small number")
    return reduce(_product, [base] * exponent)


def _ratio(value: Any) -> _Ratio:
    return value if isinstance(value, _Ratio) else _Ratio(value, 1)


def _exact(size: Size, by: int) -> Any:
    """A size where the division leaves no rest for sure, which its normal form tells."""
    rest = size % by
    return size // by if isinstance(rest, int) and not rest else _Ratio(size, by)


def _floor_quotient(left: Any, right: Any) -> Size:
    if isinstance(left, _Ratio) or isinstance(right, _Ratio):
        raise ValueError("a quotient of quotients")  # noqa: TRY004 - as all that is no size
    found: Size = left // right
    return found


def _remainder(left: Size, right: Size) -> Size:
    return left - right * _floor_quotient(left, right)


def _floor(value: Any) -> Size:
    return value.floor() if isinstance(value, _Ratio) else value


def _ceiling(value: Any) -> Size:
    return value.ceiling() if isinstance(value, _Ratio) else value


def _same(value: Any) -> Any:
    return value


# Functions of sympy, and those that PyTorch adds for sizes.
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "Add": lambda *values: reduce(_sum, values),
    "Mul": lambda *values: reduce(_product, values),
    "Pow": _power,
    "Integer": _same,
    "Rational": _quotient,
    "Max": maximum,
    "Min": minimum,
    "Mod": _remainder,
    "PythonMod": _remainder,
    "FloorDiv": _floor_quotient,
    "CleanDiv": _floor_quotient,
    "IntTrueDiv": _quotient,
    "floor": _floor,
    "FloorToInt": _floor,
    "TruncToInt": _truncated,
    "ToFloat": _same,
    "FloatTrueDiv": _quotient,
    "ceiling": _ceiling,
    "CeilToInt": _ceiling,
    "Identity": _same,
}
_BINARY: Mapping[type[ast.operator], Callable[..., Any]] = {
    ast.Add: _sum,
    ast.Sub: lambda left, right: _sum(left, _product(right, -1)),
    ast.Mult: _product,
    ast.Div: _quotient,
    ast.FloorDiv: _floor_quotient,
    ast.Mod: _remainder,
    ast.Pow: _power,
}


def _value(node: ast.expr, symbols: Mapping[str, Dim], depth: int = 0) -> Any:
    """Compute an expression; ValueError where it is none of sizes."""
    if depth > _DEEPEST:
        raise ValueError("the expression is too deep")
    known = _symbol(node)
    if known is not None and known in symbols:
        return symbols[known]
    try:
        match node:
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                return value
            case ast.Constant(value=float(value)):
                return _fraction(value)
            case ast.Call(func=ast.Name(id="Float"), args=[ast.Constant(value=str(digits))]):
                return _fraction(float(digits))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return _product(_value(operand, symbols, depth + 1), -1)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                sides = (_value(each, symbols, depth + 1) for each in (left, right))
                return _BINARY[type(op)](*sides)
            case ast.Call(func=ast.Name(id=name), args=given, keywords=[]) if name in _FUNCTIONS:
                return _FUNCTIONS[name](*(_value(each, symbols, depth + 1) for each in given))
    except (TypeError, ZeroDivisionError) as error:
        raise ValueError(f"`{ast.unparse(node)[:80]}` is not a size") from error
    raise ValueError(f"`{ast.unparse(node)[:80]}` is not part of a size")


def _symbol(node: ast.AST) -> str | None:
    """The symbol that an expression is, in either form."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Call(func=ast.Name(id="Symbol"), args=[ast.Constant(value=str(name))]):
            return name
    return None


def single_symbol(text: str) -> str | None:
    """The symbol that a size is, if it is nothing else."""
    return _symbol(parse(text))


def _symbols_in(text: str) -> list[str]:
    """The symbols that the text of a size names, in order."""
    tree = parse(text)
    called = {id(each.func) for each in ast.walk(tree) if isinstance(each, ast.Call)}
    found = [_symbol(each) for each in ast.walk(tree) if id(each) not in called]
    return [each for each in found if each is not None]


def choose_names(
    inputs: Sequence[Sequence[int | str]], known: Mapping[str, str], taken: Sequence[str]
) -> dict[str, str]:
    """Give each symbol of the inputs' shapes a name of its own.

    Args:
        inputs: The shapes of the inputs, in order: numbers, and texts of sizes.
        known: The names of symbols that the source states.
        taken: Names that mean something else.
    """
    names: dict[str, str] = {}
    used = {*taken, *RESERVED}

    def choose(symbol: str, *wishes: str) -> None:
        fitting = (each for each in (*wishes, *_FREE) if each not in used)
        name = next(fitting, f"size{len(names)}")
        names[symbol] = name
        used.add(name)

    for symbol, name in known.items():
        plain = re.sub(r"\W", "_", name).strip("_")
        if plain.isidentifier() and not keyword.iskeyword(plain):
            choose(symbol, plain, f"{plain}_size")
    for shape in inputs:
        for at, size in enumerate(shape):
            for symbol in _symbols_in(size) if isinstance(size, str) else ():
                if symbol not in names:
                    choose(symbol, _usual_name(at, len(shape)))
    return names


def _usual_name(at: int, rank: int) -> str:
    """What a dimension is called by its place: batch, sequence, height and width."""
    if at == 0:
        return "B"
    return {2: "H", 3: "W"}.get(at, "S") if rank == 4 else "S"
