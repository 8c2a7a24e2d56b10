"""`trtx-to-tensorrt`: what NVIDIA's dialect has gives the same as what it has not."""

import itertools
import re

import numpy as np
import pytest
from oracles import trtx_numpy  # noqa: F401 - adds the ops to the oracle
from oracles.tensorrt_numpy import compare, names, parsed

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.tensorrt.passes import pipeline
from tripybuild.tensorrt.runtime.engine import build

PASS = "trtx-to-tensorrt"
FLAGS = list(itertools.product((False, True), repeat=2))


def module(line, result, **operands):
    """One op from `%a`, `%b`, ... to `%0`."""
    taken = ", ".join(f"%{name}: tensor<{kind}>" for name, kind in operands.items())
    return f"""
func.func @main({taken}) -> tensor<{result}> {{
  %0 = {line}
  return %0 : tensor<{result}>
}}"""


def rewritten(text, *inputs, tolerance=1e-6, dynamic=None):
    """The ops after the pass, which must give the same; none is of trtx."""
    given = list(inputs) or None
    _, after = compare(text, PASS, inputs=given, tolerance=tolerance, dynamic=dynamic)
    assert "trtx." not in after
    return names(parsed(after))


def lowercase(flag):
    return "true" if flag else "false"


# Sequences


def cumulative(kind, axis, exclusive, reverse):
    flags = f"exclusive = {lowercase(exclusive)}, reverse = {lowercase(reverse)}"
    line = f"trtx.cumulative <kSUM> %a {{axis = {axis} : i64, {flags}}} : tensor<{kind}>"
    return module(line, kind, a=kind)


@pytest.mark.parametrize(("exclusive", "reverse"), FLAGS)
@pytest.mark.parametrize(
    ("kind", "axis"),
    [
        *(("7xf32", 0), ("1xf32", 0), ("2x8xf32", 1), ("5x3xf16", 0), ("3x4x2xi32", -2)),
        *(("?x5xf32", 1), ("3x6xi64", 1), ("2x0xf32", 1), ("4x9xbf16", 1)),
    ],
)
def test_sums_of_a_known_length(kind, axis, exclusive, reverse):
    """In as many steps as the length has digits."""
    found = rewritten(cumulative(kind, axis, exclusive, reverse))
    assert "reduce" not in found


def test_the_steps_of_a_sum():
    """Eight elements need three additions."""
    assert rewritten(cumulative("8xf32", 0, False, False)).count("element_wise") == 3
    assert rewritten(cumulative("9xf32", 0, False, False)).count("element_wise") == 4


@pytest.mark.parametrize(("exclusive", "reverse"), FLAGS)
@pytest.mark.parametrize(
    ("kind", "axis"), [("?xf32", 0), ("?x4xi32", 0), ("2x?xf32", 1), ("?x?x2xf32", 1)]
)
def test_sums_of_an_unknown_length(kind, axis, exclusive, reverse):
    """The terms are chosen beside each other."""
    found = rewritten(cumulative(kind, axis, exclusive, reverse), dynamic={0: None})
    assert found.count("reduce") == 1


@pytest.mark.parametrize("kind", ["4xf32", "?xf32"])
def test_infinities_stay_where_they_are(kind):
    """What comes before one is a number still."""
    given = np.array([1.0, 2.0, np.inf, 3.0])
    rewritten(cumulative(kind, 0, False, False), given)
    rewritten(cumulative(kind, 0, True, False), given)


