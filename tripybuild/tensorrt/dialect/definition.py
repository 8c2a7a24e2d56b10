"""Operations of xDSL from the bodies of layers, and what their text has beside keywords.

Invariant: an operation without `Pure` or `RecursiveMemoryEffect` is kept even without uses, and
never merged with another.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerType, f64
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, OpTrait, Pure

from tripybuild.tensorrt.dialect import attribute_kinds, types as type_kinds
from tripybuild.tensorrt.dialect.base import SEGMENTED, TensorrtOperation, operation
from tripybuild.tensorrt.layers import LAYERS
from tripybuild.tensorrt.layers.checks import PARTIALLY_INFERRED
from tripybuild.tensorrt.layers.kinds import AttributeType
from tripybuild.tensorrt.layers.operation import (
    INS,
    OperationBody,
    OperationField,
)


class _IntegerList(CustomDirective):
    """`1, 2, 3`, without the keywords of an array attribute; it may be empty."""

    values: AttributeVariable

    def _parse(self, parser: Parser, state: ParsingState, width: int) -> None:
        numbers: list[int] = []
        first = parser.parse_optional_integer(allow_boolean=False)
        if first is not None:
            numbers.append(first)
            while parser.parse_optional_punctuation(","):
                numbers.append(parser.parse_integer(allow_boolean=False))
        self.values.set(state, DenseArrayBase.from_list(IntegerType(width), numbers))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Print the integers."""
        given = self.values.get(op)
        if not isinstance(given, DenseArrayBase):
            return
        state.print_whitespace(printer)
        printer.print_string(", ".join(map(str, given.get_values())))
        state.should_emit_space = True
        state.last_was_punctuation = False

    def is_anchorable(self) -> bool:
        """The list says whether its group is there."""
        return True

    def is_optional_like(self) -> bool:
        """An empty list is nothing at all."""
        return True

    def is_present(self, op: IRDLOperation) -> bool:
        """Tell whether the operation has the list."""
        return self.values.get(op) is not None

    def set_empty(self, state: ParsingState) -> None:
        """Leave the attribute out."""


@irdl_custom_directive
class StaticIndexI32Array(_IntegerList):
    """A list of 32-bit integers."""

    values: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Read the integers."""
        self._parse(parser, state, 32)


@irdl_custom_directive
class StaticIndexI64Array(_IntegerList):
    """A list of 64-bit integers."""

    values: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Read the integers."""
        self._parse(parser, state, 64)


@irdl_custom_directive
class OptionalF64(CustomDirective):
    """`0.5`, of 64 bits, or nothing."""

    value: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Read the number, if there is one."""
        number = parser.parse_optional_number()
        if number is not None:
            self.value.set(state, FloatAttr(float(number), f64))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Print the number, if there is one."""
        given = self.value.get(op)
        if isinstance(given, FloatAttr):
            state.print_whitespace(printer)
            given.print_without_type(printer)

    def is_optional_like(self) -> bool:
        """There may be nothing."""
        return True

    def is_present(self, op: IRDLOperation) -> bool:
        """Tell whether the operation has the number."""
        return self.value.get(op) is not None


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
