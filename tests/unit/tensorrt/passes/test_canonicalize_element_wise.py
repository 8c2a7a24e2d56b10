"""`canonicalize` on element-wise ops: activations, biases, small constants, products undone."""

from tripybuild.tensorrt.passes.canonicalize.element_wise import BY_OPERATION
from tripybuild.tensorrt.recorder.enumerations import ENUMERATIONS


def test_the_table_knows_its_operations():
    members = ENUMERATIONS["element_wise_operation"].members
    assert BY_OPERATION.keys() <= set(members)
