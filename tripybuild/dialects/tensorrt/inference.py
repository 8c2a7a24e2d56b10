"""The shapes of results, by simple rules.

Law: a rule says what it knows and nothing more: None for a size, or for a whole shape, is always
allowed, and no rule refuses anything. The dialect's own verifiers come later and judge.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tripybuild.dialects.tensorrt.value import Shape, Size, Value
from tripybuild.types.dims import same

Arguments = Mapping[str, Any]
Rule = Callable[[Arguments], Shape | None]


def infer(name: str, arguments: Arguments) -> Shape | None:
    """The shape of a layer's first result, or None; `top_k` and the like share it."""
    rule = RULES.get(name)
    tensors = [each for each in arguments.values() if isinstance(each, Value)]
    if rule is None or any(each.shape is None for each in tensors):
        return None
    return rule(arguments)


def broadcast(*shapes: Shape) -> Shape | None:
    """The shape of an operation on tensors of equal ranks, whose sizes of one are repeated."""
    if len({len(shape) for shape in shapes}) != 1:
        return None
    return tuple(_common(sizes) for sizes in zip(*shapes, strict=True))


def _common(sizes: Sequence[Size]) -> Size:
    wide = [size for size in sizes if not same(size, 1)]
    if not wide:
        return 1
    fixed = [size for size in wide if isinstance(size, int)]
    return fixed[0] if fixed else wide[0] if all(same(wide[0], size) for size in wide) else None


def _like(parameter: str) -> Rule:
    return lambda given: given[parameter].shape


def _of(*parameters: str) -> Rule:
    return lambda given: broadcast(*[given[name].shape for name in parameters])


def _sizes(parameter: str) -> Rule:
    return lambda given: None if given[parameter] is None else tuple(given[parameter])


def _replaced(shape: Shape, dim: int, size: Size) -> Shape:
    return (*shape[:dim], size, *shape[dim + 1 :])


def _reduce(given: Arguments) -> Shape:
    shape, axes = given["input"].shape, given["axes"]
    if given["keep_dimensions"]:
        return tuple(1 if i in axes else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in axes)


def _matrix_multiply(given: Arguments) -> Shape | None:
    lhs, rhs = given["lhs"].shape, given["rhs"].shape
    rows, columns = given["op0"], given["op1"]
    drop = [2 if op != "kVECTOR" else 1 for op in (rows, columns)]
    if len(lhs) < drop[0] or len(rhs) < drop[1]:
        return None
    batch = broadcast(lhs[: -drop[0]], rhs[: -drop[1]])
    if batch is None:
        return None
    left = () if rows == "kVECTOR" else (lhs[-1] if rows == "kTRANSPOSE" else lhs[-2],)
    right = () if columns == "kVECTOR" else (rhs[-2] if columns == "kTRANSPOSE" else rhs[-1],)
    return (*batch, *left, *right)


def _windows(given: Arguments, kernel: Sequence[int], gaps: Sequence[int]) -> Shape:
    shape = given["input"].shape
    count = len(kernel)
    strides = given["stride"] or [1] * count
    before, after = given["pre_padding"] or [0] * count, given["post_padding"] or [0] * count
    slides = zip(shape[-count:], kernel, gaps, strides, before, after, strict=True)
    return tuple(
        None if d is None else (d + low + high - g * (k - 1) - 1) // s + 1
        for d, k, g, s, low, high in slides
    )


def _convolution(given: Arguments) -> Shape | None:
    weight = given["weight"].shape
    kernel = weight[2:]
    if not all(isinstance(size, int) for size in kernel) or len(kernel) == 0:
        return None
    inner = _windows(given, kernel, given["dilation"] or [1] * len(kernel))
    lead = given["input"].shape[: -len(kernel) - 1]
    return (*lead, weight[0], *inner)


