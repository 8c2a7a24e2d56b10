"""Optional f64 attributes in assembly, without a type suffix."""

from xdsl.dialects.builtin import FloatAttr, f64
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
