"""Sizes of PyTorch's programs: the text of sympy's expressions as sizes over named symbols.

A symbol such as `s77` gets a name: that of its `Dim`, or one by its place, as `B` for the first
dimension. Symbols that an operator makes of data, `u0`, are none of a size.
"""

import ast
import keyword
import re
from collections.abc import Callable, Mapping, Sequence

from tripybuild.symbolic import dim_text
from tripybuild.symbolic.dims import RESERVED, Dim, Size, maximum, minimum
from tripybuild.types.size_range import SizeRange

_SYMBOL = re.compile(r"\b[a-z_]\w*\d\b(?!\()")
_FREE = "STUVWXYZ"
_LARGEST_POWER = 8


def _floor_division(left: Size, right: Size) -> Size:
    return left // right


def _remainder(left: Size, right: Size) -> Size:
    return left % right


def _ceiling_division(left: Size, right: Size) -> Size:
    return -(-left // right)


def _same(value: Size) -> Size:
    return value


# What sympy and PyTorch's own functions over sizes are called when they are printed. A true
# division is there only under what rounds it, which `_Exact` brings together.
_FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "Max": maximum,
    "Min": minimum,
    "Mod": _remainder,
    "PythonMod": _remainder,
    "FloorDiv": _floor_division,
    "CleanDiv": _floor_division,
    "CeilDiv": _ceiling_division,
    "Identity": _same,
}
_ROUNDING = {"floor": "FloorDiv", "FloorToInt": "FloorDiv"} | {
    "ceiling": "CeilDiv",
    "CeilToInt": "CeilDiv",
}


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
            value = dim_text.parse(_arithmetic(text), self._symbols, _FUNCTIONS)
            if not isinstance(value, int | Dim) or isinstance(value, bool):
                raise ValueError(f"`{text[:80]}` is not a size")
            self._read[text] = value
        return self._read[text]


def _arithmetic(text: str) -> str:
    """A text without powers and rounded quotients, which sizes are not written with."""
    if "**" not in text and "/" not in text.replace("//", ""):
        return text
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"`{text[:80]}` is not an expression") from error
    return ast.unparse(_Exact().visit(tree))


class _Exact(ast.NodeTransformer):
    """Powers as products, and a true division with what rounds it as one of integers."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.BinOp(op=ast.Pow(), right=ast.Constant(value=int(power))) if (
                0 < power <= _LARGEST_POWER
            ):
                product = node.left
                for _ in range(power - 1):
                    product = ast.BinOp(product, ast.Mult(), node.left)
                return product
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]) if name in _ROUNDING:
                match inner:
                    case (
                        ast.BinOp(op=ast.Div(), left=left, right=right)
                        | ast.Call(func=ast.Name(id="IntTrueDiv"), args=[left, right])
                    ):
                        return ast.Call(ast.Name(_ROUNDING[name]), [left, right], [])
        return node


def symbols_in(text: str) -> list[str]:
    """The symbols that the text of a size names, in order."""
    return _SYMBOL.findall(text)


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
            for symbol in symbols_in(size) if isinstance(size, str) else ():
                if symbol not in names:
                    choose(symbol, _usual_name(at, len(shape)))
    return names


def _usual_name(at: int, rank: int) -> str:
    """What a dimension is called by its place: batch, sequence, height and width."""
    if at == 0:
        return "B"
    return {2: "H", 3: "W"}.get(at, "S") if rank == 4 else "S"
