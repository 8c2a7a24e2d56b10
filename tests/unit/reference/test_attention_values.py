"""Attention, rotated positions and caches, each against sums written out."""

import math

import numpy as np
import pytest
from test_quantization import both

import tripyapi as tp

RANDOM = np.random.default_rng(3)


def normal(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


def mixed(query, key, value, visible, added, scale):
    """One query at a time; one that sees nothing gets nothing."""
    batch, heads, queries, _ = query.shape
    shared = heads // key.shape[1]
    result = np.zeros((batch, heads, queries, value.shape[3]))
    for b, h, q in np.ndindex(batch, heads, queries):
        seen = [k for k in range(key.shape[2]) if visible(b, h, q, k)]
        dots = [math.fsum(query[b, h, q] * key[b, h // shared, k]) * scale for k in seen]
        dots = [dot + added(b, h, q, k) for dot, k in zip(dots, seen, strict=True)]
        weights = [math.exp(dot - max(dots)) for dot in dots]
        for k, weight in zip(seen, weights, strict=True):
            result[b, h, q] += weight / sum(weights) * value[b, h // shared, k]
    return result


@pytest.mark.parametrize("kind", ["bare", "boolean", "added", "causal", "scaled", "hidden"])
@pytest.mark.parametrize(
    "sizes", [(2, 6, 3, 4, 5, 8, 7), (1, 2, 2, 5, 2, 3, 3), (1, 4, 1, 1, 1, 2, 5)]
)
def test_attention_is_what_is_written_out(kind, sizes):
    batch, heads, groups, queries, keys, size, width = sizes
    q, k = normal(batch, heads, queries, size), normal(batch, groups, keys, size)
    v = normal(batch, groups, keys, width)
    boolean, added = RANDOM.random((heads, queries, keys)) > 0.4, normal(batch, 1, queries, keys)
    arrays, options = [q, k, v], {}
    visible, more, scale = (lambda *_: True), (lambda *_: 0.0), size**-0.5
    if kind == "boolean":
        arrays, visible = [*arrays, boolean], lambda _, h, i, j: boolean[h, i, j]
    elif kind == "added":
        arrays, more = [*arrays, added], lambda b, _, i, j: float(added[b, 0, i, j])
    elif kind == "causal":
        options, visible = {"causal": True}, lambda _b, _h, i, j: j <= i
    elif kind == "scaled":
        options, scale = {"scale": 0.25}, 0.25
    elif kind == "hidden":
        arrays, visible = [*arrays, np.zeros((1, keys), bool)], lambda *_: False
    wanted = mixed(q, k, v, visible, more, scale)
    for found in both(lambda *given: tp.attention(*given, **options), *arrays):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize(("head", "pairs"), [(8, 4), (7, 3), (4, 0), (2, 1)])
def test_rotating_is_multiplying_by_complex_numbers(interleaved, head, pairs):
    x, angles = normal(2, 3, 4, head), normal(2, 4, pairs)
    turned, rest = x[..., : 2 * pairs], x[..., 2 * pairs :]
    real, imaginary = turned[..., :pairs], turned[..., pairs:]
    if interleaved:
        real, imaginary = turned[..., ::2], turned[..., 1::2]
    numbers = (real + 1j * imaginary) * np.exp(1j * angles)[:, None]
    parts = [numbers.real, numbers.imag]
    wanted = np.concatenate(parts, -1)
    if interleaved:
        wanted = np.stack(parts, -1).reshape(turned.shape)
    wanted = np.concatenate([wanted, rest], -1)
    cosine, sine = np.cos(angles), np.sin(angles)
    for found in both(lambda *g: tp.rotary_embedding(*g, interleaved=interleaved), x, cosine, sine):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("places", [[[5, 0, 2], [1, 1, 3]], [4, 0, 4]])
def test_places_take_rows_of_a_table(places):
    x, table = normal(2, 1, 3, 4), normal(6, 2)
    rows = np.broadcast_to(table[places], (2, 3, 2))
    tables, all_rows = [[f(t) for f in (np.cos, np.sin)] for t in (table, rows)]
    wanted = both(tp.rotary_embedding, x, *all_rows)
    found = both(tp.rotary_embedding, x, *tables, np.array(places, np.int64))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("position", [[3, 0], 2, [9, -4]])
def test_rows_are_written_where_the_position_says(position):
    """Beyond the ends, they are moved inside."""
    cache, update = normal(2, 3, 6, 4), normal(2, 3, 2, 4)
    wanted = cache.copy()
    for batch, start in enumerate(np.broadcast_to(np.clip(position, 0, 4), 2)):
        wanted[batch, :, start : start + 2] = update[batch]
    for found in both(tp.kv_cache_update, cache, update, np.array(position, np.int32)):
        np.testing.assert_array_equal(found, wanted)
