"""Shape inference of recorded layers, by the dialect's rules (`shape_rules`).

Invariant: what a layer gives here is what its operation gives in the dialect; None for a size, or
for a whole shape, is what nobody knows. A rule refuses only what the dialect's verifier refuses, so
that is an error of the call at once: it is told where the layer is asked for, and not layers later.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tripybuild.symbolic.dims import same
from tripybuild.tensorrt.recorder.value import NetworkValue, Shape, Size
from tripybuild.tensorrt.shape_rules import (
    ShapeError,
    arithmetic,
    indexing,
    linear,
    quantization,
    reductions,
    resizing,
    shapes,
    trtx,
    windows,
)
from tripybuild.tensorrt.shape_rules.einsum import einsum

Arguments = Mapping[str, Any]
Rule = Callable[[Arguments], Shape]
Several = Callable[[Arguments], tuple[Shape, ...]]


def infer(name: str, arguments: Arguments, count: int = 1) -> tuple[Shape | None, ...]:
    """The shapes of a layer's results; ValueError where there can be none."""
    if not all(map(_has_shape, arguments.values())):
        return (None,) * count
    try:
        several = SEVERAL.get(name)
        if several is not None:
            return several(arguments)
        rule = RULES.get(name)
        return (None,) * count if rule is None else (rule(arguments),)
    except ShapeError as error:
        raise ValueError(f"`trt.{name}`: {error}") from error


def join_shapes(left: Shape | None, right: Shape | None) -> Shape | None:
    """What is known of a shape that is one of two."""
    if left is None or right is None or len(left) != len(right):
        return None
    return tuple(a if same(a, b) else None for a, b in zip(left, right, strict=True))


def _has_shape(argument: Any) -> bool:
    if isinstance(argument, NetworkValue):
        return argument.shape is not None
    return not isinstance(argument, tuple) or all(
        each.shape is not None for each in argument if isinstance(each, NetworkValue)
    )


def _like(parameter: str) -> Rule:
    return lambda given: given[parameter].shape


def _on(rule: Callable[..., Shape], *parameters: str) -> Rule:
    """A rule of the dialect on arguments, in its order; tensors go as their shapes."""
    return lambda given: rule(*[_plain(given[name]) for name in parameters])


def _plain(argument: Any) -> Any:
    return argument.shape if isinstance(argument, NetworkValue) else argument


def _sizes(parameter: str) -> Rule:
    return lambda given: tuple(given[parameter])


def _reduce(given: Arguments) -> Shape:
    kept = given["keep_dimensions"]
    return reductions.reduce(given["input"].shape, given["axes"], keep_dimensions=kept)


def _windows(given: Arguments, count: int) -> windows.Windows:
    return windows.Windows(
        given["stride"] or (1,) * count,
        given["pre_padding"] or (0,) * count,
        given["post_padding"] or (0,) * count,
        given.get("dilation") or (1,) * count,
    )


def _convolution(given: Arguments) -> Shape:
    kernel = given["weight"].shape
    return windows.convolution(given["input"].shape, kernel, _windows(given, len(kernel) - 2))


def _deconvolution(given: Arguments) -> Shape:
    kernel = given["weight"].shape
    steps = _windows(given, len(kernel) - 2)
    return windows.deconvolution(given["input"].shape, kernel, steps, given["num_groups"])


def _pool(given: Arguments) -> Shape:
    window = given["window"]
    return windows.pool(given["input"].shape, window, _windows(given, len(window)))


def _concatenation(given: Arguments) -> Shape:
    return shapes.concatenation([value.shape for value in given["tensors"]], given["axis"])


def _einsum(given: Arguments) -> Shape:
    return einsum(given["equation"], *[value.shape for value in given["inputs"]])


def _reshape(given: Arguments) -> Shape:
    before, shape = given["input"].shape, tuple(given["shape"])
    if any(isinstance(size, int) and size < 0 for size in shape):
        raise ShapeError("sizes are 0 or more")
    if not shapes.same_volume(before, shape):
        raise ShapeError(
            f"{_shape_text(before)} and {_shape_text(shape)} have not as many elements"
        )
    return shape


