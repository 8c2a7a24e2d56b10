"""What the ops of the `trtx` dialect compute, element by element, and some more of NVIDIA's.

Importing it adds them to the oracle of `tensorrt_numpy`. Loops, not formulas: these are the
sentences of TensorRT's documentation, and what is compared with them is arrays.
"""

import math

import numpy as np

from oracles.tensorrt_numpy import OPS


def cumulative(op, x):
    axis = op.value("axis") % x.ndim
    rows = np.moveaxis(x, axis, -1)
    found = np.zeros_like(rows)
    for place in np.ndindex(rows.shape[:-1]):
        total = 0
        order = range(rows.shape[-1])
        for i in reversed(order) if op.value("reverse") else order:
            before, total = total, total + rows[place][i]
            found[(*place, i)] = before if op.value("exclusive") else total
    return np.moveaxis(found, -1, axis)


def reverse_sequence(op, x, lengths):
    found = x.copy()
    batch, sequence = op.value("batch_axis"), op.value("sequence_axis")
    for place in np.ndindex(x.shape):
        if place[sequence] < lengths[place[batch]]:
            source = list(place)
            source[sequence] = lengths[place[batch]] - 1 - place[sequence]
            found[place] = x[tuple(source)]
    return found


def scale(op, x, *weights):
    known = dict(zip(op.operands[1:], weights, strict=True))
    shift, factor, power = (known.get(each) for each in (op.shift, op.scale, op.power))
    axis = op.value("axis") % x.ndim
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        at = {"kUNIFORM": 0, "kCHANNEL": place[axis]}.get(op.value("mode"))
        if at is None:
            at = np.ravel_multi_index(place[axis:], x.shape[axis:])
        number = x[place]
        number = number if factor is None else number * factor.reshape(-1)[at]
        number = number if shift is None else number + shift.reshape(-1)[at]
        found[place] = number if power is None else number ** power.reshape(-1)[at]
    return found


def lrn(op, x):
    found, reach = np.zeros_like(x), op.value("window") // 2
    for n, c, h, w in np.ndindex(x.shape):
        near = x[n, max(c - reach, 0) : c + reach + 1, h, w]
        share = op.value("alpha") / op.value("window")
        found[n, c, h, w] = x[n, c, h, w] / (op.value("k") + share * (near**2).sum()) ** op.value(
            "beta"
        )
    return found


def rotary_embedding(op, x, cosine, sine, position=None):
    found = x.copy()
    rotated = op.value("dimensions") or x.shape[-1]
    for b, n, s in np.ndindex(x.shape[:3]):
        row = (b, s) if position is None else (position[b, s],)
        for pair in range(rotated // 2):
            places = (
                (2 * pair, 2 * pair + 1) if op.value("interleaved") else (pair, pair + rotated // 2)
            )
            first, second = (x[b, n, s, each] for each in places)
            cos, sin = cosine[row][pair], sine[row][pair]
            found[b, n, s, places[0]] = first * cos - second * sin
            found[b, n, s, places[1]] = first * sin + second * cos
    return found


def kv_cache_update(op, cache, update, position):
    found = cache.copy()
    for b in range(update.shape[0]):
        for row in range(update.shape[2]):
            found[b, :, position[b] + row] = update[b, :, row]
    return found


def attention(op, query, key, value, *rest):
    known = dict(zip(op.operands[3:], rest, strict=True))
    mask, lengths = known.get(op.mask), known.get(op.key_value_lengths)
    found = np.zeros_like(query)
    shared = query.shape[1] // key.shape[1]
    queries, keys = query.shape[2], key.shape[2]
    offset = {"kNONE": math.inf, "kUPPER_LEFT": 0, "kLOWER_RIGHT": keys - queries}
    more = offset[op.value("causal")]
    if mask is not None:
        mask = np.broadcast_to(mask, (*query.shape[:3], keys))
    for b, n, i in np.ndindex(query.shape[:3]):
        seen = []
        for j in range(keys):
            if j > i + more or (lengths is not None and j >= lengths[b]):
                continue
            score = query[b, n, i] @ key[b, n // shared, j]
            if mask is not None and mask.dtype == np.bool_ and not mask[b, n, i, j]:
                continue
            if mask is not None and mask.dtype != np.bool_:
                score += mask[b, n, i, j]
            seen.append((j, score))
        weights = np.array([score for _, score in seen])
        if op.value("normalization") == "kSOFTMAX":
            weights = np.exp(weights) / np.exp(weights).sum()
        for weight, (j, _) in zip(weights, seen, strict=True):
            found[b, n, i] += weight * value[b, n // shared, j]
    return found


def gather_elements(op, data, indices):
    return np.take_along_axis(data, indices.astype(np.int64), op.value("axis"))


def scatter_elements(op, data, indices, updates):
    found = data.copy()
    for place in np.ndindex(indices.shape):
        target = list(place)
        target[op.value("axis") or 0] = indices[place]
        found[tuple(target)] = updates[place]
    return found


def linspace(op, shape):
    assert len(shape) == 1
    return op.value("static_start") + op.value("static_step") * np.arange(shape[0])


OPS.update(
    {
        "tensorrt.gather_elements": gather_elements,
        "tensorrt.linspace": linspace,
        "tensorrt.scatter_elements": scatter_elements,
        "trtx.attention": attention,
        "trtx.cumulative": cumulative,
        "trtx.kv_cache_update": kv_cache_update,
        "trtx.lrn": lrn,
        "trtx.reverse_sequence": reverse_sequence,
        "trtx.rotary_embedding": rotary_embedding,
        "trtx.scale": scale,
    }
)
