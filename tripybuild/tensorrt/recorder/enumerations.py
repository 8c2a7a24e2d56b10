"""Enumerations of TensorRT, as spelled in NVIDIA's MLIR dialect.

Invariant: a member may also be written in plain words (`sum` for `kSUM`), so that an operator can
pass its own attribute on; everything stored is in the dialect's spelling.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Enumeration:
    """A closed set of names."""

    name: str
    members: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=dict)
    dialect: str = "tensorrt"

    def resolve(self, word: object) -> str | None:
        """The member that a word means, or None."""
        if not isinstance(word, str):
            return None
        if word in self.members:
            return word
        spelling = self.aliases.get(word, f"k{word.upper()}")
        return spelling if spelling in self.members else None


def _enumeration(name: str, members: str, dialect: str = "tensorrt", **aliases: str) -> Enumeration:
    return Enumeration(name, tuple(f"k{member}" for member in members.split()), aliases, dialect)


_ALL = (
    _enumeration(
        "activation_type",
        "RELU SIGMOID TANH LEAKY_RELU ELU SELU SOFTSIGN SOFTPLUS CLIP HARD_SIGMOID SCALED_TANH"
        " THRESHOLDED_RELU GELU_ERF GELU_TANH",
    ),
    _enumeration(
        "unary_operation",
        "EXP LOG SQRT RECIP ABS NEG SIN COS TAN SINH COSH ASIN ACOS ATAN ASINH ACOSH ATANH CEIL"
        " FLOOR ERF NOT SIGN ROUND ISINF ISNAN",
    ),
    _enumeration(
        "element_wise_operation",
        "SUM PROD MAX MIN SUB DIV POW FLOOR_DIV AND OR XOR EQUAL GREATER LESS",
    ),
    _enumeration("reduce_operation", "SUM PROD MAX MIN AVG"),
    _enumeration("pooling_type", "MAX AVERAGE MAX_AVERAGE_BLEND"),
    _enumeration("matrix_operation", "NONE TRANSPOSE VECTOR"),
    _enumeration("slice_mode", "DEFAULT WRAP CLAMP FILL REFLECT", strict="kDEFAULT"),
    _enumeration("resize_coordinate_transformation", "ALIGN_CORNERS ASYMMETRIC HALF_PIXEL"),
    _enumeration("resize_round_mode", "HALF_UP HALF_DOWN FLOOR CEIL"),
    _enumeration("resize_selector", "FORMULA UPPER"),
    _enumeration("interpolation_mode", "NEAREST LINEAR CUBIC", "trtx"),
    _enumeration("top_k_operation", "MAX MIN"),
    _enumeration("cumulative_operation", "SUM", "trtx"),
    _enumeration("scale_mode", "UNIFORM CHANNEL ELEMENTWISE", "trtx"),
    _enumeration("kv_cache_mode", "LINEAR", "trtx"),
    _enumeration("attention_normalization", "NONE SOFTMAX", "trtx"),
    _enumeration("bounding_box_format", "CORNER_PAIRS CENTER_SIZES", "trtx"),
    # What follows is in no layer's signature.
    _enumeration("causal_mask", "NONE UPPER_LEFT LOWER_RIGHT", "trtx"),
    _enumeration("attention_form", "PADDED_BHND PACKED_NHD", "trtx"),
    _enumeration("expert_activation", "NONE SILU", "trtx"),
    _enumeration("padding_mode", "EXPLICIT_ROUND_DOWN EXPLICIT_ROUND_UP SAME_UPPER SAME_LOWER"),
    _enumeration("gather_mode", "DEFAULT ELEMENT ND"),
    _enumeration("resize_mode", "NEAREST LINEAR CUBIC"),
    _enumeration("loop_output", "LAST_VALUE CONCATENATE REVERSE"),
    _enumeration("trip_limit", "COUNT WHILE"),
    _enumeration("fill_operation", "LINSPACE RANDOM_UNIFORM RANDOM_NORMAL"),
    _enumeration("scatter_mode", "ELEMENT ND"),
)

ENUMERATIONS: Mapping[str, Enumeration] = MappingProxyType({each.name: each for each in _ALL})

# The members whose result is bool, whatever their operands are.
BOOLEAN_KINDS = frozenset({"kEQUAL", "kGREATER", "kLESS", "kISINF", "kISNAN"})