@pytest.mark.parametrize(
    ("kind", "axes", "shape"),
    [
        ("4x3xf32", (1, 0), (4, 3)),
        ("2x5xf32", (0, 1), (2, 5)),
        ("5x2x3xi32", (2, 0), (5, 2, 3)),
        ("?x?xf32", (1, 0), (4, 3)),
        ("2x?x4xf32", (0, 2), (2, 3, 4)),
    ],
)
@pytest.mark.parametrize("width", ["i32", "i64"])
def test_sequences_turned_round(kind, axes, shape, width):
    """Each as far as it goes; none and all are lengths, too."""
    batch, sequence = axes
    size = kind.split("x")[batch]
    lengths = f"{size}x{width}"
    line = (
        f"trtx.reverse_sequence {{batch_axis = {batch} : i64, sequence_axis = {sequence} : i64}}"
        f" ins(%a, %b : tensor<{kind}>, tensor<{lengths}>)"
    )
    text = module(line, kind, a=kind, b=lengths)
    values = np.arange(np.prod(shape)).reshape(shape)
    values = values if "i32" in kind else values.astype(np.float64)
    counts = np.array([shape[sequence], 0, 2, 1][: shape[batch]])
    rewritten(text, values, counts)


# Images


@pytest.mark.parametrize(
    ("mode", "axis", "count"),
    [("kUNIFORM", 1, 1), ("kCHANNEL", 1, 3), ("kCHANNEL", -1, 5), ("kELEMENTWISE", 1, 60)],
)
@pytest.mark.parametrize("batch", ["2", "?"])
def test_scales(mode, axis, count, batch):
    """The weights stand where they belong, in the order scale, shift, power."""
    kind, weights = f"{batch}x3x4x5xf32", f"tensor<{count}xf32>"
    line = (
        f"trtx.scale <{mode}> %a shift(%b : {weights}) scale(%c : {weights})"
        f" power(%d : {weights}) {{axis = {axis} : i64}} : tensor<{kind}>"
    )
    one = f"{count}xf32"
    generator = np.random.default_rng(3)
    inputs = [generator.uniform(0.5, 2, (2, 3, 4, 5))]
    inputs += [generator.uniform(0.5, 2, count) for _ in range(3)]
    rewritten(module(line, kind, a=kind, b=one, c=one, d=one), *inputs)


def test_a_scale_of_nothing():
    """Without weights it is its input."""
    kind = "2x3x4xf32"
    assert rewritten(module(f"trtx.scale <kUNIFORM> %a : tensor<{kind}>", kind, a=kind)) == []


LRN = "alpha = 1.0 : f32, beta = 0.75 : f32, k = 2.0 : f32"


@pytest.mark.parametrize("kind", ["2x7x2x3xf32", "?x5x?x2xf32", "2x4x2x2xbf16", "1x2x1x1xf16"])
@pytest.mark.parametrize("window", [1, 3, 5])
def test_normalization_across_channels(kind, window):
    """The channels beside the first and the last are fewer."""
    line = f"trtx.lrn {{{LRN}, window = {window} : i64}} %a : tensor<{kind}>"
    rewritten(module(line, kind, a=kind), dynamic={0: None})


# Positions


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("dimensions", [0, 4, 8])
@pytest.mark.parametrize("position", [None, "i32", "i64"])
@pytest.mark.parametrize("leading", ["2x3x5", "?x3x?"])
def test_rotated_positions(interleaved, dimensions, position, leading):
    """Halves or neighbours, all or some, with angles of their own or from a table."""
    batch, _, length = leading.split("x")
    kind, pairs = f"{leading}x8xf32", (dimensions or 8) // 2
    angles = f"{batch}x{length}x{pairs}xf32" if position is None else f"16x{pairs}xf32"
    place = f"{batch}x{length}x{position}"
    more = f" position(%d : tensor<{place}>)" if position else ""
    line = (
        f"trtx.rotary_embedding {{dimensions = {dimensions} : i64,"
        f" interleaved = {lowercase(interleaved)}}}"
        f" ins(%a, %b, %c : tensor<{kind}>, tensor<{angles}>, tensor<{angles}>){more}"
    )
    operands = {"a": kind, "b": angles, "c": angles, **({"d": place} if position else {})}
    generator = np.random.default_rng(4)
    shape = (2, 5, pairs) if position is None else (16, pairs)
    inputs = [generator.standard_normal((2, 3, 5, 8))]
    inputs += [generator.standard_normal(shape) for _ in range(2)]
    inputs += [generator.integers(0, 16, (2, 5))] if position else []
    rewritten(module(line, kind, **operands), *inputs)


