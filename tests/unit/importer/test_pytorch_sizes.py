"""Sizes of PyTorch's programs, as text of sympy's expressions."""

import pytest

from tripybuild.importer.pytorch.sizes import SizeTable, choose_names, single_symbol
from tripybuild.symbolic.dims import parse_dim, same
from tripybuild.types.size_range import SizeRange

S = "Symbol('s0', positive=True, integer=True)"
CASES = {
    "s0*s77 + 1": "B*S + 1",
    "((s0 + 3)//2)": "(B + 3) // 2",
    f"FloorDiv(Add({S}, Integer(3)), Integer(2))": "(B + 3) // 2",
    "Mod(s0, 4)": "B % 4",
    "CeilToInt(IntTrueDiv(s0, 2))": "(B + 1) // 2",
    "FloorToInt(IntTrueDiv(s0 - 1, 2))": "(B - 1) // 2",
    f"floor(Add(Mul(Rational(1, 2), {S}), Rational(-1, 2)))": "(B - 1) // 2",
    "ceiling(s0/3)": "(B + 2) // 3",
    "Max(4, s0)": "max(4, B)",
    "Min(s0, s77)": "min(B, S)",
    f"Pow({S}, Integer(2))": "B*B",
    "(s0 - 1)**2": "B*B - 2*B + 1",
    "2 - s0": "2 - B",
    "4*s0/2": "2*B",
    "7": "7",
    "TruncToInt(0.5*ToFloat(s0))": "B // 2",
    "TruncToInt(Mul(Float('1.5', precision=53), ToFloat(s0)))": "3*B // 2",
    "TruncToInt(2.0*ToFloat(s0))": "2*B",
    "FloorToInt(FloatTrueDiv(ToFloat(s0), 4.0))": "B // 4",
}


@pytest.fixture
def sizes() -> SizeTable:
    """Two symbols."""
    table = SizeTable()
    table.add("s0", "B", SizeRange(1, 2, 16))
    table.add("s77", "S", SizeRange(1, 3, None))
    return table


@pytest.mark.parametrize("text", CASES)
def test_a_size_is_read(sizes: SizeTable, text: str) -> None:
    symbols = {name: range.symbol(name) for name, range in sizes.ranges.items()}
    assert same(sizes.read(text), parse_dim(CASES[text], symbols))


@pytest.mark.parametrize(
    "text",
    [
        "u0", "s0/2", "TruncToInt(1.3*s0)", "0.5*s0", "TruncToInt(0.5*s0 - 4.0)", "inf*s0",
        "TruncToInt(1e300*s0)",
        "TruncToInt(nan)", "Where(s0 > 2, s0, 2)", "s0 > 2", "True", "s0**99",
        "s0**s77", "s0/s77", "s0//0", "(", "(" * 300, "__import__('os')", "Max(s0, 'a')",
        "s0 // 'a'", "Integer()", "Symbol('u0')", "'s0'",
    ],
)  # fmt: skip
def test_what_is_no_size_is_refused(sizes: SizeTable, text: str) -> None:
    with pytest.raises(ValueError, match=r"`|size|number|deep|quotient"):
        sizes.read(text)


def test_symbols_are_named_by_their_dims_or_their_places() -> None:
    images = ["s1", 3, "s2", f"2*{S}"]
    tokens = ["s1", "s9"]
    assert choose_names([images, tokens], {"s2": "height"}, ["B"]) == {
        "s2": "height", "s1": "S", "s0": "W", "s9": "T",
    }  # fmt: skip
    assert choose_names([["s1"]], {"s1": "not a name!"}, ["not_a_name"]) == {
        "s1": "not_a_name_size"
    }
    assert choose_names([["s1"]], {"s1": "class"}, []) == {"s1": "B"}


def test_a_single_symbol_is_one_in_either_form() -> None:
    assert [single_symbol(each) for each in ("s0", S, "2*s0", "7")] == ["s0", "s0", None, None]
