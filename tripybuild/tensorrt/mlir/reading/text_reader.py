"""Operation parser: results, locations, scopes of SSA names, and the attributes of functions.

Invariant: what is isolated from above sees no value of outside, and leaves no name behind; a value
that is used is defined before its region of names ends.
"""

from collections.abc import Iterable
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
    UnregisteredOp,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, AttributeInvT, Operation, Region, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from tripybuild.errors.diagnostics import suggest
from tripybuild.tensorrt.mlir.locations import file_location
from tripybuild.tensorrt.mlir.reading.dense_reader import DenseReader
from tripybuild.tensorrt.mlir.reading.location_reader import LocationReader

Signature = list[tuple[Attribute, dict[str, Attribute]]]
_OWN = ("sym_name", "function_type", "sym_visibility")


def function(reader: LocationReader) -> FuncOp:
    """Read what follows `func.func`."""
    visibility = reader.parse_optional_visibility_keyword()
    name = reader.parse_symbol_name()
    named: list[Parser.Argument] = []
    parenthesis = reader.Delimiter.PAREN
    inputs = reader.parse_comma_separated_list(parenthesis, lambda: _argument(reader, named))
    if named and len(named) != len(inputs):
        reader.raise_error("expected SSA identifier for each argument, or for none")
    outputs = _results(reader)
    attributes = reader.parse_optional_attr_dict_with_keyword(_OWN)
    place = reader.token
    is_defined = place.text == "{"
    region = reader.parse_region(named or None) if is_defined else Region()
    if is_defined and not region.blocks:
        reader.raise_error("expected non-empty function body", place)
    found = FuncOp(
        name.data,
        ([type for type, _ in inputs], [type for type, _ in outputs]),
        region,
        visibility if visibility is None else StringAttr(visibility.data),
        arg_attrs=_dictionaries(inputs),
        res_attrs=_dictionaries(outputs),
    )
    if attributes is not None:
        found.attributes |= attributes.data
    return found


def _argument(
    reader: LocationReader, named: list[Parser.Argument]
) -> tuple[Attribute, dict[str, Attribute]]:
    argument = reader.parse_optional_argument()
    type = reader.parse_type() if argument is None else argument.type
    attributes = reader.parse_optional_dictionary_attr_dict()
    location = reader.parse_optional_location()
    if argument is not None:
        argument.location = location
        named.append(argument)
    return type, attributes


def _results(reader: LocationReader) -> Signature:
    if reader.parse_optional_punctuation("->") is None:
        return []
    if reader.token.text != "(":
        return [(reader.parse_type(), {})]
    return reader.parse_comma_separated_list(
        reader.Delimiter.PAREN,
        lambda: (reader.parse_type(), reader.parse_optional_dictionary_attr_dict()),
    )


def _dictionaries(signature: Signature) -> ArrayAttr[DictionaryAttr] | None:
    if not any(attributes for _, attributes in signature):
        return None
    return ArrayAttr([DictionaryAttr(attributes) for _, attributes in signature])


class UnknownOperationError(ParseError):
    """No dialect has an operation of this name."""

    def __init__(self, place: Span, name: str, near: str | None) -> None:
        super().__init__(place, f"unknown operation '{name}'")
        self.hint = None if near is None else f"did you mean `{near}`?"


