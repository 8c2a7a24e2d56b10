"""Operations that are created quickly are those that xDSL creates."""

import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import TensorType, UnitAttr, f32, i32
from xdsl.ir import Block, Operation, Region

from tripybuild.tensorrt import dialect
from tripybuild.tensorrt.dialect.attribute_kinds import I32_ARRAY
from tripybuild.tensorrt.mlir.operation_factory import create_operation

VECTOR = TensorType(f32, [4])
INDICES = TensorType(i32, [2])


def parts(op: Operation) -> tuple[object, ...]:
    """What an operation has, but for its regions."""
    return (
        type(op),
        tuple(op.operands),
        [(each.type, each.index, each.op is op) for each in op.results],
        op.properties,
        op.attributes,
        op.location,
        tuple(op.successors),
        op.parent,
    )


@pytest.mark.parametrize(
    "kind", [dialect.GatherOp, dialect.PoolingOp, func.ReturnOp, dialect.ReduceOp]
)
def test_it_is_what_xdsl_creates(kind):
    """Defaults of what is not said included; also where one value is used twice."""
    block = Block(arg_types=[VECTOR, INDICES])
    operands = [*block.args, block.args[0]]
    said = {"stride": I32_ARRAY.attribute([1, 2])}
    ours = create_operation(
        kind, operands, [VECTOR, INDICES], said, attributes={"note": UnitAttr()}
    )
    theirs = kind.create(
        operands=operands,
        result_types=[VECTOR, INDICES],
        properties=said,
        attributes={"note": UnitAttr()},
    )
    assert parts(ours) == parts(theirs)
    assert said == {"stride": I32_ARRAY.attribute([1, 2])}
    for value in block.args:
        uses = [(use.operation, use.index) for use in value.uses]
        counts = [sum(op is which for op, _ in uses) for which in (ours, theirs)]
        assert counts[0] == counts[1] == operands.count(value)
    ours.drop_all_references()
    assert [use.operation for use in block.args[1].uses] == [theirs]


def test_regions_are_its_own():
    """A region knows the operation around it."""
    region = Region(Block())
    op = create_operation(func.FuncOp, [], [], {}, regions=[region])
    assert op.regions == (region,)
    assert region.parent is op
