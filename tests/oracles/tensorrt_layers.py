"""More of what the `tensorrt` dialect computes, for lowerings of operators: windows, ranges, sums.

Each follows TensorRT's documentation of the layer and is written without looking at how operators
are declared, since it judges their lowerings.
"""

import itertools

import numpy as np
from xdsl.dialects.builtin import DenseResourceAttr

from oracles import tensorrt_numpy as oracle, trtx_numpy
from oracles.tensorrt_images import IMAGES
from oracles.tensorrt_narrow import NARROW
from tripybuild.tensorrt.dialect.base import sizes
from tripybuild.tensorrt.mlir import resources


def constant(op):
    """The module's own data, where it has any."""
    if isinstance(op.weights, DenseResourceAttr):
        found = resources.of(op).array(op.weights)
        if found is not None:
            return found.astype(np.float64) if found.dtype.kind not in "iub" else found
    return oracle.weights(op.weights)


def pooling(op, x):
    """The largest or mean value of each window, or a mixture; padding may count for the mean."""
    window, stride = op.value("window_size"), op.value("stride")
    pads = list(zip(op.value("pre_padding"), op.value("post_padding"), strict=True))
    lead = [(0, 0)] * (x.ndim - len(window))
    padded = np.pad(x.astype(np.float64), [*lead, *pads])
    lowest = np.pad(x.astype(np.float64), [*lead, *pads], constant_values=-np.inf)
    counted = np.pad(np.ones(x.shape), [*lead, *pads])
    if not op.value("average_count_excludes_padding"):
        counted = np.ones(padded.shape)
    share = {"kMAX": 0.0, "kAVERAGE": 1.0}.get(op.value("pooling_type"), op.value("blend_factor"))
    inner = padded.shape[len(lead) :]
    out = [(n - w) // s + 1 for n, w, s in zip(inner, window, stride, strict=True)]
    result = np.zeros((*x.shape[: len(lead)], *out))
    for place in itertools.product(*map(range, out)):
        cut = tuple(slice(p * s, p * s + w) for p, s, w in zip(place, stride, window, strict=True))
        axes = tuple(range(len(lead), x.ndim))
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = padded[(..., *cut)].sum(axes) / counted[(..., *cut)].sum(axes)
        result[(..., *place)] = mixed(lowest[(..., *cut)].max(axes), mean, share)
    # How TensorRT rounds the mean of integers is not documented; operators say to the nearest.
    return np.rint(result) if x.dtype.kind == "i" else result


def mixed(largest, mean, share):
    """`(1 - share) * largest + share * mean`; what has no share is not looked at."""
    if share in {0, 1}:
        return mean if share else largest
    return (1 - share) * largest + share * mean


def deconvolution(op, x, *rest):
    """Each input element adds its multiple of the kernel to the output, and the edges are cut."""
    known = dict(zip(op.operands, [x, *rest], strict=True))
    kernel = known[op.kernel_weights]
    count = kernel.ndim - 2
    groups = op.value("num_groups")
    stride, dilation = op.value("stride"), op.value("dilation") or [1] * count
    pads = list(zip(op.value("pre_padding"), op.value("post_padding"), strict=True))
    full = [
        (n - 1) * s + (k - 1) * d + 1
        for n, s, k, d in zip(x.shape[2:], stride, kernel.shape[2:], dilation, strict=True)
    ]
    outs = kernel.shape[1]
    result = np.zeros((x.shape[0], outs * groups, *full))
    per = x.shape[1] // groups
    for group, place in itertools.product(range(groups), np.ndindex(*x.shape[2:])):
        ins = x[(slice(None), slice(group * per, (group + 1) * per), *place)]
        spread = np.einsum("nc,co...->no...", ins, kernel[group * per : (group + 1) * per])
        cut = tuple(
            slice(p * s, p * s + (k - 1) * d + 1, d)
            for p, s, k, d in zip(place, stride, kernel.shape[2:], dilation, strict=True)
        )
        result[(slice(None), slice(group * outs, (group + 1) * outs), *cut)] += spread
    cut = tuple(slice(low, n - high) for (low, high), n in zip(pads, full, strict=True))
    result = result[(..., *cut)]
    if op.bias_weights is not None:
        result = result + known[op.bias_weights].reshape(1, -1, *[1] * count)
    return result


def linspace(op, *operands):
    """`start`, and `step` more for each place along each dimension."""
    known = dict(zip(op.operands, operands, strict=True))
    static = sizes(op.results[0])
    shape = [int(n) for n in known[op.shape]] if op.shape is not None else list(static)
    start = known[op.start] if op.start is not None else op.value("static_start")
    step = known[op.step] if op.step is not None else [op.value("static_step")]
    result = np.full(shape, np.asarray(start).reshape(()), oracle.kind_of(op.results[0]))
    for axis, each in enumerate(step):
        count = np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
        result = result + count.astype(result.dtype) * each
    return result


def cumulative(op, x):
    """Running sums; `exclusive` leaves an element out of its own, `reverse` begins at the end."""
    axis = op.value("axis")
    x = np.flip(x, axis) if op.value("reverse") else x
    total = np.cumsum(x, axis, dtype=x.dtype)
    total = total - x if op.value("exclusive") else total
    return np.flip(total, axis) if op.value("reverse") else total


def reflected(op, x, *rest):
    """A slice that is mirrored at the edges, without repeating them; the others as they were."""
    if op.value("mode") != "kREFLECT":
        return oracle.slice_(op, x, *rest)
    start, size = op.value("static_start"), op.value("static_size")
    stride = op.value("static_stride")
    places = []
    for first, count, step, length in zip(start, size, stride, x.shape, strict=True):
        period = max(2 * (length - 1), 1)
        at = (first + step * np.arange(count)) % period
        places.append(np.where(at < length, at, period - at))
    return x[np.ix_(*places)]


def element_wise(op, a, b):
    """Integers to a negative power are zero to TensorRT, unless the base is one or minus one."""
    if op.value("elementwise_operation") != "kPOW" or a.dtype.kind == "f":
        return oracle.BINARY[op.value("elementwise_operation")](a, b)
    raised = np.float_power(a.astype(np.float64), b)
    return np.trunc(raised).astype(a.dtype)


def gather_elements(op, data, indices):
    """The element at each place, but for the axis, where its index says."""
    found = np.zeros(indices.shape, data.dtype)
    for place in np.ndindex(*indices.shape):
        source = list(place)
        source[op.value("axis")] = indices[place]
        found[place] = data[tuple(source)]
    return found


def gather_nd(op, data, indices):
    """Each vector along the last dimension leads to an element, or to what is behind it."""
    lead = indices.shape[:-1]
    found = [data[tuple(indices[place])] for place in np.ndindex(*lead)]
    return np.asarray(found, data.dtype).reshape(lead + data.shape[indices.shape[-1] :])


def scatter_nd(op, data, indices, updates):
    """A copy of the data, in which each vector of indices leads to what is overwritten."""
    found = data.copy()
    for place in np.ndindex(*indices.shape[:-1]):
        found[tuple(indices[place])] = updates[place]
    return found


def one_hot(op, indices, values, depth):
    """The second value where a place along the new axis is the index, and the first elsewhere."""
    axis = op.value("axis") % (indices.ndim + 1)
    found = np.full((*indices.shape, int(depth)), values[0], values.dtype)
    for place in np.ndindex(*indices.shape):
        found[place][indices[place]] = values[1]
    return np.moveaxis(found, -1, axis)


LAYERS = {
    **oracle.OPS,
    **IMAGES,
    **NARROW,
    "tensorrt.element_wise": element_wise,
    "tensorrt.constant": constant,
    "tensorrt.pooling": pooling,
    "tensorrt.deconvolution": deconvolution,
    "tensorrt.linspace": linspace,
    "tensorrt.slice": reflected,
    "tensorrt.gather_elements": gather_elements,
    "tensorrt.gather_nd": gather_nd,
    "tensorrt.non_zero": lambda _, x: np.argwhere(x).T.astype(np.int32),
    "tensorrt.one_hot": one_hot,
    "tensorrt.parametric_relu": lambda _, x, slope: np.where(x < 0, slope * x, x),
    "tensorrt.scatter_elements": trtx_numpy.scatter_elements,
    "tensorrt.scatter_nd": scatter_nd,
    "trtx.constant": constant,
    "trtx.cumulative": cumulative,
    "trtx.lrn": trtx_numpy.lrn,
    "trtx.reverse_sequence": trtx_numpy.reverse_sequence,
}
