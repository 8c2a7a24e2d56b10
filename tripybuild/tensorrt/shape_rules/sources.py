"""Shape rules of operations without tensor operands."""

from tripybuild.tensorrt.shape_rules import Shape, ShapeError, Sizes, is_static


def fill(shape_of_shape: Shape) -> Sizes:
    """A tensor whose shape is another tensor has as many dimensions as that has elements."""
    if len(shape_of_shape) != 1 or not is_static(shape_of_shape[0]):
        raise ShapeError("shape input should be rank 1 with static dim size")
    return (None,) * shape_of_shape[0]
