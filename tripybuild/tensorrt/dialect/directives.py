"""Integer lists in assembly: static sizes without the keywords of an array attribute."""

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerType, f64
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer


class _IntegerList(CustomDirective):
    """`1, 2, 3`; it may be empty."""

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
