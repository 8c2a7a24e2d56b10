"""Kinds of tensors and attributes that layers declare, by the names of MLIR's ODS.

Invariant: a kind is data without xDSL; `dialect.types` and `dialect.attribute_kinds` have the
constraint of each under the same name.
"""

from dataclasses import dataclass, replace

from tripybuild.tensorrt.recorder import argument_kinds as arguments
from tripybuild.tensorrt.recorder.argument_kinds import ArgumentKind

# Element types, by the names of their constraints in `dialect.types`.
I1, I4, I8, I32, I64 = "I1", "I4", "I8", "I32", "I64"
PLAIN_I8, UI8 = "PLAIN_I8", "UI8"
F4, F8, F16, BF16, F32 = "F4", "F8", "F16", "BF16", "F32"
FLOATS = (F16, BF16, F32)
USUAL = (I1, I8, I32, I64, *FLOATS)
EVERY = (I1, I4, I8, I32, I64, F8, *FLOATS)
RANKS = tuple(range(9))
NON_SCALAR = RANKS[1:]


@dataclass(frozen=True, slots=True)
class TensorKind:
    """Tensors of these element types and ranks; a named kind is one of `dialect.types`."""

    elements: tuple[str, ...] = ()
    ranks: tuple[int, ...] = RANKS
    name: str = ""


ANY, RANKED, SHAPE = (TensorKind(name=name) for name in ("ANY", "RANKED", "SHAPE"))


@dataclass(frozen=True, slots=True)
class AttributeType:
    """A type of attributes, and the kind of argument that a call of the layer has for it."""

    name: str
    argument: ArgumentKind
    enumeration: str = ""


I32_ATTR = AttributeType("I32", arguments.integer)
I64_ATTR = AttributeType("I64", arguments.integer)
SI64_ATTR = AttributeType("SI64", arguments.integer)
UI32_ATTR = AttributeType("UI32", arguments.integer)
F32_ATTR = AttributeType("F32", arguments.real)
F64_ATTR = AttributeType("F64", arguments.real)
BOOL_ATTR = AttributeType("BOOL", arguments.boolean)
STRING_ATTR = AttributeType("STRING", arguments.text)
AFFINE_MAP = AttributeType("AFFINE_MAP", arguments.integers)
I32_ARRAY = AttributeType("I32_ARRAY", arguments.integers)
I64_ARRAY = AttributeType("I64_ARRAY", arguments.integers)
F32_ARRAY = AttributeType("F32_ARRAY", arguments.reals)
DIMENSIONS = AttributeType("DIMENSIONS", arguments.integers)  # sorted, each once, none negative
ELEMENTS = AttributeType("ELEMENTS", arguments.literal)
CAUSAL_MASK = AttributeType("CAUSAL_MASK", arguments.boolean)
QUANTIZED_TYPE = AttributeType("QUANTIZED_TYPE", arguments.dtype)
WEIGHTS = AttributeType("WEIGHTS", arguments.literal)


def enumeration(name: str) -> AttributeType:
    """Members of an enumeration."""
    return AttributeType("", arguments.one_of(name), name)


def renamed(kind: ArgumentKind, field: str, parameter: str) -> ArgumentKind:
    """The kind of a parameter whose field has another name."""
    return kind if field == parameter else replace(kind, attribute=field)
