"""Attribute kinds: their MLIR spelling and their Python values.

Invariant: `kind.attribute(value)` and `kind.value(attribute)` are inverses; a value that is an
attribute already is kept as it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

from typing_extensions import override
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DictionaryAttr,
    Float8E4M3FNType,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    f32,
    f64,
    i1,
)
from xdsl.ir import Attribute, TypedAttribute
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.irdl import (
    VerificationContext,
)

from tripybuild.tensorrt.dialect.attributes import ENUMERATION_ATTRIBUTES, EnumerationAttribute
from tripybuild.tensorrt.dialect.types import ConstraintKind
from tripybuild.tensorrt.layers.kinds import AttributeType


@dataclass(frozen=True)
class AttributeKind(ConstraintKind):
    """A set of attributes that stand for Python values."""

    base: type[Attribute] | None
    make: Callable[[Any], Attribute]
    read: Callable[[Any], Any]

    def attribute(self, value: object) -> Attribute:
        """Give the attribute that stands for a value."""
        return value if isinstance(value, Attribute) else self.make(value)

    def value(self, attribute: Attribute) -> Any:
        """Give the value that an attribute stands for."""
        return self.read(attribute)

    @override
    def get_bases(self) -> set[type[Attribute]] | None:
        return None if self.base is None else {self.base}


def _itself(attribute: Any) -> Any:
    return attribute


def _plain(
    summary: str,
    base: type[Attribute],
    make: Callable[[Any], Attribute],
    read: Callable[[Any], Any],
) -> AttributeKind:
    return AttributeKind(summary, lambda given: isinstance(given, base), base, make, read)


def _integer(width: int, signedness: Signedness = Signedness.SIGNLESS) -> AttributeKind:
    kind = IntegerType(width, signedness)
    return AttributeKind(
        f"{width}-bit {signedness.name.lower()} integer attribute",
        lambda given: isinstance(given, IntegerAttr) and given.type == kind,
        IntegerAttr,
        lru_cache(4096, typed=True)(lambda value: IntegerAttr(value, kind)),
        lambda given: given.value.data,
    )


def _float(kind: Any, width: int) -> AttributeKind:
    return AttributeKind(
        f"{width}-bit float attribute",
        lambda given: isinstance(given, FloatAttr) and given.type == kind,
        FloatAttr,
        lambda value: FloatAttr(float(value), kind),
        lambda given: given.value.data,
    )


def _array(name: str, element: Any) -> AttributeKind:
    return AttributeKind(
        f"{name} dense array attribute",
        lambda given: isinstance(given, DenseArrayBase) and given.elt_type == element,
        DenseArrayBase,
        lambda values: _dense(element, tuple(values)),
        _numbers,
    )


def _dense(element: Any, values: tuple[Any, ...]) -> Attribute:
    """Give an array; those of integers are the same few again and again."""
    if element == f32:  # -0.0 equals 0.0, and is another attribute
        return DenseArrayBase.from_list(element, values)
    return _integers(element, values)


@lru_cache(4096)
def _numbers(given: DenseArrayBase[Any]) -> tuple[Any, ...]:
    return given.get_values()


@lru_cache(4096)
def _integers(element: Any, values: tuple[int, ...]) -> Attribute:
    return DenseArrayBase.from_list(element, values)


I32 = _integer(32)
I64 = _integer(64)
SI64 = _integer(64, Signedness.SIGNED)
UI32 = _integer(32, Signedness.UNSIGNED)
F32 = _float(f32, 32)
F64 = _float(f64, 64)
_TRUTHS = (BoolAttr.from_bool(False), BoolAttr.from_bool(True))
BOOL = AttributeKind(
    "bool attribute",
    lambda given: isinstance(given, IntegerAttr) and given.type == i1,
    IntegerAttr,
    lambda value: _TRUTHS[bool(value)],
    lambda given: bool(given.value.data),
)
I32_ARRAY = _array("i32", IntegerType(32))
I64_ARRAY = _array("i64", IntegerType(64))
F32_ARRAY = _array("f32", f32)
STRING = _plain("string attribute", StringAttr, StringAttr, lambda given: given.data)
DICTIONARY = _plain(
    "dictionary of named attribute values", DictionaryAttr, DictionaryAttr, lambda given: given.data
)
DICTIONARY_ARRAY = AttributeKind(
    "Array of dictionary attributes",
    lambda given: (
        isinstance(given, ArrayAttr) and all(isinstance(each, DictionaryAttr) for each in given)
    ),
    ArrayAttr,
    lambda values: ArrayAttr(map(DICTIONARY.attribute, values)),
    lambda given: tuple(each.data for each in given),
)
SYMBOL = _plain(
    "symbol reference attribute", SymbolRefAttr, SymbolRefAttr, lambda given: given.string_value()
)


def permutation(order: Sequence[int]) -> AffineMap:
    """Give the map that puts the dimensions into an order: `(d0, d1) -> (d1, d0)` for 1, 0."""
    return AffineMap(len(order), 0, tuple(AffineDimExpr(axis) for axis in order))


@lru_cache(4096)
def _map(value: AffineMap | tuple[int, ...]) -> AffineMapAttr:
    return AffineMapAttr(value if isinstance(value, AffineMap) else permutation(value))


AFFINE_MAP = _plain(
    "AffineMap attribute",
    AffineMapAttr,
    lambda value: _map(value if isinstance(value, AffineMap) else tuple(value)),
    lambda given: given.data,
)


def _is_elements(given: Attribute) -> bool:
    return isinstance(given, TypedAttribute) and isinstance(given.get_type(), TensorType)


@dataclass(frozen=True)
class WeightsKind(AttributeKind):
    """Elements whose type, the variable `T`, is that of the result, which a format leaves out."""

    @override
    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if isinstance(attr, TypedAttribute):
            constraint_context.set_attr_variable("T", attr.get_type())

    @override
    def variables(self) -> set[str]:
        return {"T"}


ELEMENTS = AttributeKind("constant vector/tensor attribute", _is_elements, None, _itself, _itself)
WEIGHTS = WeightsKind(ELEMENTS.summary, _is_elements, None, _itself, _itself)


def _is_strictly_monotonic(values: Sequence[int]) -> bool:
    return all(low < high for low, high in pairwise(values))


# The dimensions of an operation: sorted, each once, none negative.
DIMENSIONS = AttributeKind(
    f"{I64_ARRAY.summary} should be in increasing order whose value is non-negative",
    lambda given: (
        I64_ARRAY.accepts(given)
        and _is_strictly_monotonic(I64_ARRAY.value(given))
        and all(axis >= 0 for axis in I64_ARRAY.value(given))
    ),
    DenseArrayBase,
    I64_ARRAY.make,
    I64_ARRAY.read,
)


@cache
def enumeration(mnemonic: str) -> AttributeKind:
    """Members of an enumeration; MLIR has no summary for them."""
    base = ENUMERATION_ATTRIBUTES[mnemonic]

    @lru_cache
    def make(word: object) -> EnumerationAttribute:
        member = base.enumeration.resolve(word)
        if member is None:
            raise ValueError(f"expected {base.expectation()}")
        return base(member)

    return _plain("", base, make, lambda given: given.data)


def _causal_mask() -> AttributeKind:
    """Which keys a query does not see; True is TensorRT's older name for the upper left mask."""
    named = enumeration("causal_mask")
    older = {False: "kNONE", True: "kUPPER_LEFT"}

    def make(value: object) -> Attribute:
        return named.make(older[value] if isinstance(value, bool) else value)

    return replace(named, make=make)


CAUSAL_MASK = _causal_mask()
QUANTIZED_TYPE = AttributeKind(
    "type attribute of f8E4M3FN or i8",
    lambda given: given in (Float8E4M3FNType(), IntegerType(8)),
    None,
    _itself,
    _itself,
)


def kind_of(declared: AttributeType) -> AttributeKind:
    """The kind of an attribute that a layer declares."""
    if declared.enumeration:
        return enumeration(declared.enumeration)
    return globals()[declared.name]  # type: ignore[no-any-return]
