"""Operation factory: construction without validation of parts known to fit.

Invariant: what is created is what xDSL's `create` gives. That one looks at the whole declaration of
a class for each operation; here it is read once.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeVar

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Attribute, OpResult, Region, SSAValue, Use
from xdsl.ir.core import SSAValues
from xdsl.irdl import IRDLOperation, OptionalDef

Made = TypeVar("Made", bound=IRDLOperation)


def create_operation(
    op_class: type[Made],
    operands: Sequence[SSAValue],
    types: Sequence[Attribute],
    properties: Mapping[str, Attribute],
    *,
    attributes: Mapping[str, Attribute] | None = None,
    regions: Sequence[Region] = (),
    location: LocationAttr = UNKNOWN_LOC,
) -> Made:
    """Make an operation; nothing of it is checked."""
    op = op_class.__new__(op_class)
    uses = tuple([Use(op, index) for index in range(len(operands))])
    for value, use in zip(operands, uses, strict=True):
        value.add_use(use)
    op._operands, op._operand_uses = SSAValues(operands), uses  # noqa: SLF001  # the setter is slow
    op._successors = op._successor_uses = ()  # noqa: SLF001
    op.results = SSAValues([OpResult(type, op, index) for index, type in enumerate(types)])
    op.properties = _with_defaults(properties, _defaults(op_class)[0])
    op.attributes = _with_defaults(attributes or {}, _defaults(op_class)[1])
    op.location = location
    op.regions = ()
    for region in regions:
        op.add_region(region)
    return op


def _with_defaults(
    given: Mapping[str, Attribute], defaults: Mapping[str, Attribute]
) -> dict[str, Attribute]:
    completed = dict(given)
    for name, default in defaults.items():
        completed.setdefault(name, default)
    return completed


@cache
def _defaults(
    op_class: type[IRDLOperation],
) -> tuple[Mapping[str, Attribute], Mapping[str, Attribute]]:
    """Default properties and attributes of a class."""
    definition = op_class.get_irdl_definition()
    properties, attributes = (
        {
            name: each.default_value
            for name, each in declared.items()
            if each.default_value is not None and not isinstance(each, OptionalDef)
        }
        for declared in (definition.properties, definition.attributes)
    )
    return properties, attributes
