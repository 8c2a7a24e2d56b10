"""MLIR printer: a module to text as MLIR's own printer writes it.

Invariant: what is printed reads back as the same module, and prints the same again. Names, spelling
and order are MLIR's and depend on the module alone; data of `dense_resource` stands at the end.
"""

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from tripybuild.tensorrt.mlir import resources
from tripybuild.tensorrt.mlir.aliases import Aliases
from tripybuild.tensorrt.mlir.names import ValueNames
from tripybuild.tensorrt.mlir.writing.attribute_writer import AttributeWriter

# Operations in whose regions the name of a dialect is left out.
_DEFAULTS = {"builtin.module": "builtin.", "func.func": "func."}
_NO_WAY = "  // no predecessors"


class ModuleWriter(AttributeWriter):
    """Writes operations."""

    def __init__(self, names: ValueNames | None, *, generic: bool = False) -> None:
        super().__init__(print_generic_format=generic)
        self._names = names
        self._default = "builtin."

    def register_locations(self, operation: Operation) -> None:
        """Write locations from now on, by the aliases of all that are in an operation."""
        aliases = self.locations = Aliases()
        self.print_op(operation)
        self.take_text()
        aliases.number()

    def print_ssa_value(self, value: SSAValue) -> str:
        """Write the name of a value."""
        names = self._names
        text = "%?" if names is None else names.values.get(value, "%<<UNKNOWN SSA VALUE>>")
        self.parts.append(text)
        return text[1:]

    def print_block_name(self, block: Block) -> str:
        """Write the name of a block."""
        text = "^?" if self._names is None else self._names.blocks.get(block, "^INVALIDBLOCK")
        self.parts.append(text)
        return text[1:]

    def print_op(self, op: Operation) -> None:
        """Write an operation: results, name, the rest, and its location."""
        if self.locations is not None:
            self.locations.register(op.location, early=False)
        if op.results:
            group = None if self._names is None else self._names.groups.get(op)
            if group is None:
                self.print_ssa_value(op.results[0])
            else:
                self.parts.append(group)
            self.parts.append(" = ")
        state = self.parts, len(self.parts), self._indent, self._default
        try:
            self._form(op)
        except Exception:  # noqa: BLE001  # formats count on what a verifier has checked
            self.parts, start, self._indent, self._default = state
            del self.parts[start:]
            self._generic(op)
        self.print_location(op.location)

    def _form(self, op: Operation) -> None:
        """Write an operation's name and what follows it, in its own form if it has one."""
        kind = type(op)
        if (
            self.print_generic_format
            or kind.print is Operation.print
            or isinstance(op, UnregisteredOp)
        ):
            self._generic(op)
        else:
            name = op.name
            elided = name.startswith(self._default) and name.count(".") == 1
            self.parts.append(name[len(self._default) :] if elided else name)
            self._custom(op)

    def _custom(self, op: Operation) -> None:
        if isinstance(op, FuncOp):
            self._function(op)
        elif isinstance(op, ModuleOp):
            self._module(op)
        else:
            op.print(self)

    def _generic(self, op: Operation) -> None:
        """Write an operation in the form that all have."""
        unregistered = isinstance(op, UnregisteredOp)
        name = cast("UnregisteredOp", op).op_name.data if unregistered else op.name
        self.print_string_literal(name)
        self.print_operands(op.operands)
        if op.successors:  # xDSL writes a space before them
            with self.in_square_brackets():
                self.print_list(op.successors, self.print_block_name)
        self._print_op_properties(op.properties)
        self.print_regions(op.regions)
        hidden = ("op_name__",) if unregistered else ()
        self.print_op_attributes(op.attributes, reserved_attr_names=hidden)
        self.parts.append(" : ")
        self.print_operation_type(op)

    def _module(self, op: ModuleOp) -> None:
        if op.sym_name is not None:
            self.parts.append(" ")
            self.print_symbol_name(op.sym_name.data)
        self.print_op_attributes(op.attributes, print_keyword=True)
        self.parts.append(" ")
        self.print_region(op.body, print_empty_block=False)

    def _function(self, op: FuncOp) -> None:
        if op.sym_visibility is not None:
            self.parts.append(f" {op.sym_visibility.data}")
        self.parts.append(" ")
        self.print_symbol_name(op.sym_name.data)
        entry = op.body.blocks.first
        arguments = [] if entry is None else list(entry.args)
        with self.in_parens():
            for index, type in enumerate(op.function_type.inputs):
                self._argument(arguments[index] if entry else None, type, index, op.arg_attrs)
        outputs, attributes = op.function_type.outputs.data, op.res_attrs
        if outputs:
            self.parts.append(" -> ")
            self._outputs(outputs, attributes)
        self.print_op_attributes(op.attributes, print_keyword=True)
        if entry is not None:
            self.parts.append(" ")
            self.print_region(op.body, print_entry_block_args=False, print_empty_block=False)

    def _argument(
        self, argument: BlockArgument | None, type: Attribute, index: int, attributes: Any
    ) -> None:
        if index:
            self.parts.append(", ")
        if argument is not None:
            self.print_ssa_value(argument)
            self.parts.append(": ")
        self.print_attribute(type)
        if attributes is not None:
            self.print_op_attributes(attributes.data[index].data)
        if argument is not None:
            self.print_own_location(argument.location)

    def _outputs(self, types: Sequence[Attribute], attributes: Any) -> None:
        if len(types) == 1 and attributes is None and "->" not in str(types[0]):
            self.print_attribute(types[0])
            return
        with self.in_parens():
            for index, type in enumerate(types):
                self._argument(None, type, index, attributes)

    def print_block_argument(self, arg: BlockArgument, print_type: bool = True) -> None:
        """Write a block's argument."""
        self.print_ssa_value(arg)
        if print_type:
            self.parts.append(": ")
            self.print_attribute(arg.type)
            self.print_own_location(arg.location)

    def print_region(
        self,
        region: Region,
        print_entry_block_args: bool = True,
        print_empty_block: bool = True,
        print_block_terminators: bool = True,
    ) -> None:
        """Write a region; in some, operations are called without their dialect."""
        outside, self._default = self._default, _DEFAULTS.get(_name_around(region), "")
        super().print_region(
            region, print_entry_block_args, print_empty_block, print_block_terminators
        )
        self._default = outside

    def print_block(
        self, block: Block, print_block_args: bool = True, print_block_terminator: bool = True
    ) -> None:
        """Write a block: its label if it is wanted, and its operations."""
        if print_block_args:
            self._label(block)
        super().print_block(block, False, print_block_terminator)

    def _label(self, block: Block) -> None:
        self._print_new_line()
        self.print_block_name(block)
        if block.args:
            with self.in_parens():
                self.print_list(block.args, self.print_block_argument)
        self.parts.append(":")
        if block.parent is not None and (before := self._predecessor_comment(block)) is not None:
            self.parts.append(before)

    def _predecessor_comment(self, block: Block) -> str | None:
        """Give the comment that says from where a block is gone to; an entry needs none."""
        blocks = () if block.parent is None else block.parent.blocks
        found = [each for each in blocks if each.last_op and block in each.last_op.successors]
        names = {} if self._names is None else self._names.blocks
        before = [names.get(each, "^?") for each in found]
        if not before:
            return None if block.parent and block is block.parent.blocks.first else _NO_WAY
        count = "pred" if len(before) == 1 else f"{len(before)} preds"
        return f"  // {count}: {', '.join(before)}"


def _name_around(region: Region) -> str:
    parent = region.parent_op()
    return "" if parent is None else parent.name


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