def _shape_text(shape: Sequence[Size]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def _shuffle(given: Arguments) -> Shape:
    shape = given["input"].shape
    first, wanted = given["first_transpose"] or tuple(range(len(shape))), given["shape"]
    second = given["second_transpose"] or range(len(shape if wanted is None else wanted))
    return shapes.shuffle(shape, first, wanted, tuple(second), zero_is_placeholder=False)


def _unsqueeze(given: Arguments) -> Shape:
    rank = len(given["input"].shape) + len(given["axes"])
    axes = _places(given["axes"], rank)
    rest = iter(given["input"].shape)
    return tuple(1 if dim in axes else next(rest) for dim in range(rank))


def _squeeze(given: Arguments) -> Shape:
    shape = given["input"].shape
    axes = _places(given["axes"], len(shape))
    wide = [axis for axis in sorted(axes) if isinstance(shape[axis], int) and shape[axis] != 1]
    if wide:
        raise ShapeError(f"the size of dimension {wide[0]} is {shape[wide[0]]}, and not 1")
    return tuple(size for dim, size in enumerate(shape) if dim not in axes)


def _places(axes: Sequence[int], rank: int) -> frozenset[int]:
    """Axes that may count from the end."""
    found = frozenset(axis % rank for axis in axes if -rank <= axis < rank)
    if len(found) != len(axes):
        raise ShapeError(f"{list(axes)} are not different dimensions of {rank}")
    return found


def _resize(given: Arguments, *, cubic: bool = False) -> Shape:
    if given["shape"] is not None:
        return tuple(given["shape"])
    return resizing.resize(given["input"].shape, given["scales"], cubic=cubic)


def _constant(given: Arguments) -> Shape:
    if given["shape"] is not None:
        return tuple(given["shape"])
    value, shape = given["value"], []
    if hasattr(value, "shape"):
        return tuple(value.shape)
    while isinstance(value, Sequence):
        shape.append(len(value))
        if not value:
            break
        value = value[0]
    return tuple(shape)


def _repeat(rule: Rule) -> Several:
    return lambda given: (rule(given),) * 2


def _dynamic_quantize(given: Arguments) -> tuple[Shape, ...]:
    shape, axis, block = given["input"].shape, given["axis"], given["block_size"]
    return shape, quantization.block_scales(shape, axis, block)


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(
        (
            *("activation", "unary", "cast", "identity", "scale", "softmax", "cumulative", "lrn"),
            *("normalization", "reverse_sequence", "quantize", "dequantize", "rotary_embedding"),
            *("parametric_relu", "all_reduce", "collective_broadcast", "collective_reduce"),
            "all_to_all",
        ),
        _like("input"),
    ),
    **dict.fromkeys(("expand_rank", "collapse_rank", "reshape"), _reshape),
    **dict.fromkeys(("linspace", "random_uniform", "random_normal"), _sizes("shape")),
    **dict.fromkeys(("resize_nearest", "resize_linear"), _resize),
    **dict.fromkeys(("all_gather", "collective_gather"), _on(trtx.gather_ranks, "input", "ranks")),
    **dict.fromkeys(
        ("reduce_scatter", "collective_scatter"), _on(trtx.scatter_ranks, "input", "ranks")
    ),
    "broadcast": _sizes("shape"),
    "resize_cubic": lambda given: _resize(given, cubic=True),
    "element_wise": _on(arithmetic.elementwise, "lhs", "rhs"),
    "select": _on(arithmetic.elementwise, "condition", "then_input", "else_input"),
    "matrix_multiply": _on(linear.matrix_multiply, "lhs", "rhs", "op0", "op1"),
    "einsum": _einsum,
    "convolution": _convolution,
    "deconvolution": _deconvolution,
    "pooling": _pool,
    "reduce": _reduce,
    "ragged_softmax": _on(reductions.ragged_softmax, "input", "bounds"),
    "shape": lambda given: (len(given["input"].shape),),
    "transpose": _on(shapes.transpose, "input", "permutation"),
    "shuffle": _shuffle,
    "squeeze": _squeeze,
    "unsqueeze": _unsqueeze,
    "concatenation": _concatenation,
    "padding": _on(shapes.padding, "input", "pre_padding", "post_padding"),
    "slice": _sizes("size"),
    "grid_sample": _on(trtx.grid_sample, "input", "grid"),
    "gather": _on(indexing.gather, "data", "indices", "axis", "num_broadcast_dims"),
    "gather_nd": _on(indexing.gather_nd, "data", "indices", "num_broadcast_dims"),
    "gather_elements": _like("indices"),
    "scatter_nd": _on(indexing.scatter_nd, "data", "indices", "updates"),
    "scatter_elements": _like("data"),
    "one_hot": _on(indexing.one_hot, "indices", "values", "axis"),
    "non_zero": _on(indexing.non_zero, "input"),
    "constant": _constant,
    "attention": _like("query"),
    "kv_cache_update": _like("cache"),
    "moe": _like("hidden"),
}
SEVERAL: Mapping[str, Several] = {
    "top_k": _repeat(_on(reductions.top_k, "input", "k", "axis")),
    "argmin": _repeat(_on(reductions.arg_extreme, "input", "axis")),
    "argmax": _repeat(_on(reductions.arg_extreme, "input", "axis")),
    "dynamic_quantize": _dynamic_quantize,
    "nms": lambda _: ((None, 3), ()),
}
