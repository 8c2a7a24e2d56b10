"""Bounded ranges and products for generated code, where no static bound is known."""

from collections.abc import Iterable
from typing import Any

from tripybuild.language.limits import (
    MAXIMUM_BITS,
    MAXIMUM_LENGTH,
    MAXIMUM_PRODUCT,
    LimitError,
    check_length,
)


def prod(sizes: Iterable[Any]) -> Any:
    """Give the product of sizes; 1 if there are none.

    Raises:
        LimitError: It has more bits than any size.
    """
    product: Any = 1
    for size in sizes:
        product = product * size
        if product.__class__ is int and product.bit_length() > MAXIMUM_PRODUCT:
            raise LimitError(f"a product of sizes may have at most {MAXIMUM_PRODUCT:,} bits")
    return product


def bounded_range(*bounds: Any) -> range:
    """Give Python's `range`, where it is not too long: it counts what a caller gave.

    Raises:
        LimitError: It is longer than lists may be.
    """
    numbers = range(*bounds)
    try:
        check_length(len(numbers))
    except OverflowError:
        check_length(MAXIMUM_LENGTH + 1)
    return numbers


def power(base: Any, exponent: Any) -> Any:
    """Give `base ** exponent`; of integers, where the result is a fair size.

    Raises:
        LimitError: It would have more bits than numbers of snippets may have.
    """
    if base.__class__ is int and exponent.__class__ is int:
        bits = base.bit_length() * exponent
        if abs(base) > 1 and bits > 2 * MAXIMUM_BITS:  # as the walker counts
            raise LimitError(f"an integer may have at most {MAXIMUM_BITS} bits")
    return base**exponent