class TextReader(DenseReader):
    """The whole parser of a text."""

    def __init__(self, context: Context, text: str, path: str) -> None:
        super().__init__(context, text, path)
        self._kinds: list[type[Operation]] = [ModuleOp]  # of the operations around
        self._uses: dict[str, Span] = {}  # where what is not defined yet was first used

    def module(self) -> ModuleOp:
        """Read the text to its end."""
        operations = list[Operation]()
        while (kind := self.token.kind) is not Kind.EOF:
            if kind in {Kind.HASH_IDENT, Kind.EXCLAMATION_IDENT}:
                self._alias()
            elif kind is Kind.FILE_METADATA_BEGIN:
                self._parse_file_metadata_dictionary()
            else:
                operations.append(self.parse_operation())
        self._check_forward_references()
        alone = len(operations) == 1 and isinstance(operations[0], ModuleOp)
        module = cast("ModuleOp", operations[0]) if alone else ModuleOp(operations)
        if not alone:
            module.location = file_location(self._path, 0, 0)
        self.resolve_locations(module)
        return module

    def _alias(self) -> None:
        """Read the definition of an alias."""
        token, aliases = self.token, self.aliases
        aliases.begin()
        self._parse_alias_def()  # type: ignore[no-untyped-call]
        aliases.end(token.text, self.token.start - token.start)

    def parse_operation(self) -> Operation:
        """Read an operation with its results and its location."""
        results = self._parse_op_result_list()
        name = self.token
        if name.kind is Kind.BARE_IDENT:
            self._consume_token()
            kind = self._kind(name.text, name)
            if issubclass(kind, UnregisteredOp):
                message = f"unknown operation '{name.text}': only its generic form can be read"
                self.raise_error(message, name)
            operation = self._of_kind(kind, custom=True)
        elif name.kind is Kind.STRING_LIT:
            operation = self._of_kind(self._kind(self.parse_str_literal(), name), custom=False)
        else:
            self.raise_error("expected operation name")
        location = self.parse_optional_location()
        if location is not None:
            operation.location = location
        elif operation.location is UNKNOWN_LOC:
            operation.location = self.location_at(name.start)
        self._bind(operation, results)
        return operation

    def _of_kind(self, kind: type[Operation], *, custom: bool) -> Operation:
        stack = self._parser_state.dialect_stack
        stack.append(kind.dialect_name())
        self._kinds.append(kind)
        if not custom:
            operation = self._parse_generic_operation(kind)
        elif kind is FuncOp:
            operation = function(self)
        else:
            operation = kind.parse(self)
        self._kinds.pop()
        stack.pop()
        return operation

    def _kind(self, name: str, place: Span) -> type[Operation]:
        stack = self._parser_state.dialect_stack
        found = self.ctx.get_optional_op(name, dialect_stack=stack)
        if found is None:
            raise UnknownOperationError(place, name, self._near(name))
        return found

    def _near(self, name: str) -> str | None:
        """Give the operation of the same dialect that was most likely meant."""
        dialect = self.ctx.get_optional_dialect(name.partition(".")[0])
        return None if dialect is None else suggest(name, [op.name for op in dialect.operations])

    def _bind(self, operation: Operation, results: list[tuple[Span, int]]) -> None:
        """Give the results of an operation their names."""
        wanted = sum(count for _, count in results)
        if results and wanted != len(operation.results):
            found = len(operation.results)
            message = f"operation defines {found} results but was provided {wanted} to bind"
            self.raise_error(message, results[0][0])
        first = 0
        for span, count in results:
            values = operation.results[first : first + count]
            self._register_ssa_definition(span.text[1:], values, span)
            first += count

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        """Find the value of a name, or stand in for it until it is defined."""
        if operand.operand_name not in self.ssa_values:
            self._uses.setdefault(operand.operand_name, operand.span)
        return super().resolve_operand(operand, type)

    def parse_optional_region(
        self, arguments: Iterable[Parser.Argument] | None = None
    ) -> Region | None:
        """Read a region, in a scope of its own if nothing of outside may be named in it."""
        if self.token.kind is not Kind.L_BRACE or not _has_isolated_scope(self._kinds[-1]):
            return super().parse_optional_region(arguments)
        outside: Any = self.ssa_values, self.forward_ssa_references, self._uses
        self.ssa_values, self.forward_ssa_references, self._uses = {}, {}, {}
        region = super().parse_optional_region(arguments)
        self._check_forward_references()
        self.ssa_values, self.forward_ssa_references, self._uses = outside
        return region

    def _check_forward_references(self) -> None:
        for name in self.forward_ssa_references:
            self.raise_error(f"use of undeclared SSA value name '%{name}'", self._uses.get(name))


def _has_isolated_scope(kind: type[Operation]) -> bool:
    return kind.has_trait(IsolatedFromAbove, value_if_unregistered=False)
