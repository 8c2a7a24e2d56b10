"""Enumerations of the `trtx` dialect that NVIDIA's dialect lacks."""

from typing import Any

from typing_extensions import override
from xdsl.irdl import irdl_attr_definition

from tripybuild.tensorrt.dialect.attribute_kinds import AttributeKind
from tripybuild.tensorrt.dialect.attributes import EnumerationAttribute
from tripybuild.tensorrt.recorder.enumerations import ENUMERATIONS, Enumeration

DIALECT = "trtx"

_RECORDED = (
    "attention_normalization",
    "bounding_box_format",
    "cumulative_operation",
    "interpolation_mode",
    "kv_cache_mode",
    "scale_mode",
)
_OWN = (
    Enumeration("causal_mask", ("kNONE", "kUPPER_LEFT", "kLOWER_RIGHT")),
    Enumeration("attention_form", ("kPADDED_BHND", "kPACKED_NHD")),
    Enumeration("expert_activation", ("kNONE", "kSILU")),
)


class TrtxEnumerationAttribute(EnumerationAttribute):
    """A member of an enumeration of ours."""

    @classmethod
    @override
    def expectation(cls) -> str:
        return f"{cls.name} to be one of: " + ", ".join(cls.enumeration.members)


def _attribute(enumeration: Enumeration) -> type[TrtxEnumerationAttribute]:
    class_name = "".join(word.capitalize() for word in enumeration.name.split("_"))
    body: dict[str, object] = {
        "__doc__": f"A member of `{enumeration.name}`.",
        "__module__": __name__,
        "name": f"{DIALECT}.{enumeration.name}",
        "enumeration": enumeration,
        "class_name": class_name,
    }
    return irdl_attr_definition(type(f"{class_name}Attr", (TrtxEnumerationAttribute,), body))


_CLASSES = {
    each.name: _attribute(each) for each in (*(ENUMERATIONS[name] for name in _RECORDED), *_OWN)
}
ATTRIBUTES: tuple[type[Any], ...] = tuple(_CLASSES.values())


def enumeration(mnemonic: str) -> AttributeKind:
    """Members of an enumeration of ours."""
    base = _CLASSES[mnemonic]

    def make(word: object) -> TrtxEnumerationAttribute:
        member = base.enumeration.resolve(word)
        if member is None:
            raise ValueError(f"expected {base.expectation()}")
        return base(member)

    return AttributeKind("", lambda given: isinstance(given, base), base, make, _member)


def causal_mask() -> AttributeKind:
    """Which keys a query does not see; True is TensorRT's older name for the upper left mask."""
    named = enumeration("causal_mask")
    older = {False: "kNONE", True: "kUPPER_LEFT"}

    def make(value: object) -> Any:
        return named.make(older[value] if isinstance(value, bool) else value)

    return AttributeKind("", named.accepts, named.base, make, named.read)


# How queries, keys and values are laid out, and how many dimensions they have then.
PADDED, PACKED = "kPADDED_BHND", "kPACKED_NHD"
RANKS = {PADDED: 4, PACKED: 3}


def form() -> AttributeKind:
    """How a tensor is laid out: a batch of sequences of one length, or one after the other."""
    return enumeration("attention_form")


def _member(attribute: Any) -> Any:
    return attribute.data