@pytest.mark.parametrize(
    ("cache", "update"),
    [
        ("2x3x6x4xf32", "2x3x2x4xf32"),
        ("2x3x6x4xf16", "1x3x6x4xf16"),
        ("?x3x6x4xf32", "?x3x?x4xf32"),
    ],
)
def test_caches(cache, update):
    """Rows go where the position of their sequence says; the others stay."""
    batch = update.split("x")[0]
    line = (
        "trtx.kv_cache_update ins(%a, %b, %c :"
        f" tensor<{cache}>, tensor<{update}>, tensor<{batch}xi32>)"
    )
    text = module(line, cache, a=cache, b=update, c=f"{batch}xi32")
    generator = np.random.default_rng(5)
    count, rows = (1, 6) if batch == "1" else (2, 2)
    old, new = (
        generator.standard_normal((2, 3, 6, 4)),
        generator.standard_normal((count, 3, rows, 4)),
    )
    position = np.array([0] if batch == "1" else [3, 1], np.int32)
    rewritten(text, old, new, position)


# Attention


def attention(query, keys, attributes="", mask=None, lengths=None):
    more = f" mask(%d : tensor<{mask}>)" if mask else ""
    more += f" key_value_lengths(%e : tensor<{lengths}>)" if lengths else ""
    types = ", ".join(f"tensor<{each}>" for each in (query, keys, keys))
    line = f"trtx.attention {{{attributes}}} ins(%a, %b, %c : {types}){more}"
    operands = {"a": query, "b": keys, "c": keys}
    operands |= {"d": mask} if mask else {}
    operands |= {"e": lengths} if lengths else {}
    return module(line, query, **operands)


def numbers(*shape, seed=6):
    return np.random.default_rng(seed + len(shape) + sum(shape)).standard_normal(shape)


@pytest.mark.parametrize("leading", ["2", "?"])
@pytest.mark.parametrize(
    ("heads", "shared", "queries", "keys"), [(2, 2, 3, 3), (4, 2, 3, 5), (6, 1, 5, 5), (3, 3, 1, 6)]
)
@pytest.mark.parametrize("causal", ["kNONE", "kUPPER_LEFT", "kLOWER_RIGHT"])
def test_attention(leading, heads, shared, queries, keys, causal):
    """With heads that share keys and values, sizes that are unknown, and both causal masks."""
    rows = [str(queries), str(keys)] if leading == "2" else ["?", "?"]
    query, key = f"{leading}x{heads}x{rows[0]}x4xf32", f"{leading}x{shared}x{rows[1]}x4xf32"
    text = attention(query, key, f"causal = #trtx.causal_mask<{causal}>")
    inputs = (
        numbers(2, heads, queries, 4),
        numbers(2, shared, keys, 4),
        numbers(2, shared, keys, 4, seed=9),
    )
    found = rewritten(text, *inputs)
    assert found.count("matrix_multiply") == 2
    assert ("select" in found) == (causal != "kNONE")


@pytest.mark.parametrize("kind", ["i1", "f32"])
@pytest.mark.parametrize("shape", [(2, 4, 3, 5), (1, 1, 3, 5), (2, 1, 1, 5), (1, 1, 1, 1)])
def test_masks(kind, shape):
    """Truths say what is seen, numbers are added; both repeat along sizes of one."""
    mask = "x".join(map(str, shape)) + f"x{kind}"
    generator = np.random.default_rng(7)
    given = generator.standard_normal(shape)
    if kind == "i1":
        given = given > -1
        given[..., 0] = True  # something is seen
    key = numbers(2, 2, 5, 4)
    rewritten(
        attention("2x4x3x4xf32", "2x2x5x4xf32", mask=mask), numbers(2, 4, 3, 4), key, key, given
    )


def test_lengths_of_keys():
    """Keys behind the end of their sequence are not seen."""
    key, lengths = numbers(2, 2, 5, 4), np.array([5, 2], np.int32)
    text = attention("2x2x3x4xf32", "2x2x5x4xf32", lengths="2xi32")
    rewritten(text, numbers(2, 2, 3, 4), key, key, lengths)


