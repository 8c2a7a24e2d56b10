"""Vocabulary names for each kind of snippet; their meaning is defined where they run.

A third party's registry is data too, so every table here is closed. `reference.vocabulary`
implements exactly these names; a test compares them.
"""

from tripybuild.language.vocabulary import PYTHON
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.shapes import SHAPE_FUNCTIONS

CONSTANTS = frozenset({"inf", "nan", "pi"})
DTYPES = frozenset(BY_NAME)
SHAPE = frozenset(PYTHON.functions) | frozenset(SHAPE_FUNCTIONS) | CONSTANTS

# Arguments of NumPy's functions that references cannot give: they write into arrays that are there.
WRITING = frozenset({"out", "where"})
# Nor such as choose what elements are: a reference has numbers, and `convert` gives them a dtype.
TYPING = frozenset({"casting", "dtype", "like", "order", "signature", "subok"})

# The named helpers of the references, each with a test of its own, below the module that has them.
HELPERS = {
    "arrays": frozenset(
        [
            "cumulative_reduce",
            "convert",
            "erf",
            "highest",
            "in_range",
            "index_grid",
            "lowest",
            "pick",
            "round_to",
            "scatter_along",
            "scatter_nd",
            "sliding_windows",
            "spread_scale",
            "dilate_pad",
            "strided_slice",
            "unfold",
            "write_rows",
        ]
    ),
    "control": frozenset({"run_scan", "run_while"}),
    "draws": frozenset({"draw_normal", "draw_uniform"}),
    "sampling": frozenset({"sample_grid", "interpolate", "nearest", "resize_coordinates"}),
}
REFERENCE = frozenset().union(*HELPERS.values())

# The methods that an array has in `reference`. Elsewhere values have none: operators are functions.
ARRAY_METHODS = frozenset({"reshape"})
ARRAY_ATTRIBUTES = frozenset({"shape", "ndim", "size", "T", "dtype"})

# The attributes of values, for each kind of snippet: plain data of dtypes, tensors and indices.
DTYPE_ATTRIBUTES = frozenset({"bits", "highest", "lowest", "wide"})
INDEX_ATTRIBUTES = frozenset({"result", "size", "start", "step"})
TENSOR_ATTRIBUTES = frozenset({"dtype", "rank", "shape"})
ATTRIBUTES = {
    "default": DTYPE_ATTRIBUTES,
    "shape": DTYPE_ATTRIBUTES | INDEX_ATTRIBUTES,
    "alias": DTYPE_ATTRIBUTES | INDEX_ATTRIBUTES | TENSOR_ATTRIBUTES,
    "decompose": DTYPE_ATTRIBUTES | INDEX_ATTRIBUTES | TENSOR_ATTRIBUTES,
    "reference": DTYPE_ATTRIBUTES | INDEX_ATTRIBUTES | ARRAY_ATTRIBUTES,
    "tensorrt": DTYPE_ATTRIBUTES | INDEX_ATTRIBUTES | TENSOR_ATTRIBUTES,
    "stablehlo": DTYPE_ATTRIBUTES | INDEX_ATTRIBUTES | TENSOR_ATTRIBUTES,
    "onnx": DTYPE_ATTRIBUTES | INDEX_ATTRIBUTES | TENSOR_ATTRIBUTES,
}
METHODS = {"reference": ARRAY_METHODS}

# The functions of `decompose` beside the operators.
DECOMPOSE = frozenset({"tensor", "dtype_of"})
# Those of compositions of another system's operators: what makes an index, and data that is known.
INDEX = frozenset({"at", "is_known", "known", "reduced_dims", "sizes_of", "span"})
# And those for graphs inside of a call, which a snippet calls as it does a function.
LOOPS = frozenset({"counted", "each_turn", "fold", "goes_on", "mapped", "result_count", "unrolled"})

ALIASES = {"tensorrt": "trt", "stablehlo": "hlo", "onnx": "onnx"}
NAMESPACES = {"reference": "np"} | ALIASES
