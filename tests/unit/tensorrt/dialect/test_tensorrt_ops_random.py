"""Operations made at random: whatever is wrong with them is said, and nothing stumbles."""

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tensorrt_operations import values
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.irdl import OptPropertyDef

from tripybuild.tensorrt.dialect import OPERATIONS
from tripybuild.tensorrt.dialect.attributes import EnumerationAttribute
from tripybuild.tensorrt.dialect.declaration import kind

ui32 = IntegerType(32, Signedness.UNSIGNED)
MODULES = ("elementwise", "linear", "quantization", "reductions", "sources", "windows")
OURS = [op for op in OPERATIONS if op.__module__.rpartition(".")[2] in MODULES]

ELEMENTS = ["f32", "f16", "i1", "i4", "i8", "i32", "f64", "f8E4M3FN", "f4E2M1FN"]
SIZES = st.lists(st.sampled_from(["?", "0", "1", "2", "3", "16"]), max_size=5)
TYPES = st.builds(
    lambda sizes, element: f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>",
    SIZES,
    st.sampled_from([*["f32"] * 8, *ELEMENTS]),
)
NUMBERS = st.lists(st.integers(-1, 4), max_size=4)


def arrays(element):
    """Dense arrays of integers."""
    return NUMBERS.map(lambda numbers: DenseArrayBase.from_list(element, numbers))


def dense(numbers):
    """Elements of a shape."""
    return DenseIntOrFPElementsAttr.from_list(TensorType(f32, numbers), [0.5])


LIKELY = {
    "64-bit signless integer attribute": st.integers(-1, 5).map(lambda n: IntegerAttr(n, i64)),
    "32-bit signless integer attribute": st.integers(-1, 17).map(lambda n: IntegerAttr(n, i32)),
    "32-bit unsigned integer attribute": st.integers(0, 3).map(lambda n: IntegerAttr(n, ui32)),
    "bool attribute": st.booleans().map(lambda b: IntegerAttr(int(b), i1)),
    "32-bit float attribute": st.floats(0, 1).map(lambda n: FloatAttr(n, f32)),
    "64-bit float attribute": st.floats(0, 1).map(lambda n: FloatAttr(n, f64)),
    "i64 dense array attribute": arrays(i64),
    "string attribute": st.sampled_from(["ij,jk->ik", "i->i", "", "A"]).map(StringAttr),
    "constant vector/tensor attribute": st.lists(st.integers(1, 3), max_size=5).map(dense),
}
ATTRIBUTES = st.one_of(*LIKELY.values())


def fitting(declaration):
    """Attributes that the declaration may take, most of the time."""
    allowed = kind(declaration.constr)
    bases = allowed.get_bases() or set()
    for base in bases:
        if issubclass(base, EnumerationAttribute):
            return st.sampled_from(base.enumeration.members).map(base)
    return st.one_of(LIKELY.get(allowed.summary.split(" should")[0], ATTRIBUTES), ATTRIBUTES)


def build(op, data):
    """An operation of a class with anything for operands, attributes and results."""
    definition = op.get_irdl_definition()
    properties = {}
    for name, declaration in definition.properties.items():
        if name == "operandSegmentSizes":
            continue
        present = not isinstance(declaration, OptPropertyDef) or data.draw(st.booleans())
        if present:
            properties[name] = data.draw(fitting(declaration))
    # Half of the operands are of one type, so that some of the laws hold.
    first = data.draw(TYPES)
    chosen = [data.draw(st.one_of(st.just(first), TYPES)) for _ in definition.operands]
    operands = values(*chosen)
    if "operandSegmentSizes" in definition.properties:
        sizes = [data.draw(st.integers(0, 1)) if i else 1 for i in range(len(operands))]
        properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, sizes)
        operands = [each for each, size in zip(operands, sizes, strict=True) if size]
    results = values(*[data.draw(st.one_of(st.just(first), TYPES)) for _ in definition.results])
    return op.create(
        operands=operands, result_types=[each.type for each in results], properties=properties
    )


@pytest.mark.parametrize("op", OURS, ids=lambda op: op.name)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_nothing_makes_a_verifier_stumble(op, data):
    """It gives messages, and infers, or says in a `ShapeError` why not."""
    made = build(op, data)
    found = list(made.problems())
    assert len(found) <= 2
    assert all(problem.message for problem in found)
    if not found and op.INFERRED:
        inferred = made.infer_types()
        assert len(inferred) == len(made.results)
        made.verify()