def test_attention_that_is_not_normalized():
    """Scores as they are."""
    attributes = "normalization = #trtx.attention_normalization<kNONE>"
    key = numbers(1, 2, 5, 4)
    found = rewritten(
        attention("1x2x3x4xf32", "1x2x5x4xf32", attributes), numbers(1, 2, 3, 4), key, key
    )
    assert "softmax" not in found


# TensorRT builds what they are written as


@pytest.mark.parametrize(
    "text",
    [
        cumulative("4x9xbf16", 1, True, True),
        cumulative("2x?xi32", 1, False, True),
        attention("?x4x?x4xf16", "?x2x?x4xf16", "causal = #trtx.causal_mask<kLOWER_RIGHT>"),
        attention("2x4x3x4xf32", "2x2x5x4xf32", mask="1x1x3x5xi1"),
        module(
            "trtx.rotary_embedding {dimensions = 4 : i64, interleaved = true} ins(%a, %b, %b :"
            " tensor<?x3x?x8xf32>, tensor<16x2xf32>, tensor<16x2xf32>)"
            " position(%c : tensor<?x?xi64>)",
            "?x3x?x8xf32",
            a="?x3x?x8xf32",
            b="16x2xf32",
            c="?x?xi64",
        ),
        module(
            "trtx.kv_cache_update ins(%a, %b, %c : tensor<?x3x6x4xf32>, tensor<?x3x?x4xf32>,"
            " tensor<?xi32>)",
            "?x3x6x4xf32",
            a="?x3x6x4xf32",
            b="?x3x?x4xf32",
            c="?xi32",
        ),
        module(
            "trtx.reverse_sequence ins(%a, %b : tensor<?x?x2xf32>, tensor<?xi32>)",
            "?x?x2xf32",
            a="?x?x2xf32",
            b="?xi32",
        ),
        module(
            f"trtx.lrn {{{LRN}, window = 3 : i64}} %a : tensor<?x5x?x2xbf16>",
            "?x5x?x2xbf16",
            a="?x5x?x2xbf16",
        ),
    ],
)
def test_tensorrt_builds_it(text):
    """Each type and each unknown size is one that its layers take."""
    pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
    head, arrow, body = text.partition(") -> ")
    given = parsed(re.sub(r"(%\w): tensor<([^>]*)>", _ranged, head) + arrow + body)
    pipeline.run(given, [PASS, "tensorrt-expand-ops"])
    assert build(given, {"compute_capabilities": ["sm89"]}).plan


def _ranged(found):
    """An argument with a range for its unknown sizes."""
    sizes = found[2].split("x")[:-1]
    low, high = ([int(s) if s != "?" else n for s in sizes] for n in (3, 5))
    profile = f"#tensorrt.shape_profile<min = {low}, opt = {low}, max = {high}>"
    said = f" {{tensorrt.shape_profile = {profile}}}" if "?" in sizes else ""
    return f"{found[1]}: tensor<{found[2]}>{said}"


# What cannot be written


def test_all_that_is_refused_is_said_and_nothing_is_changed():
    """One report; what could be rewritten is as it was."""
    text = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = trtx.cumulative <kSUM> %a {axis = 0 : i64} : tensor<4xf32>
  %1 = trtx.all_reduce <kSUM> %0 : tensor<4xf32> -> tensor<4xf32>
  %2 = trtx.all_to_all %1 {ranks = 2 : i64} : tensor<4xf32> -> tensor<4xf32>
  return %2 : tensor<4xf32>
}"""
    given = parsed(text)
    before = str(given)
    with pytest.raises(DiagnosticError) as raised:
        pipeline.run(given, [PASS])
    assert [each.span.line for each in raised.value.diagnostics] == [4, 5]
    assert {each.code for each in raised.value.diagnostics} == {"tensorrt-unsupported"}
    assert str(given) == before


def test_a_module_without_them():
    """Is not looked at twice."""
    given = parsed(
        "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }"
    )
    assert pipeline.PASSES[PASS].run(given) is False
