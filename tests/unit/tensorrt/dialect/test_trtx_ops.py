"""Our dialect of newer layers: its text, what is wrong, what is inferred."""

import pytest
from tensorrt_operations import values
from tensorrt_text import messages, printed

from tripybuild.tensorrt import dialect

Q, K, KC = "tensor<2x8x4x16xf16>", "tensor<2x2x6x16xf16>", "tensor<2x2x64x16xf16>"
PACKED, ENDS = "tensor<20x8x16xf16>", "tensor<3xi32>"
COS, TABLE, IDS = "tensor<2x4x8xf16>", "tensor<100x8xf16>", "tensor<2x4xi64>"
IMAGE, GRID = "tensor<1x3x8x9xf32>", "tensor<1x4x5x2xf32>"
BOXES, SCORES, ONE = "tensor<2x100x4xf32>", "tensor<2x100x5xf32>", "tensor<i32>"
TOKENS, CHOSEN, CHOICE = "tensor<2x5x32xf16>", "tensor<2x5x2xi32>", "tensor<2x5x2xf16>"
GATE, DOWN = "tensor<8x32x64xf16>", "tensor<8x64x32xf16>"
FORM = "#trtx.attention_form<kPACKED_NHD>"


def line(name, *operands, attributes="", more="", result=""):
    """`%0 = trtx.name {attributes} ins(...) more -> result`, with operands called a, b, c ..."""
    names = "abcdefgh"[: len(operands)]
    inside = ", ".join(f"%{n}" for n in names) + " : " + ", ".join(operands)
    head = f"%0 = trtx.{name} " + (f"{{{attributes}}} " if attributes else "")
    tail = (f" {more}" if more else "") + (f" -> {result}" if result else "")
    return f"{head}ins({inside}){tail}", dict(zip(names, operands, strict=True))


def with_more(made, **types):
    """A line and the types of what it uses besides."""
    text, known = made
    return text, {**known, **types}


def attention(q=Q, k=K, v=K, attributes="", more="", **types):
    """A line of attention."""
    return with_more(line("attention", q, k, v, attributes=attributes, more=more), **types)


def moe(
    tokens=TOKENS, chosen=CHOSEN, scores=CHOICE, gate=GATE, up=GATE, down=DOWN, more="", **types
):
    """A line of a mixture of experts."""
    weights = f"weights(%e, %f, %g : {gate}, {up}, {down}) {more}".strip()
    given = {"e": gate, "f": up, "g": down, **types}
    return with_more(line("moe", tokens, chosen, scores, more=weights), **given)


