"""Binary module encoding between processes, without the cost of printing and parsing.

A module is a list of attributes and a tree of operations, in JSON. An attribute is there once,
however often it is used; locations and resources are told by their parts, all others by their text.
Values are numbered in the order in which they are defined.

Invariant: what is packed is unpacked as the same module, and equal modules are packed as equal
bytes.
"""

import json
from collections.abc import Sequence
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    DenseResourceAttr,
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation

from tripybuild.process.gc_pause import pause_gc
from tripybuild.tensorrt.mlir import resources
from tripybuild.tensorrt.mlir.locations import make_location
from tripybuild.tensorrt.mlir.operation_factory import create_operation
from tripybuild.tensorrt.mlir.reading.text_reader import TextReader
from tripybuild.tensorrt.mlir.writing.attribute_writer import AttributeWriter, affine_text

Packed = list[Any]


def pack(module: ModuleOp) -> bytes:
    """Pack a module.

    Raises:
        ValueError: It holds an unregistered operation, or uses a value before it is defined.
    """
    packer = _Packer()
    operation = packer.operation(module)
    return json.dumps([packer.attributes, operation], separators=(",", ":")).encode()


def unpack(content: bytes, context: Context) -> ModuleOp:
    """Make the module that was packed; a context is for one module.

    Raises:
        DiagnosticError: The context does not know what it says.
    """
    attributes, operation = json.loads(content)
    with pause_gc():
        unpacker = _Unpacker(context, attributes)
        module = cast("ModuleOp", unpacker.operation(operation))
    resources.attach(module, resources.of_context(context))
    return module


class _FormWriter(AttributeWriter):
    """Writes all of an attribute, maps too, which have names in a text."""

    def _map(self, attribute: AffineMapAttr | AffineSetAttr) -> str:
        return affine_text(attribute)


class _Packer:
    def __init__(self) -> None:
        self.attributes: Packed = []
        self._by_identity: dict[int, tuple[Attribute, int]] = {}  # which is kept alive
        self._by_form: dict[object, int] = {}
        self._values: dict[SSAValue, int] = {}
        self._writer = _FormWriter()

    def operation(self, op: Operation) -> Packed:
        if isinstance(op, UnregisteredOp) or op.successors:
            raise ValueError(f"`{op.name}` cannot be packed")
        operands = [self._value_index(value) for value in op.operands]
        regions = [[self.block(block) for block in each.blocks] for each in op.regions]
        self._define(op.results)
        of = self.attribute
        return [
            op.name,
            operands,
            [of(each.type) for each in op.results],
            {name: of(each) for name, each in sorted(op.properties.items())},
            {name: of(each) for name, each in sorted(op.attributes.items())},
            of(op.location),
            regions,
        ]

    def attribute(self, attribute: Attribute) -> int:
        """Give the number of an attribute."""
        known = self._by_identity.get(id(attribute))
        if known is None:
            known = self._by_identity[id(attribute)] = attribute, self._intern(attribute)
        return known[1]

    def _intern(self, attribute: Attribute) -> int:
        form = self._form(attribute)
        key = form if isinstance(form, str) else tuple(form)
        number = self._by_form.setdefault(key, len(self.attributes))
        if number == len(self.attributes):
            self.attributes.append(form)
        return number

    def _form(self, attribute: Attribute) -> str | list[str | int]:
        if isinstance(attribute, NameLoc):
            return ["name", attribute.desc.data, self.attribute(attribute.location)]
        if isinstance(attribute, FileLineColLoc):
            place = attribute.line.data, attribute.column.data
            return ["file", attribute.filename.data, *place]
        if isinstance(attribute, DenseResourceAttr):
            return ["data", attribute.resource_handle.data, self.attribute(attribute.type)]
        self._writer.print_attribute(attribute)
        return self._writer.take_text()

    def block(self, block: Block) -> Packed:
        arguments = [[self.attribute(a.type), self.attribute(a.location)] for a in block.args]
        self._define(block.args)
        return [arguments, [self.operation(op) for op in block.ops]]

    def _define(self, values: Sequence[SSAValue]) -> None:
        for value in values:
            self._values[value] = len(self._values)

    def _value_index(self, value: SSAValue) -> int:
        if value not in self._values:
            raise ValueError("a value is used before it is defined")
        return self._values[value]


class _Unpacker:
    def __init__(self, context: Context, forms: Packed) -> None:
        self._context = context
        self._values: list[SSAValue] = []
        self._attributes: list[Any] = self._read([each for each in forms if isinstance(each, str)])
        texts = iter(self._attributes)
        self._attributes = []
        for form in forms:
            self._attributes.append(
                next(texts) if isinstance(form, str) else self._make_attribute(*form)
            )

    def _read(self, texts: Sequence[str]) -> list[Attribute]:
        """Read attributes and types: one reader for all of them, since to make one takes time."""
        reader = TextReader(self._context, ",".join((*texts, "unit")), "-")
        found = []
        for _ in texts:
            found.append(reader.parse_attribute())
            reader.parse_punctuation(",")
        return found

    def _make_attribute(self, kind: str, name: str, *rest: int) -> Attribute:
        text = StringAttr(name)
        if kind == "file":
            line, column = map(IntAttr, rest)
            return make_location(FileLineColLoc, filename=text, line=line, column=column)
        other = self._attributes[rest[0]]
        if kind == "name":
            return make_location(NameLoc, desc=text, location=other)
        return resources.resource(name, other)

    def operation(self, form: Packed) -> Operation:
        name, operands, results, properties, attributes, location, regions = form
        known = self._attributes
        values = [self._values[number] for number in operands]
        inner = [Region([self.block(*block) for block in each]) for each in regions]
        op = create_operation(
            cast("type[IRDLOperation]", self._context.get_op(name)),
            values,
            [known[number] for number in results],
            {key: known[number] for key, number in properties.items()},
            attributes={key: known[number] for key, number in attributes.items()},
            location=known[location],
            regions=inner,
        )
        self._values += op.results
        return op

    def block(self, arguments: Packed, operations: Packed) -> Block:
        block = Block(arg_types=[self._attributes[kind] for kind, _ in arguments])
        for argument, (_, location) in zip(block.args, arguments, strict=True):
            argument.location = self._attributes[location]
        self._values += block.args
        block.add_ops([self.operation(each) for each in operations])
        return block
