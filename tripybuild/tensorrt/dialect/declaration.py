"""Declaration verifier: arity, attributes, operands, results.

Invariant: the order is that of MLIR's generated code: numbers of operands, results and regions;
attributes by name, all that are missing before any that is wrong; operands; results; regions.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    AttrSizedOperandSegments,
    IRDLOperation,
    OpDef,
    OperandDef,
    OptionalDef,
    OptPropertyDef,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
    ResultDef,
    VarConstraint,
    VariadicDef,
)
from xdsl.irdl.operations import VarIRConstruct, verify_variadic_size
from xdsl.traits import OpTrait
from xdsl.utils.exceptions import VerifyException

from tripybuild.tensorrt.dialect.attribute_kinds import AttributeKind
from tripybuild.tensorrt.dialect.types import ConstraintKind
from tripybuild.tensorrt.layers.operation import OpProblem

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
