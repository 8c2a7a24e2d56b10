"""`test-tensorrt-shape-inference`: `tensor.dim` of results, from operand sizes.

A size is a number of the result's type; a number that an operand of sizes holds; what a plugin's
region computes; the greatest of those that are broadcast; or a dimension of an operand, where the
inference of the operation only hands it on. Anything else stays as it is.
"""

from collections.abc import Mapping
from typing import Any

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr, ModuleOp, TensorType, i32
from xdsl.ir import Block, Operation, OpResult, SSAValue

from tripybuild.tensorrt.dialect import ElementWiseOp, OpaquePluginOp, SelectOp
from tripybuild.tensorrt.dialect.base import TensorrtOperation, sizes
from tripybuild.tensorrt.passes.rewriting.effects import is_dead, walk_ops
from tripybuild.tensorrt.shape_rules import ShapeError

_INDEX = IndexType()
_FIRST_TOKEN = 2**40  # beyond all sizes that a model has: stands for a size that is not known
# Where an operand holds the sizes of the result.
_SIZE_OPERANDS: Mapping[str, str] = {
    "tensorrt.slice": "size",
    "tensorrt.broadcast": "shape",
    "tensorrt.reshape": "shape",
    "tensorrt.linspace": "shape",
    "tensorrt.random_uniform": "shape",
    "tensorrt.random_normal": "shape",
    "tensorrt.resize_nearest": "output_shape",
    "tensorrt.resize_linear": "output_shape",
    "tensorrt.resize_cubic": "output_shape",
}


def run(module: ModuleOp) -> bool:
    """Replace the sizes that follow from others; tell whether there were any."""
    pending = [op for op in walk_ops(module) if isinstance(op, tensor.DimOp)]
    changed = False
    while pending:
        dim = pending.pop()
        made: list[Operation] = []
        size = _size_of(dim, made)
        if size is None:
            continue
        block, index = dim.parent, dim.index
        assert block is not None
        block.insert_ops_before(made, dim)
        for op in made:
            op.location = dim.location
        dim.result.replace_all_uses_with(size)
        block.erase_op(dim)
        if isinstance(index.owner, Operation) and is_dead(index.owner):
            index.owner.parent.erase_op(index.owner)  # type: ignore[union-attr]  # it is in a block
        pending += [op for op in made if isinstance(op, tensor.DimOp)]
        changed = True
    return changed


def _size_of(dim: tensor.DimOp, made: list[Operation]) -> SSAValue | None:
    """Give the size as a value, and collect the operations that make it."""
    axis, source = _number(dim.index), dim.source
    if axis is None or not isinstance(source.type, TensorType):
        return None
    shape = sizes(source.type)
    if not 0 <= axis < len(shape):
        return None
    known = shape[axis]
    if isinstance(known, int):
        return _constant(known, made)
    if not isinstance(source, OpResult) or not isinstance(source.op, TensorrtOperation):
        return None
    op: Any = source.op
    name = _SIZE_OPERANDS.get(op.name)
    if name is not None and getattr(op, name) is not None:
        return _element(getattr(op, name), axis, made)
    if isinstance(op, OpaquePluginOp):
        return _computed(op, source.index, axis, made)
    if isinstance(op, ElementWiseOp | SelectOp):
        return _broadcast(op, axis, made)
    return _handed_on(op, source.index, axis, made)


def _number(value: SSAValue) -> int | None:
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


def _add(op: Operation, made: list[Operation]) -> SSAValue:
    made.append(op)
    return op.results[0]


def _constant(number: int, made: list[Operation]) -> SSAValue:
    return _add(arith.ConstantOp(IntegerAttr(number, _INDEX)), made)


def _dimension(value: SSAValue, axis: int, made: list[Operation]) -> SSAValue:
    return _add(tensor.DimOp(value, _constant(axis, made)), made)


def _element(vector: SSAValue, axis: int, made: list[Operation]) -> SSAValue:
    """Give a number of a tensor of sizes as an index."""
    number = tensor.ExtractOp(vector, [_constant(axis, made)], i32)
    return _add(arith.IndexCastOp(_add(number, made), _INDEX), made)


def _computed(op: OpaquePluginOp, result: int, axis: int, made: list[Operation]) -> SSAValue | None:
    """Give what the region of a plugin yields for the size, with what it is computed of."""
    if not op.shapes_region.blocks:
        return None
    block: Block = op.shapes_region.block
    values: dict[SSAValue, SSAValue] = {}
    places = [(value, axis) for value in op.inputs for axis in range(len(sizes(value)))]
    end = block.last_op
    assert end is not None
    before = sum(len(sizes(kind)) for kind in op.result_types[:result])
    goal = end.operands[before + axis]
    for argument, (value, dimension) in zip(block.args, places, strict=True):
        if argument in _needed(goal):
            size = _dimension(value, dimension, made)
            values[argument] = _add(arith.IndexCastOp(size, argument.type), made)
    inner = [each for each in block.ops if set(each.results) & _needed(goal)]
    made.extend([each.clone(values) for each in inner])
    return _add(arith.IndexCastOp(values[goal], _INDEX), made)


def _needed(value: SSAValue) -> set[SSAValue]:
    found, pending = {value}, [value]
    while pending:
        owner = pending.pop().owner
        new = set(owner.operands) - found if isinstance(owner, Operation) else set()
        found |= new
        pending += new
    return found


def _broadcast(op: Operation, axis: int, made: list[Operation]) -> SSAValue | None:
    """Give the greatest of the sizes that are not 1."""
    open_ = [value for value in op.operands if sizes(value)[axis] is None]
    found = [_dimension(value, axis, made) for value in open_]
    while len(found) > 1:
        found[:2] = [_add(arith.MaxSIOp(found[0], found[1]), made)]
    return found[0] if found else None


def _handed_on(
    op: TensorrtOperation, result: int, axis: int, made: list[Operation]
) -> SSAValue | None:
    """Give the dimension of an operand that the operation infers for the result.

    The operation infers once more, of operands whose unknown sizes are numbers that stand for them:
    of all, and then of each, since sizes that must be equal are not with such numbers.
    """
    if op.regions:
        return None
    for values in (op.operands, *([value] for value in op.operands)):
        tokens: dict[int, tuple[SSAValue, int]] = {}
        size = _inferred(op, {value: _stand_in(value, tokens) for value in values}, result, axis)
        if size in tokens:
            return _dimension(*tokens[size], made)
        if size is not None and size < _FIRST_TOKEN:
            return _constant(size, made)
    return None


def _inferred(
    op: TensorrtOperation, values: dict[SSAValue, SSAValue], result: int, axis: int
) -> int | None:
    clone = op.clone(values)
    try:
        components = clone.components() or ()
    except ShapeError:
        return None
    finally:
        clone.drop_all_references()
    inferred = components[result].sizes if result < len(components) else None
    size = None if inferred is None else inferred[axis]
    return size if isinstance(size, int) else None


def _stand_in(value: SSAValue, tokens: dict[int, tuple[SSAValue, int]]) -> SSAValue:
    """Give a value of the same type with numbers for its unknown sizes."""
    if not isinstance(value.type, TensorType):
        return value
    shape = list(value.type.get_shape())
    for axis in [axis for axis, size in enumerate(shape) if size == DYNAMIC_INDEX]:
        shape[axis] = _FIRST_TOKEN + 7919 * len(tokens)
        tokens[shape[axis]] = value, axis
    return Block(arg_types=[TensorType(value.type.element_type, shape)]).args[0]
