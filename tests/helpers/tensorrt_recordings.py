"""Each layer of the recorder's table in small networks, with fixed and with dynamic sizes.

A recording is named `layer/what is special`; its inputs are dtypes and shapes, and its function is
what a lowering does. `B` and `S` are the dynamic sizes, which `PROFILE` gives numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tripybuild.symbolic.dims import evaluate, symbol
from tripybuild.tensorrt import layers as trt
from tripybuild.types import dtypes
from tripybuild.types.dtypes import (
    bfloat16,
    boolean,
    float4,
    float8,
    float16,
    float32,
    int4,
    int8,
    int32,
    int64,
    uint8,
)
from tripybuild.types.size_range import SizeRange

B, S = symbol("B", 1, 4), symbol("S", 2, 8)
PROFILE = {"B": SizeRange(1, 2, 4), "S": SizeRange(2, 4, 8)}
OPT = {name: each.opt for name, each in PROFILE.items()}

Shape = Sequence[Any]
Type = tuple[dtypes.dtype, Shape]


@dataclass(frozen=True)
class Recording:
    """A network of one layer, and what it needs around it."""

    name: str
    inputs: Mapping[str, Type]
    build: Callable[..., Any]
    weights: Mapping[str, Type] = field(default_factory=dict)

    @property
    def layer(self) -> str:
        """The layer that it is about."""
        return self.name.partition("/")[0]

    def network(self) -> trt.Network:
        """Record it."""
        network = trt.Network(self.weights, self.inputs)
        with network:
            given = self.build(*network.inputs.values(), *network.weights.values())
        several = (
            [given] if isinstance(given, trt.Value) else list(given or network.inputs.values())
        )
        network.finish({f"y{i}": each for i, each in enumerate(several)})
        return network


RECORDINGS: dict[str, Recording] = {}


def add(name: str, build: Callable[..., Any], *inputs: Any, **weights: Type) -> None:
    """Note a recording; an input that is only a shape is of float32."""
    types = [
        each
        if isinstance(each[:1], tuple) and each and isinstance(each[0], dtypes.dtype)
        else (float32, each)
        for each in inputs
    ]
    assert name not in RECORDINGS, name
    RECORDINGS[name] = Recording(name, {f"x{i}": t for i, t in enumerate(types)}, build, weights)


FORMS: dict[str, Callable[[Any], Any]] = {
    "static": lambda size: evaluate(size, OPT),
    "dynamic": lambda size: size,
}


def both(name: str, build: Callable[..., Any], *inputs: Any) -> None:
    """The same layer with numbers and with symbols in the shapes of its inputs."""
    for form, change in FORMS.items():
        changed = []
        for each in inputs:
            if each and isinstance(each[0], dtypes.dtype):
                changed.append((each[0], tuple(map(change, each[1]))))
            else:
                changed.append(tuple(map(change, each)))
        add(f"{name}/{form}", build, *changed)


def size(value: trt.Value, axis: int) -> Any:
    """A size of a value."""
    assert value.shape is not None
    return value.shape[axis]


# Arithmetic

both("activation", lambda x: trt.activation(x, "relu"), (B, S))
add("activation/alpha and beta", lambda x: trt.activation(x, "clip", 0.0, 6.0), (2, 3))
both("unary", lambda x: trt.unary(x, "exp"), (B, S))
add("unary/not", lambda x: trt.unary(x, "not"), (boolean, (B, 3)))
add("unary/of nothing", lambda x: trt.unary(x, "exp"), (B, 0))
both("unary/isinf", lambda x: trt.unary(x, "isinf"), (B, S))
both("unary/isnan", lambda x: trt.unary(x, "isnan"), (B, S))
add("unary/isinf of a scalar", lambda x: trt.unary(x, "isinf"), ())
add("unary/isinf of float16", lambda x: trt.unary(x, "isinf"), (float16, (2,)))
add("unary/isnan of bfloat16", lambda x: trt.unary(x, "isnan"), (bfloat16, (2,)))
add("unary/bfloat16", lambda x: trt.unary(x, "tan"), (bfloat16, (B, 3)))
both("element_wise", lambda x, y: x + y, (B, S), (1, S))
add("element_wise/less", lambda x, y: trt.element_wise(x, y, "less"), (B, S), (B, S))
add("element_wise/int32", lambda x: x // 2 % 3, (int32, (B, S)))
both("select", trt.select, (boolean, (B, 1)), (B, S), (1, S))
both("cast", lambda x: trt.cast(x, float16), (B, S))
add("cast/uint8", lambda x: trt.cast(x, float32), (uint8, (B, 3)))
both("identity", trt.identity, (B, S))
both("parametric_relu", trt.parametric_relu, (B, 3, S), (1, 3, 1))
CHANNELS = np.ones((3,), np.float32)
both(
    "scale",
    lambda x: trt.scale(x, "channel", *[trt.constant(CHANNELS, float32)] * 3, axis=1),
    (B, 3, 4, S),
)
add("scale/uniform", lambda x: trt.scale(x, "uniform", trt.constant(1, float32)), (2, 3, 4, 4))

# Products

both("matrix_multiply", lambda x, y: x @ y, (B, S, 3), (B, 3, 5))
add("matrix_multiply/weight", lambda x, w: x @ w, (B, S, 4), w=(float32, (4, 8)))
add("matrix_multiply/vector", lambda x, y: x @ y, (B, S), (S,))
add(
    "matrix_multiply/transposed",
    lambda x, y: trt.matrix_multiply(x, y, "transpose", "transpose"),
    (S, 3),
    (5, S),
)
both("einsum", lambda x, y: trt.einsum([x, y], "bij,bjk->bik"), (B, S, 3), (B, 3, 5))
add("einsum/reused", lambda x, y: trt.softmax(trt.einsum([x, y], "ij,jk->ik"), 1), (B, S), (S, 3))
KERNEL = np.ones((6, 3, 3, 3), np.float32)
both(
    "convolution",
    lambda x: trt.convolution(
        x, trt.constant(KERNEL, float32), stride=[2, 2], pre_padding=[1, 1], post_padding=[1, 1]
    ),
    (B, 3, 8, S),
)
add(
    "convolution/groups",
    lambda x, w, b: trt.convolution(x, w, b, num_groups=2, dilation=[1, 2]),
    (B, 4, 8, 8),
    w=(float32, (6, 2, 3, 3)),
    b=(float32, (6,)),
)
both(
    "deconvolution",
    lambda x: trt.deconvolution(
        x,
        trt.constant(np.ones((3, 4, 3, 3), np.float32), float32),
        stride=[2, 2],
        pre_padding=[1, 1],
        post_padding=[0, 0],
    ),
    (B, 3, 5, S),
)

# Reductions

both("reduce", lambda x: trt.reduce(x, [1], "sum"), (B, S, 3))
both("reduce/kept", lambda x: trt.reduce(x, [0, 2], "max", keep_dimensions=True), (B, S, 3))
add("reduce/unsorted", lambda x: trt.reduce(x, [2, 0], "avg"), (B, S, 3))
both("softmax", lambda x: trt.softmax(x, 1), (B, S))
both("ragged_softmax", trt.ragged_softmax, (B, 3, S), (int32, (B, 3, 1)))
both("cumulative", lambda x: trt.cumulative(x, 1), (B, S))
add("cumulative/reverse", lambda x: trt.cumulative(x, 0, exclusive=True, reverse=True), (2, 3))
both("top_k", lambda x: trt.top_k(x, 2, 1, "max"), (B, S))
add("top_k/int32", lambda x: trt.top_k(x, 2, 0, "min"), (int32, (5, B)))
both("argmin", lambda x: trt.argmin(x, 1), (B, S))
both("argmax", lambda x: trt.argmax(x, 1), (B, S))
add("argmax/vector of int32", lambda x: trt.argmax(x, 0), (int32, (5,)))
both("pooling", lambda x: trt.pooling(x, "max", [2, 2], stride=[2, 2]), (B, 3, 8, S))
add(
    "pooling/average",
    lambda x: trt.pooling(
        x,
        "average",
        [3, 3],
        pre_padding=[1, 1],
        post_padding=[1, 1],
        average_count_excludes_padding=False,
    ),
    (2, 3, 8, 8),
)
both("lrn", lambda x: trt.lrn(x, 5, 1e-4, 0.75, 1.0), (B, 3, 4, S))
both(
    "normalization",
    lambda x, s, b: trt.normalization(x, s, b, [2]),
    (B, S, 4),
    (1, 1, 4),
    (1, 1, 4),
)
add(
    "normalization/groups",
    lambda x, s, b: trt.normalization(x, s, b, [2, 3], num_groups=2),
    (B, 4, 5, 5),
    (1, 2, 1, 1),
    (1, 2, 1, 1),
)

# Sources

add("constant/number", lambda x: x + 2, (B, S))
add(
    "constant/array",
    lambda x: x + trt.constant(np.arange(6, dtype=np.float32).reshape(2, 3), float32),
    (2, 3),
)
add("constant/large", lambda x: x + trt.constant(np.arange(400, dtype=np.float32), float32), (400,))
add(
    "constant/large int8",
    lambda x: trt.element_wise(
        trt.cast(x, float32),
        trt.dequantize(
            trt.constant(np.arange(100, dtype=np.int8), int8), trt.constant(0.5, float32), float32
        ),
        "kSUM",
    ),
    (int8, (100,)),
)
add(
    "constant/int8",
    lambda x: (
        x
        + trt.dequantize(
            trt.constant(np.arange(4, dtype=np.int8), int8), trt.constant(0.5, float32), float32
        )
    ),
    (4,),
)
add("constant/int8 beside int8", lambda x: x + 3, (int8, (2, 3)))
add(
    "constant/bool",
    lambda x: trt.element_wise(x, trt.constant([True, False, True], boolean), "kAND"),
    (boolean, (3,)),
)
add(
    "constant/many bool",
    lambda x: trt.element_wise(x, trt.constant(np.arange(100) % 3 == 0, boolean), "kAND"),
    (boolean, (100,)),
)
add("constant/number of a dynamic shape", lambda x: x + trt.constant(1.5, float32, [B, S]), (B, S))
add("constant/array repeated", lambda x: x + trt.constant(7, float32, [3, 70]), (3, 70))
add(
    "constant/size",
    lambda x: trt.cast(trt.full(B * S, int32), float32) + trt.reduce(x, [0, 1], "sum"),
    (B, S),
)
add("constant/size of float32", lambda x: x / trt.full(S, float32, [1, 1]), (B, S))
add("constant/size repeated", lambda x: x + trt.full(B + 1, float32, [B, S]), (B, S))
add(
    "constant/sizes",
    lambda x: trt.constant([B, 3, S - 1], int32) + trt.shape(x),
    (B, S, 2),
)
add("constant/sizes of int64", lambda x: trt.constant([B * S, S], int64) + x, (int64, (B, S)))
add(
    "constant/large bfloat16",
    lambda x: x + trt.constant(np.arange(100), bfloat16),
    (bfloat16, (100,)),
)
add(
    "constant/nothing",
    lambda x: trt.concatenation([x, trt.constant(np.zeros((0, 3), np.float32), float32)], 0),
    (2, 3),
)
add("constant/int64", lambda x: x + trt.constant([1, 2**40], int64), (int64, (2,)))
add("constant/float16", lambda x: x * trt.constant([0.1, float("inf")], float16), (float16, (2,)))
add("constant/bfloat16", lambda x: x * trt.constant(np.arange(60), bfloat16), (bfloat16, (60,)))
add(
    "constant/infinite",
    lambda x: x + trt.constant([float("inf"), float("nan"), -0.0], float32),
    (3,),
)
add("linspace/static", lambda x: x + trt.linspace([4], 1.0, [0.5]), (4,))
add("linspace/dynamic", lambda x: x + trt.linspace([S], 0.0, [1.0]), (S,))
add("linspace/int32", lambda x: x + trt.linspace([S], 0, [1]), (int32, (S,)))
add("linspace/two dimensions", lambda x: x + trt.linspace([B, S], 0.0, [1.0, 10.0]), (B, S))
add("linspace/tensors", lambda x, a, d: x + trt.linspace([S], a, d), (S,), (), (1,))
add("random_uniform/static", lambda x: x + trt.random_uniform([2, 3], 0.0, 1.0, float32), (2, 3))
add("random_uniform/dynamic", lambda x: x + trt.random_uniform([B, S], 0.0, 1.0, float32), (B, S))
add(
    "random_uniform/tensors",
    lambda x, h: x + trt.random_uniform([B, S], 0.0, h, float32),
    (B, S),
    (),
)
add(
    "random_normal/static",
    lambda x: x + trt.random_normal([2, 3], 0.0, 1.0, float16),
    (float16, (2, 3)),
)
add("random_normal/dynamic", lambda x: x + trt.random_normal([B, S], 0.0, 1.0, float32), (B, S))

# Quantization


def requantized(
    x: trt.Value, dtype: dtypes.dtype, scale: Any, axis: int | None = None
) -> trt.Value:
    """There and back."""
    made = trt.constant(np.asarray(scale, np.float32), float32)
    small = trt.quantize(x, made, dtype, axis=axis)
    return trt.dequantize(small, made, x.dtype, axis=axis)


for layer in ("quantize", "dequantize"):
    both(f"{layer}", lambda x: requantized(x, int8, 0.5), (B, S))
    both(f"{layer}/axis", lambda x: requantized(x, int8, [0.5] * 3, axis=1), (B, 3, S))
    add(f"{layer}/float8", lambda x: requantized(x, float8, 0.5), (B, S))
for scale in (0.5, [[0.5] * 2] * 4):
    add(f"quantize/float4, {np.ndim(scale)}", lambda x, s=scale: requantized(x, float4, s), (4, 32))
add(
    "dequantize/blocks of int4",
    lambda x: (
        x
        @ trt.dequantize(
            trt.constant(np.ones((32, 4)), int4),
            trt.constant(np.ones((2, 4), np.float32), float32),
            float32,
        )
    ),
    (B, 32),
)


def blocks(x: trt.Value) -> trt.Value:
    """Dynamic quantization, undone."""
    small, scales = trt.dynamic_quantize(
        x, trt.constant(1.0, float32), dtype=float4, axis=1, scale_dtype=float8
    )
    wide = trt.dequantize(scales, trt.constant(1.0, float32), float32)
    return trt.dequantize(small, wide, float32)


add("dynamic_quantize/static", blocks, (32, 64))
add("dynamic_quantize/dynamic", blocks, (B, 64))

# Shapes

both("shape", trt.shape, (B, S))
add("shape/beside int32", lambda x, y: trt.shape(x) + y, (B, S), (int32, (2,)))
add("shape/scalar", lambda x: trt.concatenation([trt.shape(x), trt.constant([3], int32)], 0), ())
both("reshape", lambda x: trt.reshape(x, [size(x, 0) * size(x, 1), 3]), (B, S, 3))
add("reshape/one missing", lambda x: trt.reshape(x, [B, S * 3]), (B, S, 3))
add("reshape/swapped", lambda x: trt.reshape(x, [S, B]), (B, S))
add("reshape/units", lambda x: trt.reshape(x, [1, B, 1, S]), (B, S))
add("reshape/units out", lambda x: trt.reshape(x, [B, S]), (1, B, 1, S))
add("reshape/computed", lambda x: trt.reshape(x, [B * 2, S, 2]), (B, S, 4))
add("reshape/to nothing", lambda x: trt.reshape(x, []), (1, 1))
add("reshape/of nothing", lambda x: trt.reshape(x, [1, 1]), ())
add("reshape/zero", lambda x: trt.reshape(x, [2, 0]), (0, 3))
add("reshape/zero and dynamic", lambda x: trt.reshape(x, [0, B]), (B, 0))
both("transpose", lambda x: trt.transpose(x, [2, 0, 1]), (B, S, 3))
add("transpose/as it is", lambda x: trt.transpose(x, [0, 1]), (B, S))
both(
    "shuffle", lambda x: trt.shuffle(x, [2, 0, 1], [3, size(x, 0) * size(x, 1)], [1, 0]), (B, S, 3)
)
add("shuffle/first", lambda x: trt.shuffle(x, [2, 0, 1]), (B, S, 3))
add("shuffle/second", lambda x: trt.shuffle(x, None, [B, S * 3], [1, 0]), (B, S, 3))
add("shuffle/computed", lambda x: trt.shuffle(x, [1, 0], [S * 2, B * 2], [1, 0]), (B * 2, S * 2))
both("expand_rank", lambda x: trt.expand_rank(x, [1, *x.shape]), (B, S))
both("collapse_rank", lambda x: trt.collapse_rank(x, x.shape[1:]), (1, B, S))
both("squeeze", lambda x: trt.squeeze(x, [1, -1]), (B, 1, S, 1))
both("unsqueeze", lambda x: trt.unsqueeze(x, [0, -1]), (B, S))
both("broadcast", lambda x: trt.broadcast(x, [5, *x.shape]), (B, S))
add("broadcast/to dynamic sizes", lambda x, y: trt.broadcast(x, [B, S]) + y, (1, S), (B, S))
add(
    "broadcast/dims",
    lambda x, y: trt.broadcast(x, [B, 3, S], broadcast_dims=[1]) + y,
    (3,),
    (B, 3, S),
)
add(
    "broadcast/to nothing",
    lambda x, y: trt.concatenation([trt.broadcast(x, [0, S]), y], 0),
    (1, S),
    (B, S),
)
both("concatenation", lambda x, y: trt.concatenation([x, y], 1), (B, S), (B, 3))
add("concatenation/one", lambda x: trt.concatenation([x], 0), (B, 3))
both("padding", lambda x: trt.padding(x, [1, 0], [0, 2]), (B, 3, S, 4))
both("slice", lambda x: trt.slice(x, [0, 1], [size(x, 0), 1]), (B, S))
add("slice/nothing", lambda x: trt.concatenation([trt.slice(x, [0, 1], [B, 0]), x], 1), (B, S))
add("slice/dynamic start", lambda x: trt.slice(x, [0, S - 1], [B, 1]), (B, S))
add("slice/dynamic size", lambda x: trt.slice(x, [0, 0], [B, S // 2], [1, 2]), (B, S))
add("slice/dynamic step", lambda x: trt.slice(x, [0, 0], [B, 2], [1, S // 2]), (B, S))
add("slice/backwards", lambda x: trt.slice(x, [0, S - 1], [B, S], [1, -1]), (B, S))
add(
    "slice/fill",
    lambda x: trt.slice(x, [-1, 0], [S + 2, 3], fill=trt.constant(9, float32), mode="fill"),
    (S, 3),
)
add(
    "slice/fill of bfloat16",
    lambda x: trt.slice(x, [-1], [6], fill=trt.constant(9, bfloat16), mode="fill"),
    (bfloat16, (4,)),
)
for mode in ("wrap", "clamp", "reflect"):
    add(f"slice/{mode}", lambda x, mode=mode: trt.slice(x, [-1, 0], [S + 1, 3], mode=mode), (S, 3))
both("reverse_sequence", trt.reverse_sequence, (S, B, 3), (int32, (B,)))
add("reverse_sequence/axes", lambda x, n: trt.reverse_sequence(x, n, 0, 1), (B, S), (int32, (B,)))
for kind in ("nearest", "linear", "cubic"):
    resize = getattr(trt, f"resize_{kind}")
    both(
        f"resize_{kind}",
        lambda x, resize=resize: resize(x, shape=[*x.shape[:2], 8, 8]),
        (B, 3, 4, 4),
    )
    add(
        f"resize_{kind}/scales",
        lambda x, resize=resize: resize(x, scales=[1, 1, 2, 2]),
        (1, 3, 4, 4),
    )
    add(
        f"resize_{kind}/scales of dynamic sizes",
        lambda x, resize=resize: resize(x, scales=[1, 1, 2, 2], coordinates="asymmetric"),
        (B, 3, 4, S),
    )
    add(
        f"resize_{kind}/fractions",
        lambda x, resize=resize: resize(x, scales=[1, 1, 1.5, 0.5]),
        (1, 3, 4, 4),
    )
    add(
        f"resize_{kind}/dynamic shape",
        lambda x, resize=resize: resize(x, shape=[B, 3, S * 2, 8]),
        (B, 3, S, 4),
    )
add(
    "resize_linear/fractions of dynamic sizes",
    lambda x: trt.resize_linear(x, scales=[1, 1, 1.5, 0.5]),
    (B, 3, S, 4),
)
both("grid_sample", trt.grid_sample, (B, 3, 4, S), (B, 5, 6, 2))

# Indexing

both("gather", lambda x, i: trt.gather(x, i, 1), (B, 5, S), (int32, (3,)))
add("gather/scalar", lambda x, i: trt.gather(x, i, 0), (B, 5), (int32, ()))
add("gather/batch", lambda x, i: trt.gather(x, i, 1, 1), (B, 5, S), (int32, (B, 3)))
both("gather_nd", trt.gather_nd, (B, S, 3), (int32, (4, 2)))
both("gather_elements", lambda x, i: trt.gather_elements(x, i, 1), (B, S), (int32, (B, 3)))
add("gather_elements/int4", lambda x, i: trt.gather_elements(x, i, 0), (2, 3), (int32, (2, 3)))
both("scatter_nd", trt.scatter_nd, (B, S), (int32, (4, 1)), (4, S))
both(
    "scatter_elements",
    lambda x, i, u: trt.scatter_elements(x, i, u, 1),
    (B, S),
    (int32, (B, 2)),
    (B, 2),
)
both(
    "one_hot",
    lambda i: trt.one_hot(i, trt.constant([0.0, 1.0], float32), trt.constant(5, int32), -1),
    (int32, (B, S)),
)
both("non_zero", trt.non_zero, (B, S))
both(
    "nms",
    lambda b, s: trt.nms(
        b, s, trt.constant(3, int32), trt.constant(0.5, float32), trt.constant(0.1, float32)
    ),
    (B, S, 4),
    (B, S, 2),
)

# Transformers

both(
    "attention",
    lambda q, k, v: trt.attention(q, k, v, causal=True, decomposable=True),
    (float16, (B, 2, S, 8)),
    (float16, (B, 2, S, 8)),
    (float16, (B, 2, S, 8)),
)
add(
    "attention/mask",
    lambda q, k, v, m: trt.attention(q, k, v, m, decomposable=True),
    (B, 2, S, 8),
    (B, 2, S, 8),
    (B, 2, S, 8),
    (boolean, (1, 1, S, S)),
)
both(
    "rotary_embedding",
    trt.rotary_embedding,
    (B, 2, S, 8),
    (B, S, 4),
    (B, S, 4),
)
add(
    "rotary_embedding/position",
    lambda x, c, s, p: trt.rotary_embedding(x, c, s, position=p),
    (B, 2, S, 8),
    (16, 4),
    (16, 4),
    (int32, (B, S)),
)
add(
    "kv_cache_update/static",
    trt.kv_cache_update,
    (float16, (2, 2, 16, 8)),
    (float16, (2, 2, 1, 8)),
    (int32, (2,)),
)
add(
    "moe/static",
    trt.moe,
    (2, 3, 16),
    (int32, (2, 3, 2)),
    (2, 3, 2),
    (4, 16, 8),
    (4, 16, 8),
    (4, 8, 16),
)
add(
    "moe/dynamic",
    trt.moe,
    (B, S, 16),
    (int32, (B, S, 2)),
    (B, S, 2),
    (4, 16, 8),
    (4, 16, 8),
    (4, 8, 16),
)

# Devices

both("all_reduce", lambda x: trt.all_reduce(x, "sum"), (S, 4))
add("all_reduce/groups", lambda x: trt.all_reduce(x, "sum", groups=[0, 1]), (2, 4))
both("all_gather", lambda x: trt.all_gather(x, 2), (S, 4))
both("reduce_scatter", lambda x: trt.reduce_scatter(x, "sum", 2), (S * 2, 4))
both("all_to_all", lambda x: trt.all_to_all(x, 2), (S * 2, 4))
both("collective_broadcast", lambda x: trt.collective_broadcast(x, 0), (S, 4))
both("collective_reduce", lambda x: trt.collective_reduce(x, "max", 0), (S, 4))
both("collective_gather", lambda x: trt.collective_gather(x, 2, 0), (S, 4))
both("collective_scatter", lambda x: trt.collective_scatter(x, 2, 0), (S * 2, 4))

# Control


def asserted(x: trt.Value) -> trt.Value:
    """An assertion gives nothing; what it asserts follows from sizes."""
    trt.assertion(trt.element_wise(trt.shape(x), trt.constant([0], int32), "greater"), "not empty")
    return x + 1


both("assertion", asserted, (B,))
both(
    "if_", lambda p, x: trt.if_(p, lambda v: [v * v], lambda v: [v + 1], [x]), (boolean, ()), (B, S)
)
add(
    "if_/values from outside",
    lambda p, x, y: trt.if_(p, lambda: [x * y], lambda: [x + y], []),
    (boolean, ()),
    (B, S),
    (B, S),
)
add(
    "if_/sizes inside",
    lambda p, x: trt.if_(
        p,
        lambda: [trt.reshape(trt.broadcast(x, [3, B, S]), [B, S * 3])],
        lambda: [trt.broadcast(trt.reduce(x, [1], "sum", keep_dimensions=True), [B, S * 3])],
        [],
    ),
    (boolean, ()),
    (B, S),
)
add(
    "if_/what it is given",
    lambda p, x: trt.if_(p, lambda v: [v], lambda v: [v + 1], [x]),
    (boolean, ()),
    (B, S),
)
add(
    "if_/two results",
    lambda p, x: trt.if_(p, lambda: [x + 1, x], lambda: [x, x * 2], []),
    (boolean, ()),
    (B, S),
)
both(
    "if_/nested",
    lambda p, q, x: trt.if_(
        p, lambda: trt.if_(q, lambda: [x + 1], lambda: [x + 2], []), lambda: [x], []
    ),
    (boolean, ()),
    (boolean, ()),
    (B, S),
)
add(
    "if_/size as data",
    lambda p, x: trt.if_(
        p,
        lambda: [x + trt.full(B + S, float32, [1, 1])],
        lambda: [x - trt.full(B + S, float32, [1, 1])],
        [],
    ),
    (boolean, ()),
    (B, S),
)
add(
    "if_/constants",
    lambda p, x: trt.if_(p, lambda: [x + trt.constant(np.arange(100), float32)], lambda: [x], []),
    (boolean, ()),
    (100,),
)


def counted(x: trt.Value, n: trt.Value) -> Any:
    """A loop that stops at a number which the network is given."""
    zero, one = trt.constant(0, int32), trt.constant(1, int32)
    return trt.for_(
        zero, n, one, [x], lambda i, v: [v + trt.cast(trt.unsqueeze(i, [0, 1]), float32)]
    )


both("for_", counted, (B, S), (int32, ()))
add(
    "for_/sizes inside",
    lambda x: trt.for_(
        trt.constant(0, int32),
        trt.constant(3, int32),
        trt.constant(1, int32),
        [x],
        lambda i, v: [v + trt.broadcast(trt.constant(1, float32), [B, S], broadcast_dims=[])],
    ),
    (B, S),
)
add(
    "for_/values from outside",
    lambda x, y: trt.for_(
        trt.constant(0, int32),
        trt.full(S, int32),
        trt.constant(1, int32),
        [x, y],
        lambda i, v, w: [v + y, w * x],
    ),
    (B, S),
    (B, S),
)


def halved(x: trt.Value, n: trt.Value) -> Any:
    """A loop that stops by what it computes."""
    return trt.while_(
        [x, n],
        lambda v, k: trt.element_wise(trt.constant(0, int32), k, "less"),
        lambda v, k: (v / 2, k - 1),
    )


both("while_", halved, (B, S), (int32, ()))
add(
    "while_/sizes of the state",
    lambda x: trt.while_(
        [x],
        lambda v: trt.element_wise(trt.reduce(v, [0, 1], "sum"), trt.constant(9, float32), "less"),
        lambda v: [v + trt.reshape(trt.reshape(v, [B * S]), [B, S])],
    ),
    (B, S),
)
add(
    "opaque_plugin/static",
    lambda x: trt.opaque_plugin(
        [x],
        "Roi",
        outputs=[(2, float32)],
        creator_params={"n": 1, "f": 0.5, "t": "a", "l": [1, 2], "r": [0.5, 1], "b": True},
    ),
    (2, 2),
)
add(
    "opaque_plugin/dynamic", lambda x: trt.opaque_plugin([x], "Roi", outputs=[(2, float32)]), (B, S)
)
