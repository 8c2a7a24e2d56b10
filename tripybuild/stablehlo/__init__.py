"""StableHLO builder: the `hlo` of lowering snippets, on jaxlib's bindings.

Invariant: `BUILDERS` is the whole vocabulary of `hlo.`, the functions that are imported here.
Importing this package loads no compiler: a snippet is checked with `check_call`, and jaxlib comes
with the first Module.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from tripybuild.language.call_check import check_arguments
from tripybuild.stablehlo.bounded import BoundedSizes as BoundedSizes
from tripybuild.stablehlo.bounded_moves import UnboundedOperation as UnboundedOperation
from tripybuild.stablehlo.broadcast import (
    broadcast_in_dim as broadcast_in_dim,
    broadcast_to as broadcast_to,
)
from tripybuild.stablehlo.comparison import (
    bitcast_convert as bitcast_convert,
    clamp as clamp,
    convert as convert,
    divide as divide,
    equal as equal,
    floor_divide as floor_divide,
    greater as greater,
    greater_equal as greater_equal,
    is_finite as is_finite,
    is_inf as is_inf,
    is_nan as is_nan,
    less as less,
    less_equal as less_equal,
    modulo as modulo,
    not_equal as not_equal,
    remainder as remainder,
    select as select,
)
from tripybuild.stablehlo.constants import constant as constant, iota as iota
from tripybuild.stablehlo.control import if_ as if_, scan as scan, while_ as while_
from tripybuild.stablehlo.elementwise import (
    abs as abs,
    acos as acos,
    acosh as acosh,
    add as add,
    and_ as and_,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atan2 as atan2,
    atanh as atanh,
    cbrt as cbrt,
    ceil as ceil,
    cosh as cosh,
    cosine as cosine,
    erf as erf,
    erfc as erfc,
    exponential as exponential,
    exponential_minus_one as exponential_minus_one,
    floor as floor,
    log as log,
    log_plus_one as log_plus_one,
    logistic as logistic,
    maximum as maximum,
    minimum as minimum,
    multiply as multiply,
    negate as negate,
    not_ as not_,
    or_ as or_,
    power as power,
    round_nearest_afz as round_nearest_afz,
    round_nearest_even as round_nearest_even,
    rsqrt as rsqrt,
    shift_left as shift_left,
    shift_right_arithmetic as shift_right_arithmetic,
    shift_right_logical as shift_right_logical,
    sign as sign,
    sine as sine,
    sinh as sinh,
    sqrt as sqrt,
    subtract as subtract,
    tan as tan,
    tanh as tanh,
    xor as xor,
)
from tripybuild.stablehlo.indexing import (
    gather_nd as gather_nd,
    scatter_along as scatter_along,
    scatter_nd as scatter_nd,
    sort as sort,
    sort_places as sort_places,
    take as take,
    take_along as take_along,
    top_k as top_k,
)
from tripybuild.stablehlo.interpolation import grid_sample as grid_sample, resample as resample
from tripybuild.stablehlo.linear import (
    convolution as convolution,
    dot_general as dot_general,
    einsum as einsum,
    matmul as matmul,
)
from tripybuild.stablehlo.module import HloModule as HloModule
from tripybuild.stablehlo.operands import broadcast_values as broadcast_values
from tripybuild.stablehlo.randomness import (
    random_normal as random_normal,
    random_uniform as random_uniform,
)
from tripybuild.stablehlo.reductions import (
    argmax as argmax,
    argmin as argmin,
    cumulative as cumulative,
    reduce as reduce,
    window_counts as window_counts,
    window_reduce as window_reduce,
)
from tripybuild.stablehlo.shapes import (
    concatenate as concatenate,
    pad as pad,
    reshape as reshape,
    reverse as reverse,
    spread_scale as spread_scale,
    transpose as transpose,
)
from tripybuild.stablehlo.slices import (
    dynamic_slice as dynamic_slice,
    dynamic_update_slice as dynamic_update_slice,
    slice as slice,
    strided_slice as strided_slice,
    update_rows as update_rows,
)
from tripybuild.stablehlo.value import HloValue

Value = HloValue

BUILDERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        name: each
        for name, each in sorted(globals().items())
        if inspect.isfunction(each) and each.__module__.startswith(f"{__name__}.")
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
