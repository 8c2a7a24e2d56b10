"""Operations of xDSL from the bodies of layers.

Invariant: an operation without `Pure` or `RecursiveMemoryEffect` is kept even without uses, and
never merged with another.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.irdl import (
    VarConstraint,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import ConstantLike, OpTrait, Pure

from tripybuild.tensorrt.dialect import attribute_kinds, types as type_kinds
from tripybuild.tensorrt.dialect.base import SEGMENTED, TensorrtOperation, operation
from tripybuild.tensorrt.dialect.directives import (
    OptionalF64,
    StaticIndexI32Array,
    StaticIndexI64Array,
)
from tripybuild.tensorrt.layers import LAYERS
from tripybuild.tensorrt.layers.checks import PARTIALLY_INFERRED
from tripybuild.tensorrt.layers.kinds import AttributeType
from tripybuild.tensorrt.layers.operation import (
    INS,
    OperationBody,
    OperationField,
)


@dataclass(frozen=True)
class ElementwiseMappable(OpTrait):
    """Each element of the result is a function of the elements at the same place."""


_TRAITS: Mapping[str, OpTrait] = {
    "Pure": Pure(),
    "ConstantLike": ConstantLike(),
    "ElementwiseMappable": ElementwiseMappable(),
}
_DIRECTIVES = (OptionalF64, StaticIndexI32Array, StaticIndexI64Array)
_TYPED_RESULTS = ("type($result)", "type(results)", "functional-type")


def define(body: type[Any]) -> type[TensorrtOperation]:
    """Make the operation of xDSL that the body of a layer declares."""
    declared = OperationBody(body)
    members = {n: each for n, each in declared.members.items() if n not in _DROPPED}
    format_ = members.setdefault("assembly_format", INS)
    same_type = _of_same_type(declared, format_)
    for name, field in declared.fields.items():
        if field.role == "argument":
            del members[name]
        else:
            members[name] = _definition(field, same_type=name in same_type)
    several = [each for each in declared.fields.values() if each.role == "operand"]
    if sum(each.optional or each.variadic for each in several) > 1:
        members["irdl_options"] = SEGMENTED
    directives = tuple(each for each in _DIRECTIVES if f"custom<{each.__name__}>" in format_)
    if directives:
        members["custom_directives"] = directives
    traits = [_TRAITS[each] for each in members.get("TRAITS", TensorrtOperation.TRAITS)]
    if traits:
        members["traits"] = traits_def(*traits)
    has_rule = declared.rule_parameters or "components" in members
    if has_rule and not members.setdefault("INFERRED", declared.is_inferred):
        members["CHECKS"] = (*members.get("CHECKS", ()), PARTIALLY_INFERRED)
    members["BODY"] = declared
    constants = {name: ClassVar[Any] for name in members if name.isupper()}
    members["__annotations__"] = constants
    return operation(type(body.__name__, (TensorrtOperation,), members))


_DROPPED = frozenset({"__dict__", "__weakref__", "__annotations__", "__init_subclass__"})


def _of_same_type(declared: OperationBody, format_: str) -> frozenset[str]:
    """The result whose type the text leaves out, and the operand that says it."""
    (first, *_) = [name for name, each in declared.fields.items() if each.role == "output"] or [""]
    if not first or any(word in format_ for word in _TYPED_RESULTS):
        return frozenset()
    if f"type(${first})" in format_:
        return frozenset()
    like = declared.fields[first].like
    return frozenset({first, declared.field_names.get(like, like)})


def _definition(field: OperationField, *, same_type: bool) -> Any:
    if isinstance(field.kind, AttributeType):
        kind = attribute_kinds.kind_of(field.kind)
        default = None if field.default is None else kind.attribute(field.default)
        if field.optional:
            return opt_prop_def(kind, prop_name=field.mlir or None)
        return prop_def(kind, default_value=default, prop_name=field.mlir or None)
    assert field.kind is not None
    found = type_kinds.kind_of(field.kind)
    constraint = VarConstraint("T", found) if same_type else found
    if field.role == "output":
        return result_def(constraint)
    if field.variadic:
        return var_operand_def(constraint)
    return (opt_operand_def if field.optional else operand_def)(constraint)


def define_operations() -> dict[str, type[TensorrtOperation]]:
    """The operations of all layers, by the names of their classes."""
    bodies = [body for layer in LAYERS.values() for body in layer.classes]
    return {body.__name__: define(body) for body in dict.fromkeys(bodies)}
