"""Declarations of operations, read once for each class: verification and construction.

Invariant: the order is that of MLIR's generated code: numbers of operands, results and regions;
attributes by name, all that are missing before any that is wrong; operands; results; regions.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeVar

from xdsl.dialects.builtin import DenseArrayBase, LocationAttr, NoneType, i32
from xdsl.ir import Attribute, Block, BlockArgument, OpResult, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    AttrSizedOperandSegments,
    IRDLOperation,
    OpDef,
    OperandDef,
    OptionalDef,
    OptOperandDef,
    OptPropertyDef,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
    ResultDef,
    VarConstraint,
    VariadicDef,
    VarOperandDef,
)
from xdsl.irdl.operations import VarIRConstruct, verify_variadic_size
from xdsl.traits import OpTrait
from xdsl.utils.exceptions import VerifyException

from tripybuild.tensorrt.dialect.attribute_kinds import AttributeKind
from tripybuild.tensorrt.dialect.types import ConstraintKind
from tripybuild.tensorrt.layers.operation import OpProblem
from tripybuild.tensorrt.mlir.operation_factory import create_operation

_SINGULAR = {"operands": "a single operand", "results": "one result", "regions": "one region"}


@functools.cache
def kind(constraint: AttrConstraint | RangeConstraint) -> AttrConstraint:
    """Give the kind in a declaration's constraint, past variables and ranges."""
    match constraint:
        case RangeOf(inner):
            return kind(inner)
        case RangeLengthConstraint(inner) | VarConstraint(_, inner):
            return kind(inner)
    assert isinstance(constraint, AttrConstraint)
    return constraint


@dataclass(frozen=True, slots=True)
class DeclaredValue:
    """A declared operand or result."""

    name: str
    kind: ConstraintKind | None
    single: bool
    prefix: str


@dataclass(frozen=True, slots=True)
class OpDeclaration:
    """What the class of an operation declares, as it is checked: read once for each class."""

    attributes: tuple[tuple[str, ConstraintKind | None, bool], ...]
    operands: tuple[DeclaredValue, ...]
    results: tuple[DeclaredValue, ...]
    regions: tuple[bool, ...]
    segmented: bool
    traits: tuple[OpTrait, ...]
    readers: dict[str, tuple[str, AttributeKind, Attribute | None]]


@functools.cache
def declaration(cls: type[IRDLOperation]) -> OpDeclaration:
    """Read what a class declares."""
    definition = cls.get_irdl_definition()
    attributes = (
        (
            name,
            _kind(each.constr),
            not isinstance(each, OptPropertyDef) and each.default_value is None,
        )
        for name, each in sorted(definition.properties.items())
    )
    return OpDeclaration(
        tuple(attributes),
        tuple(_slot(name, each) for name, each in definition.operands),
        tuple(_slot(name, each) for name, each in definition.results),
        tuple(not isinstance(each, VariadicDef) for _, each in definition.regions),
        any(isinstance(option, AttrSizedOperandSegments) for option in definition.options),
        tuple(t for t in definition.traits if type(t).verify is not OpTrait.verify),
        dict(_readers(definition)),
    )


def _readers(definition: OpDef) -> Iterator[tuple[str, tuple[str, AttributeKind, Any]]]:
    """By Python's name, what reads and makes each attribute, and what it is where it is absent."""
    for name, (prop_name, _) in definition.accessor_names.items():
        each = definition.properties[prop_name]
        found = kind(each.constr)
        if isinstance(found, AttributeKind):
            yield name, (prop_name, found, each.default_value)


def _kind(constraint: AttrConstraint | RangeConstraint) -> ConstraintKind | None:
    found = kind(constraint)
    return found if isinstance(found, ConstraintKind) else None


def _slot(name: str, declared: OperandDef | ResultDef) -> DeclaredValue:
    single = not isinstance(declared, VariadicDef)
    prefix = "" if single or isinstance(declared, OptionalDef) else "variadic of "
    return DeclaredValue(name, _kind(declared.constr), single, prefix)


def problems(op: IRDLOperation, regions: Callable[[], Iterator[OpProblem]]) -> Iterator[OpProblem]:
    """Give what an operation's declaration finds wrong."""
    declared = declaration(type(op))
    yield from _counts(op, declared)
    yield from _attributes(op, declared)
    yield from _types("operand", op, declared)
    yield from _types("result", op, declared)
    yield from regions()


def trait_problems(op: IRDLOperation) -> Iterator[OpProblem]:
    """Give what xDSL's traits find wrong: symbols, terminators, isolation."""
    for trait in declaration(type(op)).traits:
        try:
            trait.verify(op)
        except VerifyException as error:
            yield OpProblem(str(error))


def _counts(op: IRDLOperation, declared: OpDeclaration) -> Iterator[OpProblem]:
    yield from _count("regions", declared.regions, len(op.regions))
    yield from _count("results", [slot.single for slot in declared.results], len(op.results))
    if not declared.segmented:
        yield from _count("operands", [slot.single for slot in declared.operands], len(op.operands))
        return
    try:
        verify_variadic_size(op, op.get_irdl_definition(), VarIRConstruct.OPERAND)
    except VerifyException as error:
        yield OpProblem(str(error))


def _count(plural: str, singles: Sequence[bool], found: int) -> Iterator[OpProblem]:
    needed = sum(singles)
    if found == needed or (found > needed and needed < len(singles)):
        return
    suffix = f", but found {found}" if plural == "operands" else ""
    if needed < len(singles):
        yield OpProblem(f"expected {needed} or more {plural}{suffix}")
    else:
        exact = {0: f"requires zero {plural}", 1: f"requires {_SINGULAR[plural]}"}
        yield OpProblem(exact.get(needed, f"expected {needed} {plural}{suffix}"))


def _attributes(op: IRDLOperation, declared: OpDeclaration) -> Iterator[OpProblem]:
    given = op.properties
    for name, _, required in declared.attributes:
        if required and name not in given:
            yield OpProblem(f"requires attribute '{name}'")
    for name, allowed, _ in declared.attributes:
        if allowed is not None and name in given and not allowed.accepts(given[name]):
            yield OpProblem(f"attribute '{name}' failed to satisfy constraint: {allowed.summary}")


def _types(word: str, op: IRDLOperation, declared: OpDeclaration) -> Iterator[OpProblem]:
    slots = declared.operands if word == "operand" else declared.results
    for index, (slot, given) in enumerate(_values(op, slots)):
        if slot.kind is not None and not slot.kind.accepts(given.type):
            summary = f"{slot.prefix}{slot.kind.summary}"
            yield OpProblem(f"{word} #{index} must be {summary}, but got '{given.type}'")


def _values(
    op: IRDLOperation, slots: Sequence[DeclaredValue]
) -> Iterator[tuple[DeclaredValue, SSAValue]]:
    for slot in slots:
        values: Any = getattr(op, slot.name)
        if slot.single or isinstance(values, SSAValue):
            yield slot, values
        elif values is not None:
            yield from ((slot, each) for each in values)


Made = TypeVar("Made", bound=IRDLOperation)
_VALUES = (OpResult, BlockArgument)  # exactly: to ask an abstract class is slow


def assemble(
    op_class: type[Made],
    operands: Sequence[Any],
    types: Sequence[Any] | None,
    properties: dict[str, Attribute],
    location: LocationAttr,
) -> Made | None:
    """Make an operation of plain arguments; None where they are not plain, which xDSL explains.

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
        values = _operand_values(kind, given)
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


def _operand_values(kind: type[OperandDef], given: Any) -> Sequence[SSAValue] | None:
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
