"""Weights that were most probably not meant: a training that diverged, a file that was cut."""

from collections.abc import Iterator, Mapping

import numpy as np

from tripybuild.diagnostics import Diagnostic, Span
from tripybuild.eager.evaluate import array_of
from tripybuild.trace.values import Value


def holding_nan(weights: Mapping[str, Value], place: Span | None) -> Iterator[Diagnostic]:
    """Yield a warning for each weight that holds NaN.

    Args:
        weights: The weights by name; they are computed where they were not yet.
        place: Where the user asked for what they are used in.
    """
    for name, value in weights.items():
        array = array_of(value)
        # The least of all is NaN if any is, and is found in one pass without new memory.
        if value.dtype.kind != "float" or not array.size:
            continue
        with np.errstate(invalid="ignore"):
            least = array.min()
        if np.isnan(least):
            count = int(np.isnan(array).sum())
            message = f"the parameter `{name}` holds NaN, in {count:,} of {array.size:,} elements"
            yield Diagnostic("weight-nan", message, place)
