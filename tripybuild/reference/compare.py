"""Numerical comparison with the reference: tolerances, and the message of a mismatch."""

from collections.abc import Mapping

import numpy as np

from tripybuild.reference.numerics.arrays import Array
from tripybuild.schema.files import ToleranceEntry
from tripybuild.schema.operator.operator import Operator
from tripybuild.types.dtypes import dtype

# What holds where a declaration says nothing. Integers and booleans are equal or wrong.
DEFAULT: Mapping[str, ToleranceEntry] = {
    "float64": ToleranceEntry(relative=1e-12, absolute=1e-12),
    "float32": ToleranceEntry(relative=1e-5, absolute=1e-6),
    "float16": ToleranceEntry(relative=2e-3, absolute=2e-3),
    "bfloat16": ToleranceEntry(relative=2e-2, absolute=2e-2),
    "float8": ToleranceEntry(relative=0.13, absolute=0.02),
    "float4": ToleranceEntry(relative=0.5, absolute=0.5),
}
EXACT = ToleranceEntry()


def tolerance(operator: Operator, types: tuple[dtype, ...]) -> ToleranceEntry:
    """The tolerance of a result that some dtypes took part in: the widest of theirs."""
    entries = [operator.tolerance.get(str(t)) or DEFAULT.get(str(t), EXACT) for t in types]
    return ToleranceEntry(
        relative=max((entry.relative for entry in entries), default=0.0),
        absolute=max((entry.absolute for entry in entries), default=0.0),
    )


def _type_difference(got: Array, want: Array) -> str | None:
    if got.shape == want.shape and got.dtype == want.dtype:
        return None
    return f"got {got.dtype}{list(got.shape)}, want {want.dtype}{list(want.shape)}"


def difference(got: Array, want: Array, within: ToleranceEntry) -> str | None:
    """What is wrong with a result, in a sentence, or None."""
    if problem := _type_difference(got, want):
        return problem
    a, b = (x.astype(np.float64) if x.dtype.kind not in "iub" else x for x in (got, want))
    if a.dtype.kind == "f":
        equal = np.isclose(a, b, within.relative, within.absolute, equal_nan=True)
    elif within.absolute or within.relative:
        equal = np.isclose(
            a.astype(np.float64), b.astype(np.float64), within.relative, within.absolute
        )
    else:
        equal = a == b
    if np.all(equal):
        return None
    place = tuple(int(i) for i in np.argwhere(~np.asarray(equal))[0])
    count = int(np.count_nonzero(~np.asarray(equal)))
    return f"got {a[place]}, want {b[place]} at {list(place)}; {count} of {a.size} elements differ"


# How many standard errors, and how far in a test of Kolmogorov and Smirnov, chance may lead.
STANDARD_ERRORS = 6.0
SMIRNOV = 3.0


def distributions_differ(got: Array, want: Array) -> str | None:
    """What is wrong with random numbers, in a sentence, or None.

    Mean, deviation and distribution must be those of other numbers that were drawn alike; the odds
    against a wrong alarm are a million to one.
    """
    if problem := _type_difference(got, want):
        return problem
    a, b = (np.sort(x.astype(np.float64), axis=None) for x in (got, want))
    if a.size == 0 or np.array_equal(a, b):
        return None
    if not np.isfinite(a).all():
        return "some numbers are not finite"
    spread = max(float(b.std()), 1e-12)
    error = STANDARD_ERRORS * spread * np.sqrt(2 / a.size)
    for name, first, second in (("mean", a.mean(), b.mean()), ("deviation", a.std(), b.std())):
        if a.size > 1 and abs(first - second) > error:
            return f"the {name} is {first:.4g}, want {second:.4g}"
    both = np.concatenate([a, b])
    below = [np.searchsorted(each, both, side="right") / a.size for each in (a, b)]
    apart = float(np.abs(below[0] - below[1]).max())
    if apart > SMIRNOV * np.sqrt(2 / a.size):
        return f"{apart:.0%} of the numbers are distributed otherwise"
    return None
