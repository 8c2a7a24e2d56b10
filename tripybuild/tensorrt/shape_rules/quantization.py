"""Shape rules of dynamic quantization scales."""

from tripybuild.tensorrt.shape_rules import Shape, Sizes
from tripybuild.tensorrt.shape_rules.reductions import replace_size


def block_scales(shape: Shape, axis: int, block: int) -> Sizes:
    """One scale for each block along an axis."""
    scales = replace_size(shape, axis, 1)
    size = shape[axis]
    return replace_size(scales, axis, None if size is None else size // block)
