"""Parser of `loc(...)`: names, file positions, ranges, calls, fused locations, aliases.

Invariant: an operation without a location gets its place in the text. An alias may be defined after
the operation that names it, as in what MLIR prints.
"""

from collections.abc import Iterable
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region
from xdsl.parser import Parser
from xdsl.utils.lexer import Position
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from tripybuild.errors.diagnostics import portable_path
from tripybuild.tensorrt.mlir.locations import (
    LOCATIONS,
    UNKNOWN,
    FileLineColRange,
    file_location,
    make_location,
)
from tripybuild.tensorrt.mlir.reading.lexer import LexerToken
from tripybuild.tensorrt.mlir.reading.reader import TokenReader


class LocationReader(TokenReader):
    """A parser that knows all locations."""

    def __init__(self, context: Context, text: str, path: str) -> None:
        super().__init__(context, text, path)
        self._path = StringAttr(portable_path(path, None))
        self._pending: dict[int, tuple[Attribute, LexerToken]] = {}  # by the placeholder's identity

    def location_at(self, position: Position) -> LocationAttr:
        """Give the location of a position in the text."""
        return file_location(self._path, *self.lines.place(position))

    def parse_optional_location(self) -> LocationAttr | None:
        """Read `loc(...)`, if it follows."""
        if self.parse_optional_keyword("loc") is None:
            return None
        self.parse_punctuation("(")
        token = self.token
        known = token.kind is not Kind.HASH_IDENT or token.text in self.attribute_aliases
        location: LocationAttr = self._parse_location() if known else self._location_placeholder()
        self.parse_punctuation(")")
        return location

    def _location_placeholder(self) -> Any:
        """Stand in for an alias that is defined further down."""
        placeholder = make_location(NameLoc, desc=StringAttr(self.token.text), location=NoneAttr())
        self._pending[id(placeholder)] = placeholder, self.token
        self._consume_token()
        return placeholder

    def resolve_locations(self, module: ModuleOp) -> None:
        """Put the locations of aliases that were defined late where they belong."""
        for _, token in self._pending.values():
            self._resolve_alias(token)
        for each in _location_holders(module) if self._pending else ():
            waiting = self._pending.get(id(each.location))
            if waiting is not None:
                each.location = self._resolve_alias(waiting[1])

    def _resolve_alias(self, token: LexerToken) -> Any:
        found = self.aliases.location(token.text)
        if not isinstance(found, LOCATIONS):
            kind = "undefined" if found is None else "not a location:"
            self.raise_error(f"{kind} symbol alias '{token.text}'", token)
        return found

    def _parse_location(self) -> Any:
        token = self.token
        if token.kind is Kind.HASH_IDENT:
            self._consume_token()
            return self._resolve_alias(token)
        if (text := self.parse_optional_str_literal()) is not None:
            return self._name_location(StringAttr(text))
        if self.parse_optional_keyword("unknown") is not None:
            return UNKNOWN
        if self.parse_optional_keyword("callsite") is not None:
            return self._call_site()
        if self.parse_optional_keyword("fused") is not None:
            return self._fused_location()
        return self.raise_error("expected location instance")

    def _name_location(self, text: StringAttr) -> Any:
        """Read what follows a string: a place in a file of that name, or what is so named."""
        if self.parse_optional_punctuation(":") is not None:
            return self._file_location(text)
        child: Attribute = NoneAttr()
        if self.parse_optional_punctuation("(") is not None:
            child = self._parse_location()
            self.parse_punctuation(")")
            child = NoneAttr() if child == UNKNOWN else child
        return make_location(NameLoc, desc=text, location=child)

    def _file_location(self, path: StringAttr) -> Any:
        line, column = self._number(), 0
        if self.parse_optional_punctuation(":") is not None:
            column = self._number()
        if self.parse_optional_keyword("to") is None:
            return file_location(path, line, column)
        end = line if self.token.kind is Kind.COLON else self._number()
        self.parse_punctuation(":")
        numbers = map(IntAttr, (line, column, end, self._number()))
        names = ("line", "column", "end_line", "end_column")
        return make_location(
            FileLineColRange, filename=path, **dict(zip(names, numbers, strict=True))
        )

    def _number(self) -> int:
        return self.parse_integer(
            allow_boolean=False, allow_negative=False, context_msg=" in a location"
        )

    def _call_site(self) -> CallSiteLoc:
        self.parse_punctuation("(")
        callee = self._parse_location()
        self.parse_keyword("at")
        caller = self._parse_location()
        self.parse_punctuation(")")
        return make_location(CallSiteLoc, callee=callee, caller=caller)

    def _fused_location(self) -> FusedLoc:
        metadata: Attribute = NoneAttr()
        if self.parse_optional_punctuation("<") is not None:
            metadata = self.parse_attribute()
            self.parse_punctuation(">")
        found = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
        return make_location(FusedLoc, locations=ArrayAttr(found), metadata=metadata)

    def parse_optional_region(
        self, arguments: Iterable[Parser.Argument] | None = None
    ) -> Region | None:
        """Read a region; its arguments without a location get their place."""
        named = None if arguments is None else list(arguments)
        for each in named or ():
            if each.location is None:
                each.location = self.location_at(each.name.start)
        return super().parse_optional_region(named)

    def _parse_optional_block_arg_list(self, block: Block) -> Block | None:
        if self.token.kind is not Kind.L_PAREN:
            return None
        self.parse_comma_separated_list(self.Delimiter.PAREN, lambda: self._block_argument(block))
        return block

    def _block_argument(self, block: Block) -> None:
        name = self.token
        self._parse_token(Kind.PERCENT_IDENT, "expected SSA operand")
        self.parse_punctuation(":", " and type for SSA operand")
        type = self.parse_type()
        location = self.parse_optional_location() or self.location_at(name.start)
        argument = block.insert_arg(type, len(block.args), location)
        self._register_ssa_definition(name.text[1:], (argument,), name)


def _location_holders(module: ModuleOp) -> Iterable[Operation | BlockArgument]:
    """Give all that has a location."""
    for operation in module.walk():
        yield operation
        for region in operation.regions:
            for block in region.blocks:
                yield from block.args
