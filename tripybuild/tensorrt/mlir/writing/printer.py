"""MLIR printer: a module to text as MLIR's own printer writes it.

Invariant: what is printed reads back as the same module, and prints the same again. Names, spelling
and order are MLIR's and depend on the module alone; data of `dense_resource` stands at the end.
"""

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from tripybuild.tensorrt.mlir import resources
from tripybuild.tensorrt.mlir.names import ValueNames
from tripybuild.tensorrt.mlir.writing.writer import ModuleWriter


def text(
    operation: Operation, *, generic: bool = False, locations: bool = False, data: bool = True
) -> str:
    """Give the text of a module, or of an operation in one.

    Args:
        operation: What to print.
        generic: Whether to print all in MLIR's generic form: `"func.return"(%0) : (i32) -> ()`.
        locations: Whether to print where each operation comes from.
        data: Whether to print the data of resources; without it they are names only.
    """
    writer = ModuleWriter(ValueNames(_root(operation), generic=generic), generic=generic)
    if locations:
        writer.register_locations(operation)
    writer.print_op(operation)
    body = writer.take_text()
    lines = [*writer.aliases(early=True), body, *writer.aliases(early=False)]
    if not isinstance(operation, ModuleOp):
        return "\n".join(lines)
    if data and writer.resources:
        lines.append(_footer(resources.of(operation), writer.resources))
    return "\n".join(lines) + "\n"


def attribute_text(attribute: Attribute) -> str:
    """Give the text of an attribute or a type."""
    writer = ModuleWriter(None)
    writer.print_attribute(attribute)
    return writer.take_text()


def _root(operation: Operation) -> Operation:
    while (parent := operation.parent_op()) is not None:
        operation = parent
    return operation


def _footer(table: resources.Resources, names: set[str]) -> str:
    """Give the data of resources, as MLIR does at the end of a text."""
    writer = ModuleWriter(None)
    lines = []
    for name, data in sorted(table.build_resources(names).items()):
        writer.print_identifier_or_string_literal(name)
        lines.append(f'      {writer.take_text()}: "{data}"')
    if not lines:
        return ""
    inner = ",\n".join(lines)
    return f"\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{inner}\n    }}\n  }}\n#-}}"
