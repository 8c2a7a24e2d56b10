"""Shape rules of matrix multiplication."""

from tripybuild.tensorrt.shape_rules import MaybeSize, Shape, ShapeError, Sizes, differ
from tripybuild.tensorrt.shape_rules.arithmetic import broadcast

CONTRACTION = "operand shapes do not have consistent sizes for the contraction dimension"


def collection(shape: Shape, operation: str) -> Sizes:
    """The sizes before those of the matrix, or of the vector: how many of them there are."""
    inner = 1 if operation == "kVECTOR" else 2
    if len(shape) < inner:
        raise ShapeError(f"expected a rank of at least {inner} for {operation}")
    return tuple(shape[:-inner])


def matrix_multiply(left: Shape, right: Shape, op0: str, op1: str) -> Sizes:
    """Collections broadcast; each matrix brings a dimension, and a vector none."""
    batches = collection(left, op0), collection(right, op1)
    if len(batches[0]) != len(batches[1]):
        raise ShapeError('"input0" and "input1" number of collection dims doesn\'t match')
    try:
        batch = broadcast(*batches)
    except ShapeError:
        message = 'collection (batch) dimensions of "input0" and "input1" are not broadcastable'
        raise ShapeError(message) from None
    rows, inner = _matrix(left, op0)
    columns, inner_right = _matrix(right, _TRANSPOSED[op1])
    if differ(inner, inner_right):
        raise ShapeError(CONTRACTION)
    return (*batch, *rows, *columns)


_TRANSPOSED = {"kNONE": "kTRANSPOSE", "kTRANSPOSE": "kNONE", "kVECTOR": "kVECTOR"}


def _matrix(shape: Shape, operation: str) -> tuple[Sizes, MaybeSize]:
    """The size that an operand brings, if any, and the one that is summed over."""
    if operation == "kVECTOR":
        return (), shape[-1]
    rows, columns = shape[-2:]
    return ((columns,), rows) if operation == "kTRANSPOSE" else ((rows,), columns)
