"""The one attribute of mlir-tensorrt's `plan` dialect that nvtripy writes on its inputs."""

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


@irdl_attr_definition
class MemorySpaceAttr(ParametrizedAttribute):
    """Where an input lives: `#plan.memory_space<host>`."""

    name = "plan.memory_space"
    space: StringAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        """Read `<host>`."""
        with parser.in_angle_brackets():
            return [StringAttr(parser.parse_identifier(" for a memory space"))]

    def print_parameters(self, printer: Printer) -> None:
        """Write `<host>`."""
        printer.print_string(f"<{self.space.data}>")


Plan = Dialect("plan", [], [MemorySpaceAttr])
