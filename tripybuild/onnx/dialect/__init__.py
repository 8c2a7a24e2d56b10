"""The ONNX dialect: `onnx` of lowering snippets.

`onnx.Softmax(input, axis=dim)` adds a node to the graph under construction: each operator of ONNX
is called by its own name, with its inputs by position or by name and its attributes by name. A
number or a list in the place of a tensor is a constant, sizes among them are computed, and None
leaves an argument out. An operator that declares several results gives a tuple.

Invariant: the operators of the table and `HELPERS` are the whole vocabulary of `onnx.`, and
`check_call` judges a call in a snippet against it.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Any

from tripybuild.language.call_check import check_arguments
from tripybuild.onnx.builder import OnnxGraph as OnnxGraph
from tripybuild.onnx.dialect import call_check, calls
from tripybuild.onnx.dialect.arithmetic import (
    divide as divide,
    floor_divide as floor_divide,
    masked_average as masked_average,
    max_pool as max_pool,
    modulo as modulo,
    power as power,
    quantize as quantize,
    remainder as remainder,
    saturate as saturate,
    without_nan as without_nan,
)
from tripybuild.onnx.dialect.compositions import (
    cast as cast,
    constant as constant,
    dtype_of as dtype_of,
    empty as empty,
    expand as expand,
    full as full,
    holds as holds,
    opset as opset,
    runs_in as runs_in,
    tensor as tensor,
    unavailable as unavailable,
    where as where,
)
from tripybuild.onnx.dialect.control import if_ as if_, scan as scan, while_ as while_
from tripybuild.onnx.dialect.indexing import (
    arange as arange,
    clamp_index as clamp_index,
    clamp_vectors as clamp_vectors,
    reshape as reshape,
    sort_keys as sort_keys,
    strided_slice as strided_slice,
)
from tripybuild.onnx.dialect.interpolation import resample as resample
from tripybuild.onnx.dialect.randomness import (
    random_normal as random_normal,
    random_uniform as random_uniform,
)
from tripybuild.onnx.dialect.reductions import reduce as reduce
from tripybuild.onnx.nodes import Unavailable as Unavailable
from tripybuild.onnx.table import operator_names
from tripybuild.onnx.value import OnnxValue

Value = OnnxValue
One = Callable[..., OnnxValue]
Several = Callable[..., tuple[OnnxValue, ...]]

# What snippets may call beside ONNX's operators.
HELPERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        name: each
        for name, each in sorted(globals().items())
        if inspect.isfunction(each) and each.__module__.startswith(f"{__name__}.")
    }
)
# Operators of which a helper has the form that snippets call.
UNCALLED = MappingProxyType({"If": "if_", "Loop": "while_", "Scan": "scan"})


@cache
def builders() -> frozenset[str]:
    """All names that snippets may call."""
    return (operator_names() | HELPERS.keys()) - UNCALLED.keys() - {"SequenceMap"}


def check_call(
    name: str,
    positional_count: int | None,
    keywords: Iterable[str],
    literals: Mapping[int | str, object] | None = None,
) -> str | None:
    """What is wrong with `onnx.NAME(...)` in a snippet, as a sentence, or None.

    Args:
        name: The name of an operator, or of a helper.
        positional_count: How many arguments are positional; None when there is a `*` among them.
        keywords: The names of the others.
        literals: Arguments that are plain literals, by position or keyword, to check for kind.
    """
    if name in UNCALLED:
        return f"`onnx.{name}` has graphs: write `onnx.{UNCALLED[name]}`, which takes functions"
    helper = HELPERS.get(name)
    if helper is None:
        return call_check.check_operator_call(name, positional_count, keywords, literals)
    parameters = inspect.signature(helper).parameters.values()
    needed = {each.name: each.default is each.empty for each in parameters}
    return check_arguments(f"onnx.{name}", needed, positional_count, keywords)


@cache
def _operator(name: str) -> Callable[..., Any]:
    return partial(calls.call, name)


def __getattr__(name: str) -> One:
    if name not in builders():
        raise AttributeError(f"ONNX has no operator `{name}`")
    return _operator(name)


# Operators with several results, for type checkers: all others give one.
BatchNormalization: Several = _operator("BatchNormalization")
Attention: Several = _operator("Attention")
Dropout: Several = _operator("Dropout")
DynamicQuantizeLinear: Several = _operator("DynamicQuantizeLinear")
GRU: Several = _operator("GRU")
LSTM: Several = _operator("LSTM")
LayerNormalization: Several = _operator("LayerNormalization")
MaxPool: Several = _operator("MaxPool")
RNN: Several = _operator("RNN")
SoftmaxCrossEntropyLoss: Several = _operator("SoftmaxCrossEntropyLoss")
Split: Several = _operator("Split")
StringSplit: Several = _operator("StringSplit")
TopK: Several = _operator("TopK")
Unique: Several = _operator("Unique")
