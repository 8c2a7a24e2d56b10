"""Network builder: the `trt.` of lowering snippets, one function per layer, and operators.

Invariant: what each function takes is said by the table in `layers`, nowhere else; numbers beside
tensors become constants of their dtype and rank, because TensorRT has no implicit promotion.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tripybuild.symbolic.dims import Dim, same
from tripybuild.tensorrt.recorder.layer_table import LAYERS
from tripybuild.tensorrt.recorder.network import Layer, append, bind, record
from tripybuild.tensorrt.recorder.value import OPERATORS, NetworkValue, Number, Operand, Size
from tripybuild.types import dtypes


class SingleResultLayer(Protocol):
    """A layer with one result."""

    def __call__(self, *positional: Any, **keywords: Any) -> NetworkValue:
        """Record the layer."""


class MultiResultLayer(Protocol):
    """A layer with a tuple of results."""

    def __call__(self, *positional: Any, **keywords: Any) -> tuple[NetworkValue, ...]:
        """Record the layer."""


def _one(name: str) -> SingleResultLayer:
    def build(*positional: Any, **keywords: Any) -> NetworkValue:
        return record(name, *positional, **keywords)[0]

    return _name_builder(name, build)  # type: ignore[no-any-return]


def _several(name: str) -> MultiResultLayer:
    def build(*positional: Any, **keywords: Any) -> tuple[NetworkValue, ...]:
        return record(name, *positional, **keywords)

    return _name_builder(name, build)  # type: ignore[no-any-return]


def _name_builder(name: str, build: Any) -> Any:
    parameters = ", ".join(LAYERS[name].parameters)
    build.__name__ = build.__qualname__ = name
    build.__doc__ = f"Record a `{name}` layer: {parameters}."
    return build


activation = _one("activation")
all_gather = _one("all_gather")
all_reduce = _one("all_reduce")
all_to_all = _one("all_to_all")
argmax = _several("argmax")
argmin = _several("argmin")
attention = _one("attention")
broadcast = _one("broadcast")
cast = _one("cast")
collapse_rank = _one("collapse_rank")
collective_broadcast = _one("collective_broadcast")
collective_gather = _one("collective_gather")
collective_reduce = _one("collective_reduce")
collective_scatter = _one("collective_scatter")
concatenation = _one("concatenation")
constant = _one("constant")
convolution = _one("convolution")
cumulative = _one("cumulative")
deconvolution = _one("deconvolution")
dequantize = _one("dequantize")
dynamic_quantize = _several("dynamic_quantize")
einsum = _one("einsum")
element_wise = _one("element_wise")
expand_rank = _one("expand_rank")
gather = _one("gather")
gather_elements = _one("gather_elements")
gather_nd = _one("gather_nd")
grid_sample = _one("grid_sample")
identity = _one("identity")
kv_cache_update = _one("kv_cache_update")
linspace = _one("linspace")
lrn = _one("lrn")
matrix_multiply = _one("matrix_multiply")
moe = _one("moe")
nms = _several("nms")
non_zero = _one("non_zero")
normalization = _one("normalization")
one_hot = _one("one_hot")
padding = _one("padding")
parametric_relu = _one("parametric_relu")
pooling = _one("pooling")
quantize = _one("quantize")
ragged_softmax = _one("ragged_softmax")
random_normal = _one("random_normal")
random_uniform = _one("random_uniform")
reduce = _one("reduce")
reduce_scatter = _one("reduce_scatter")
reshape = _one("reshape")
resize_cubic = _one("resize_cubic")
resize_linear = _one("resize_linear")
resize_nearest = _one("resize_nearest")
reverse_sequence = _one("reverse_sequence")
rotary_embedding = _one("rotary_embedding")
scale = _one("scale")
scatter_elements = _one("scatter_elements")
scatter_nd = _one("scatter_nd")
select = _one("select")
shape = _one("shape")
shuffle = _one("shuffle")
slice = _one("slice")
softmax = _one("softmax")
squeeze = _one("squeeze")
top_k = _several("top_k")
transpose = _one("transpose")
unary = _one("unary")
unsqueeze = _one("unsqueeze")


def assertion(condition: NetworkValue, message: str) -> None:
    """Record that the condition must hold, with what to say if it does not."""
    record("assertion", condition, message)


def opaque_plugin(
    inputs: Sequence[NetworkValue], *positional: Any, **keywords: Any
) -> tuple[NetworkValue, ...]:
    """Record a layer that somebody else wrote; `outputs` has the rank and dtype of each result."""
    signature = LAYERS["opaque_plugin"]
    arguments = bind(signature, (inputs, *positional), keywords)
    results = tuple(NetworkValue(dtype, (None,) * rank) for rank, dtype in arguments["outputs"])
    append(Layer(signature, arguments, results))
    return results


def at_least(value: NetworkValue, rank: int) -> NetworkValue:
    """The value with leading dimensions of size one, until it has the rank."""
    new = rank - value.rank
    return value if new <= 0 else unsqueeze(value, list(range(new)))


def crop_or_pad(value: NetworkValue, shape: Sequence[Size]) -> NetworkValue:
    """The value in a shape of its rank: zeros behind, or elements left out, where sizes differ."""
    own = value.shape
    if own is not None and all(same(a, b) for a, b in zip(own, shape, strict=True)):
        return value
    return slice(value, [0] * len(shape), list(shape), mode="fill")


def full(value: Number | Dim, dtype: dtypes.dtype, shape: Sequence[Size] = ()) -> NetworkValue:
    """A number, or a size, repeated to a shape."""
    # TensorRT takes constants of int8 only before a dequantize layer.
    if dtype is dtypes.int8:
        return cast(constant(value, dtypes.int32, shape=shape), dtypes.int8)
    return constant(value, dtype, shape=shape)


def align(*values: Operand) -> tuple[NetworkValue, ...]:
    """The values with equal ranks; numbers take the dtype of the first value."""
    like = next((value for value in values if isinstance(value, NetworkValue)), None)
    if like is None:
        raise ValueError("at least one operand must be a tensor")
    tensors = [value for value in values if isinstance(value, NetworkValue)]
    if len(tensors) == len(values) and all(value.shape is None for value in tensors):
        return tuple(tensors)
    rank = max(value.rank for value in tensors)
    return tuple(
        at_least(value, rank)
        if isinstance(value, NetworkValue)
        else full(value, like.dtype, [1] * rank)
        for value in values
    )


def _binary(kind: str) -> Callable[..., NetworkValue]:
    return lambda lhs, rhs: element_wise(*align(lhs, rhs), kind)


def _modulo(lhs: Operand, rhs: Operand) -> NetworkValue:
    first, second = align(lhs, rhs)
    whole = element_wise(first, second, "kFLOOR_DIV")
    return element_wise(first, element_wise(whole, second, "kPROD"), "kSUB")


def _matmul(lhs: NetworkValue, rhs: NetworkValue) -> NetworkValue:
    ops = ["kVECTOR" if value.rank == 1 else "kNONE" for value in (lhs, rhs)]
    if "kVECTOR" not in ops:
        lhs, rhs = align(lhs, rhs)
    return matrix_multiply(lhs, rhs, *ops)


OPERATORS.update(
    {
        kind: _binary(kind)
        for kind in (
            *("kSUM", "kSUB", "kPROD", "kDIV", "kFLOOR_DIV", "kPOW", "kAND", "kOR", "kXOR"),
        )
    }
)
OPERATORS.update(
    {
        "modulo": _modulo,
        "matmul": _matmul,
        "kNEG": lambda value: unary(value, "kNEG"),
        "kNOT": lambda value: unary(value, "kNOT"),
    }
)
