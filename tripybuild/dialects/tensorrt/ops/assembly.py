"""Operations put together without xDSL's search for what each argument could mean.

`TensorrtOperation.make` is called for each layer and each rewrite, with values in the order of
their declaration. Arguments that are not that plain are left to xDSL, which says what is wrong.
"""

import functools
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, TypeVar

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Attribute, BlockArgument, OpResult, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    OperandDef,
    OptOperandDef,
    VarOperandDef,
)

Made = TypeVar("Made", bound=IRDLOperation)
_VALUES = (OpResult, BlockArgument)  # exactly: to ask an abstract class is slow


def assembled(
    op_class: type[Made],
    operands: Sequence[Any],
    types: Sequence[Any],
    properties: dict[str, Attribute],
) -> Made | None:
    """Make an operation of plain arguments; None where they are not plain."""
    kinds, segmented = _plan(op_class)
    if kinds is None or len(operands) > len(kinds):
        return None
    if not all(isinstance(each, Attribute) for each in types):
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
        properties = {**properties, "operandSegmentSizes": _segments(tuple(counts))}
    return op_class.create(operands=flat, result_types=types, properties=properties)


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
