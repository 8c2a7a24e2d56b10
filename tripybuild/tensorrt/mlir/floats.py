"""Floating-point literals as MLIR prints them.

Invariant: what is written reads back as the same number. Six digits are tried first, then as many
as the type can need, then the bits. Digits are cut by powers of ten before they are rounded, as in
LLVM's `APFloat::toString`: 0.7 as f32 is `0.699999988`, and 0.01 is `0.00999999977`.
"""

import math
from functools import cache, lru_cache

from ml_dtypes import finfo
from xdsl.dialects.builtin import AnyFloat

from tripybuild.tensorrt.mlir import elements

_SHORT = 6
_PADDING = 3


def text(value: float, type: AnyFloat) -> str:
    """Give a number as MLIR writes it."""
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    shown = _decimal(abs(value), type) if math.isfinite(value) else None
    return bits(value, type) if shown is None else sign + shown


def bits(value: float, type: AnyFloat) -> str:
    """Give the bits of a number: `0x7F800000`."""
    return f"0x{int.from_bytes(type.pack((value,)), 'little'):X}"


@lru_cache(maxsize=4096)
def _decimal(magnitude: float, type: AnyFloat) -> str | None:
    """Give the digits from which a number can be read back, or None where none are a number."""
    short = _short(magnitude)
    if magnitude == 0 or type.unpack(type.pack((float(short),)), 1)[0] == magnitude:
        return short
    long = _long(magnitude, 2 + _significand(type) * 59 // 196)
    return long if "." in long else None


@cache
def _significand(type: AnyFloat) -> int:
    """Give the bits of a type's significand, with the one that is not stored."""
    known = elements.known_dtype(type)
    return 11 if known is None else int(finfo(known).nmant) + 1  # tf32 has those of f16


def digits(magnitude: float, precision: int) -> tuple[str, int]:
    """Give the decimal digits of a positive number to a precision, and the power of the last."""
    numerator, denominator = magnitude.as_integer_ratio()
    power = 1 - denominator.bit_length()  # the denominator is a power of two
    significand, power = _truncate(numerator * 5**-power, power, precision)
    text = str(significand)
    kept = text.rstrip("0")
    power += len(text) - len(kept)
    return _round_half_up(kept, power, precision)


def _truncate(significand: int, power: int, precision: int) -> tuple[int, int]:
    """Cut off, without rounding, what lies far behind the precision."""
    spare = significand.bit_length() - (precision * 196 + 58) // 59
    tens = spare * 59 // 196 if spare > 0 else 0
    return significand // 10**tens, power + tens


def _round_half_up(text: str, power: int, precision: int) -> tuple[str, int]:
    """Round to the precision, half up."""
    excess = len(text) - precision
    if excess <= 0:
        return text, power
    kept = text[:precision]
    if text[precision] >= "5":
        kept = str(int(kept) + 1)[:precision] if kept.strip("9") else "1" + "0" * precision
    shorter = kept.rstrip("0")
    return shorter, power + excess + len(kept) - len(shorter)


def _short(magnitude: float) -> str:
    """The form with six digits and an exponent: `2.000000e+00`."""
    if magnitude == 0:
        return "0.000000e+00"
    text, power = digits(magnitude, _SHORT)
    power += len(text) - 1
    return f"{text[0]}.{text[1:].ljust(_SHORT, '0')}e{'-' if power < 0 else '+'}{abs(power):02d}"


def _long(magnitude: float, precision: int) -> str:
    """The form with all digits, with an exponent where the number is long."""
    text, power = digits(magnitude, precision)
    leading = power + len(text) - 1
    if power >= 0:
        scientific = power > _PADDING or len(text) + power > precision
    else:
        scientific = leading < -_PADDING
    if scientific:
        return f"{text[0]}.{text[1:] or '0'}E{'-' if leading < 0 else '+'}{abs(leading)}"
    if power >= 0:
        return text + "0" * power
    if leading < 0:
        return f"0.{'0' * (-leading - 1)}{text}"
    return f"{text[: leading + 1]}.{text[leading + 1 :]}"
