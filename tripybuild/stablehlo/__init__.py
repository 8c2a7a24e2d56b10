"""StableHLO builder: the `hlo` of lowering snippets, on jaxlib's bindings.

Invariant: `BUILDERS` is the whole vocabulary of `hlo.`. Importing this package loads no compiler: a
snippet is checked with `check_call`, and jaxlib comes with the first Module.
"""

import inspect
from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import Any

from tripybuild.language.call_check import check_arguments
from tripybuild.stablehlo.broadcast import broadcast_in_dim, broadcast_to
from tripybuild.stablehlo.comparison import (
    bitcast_convert,
    clamp,
    convert,
    divide,
    equal,
    floor_divide,
    greater,
    greater_equal,
    is_finite,
    is_inf,
    is_nan,
    less,
    less_equal,
    modulo,
    not_equal,
    remainder,
    select,
)
from tripybuild.stablehlo.constants import constant, iota
from tripybuild.stablehlo.contraction import einsum
from tripybuild.stablehlo.control import if_, scan, while_
from tripybuild.stablehlo.elementwise import (
    abs,
    acos,
    acosh,
    add,
    and_,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cbrt,
    ceil,
    cosh,
    cosine,
    erf,
    erfc,
    exponential,
    exponential_minus_one,
    floor,
    log,
    log_plus_one,
    logistic,
    maximum,
    minimum,
    multiply,
    negate,
    not_,
    or_,
    power,
    round_nearest_afz,
    round_nearest_even,
    rsqrt,
    shift_left,
    shift_right_logical,
    sign,
    sine,
    sinh,
    sqrt,
    subtract,
    tan,
    tanh,
    xor,
)
from tripybuild.stablehlo.grid_sampling import grid_sample
from tripybuild.stablehlo.indexing import gather_nd, scatter_along, scatter_nd, take, take_along
from tripybuild.stablehlo.linear import convolution, dot_general, matmul
from tripybuild.stablehlo.module import HloModule
from tripybuild.stablehlo.operands import broadcast_values
from tripybuild.stablehlo.ordering import sort, sort_places, top_k
from tripybuild.stablehlo.randomness import random_normal, random_uniform
from tripybuild.stablehlo.reductions import argmax, argmin, reduce
from tripybuild.stablehlo.resampling import resample
from tripybuild.stablehlo.scales import spread_scale
from tripybuild.stablehlo.shapes import concatenate, pad, reshape, reverse, transpose
from tripybuild.stablehlo.slices import (
    dynamic_slice,
    dynamic_update_slice,
    slice,
    strided_slice,
    update_rows,
)
from tripybuild.stablehlo.value import HloValue as Value
from tripybuild.stablehlo.windows import cumulative, window_counts, window_reduce

__all__ = [
    "BUILDERS",
    "HloModule",
    "Value",
    "abs",
    "acos",
    "acosh",
    "add",
    "and_",
    "argmax",
    "argmin",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitcast_convert",
    "broadcast_in_dim",
    "broadcast_to",
    "broadcast_values",
    "cbrt",
    "ceil",
    "check_call",
    "clamp",
    "concatenate",
    "constant",
    "convert",
    "convolution",
    "cosh",
    "cosine",
    "cumulative",
    "divide",
    "dot_general",
    "dynamic_slice",
    "dynamic_update_slice",
    "einsum",
    "equal",
    "erf",
    "erfc",
    "exponential",
    "exponential_minus_one",
    "floor",
    "floor_divide",
    "gather_nd",
    "greater",
    "greater_equal",
    "grid_sample",
    "if_",
    "iota",
    "is_finite",
    "is_inf",
    "is_nan",
    "less",
    "less_equal",
    "log",
    "log_plus_one",
    "logistic",
    "matmul",
    "maximum",
    "minimum",
    "modulo",
    "multiply",
    "negate",
    "not_",
    "not_equal",
    "or_",
    "pad",
    "power",
    "random_normal",
    "random_uniform",
    "reduce",
    "remainder",
    "resample",
    "reshape",
    "reverse",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "scan",
    "scatter_along",
    "scatter_nd",
    "select",
    "shift_left",
    "shift_right_logical",
    "sign",
    "sine",
    "sinh",
    "slice",
    "sort",
    "sort_places",
    "spread_scale",
    "sqrt",
    "strided_slice",
    "subtract",
    "take",
    "take_along",
    "tan",
    "tanh",
    "top_k",
    "transpose",
    "update_rows",
    "while_",
    "window_counts",
    "window_reduce",
    "xor",
]

BUILDERS: MappingProxyType[str, Callable[..., Any]] = MappingProxyType(
    {
        name: globals()[name]
        for name in __all__
        if name not in ("BUILDERS", "HloModule", "Value", "check_call")
    }
)


def check_call(name: str, positional_count: int | None, keywords: Iterable[str]) -> str | None:
    """What is wrong with `hlo.NAME(...)` in a snippet, as a sentence, or None.

    `positional_count` is None when there is a `*` among the arguments.
    """
    builder = BUILDERS.get(name)
    if builder is None:
        return f"there is no builder `hlo.{name}`"
    parameters = inspect.signature(builder).parameters
    if any(each.kind is each.VAR_POSITIONAL for each in parameters.values()):
        return None if not list(keywords) else f"`hlo.{name}` takes no keywords"
    needed = {each.name: each.default is each.empty for each in parameters.values()}
    return check_arguments(f"hlo.{name}", needed, positional_count, keywords)