LINES = {
    "attention": attention(more="mask(%m : tensor<1x1x4x6xi1>)", m="tensor<1x1x4x6xi1>"),
    "attention, causal": attention(
        attributes="causal = #trtx.causal_mask<kLOWER_RIGHT>, decomposable = true"
    ),
    "attention, quantized": attention(
        attributes=(
            "normalization = #trtx.attention_normalization<kNONE>, quantized_type = f8E4M3FN"
        ),
        more="quantize_scale(%s : tensor<f16>)",
        s="tensor<f16>",
    ),
    "attention, packed": attention(
        PACKED,
        PACKED,
        PACKED,
        f"key_value_form = {FORM}, query_form = {FORM}",
        f"query_lengths(%l : {ENDS}) key_value_lengths(%l : {ENDS})",
        l=ENDS,
    ),
    "rotary_embedding": line("rotary_embedding", Q, COS, COS, attributes="interleaved = true"),
    "rotary_embedding, part": line(
        "rotary_embedding",
        Q,
        "tensor<2x4x4xf16>",
        "tensor<2x4x4xf16>",
        attributes="dimensions = 8 : i64",
    ),
    "rotary_embedding, placed": with_more(
        line("rotary_embedding", Q, TABLE, TABLE, more=f"position(%p : {IDS})"), p=IDS
    ),
    "kv_cache_update": line("kv_cache_update", KC, K, "tensor<2xi32>"),
    "kv_cache_update, packed": with_more(
        line(
            "kv_cache_update",
            KC,
            "tensor<20x2x16xf16>",
            "tensor<2xi32>",
            attributes=f"update_form = {FORM}",
            more=f"update_lengths(%l : {ENDS})",
        ),
        l=ENDS,
    ),
    "grid_sample": line(
        "grid_sample",
        IMAGE,
        GRID,
        attributes="align_corners = true, interpolation = #trtx.interpolation_mode<kCUBIC>,"
        " mode = #tensorrt.slice_mode<kCLAMP>",
        result="tensor<1x3x4x5xf32>",
    ),
    "lrn": (
        (
            "%0 = trtx.lrn {alpha = 9.99999974E-5 : f32, beta = 7.500000e-01 : f32,"
            f" k = 1.000000e+00 : f32, window = 5 : i64}} %a : {IMAGE}"
        ),
        {"a": IMAGE},
    ),
    "scale": (
        (
            "%0 = trtx.scale <kCHANNEL> %a shift(%b : tensor<3xf32>) power(%b : tensor<3xf32>)"
            f" : {IMAGE}"
        ),
        {"a": IMAGE, "b": "tensor<3xf32>"},
    ),
    "scale, last axis": (
        f"%0 = trtx.scale <kCHANNEL> %a scale(%b : tensor<9xf32>) {{axis = -1 : i64}} : {IMAGE}",
        {"a": IMAGE, "b": "tensor<9xf32>"},
    ),
    "nms": with_more(
        (
            line("nms", BOXES, SCORES, ONE, more="score_threshold(%d : tensor<f32>)", result="X")[0]
            .replace("-> X", "-> tensor<?x3xi64>, tensor<i32>")
            .replace("%0", "%0:2"),
            {"a": BOXES, "b": SCORES, "c": ONE},
        ),
        d="tensor<f32>",
    ),
    "constant": (
        "%0 = trtx.constant dense<[5.000000e-01, -6.000000e+00]> : tensor<2xf4E2M1FN>",
        {},
    ),
    "quantize": (
        (
            "%0 = trtx.quantize in(%a : tensor<4x32xf32>) scale(%b : tensor<4x2xf32>)"
            " -> tensor<4x32xf4E2M1FN>"
        ),
        {"a": "tensor<4x32xf32>", "b": "tensor<4x2xf32>"},
    ),
    "cumulative": (
        f"%0 = trtx.cumulative <kSUM> %a {{axis = -1 : i64, exclusive = true}} : {IMAGE}",
        {"a": IMAGE},
    ),
    "reverse_sequence": line(
        "reverse_sequence",
        K,
        "tensor<2xi32>",
        attributes="batch_axis = 0 : i64, sequence_axis = 2 : i64",
    ),
    "moe": moe(),
    "moe, with biases": moe(
        more="gate_bias(%h : tensor<8x64xf16>) up_bias(%h : tensor<8x64xf16>)"
        " down_bias(%k : tensor<8x32xf16>)",
        h="tensor<8x64xf16>",
        k="tensor<8x32xf16>",
    ),
    "all_reduce": (f"%0 = trtx.all_reduce <kSUM> %a : {IMAGE} -> {IMAGE}", {"a": IMAGE}),
    "all_gather": (
        (
            f"%0 = trtx.all_gather %a {{groups = array<i64: 0, 1>, ranks = 2 : i64}} : {IMAGE} ->"
            " tensor<2x3x8x9xf32>"
        ),
        {"a": IMAGE},
    ),
    "reduce_scatter": (
        f"%0 = trtx.reduce_scatter <kMAX> %a {{ranks = 2 : i64}} : {Q} -> tensor<1x8x4x16xf16>",
        {"a": Q},
    ),
    "all_to_all": (f"%0 = trtx.all_to_all %a {{ranks = 2 : i64}} : {Q} -> {Q}", {"a": Q}),
    "collective_broadcast": (
        f"%0 = trtx.collective_broadcast %a {{root = 0 : i64}} : {Q} -> {Q}",
        {"a": Q},
    ),
    "collective_reduce": (
        f"%0 = trtx.collective_reduce <kAVG> %a {{root = 1 : i64}} : {Q} -> {Q}",
        {"a": Q},
    ),
    "collective_gather": (
        (
            f"%0 = trtx.collective_gather %a {{ranks = 2 : i64, root = 0 : i64}} : {Q} ->"
            " tensor<4x8x4x16xf16>"
        ),
        {"a": Q},
    ),
    "collective_scatter": (
        (
            f"%0 = trtx.collective_scatter %a {{ranks = 2 : i64, root = 0 : i64}} : {Q} ->"
            " tensor<1x8x4x16xf16>"
        ),
        {"a": Q},
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_what_is_read_is_printed(name):
    """Character for character, and nothing is wrong with it."""
    text, types = LINES[name]
    assert printed(text, **types) == text


def test_no_operation_was_forgotten():
    """Each has a line, and is under the same roof as NVIDIA's."""
    assert {op.name for op in dialect.TRTX_OPERATIONS} == {
        text.split()[2] for text, _ in LINES.values()
    }
    assert all(getattr(dialect, op.__name__) is op for op in dialect.TRTX_OPERATIONS)


def lrn(window=5, alpha=1.0, beta=0.75, k=1.0, kind=IMAGE):
    """A line of LRN."""
    text = (
        f"%0 = trtx.lrn {{alpha = {alpha:e} : f32, beta = {beta:e} : f32, k = {k:e} : f32,"
        f" window = {window} : i64}} %a : {kind}"
    )
    return text, {"a": kind}


def rotary(q=Q, cos=COS, sin=COS, attributes="", position=None):
    """A line of a rotary embedding."""
    more = "" if position is None else f"position(%p : {position})"
    made = line("rotary_embedding", q, cos, sin, attributes=attributes, more=more)
    return made if position is None else with_more(made, p=position)


def scale(mode, count, kind=IMAGE, axis=1):
    """A line of a scale."""
    text = f"%0 = trtx.scale <{mode}> %a shift(%b : {count}) {{axis = {axis} : i64}} : {kind}"
    return text, {"a": kind, "b": count}


def nms(boxes=BOXES, scores=SCORES, attributes="", result="tensor<?x3xi32>"):
    """A line of NMS."""
    text, types = line(
        "nms", boxes, scores, ONE, attributes=attributes, result=f"{result}, tensor<i32>"
    )
    return text.replace("%0", "%0:2"), types


def collective(text, kind=Q):
    """A line of a collective."""
    return text, {"a": kind}


WRONG = [
    (
        attention(k="tensor<2x3x6x16xf16>", v="tensor<2x3x6x16xf16>"),
        ("query has 8 heads, not a multiple of the 3 of key and values"),
    ),
    (
        attention(v="tensor<2x2x7x16xf16>"),
        ("key and values must have the same shape, but are [2, 2, 6, 16] and [2, 2, 7, 16]"),
    ),
    (
        attention(k="tensor<2x2x6x32xf16>", v="tensor<2x2x6x32xf16>"),
        ("query has heads of size 16, but key and values of size 32"),
    ),
    (
        attention(k="tensor<3x2x6x16xf16>", v="tensor<3x2x6x16xf16>"),
        "query is a batch of 2, but key and values of 3",
    ),
    (attention(k="tensor<2x2x6x16xf32>"), "key has element type 'f32', but query has 'f16'"),
    (
        attention(q=PACKED),
        ("expected query to be of rank 4 as `query_form` is kPADDED_BHND, but it is of rank 3"),
    ),
    (
        attention(q=PACKED, attributes=f"query_form = {FORM}"),
        "a packed query needs `query_lengths`",
    ),
    (
        attention(
            PACKED,
            PACKED,
            PACKED,
            f"query_form = {FORM}, key_value_form = {FORM}",
            f"query_lengths(%l : {ENDS})",
            l=ENDS,
        ),
        "packed keys and values need `key_value_lengths`",
    ),
    (
        attention(k=PACKED, v=PACKED, attributes=f"key_value_form = {FORM}"),
        "packed keys and values need a packed query",
    ),
    (
        attention(
            attributes="causal = #trtx.causal_mask<kUPPER_LEFT>",
            more="mask(%m : tensor<1x1x4x6xi1>)",
            m="tensor<1x1x4x6xi1>",
        ),
        "a causal attention has no other mask",
    ),
    (
        attention(more="mask(%m : tensor<2x8x5x6xi1>)", m="tensor<2x8x5x6xi1>"),
        ("mask has shape [2, 8, 5, 6], which does not broadcast to [2, 8, 4, 6]"),
    ),
    (
        attention(more="mask(%m : tensor<4x6xi1>)", m="tensor<4x6xi1>"),
        "expected mask to be of rank 4, but it is of rank 2",
    ),
    (
        attention(more="mask(%m : tensor<1x1x4x6xf32>)", m="tensor<1x1x4x6xf32>"),
        "mask has element type 'f32', but query has 'f16'",
    ),
    (
        attention(attributes="quantized_type = i8"),
        ("`quantize_scale` and `quantized_type` are given together or not at all"),
    ),
    (
        attention(
            attributes="quantized_type = i8",
            more="quantize_scale(%s : tensor<f32>)",
            s="tensor<f32>",
        ),
        "quantize_scale has element type 'f32', but query has 'f16'",
    ),
    (
        attention(attributes="quantized_type = i4"),
        (
            "attribute 'quantized_type' failed to satisfy"
            " constraint: type attribute of f8E4M3FN or i8"
        ),
    ),
    (
        attention(more=f"key_value_lengths(%l : {ENDS})", l=ENDS),
        ("expected key_value_lengths to have one number for each of a batch of 2, but got 3"),
    ),
    (
        attention(q="tensor<2x8x4x16xi32>", k="tensor<2x8x4x16xi32>", v="tensor<2x8x4x16xi32>"),
        (
            "operand #0 must be 0D/1D/2D/3D/4D/5D/6D/7D/8D tensor of 16-bit float"
            " or bfloat16 type or 32-bit float values, but got"
            " 'tensor<2x8x4x16xi32>'"
        ),
    ),
    (rotary(q="tensor<2x8x4x15xf16>"), "heads of size 15 have no pairs: the size must be even"),
    (
        rotary(attributes="dimensions = 7 : i64"),
        ("`dimensions` is 7, but must be even, from 0 to the heads' size (16)"),
    ),
    (
        rotary(attributes="dimensions = 32 : i64"),
        ("`dimensions` is 32, but must be even, from 0 to the heads' size (16)"),
    ),
    (
        rotary(cos="tensor<2x4x16xf16>"),
        ("expected cosine to have a last size that is the number of pairs, 8, but got 16"),
    ),
    (
        rotary(sin="tensor<2x5x8xf16>"),
        ("expected sine to have the sequence of the input, 4, but got 5"),
    ),
    (
        rotary(cos="tensor<1x4x8xf16>"),
        ("expected cosine to have the batch of the input, 2, but got 1"),
    ),
    (
        rotary(cos=TABLE, sin=TABLE),
        ("expected cosine to be of rank 3 as there is no `position`, but it is of rank 2"),
    ),
    (
        rotary(position=IDS),
        ("expected cosine to be of rank 2 with a `position`, but it is of rank 3"),
    ),
    (
        rotary(cos=TABLE, sin=TABLE, position="tensor<2x5xi32>"),
        ("expected position to have the sequence of the input, 4, but got 5"),
    ),
    (
        rotary(cos=TABLE, sin=TABLE, position="tensor<2xi32>"),
        ("expected position to be of rank 2, but it is of rank 1"),
    ),
    (rotary(cos="tensor<2x4x8xf32>"), "cosine has element type 'f32', but input has 'f16'"),
    (
        line("kv_cache_update", KC, "tensor<2x4x6x16xf16>", "tensor<2xi32>"),
        ("expected update to have as many heads as the cache, 2, but got 4"),
    ),
    (
        line("kv_cache_update", KC, "tensor<2x2x6x8xf16>", "tensor<2xi32>"),
        ("expected update to have heads of the cache's size, 16, but got 8"),
    ),
    (
        line("kv_cache_update", KC, "tensor<2x2x65x16xf16>", "tensor<2xi32>"),
        ("update has a length of 65, and the cache has room for 64"),
    ),
    (
        line("kv_cache_update", KC, "tensor<3x2x6x16xf16>", "tensor<3xi32>"),
        ("update has a batch of 3, and the cache has room for 2"),
    ),
    (
        line("kv_cache_update", KC, K, "tensor<3xi32>"),
        ("expected position to have one number for each of a batch of 2, but got 3"),
    ),
    (
        line(
            "kv_cache_update",
            KC,
            "tensor<20x2x16xf16>",
            "tensor<2xi32>",
            attributes=f"update_form = {FORM}",
        ),
        "a packed update needs `update_lengths`",
    ),
    (
        line("kv_cache_update", KC, K, "tensor<2xi64>"),
        ("operand #2 must be 1D tensor of 32-bit signless integer values, but got 'tensor<2xi64>'"),
    ),
    (
        line("grid_sample", IMAGE, "tensor<1x4x5x3xf32>", result="tensor<1x3x4x5xf32>"),
        "expected grid to have a last size of 2, but got 3",
    ),
    (
        line("grid_sample", IMAGE, "tensor<2x4x5x2xf32>", result="tensor<1x3x4x5xf32>"),
        ("expected grid to have the batch of the input, 1, but got 2"),
    ),
    (
        line("grid_sample", IMAGE, "tensor<1x4x2xf32>", result="tensor<1x3x4xf32>"),
        ("expected grid to be of rank 4 like input, but it is of rank 3"),
    ),
    (
        line("grid_sample", "tensor<1x3x8xf32>", "tensor<1x4x1xf32>", result="tensor<1x3x4xf32>"),
        ("expected input to be of rank 4 or 5, but it is of rank 3"),
    ),
    (
        line(
            "grid_sample",
            IMAGE,
            GRID,
            attributes="mode = #tensorrt.slice_mode<kWRAP>",
            result="tensor<1x3x4x5xf32>",
        ),
        ("`mode` is kWRAP, but must be kCLAMP, kFILL or kREFLECT"),
    ),
    (lrn(window=4), "`window` is 4, but must be odd, from 1 to 15"),
    (lrn(window=17), "`window` is 17, but must be odd, from 1 to 15"),
    (lrn(alpha=1e21), "`alpha` is 1e+21, but must be from -1e+20 to 1e+20"),
    (lrn(beta=0.0), "`beta` is 0, but must be from 0.01 to 100000"),
    (lrn(k=0.0), "`k` is 0, but must be from 1e-05 to 1e+10"),
    (lrn(kind="tensor<3x8x9xf32>"), "expected input to be of rank 4 or more, but it is of rank 3"),
    (
        scale("kUNIFORM", "tensor<3xf32>"),
        ("expected shift to have as many weights as kUNIFORM needs, 1, but got 3"),
    ),
    (
        scale("kCHANNEL", "tensor<4xf32>"),
        ("expected shift to have as many weights as kCHANNEL needs, 3, but got 4"),
    ),
    (
        scale("kELEMENTWISE", "tensor<8x9xf32>"),
        ("expected shift to have as many weights as kELEMENTWISE needs, 216, but got 72"),
    ),
    (scale("kCHANNEL", "tensor<3xf32>", axis=4), "`axis` is 4, which is outside of [-4, 4)"),
    (
        scale("kUNIFORM", "tensor<1xf32>", kind="tensor<f32>"),
        ("expected input to be of rank 1 or more, but it is of rank 0"),
    ),
    (nms(boxes="tensor<2x100x3xf32>"), "expected boxes to have a last size of 4, but got 3"),
    (nms(boxes="tensor<100x4xf32>"), "expected boxes to be of rank 3 or 4, but they are of rank 2"),
    (nms(boxes="tensor<2x99x4xf32>"), "boxes and scores must have the same batch and boxes"),
    (
        nms(boxes="tensor<2x100x6x4xf32>"),
        ("boxes and scores must have the same batch, boxes and classes"),
    ),
    (nms(scores="tensor<2x100xf32>"), "expected scores to be of rank 3, but it is of rank 2"),
    (nms(scores="tensor<2x100x5xf16>"), "scores has element type 'f16', but boxes has 'f32'"),
    (
        nms(attributes="top_k_box_limit = 6000 : i64"),
        ("`top_k_box_limit` is 6000, but must be from 0 to 5000"),
    ),
    (
        collective("%0 = trtx.cumulative <kSUM> %a {axis = 4 : i64} : " + Q),
        "`axis` is 4, which is outside of [-4, 4)",
    ),
    (
        line("reverse_sequence", K, "tensor<3xi32>"),
        ("expected lengths to have one number for each of a batch of 2, but got 3"),
    ),
    (
        line("reverse_sequence", K, "tensor<2xi32>", attributes="sequence_axis = 1 : i64"),
        "`batch_axis` and `sequence_axis` are both 1",
    ),
    (
        line("reverse_sequence", K, "tensor<2xi32>", attributes="sequence_axis = -1 : i64"),
        "`sequence_axis` is -1, which is outside of [0, 4)",
    ),
    (
        line("reverse_sequence", "tensor<2xf32>", "tensor<2xi32>"),
        ("expected input to be of rank 2 or more, but it is of rank 1"),
    ),
    (
        moe(chosen="tensor<3x5x2xi32>"),
        ("expected experts to have the batch of the tokens, 2, but got 3"),
    ),
    (
        moe(scores="tensor<2x5x3xf16>"),
        ("expected scores to have the choices of the experts, 2, but got 3"),
    ),
    (moe(tokens="tensor<5x32xf16>"), "expected hidden to be of rank 3, but it is of rank 2"),
    (
        moe(gate="tensor<8x33x64xf16>"),
        ("expected gate_weights to have the hidden size of the tokens, 32, but got 33"),
    ),
    (moe(up="tensor<8x32x65xf16>"), "gate_weights and up_weights must have the same shape"),
    (
        moe(down="tensor<9x64x32xf16>"),
        ("down_weights must have the shape of gate_weights with its last two sizes swapped"),
    ),
    (
        moe(more="up_bias(%h : tensor<8x64xf16>)", h="tensor<8x64xf16>"),
        "the three biases are given together or not at all",
    ),
    (
        moe(
            more=(
                "gate_bias(%h : tensor<8x63xf16>) up_bias(%h :"
                " tensor<8x63xf16>) down_bias(%h : tensor<8x63xf16>)"
            ),
            h="tensor<8x63xf16>",
        ),
        "expected gate_bias to have a number for each output of its layer, 64, but got 63",
    ),
    (
        collective(f"%0 = trtx.all_gather %a {{ranks = 1 : i64}} : {Q} -> {Q}"),
        "`ranks` is 1, but must be 2 or more",
    ),
    (
        collective(f"%0 = trtx.all_to_all %a {{ranks = 0 : i64}} : {Q} -> {Q}"),
        "`ranks` is 0, but must be 1 or more",
    ),
    (
        collective(f"%0 = trtx.collective_broadcast %a {{root = -1 : i64}} : {Q} -> {Q}"),
        "`root` is -1, but ranks count from 0",
    ),
    (
        collective(f"%0 = trtx.all_reduce <kSUM> %a {{groups = array<i64: 1, 1>}} : {Q} -> {Q}"),
        ("`groups` is [1, 1], but must name each rank once, from 0"),
    ),
]


@pytest.mark.parametrize(("made", "expected"), WRONG)
def test_what_is_wrong_is_said(made, expected):
    """In our words."""
    text, types = made
    name = text.split("trtx.")[1].split()[0]
    assert messages(text, **types) == [f"'trtx.{name}' op {expected}"]


def test_parts_are_compared_with_what_is_inferred():
    """Two messages, as MLIR has them."""
    text = f"%0 = trtx.all_gather %a {{ranks = 2 : i64}} : {Q} -> {Q}"
    assert messages(text, a=Q) == [
        (
            f"'trtx.all_gather' op inferred type(s) 'tensor<4x8x4x16xf16>' are"
            f" incompatible with return"
            f" type(s) of operation '{Q}'"
        ),
        "'trtx.all_gather' op failed to infer returned types",
    ]
    odd = "tensor<5x2xf32>"
    text = f"%0 = trtx.reduce_scatter <kSUM> %a {{ranks = 2 : i64}} : {odd} -> {odd}"
    assert messages(text, a=odd) == [
        "the first dimension (5) is not a multiple of the 2 ranks",
        "'trtx.reduce_scatter' op failed to infer returned types",
    ]


MADE = [
    (
        dialect.AttentionOp,
        ["tensor<?x8x?x16xf16>"] + ["tensor<?x2x?x16xf16>"] * 2,
        {},
        ["tensor<?x8x?x16xf16>"],
    ),
    (
        dialect.RotaryEmbeddingOp,
        ["tensor<?x8x?x16xf16>"] + ["tensor<?x?x8xf16>"] * 2,
        {},
        ["tensor<?x8x?x16xf16>"],
    ),
    (dialect.KVCacheUpdateOp, [KC, "tensor<?x2x?x16xf16>", "tensor<?xi32>"], {}, [KC]),
    (
        dialect.GridSampleOp,
        ["tensor<?x3x8x9xf16>", "tensor<2x?x5x2xf16>"],
        {},
        ["tensor<?x3x?x5xf16>"],
    ),
    (dialect.NMSOp, [BOXES, SCORES, ONE], {}, ["tensor<?x3xi32>", "tensor<i32>"]),
    (dialect.CumulativeOp, ["tensor<?xi64>"], {"axis": 0, "kind": "sum"}, ["tensor<?xi64>"]),
    (dialect.ReverseSequenceOp, ["tensor<4x?xi1>", "tensor<?xi64>"], {}, ["tensor<4x?xi1>"]),
    (dialect.AllGatherOp, ["tensor<?x3xi8>"], {"ranks": 4}, ["tensor<?x3xi8>"]),
    (
        dialect.CollectiveScatterOp,
        ["tensor<8x?xf16>"],
        {"ranks": 4, "root": 0},
        ["tensor<2x?xf16>"],
    ),
    (dialect.AllReduceOp, ["tensor<f32>"], {"kind": "kMAX"}, ["tensor<f32>"]),
]


@pytest.mark.parametrize(("kind", "types", "attributes", "expected"), MADE)
def test_types_are_inferred(kind, types, attributes, expected):
    """Sizes that nobody knows stay so."""
    made = kind.make(*values(*types), **attributes)
    assert [str(result.type) for result in made.results] == expected
    assert list(made.problems()) == []


def test_causal_may_be_a_truth():
    """As in TensorRT's older function: the mask is that of the upper left corner."""
    query, key = values(Q, K)
    made = dialect.AttentionOp.make(query, key, key, causal=True)
    assert made.value("causal") == "kUPPER_LEFT"
    assert dialect.AttentionOp.make(query, key, key, causal=False).value("causal") == "kNONE"
    assert dialect.AttentionOp.make(query, key, key).value("normalization") == "kSOFTMAX"


def test_collectives_are_kept():
    """What other devices wait for is never lost."""
    (x,) = values(Q)
    assert not dialect.AllReduceOp.make(x, kind="kSUM").traits.traits
