"""The table of TensorRT's layers, and how calls in snippets are judged against it."""

import ast
import subprocess
import sys

import pytest

from tripybuild.tensorrt import layers as trt
from tripybuild.tensorrt.recorder.argument_kinds import REQUIRED, TESTS, accept
from tripybuild.tensorrt.recorder.enumerations import ENUMERATIONS

# NVIDIA's dialect, without its containers and terminators.
DIALECT = [
    "activation",
    "unary",
    "element_wise",
    "cast",
    "constant",
    "concatenation",
    "convolution",
    "deconvolution",
    "einsum",
    "gather",
    "gather_nd",
    "gather_elements",
    "identity",
    "linspace",
    "random_uniform",
    "random_normal",
    "normalization",
    "pooling",
    "reduce",
    "select",
    "slice",
    "softmax",
    "one_hot",
    "ragged_softmax",
    "assertion",
    "matrix_multiply",
    "top_k",
    "padding",
    "non_zero",
    "if_",
    "while_",
    "for_",
    "shape",
    "parametric_relu",
    "shuffle",
    "quantize",
    "dequantize",
    "dynamic_quantize",
    "transpose",
    "expand_rank",
    "collapse_rank",
    "reshape",
    "broadcast",
    "argmin",
    "argmax",
    "resize_nearest",
    "resize_linear",
    "resize_cubic",
    "opaque_plugin",
    "scatter_nd",
    "scatter_elements",
]

# What TensorRT's network has besides.
NETWORK = [
    "attention",
    "cumulative",
    "grid_sample",
    "kv_cache_update",
    "lrn",
    "moe",
    "nms",
    "reverse_sequence",
    "scale",
    "rotary_embedding",
    "squeeze",
    "unsqueeze",
    "all_reduce",
    "all_gather",
    "reduce_scatter",
    "all_to_all",
    "collective_broadcast",
    "collective_reduce",
    "collective_gather",
    "collective_scatter",
]


def judge(call: str) -> str | None:
    """What `check_call` says about a call written as in a snippet."""
    node = ast.parse(call, mode="eval").body
    starred = any(isinstance(each, ast.Starred) for each in node.args)
    literals = {i: a.value for i, a in enumerate(node.args) if isinstance(a, ast.Constant)}
    literals |= {k.arg: k.value.value for k in node.keywords if isinstance(k.value, ast.Constant)}
    keywords = [keyword.arg for keyword in node.keywords]
    count = None if starred else len(node.args)
    return trt.check_call(node.func.id, count, keywords, literals)


def test_the_table_is_complete():
    """Every layer of both, and nothing else."""
    assert sorted(trt.LAYERS) == sorted([*DIALECT, *NETWORK])


@pytest.mark.parametrize("layer", trt.LAYERS.values(), ids=trt.LAYERS)
def test_an_entry_is_sound(layer):
    """Kinds exist, defaults are of their kind, results come from somewhere, it can be called."""
    for name, kind in layer.parameters.items():
        assert name.isidentifier()
        assert kind.enumeration or kind.name in TESTS
        if kind.default is not REQUIRED:
            assert accept(kind, kind.default) == kind.default
    for source in layer.results:
        assert source in layer.parameters or source in ("int32", "int64")
    assert callable(getattr(trt, layer.name))


@pytest.mark.parametrize(
    "call",
    [
        "softmax(input, axis=dim)",
        "convolution(input, weight, bias, stride=s, dilation=d, num_groups=g, pre_padding=p)",
        "element_wise(*align(lhs, rhs), kind)",
        "element_wise(a, b, 'kSUM')",
        "reduce(input, axes, 'avg', keep_dimensions=True)",
        "slice(input, start, size, step, fill=None, mode='strict')",
        "activation(input, 'kCLIP', alpha=0, beta=6.0)",
        "while_(state, condition, body)",
        "attention(q, k, v, mask=None, causal=True, decomposable=False)",
        "align(*values)",
        "at_least(input, rank=2)",
    ],
)
def test_good_calls_pass(call):
    """As operators are written."""
    assert judge(call) is None


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ("sofmax(x, axis=1)", "there is no layer `trt.sofmax`"),
        ("softmax(x)", "`trt.softmax` needs `axis`"),
        ("softmax(x, dim=1)", "has no parameter `dim`; it takes input, axis"),
        ("softmax(x, 1, 2)", "takes 2 arguments, and 3 are given"),
        ("softmax(x, 1, axis=1)", "has `axis` twice"),
        ("softmax(x, axis='last')", "needs an integer for `axis`, not 'last'"),
        ("softmax(x, True)", "needs an integer for `axis`"),
        ("unary(x, 'kEXPM1')", "needs one of kEXP, kLOG"),
        ("reduce(x, a, 'kSUM', keep_dimensions=1)", "True or False for `keep_dimensions`"),
        ("matrix_multiply(a, b, op0='kTRANSPOSED')", "one of kNONE, kTRANSPOSE, kVECTOR"),
        ("convolution(x, w, stride=2)", "a list of integers for `stride`, not 2"),
        ("at_least(input)", "`trt.at_least` needs `rank`"),
        ("align(a, b, rank=2)", "takes no keywords"),
        ("element_wise(*ab, kinds='kSUM')", "has no parameter `kinds`"),
    ],
)
def test_bad_calls_are_named(call, problem):
    """One sentence with the name of the parameter."""
    assert problem in judge(call)


def test_enumerations_take_plain_words():
    """An operator passes its own attribute on."""
    modes = ENUMERATIONS["slice_mode"]
    assert [modes.resolve(word) for word in ("strict", "reflect", "kFILL", "no", 3)] == [
        "kDEFAULT",
        "kREFLECT",
        "kFILL",
        None,
        None,
    ]


def test_importing_the_vocabulary_loads_nothing_heavy():
    """`gen` has half a second."""
    code = (
        "import sys; from tripybuild.tensorrt import layers as tensorrt;"
        "assert not {'numpy', 'jaxlib', 'tensorrt', 'xdsl'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
