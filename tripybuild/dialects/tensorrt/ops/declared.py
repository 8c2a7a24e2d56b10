"""Problems that an operation's declaration tells: arity, attributes, operands, results.

Law: the order is that of MLIR's generated code: numbers of operands, results and regions;
attributes by name, all that are missing before any that is wrong; operands; results; regions.
"""

import functools
from collections.abc import Callable, Iterator, Sequence

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    AttrSizedOperandSegments,
    IRDLOperation,
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
from xdsl.utils.exceptions import VerifyException

from tripybuild.dialects.tensorrt.ops.attribute_kinds import BARE
from tripybuild.dialects.tensorrt.ops.kinds import Kind
from tripybuild.dialects.tensorrt.ops.problem import Problem

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
    return BARE.get(constraint, constraint)


def problems(op: IRDLOperation, regions: Callable[[], Iterator[Problem]]) -> Iterator[Problem]:
    """Give what an operation's declaration finds wrong."""
    definition = op.get_irdl_definition()
    yield from _counts(op)
    yield from _attributes(op)
    yield from _types("operand", op, definition.operands)
    yield from _types("result", op, definition.results)
    yield from regions()


def trait_problems(op: Operation) -> Iterator[Problem]:
    """Give what xDSL's traits find wrong: symbols, terminators, isolation."""
    for trait in op.traits:
        try:
            trait.verify(op)
        except VerifyException as error:
            yield Problem(str(error))


def _counts(op: IRDLOperation) -> Iterator[Problem]:
    definition = op.get_irdl_definition()
    yield from _count("regions", definition.regions, len(op.regions))
    yield from _count("results", definition.results, len(op.results))
    if not any(isinstance(option, AttrSizedOperandSegments) for option in definition.options):
        yield from _count("operands", definition.operands, len(op.operands))
        return
    try:
        verify_variadic_size(op, definition, VarIRConstruct.OPERAND)
    except VerifyException as error:
        yield Problem(str(error))


def _count(
    plural: str, declarations: Sequence[tuple[str, object]], found: int
) -> Iterator[Problem]:
    needed = sum(not isinstance(each, VariadicDef) for _, each in declarations)
    suffix = f", but found {found}" if plural == "operands" else ""
    if needed < len(declarations):
        if found < needed:
            yield Problem(f"expected {needed} or more {plural}{suffix}")
    elif found != needed:
        exact = {0: f"requires zero {plural}", 1: f"requires {_SINGULAR[plural]}"}
        yield Problem(exact.get(needed, f"expected {needed} {plural}{suffix}"))


def _attributes(op: IRDLOperation) -> Iterator[Problem]:
    declarations = sorted(op.get_irdl_definition().properties.items())
    for name, declaration in declarations:
        optional = isinstance(declaration, OptPropertyDef) or declaration.default_value is not None
        if name not in op.properties and not optional:
            yield Problem(f"requires attribute '{name}'")
    for name, declaration in declarations:
        allowed, given = kind(declaration.constr), op.properties.get(name)
        if isinstance(allowed, Kind) and given is not None and not allowed.accepts(given):
            yield Problem(f"attribute '{name}' failed to satisfy constraint: {allowed.summary}")


def _types(
    word: str, op: IRDLOperation, declarations: Sequence[tuple[str, OperandDef | ResultDef]]
) -> Iterator[Problem]:
    index = 0
    for name, declaration in declarations:
        allowed = kind(declaration.constr)
        variadic = isinstance(declaration, VariadicDef) and not isinstance(declaration, OptionalDef)
        for given in _types_of(getattr(op, name)):
            if isinstance(allowed, Kind) and not allowed.accepts(given):
                prefix = "variadic of " if variadic else ""
                yield Problem(
                    f"{word} #{index} must be {prefix}{allowed.summary}, but got '{given}'"
                )
            index += 1


def _types_of(values: SSAValue | Sequence[SSAValue] | None) -> list[Attribute]:
    if values is None:
        return []
    return [each.type for each in ([values] if isinstance(values, SSAValue) else values)]
