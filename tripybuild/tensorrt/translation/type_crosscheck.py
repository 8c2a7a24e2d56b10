"""Type cross-check: module, dialect inference and TensorRT must agree on layer results.

Invariant: whatever two of them know of a size is the same, and ranks and dtypes always are; the
results of the function are those that the graph declares. What runs later trusts each of the three.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tripybuild.tensorrt.dialect import IfOp, ShapeOp
from tripybuild.tensorrt.dialect.base import TensorrtOperation, element, sizes
from tripybuild.tensorrt.shape_rules import ShapeError, agree
from tripybuild.types.dtypes import BY_MLIR


class TypeClaim(NamedTuple):
    """A type as one of them says it; None is a size that it does not know."""

    dtype: str
    shape: tuple[int | None, ...]

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join('?' if s is None else str(s) for s in self.shape)}]"

    def agrees(self, other: "TypeClaim") -> bool:
        """Whether both may be the type of one tensor."""
        return (
            self.dtype == other.dtype
            and len(self.shape) == len(other.shape)
            and all(map(agree, self.shape, other.shape))
        )


def disagreements(
    module: ModuleOp, record: Mapping[str, Any], outputs: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """What is wrong with the types of an engine.

    Args:
        module: The module that the engine was built of, after the passes.
        record: The record of the engine.
        outputs: What the graph declares that it gives.
    """
    (function,) = (op for op in module.walk() if isinstance(op, FuncOp))
    operations, layers = list(_operations(function.body.block, set())), record["layers"]
    if [op.name for op in operations] != [layer["op"] for layer in layers]:
        yield "the record has other layers than the module has operations"
        return
    for operation, layer in zip(operations, layers, strict=True):
        yield from (f"`{operation.name}` {each}" for each in _layer_disagreements(operation, layer))
    yield from _outputs(function, outputs)


def _operations(block: Block, shaped: set[SSAValue]) -> Iterator[TensorrtOperation]:
    """The operations of a block that become layers; what is inside of one comes before it.

    The shape of a value is one layer: another operation that asks for it becomes none. In a branch
    all values are others, which came through the conditional.
    """
    for op in list(block.ops)[:-1]:
        assert isinstance(op, TensorrtOperation), op.name
        inside = set(shaped)
        for region in op.regions:
            for inner in region.blocks:
                yield from _operations(inner, set() if isinstance(op, IfOp) else inside)
        if not isinstance(op, ShapeOp):
            yield op
        elif op.operands[0] not in shaped:
            shaped.add(op.operands[0])
            yield op


def _layer_disagreements(operation: TensorrtOperation, layer: Mapping[str, Any]) -> Iterator[str]:
    said = {
        "the module": [_type(each.type) for each in operation.results],
        "TensorRT": [TypeClaim(each["dtype"], tuple(each["shape"])) for each in layer["outputs"]],
    }
    try:
        inferred = operation.infer_types()
    except ShapeError as error:
        yield f"has no types: {error}"
        return
    if inferred is not None:
        said["the dialect"] = [_type(each) for each in inferred]
    for index, types in enumerate(zip(*said.values(), strict=True)):
        if not all(one.agrees(other) for one in types for other in types):
            shown = ", ".join(f"{each} in {by}" for by, each in zip(said, types, strict=True))
            yield f"gives {shown} as result {index}"


def _outputs(function: FuncOp, outputs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    end: Operation | None = function.body.block.last_op
    assert end is not None
    for value, each in zip(end.operands, outputs, strict=True):
        shape = tuple(size if isinstance(size, int) else None for size in each["shape"])
        declared, given = TypeClaim(each["dtype"], shape), _type(value.type)
        if not declared.agrees(given):
            yield f"`{each['name']}` is {given} in the module, but declared as {declared}"


def _type(of: Attribute) -> TypeClaim:
    word = str(element(of))
    shape = tuple(size if isinstance(size, int) else None for size in sizes(of))
    return TypeClaim(str(BY_MLIR.get(word, word)), shape)
