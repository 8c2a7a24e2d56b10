"""Operation assembly without xDSL's argument resolution.

`TensorrtOperation.make` is called for each layer and each rewrite, with values in the order of
their declaration. Arguments that are not that plain are left to xDSL, which says what is wrong.
"""

import functools
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, TypeVar

from xdsl.dialects.builtin import DenseArrayBase, LocationAttr, NoneType, i32
from xdsl.ir import Attribute, Block, BlockArgument, OpResult, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    OperandDef,
    OptOperandDef,
    VarOperandDef,
)

from tripybuild.tensorrt.mlir.operation_factory import create_operation

Made = TypeVar("Made", bound=IRDLOperation)
_VALUES = (OpResult, BlockArgument)  # exactly: to ask an abstract class is slow


def assemble(
    op_class: type[Made],
    operands: Sequence[Any],
    types: Sequence[Any] | None,
    properties: dict[str, Attribute],
    location: LocationAttr,
) -> Made | None:
    """Make an operation of plain arguments; None where they are not plain.

    Args:
        op_class: The class of the operation.
        operands: One for each that is declared; what is left out at the end is absent.
        types: The types of the results; None lets them be inferred.
        properties: The attributes, without the counts of operands.
        location: Where it comes from.
    """
    if not all(isinstance(each, Attribute) for each in types or ()):
        return None
    flat = _flat(op_class, operands, properties)
    if flat is None:
        return None
    if types is None:
        kinds = tuple([each.type for each in flat])
        types = _infer_types(op_class, kinds, tuple(properties.items()))
    return create_operation(op_class, flat, types, properties, location=location)


def _flat(
    op_class: type[IRDLOperation], operands: Sequence[Any], properties: dict[str, Attribute]
) -> list[SSAValue] | None:
    """The operands one after the other; how many each is of is put among the properties."""
    kinds, segmented = _plan(op_class)
    if kinds is None or len(operands) > len(kinds):
        return None
    flat: list[SSAValue] = []
    counts: list[int] = []
    for kind, given in zip_longest(kinds, operands):
        values = _values(kind, given)
        if values is None:
            return None
        flat += values
        counts.append(len(values))
    if segmented:
        properties["operandSegmentSizes"] = _segments(tuple(counts))
    return flat


@functools.lru_cache(4096)
def _infer_types(
    op_class: type[Any],
    operands: tuple[Attribute, ...],
    properties: tuple[tuple[str, Attribute], ...],
) -> list[Attribute]:
    """The types of an operation's results, which follow from its operands' and its attributes.

    A model has the same few layers again and again. TypeError where nothing can be inferred.
    """
    unknown = [NoneType()] * len(op_class.get_irdl_definition().results)
    draft = create_operation(op_class, Block(arg_types=operands).args, unknown, dict(properties))
    inferred: list[Attribute] | None = draft.infer_types()
    if inferred is None:
        raise TypeError(f"the result types of {op_class.name} cannot be inferred: give them")
    return inferred


def _values(kind: type[OperandDef], given: Any) -> Sequence[SSAValue] | None:
    if type(given) in _VALUES:
        return None if kind is VarOperandDef else (given,)
    if given is None:
        return () if kind is OptOperandDef else None
    if kind is VarOperandDef and isinstance(given, list | tuple):
        return given if all(type(each) in _VALUES for each in given) else None
    return None


@functools.cache
def _plan(op_class: type[IRDLOperation]) -> tuple[tuple[type[OperandDef], ...] | None, bool]:
    """The kinds of a class's operands (None if it has regions), and whether it counts them."""
    definition = op_class.get_irdl_definition()
    segmented = any(isinstance(each, AttrSizedOperandSegments) for each in definition.options)
    plain = not (definition.regions or definition.successors)
    kinds = tuple(type(declared) for _, declared in definition.operands)
    return (kinds if plain else None), segmented


@functools.lru_cache(256)
def _segments(counts: tuple[int, ...]) -> Attribute:
    return DenseArrayBase.from_list(i32, counts)