def _deconvolution(given: Arguments) -> Shape | None:
    weight = given["weight"].shape
    count = len(weight) - 2
    if not all(isinstance(size, int) for size in weight[1:]) or count == 0:
        return None
    ones, zeros = [1] * count, [0] * count
    edges = zip(given["pre_padding"] or zeros, given["post_padding"] or zeros, strict=True)
    slides = zip(
        given["input"].shape[-count:],
        weight[2:],
        given["stride"] or ones,
        given["dilation"] or ones,
        edges,
        strict=True,
    )
    inner = tuple(
        None if d is None else (d - 1) * s + g * (k - 1) + 1 - sum(p) for d, k, s, g, p in slides
    )
    return (*given["input"].shape[: -count - 1], weight[1] * given["num_groups"], *inner)


def _pooling(given: Arguments) -> Shape:
    window = given["window"]
    inner = _windows(given, window, [1] * len(window))
    return (*given["input"].shape[: -len(window)], *inner)


def _concatenation(given: Arguments) -> Shape | None:
    shapes = [value.shape for value in given["tensors"]]
    if None in shapes or not shapes:
        return None
    axis = given["axis"]
    along = [shape[axis] for shape in shapes]
    total = None if None in along else sum(along[1:], along[0])
    return _replaced(shapes[0], axis, total)


def _gather(given: Arguments) -> Shape:
    data, indices, axis = given["data"].shape, given["indices"].shape, given["axis"]
    return (*data[:axis], *indices[given["num_broadcast_dims"] :], *data[axis + 1 :])


def _unsqueeze(given: Arguments) -> Shape:
    rank = len(given["input"].shape) + len(given["axes"])
    axes = [axis % rank for axis in given["axes"]]
    rest = iter(given["input"].shape)
    return tuple(1 if dim in axes else next(rest) for dim in range(rank))


def _squeeze(given: Arguments) -> Shape:
    shape = given["input"].shape
    axes = [axis % len(shape) for axis in given["axes"]]
    return tuple(size for dim, size in enumerate(shape) if dim not in axes)


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


def _chosen(axis: str, size: str | int) -> Rule:
    def rule(given: Arguments) -> Shape:
        count = given[size] if isinstance(size, str) else size
        return _replaced(given["input"].shape, given[axis], count)

    return rule


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(
        (
            *("activation", "unary", "cast", "identity", "scale", "softmax", "ragged_softmax"),
            *("cumulative", "lrn", "normalization", "reverse_sequence", "quantize", "dequantize"),
            *("rotary_embedding", "parametric_relu", "all_reduce", "collective_broadcast"),
            *("collective_reduce", "all_to_all"),
        ),
        _like("input"),
    ),
    **dict.fromkeys(("scatter_nd", "scatter_elements"), _like("data")),
    **dict.fromkeys(("reshape", "expand_rank", "collapse_rank", "broadcast"), _sizes("shape")),
    **dict.fromkeys(("linspace", "random_uniform", "random_normal"), _sizes("shape")),
    **dict.fromkeys(("resize_nearest", "resize_linear", "resize_cubic"), _sizes("shape")),
    "element_wise": _of("lhs", "rhs"),
    "select": _of("condition", "then_input", "else_input"),
    "matrix_multiply": _matrix_multiply,
    "convolution": _convolution,
    "deconvolution": _deconvolution,
    "pooling": _pooling,
    "reduce": _reduce,
    "top_k": _chosen("axis", "k"),
    "argmin": _chosen("axis", 1),
    "argmax": _chosen("axis", 1),
    "shape": lambda given: (len(given["input"].shape),),
    "transpose": lambda given: tuple(given["input"].shape[i] for i in given["permutation"]),
    "squeeze": _squeeze,
    "unsqueeze": _unsqueeze,
    "concatenation": _concatenation,
    "slice": _sizes("size"),
    "gather": _gather,
    "gather_elements": _like("indices"),
    "non_zero": lambda given: (len(given["input"].shape), None),
    "constant": _constant,
    "attention": lambda given: (*given["query"].shape[:-1], given["value"].shape[-1]),
    "kv_cache_update": _like("cache"),
}
