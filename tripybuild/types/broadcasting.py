"""Broadcasting of sizes and of shapes by NumPy's rules."""

import itertools
from collections.abc import Sequence
from typing import Any

from tripybuild.symbolic.conditions import disjunction
from tripybuild.symbolic.dims import Size, maximum, minimum, same

Shape = Sequence[Size]


def broadcast_ints(shapes: Sequence[Shape]) -> tuple[int, ...] | None:
    """What shapes of numbers broadcast to, if they do: most are such."""
    for shape in shapes:
        for size in shape:
            if type(size) is not int:
                return None
    sizes: list[Any] = []
    for column in itertools.zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1):
        found = {size for size in column if size != 1}
        if len(found) > 1:
            return None
        sizes.append(found.pop() if found else 1)
    return tuple(reversed(sizes))


def common_size(a: Size, b: Size) -> Size | None:
    """What two sizes broadcast to, None where they cannot; where that is unsure, they do."""
    if same(a, b):
        return a
    if same(a, 1) or same(b, 1):
        return b if same(a, 1) else a
    a_is_one, b_is_one = a == 1, b == 1
    if disjunction([a == b, a_is_one, b_is_one]) is False:
        return None
    # What is certainly not 1 is the result: the other is 1 or the same. Numbers are easier to use.
    if a_is_one is False and not (isinstance(b, int) and b_is_one is False):
        return a
    if b_is_one is False:
        return b
    # Either may be 1. The larger is the result, unless the other is 0: then the result is 0.
    larger, smaller = maximum(a, b), minimum(a, b, 1)
    return larger * smaller
